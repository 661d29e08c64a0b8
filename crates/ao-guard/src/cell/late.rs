//! Secrets that come to be in a project while a cell runs, under a name that no cover has a place for.
//!
//! A second line: between the moment in which such a file is there and the end of the cell it can be
//! read. The first line is [`super::cover`].

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};

use super::cover::{Cover, FOLDERS_MAX, MADE};
use crate::scope::SecretNames;

/// Room for many events at once.
const BUFFER_BYTES: usize = 16 * 1024;
/// Entries of folders that are new.
const ENTRIES_MAX: usize = 10_000;

/// One folder that is looked at.
#[derive(Debug)]
struct WatchedFolder {
    tree: PathBuf,
    /// Beneath the tree.
    path: PathBuf,
    /// Names that a cover hides.
    covered: BTreeSet<OsString>,
}

/// Looks at the folders of projects, from outside.
#[derive(Debug)]
pub(super) struct SecretWatch {
    queue: Option<OwnedFd>,
    folders: BTreeMap<i32, WatchedFolder>,
    secrets: SecretNames,
    granted: Vec<PathBuf>,
    is_cut: bool,
}

impl SecretWatch {
    /// `granted` may come.
    pub(super) fn new(secrets: SecretNames, granted: Vec<PathBuf>) -> Self {
        let queue = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok();
        let is_cut = queue.is_none();
        Self { queue, folders: BTreeMap::new(), secrets, granted, is_cut }
    }

    /// Whether some folders are not looked at, as the kernel bounds how many can be.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Begins to look at a folder. To be called before it is read, so that nothing comes in between.
    pub(super) fn look_at(&mut self, tree: &Path, path: &Path) {
        let Some(queue) = &self.queue else { return };
        let flags = WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::EXCL_UNLINK;
        match add_watch(queue, tree.join(path), flags) {
            Ok(number) => {
                let covered = BTreeSet::new();
                let looked =
                    WatchedFolder { tree: tree.to_owned(), path: path.to_owned(), covered };
                self.folders.insert(number, looked);
            }
            Err(_) => self.is_cut = true,
        }
    }

    /// These names come to nobody's sight.
    pub(super) fn know(&mut self, covers: &[Cover]) {
        for looked in self.folders.values_mut() {
            let cover = covers.iter().find(|cover| cover.tree.path() == looked.tree);
            let folders = cover.into_iter().flat_map(|cover| &cover.folders);
            for folder in folders.filter(|folder| folder.path.path() == looked.path) {
                looked.covered.extend(folder.names().map(OsStr::to_owned));
            }
        }
    }

    /// No cover could be laid on this tree.
    pub(super) fn is_uncovered(&mut self, tree: &Path) {
        for looked in self.folders.values_mut().filter(|looked| looked.tree == tree) {
            looked.covered.clear();
        }
    }

    /// Whether a path beneath a tree is secret by its name; the folders above it are known not to be.
    pub(super) fn is_secret(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.secrets.names(path))
    }

    /// To be waited for.
    pub(super) fn queue(&self) -> Option<&OwnedFd> {
        self.queue.as_ref()
    }

    /// The first secret that has come since it was asked last.
    pub(super) fn came(&mut self) -> Option<PathBuf> {
        loop {
            let mut events = Vec::new();
            {
                let queue = self.queue.as_ref()?;
                let mut room = [MaybeUninit::uninit(); BUFFER_BYTES];
                let mut reader = Reader::new(queue, &mut room);
                while let Ok(event) = reader.next() {
                    let name = event.file_name().map(|name| name.to_bytes().to_vec());
                    events.push((event.wd(), event.events(), name));
                    if reader.is_buffer_empty() {
                        break;
                    }
                }
            }
            if events.is_empty() {
                return None;
            }
            for (number, kind, name) in events {
                if kind.contains(ReadFlags::QUEUE_OVERFLOW) {
                    return Some(PathBuf::from("(more than could be followed)"));
                }
                let Some(name) = name else { continue };
                let is_folder = kind.contains(ReadFlags::ISDIR);
                if let Some(path) = self.judge(number, OsStr::from_bytes(&name), is_folder) {
                    return Some(path);
                }
            }
        }
    }

    fn judge(&mut self, number: i32, name: &OsStr, is_folder: bool) -> Option<PathBuf> {
        let looked = self.folders.get(&number)?;
        let (tree, path) = (looked.tree.clone(), looked.path.join(name));
        if looked.covered.contains(name) || self.granted.contains(&tree.join(&path)) {
            return None;
        }
        if self.is_secret(&path) {
            return Some(tree.join(path));
        }
        if is_folder { self.enter(&tree, path) } else { None }
    }

    /// A folder that is new has no cover: whatever is secret in it can be seen.
    fn enter(&mut self, tree: &Path, path: PathBuf) -> Option<PathBuf> {
        let mut waiting = vec![path];
        let mut entries = 0;
        while let Some(folder) = waiting.pop() {
            if folder.file_name().is_some_and(|name| MADE.iter().any(|made| name == *made)) {
                continue;
            }
            if self.folders.len() >= FOLDERS_MAX {
                self.is_cut = true;
                return None;
            }
            self.look_at(tree, &folder);
            for entry in fs::read_dir(tree.join(&folder)).into_iter().flatten().flatten() {
                entries += 1;
                if entries > ENTRIES_MAX {
                    self.is_cut = true;
                    return None;
                }
                let path = folder.join(entry.file_name());
                if self.granted.contains(&tree.join(&path)) {
                    continue;
                }
                if self.is_secret(&path) {
                    return Some(tree.join(path));
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    waiting.push(path);
                }
            }
        }
        None
    }
}

/// What is said of it.
pub(super) fn what_came(path: &Path) -> String {
    format!(
        "{} came to be in the project while the command ran; its name is that of a secret, and everything in the cell was ended",
        path.display()
    )
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    fn late(root: &Path) -> SecretWatch {
        let mut late =
            SecretWatch::new(SecretNames::built_in().unwrap(), vec![root.join("granted.key")]);
        let exceptions = super::super::cover::Exceptions::default();
        let cover = Cover::of(root, &exceptions, &mut late);
        late.know(&[cover]);
        late
    }

    #[test]
    fn what_no_cover_hides_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("src/target")).unwrap();
        for (name, is_noticed) in [
            ("plain", false),
            (".env", false),
            (".env.example", false),
            ("src/.env.local", false),
            ("src/target/tls.pem", false),
            ("granted.key", false),
            (".env.mine", true),
            ("src/tls.pem", true),
            ("new/deep/.env", true),
        ] {
            let mut late = late(root);
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
            let came = late.came();
            assert_eq!(came, is_noticed.then_some(path), "{name}");
        }
        // One that was there, and takes another name.
        fs::write(root.join("moved"), "x").unwrap();
        let mut late = late(root);
        fs::rename(root.join("moved"), root.join("src/moved.p12")).unwrap();
        assert_eq!(late.came(), Some(root.join("src/moved.p12")));
        assert_eq!(late.came(), None);
    }
}
