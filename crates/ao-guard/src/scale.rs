//! What a family of processes holds in memory.
//!
//! Most of it is mapped by one of them, and the kernel says how much that is. A shared mapping of no
//! file is different: its pages stay when the process that filled them lets go of them or ends, and
//! are nobody's then. Only the machine as a whole counts them.

use std::fs;
use std::io;

use crate::process;

/// How the kernel names a shared mapping of no file.
const NAMELESS: &str = "/dev/zero (deleted)";

/// Weighs a family that has just begun.
#[derive(Debug)]
pub(crate) struct Scale {
    shared_before: u64,
}

impl Scale {
    pub(crate) fn new() -> Self {
        Self { shared_before: shared_bytes() }
    }

    /// In bytes. What became shared on this machine since the beginning is taken for the family's if
    /// that is more than `bound`, and one of them has pages of this kind.
    pub(crate) fn weigh(&self, ids: &[String], bound: u64) -> u64 {
        let mapped = ids.iter().map(|id| process::resident_bytes(id)).sum();
        let grown = shared_bytes().saturating_sub(self.shared_before);
        if mapped <= bound && grown > bound && ids.iter().any(|id| may_share(id)) {
            grown
        } else {
            mapped
        }
    }
}

/// Shared memory and files in memory, of the whole machine.
fn shared_bytes() -> u64 {
    fs::read_to_string("/proc/meminfo").ok().and_then(|text| parse(&text)).unwrap_or(0)
}

fn parse(meminfo: &str) -> Option<u64> {
    const KIB: u64 = 1024;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("Shmem:"))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? * KIB)
}

/// One who does not let us look may.
fn may_share(id: &str) -> bool {
    match fs::read(format!("/proc/{id}/maps")) {
        Ok(maps) => maps.windows(NAMELESS.len()).any(|window| window == NAMELESS.as_bytes()),
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_it_in_kibibytes() {
        assert_eq!(parse("MemFree: 7 kB\nShmem:   2 kB\nShmemPmdMapped: 9 kB\n"), Some(2048));
        assert_eq!(parse("MemFree: 7 kB\n"), None);
    }
}
