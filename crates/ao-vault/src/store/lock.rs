//! Who may read, and who may write.

use std::fs::{File, TryLockError};
use std::io;
use std::thread;
use std::time::Duration;

use super::Result;
use super::error::Error;
use super::files::{Files, Which, at};

const TRY_EVERY: Duration = Duration::from_millis(10);
/// Ten seconds: a change takes milliseconds.
const TRIES_MAX: u32 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// With others who read.
    Shared,
    Alone,
}

/// Held until it is dropped; the kernel lets go for one who was killed.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Of a vault that is there.
    pub(super) fn take(files: &Files, mode: Mode) -> Result<Self> {
        for which in [Which::Identity, Which::Vault] {
            if !files.is_there(which)? {
                return Err(files.missing(which));
            }
        }
        files.private_lock()?;
        let path = files.lock();
        match File::open(&path) {
            Ok(file) => Self::wait(files, file, mode),
            // Somebody took it away, or brought the vault from elsewhere.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Self::take_or_make(files, mode)
            }
            Err(error) => Err(at(&path)(error)),
        }
    }

    pub(super) fn take_or_make(files: &Files, mode: Mode) -> Result<Self> {
        files.private_lock()?;
        let path = files.lock();
        let file = ao_tree::open_private(&path).map_err(at(&path))?;
        Self::wait(files, file, mode)
    }

    fn wait(files: &Files, file: File, mode: Mode) -> Result<Self> {
        let path = files.lock();
        for _ in 0..TRIES_MAX {
            let taken = match mode {
                Mode::Shared => file.try_lock_shared(),
                Mode::Alone => file.try_lock(),
            };
            match taken {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) => thread::sleep(TRY_EVERY),
                Err(TryLockError::Error(error)) => return Err(at(&path)(error)),
            }
        }
        Err(Error::Locked(path))
    }
}
