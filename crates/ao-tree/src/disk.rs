//! The door's operations on a real disk, as Linux offers them.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{
    Access, AtFlags, FallocateFlags, FileType, Gid, Mode, OFlags, RawDir, RenameFlags, Statx,
    StatxAttributes, StatxFlags, Uid, XattrFlags,
};
use rustix::io::Errno;

use crate::fs::{Entry, Fs, Kind, Leased, Name, Space, Stat};

/// Where `syncfs` is known to make everything durable that was written before. Elsewhere (FUSE,
/// network file systems) each file and directory is synced by itself.
const SYNCFS_HOLDS: [i64; 6] = [
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683E, // btrfs
    0xF2F5_2010, // f2fs
    0x0102_1994, // tmpfs
    0x794C_7630, // overlayfs
];

/// Linux; `libc` has it not for every target.
const F_SETSIG: i32 = 10;

const LIST_BUFFER_BYTES: usize = 64 * 1024;
/// Deeper than any walk of the door goes, so that syncing a foreign tree ends too.
const SYNC_DEPTH_MAX: usize = 256;

/// A directory on a real disk, and all that lies beneath it.
#[derive(Debug, Clone)]
pub struct Disk {
    top: Arc<OwnedFd>,
    kind: i64,
}

impl Disk {
    /// Opens `root`, which must be a directory and not a symlink to one.
    pub fn open(root: &Path) -> io::Result<Self> {
        let top = rustix::fs::open(root, directory(), Mode::empty())?;
        let kind = file_system(&top)?;
        Ok(Self { top: Arc::new(top), kind })
    }
}

impl Fs for Disk {
    type Dir = Arc<OwnedFd>;
    /// A lease goes with the descriptor that took it.
    type Lease = OwnedFd;

    fn top(&self) -> Self::Dir {
        Arc::clone(&self.top)
    }

    fn open_dir(&self, at: &Self::Dir, name: &OsStr) -> io::Result<Self::Dir> {
        Ok(Arc::new(rustix::fs::openat(at, name, directory(), Mode::empty())?))
    }

