//! What a family of processes holds in memory.
//!
//! Most of it is mapped by one of them, and the kernel says how much that is. A shared mapping of no
//! file is different: its pages stay when the process that filled them lets go of them or ends, and
//! are nobody's then. Only the machine as a whole counts them.

use std::io;
use std::path::Path;

use ao_tree::own_file;

use crate::process;

/// How the kernel names a shared mapping of no file.
/// A process with more to say than this is taken for one that does not let us look.
const KERNEL_BYTES_MAX: u64 = 64 * 1024 * 1024;
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
    let text = own_file::read_text(Path::new("/proc/meminfo"), KERNEL_BYTES_MAX);
    text.ok().as_deref().and_then(parse).unwrap_or(0)
}

fn parse(meminfo: &str) -> Option<u64> {
    const KIB: u64 = 1024;
    let line = meminfo.lines().find_map(|line| line.strip_prefix("Shmem:"))?;
    Some(line.split_ascii_whitespace().next()?.parse::<u64>().ok()? * KIB)
}

/// One who does not let us look may.
fn may_share(id: &str) -> bool {
    let file = format!("/proc/{id}/maps");
    match own_file::read(Path::new(&file), KERNEL_BYTES_MAX) {
        Ok(maps) => maps.windows(NAMELESS.len()).any(|window| window == NAMELESS.as_bytes()),
        Err(error) => {
            matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::FileTooLarge)
        }
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
