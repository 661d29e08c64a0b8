//! The door itself: a tree, what is held of it, and the small moves that every part shares.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::Disk;
use crate::error::{Error, Result};
use crate::fs::{Fs, Kind};
use crate::layout::Layout;
use crate::lock::ALIVE;
use crate::path::shown;

pub(crate) const STAGING: &str = "staging";
pub(crate) const UNDO: &str = "undo";
pub(crate) const ARCHIVE: &str = "archive";
pub(crate) const CONFLICTS: &str = "conflicts";
pub(crate) const HISTORY: &str = "history.jsonl";
pub(crate) const GENERATION: &str = "generation";
const COMMIT_LOCK: &str = "commit.lock";
const RUN_LOCK: &str = "run.lock";

/// Own files are small; a larger one is not ours.
pub(crate) const STATE_FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// A tree under transaction. Whoever calls what changes something holds the run's lock.
#[derive(Debug)]
pub struct Door<F: Fs> {
    pub(crate) fs: F,
    pub(crate) layout: Layout,
    /// Nothing on another device can be exchanged with what is on this one.
    pub(crate) device: u64,
    /// Where readers wait while a commit is published; a simulated tree has none.
    pub(crate) commit_lock: Option<PathBuf>,
    /// What is asked of every content that is new to a file.
    pub(crate) doubt: Doubt,
}

/// Says why bytes may not come into the tree, if they may not.
pub type Doubt = fn(&[u8]) -> Option<&'static str>;

pub(crate) const NO_DOUBT: Doubt = |_| None;

impl<F: Fs> Door<F> {
    pub fn new(fs: F, layout: Layout) -> Result<Self> {
        let top = fs.stat_dir(&fs.top()).map_err(Error::io("look at the root"))?;
        Ok(Self { fs, layout, device: top.device, commit_lock: None, doubt: NO_DOUBT })
    }

    /// Has every content that is new to a file looked at before it is let in. What is taken back was
    /// there before, and is let in.
    #[must_use]
    pub fn doubting(self, doubt: Doubt) -> Self {
        Self { doubt, ..self }
    }

    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    pub fn fs(&self) -> &F {
        &self.fs
    }

    /// Opens a directory beneath the root, if all of it is there.
    pub(crate) fn open(&self, path: &str) -> io::Result<Option<F::Dir>> {
        self.open_from(&self.fs.top(), path)
    }

    pub(crate) fn open_from(&self, from: &F::Dir, path: &str) -> io::Result<Option<F::Dir>> {
        let mut dir = from.clone();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            match self.fs.open_dir(&dir, OsStr::new(name)) {
                Ok(inner) => dir = inner,
                Err(error) if is_absent(&error) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(dir))
    }