    fn list(&self, dir: &Self::Dir) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        read_names(dir, |name, _, _| {
            if let Some(stat) = self.stat(dir, name)? {
                entries.push(Entry { name: name.to_owned(), stat });
            }
            Ok(())
        })?;
        Ok(entries)
    }

    fn names(&self, dir: &Self::Dir) -> io::Result<Vec<Name>> {
        let mut names = Vec::new();
        read_names(dir, |name, kind, inode| {
            // Some file systems do not keep the kind in the directory.
            let kind = match kind {
                Some(kind) => Some(kind),
                None => self.stat(dir, name)?.map(|stat| stat.kind),
            };
            names.extend(kind.map(|kind| Name { name: name.to_owned(), kind, inode }));
            Ok(())
        })?;
        Ok(names)
    }

    fn stat(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<Option<Stat>> {
        match rustix::fs::statx(dir, name, no_follow(), fields()) {
            Ok(found) => Ok(Some(stat_of(&found))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn stat_dir(&self, dir: &Self::Dir) -> io::Result<Stat> {
        Ok(stat_of(&rustix::fs::statx(dir, c"", AtFlags::EMPTY_PATH, fields())?))
    }

    fn read(&self, dir: &Self::Dir, name: &OsStr, max_bytes: u64) -> io::Result<Vec<u8>> {
        let (file, found) = open_file(dir, name)?;
        read_whole(file, found.stx_size, max_bytes)
    }

    fn lease(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<Leased<OwnedFd>> {
        let (file, _) = open_file(dir, name)?;
        match take_lease(&file) {
            Ok(()) => Ok(Leased::Held(file)),
            Err(Errno::AGAIN) => Ok(Leased::Refused),
            Err(_) => Ok(Leased::Unknown),
        }
    }

    fn may_change(&self, dir: &Self::Dir) -> io::Result<bool> {
        let wanted = Access::WRITE_OK | Access::EXEC_OK;
        match rustix::fs::accessat(dir, c".", wanted, AtFlags::EACCESS) {
            Ok(()) => Ok(true),
            Err(Errno::ACCESS | Errno::PERM) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn create(&self, dir: &Self::Dir, name: &OsStr, bytes: &[u8], mode: u32) -> io::Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600))?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = rustix::io::retry_on_intr(|| rustix::io::write(&file, rest))?;
            rest = &rest[written..];
        }
        // Not by the mode of `openat`: that one is cut by the umask.
        Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?)
    }

    fn reserve(&self, dir: &Self::Dir, name: &OsStr, bytes: u64) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600))?;
        match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
            // Nothing to be freed where nothing can be reserved; the free space was looked at.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            done => Ok(done?),
        }
    }

    fn make_dir(&self, dir: &Self::Dir, name: &OsStr, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(mode))?)
    }

    fn copy_attributes(
        &self,
        from: (&Self::Dir, &OsStr),
        to: (&Self::Dir, &OsStr),
    ) -> io::Result<()> {
        let look = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let source = rustix::fs::openat(from.0, from.1, look, Mode::empty())?;
        let target = rustix::fs::openat(to.0, to.1, look, Mode::empty())?;
        let theirs = rustix::fs::fstat(&source)?;
        let ours = rustix::fs::fstat(&target)?;
        if (theirs.st_uid, theirs.st_gid) != (ours.st_uid, ours.st_gid) {
            let owner = Some(Uid::from_raw(theirs.st_uid));
            rustix::fs::fchown(&target, owner, Some(Gid::from_raw(theirs.st_gid)))?;
        }
        copy_extended(&source, &target)?;
        let mode = theirs.st_mode & 0o7777;
        if mode != ours.st_mode & 0o7777 {
            rustix::fs::fchmod(&target, Mode::from_raw_mode(mode))?;
        }
        Ok(())
    }

    fn link(&self, from: (&Self::Dir, &OsStr), to: (&Self::Dir, &OsStr)) -> io::Result<()> {
        Ok(rustix::fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty())?)
    }

    fn rename(&self, from: (&Self::Dir, &OsStr), to: (&Self::Dir, &OsStr)) -> io::Result<()> {
        Ok(rustix::fs::renameat(from.0, from.1, to.0, to.1)?)
    }

    fn rename_new(&self, from: (&Self::Dir, &OsStr), to: (&Self::Dir, &OsStr)) -> io::Result<()> {
        Ok(rustix::fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE)?)
    }

    fn exchange(&self, a: (&Self::Dir, &OsStr), b: (&Self::Dir, &OsStr)) -> io::Result<()> {
        Ok(rustix::fs::renameat_with(a.0, a.1, b.0, b.1, RenameFlags::EXCHANGE)?)
    }

    fn remove_file(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn remove_dir(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
    }

    fn sync_file(&self, dir: &Self::Dir, name: &OsStr) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(dir, name, flags, Mode::empty())?;
        Ok(rustix::fs::fsync(&file)?)
    }

    fn sync_dir(&self, dir: &Self::Dir) -> io::Result<()> {
        Ok(rustix::fs::fsync(dir)?)
    }

    fn sync_tree(&self, dir: &Self::Dir) -> io::Result<()> {
        if SYNCFS_HOLDS.contains(&self.kind) {
            let synced = rustix::fs::syncfs(dir);
            return if ao_mutant::active("LOOP-22/failed-sync-is-ignored") {
                Ok(())
            } else {
                Ok(synced?)
            };
        }
        self.sync_each(dir, 0)
    }

    fn space(&self) -> io::Result<Space> {
        let found = rustix::fs::fstatvfs(&self.top)?;
        Ok(Space {
            free_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            is_read_only: found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        })
    }
}

