//! The worker's directory. Whoever has no such directory writes nowhere.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ao_tree::own_file::{FileLock, Sharing};
use ao_tree::shown;

use super::Settings;
use super::error::{Error, Result, io};

/// Held while the queue, the logs or the events are changed.
const LOCK: &str = ".curator.lock";
/// Held by the one worker for as long as it works.
const WORKER_LOCK: &str = ".worker.lock";

/// A worker's directory that is there.
#[derive(Debug, Clone)]
pub struct Worker {
    root: PathBuf,
}

impl Worker {
    /// The configured directory. It is never made: one that is not there may be a disk that is not mounted.
    pub fn open(settings: &Settings) -> Result<Self> {
        if !settings.is_enabled {
            return Err(Error::Off);
        }
        let named = settings.worker_dir.as_ref().ok_or(Error::NoWorkerDir)?;
        Self::at(named).ok_or_else(|| Error::MissingWorkerDir(named.clone()))
    }

    /// The directory at a place, if there is one.
    pub fn at(place: &Path) -> Option<Self> {
        let root = place.canonicalize().ok()?;
        (root.is_absolute() && root.is_dir()).then_some(Self { root })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A folder of the directory, made if need be. A symlink in its place is refused.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf> {
        ao_tree::make_folders(&self.root, name)
            .map_err(io(format!("make {}", shown(&self.path(name).to_string_lossy()))))?;
        Ok(self.path(name))
    }

    /// Keeps others from changing the directory; waits for those who are quick.
    pub(super) fn lock(&self) -> Result<FileLock> {
        let path = self.path(LOCK);
        let taken = FileLock::wait(&path, Sharing::Alone).map_err(locking(&path))?;
        taken.ok_or(Error::Locked(path))
    }

    /// The right to work. Whoever has it knows that what lies in `processing/` was left behind.
    pub(super) fn lock_for_work(&self) -> Result<FileLock> {
        let path = self.path(WORKER_LOCK);
        let taken = FileLock::at_once(&path).map_err(locking(&path))?;
        let held = || Error::AtWork(format!("it holds {}", shown(&path.to_string_lossy())));
        taken.ok_or_else(held)
    }

    /// The plain files of a folder whose names have this ending, by name; and what else is there under
    /// such a name.
    pub(super) fn files(&self, folder: &str, ending: &str) -> Result<Listed> {
        let path = self.path(folder);
        let doing = || io(format!("read {}", shown(&path.to_string_lossy())));
        let mut listed = Listed::default();
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listed),
            entries => entries.map_err(doing())?,
        };
        for entry in entries {
            let entry = entry.map_err(doing())?;
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            match entry.file_name().into_string() {
                Ok(name) if name.starts_with('.') || !name.ends_with(ending) => {}
                Ok(name) if is_file => listed.names.push(name),
                Ok(name) => listed.odd.push(shown(&name)),
                Err(name) => {
                    let name = name.to_string_lossy();
                    if name.ends_with(ending) {
                        listed.odd.push(shown(&name));
                    }
                }
            }
        }
        listed.names.sort_unstable();
        listed.odd.sort_unstable();
        Ok(listed)
    }

    /// Takes away what writers left who were killed in the middle of a file.
    pub(super) fn sweep(&self, folder: &str) {
        // Should it fail, they are in nobody's way.
        let _ = ao_tree::sweep(&self.path(folder));
    }
}

/// What a folder holds.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) names: Vec<String>,
    /// Symlinks, folders, pipes, and names that are not text; shown.
    pub(super) odd: Vec<String>,
}

fn locking(path: &Path) -> impl FnOnce(io::Error) -> Error {
    io(format!("lock {}", shown(&path.to_string_lossy())))
}