    /// Opens a directory beneath `from`, making what is missing of it.
    pub(crate) fn make_dirs(&self, from: &F::Dir, path: &str) -> io::Result<F::Dir> {
        let mut dir = from.clone();
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let name = OsStr::new(name);
            match self.fs.make_dir(&dir, name, 0o755) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            dir = self.fs.open_dir(&dir, name)?;
        }
        Ok(dir)
    }

    /// The state directory, if there is one.
    pub(crate) fn state(&self) -> Result<Option<F::Dir>> {
        self.open(&self.layout.state).map_err(Error::io(format!("open {}", self.layout.state)))
    }

    /// Removes whatever stands there, and everything beneath it.
    pub(crate) fn remove_tree(&self, dir: &F::Dir, name: &OsStr) -> io::Result<()> {
        match self.fs.stat(dir, name)? {
            None => Ok(()),
            Some(stat) if stat.kind != Kind::Dir => self.fs.remove_file(dir, name),
            Some(_) => {
                let inner = self.fs.open_dir(dir, name)?;
                self.empty(dir, name, &inner)?;
                self.fs.remove_dir(dir, name)
            }
        }
    }

    fn empty(&self, dir: &F::Dir, name: &OsStr, inner: &F::Dir) -> io::Result<()> {
        let mut is_opened_up = false;
        for entry in self.fs.names(inner)? {
            let remove = || {
                if entry.kind == Kind::Dir {
                    self.remove_tree(inner, &entry.name)
                } else {
                    self.fs.remove_file(inner, &entry.name)
                }
            };
            match remove() {
                // A directory that its owner made read-only lets nobody remove what is in it;
                // this copy of it is ours to open up.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied && !is_opened_up => {
                    is_opened_up = true;
                    self.fs.copy_attributes(
                        (&self.fs.top(), OsStr::new(&self.layout.state)),
                        (dir, name),
                    )?;
                    remove()?;
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Removes an empty directory; one that is not empty, or not there, stays as it is.
    pub(crate) fn remove_if_empty(&self, dir: &F::Dir, name: &str) -> io::Result<()> {
        match self.fs.remove_dir(dir, OsStr::new(name)) {
            Err(error)
                if !matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty
                ) =>
            {
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// The bytes of one of the door's own files, if it is there.
    pub(crate) fn read_state(&self, dir: &F::Dir, name: &str) -> Result<Option<Vec<u8>>> {
        match self.fs.read(dir, OsStr::new(name), STATE_FILE_BYTES_MAX) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Io { doing: format!("read {name}"), source }),
        }
    }

    /// The counter that readers compare; odd while a commit is under way.
    pub fn generation(&self) -> Result<u64> {
        let Some(state) = self.state()? else { return Ok(0) };
        let bytes = self.read_state(&state, GENERATION)?.unwrap_or_default();
        // A counter that cannot be read starts anew: it only has to differ from the last one.
        Ok(std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0))
    }

    /// Makes the counter even again after a commit that was cut off.
    pub(crate) fn settle_generation(&self, state: &F::Dir) -> Result<()> {
        let generation = self.generation()?;
        let fresh = OsStr::new("generation.new");
        let settle = || {
            // From a recovery that was itself cut off.
            self.remove_tree(state, fresh)?;
            if generation.is_multiple_of(2) {
                return Ok(());
            }
            self.fs.create(state, fresh, generation_bytes(generation + 1).as_bytes(), 0o644)?;
            self.fs.sync_file(state, fresh)?;
            self.fs.rename((state, fresh), (state, OsStr::new(GENERATION)))?;
            self.fs.sync_dir(state)
        };
        settle().map_err(Error::io("settle the generation counter"))
    }
}

/// There is no directory of that name: nothing, or something else.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    // Opening a symlink as a directory gives one or the other, by the file system.
    matches!(error.kind(), NotFound | NotADirectory)
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

pub(crate) fn generation_bytes(generation: u64) -> String {
    format!("{generation}\n")
}

impl Door<Disk> {
    /// Opens the door of `root`, a directory of this user's own.
    pub fn open_root(root: &Path, layout: Layout) -> Result<Self> {
        crate::preflight::check_root(root)?;
        let disk = Disk::open(root)
            .map_err(Error::io(format!("open {}", shown(&root.to_string_lossy()))))?;
        let lock = root.join(&layout.state).join(COMMIT_LOCK);
        let mut door = Self::new(disk, layout)?;
        door.check_state()?;
        door.commit_lock = Some(lock);
        Ok(door)
    }

    /// Whether what a commit needs in the state directory is what it should be, where it is there:
    /// whatever stands in its place would stop the commit at its end. Only a look.
    pub fn check_kept_places(&self) -> Result<()> {
        let folders = [STAGING, UNDO, ARCHIVE, CONFLICTS].map(|name| (name, Kind::Dir));
        let files =
            [HISTORY, GENERATION, RUN_LOCK, ALIVE, COMMIT_LOCK].map(|name| (name, Kind::File));
        let Some(state) = self.state()? else { return Ok(()) };
        for (name, kind) in folders.into_iter().chain(files) {
            let path = format!("{}/{}/{name}", self.layout.root_name, self.layout.state);
            let looked = self.fs.stat(&state, OsStr::new(name));
            let found = looked.map_err(Error::io(format!("look at {path}")))?;
            if found.is_some_and(|stat| stat.kind != kind) {
                let why = if kind == Kind::Dir { "is not a directory" } else { "is no plain file" };
                let remedy = "move it away; ao keeps its state there".into();
                return Err(Error::Unfit { path, why: why.into(), remedy });
            }
        }
        Ok(())
    }

    /// What is staged in the state directory is linked to and exchanged with the tree itself, so
    /// both must be on one device and in one mount.
    fn check_state(&self) -> Result<()> {
        let name = &self.layout.state;
        let looked = self.fs.stat(&self.fs.top(), OsStr::new(name));
        match looked.map_err(Error::io(format!("look at {name}")))? {
            Some(stat) if stat.kind != Kind::Dir => Err(Error::Unfit {
                path: format!("{}/{name}", self.layout.root_name),
                why: "is not a directory".into(),
                remedy: "move it away; ao keeps its state there".into(),
            }),
            Some(stat) if stat.is_mount_point || stat.device != self.device => Err(Error::Unfit {
                path: format!("{}/{name}", self.layout.root_name),
                why: "is on another device than the tree, and a commit cannot reach across it"
                    .into(),
                remedy: "unmount it".into(),
            }),
            _ => Ok(()),
        }
    }
}
