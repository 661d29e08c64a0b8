//! What a program wrote: seen from outside, from the tree before and after, or from the copy.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::paths::leads_away;
use super::{planted, sys};

/// A place with more entries is not watched entry by entry: a copy is.
const ENTRIES_MAX: usize = 200_000;
const MODE_BITS: u32 = 0o7777;
const OPENED: u32 = 0o700;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    Created,
    Changed,
    Deleted,
    /// A folder that hides all that was in it before.
    Replaced,
}

/// One path that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Write {
    pub path: PathBuf,
    pub change: Change,
    /// `file`, `folder`, `symlink` or `other`.
    pub kind: &'static str,
    /// Its permissions now; nothing of what is gone.
    pub mode: Option<u32>,
    /// Where a symlink leads.
    pub target: Option<PathBuf>,
}

/// What can be told apart of one entry. The time of the last change of the entry itself is the
/// kernel's, and no program can set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    size: u64,
    mode: u32,
    owner: u32,
    changed: (i64, i64),
    kind: &'static str,
}

/// All entries of a place, by path.
pub type Snapshot = BTreeMap<PathBuf, Stamp>;

fn kind_of(found: &fs::Metadata) -> &'static str {
    let kind = found.file_type();
    if kind.is_file() {
        "file"
    } else if kind.is_dir() {
        "folder"
    } else if kind.is_symlink() {
        "symlink"
    } else {
        "other"
    }
}

/// Looks at every entry of a place. Refused are more than can be watched, and before a run
/// (`names` given) whatever would lead a write to somewhere else, and repositories.
pub fn snapshot(root: &Path, forbidden: &[&str]) -> io::Result<Snapshot> {
    let mut found = Snapshot::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(path) = waiting.pop() {
        let seen = match fs::symlink_metadata(&path) {
            Ok(seen) => seen,
            // It went while we looked.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if !forbidden.is_empty() {
            let is_forbidden = path.file_name().is_some_and(|name| {
                forbidden.iter().any(|other| name == *other) || planted::is_git_name(name)
            });
            if is_forbidden && planted::is_left_over(&path) {
                continue;
            }
            if is_forbidden || leads_away(&seen) {
                let why = format!("{} must not be writable", path.display());
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
            }
        }
        if found.len() == ENTRIES_MAX {
            let why = format!("{} has more than {ENTRIES_MAX} entries", root.display());
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, why));
        }
        if seen.is_dir() {
            match fs::read_dir(&path) {
                Ok(entries) => {
                    let inner: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
                    let names = inner.iter().filter_map(|path| path.file_name());
                    if !forbidden.is_empty() && planted::is_layout(names) {
                        let why = format!("{} is a repository", path.display());
                        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
                    }
                    waiting.extend(inner);
                }
                // What nobody can open who is this user has nothing to tell. Its owner can, and so
                // can a program: what it closed must not be passed over.
                Err(_) if seen.uid() != rustix::process::geteuid().as_raw() => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    let why = format!("{} cannot be looked into: {error}", path.display());
                    return Err(io::Error::new(error.kind(), why));
                }
            }
        }
        let stamp = Stamp {
            inode: seen.ino(),
            size: seen.len(),
            mode: seen.mode() & MODE_BITS,
            owner: seen.uid(),
            changed: (seen.ctime(), seen.ctime_nsec()),
            kind: kind_of(&seen),
        };
        found.insert(path, stamp);
    }
    Ok(found)
}

/// What is not as it was. A folder in which something came or went is not named for that.
pub fn between(before: &Snapshot, after: &Snapshot) -> Vec<Write> {
    let mut writes = Vec::new();
    for (path, now) in after {
        let change = match before.get(path) {
            None => Change::Created,
            Some(was) if was == now => continue,
            Some(was) if is_only_contents(was, now) => continue,
            Some(_) => Change::Changed,
        };
        writes.push(Write {
            path: path.clone(),
            change,
            kind: now.kind,
            mode: Some(now.mode),
            target: fs::read_link(path).ok(),
        });
    }
    for (path, was) in before.iter().filter(|(path, _)| !after.contains_key(*path)) {
        let (path, change) = (path.clone(), Change::Deleted);
        writes.push(Write { path, change, kind: was.kind, mode: None, target: None });
    }
    writes.sort();
    writes
}

fn is_only_contents(was: &Stamp, now: &Stamp) -> bool {
    was.kind == "folder"
        && now.kind == "folder"
        && (was.inode, was.mode, was.owner) == (now.inode, now.mode, now.owner)
}

/// What a copy of a tree holds that the tree does not. The paths are those of the tree.
pub fn upper_writes(upper: &Path, tree: &Path) -> io::Result<Vec<Write>> {
    let mut writes = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(below) = waiting.pop() {
        for entry in entries_of(&upper.join(&below))? {
            let entry = entry?;
            if writes.len() == ENTRIES_MAX {
                let why = format!("more than {ENTRIES_MAX} entries were written");
                return Err(io::Error::new(io::ErrorKind::QuotaExceeded, why));
            }
            let path = below.join(entry.file_name());
            let (seen, real) = (entry.metadata()?, tree.join(&path));
            let before = fs::symlink_metadata(&real).ok();
            if is_whiteout(&seen, &entry.path()) {
                let kind = before.as_ref().map_or("other", kind_of);
                let change = Change::Deleted;
                writes.push(Write { path: real, change, kind, mode: None, target: None });
                continue;
            }
            let is_opaque = seen.is_dir()
                && sys::attribute(&entry.path(), "user.overlay.opaque").as_deref() == Some(b"y");
            let change = match &before {
                None => Some(Change::Created),
                Some(_) if is_opaque => Some(Change::Replaced),
                Some(before) if before.is_dir() && seen.is_dir() => {
                    let bits = |seen: &fs::Metadata| seen.mode() & MODE_BITS;
                    (bits(before) != bits(&seen)).then_some(Change::Changed)
                }
                Some(_) => Some(Change::Changed),
            };
            writes.extend(change.map(|change| Write {
                path: real,
                change,
                kind: kind_of(&seen),
                mode: Some(seen.mode() & MODE_BITS),
                target: fs::read_link(entry.path()).ok(),
            }));
            if seen.is_dir() {
                waiting.push(path);
            }
        }
    }
    writes.sort();
    Ok(writes)
}

/// The entries of a folder of the copy. One that the program has closed is opened, and stays so: what it
/// was is told already, and a copy is for nobody but us.
#[expect(clippy::disallowed_methods, reason = "only in the copy, which nobody else uses")]
fn entries_of(folder: &Path) -> io::Result<fs::ReadDir> {
    let mode = fs::symlink_metadata(folder)?.mode() & MODE_BITS;
    if mode & OPENED != OPENED {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode | OPENED))?;
    }
    fs::read_dir(folder)
}

/// How an overlay says that something is gone.
fn is_whiteout(seen: &fs::Metadata, path: &Path) -> bool {
    (seen.file_type().is_char_device() && seen.rdev() == 0)
        || (seen.is_file()
            && seen.len() == 0
            && sys::attribute(path, "user.overlay.whiteout").is_some())
}
