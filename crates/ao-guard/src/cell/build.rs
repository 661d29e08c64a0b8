//! The file system of a cell (tier A), built by its first process.
//!
//! The machine's own tree stays where it is, so that every program finds what it is used to; it is
//! made read-only as a whole. What must be reached through a mask is taken hold of first, then the
//! masks are laid, then everything is closed, and at last the few writable places are put on top.

#![expect(clippy::disallowed_methods, reason = "only in mounts that exist in the cell alone")]

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen,
    mount_change, move_mount, open_tree,
};

use super::layer::Layer;
use super::policy::{
    CANARY_DIR, CELL_DIR, Copied, EMPTY_DIR, EMPTY_FILE, OPEN_DIR, OUTSIDE_DIR, Policy, RUN, Spot,
};
use super::rules::{DEVICES, PRIVATE};
use super::sys::{self, Reach};

/// An empty folder takes no more.
const MASK_BYTES: u64 = 64 * 1024;
const LISTED_ONLY: u32 = 0o555;
const OWN: u32 = 0o700;
const FOR_ALL: u32 = 0o1777;

/// What went wrong, and in which wall.
pub(super) type Built<T> = Result<T, (Layer, io::Error)>;

fn at<T>(layer: Layer, result: io::Result<T>) -> Built<T> {
    result.map_err(|error| (layer, error))
}

/// Builds it all.
pub(super) fn build(policy: &Policy) -> Built<()> {
    let builder = at(Layer::ReadOnly, Builder::begin())?;
    let rw: Vec<(&Path, OwnedFd)> = at(
        Layer::ReadOnly,
        policy.writable.iter().map(|spot| builder.hold(spot.path())).collect(),
    )?;
    let tree = match &policy.copied {
        Some(copied) if policy.has(Layer::Overlay) => {
            Some((copied.tree.path(), at(Layer::Overlay, overlay(copied))?))
        }
        Some(copied) => Some(at(Layer::Overlay, builder.hold(copied.tree.path()))?),
        None => None,
    };
    let (trees, others): (Vec<&Path>, Vec<&Path>) =
        policy.shown.iter().map(Spot::path).partition(|path| is_tree_in_private(path));
    let trees: Vec<(&Path, File)> =
        at(Layer::Masks, trees.into_iter().map(|path| Ok((path, reach(path)?))).collect())?;
    let mut shown: Vec<(&Path, OwnedFd)> =
        at(Layer::Masks, others.into_iter().map(|path| builder.hold(path)).collect())?;
    let canary = at(Layer::Masks, builder.clone_of(&policy.scratch.path().join(CANARY_DIR)))?;
    at(Layer::Masks, builder.devices())?;
    let private = at(Layer::Masks, builder.private_folders(policy))?;
    at(Layer::Masks, builder.targets(&canary))?;
    for (path, tree) in &trees {
        shown.push((path, at(Layer::Masks, named(path, apart(tree)))?));
    }
    let is_on_top = |mask: &Path| rw.iter().chain(&tree).any(|(root, _)| mask.starts_with(root));
    let masks = || policy.masks.iter().map(Spot::path).filter(|_| policy.has(Layer::Masks));
    // What is shown may lie in what is hidden, and the other way round: from the top down, each lies
    // on what is above it. All is closed with everything else, after places were made in it.
    let mut layers: Vec<(&Path, Option<&OwnedFd>)> =
        masks().filter(|mask| !is_on_top(mask)).map(|mask| (mask, None)).collect();
    layers.extend(shown.iter().map(|(path, mount)| (*path, Some(mount))));
    layers.sort_by_key(|(path, _)| *path);
    for (path, mount) in layers {
        let laid = match mount {
            Some(mount) => make_place(path, mount).and_then(|()| builder.put(mount, path)),
            None => builder.mask(path, MountAttrFlags::empty()),
        };
        at(Layer::Masks, laid)?;
    }
    for (path, mount) in rw.iter().chain(&tree) {
        at(Layer::Masks, make_place(path, mount))?;
    }
    if policy.has(Layer::Processes) {
        at(Layer::Processes, builder.processes())?;
    }
    if policy.has(Layer::ReadOnly) {
        // A device that lies about in a tree is the same device.
        let set = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
        at(Layer::ReadOnly, sys::set_mount(&builder.root, "/", Reach::AllBelow, set, 0))?;
        for device in DEVICES.iter().filter(|device| Path::new(device).exists()) {
            let clear = libc::MOUNT_ATTR_NODEV;
            at(Layer::ReadOnly, sys::set_mount(&builder.root, device, Reach::This, 0, clear))?;
        }
    }
    for folder in private.iter().chain([&OPEN_DIR]) {
        let clear = libc::MOUNT_ATTR_RDONLY;
        at(Layer::ReadOnly, sys::set_mount(&builder.root, folder, Reach::This, 0, clear))?;
    }
    for (path, mount) in rw.iter().chain(&tree) {
        at(Layer::ReadOnly, builder.put(mount, path))?;
        let set = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
        at(Layer::ReadOnly, sys::set_mount(mount, "", Reach::AllBelow, set, 0))?;
    }
    for mask in masks().filter(|mask| is_on_top(mask)) {
        at(Layer::Masks, builder.mask(mask, MountAttrFlags::MOUNT_ATTR_RDONLY))?;
    }
    Ok(())
}

