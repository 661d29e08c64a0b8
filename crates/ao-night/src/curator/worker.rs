//! The worker's directory. Whoever has no such directory writes nowhere.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use ao_tree::shown;

use super::Settings;
use super::error::{Error, Result, io};

/// Held while the queue, the logs or the events are changed.
const LOCK: &str = ".curator.lock";
/// Held by the one worker for as long as it works.
const WORKER_LOCK: &str = ".worker.lock";
const TRY_EVERY: Duration = Duration::from_millis(10);
/// Ten seconds: a change takes milliseconds.
const TRIES_MAX: u32 = 1000;

/// A worker's directory that is there.
#[derive(Debug, Clone)]
pub struct Worker {
    root: PathBuf,
}

/// Held until it is dropped; the kernel lets go for one who was killed.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
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
    pub(super) fn lock(&self) -> Result<Lock> {
        let path = self.path(LOCK);
        let file = open_lock(&path)?;
        for _ in 0..TRIES_MAX {
            if try_lock(&file, &path)? {
                return Ok(Lock { _file: file });
            }
            thread::sleep(TRY_EVERY);
        }
        Err(Error::Locked(path))
    }

    /// The right to work. Whoever has it knows that what lies in `processing/` was left behind.
    pub(super) fn lock_for_work(&self) -> Result<Lock> {
        let path = self.path(WORKER_LOCK);
        let file = open_lock(&path)?;
        if try_lock(&file, &path)? {
            return Ok(Lock { _file: file });
        }
        Err(Error::AtWork(format!("it holds {}", shown(&path.to_string_lossy()))))
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
        let Ok(entries) = fs::read_dir(self.path(folder)) else { return };
        let is_left = |name: &String| {
            let process = name.strip_suffix(".new").and_then(|rest| rest.rsplit_once('.'));
            name.starts_with('.')
                && process.is_some_and(|(_, id)| {
                    id.parse::<u32>().is_ok() && !Path::new(&format!("/proc/{id}")).exists()
                })
        };
        let left: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(is_left)
            .collect();
        if !left.is_empty() {
            // Should it fail, they are in nobody's way.
            let _ = ao_tree::remove_all(&self.path(folder), &left);
        }
    }
}

/// What a folder holds.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) names: Vec<String>,
    /// Symlinks, folders, pipes, and names that are not text; shown.
    pub(super) odd: Vec<String>,
}

fn open_lock(path: &Path) -> Result<File> {
    let doing = || io(format!("open {}", shown(&path.to_string_lossy())));
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            Err(doing()(io::Error::new(io::ErrorKind::InvalidInput, "not a plain file")))
        }
        _ => ao_tree::open_private(path).map_err(doing()),
    }
}

fn try_lock(file: &File, path: &Path) -> Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => {
            Err(Error::Io { doing: format!("lock {}", shown(&path.to_string_lossy())), source })
        }
    }
}

/// A plain file's bytes; nothing is followed or waited for. The error says why it cannot be read.
pub(super) fn read_plain(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let odd = |why: &str| io::Error::new(io::ErrorKind::InvalidData, why.to_owned());
    let found = fs::symlink_metadata(path)?;
    if !found.is_file() {
        return Err(odd("it is not a plain file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(odd(&format!("it is larger than {bytes_max} bytes")));
    }
    Ok(bytes)
}
