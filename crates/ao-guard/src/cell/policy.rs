//! What the process that builds a cell is told, and all that it is told.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::cover::Cover;
use super::hidden::Hidden;
use super::layer::Layer;
use super::order::{Begins, Limits};
use super::tier::Tier;

/// A path as bytes; names need not be text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Spot(OsString);

impl Spot {
    pub(super) fn path(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl<P: Into<PathBuf>> From<P> for Spot {
    fn from(path: P) -> Self {
        Self(path.into().into_os_string())
    }
}

/// The work tree and where its changes go.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Copied {
    pub(super) tree: Spot,
    pub(super) upper: Spot,
    pub(super) work: Spot,
}

/// A toolchain: a folder of the cell's own, and copies in it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ToolchainCopy {
    pub(super) folder: Spot,
    /// What is seen of it, each with what is hidden in it.
    pub(super) leaves: Vec<LeafCopy>,
}

/// A folder of a toolchain, as a copy.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LeafCopy {
    pub(super) path: Spot,
    pub(super) cover: Option<Cover>,
}

/// What stands outside to be attacked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Targets {
    /// The process that wants the program.
    pub(super) process: i32,
    /// It listens here, on loopback and under an abstract name.
    pub(super) port: u16,
    pub(super) name: String,
    /// The namespaces that must not be those of the cell: `ipc:[…]`, as the kernel names them.
    pub(super) namespaces: Vec<(Layer, String)>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Policy {
    pub(super) tier: Tier,
    pub(super) program: Spot,
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: Vec<(OsString, OsString)>,
    /// Sent by themselves: the text of a policy is copied about.
    #[serde(skip)]
    pub(super) secrets: Vec<(OsString, Hidden)>,
    pub(super) directory: Spot,
    /// Of the cell's own.
    pub(super) home: Spot,
    pub(super) begins: Begins,
    /// To be in the home, by their paths beneath it.
    pub(super) files: Vec<(Spot, String)>,
    /// Stay visible where a mask would hide them.
    pub(super) shown: Vec<Spot>,
    /// Files of the user that are written for real.
    pub(super) writable: Vec<Spot>,
    pub(super) copied: Option<Copied>,
    pub(super) masks: Vec<Spot>,
    /// The cell's own folders for temporary files, and its home.
    pub(super) private: Vec<Spot>,
    /// Projects, with what is hidden in them.
    pub(super) covers: Vec<Cover>,
    /// Tier A: symlinks in what is hidden, and what they say.
    pub(super) links: Vec<(Spot, Spot)>,
    /// Symlinks in the home, by their paths beneath it.
    pub(super) home_links: Vec<(Spot, Spot)>,
    /// Tier A: toolchains and caches, as copies.
    pub(super) toolchains: Vec<ToolchainCopy>,
    /// Tier B: what may be read at all.
    pub(super) readable: Vec<Spot>,
    /// Tier B: folders of which the names may be seen.
    pub(super) listable: Vec<Spot>,
    /// Tier B: whether there were too many files for a rule each.
    pub(super) is_listed_by_folders: bool,
    /// A folder of the outside that belongs to this cell alone.
    pub(super) scratch: Spot,
    /// Ports to listen on in the cell: one for the proxy and one for each grant.
    pub(super) doors: Vec<u16>,
    pub(super) limits: Limits,
    pub(super) targets: Targets,
    pub(super) landlock_abi: u32,
    /// Tests leave a wall out to see that it is missed.
    pub(super) broken: Option<Layer>,
}

impl Policy {
    /// Where the program starts.
    pub(super) fn start(&self) -> &Path {
        match self.begins {
            Begins::There => self.directory.path(),
            Begins::AtHome => self.home.path(),
        }
    }

    /// Whether a wall is to be built.
    pub(super) fn has(&self, layer: Layer) -> bool {
        self.broken != Some(layer)
    }
}

/// Places inside the cell.
/// Always the cell's own: nothing is as full of sockets and locks.
pub(super) const RUN: &str = "/run";
pub(super) const CELL_DIR: &str = "/run/ao-cell";
/// A folder of the outside, to be attacked.
pub(super) const OUTSIDE_DIR: &str = "/run/ao-cell/outside";
/// A folder of the cell that can be written by everything but Landlock.
pub(super) const OPEN_DIR: &str = "/run/ao-cell/open";
/// The top layers of projects, and what toolchains write.
pub(super) const COVERS_DIR: &str = "/run/ao-cell/covers";
pub(super) const COPIES_DIR: &str = "/run/ao-cell/copies";
/// What stands for a folder and for a file that are hidden, or for one that is not there.
pub(super) const EMPTY_DIR: &str = "/run/ao-cell/empty";
pub(super) const EMPTY_FILE: &str = "/run/ao-cell/nothing";
/// In the scratch folder.
pub(super) const CANARY_DIR: &str = "canary";
pub(super) const CANARY_FILE: &str = "file";
