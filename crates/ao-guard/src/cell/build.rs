//! The file system of a cell (tier A), built by its first process.
//!
//! The machine's own tree stays where it is, so that every program finds what it is used to; it is
//! made read-only as a whole. What must be reached through a mask is taken hold of first, then the
//! masks are laid, then everything is closed, and at last the few writable places are put on top.

#![expect(clippy::disallowed_methods, reason = "only in mounts that exist in the cell alone")]

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use ao_tree::own_file;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount,
    open_tree,
};

use super::cover::Cover;
use super::layer::Layer;
use super::maps;
use super::merge::{self, CopySource};
use super::policy::{
    CANARY_DIR, CELL_DIR, COPIES_DIR, COVERS_DIR, EMPTY_DIR, EMPTY_FILE, OPEN_DIR, OUTSIDE_DIR,
    Policy, RUN, Spot,
};
use super::rules::{DEVICES, PRIVATE};
use super::sys::{self, Reach};

/// An empty folder takes no more.
const MASK_BYTES: u64 = 64 * 1024;
/// Of the memory that a cell may hold, the folders other than `/tmp` may each hold one part in so many:
/// `/var/tmp`, `/dev/shm` and what toolchains write.
const SHARES: u64 = 6;
const LISTED_ONLY: u32 = 0o555;
const OWN: u32 = 0o700;
const FOR_ALL: u32 = 0o1777;

/// What went wrong, and in which wall.
pub(super) type Built<T> = Result<T, (Layer, io::Error)>;

fn at<T>(layer: Layer, result: io::Result<T>) -> Built<T> {
    result.map_err(|error| (layer, error))
}

