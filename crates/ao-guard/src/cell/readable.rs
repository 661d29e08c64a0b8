//! Tier B: what may be read, with what is hidden left out.
//!
//! A rule of Landlock is for everything below a folder, with no exception. So a folder that holds
//! something hidden is listed entry by entry instead.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A home with more entries beside a hidden one is listed no further.
const ENTRIES_MAX: usize = 10_000;

pub(super) fn list(roots: &[PathBuf], hidden: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut listed = Vec::new();
    let mut waiting: Vec<PathBuf> = roots.to_vec();
    while let Some(path) = waiting.pop() {
        if hidden.iter().any(|other| path.starts_with(other)) {
            continue;
        }
        if listed.len() + waiting.len() > ENTRIES_MAX {
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, "too much to list"));
        }
        if holds_hidden(&path, hidden) {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            // A symlink is allowed where it leads, or not at all.
            let plain =
                entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
            waiting.extend(plain.map(|entry| entry.path()));
        } else {
            listed.push(path);
        }
    }
    listed.sort();
    listed.dedup();
    Ok(listed)
}

fn holds_hidden(path: &Path, hidden: &[PathBuf]) -> bool {
    hidden.iter().any(|other| other.starts_with(path))
}