#[derive(Debug)]
struct Builder {
    /// Absolute paths are all that is used; the calls want a folder all the same.
    root: File,
}

impl Builder {
    fn begin() -> io::Result<Self> {
        // What is mounted here must not appear outside.
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        Ok(Self { root: File::open("/")? })
    }

    /// A handle on what is at a path, that no mount hides any more.
    fn clone_of(&self, path: &Path) -> io::Result<OwnedFd> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::AT_RECURSIVE
            // Where it leads was settled before; a symlink that stands there now is news.
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW
            | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        Ok(open_tree(&self.root, path, flags)?)
    }

    fn hold<'a>(&self, path: &'a Path) -> io::Result<(&'a Path, OwnedFd)> {
        Ok((path, named(path, self.clone_of(path))?))
    }

    fn put(&self, mount: &OwnedFd, path: &Path) -> io::Result<()> {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        Ok(move_mount(mount, "", &self.root, path, flags)?)
    }

    fn put_folder(&self, path: &Path, mode: u32, bytes: u64) -> io::Result<()> {
        self.put(&folder(mode, bytes, MountAttrFlags::empty())?, path)
    }

    /// Only devices that give and take nothing of anybody.
    fn devices(&self) -> io::Result<()> {
        let devices: Vec<_> = DEVICES
            .iter()
            .filter_map(|path| Some((*path, self.clone_of(Path::new(path)).ok()?)))
            .collect();
        self.put_folder(Path::new("/dev"), 0o755, MASK_BYTES)?;
        for (path, device) in devices {
            File::create(path)?;
            self.put(&device, Path::new(path))?;
        }
        for (name, leads_to) in
            [("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")]
        {
            std::os::unix::fs::symlink(
                Path::new("/proc/self").join(leads_to),
                Path::new("/dev").join(name),
            )?;
        }
        fs::create_dir("/dev/shm")
    }

    /// Folders for temporary files that are this cell's alone; gives those that it made.
    fn private_folders(&self, policy: &Policy) -> io::Result<Vec<&'static str>> {
        let mut made = Vec::new();
        for path in PRIVATE {
            let is_hiding = policy.has(Layer::Masks) || path.starts_with("/dev");
            if is_hiding && Path::new(path).is_dir() {
                // They are memory, too: the three together are no more than the bound of it.
                let share = policy.limits.memory_bytes / if path == PRIVATE[0] { 2 } else { 4 };
                let bytes = policy.limits.file_bytes.min(share);
                self.put_folder(Path::new(path), FOR_ALL, bytes)?;
                made.push(path);
            }
        }
        if policy.has(Layer::Masks) {
            let is_made = |path: &Path| PRIVATE.iter().any(|made| path == Path::new(made));
            for folder in policy.private.iter().map(Spot::path).filter(|path| !is_made(path)) {
                fs::create_dir(folder)?;
                fs::set_permissions(folder, fs::Permissions::from_mode(OWN))?;
            }
        }
        Ok(made)
    }

    /// Hides a folder behind an empty one, and a file behind an empty file. What this user cannot
    /// reach needs no hiding.
    fn mask(&self, path: &Path, also: MountAttrFlags) -> io::Result<()> {
        let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
        if found.is_symlink() {
            return Ok(());
        }
        if found.is_dir() {
            let mount = folder(LISTED_ONLY, MASK_BYTES, also)?;
            return self.put(&mount, path);
        }
        let nothing = self.clone_of(Path::new(EMPTY_FILE))?;
        self.put(&nothing, path)
    }

    /// Something to attack: a folder of the outside, and one that only Landlock closes. They stand
    /// in `/run`, which is always the cell's own.
    fn targets(&self, canary: &OwnedFd) -> io::Result<()> {
        self.put_folder(Path::new(RUN), 0o755, MASK_BYTES)?;
        for dir in [CELL_DIR, OUTSIDE_DIR, OPEN_DIR, EMPTY_DIR] {
            fs::create_dir(dir)?;
        }
        File::create(EMPTY_FILE)?;
        self.put(canary, Path::new(OUTSIDE_DIR))?;
        self.put_folder(Path::new(OPEN_DIR), OWN, MASK_BYTES)
    }

    /// The processes of the cell, and no others.
    fn processes(&self) -> io::Result<()> {
        let proc = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&proc)?;
        let mount = fsmount(&proc, FsMountFlags::FSMOUNT_CLOEXEC, never_run())?;
        self.put(&mount, Path::new("/proc"))
    }
}

