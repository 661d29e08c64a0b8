//! A project as a program sees it: without the files that are secret by their names.
//!
//! The tree is shown through an overlay with one more layer on top. That layer has every folder of the
//! tree in it and, for each secret name, a whiteout. A whiteout hides a name and not a file: whatever
//! comes to have the name later, by being made, renamed or swapped outside, stays hidden.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::late::SecretWatch;
use super::policy::Spot;
use crate::secret_paths::{USUAL_DEEPER, USUAL_SECRETS};

/// Folders that are looked into, from the top down.
pub(super) const FOLDERS_MAX: usize = 2_000;
/// Entries that are looked at.
const ENTRIES_MAX: usize = 100_000;
/// Others made what is in them: git, package managers, build tools. They are many, and are not
/// looked into.
pub(super) const MADE: [&str; 12] = [
    ".git",
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".mypy_cache",
    ".pytest_cache",
    ".next",
    ".gradle",
    "vendor",
];
const MODE_BITS: u32 = 0o7777;

/// One tree and what is hidden in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cover {
    pub(super) tree: Spot,
    /// Each after the one that it lies in; the first is the tree itself.
    pub(super) folders: Vec<CoveredFolder>,
    /// Hidden with a way in it to something that is shown, so that it cannot be taken away. By
    /// their whole paths.
    pub(super) kept: Vec<Spot>,
    /// Whether there were more folders than are looked into.
    pub(super) is_cut: bool,
    /// Whether somebody works in it. Any other folder is only seen without a name or two.
    pub(super) is_work: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CoveredFolder {
    /// Beneath the tree; empty for the tree itself.
    pub(super) path: Spot,
    pub(super) mode: u32,
    pub(super) modified: (i64, i64),
    /// Names in it that were secret at the start.
    pub(super) hidden: Vec<OsString>,
    /// Usual secret names that are granted.
    pub(super) granted: Vec<OsString>,
}

impl CoveredFolder {
    /// All names that are hidden in it: those that are there, and the usual ones that may come.
    pub(super) fn names(&self) -> impl Iterator<Item = &OsStr> {
        let is_top = self.path.path().as_os_str().is_empty();
        let count = if is_top { USUAL_SECRETS.len() } else { USUAL_DEEPER };
        let usual = USUAL_SECRETS.iter().take(count).map(OsStr::new);
        let usual = usual.filter(|name| {
            self.hidden.iter().chain(&self.granted).all(|other| other.as_os_str() != *name)
        });
        self.hidden.iter().map(OsString::as_os_str).chain(usual)
    }
}

/// What is not hidden in a tree, and what is whatever its name is. Whole paths.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Exceptions<'a> {
    pub(super) granted: &'a [PathBuf],
    pub(super) private: &'a [PathBuf],
    /// Trees of their own in it.
    pub(super) apart: &'a [PathBuf],
}

impl Cover {
    fn empty(tree: &Path, is_work: bool) -> Self {
        Self { tree: tree.into(), folders: Vec::new(), kept: Vec::new(), is_cut: false, is_work }
    }

    /// Looks through a tree.
    pub(super) fn of(tree: &Path, exceptions: &Exceptions<'_>, late: &mut SecretWatch) -> Self {
        let mut cover = Self::empty(tree, true);
        let mut entries = 0;
        let mut next = 0;
        cover.enter(Path::new(""), exceptions);
        while let Some(folder) = cover.folders.get(next) {
            let folder = folder.path.path().to_owned();
            late.look_at(tree, &folder);
            for entry in fs::read_dir(tree.join(&folder)).into_iter().flatten().flatten() {
                entries += 1;
                if entries > ENTRIES_MAX {
                    cover.is_cut = true;
                    break;
                }
                let name = entry.file_name();
                let path = folder.join(&name);
                let whole = tree.join(&path);
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if exceptions.granted.contains(&whole) || exceptions.apart.contains(&whole) {
                    continue;
                }
                let is_secret = exceptions.private.contains(&whole) || late.is_secret(&path);
                let mut ways = exceptions.granted.iter().chain(exceptions.apart);
                let mut leads_on = || ways.any(|one| one.starts_with(&whole));
                if is_secret && is_folder && leads_on() {
                    cover.kept.push(whole.into());
                } else if is_secret {
                    cover.folders[next].hidden.push(name);
                } else if is_folder && MADE.iter().all(|made| name != *made) {
                    cover.enter(&path, exceptions);
                }
            }
            next += 1;
        }
        for private in exceptions.private {
            cover.hide_late(private);
        }
        cover
    }

    /// A folder that is seen as it is, without one name in it.
    pub(super) fn without(folder: &Path, name: &OsStr) -> Self {
        let mut cover = Self::empty(folder, false);
        cover.enter(Path::new(""), &Exceptions::default());
        for top in &mut cover.folders {
            top.hidden.push(name.to_owned());
        }
        cover
    }

