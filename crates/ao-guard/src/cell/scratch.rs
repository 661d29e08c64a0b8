//! The folder outside that belongs to one cell: what the overlay writes, and something to attack.

#![expect(clippy::disallowed_methods, reason = "only in a folder that was made for one cell")]

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ao_tree::own_file;

use super::order::Cell;
use super::policy::{CANARY_DIR, CANARY_FILE};

/// What its name begins with.
const PREFIX: &str = "ao-cell-";
const LOCK: &str = "in-use";
const NEW_LOCK: &str = "new";
/// Of a folder for temporary files, no more are looked at.
const ENTRIES_MAX: usize = 10_000;
const OWN: u32 = 0o700;
const UPPER: &str = "upper";
const WORK: &str = "work";
const HOME: &str = "home";
const TEMPORARY: &str = "tmp";
/// A folder with a longer path is moved up before it is looked into: a program can make a tree that is
/// too deep for a path, and for one open file a level.
const PATH_BYTES: usize = 512;

/// What the file that is put there to be attacked says.
const CANARY: &[u8] = b"outside\n";

/// A private folder with a place for everything that a cell needs outside. Removed with the value,
/// whatever a program did to the modes of what it left in it.
#[derive(Debug)]
pub struct Scratch {
    root: PathBuf,
    /// Locked as long as somebody uses the folder; the kernel lets go for one who was killed.
    _in_use: File,
}

impl Scratch {
    /// Makes it in a folder for temporary files; `name` is to be nobody else's.
    pub fn make(within: &Path, name: &str) -> io::Result<Self> {
        let within = within.canonicalize()?;
        sweep(&within);
        let root = within.join(format!("{PREFIX}{name}"));
        let mut own = fs::DirBuilder::new();
        own.mode(OWN);
        own.create(&root)?;
        // It gets its name when it is locked: another cell that is made at this moment takes a lock that
        // nobody holds for one of somebody who was killed.
        let in_use = File::create(root.join(NEW_LOCK))?;
        in_use.lock()?;
        fs::rename(root.join(NEW_LOCK), root.join(LOCK))?;
        let scratch = Self { root, _in_use: in_use };
        for folder in [CANARY_DIR, UPPER, WORK, HOME, TEMPORARY] {
            own.create(scratch.root.join(folder))?;
        }
        // A merged tree has the mode of its upper folder at first.
        fs::write(scratch.root.join(CANARY_DIR).join(CANARY_FILE), CANARY)?;
        Ok(scratch)
    }

    /// Makes it in the first of these folders that the program of this cell may not write.
    pub fn beside(cell: &Cell, folders: &[PathBuf], name: &str) -> io::Result<Self> {
        let covers = |folder: &Path| {
            let mut seen = cell.writable.iter().chain(&cell.copied);
            seen.any(|tree| folder.canonicalize().is_ok_and(|folder| folder.starts_with(tree)))
        };
        let free = folders.iter().find(|folder| !covers(folder));
        let folder = free.ok_or_else(|| io::Error::other("all are writable for the command"))?;
        Self::make(folder, name)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Everything that a program changed in a copied tree.
    pub fn upper(&self) -> PathBuf {
        self.root.join(UPPER)
    }

    pub(super) fn work(&self) -> PathBuf {
        self.root.join(WORK)
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.join(HOME)
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.root.join(TEMPORARY)
    }

    /// Gives the copy the mode that the tree itself has.
    pub(super) fn resemble(&self, tree: &Path) -> io::Result<()> {
        let mode = fs::metadata(tree)?.permissions().mode();
        fs::set_permissions(self.upper(), fs::Permissions::from_mode(mode | OWN))
    }

    /// Whether nobody got at what was put there to be attacked.
    pub(super) fn is_untouched(&self) -> bool {
        let folder = self.root.join(CANARY_DIR);
        let names = fs::read_dir(&folder).map(Iterator::count).unwrap_or_default();
        names == 1
            && own_file::read(&folder.join(CANARY_FILE), CANARY.len() as u64)
                .is_ok_and(|bytes| bytes == CANARY)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.root);
    }
}

/// Removes what others left who were killed before they could.
fn sweep(within: &Path) {
    let user = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(within).into_iter().flatten().flatten().take(ENTRIES_MAX) {
        let is_one = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == user);
        // One without a lock was made just now, or is none.
        let lock = own_file::open(&entry.path().join(LOCK)).ok().filter(|_| is_one);
        if let Some(lock) = lock
            && lock.try_lock().is_ok()
        {
            remove(&entry.path());
        }
    }
}

/// Removes a tree whose folders may have been closed by whoever made them, however deep it is.
pub(super) fn remove(root: &Path) {
    let mut waiting = vec![root.to_owned()];
    let mut moved = 0;
    while let Some(mut folder) = waiting.pop() {
        let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(OWN));
        if folder.as_os_str().len() > root.as_os_str().len() + PATH_BYTES {
            let higher = root.join(format!("deep-{moved}"));
            moved += 1;
            if fs::rename(&folder, &higher).is_err() {
                continue;
            }
            folder = higher;
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
    let _ = fs::remove_dir_all(root);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_are_made_at_once_and_none_takes_that_of_another() {
        const AT_ONCE: usize = 8;
        const EACH: usize = 100;
        let folder = tempfile::tempdir().unwrap();
        let make = |maker: usize| {
            for number in 0..EACH {
                let made = Scratch::make(folder.path(), &format!("{maker}-{number}"));
                assert!(made.unwrap().is_untouched(), "{maker}-{number}");
            }
        };
        std::thread::scope(|scope| {
            for maker in 0..AT_ONCE {
                let make = &make;
                scope.spawn(move || make(maker));
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