fn never_run() -> MountAttrFlags {
    MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC
}

/// A folder in memory.
fn folder(mode: u32, bytes: u64, also: MountAttrFlags) -> io::Result<OwnedFd> {
    let system = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, "size", bytes.to_string())?;
    fsconfig_set_string(&system, "mode", format!("{mode:o}"))?;
    fsconfig_create(&system)?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | also;
    Ok(fsmount(&system, FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}

/// The tree as a copy that takes all changes.
fn overlay(copied: &Copied) -> io::Result<OwnedFd> {
    let [lower, upper, work] =
        [copied.tree.path(), copied.upper.path(), copied.work.path()].map(reach);
    let (lower, upper, work) = (lower?, upper?, work?);
    merged(&[
        ("lowerdir", number(&lower)),
        ("upperdir", number(&upper)),
        ("workdir", number(&work)),
    ])
}

/// The tree as a file system of its own, with nothing to take changes. A read-only mount does not stop
/// writing into a pipe, and in a private folder Landlock does not either, as its rules go down
/// through mounts; but a pipe of another file system is another pipe.
fn apart(tree: &File) -> io::Result<OwnedFd> {
    // One layer alone would have to be one that takes changes.
    let nothing = reach(Path::new(EMPTY_DIR))?;
    merged(&[("lowerdir", format!("{}:{}", number(tree), number(&nothing)))]).map_err(|error| {
        let why = format!("it cannot be shown apart, as with a mount in it ({error})");
        io::Error::new(error.kind(), why)
    })
}

fn is_tree_in_private(path: &Path) -> bool {
    PRIVATE.iter().any(|private| path.starts_with(private))
        && fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// A handle that stands for a path: that may have any character in it, and some would mean
/// something to the kernel where layers are named.
fn reach(path: &Path) -> io::Result<File> {
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_DIRECTORY;
    named(path, File::options().read(true).custom_flags(flags).open(path))
}

fn number(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())
}

fn named<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
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

/// Makes a place to mount on where a mask took it away.
fn make_place(path: &Path, mount: &OwnedFd) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    if File::from(mount.try_clone()?).metadata()?.is_dir() {
        return fs::create_dir_all(path);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create(path).map(drop)
}