/// What lies on a path.
#[derive(Debug, Clone, Copy)]
enum Laid<'a> {
    Mask,
    Mount(&'a OwnedFd),
    /// A symlink that says this.
    Link(&'a Path),
}

/// How the projects are seen.
#[derive(Debug, Default)]
pub(super) struct ProjectLayers {
    /// Projects in which a secret that comes later is not hidden.
    pub(super) uncovered: Vec<Spot>,
    /// What is hidden one by one in these.
    hidden: Vec<PathBuf>,
    /// The top layer of the copy.
    hiding_copied: Option<PathBuf>,
}

/// Builds it all.
pub(super) fn build(policy: &Policy) -> Built<ProjectLayers> {
    let builder = at(Layer::ReadOnly, Builder::begin())?;
    let has_masks = policy.has(Layer::Masks);
    let rw: Vec<(&Path, OwnedFd)> = at(
        Layer::ReadOnly,
        policy.writable.iter().map(|spot| builder.hold(spot.path())).collect(),
    )?;
    let covers: Vec<&Cover> = policy.covers.iter().filter(|_| has_masks).collect();
    let is_covered = |path: &Path| covers.iter().any(|cover| cover.tree.path() == path);
    let (trees, others): (Vec<&Path>, Vec<&Path>) = policy
        .shown
        .iter()
        .map(Spot::path)
        .filter(|path| !is_covered(path))
        .partition(|path| is_tree_in_private(path));
    let trees: Vec<(&Path, File)> =
        at(Layer::Masks, trees.into_iter().map(|path| Ok((path, merge::reach(path)?))).collect())?;
    let mut mounts: Vec<(&Path, OwnedFd)> =
        at(Layer::Masks, others.into_iter().map(|path| builder.hold(path)).collect())?;
    let handles = at(Layer::Masks, builder.handles(&covers))?;
    let has_copy = policy.has(Layer::Overlay);
    let copied = policy.copied.as_ref().filter(|_| has_copy).map(CopySource::of);
    let copied = at(Layer::Overlay, copied.transpose())?;
    let real = policy.copied.as_ref().filter(|_| !has_copy);
    let real = real.map(|copied| builder.hold(copied.tree.path())).transpose();
    let real = at(Layer::Overlay, real)?;
    let leaves: Vec<(&Path, Option<File>)> = policy
        .toolchains
        .iter()
        .flat_map(|chain| &chain.leaves)
        .map(|leaf| (leaf.path(), merge::reach(leaf.path()).ok()))
        .collect();
    let canary = at(Layer::Masks, builder.clone_of(&policy.scratch.path().join(CANARY_DIR)))?;
    at(Layer::Masks, builder.devices())?;
    let private = at(Layer::Masks, builder.private_folders(policy))?;
    at(Layer::Masks, builder.targets(policy, &canary))?;
    let covered = projects(policy, &covers, &handles, &mut mounts)?;
    let tree = match (&policy.copied, &copied) {
        (Some(copied), Some(whole)) => {
            let mount = at(Layer::Overlay, whole.copy(covered.hiding_copied.as_deref()))?;
            Some((copied.tree.path(), mount))
        }
        _ => real,
    };
    for (path, tree) in &trees {
        mounts.push((path, at(Layer::Masks, merge::named(path, merge::apart(tree)))?));
    }
    let own = at(Layer::Masks, builder.toolchains(policy, &leaves, &mut mounts))?;
    let is_on_top = |mask: &Path| rw.iter().chain(&tree).any(|(root, _)| mask.starts_with(root));
    let named =
        policy.masks.iter().map(Spot::path).chain(covered.hidden.iter().map(PathBuf::as_path));
    let masks: Vec<&Path> = named.filter(|_| has_masks).collect();
    // What is shown may lie in what is hidden, and the other way round: from the top down, each lies
    // on what is above it. All is closed with everything else, after places were made in it.
    let mut layers: Vec<(&Path, Laid<'_>)> =
        masks.iter().filter(|mask| !is_on_top(mask)).map(|mask| (*mask, Laid::Mask)).collect();
    layers.extend(mounts.iter().map(|(path, mount)| (*path, Laid::Mount(mount))));
    let links = policy.links.iter().filter(|_| has_masks);
    layers.extend(links.map(|(path, target)| (path.path(), Laid::Link(target.path()))));
    layers.sort_by_key(|(path, _)| *path);
    for (path, laid) in layers {
        let done = match laid {
            Laid::Mount(mount) => make_place(path, mount).and_then(|()| builder.put(mount, path)),
            Laid::Mask => builder.mask(path, MountAttrFlags::empty()),
            Laid::Link(target) => make_link(path, target),
        };
        at(Layer::Masks, merge::named(path, done))?;
    }
    for (path, mount) in rw.iter().chain(&tree) {
        at(Layer::Masks, make_place(path, mount))?;
    }
    // Whoever stands in what is hidden stands in an empty folder.
    let _ = fs::create_dir_all(policy.directory.path());
    if policy.has(Layer::Processes) {
        at(Layer::Processes, builder.processes())?;
        maps::bound_ids(policy.limits.processes);
    }
    if policy.has(Layer::ReadOnly) {
        // A device that lies about in a tree is the same device.
        let set = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
        at(Layer::ReadOnly, sys::set_mount(&builder.root, "/", Reach::AllBelow, set, 0))?;
        for device in DEVICES.iter().filter(|device| Path::new(device).exists()) {
            let clear = libc::MOUNT_ATTR_NODEV;
            let device = Path::new(device);
            at(Layer::ReadOnly, sys::set_mount(&builder.root, device, Reach::This, 0, clear))?;
        }
    }
    let private = private.iter().chain([&OPEN_DIR]).map(Path::new);
    for folder in private.chain(own.iter().map(PathBuf::as_path)) {
        let clear = libc::MOUNT_ATTR_RDONLY;
        at(Layer::ReadOnly, sys::set_mount(&builder.root, folder, Reach::This, 0, clear))?;
    }
    for (path, mount) in rw.iter().chain(&tree) {
        at(Layer::ReadOnly, builder.put(mount, path))?;
        let set = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
        at(Layer::ReadOnly, sys::set_mount(mount, "", Reach::AllBelow, set, 0))?;
    }
    for mask in masks.iter().filter(|mask| is_on_top(mask)) {
        at(Layer::Masks, builder.mask(mask, MountAttrFlags::MOUNT_ATTR_RDONLY))?;
    }
    Ok(covered)
}

/// Makes a layer for each project that hides what is secret in it.
fn projects<'a>(
    policy: &Policy,
    covers: &[&'a Cover],
    handles: &[Handle],
    mounts: &mut Vec<(&'a Path, OwnedFd)>,
) -> Built<ProjectLayers> {
    let mut layers = ProjectLayers::default();
    for (number, (cover, handle)) in covers.iter().zip(handles).enumerate() {
        let tree = cover.tree.path();
        let top = at(Layer::Masks, merge::hiding(cover, number))?;
        if policy.copied.as_ref().is_some_and(|copied| copied.tree.path() == tree) {
            layers.hiding_copied = Some(top);
            continue;
        }
        match (merge::covered(&handle.tree, &top), &handle.bound) {
            (Ok(mount), _) => mounts.push((tree, mount)),
            (Err(_), Some(bound)) if !is_tree_in_private(tree) => {
                // What is there is hidden one by one, and what comes is not.
                mounts.push((tree, at(Layer::Masks, bound.try_clone())?));
                layers.hidden.extend(cover.found());
                layers.uncovered.push(cover.tree.clone());
            }
            (Err(error), _) => {
                let why = format!("{} cannot be shown apart ({error})", tree.display());
                return Err((Layer::Masks, io::Error::new(error.kind(), why)));
            }
        }
    }
    Ok(layers)
}

/// A project as it is, held before anything hides it.
#[derive(Debug)]
struct Handle {
    tree: File,
    /// To be shown where no layer can be laid on it.
    bound: Option<OwnedFd>,
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
        Ok(Self { root: own_file::open_folder(Path::new("/"))? })
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
        Ok((path, merge::named(path, self.clone_of(path))?))
    }

    fn handles(&self, covers: &[&Cover]) -> io::Result<Vec<Handle>> {
        let handle = |cover: &&Cover| {
            let tree = cover.tree.path();
            Ok(Handle { tree: merge::reach(tree)?, bound: self.clone_of(tree).ok() })
        };
        covers.iter().map(handle).collect()
    }

    /// Lays out toolchains: a folder in memory, and in it a copy of each leaf. Gives what can be
    /// written.
    fn toolchains<'a>(
        &self,
        policy: &'a Policy,
        leaves: &[(&'a Path, Option<File>)],
        mounts: &mut Vec<(&'a Path, OwnedFd)>,
    ) -> io::Result<Vec<PathBuf>> {
        let mut own = Vec::new();
        if !policy.has(Layer::Masks) {
            return Ok(own);
        }
        for (number, (path, leaf)) in leaves.iter().enumerate() {
            // One that cannot be copied, as it went or has a mount in it, is not there.
            let copy = leaf.as_ref().and_then(|leaf| merge::thrown_away(leaf, number).ok());
            if let Some(copy) = copy {
                mounts.push((path, copy));
                own.push((*path).to_owned());
            }
        }
        for (number, chain) in policy.toolchains.iter().enumerate() {
            let path = chain.folder.path();
            if chain.leaves.iter().all(|leaf| leaf.path() != path) {
                let folder = Path::new(COPIES_DIR).join(format!("folder-{number}"));
                fs::create_dir(&folder)?;
                mounts.push((path, self.clone_of(&folder)?));
                own.push(path.to_owned());
            }
        }
        Ok(own)
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
                // They are memory, too: all together are no more than the bound of it.
                let share = if path == PRIVATE[0] { 2 } else { SHARES };
                let bytes = policy.limits.file_bytes.min(policy.limits.memory_bytes / share);
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
    fn targets(&self, policy: &Policy, canary: &OwnedFd) -> io::Result<()> {
        self.put_folder(Path::new(RUN), 0o755, MASK_BYTES)?;
        for dir in [CELL_DIR, OUTSIDE_DIR, OPEN_DIR, EMPTY_DIR, COVERS_DIR, COPIES_DIR] {
            fs::create_dir(dir)?;
        }
        // Nobody looks behind a cover.
        fs::set_permissions(COVERS_DIR, fs::Permissions::from_mode(0o0))?;
        if !policy.toolchains.is_empty() {
            let bytes = policy.limits.file_bytes.min(policy.limits.memory_bytes / SHARES);
            self.put_folder(Path::new(COPIES_DIR), OWN, bytes)?;
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

fn is_tree_in_private(path: &Path) -> bool {
    PRIVATE.iter().any(|private| path.starts_with(private))
        && fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
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

/// Makes a symlink in what is hidden, where there is none.
fn make_link(path: &Path, target: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    std::os::unix::fs::symlink(target, path)
}
