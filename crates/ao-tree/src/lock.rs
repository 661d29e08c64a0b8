//! The kernel locks: `run.lock`, which one run holds for as long as it lives, and `commit.lock`,
//! which readers share and a commit holds for an instant.
//!
//! A lock's content only says who holds it. Whether it is held is the kernel's word, so a lock
//! goes with its process, however that ends. To ask `run.lock` is to take it, and a start in that
//! instant would be refused: a run also holds `run.alive`, and whoever asks shares that for an
//! instant. A process id says nothing here: the run may be in a container that has ids of its own.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::apply::Stop;
use crate::error::{Error, Result};
use crate::ignored::IGNORED;
use crate::own_file::{self, FileLock, Sharing};
use crate::path::shown;

const READERS_WAIT: Duration = Duration::from_secs(30);
const COMMIT_WAIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(2);
/// Where the kernel has no locks, a lock of this age whose process is gone is taken.
const STALE_AFTER: Duration = Duration::from_hours(12);
const LOCK_FILE_BYTES_MAX: u64 = 4096;
const RUN: &str = "run.lock";
pub(crate) const ALIVE: &str = "run.alive";

/// Who takes the lock, as its file will say. The clock and the host are the caller's to know.
#[derive(Debug, Clone)]
pub struct Holder {
    pub process: u32,
    /// When the process started, in the kernel's ticks: tells a reused process id.
    pub process_start: u64,
    pub host: String,
    /// RFC 3339, UTC.
    pub started_at: String,
}

/// The lock of a run, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct RunLock {
    file: File,
    /// Nothing where the file system has no kernel locks.
    _alive: Option<FileLock>,
    /// Who had left the lock behind without giving it back, if somebody had.
    pub left_by: Option<String>,
}

impl RunLock {
    /// Takes the lock or fails at once; who is refused has changed nothing.
    pub fn take(state_dir: &Path, holder: &Holder) -> Result<Self> {
        let path = state_dir.join(RUN);
        make_state_dir(state_dir)?;
        let mut file = open_linked(&path, |file| try_exclusive(file, &path))?;
        let left_by = describe(&content_of(&file))
            .filter(|_| !ao_mutant::active("RUN-17/left-lock-is-not-reported"));
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            let Holder { process, process_start, host, started_at } = holder;
            let word = if ao_mutant::active("RUN-17/first-line-says-more") { "pid " } else { "" };
            let text = format!("{word}{process}\n{process_start}\n{host}\n{started_at}\n");
            file.write_all(text.as_bytes())
        };
        write(&mut file).map_err(Error::io(format!("write {}", path.display())))?;
        let ignored = state_dir.join(IGNORED);
        let doing = format!("write {}", ignored.display());
        // What is left of a file of one who was killed is in nobody's way.
        let _ = crate::sweep(state_dir);
        crate::ignored::write(state_dir).map_err(unwritable(&ignored, doing))?;
        Ok(Self { file, _alive: be_alive(&state_dir.join(ALIVE))?, left_by })
    }
}

/// Whoever asks shares the lock for an instant, so it is waited for. Should somebody keep it, the run goes on
/// without: only those who ask are misled.
fn be_alive(path: &Path) -> Result<Option<FileLock>> {
    let doing = || Error::io(format!("lock {}", path.display()));
    let file = open_linked(path, |_| Ok(()))?;
    match FileLock::wait_for(file, Sharing::Alone) {
        Err(error) if is_lockless(&error) => Ok(None),
        taken => taken.map_err(doing()),
    }
}

/// Whether a run lives. `None` where the kernel cannot say: there are no locks, or no run that had this one.
fn is_held(state_dir: &Path) -> Option<bool> {
    let file = own_file::open(&state_dir.join(ALIVE)).ok()?;
    match file.try_lock_shared() {
        Ok(()) => Some(ao_mutant::active("RUN-16/everything-lives")),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // An empty file tells the next one that the lock was given back; should this fail, it
        // only reads of a holder that is gone.
        let _ = self.file.set_len(0);
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the room that writes")]
fn make_state_dir(dir: &Path) -> Result<()> {
    match std::fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(unwritable(dir, format!("make {}", dir.display()))(error))
        }
        _ => Ok(()),
    }
}

/// A read-only disk, and something else in the place of a lock, are no failures but a tree that the door cannot
/// work on.
fn unwritable(path: &Path, doing: String) -> impl FnOnce(io::Error) -> Error {
    let path = shown(&path.to_string_lossy());
    move |source| match source.kind() {
        io::ErrorKind::ReadOnlyFilesystem => Error::Unfit {
            path,
            why: "its file system is read-only".into(),
            remedy: "mount it writable".into(),
        },
        io::ErrorKind::InvalidInput => Error::Unfit {
            path,
            why: "is not a plain file".into(),
            remedy: "move it away; ao keeps its state there".into(),
        },
        _ => Error::Io { doing, source },
    }
}

/// Opens and locks a file, and makes sure that its name still leads to it: a lock on a file that
/// was removed meanwhile keeps nobody out.
fn open_linked(path: &Path, lock: impl Fn(&File) -> Result<()>) -> Result<File> {
    let doing = || Error::io(format!("open {}", path.display()));
    loop {
        let open = own_file::open_with(path, OFlags::RDWR | OFlags::CREATE, 0o644);
        let file = open.map_err(unwritable(path, format!("open {}", path.display())))?;
        lock(&file)?;
        let held = file.metadata().map_err(doing())?;
        match std::fs::symlink_metadata(path) {
            Ok(named) if (named.dev(), named.ino()) == (held.dev(), held.ino()) => return Ok(file),
            _ => {}
        }
    }
}

