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
use super::policy::{CANARY_DIR, CELL_DIR, Copied, OPEN_DIR, OUTSIDE_DIR, Policy, RUN, Spot};
use super::rules::{DEVICES, OWN_FOLDER, PRIVATE};
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
    let shown: Vec<(&Path, OwnedFd)> =
        at(Layer::Masks, policy.shown.iter().map(|spot| builder.hold(spot.path())).collect())?;
    let canary = at(Layer::Masks, builder.clone_of(&policy.scratch.path().join(CANARY_DIR)))?;
    at(Layer::Masks, builder.devices())?;
    let private = at(Layer::Masks, builder.private_folders(policy))?;
    at(Layer::Masks, builder.targets(&canary))?;
    let is_on_top =
        |mask: &Path| rw.iter().chain(&tree).chain(&shown).any(|(root, _)| mask.starts_with(root));
    let masks = || policy.masks.iter().map(Spot::path).filter(|_| policy.has(Layer::Masks));
    // Closed with everything else, after places were made in them.
    for mask in masks().filter(|mask| !is_on_top(mask)) {
        at(Layer::Masks, builder.mask(mask, MountAttrFlags::empty()))?;
    }
    for (path, mount) in shown.iter().chain(&rw).chain(&tree) {
        at(Layer::Masks, make_place(path, mount))?;
    }
    for (path, mount) in &shown {
        at(Layer::Masks, builder.put(mount, path))?;
    }
    if policy.has(Layer::Processes) {
        at(Layer::Processes, builder.processes())?;
    }
    if policy.has(Layer::ReadOnly) {
        let set = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID;
        at(Layer::ReadOnly, sys::set_mount(&builder.root, "/", Reach::AllBelow, set, 0))?;
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
        let held = self.clone_of(path).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        Ok((path, held))
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
                let own = Path::new(path).join(OWN_FOLDER);
                if policy.private.iter().any(|private| private.path() == own) {
                    fs::create_dir(&own)?;
                    fs::set_permissions(&own, fs::Permissions::from_mode(FOR_ALL))?;
                }
            }
        }
        let home = Path::new(super::start::HOME);
        if policy.has(Layer::Masks) {
            fs::create_dir(home)?;
            fs::set_permissions(home, fs::Permissions::from_mode(OWN))?;
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
        let nothing = self.clone_of(Path::new("/dev/null"))?;
        self.put(&nothing, path)
    }

    /// Something to attack: a folder of the outside, and one that only Landlock closes. They stand
    /// in `/run`, which is always the cell's own.
    fn targets(&self, canary: &OwnedFd) -> io::Result<()> {
        self.put_folder(Path::new(RUN), 0o755, MASK_BYTES)?;
        for dir in [CELL_DIR, OUTSIDE_DIR, OPEN_DIR] {
            fs::create_dir(dir)?;
        }
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

/// The tree as a copy that takes all changes. Handles stand for the paths: a path may have any
/// character in it, and some would mean something to the kernel here.
fn overlay(copied: &Copied) -> io::Result<OwnedFd> {
    let open = |path: &Path| File::options().read(true).custom_flags(libc::O_PATH).open(path);
    let named = |file: &File| format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let [lower, upper, work] =
        [copied.tree.path(), copied.upper.path(), copied.work.path()].map(open);
    let (lower, upper, work) = (lower?, upper?, work?);
    let system = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&system, "lowerdir", named(&lower))?;
    fsconfig_set_string(&system, "upperdir", named(&upper))?;
    fsconfig_set_string(&system, "workdir", named(&work))?;
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
