//! A tap between a protocol and its file system: every call becomes a value, and a policy decides
//! what happens to it. Faults, mutants and other people are all policies of this one wrapper.

use std::ffi::{OsStr, OsString};
use std::io;
use std::rc::Rc;

use ao_tree::{Entry, Fs, Leased, Space, Stat};
use rustix::io::Errno;

/// One call of the trait, kept as a value so that it can be named, repeated or done later.
#[derive(Debug, Clone)]
pub(crate) enum Call<D> {
    OpenDir(D),
    List(D),
    Stat(D),
    StatDir(D),
    Read(D, OsString),
    Create { to: (D, OsString), bytes: Vec<u8>, mode: u32 },
    MakeDir { to: (D, OsString), mode: u32 },
    CopyAttributes { from: (D, OsString), to: (D, OsString) },
    Link { from: (D, OsString), to: (D, OsString) },
    Rename { from: (D, OsString), to: (D, OsString) },
    RenameNew { from: (D, OsString), to: (D, OsString) },
    Exchange { a: (D, OsString), b: (D, OsString) },
    RemoveFile(D, OsString),
    RemoveDir(D, OsString),
    SyncFile(D, OsString),
    SyncDir(D),
    SyncTree(D),
    Space,
    Lease,
    MayChange(D),
    Reserve(D, OsString),
}

impl<D: Clone> Call<D> {
    pub(crate) fn is_sync(&self) -> bool {
        matches!(self, Self::SyncFile(..) | Self::SyncDir(_) | Self::SyncTree(_))
    }

    pub(crate) fn is_change(&self) -> bool {
        !self.is_sync() && !self.is_look()
    }

    /// It reads, or waits, and leaves everything as it is.
    pub(crate) fn is_look(&self) -> bool {
        matches!(
            self,
            Self::OpenDir(_)
                | Self::List(_)
                | Self::Stat(_)
                | Self::StatDir(_)
                | Self::Read(..)
                | Self::Space
                | Self::Lease
                | Self::MayChange(_)
        )
    }

    /// It cannot be done on a full disk.
    pub(crate) fn takes_space(&self) -> bool {
        matches!(
            self,
            Self::Create { .. } | Self::MakeDir { .. } | Self::Link { .. } | Self::Reserve(..)
        )
    }

    /// Does a change or a sync. What only looks has no effect that could be repeated.
    pub(crate) fn perform<F: Fs<Dir = D>>(&self, fs: &F) -> io::Result<()> {
        match self {
            Self::Create { to, bytes, mode } => fs.create(&to.0, &to.1, bytes, *mode),
            Self::MakeDir { to, mode } => fs.make_dir(&to.0, &to.1, *mode),
            Self::CopyAttributes { from, to } => fs.copy_attributes(spot(from), spot(to)),
            Self::Link { from, to } => fs.link(spot(from), spot(to)),
            Self::Rename { from, to } => fs.rename(spot(from), spot(to)),
            Self::RenameNew { from, to } => fs.rename_new(spot(from), spot(to)),
            Self::Exchange { a, b } => fs.exchange(spot(a), spot(b)),
            Self::RemoveFile(dir, name) => fs.remove_file(dir, name),
            Self::RemoveDir(dir, name) => fs.remove_dir(dir, name),
            Self::SyncFile(dir, name) => fs.sync_file(dir, name),
            Self::SyncDir(dir) => fs.sync_dir(dir),
            Self::SyncTree(dir) => fs.sync_tree(dir),
            Self::Reserve(dir, name) => fs.reserve(dir, name, 1),
            _ => Ok(()),
        }
    }
}

impl<D: PartialEq> Call<D> {
    pub(crate) fn is_same_sync(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::SyncFile(dir, name), Self::SyncFile(other, of)) => dir == other && name == of,
            (Self::SyncDir(dir), Self::SyncDir(other))
            | (Self::SyncTree(dir), Self::SyncTree(other)) => dir == other,
            _ => false,
        }
    }
}

fn spot<D>((dir, name): &(D, OsString)) -> (&D, &OsStr) {
    (dir, name)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Go,
    /// Nothing happens, and the caller is told that it went well.
    Pretend,
    Fail(Errno),
}

pub(crate) trait Policy<F: Fs> {
    fn before(&self, fs: &F, call: &Call<F::Dir>) -> Verdict;
    /// After a call that went well, or was pretended to.
    fn after(&self, _fs: &F, _call: &Call<F::Dir>) {}
    /// Names that a listing does not show.
    fn hides(&self, _name: &OsStr) -> bool {
        false
    }
}

/// `F`, with `P` between it and its user. A handle: clones share the policy.
#[derive(Debug)]
pub(crate) struct Tap<F, P> {
    fs: F,
    policy: Rc<P>,
}

impl<F: Clone, P> Clone for Tap<F, P> {
    fn clone(&self) -> Self {
        Self { fs: self.fs.clone(), policy: self.policy.clone() }
    }
}

impl<F: Fs, P: Policy<F>> Tap<F, P> {
    pub(crate) fn new(fs: F, policy: P) -> Self {
        Self { fs, policy: Rc::new(policy) }
    }

    pub(crate) fn policy(&self) -> &P {
        &self.policy
    }