fn try_exclusive(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) if ao_mutant::active("RUN-16/lock-outlives-its-process") => by_content(file),
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) if ao_mutant::active("RUN-18/nobody-is-refused") => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let who = describe(&content_of(file)).unwrap_or_else(|| "it does not say who".into());
            Err(Error::Locked { holder: who })
        }
        Err(TryLockError::Error(error)) if is_lockless(&error) => by_content(file),
        Err(TryLockError::Error(source)) => {
            Err(Error::Io { doing: format!("lock {}", path.display()), source })
        }
    }
}

/// Some file systems have no kernel locks at all.
fn is_lockless(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let known = [Errno::NOLCK, Errno::NOSYS, Errno::OPNOTSUPP].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| known.contains(&code))
}

/// The rule for file systems without kernel locks: held while its process lives, and for twelve
/// hours after it was taken.
fn by_content(file: &File) -> Result<()> {
    let content = content_of(file);
    let Some(who) = describe(&content) else { return Ok(()) };
    let age = file
        .metadata()
        .and_then(|found| found.modified())
        .ok()
        .and_then(|time| time.elapsed().ok());
    let is_held = is_alive(&content) && !ao_mutant::active("RUN-17/age-alone-counts");
    if is_held || age.is_none_or(|age| age < STALE_AFTER) {
        return Err(Error::Locked {
            holder: format!("{who} (this file system has no kernel locks)"),
        });
    }
    Ok(())
}

fn content_of(mut file: &File) -> String {
    let mut bytes = Vec::new();
    let read = file.rewind().and_then(|()| file.take(LOCK_FILE_BYTES_MAX).read_to_end(&mut bytes));
    if read.is_err() {
        bytes.clear();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn describe(content: &str) -> Option<String> {
    let mut lines = content.lines();
    let process = lines.next().filter(|line| !line.trim().is_empty())?;
    let since = lines.nth(2).unwrap_or("an unknown time");
    Some(format!("process {} since {}", shown(process.trim()), shown(since)))
}

/// Held by a reader: no commit is published while it lives.
#[derive(Debug)]
pub struct ReadLock(#[expect(dead_code, reason = "held, not read")] Option<File>);

/// Shares `commit.lock` with other readers.
pub fn share(state_dir: &Path) -> Result<ReadLock> {
    // Opened for reading: a look leaves nothing behind. Before the first commit there is no lock.
    let opened = own_file::open(&state_dir.join("commit.lock"));
    let Ok(file) = opened else { return Ok(ReadLock(None)) };
    let since = Instant::now();
    loop {
        match file.try_lock_shared() {
            Ok(()) => return Ok(ReadLock(Some(file))),
            Err(TryLockError::WouldBlock) if since.elapsed() < COMMIT_WAIT => {
                std::thread::sleep(POLL);
            }
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Locked { holder: "a commit that is being published".into() });
            }
            Err(TryLockError::Error(_)) => return Ok(ReadLock(None)),
        }
    }
}

/// Waits until no reader is left, and keeps new ones out. Whoever asks to stop is not kept waiting
/// for a reader that stays.
pub(crate) fn exclusive(path: &Path, stop: &Stop) -> Result<File> {
    let since = Instant::now();
    open_linked(path, |file| {
        loop {
            stop.check()?;
            match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::WouldBlock) if since.elapsed() < READERS_WAIT => {
                    std::thread::sleep(POLL);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::ReadersStay { seconds: READERS_WAIT.as_secs() });
                }
                // No kernel locks here: readers go by the counter.
                Err(TryLockError::Error(error)) if is_lockless(&error) => {
                    return Ok(());
                }
                Err(TryLockError::Error(source)) => {
                    return Err(Error::Io { doing: format!("lock {}", path.display()), source });
                }
            }
        }
    })
}

/// Who is at work here, if somebody is. Only a look: nothing is taken from anybody.
pub fn at_work(state_dir: &Path) -> Option<String> {
    let content = content_of(&own_file::open(&state_dir.join(RUN)).ok()?);
    let lives = is_held(state_dir).unwrap_or_else(|| is_alive(&content));
    if lives { describe(&content) } else { None }
}

/// Who holds the run's lock, as its file says, if a run lives. Only a look, too.
pub fn holder(state_dir: &Path) -> Option<Holder> {
    let content = content_of(&own_file::open(&state_dir.join(RUN)).ok()?);
    let mut lines = content.lines();
    let process: u32 = lines.next()?.trim().parse().ok()?;
    let process_start: u64 = lines.next()?.trim().parse().ok()?;
    let host = lines.next()?.to_owned();
    let started_at = lines.next()?.to_owned();
    let same = || start_of(&process.to_string()).is_some_and(|start| start == process_start);
    is_held(state_dir).unwrap_or_else(same).then_some(Holder {
        process,
        process_start,
        host,
        started_at,
    })
}

fn is_alive(content: &str) -> bool {
    let process = content.lines().next().unwrap_or_default();
    process.parse::<u32>().is_ok_and(|id| Path::new(&format!("/proc/{id}")).exists())
}

/// When this process started, in the kernel's ticks since boot; 0 where that cannot be known.
pub fn process_start() -> u64 {
    start_of("self").unwrap_or(0)
}

/// When a process started, in the kernel's ticks since boot; `None` if there is none.
fn start_of(process: &str) -> Option<u64> {
    let path = format!("/proc/{process}/stat");
    let bytes = own_file::read(Path::new(&path), LOCK_FILE_BYTES_MAX).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    // The second field is a name in parentheses that may hold anything.
    let (_, after_name) = text.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

/// This machine's name, for the lock's content.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
