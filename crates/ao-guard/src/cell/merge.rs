//! Trees that are shown as more than one layer: copies that take changes, and projects without what is
//! secret in them.

#![expect(clippy::disallowed_methods, reason = "only in mounts that exist in the cell alone")]

use std::fs::{self, File, FileTimes};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ao_tree::own_file;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen,
};

use super::cover::{Cover, CoveredFolder};
use super::policy::{COPIES_DIR, COVERS_DIR, Copied, EMPTY_DIR};
use super::sys;

/// In the folder of all covers; each name that is hidden is one more name of it.
const WHITEOUT: &str = "whiteout";
const UPPER: &str = "upper";
const WORK: &str = "work";

/// The work tree and where its changes go, held before anything hides them.
#[derive(Debug)]
pub(super) struct CopySource {
    tree: File,
    upper: File,
    work: File,
}

impl CopySource {
    pub(super) fn of(copied: &Copied) -> io::Result<Self> {
        let [tree, upper, work] =
            [copied.tree.path(), copied.upper.path(), copied.work.path()].map(reach);
        Ok(Self { tree: tree?, upper: upper?, work: work? })
    }

    /// The tree as a copy that takes all changes.
    pub(super) fn copy(&self, hiding: Option<&Path>) -> io::Result<OwnedFd> {
        merged(&[
            ("lowerdir", layers(hiding, &self.tree)),
            ("upperdir", number(&self.upper)),
            ("workdir", number(&self.work)),
        ])
    }
}

/// A project without what is secret in it, with nothing to take changes. A read-only mount does not
/// stop writing into a pipe, but a pipe of another file system is another pipe.
pub(super) fn covered(tree: &File, hiding: &Path) -> io::Result<OwnedFd> {
    merged(&[("lowerdir", layers(Some(hiding), tree))])
}

/// A tree as a file system of its own, with nothing to take changes. In a private folder Landlock does
/// not keep a program from a pipe either, as its rules go down through mounts.
pub(super) fn apart(tree: &File) -> io::Result<OwnedFd> {
    // One layer alone would have to be one that takes changes.
    covered(tree, Path::new(EMPTY_DIR)).map_err(|error| {
        let why = format!("it cannot be shown apart, as with a mount in it ({error})");
        io::Error::new(error.kind(), why)
    })
}

/// A toolchain's folder as a copy that lives in memory.
pub(super) fn thrown_away(leaf: &File, number_of: usize) -> io::Result<OwnedFd> {
    let own = Path::new(COPIES_DIR).join(number_of.to_string());
    let (upper, work) = (own.join(UPPER), own.join(WORK));
    fs::create_dir_all(&upper)?;
    fs::create_dir(&work)?;
    let mode = leaf.metadata()?.permissions().mode();
    fs::set_permissions(&upper, fs::Permissions::from_mode(mode | 0o700))?;
    merged(&[
        ("lowerdir", number(leaf)),
        ("upperdir", number(&reach(&upper)?)),
        ("workdir", number(&reach(&work)?)),
    ])
}

/// Makes the layer that hides what is secret.
pub(super) fn hiding(cover: &Cover, number_of: usize) -> io::Result<PathBuf> {
    let whiteout = Path::new(COVERS_DIR).join(WHITEOUT);
    if fs::symlink_metadata(&whiteout).is_err() {
        sys::make_whiteout(&whiteout)?;
    }
    let root = Path::new(COVERS_DIR).join(number_of.to_string());
    for folder in &cover.folders {
        let at = root.join(folder.path.path());
        fs::create_dir(&at)?;
        for name in folder.names() {
            fs::hard_link(&whiteout, at.join(name))?;
        }
    }
    // Making something in a folder changes its times.
    for folder in cover.folders.iter().rev() {
        resemble(&root.join(folder.path.path()), folder)?;
    }
    Ok(root)
}

/// A merged folder has the mode and the time of its top layer.
fn resemble(at: &Path, folder: &CoveredFolder) -> io::Result<()> {
    fs::set_permissions(at, fs::Permissions::from_mode(folder.mode))?;
    let time = modified(folder.modified);
    own_file::open_folder(at)?.set_times(FileTimes::new().set_accessed(time).set_modified(time))
}

fn modified((seconds, nanoseconds): (i64, i64)) -> SystemTime {
    let seconds = Duration::from_secs(seconds.unsigned_abs());
    let part = Duration::from_nanos(nanoseconds.unsigned_abs());
    // What is older than the epoch is as old as that.
    UNIX_EPOCH.checked_add(seconds + part).unwrap_or(UNIX_EPOCH)
}

fn layers(hiding: Option<&Path>, tree: &File) -> String {
    match hiding {
        Some(hiding) => format!("{}:{}", hiding.display(), number(tree)),
        None => number(tree),
    }
}

/// A handle that stands for a path: that may have any character in it, and some would mean
/// something to the kernel where layers are named.
pub(super) fn reach(path: &Path) -> io::Result<File> {
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_DIRECTORY;
    named(path, File::options().read(true).custom_flags(flags).open(path))
}

fn number(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())
}

pub(super) fn named<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    let say =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    result.map_err(say)
}

fn merged(layers: &[(&str, String)]) -> io::Result<OwnedFd> {
    let system = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, path) in layers {
        fsconfig_set_string(&system, *name, path)?;
    }
    fsconfig_set_flag(&system, "userxattr")?;
    fsconfig_create(&system)?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}