    /// A folder that is seen without some paths beneath it, and without the usual secret names at its top,
    /// whether they are there or not.
    pub(super) fn without_paths(folder: &Path, private: &[PathBuf]) -> Self {
        let mut cover = Self::empty(folder, false);
        cover.enter(Path::new(""), &Exceptions::default());
        for path in private {
            let Ok(beneath) = path.strip_prefix(folder) else { continue };
            let ways: Vec<&Path> = beneath.ancestors().skip(1).collect();
            for way in ways.into_iter().rev() {
                let is_known = cover.folders.iter().any(|one| one.path.path() == way);
                let is_folder =
                    || fs::symlink_metadata(folder.join(way)).is_ok_and(|found| found.is_dir());
                if !is_known && is_folder() {
                    cover.enter(way, &Exceptions::default());
                }
            }
        }
        for path in private {
            cover.hide_late(path);
        }
        cover
    }

    /// Takes in what another one hides at the top of the same tree.
    pub(super) fn take_in(&mut self, other: &Self) -> bool {
        let is_same = self.tree == other.tree;
        if is_same
            && let (Some(top), Some(more)) = (self.folders.first_mut(), other.folders.first())
        {
            let new = more.hidden.iter().filter(|name| !top.hidden.contains(name));
            let new: Vec<OsString> = new.cloned().collect();
            top.hidden.extend(new);
        }
        is_same
    }

    /// What is private and not there yet, or the first folder on the way to it that is not.
    fn hide_late(&mut self, private: &Path) {
        let Ok(path) = private.strip_prefix(self.tree.path()) else { return };
        for at in path.ancestors().filter(|at| !at.as_os_str().is_empty()) {
            let whole = self.tree.path().join(at);
            let is_other = at != path && fs::symlink_metadata(&whole).is_ok();
            if is_other || self.kept.iter().any(|kept| kept.path() == whole) {
                return;
            }
            let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { return };
            let folder = self.folders.iter_mut().find(|folder| folder.path.path() == parent);
            if let Some(folder) = folder {
                if !folder.hidden.iter().any(|other| other == name) {
                    folder.hidden.push(name.to_owned());
                }
                return;
            }
        }
    }

    fn enter(&mut self, path: &Path, exceptions: &Exceptions<'_>) {
        if self.folders.len() == FOLDERS_MAX {
            self.is_cut = true;
            return;
        }
        let whole = if path.as_os_str().is_empty() {
            self.tree.path().to_owned()
        } else {
            self.tree.path().join(path)
        };
        // One that cannot be read has nothing to hide from this user.
        let Ok(found) = fs::symlink_metadata(&whole) else { return };
        let granted = exceptions.granted.iter().filter(|one| one.parent() == Some(&whole));
        // A usual name that is kept for the way through it.
        let ways = exceptions.granted.iter().chain(exceptions.apart).filter_map(|one| {
            let below = one.strip_prefix(&whole).ok()?;
            Some(below.components().next()?.as_os_str().to_owned())
        });
        self.folders.push(CoveredFolder {
            path: path.into(),
            mode: found.mode() & MODE_BITS,
            modified: (found.mtime(), found.mtime_nsec()),
            hidden: Vec::new(),
            granted: granted
                .filter_map(|one| Some(one.file_name()?.to_owned()))
                .chain(ways)
                .collect(),
        });
    }

    /// Everything in it that is hidden and was there at the start, by whole paths.
    pub(super) fn found(&self) -> impl Iterator<Item = PathBuf> {
        self.folders.iter().flat_map(|folder| {
            let folder_path = self.tree.path().join(folder.path.path());
            folder.hidden.iter().map(move |name| folder_path.join(name))
        })
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;
    use crate::secret_paths::SecretNames;

    #[test]
    fn secret_names_are_found_at_the_top_and_deeper() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for path in ["src/deep", "node_modules/x", ".git", ".ssh/sub", "own"] {
            fs::create_dir_all(root.join(path)).unwrap();
        }
        let files = [".env", "src/a.rs", "src/deep/.env.local", "node_modules/x/.env", ".ssh/id"];
        for path in files.iter().chain(&[".env.example", "src/tls.pem", "own/x", "src/.npmrc"]) {
            fs::write(root.join(path), "x").unwrap();
        }
        let granted = [root.join(".ssh/sub"), root.join("src/.npmrc")];
        let private = [root.join("own/x"), root.join("src/late")];
        let exceptions = Exceptions { granted: &granted, private: &private, apart: &[] };
        let mut late = SecretWatch::new(SecretNames::built_in().unwrap(), Vec::new());
        let cover = Cover::of(root, &exceptions, &mut late);
        let mut found: Vec<_> =
            cover.found().map(|path| path.strip_prefix(root).unwrap().to_owned()).collect();
        found.sort();
        let expected = [".env", "own/x", "src/deep/.env.local", "src/late", "src/tls.pem"];
        assert_eq!(found, expected.map(PathBuf::from));
        assert_eq!(cover.kept, [Spot::from(root.join(".ssh"))]);
        assert!(!cover.is_cut);
        let top: Vec<_> = cover.folders[0].names().collect();
        assert!(top.contains(&OsStr::new(".env.production")) && !top.contains(&OsStr::new(".ssh")));
        let src = cover.folders.iter().find(|one| one.path.path() == Path::new("src")).unwrap();
        assert!(src.names().all(|name| name != ".npmrc"));
    }
}
