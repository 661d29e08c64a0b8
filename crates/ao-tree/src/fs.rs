//! The file operations that the door is made of, and nothing else.
//!
//! Every read and write of the door goes through [`Fs`], so that the same protocol runs on a real
//! disk ([`crate::Disk`]), on a simulated one that forgets what was not synced, and on one that
//! fails at any chosen operation. Operations name a file by an open directory and one name in it:
//! no path is resolved twice, and no symlink on the way is ever followed.

use std::ffi::{OsStr, OsString};
use std::io;

/// What a directory entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Dir,
    Symlink,
    /// A FIFO, socket or device.
    Special,
}

/// What the file system says of one entry, without following it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    pub kind: Kind,
    /// Permission bits only.
    pub mode: u32,
    pub owner: u32,
    pub links: u64,
    pub size: u64,
    pub inode: u64,
    pub device: u64,
    /// Nanoseconds since the epoch.
    pub modified_ns: i128,
    /// Nanoseconds since the epoch, of the last change to content, links or attributes.
    pub changed_ns: i128,
    /// Another file system, or another part of this one, is mounted here.
    pub is_mount_point: bool,
    /// Nobody may rename it: it is immutable, or may only grow.
    pub is_fixed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    pub stat: Stat,
}

/// An entry as its directory knows it, which is cheaper than to ask the entry itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub name: OsString,
    pub kind: Kind,
    /// Where it equals the inode of a [`Stat`], it is the same entry. Where it differs, only a
    /// [`Fs::stat`] tells: a mount point or an overlay has two answers.
    pub inode: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    pub free_bytes: u64,
    pub is_read_only: bool,
}

/// What came of asking for a lease.
#[derive(Debug)]
pub enum Leased<L> {
    /// Nobody has the file open for writing, and nobody opens it so while this lives.
    Held(L),
    /// Somebody has it open for writing.
    Refused,
    /// This file system, or the owner of this file, gives none.
    Unknown,
}

/// One file system, rooted at the directory that the door guards.
///
/// Nothing is durable until one of the three `sync_` operations says so; what each of them covers
/// is all that the protocol may rely on.
pub trait Fs {
    /// An open directory. It stays the same directory when its name changes.
    type Dir: Clone;
    type Lease;

    fn top(&self) -> Self::Dir;
    fn open_dir(&self, at: &Self::Dir, name: &OsStr) -> io::Result<Self::Dir>;
    /// All entries but `.` and `..`, in no particular order.
    fn list(&self, dir: &Self::Dir) -> io::Result<Vec<Entry>>;
    /// As [`Fs::list`], without asking each entry.
    fn names(&self, dir: &Self::Dir) -> io::Result<Vec<Name>> {
        let name = |Entry { name, stat }| Name { name, kind: stat.kind, inode: stat.inode };
        Ok(self.list(dir)?.into_iter().map(name).collect())
    }
    /// `None` when there is no such entry.
    fn stat(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<Option<Stat>>;
    fn stat_dir(&self, dir: &Self::Dir) -> io::Result<Stat>;
    /// A regular file's bytes. Anything else, and a file of more than `max_bytes`, is an error.
    fn read(&self, dir: &Self::Dir, name: &OsStr, max_bytes: u64) -> io::Result<Vec<u8>>;

    /// Asks whether somebody can still write to a file.
    fn lease(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<Leased<Self::Lease>>;
    /// Whether names in this directory may be changed by us.
    fn may_change(&self, dir: &Self::Dir) -> io::Result<bool>;

    /// Makes a file that was not there, with these bytes. A failure may leave it part-written.
    fn create(&self, dir: &Self::Dir, name: &OsStr, bytes: &[u8], mode: u32) -> io::Result<()>;
    /// Makes a file that only holds this much space.
    fn reserve(&self, dir: &Self::Dir, name: &OsStr, bytes: u64) -> io::Result<()>;
    fn make_dir(&self, dir: &Self::Dir, name: &OsStr, mode: u32) -> io::Result<()>;
    /// Gives `to` the owner, mode and extended attributes of `from`.
    fn copy_attributes(
        &self,
        from: (&Self::Dir, &OsStr),
        to: (&Self::Dir, &OsStr),
    ) -> io::Result<()>;
    /// One more name for any entry that is not a directory; fails when `to` exists.
    fn link(&self, from: (&Self::Dir, &OsStr), to: (&Self::Dir, &OsStr)) -> io::Result<()>;
    /// Atomic; replaces a file by a file, or an empty directory by a directory.
    fn rename(&self, from: (&Self::Dir, &OsStr), to: (&Self::Dir, &OsStr)) -> io::Result<()>;
    /// As [`Fs::rename`], but fails when `to` exists.
    fn rename_new(&self, from: (&Self::Dir, &OsStr), to: (&Self::Dir, &OsStr)) -> io::Result<()>;
    /// Atomic; both must exist, of whatever kind.
    fn exchange(&self, a: (&Self::Dir, &OsStr), b: (&Self::Dir, &OsStr)) -> io::Result<()>;
    fn remove_file(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<()>;
    fn remove_dir(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<()>;

    /// The file's bytes and attributes are durable; its name may not be.
    fn sync_file(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<()>;
    /// The names in this directory are durable; what they name may not be.
    fn sync_dir(&self, dir: &Self::Dir) -> io::Result<()>;
    /// Everything beneath this directory is durable, and the names in it; its own name may not be.
    fn sync_tree(&self, dir: &Self::Dir) -> io::Result<()>;

    fn space(&self) -> io::Result<Space>;
}
