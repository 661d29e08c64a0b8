//! Settings of the machine, to see that none was changed.

use std::collections::BTreeMap;
use std::fs;

const FILES: [&str; 14] = [
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/domainname",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/sysrq",
    "/proc/sys/kernel/io_uring_disabled",
    "/proc/sys/user/max_user_namespaces",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/fs/suid_dumpable",
    "/proc/modules",
    "/proc/swaps",
    "/etc/passwd",
];

pub(crate) fn settings() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for file in FILES {
        found.insert(file.to_owned(), fs::read_to_string(file).unwrap_or_default());
    }
    // Of a mount, where it is and what it allows; the numbers may be given again.
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mut mounts: Vec<String> = mounts
        .lines()
        .map(|line| line.split(' ').skip(3).take(3).collect::<Vec<_>>().join(" "))
        .collect();
    mounts.sort();
    found.insert("mounts".to_owned(), mounts.join("\n"));
    found
}
