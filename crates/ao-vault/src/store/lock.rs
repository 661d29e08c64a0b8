//! Who may read, and who may write.

use std::io;

pub(super) use ao_tree::own_file::Sharing;
use ao_tree::own_file::{self, FileLock};

use super::Result;
use super::error::Error;
use super::files::{Files, Which, at};

/// Held until it is dropped; the kernel lets go for one who was killed.
#[derive(Debug)]
pub(super) struct Lock {
    _lock: FileLock,
}

impl Lock {
    /// Of a vault that is there.
    pub(super) fn take(files: &Files, sharing: Sharing) -> Result<Self> {
        for which in [Which::Identity, Which::Vault] {
            if !files.is_there(which)? {
                return Err(files.missing(which));
            }
        }
        files.private_lock()?;
        let path = files.lock();
        let taken = match own_file::open(&path) {
            Ok(file) => FileLock::wait_for(file, sharing),
            // Somebody took it away, or brought the vault from elsewhere.
            Err(error) if error.kind() == io::ErrorKind::NotFound => FileLock::wait(&path, sharing),
            Err(error) => Err(error),
        };
        Self::of(files, taken)
    }

    pub(super) fn take_or_make(files: &Files, sharing: Sharing) -> Result<Self> {
        files.private_lock()?;
        Self::of(files, FileLock::wait(&files.lock(), sharing))
    }

    fn of(files: &Files, taken: io::Result<Option<FileLock>>) -> Result<Self> {
        match taken.map_err(at(&files.lock()))? {
            Some(lock) => Ok(Self { _lock: lock }),
            None => Err(Error::Locked(files.lock())),
        }
    }
}
