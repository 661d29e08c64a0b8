//! Tier B: what may be read, with what is hidden left out.
//!
//! A rule of Landlock is for everything below a folder, with no exception. So a folder that holds
//! something hidden is listed entry by entry instead, and a project file by file: what comes to be in it
//! later cannot be read, whatever its name is.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::cover::MADE;

/// A home with more entries beside a hidden one is listed no further.
const ENTRIES_MAX: usize = 10_000;
/// Files of projects that get a rule of their own.
const FILES_MAX: usize = 20_000;

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

/// What may be read of a project.
#[derive(Debug, Default)]
pub(super) struct ReadList {
    /// Files, and folders with all that is in them.
    pub(super) readable: Vec<PathBuf>,
    /// Folders of which only the names can be seen.
    pub(super) listable: Vec<PathBuf>,
    /// Whether there were too many files, so that folders stand for the rest of them.
    pub(super) is_cut: bool,
}

/// What is not listed of a project. Whole paths.
#[derive(Debug, Clone, Copy)]
pub(super) struct LeftOut<'a> {
    /// Nothing of it is seen.
    pub(super) hidden: &'a [PathBuf],
    /// Only the names are seen.
    pub(super) secret: &'a [PathBuf],
    /// Projects in it, which are listed by themselves.
    pub(super) apart: &'a [PathBuf],
}

/// Lists the files of a tree.
pub(super) fn files(tree: &Path, left_out: &LeftOut<'_>, into: &mut ReadList) {
    let LeftOut { hidden, secret, apart } = *left_out;
    let mut waiting =
        vec![PendingPath { path: tree.to_owned(), is_listable: false, is_made: false }];
    while let Some(PendingPath { path, mut is_listable, mut is_made }) = waiting.pop() {
        let is_left_out = [hidden, secret, apart].iter().any(|others| others.contains(&path));
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if found.is_symlink() || is_left_out {
            continue;
        }
        let is_plain = !holds_hidden(&path, hidden);
        if found.is_dir() && is_plain && !is_listable {
            is_listable = true;
            into.listable.push(path.clone());
        }
        into.is_cut |= into.readable.len() + waiting.len() > FILES_MAX;
        is_made |= path.file_name().is_some_and(|name| MADE.iter().any(|made| name == *made));
        let is_free = is_plain && !holds_hidden(&path, secret) && !holds_hidden(&path, apart);
        if found.is_dir() && !(is_free && (is_made || into.is_cut)) {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            let entry =
                |entry: fs::DirEntry| PendingPath { path: entry.path(), is_listable, is_made };
            waiting.extend(entries.map(entry));
        } else {
            into.readable.push(path);
        }
    }
}

#[derive(Debug)]
struct PendingPath {
    path: PathBuf,
    /// Its names may be seen already.
    is_listable: bool,
    /// It lies in what others made.
    is_made: bool,
}

fn holds_hidden(path: &Path, hidden: &[PathBuf]) -> bool {
    hidden.iter().any(|other| other.starts_with(path))
}
