//! The one way to open a file of ours: a plain file, never through a link, without waiting, and never read past a
//! bound. A pipe, a terminal or a link to a device in the place of one is an error at once.
//!
//! Other rooms open no file by themselves; a test holds them to that (`crates/ao/tests/cli/house.rs`).

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

const TRY_EVERY: Duration = Duration::from_millis(10);
/// Ten seconds: whoever holds such a lock changes one file.
const TRIES_MAX: u32 = 1000;
/// The owner alone.
pub(crate) const PRIVATE: u32 = 0o600;
pub(crate) const PUBLIC: u32 = 0o666;

/// Opens a file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::RDONLY, 0)
}

/// All bytes of a file that has no more than `bytes_max`.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_all(open(path)?, bytes_max)
}

/// The same; `None` where there is no such file.
pub fn read_if_any(path: &Path, bytes_max: u64) -> io::Result<Option<Vec<u8>>> {
    match read(path, bytes_max) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        bytes => bytes.map(Some),
    }
}

/// The same of a text.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    text(read(path, bytes_max)?)
}

/// A file that whoever called the program named: it may be a link, `/dev/null` or a pipe, too.
pub fn read_named(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_all(open_named(path)?, bytes_max)
}

/// The same, for whoever has a bound for each line.
pub fn open_named(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty()).map_err(plainly)?;
    match kind_of(&file)? {
        // Whoever named a pipe is about to write into it.
        FileType::Fifo => rustix::fs::fcntl_setfl(&file, OFlags::RDONLY)?,
        FileType::RegularFile | FileType::CharacterDevice => {}
        _ => return Err(not_plain()),
    }
    Ok(file.into())
}

/// The same of a text.
pub fn read_named_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    text(read_named(path, bytes_max)?)
}

/// Everything that an open file still has, if that is no more than `bytes_max`.
pub fn read_all(file: File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    let too_large = || {
        let why = format!("it is larger than {bytes_max} bytes");
        io::Error::new(io::ErrorKind::FileTooLarge, why)
    };
    if size > bytes_max {
        return Err(too_large());
    }
    // Room for all of it at once: a buffer that grows leaves copies behind.
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max { Err(too_large()) } else { Ok(bytes) }
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    let bad = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8");
    String::from_utf8(bytes).map_err(bad)
}

/// Opens a plain file, or makes one where `flags` say so.
pub(crate) fn open_with(path: &Path, flags: OFlags, mode: u32) -> io::Result<File> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::from_raw_mode(mode)).map_err(plainly)?;
    if kind_of(&file)? != FileType::RegularFile {
        return Err(not_plain());
    }
    Ok(file.into())
}

/// Makes a file that only has this name for a moment. One that was left there goes.
pub(crate) fn create_fresh(path: &Path, mode: u32) -> io::Result<File> {
    crate::remove_cache(path)?;
    open_with(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, mode)
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    open_folder(path)?.sync_all()
}

/// Opens a folder, to lock it or to sync it.
pub fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

fn kind_of(file: &impl std::os::fd::AsFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(file)?.st_mode))
}

/// What the kernel says of a link, a folder, a socket or a pipe that nobody reads, in one sentence.
fn plainly(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::ISDIR | Errno::NXIO => not_plain(),
        other => other.into(),
    }
}

fn not_plain() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file")
}

/// With others, or without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    Shared,
    Alone,
}

/// A kernel lock on a file, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Locks a private file, which is made if need be; waits for those who are quick. `None` where somebody stays.
    pub fn wait(path: &Path, sharing: Sharing) -> io::Result<Option<Self>> {
        Self::wait_for(open_private(path)?, sharing)
    }

    /// The same of a file that is open.
    pub fn wait_for(file: File, sharing: Sharing) -> io::Result<Option<Self>> {
        for _ in 0..TRIES_MAX {
            if is_taken(&file, sharing)? {
                return Ok(Some(Self { _file: file }));
            }
            std::thread::sleep(TRY_EVERY);
        }
        Ok(None)
    }

    /// Locks a private file at once; `None` where somebody holds it.
    pub fn at_once(path: &Path) -> io::Result<Option<Self>> {
        let file = open_private(path)?;
        Ok(is_taken(&file, Sharing::Alone)?.then_some(Self { _file: file }))
    }
}

fn open_private(path: &Path) -> io::Result<File> {
    open_with(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, PRIVATE)
}

fn is_taken(file: &File, sharing: Sharing) -> io::Result<bool> {
    let taken = match sharing {
        Sharing::Shared => file.try_lock_shared(),
        Sharing::Alone => file.try_lock(),
    };
    match taken {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