impl Disk {
    /// As [`Fs::read`], with what the file system said of the very file that was read. A file that
    /// grows while it is read is read as far as it was.
    pub fn read_with_stat(
        &self,
        dir: &Arc<OwnedFd>,
        name: &OsStr,
        max_bytes: u64,
    ) -> io::Result<(Vec<u8>, Stat)> {
        let (file, found) = open_file(dir, name)?;
        let stat = stat_of(&found);
        if stat.size > max_bytes {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than is read"));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or(0));
        // Stops at the size that was told, without one more call that says that this was all.
        while (bytes.len() as u64) < stat.size {
            match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut bytes)) {
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok((bytes, stat))
    }

    fn sync_each(&self, dir: &Arc<OwnedFd>, depth: usize) -> io::Result<()> {
        if depth > SYNC_DEPTH_MAX {
            return Err(io::Error::other("directories nested too deeply to be synced"));
        }
        for entry in self.names(dir)? {
            match entry.kind {
                Kind::File => self.sync_file(dir, &entry.name)?,
                Kind::Dir => self.sync_each(&self.open_dir(dir, &entry.name)?, depth + 1)?,
                Kind::Symlink | Kind::Special => {}
            }
        }
        self.sync_dir(dir)
    }
}

/// Calls `each` with name, kind and inode. What goes while the listing is read is as if it had
/// gone before.
fn read_names(
    dir: &Arc<OwnedFd>,
    mut each: impl FnMut(&OsStr, Option<Kind>, u64) -> io::Result<()>,
) -> io::Result<()> {
    // A fresh description: the offset of `dir` is shared with everyone who holds it.
    let fresh = match rustix::fs::openat(dir, c".", directory(), Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        opened => opened?,
    };
    // Not `vec![uninit; n]`: without optimization that writes every byte of it.
    let mut buffer = Vec::with_capacity(LIST_BUFFER_BYTES);
    let mut names = RawDir::new(&fresh, buffer.spare_capacity_mut());
    while let Some(item) = names.next() {
        let item = match item {
            // The directory itself was removed: nothing is in it any more.
            Err(Errno::NOENT) => return Ok(()),
            item => item?,
        };
        let name = item.file_name().to_bytes();
        if name != b"." && name != b".." {
            each(OsStr::from_bytes(name), kind_of(item.file_type()), item.ino())?;
        }
    }
    Ok(())
}

fn directory() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn no_follow() -> AtFlags {
    AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT
}

fn fields() -> StatxFlags {
    StatxFlags::BASIC_STATS
}

fn file_system(fd: impl AsFd) -> io::Result<i64> {
    Ok(rustix::fs::fstatfs(fd)?.f_type)
}

/// `None` when the file system does not say.
fn kind_of(kind: FileType) -> Option<Kind> {
    match kind {
        FileType::RegularFile => Some(Kind::File),
        FileType::Directory => Some(Kind::Dir),
        FileType::Symlink => Some(Kind::Symlink),
        FileType::Unknown => None,
        _ => Some(Kind::Special),
    }
}

fn stat_of(found: &Statx) -> Stat {
    let kind = kind_of(FileType::from_raw_mode(u32::from(found.stx_mode)));
    Stat {
        kind: kind.unwrap_or(Kind::Special),
        mode: u32::from(found.stx_mode) & 0o7777,
        owner: found.stx_uid,
        links: u64::from(found.stx_nlink),
        size: found.stx_size,
        inode: found.stx_ino,
        device: rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor),
        modified_ns: nanoseconds(found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
        changed_ns: nanoseconds(found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec),
        is_mount_point: found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT),
        is_fixed: found
            .stx_attributes
            .intersects(StatxAttributes::IMMUTABLE | StatxAttributes::APPEND),
    }
}

fn nanoseconds(seconds: i64, rest: u32) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(rest)
}

/// The kernel refuses a lease for reading while anybody has the file open for writing, and keeps whoever opens it
/// so waiting for a moment while the lease lives.
#[expect(unsafe_code, reason = "rustix has no leases; two calls with plain numbers")]
fn take_lease(file: &OwnedFd) -> Result<(), Errno> {
    let call = |command: i32, value: i32| {
        // SAFETY: the descriptor is open for as long as `file` is borrowed, and both commands take a number.
        let done = unsafe { libc::fcntl(file.as_raw_fd(), command, value) };
        let error = io::Error::last_os_error();
        if done == -1 { Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL)) } else { Ok(()) }
    };
    // Whoever wants to write makes the kernel tell us by a signal; of the usual one we would die.
    call(F_SETSIG, libc::SIGURG)?;
    call(libc::F_SETLEASE, libc::F_RDLCK)
}

/// Opens a regular file, and nothing else.
fn open_file(dir: &Arc<OwnedFd>, name: &OsStr) -> io::Result<(OwnedFd, Statx)> {
    // Non-blocking, so that a FIFO that took the file's place cannot hold us.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let found = rustix::fs::statx(&file, c"", AtFlags::EMPTY_PATH, fields())?;
    if stat_of(&found).kind != Kind::File {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok((file, found))
}

/// Reads to the end, but never more than `max_bytes`: a file can grow while it is read.
fn read_whole(file: OwnedFd, size_hint: u64, max_bytes: u64) -> io::Result<Vec<u8>> {
    let room = usize::try_from(size_hint.min(max_bytes)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(room + 1);
    File::from(file).take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than is read"));
    }
    Ok(bytes)
}

/// Extended attributes carry access control lists; a file system without them has none to lose.
fn copy_extended(from: &OwnedFd, to: &OwnedFd) -> io::Result<()> {
    let names = match extended_names(from) {
        Ok(names) => names,
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = OsStr::from_bytes(name);
        let mut value = vec![0_u8; 64 * 1024];
        let length = match rustix::fs::fgetxattr(from, name, value.as_mut_slice()) {
            Ok(length) => length,
            Err(Errno::NODATA) => continue,
            Err(error) => return Err(error.into()),
        };
        match rustix::fs::fsetxattr(to, name, &value[..length], XattrFlags::empty()) {
            // `security.*` and `trusted.*` are the system's to set.
            Ok(()) | Err(Errno::PERM | Errno::OPNOTSUPP) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn extended_names(file: &OwnedFd) -> Result<Vec<u8>, Errno> {
    if rustix::fs::flistxattr_query(file)? == 0 {
        return Ok(Vec::new());
    }
    let mut names = vec![0_u8; 64 * 1024];
    let length = rustix::fs::flistxattr(file, names.as_mut_slice())?;
    names.truncate(length);
    Ok(names)
}