    fn look<T>(&self, call: &Call<F::Dir>, see: impl FnOnce(&F) -> io::Result<T>) -> io::Result<T> {
        match self.policy.before(&self.fs, call) {
            Verdict::Fail(errno) => Err(errno.into()),
            Verdict::Go | Verdict::Pretend => {
                let seen = see(&self.fs)?;
                self.policy.after(&self.fs, call);
                Ok(seen)
            }
        }
    }

    fn act(&self, call: &Call<F::Dir>) -> io::Result<()> {
        match self.policy.before(&self.fs, call) {
            Verdict::Fail(errno) => return Err(errno.into()),
            Verdict::Go => call.perform(&self.fs)?,
            Verdict::Pretend => {}
        }
        self.policy.after(&self.fs, call);
        Ok(())
    }
}

fn own<D: Clone>((dir, name): (&D, &OsStr)) -> (D, OsString) {
    (dir.clone(), name.to_owned())
}

impl<F: Fs, P: Policy<F>> Fs for Tap<F, P> {
    type Dir = F::Dir;
    type Lease = F::Lease;

    fn top(&self) -> F::Dir {
        self.fs.top()
    }

    fn open_dir(&self, at: &F::Dir, name: &OsStr) -> io::Result<F::Dir> {
        self.look(&Call::OpenDir(at.clone()), |fs| fs.open_dir(at, name))
    }

    fn list(&self, dir: &F::Dir) -> io::Result<Vec<Entry>> {
        let mut entries = self.look(&Call::List(dir.clone()), |fs| fs.list(dir))?;
        entries.retain(|entry| !self.policy.hides(&entry.name));
        Ok(entries)
    }

    fn stat(&self, dir: &F::Dir, name: &OsStr) -> io::Result<Option<Stat>> {
        self.look(&Call::Stat(dir.clone()), |fs| fs.stat(dir, name))
    }

    fn stat_dir(&self, dir: &F::Dir) -> io::Result<Stat> {
        self.look(&Call::StatDir(dir.clone()), |fs| fs.stat_dir(dir))
    }

    fn read(&self, dir: &F::Dir, name: &OsStr, max_bytes: u64) -> io::Result<Vec<u8>> {
        self.look(&Call::Read(dir.clone(), name.into()), |fs| fs.read(dir, name, max_bytes))
    }

    fn lease(&self, dir: &F::Dir, name: &OsStr) -> io::Result<Leased<F::Lease>> {
        self.look(&Call::Lease, |fs| fs.lease(dir, name))
    }

    fn may_change(&self, dir: &F::Dir) -> io::Result<bool> {
        self.look(&Call::MayChange(dir.clone()), |fs| fs.may_change(dir))
    }

    fn reserve(&self, dir: &F::Dir, name: &OsStr, _bytes: u64) -> io::Result<()> {
        self.act(&Call::Reserve(dir.clone(), name.into()))
    }

    fn create(&self, dir: &F::Dir, name: &OsStr, bytes: &[u8], mode: u32) -> io::Result<()> {
        self.act(&Call::Create { to: own((dir, name)), bytes: bytes.to_vec(), mode })
    }

    fn make_dir(&self, dir: &F::Dir, name: &OsStr, mode: u32) -> io::Result<()> {
        self.act(&Call::MakeDir { to: own((dir, name)), mode })
    }

    fn copy_attributes(&self, from: (&F::Dir, &OsStr), to: (&F::Dir, &OsStr)) -> io::Result<()> {
        self.act(&Call::CopyAttributes { from: own(from), to: own(to) })
    }

    fn link(&self, from: (&F::Dir, &OsStr), to: (&F::Dir, &OsStr)) -> io::Result<()> {
        self.act(&Call::Link { from: own(from), to: own(to) })
    }

    fn rename(&self, from: (&F::Dir, &OsStr), to: (&F::Dir, &OsStr)) -> io::Result<()> {
        self.act(&Call::Rename { from: own(from), to: own(to) })
    }

    fn rename_new(&self, from: (&F::Dir, &OsStr), to: (&F::Dir, &OsStr)) -> io::Result<()> {
        self.act(&Call::RenameNew { from: own(from), to: own(to) })
    }

    fn exchange(&self, a: (&F::Dir, &OsStr), b: (&F::Dir, &OsStr)) -> io::Result<()> {
        self.act(&Call::Exchange { a: own(a), b: own(b) })
    }

    fn remove_file(&self, dir: &F::Dir, name: &OsStr) -> io::Result<()> {
        self.act(&Call::RemoveFile(dir.clone(), name.into()))
    }

    fn remove_dir(&self, dir: &F::Dir, name: &OsStr) -> io::Result<()> {
        self.act(&Call::RemoveDir(dir.clone(), name.into()))
    }

    fn sync_file(&self, dir: &F::Dir, name: &OsStr) -> io::Result<()> {
        self.act(&Call::SyncFile(dir.clone(), name.into()))
    }

    fn sync_dir(&self, dir: &F::Dir) -> io::Result<()> {
        self.act(&Call::SyncDir(dir.clone()))
    }

    fn sync_tree(&self, dir: &F::Dir) -> io::Result<()> {
        self.act(&Call::SyncTree(dir.clone()))
    }

    fn space(&self) -> io::Result<Space> {
        self.look(&Call::Space, F::space)
    }
}
