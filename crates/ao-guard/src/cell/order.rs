//! What is wanted of a cell, as the engine says it.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::authorization::Authorization;
use super::door::FORWARD_PORT;
use super::grant::Grant;
use super::hidden::Hidden;
use super::layer::Layer;
use super::tier::{Floor, Tier};

/// How far the program may go before everything in the cell is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub time: Duration,
    /// Of standard output and standard error together.
    pub output_bytes: u64,
    /// Of each process, and of all together.
    pub memory_bytes: u64,
    pub processes: u32,
    /// Of one file, and of the private folders together.
    pub file_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            time: Duration::from_mins(10),
            output_bytes: 8 * MIB,
            memory_bytes: 4096 * MIB,
            processes: 512,
            file_bytes: 1024 * MIB,
        }
    }
}

/// A toolchain or a cache, in a home or where a variable has put it. In tier A each leaf is a copy
/// that is thrown away, and what is written beside them is thrown away, too; in tier B the leaves
/// can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Toolchain {
    /// Nothing in it is seen but the leaves.
    pub folder: PathBuf,
    /// Beneath the folder. No leaves: the folder is the leaf.
    pub leaves: Vec<PathBuf>,
    /// Beneath the folder: files with logins that some program keeps there. They are hidden, whether
    /// they are there or not.
    pub private: Vec<PathBuf>,
}

/// What the engine knows of the machine, and a library must not ask for itself.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// Folders for temporary files: hidden, and replaced by private ones.
    pub temporary: Vec<PathBuf>,
    /// Hidden too: homes, locks, vaults, runtime folders.
    pub hidden: Vec<PathBuf>,
    /// Stays visible in the cell where something above it is hidden.
    pub shown: Vec<PathBuf>,
    /// Trees of the user's work: shown but for the names in them that are secret.
    pub projects: Vec<PathBuf>,
    /// Hidden in a project whatever the names in it are.
    pub private: Vec<PathBuf>,
    pub toolchains: Vec<Toolchain>,
    /// In the private home: a path beneath it, and where that leads.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Tier B: what may be read besides the system's own folders.
    pub readable: Vec<PathBuf>,
}

/// Where the program starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Begins {
    /// In the directory that was named.
    #[default]
    There,
    /// In its private home: a program that looks around itself for settings finds nobody's.
    AtHome,
}

/// A program and the cell that it is to run in.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Absolute: nothing is searched for.
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// All that is granted. `HOME` and `TMPDIR` are set by the cell.
    pub environment: Vec<(OsString, OsString)>,
    /// Granted too, and never kept longer or shown: for the program alone.
    pub secrets: Vec<(OsString, Hidden)>,
    pub directory: PathBuf,
    pub begins: Begins,
    /// What it reads from standard input; nothing is an empty one.
    pub input: Vec<u8>,
    /// Files that are in its private home before it starts, by their paths beneath it. For the program alone.
    pub files: Vec<(PathBuf, String)>,
    /// Written for real. Checked by [`super::admit`].
    pub writable: Vec<PathBuf>,
    /// The work tree that is seen as a copy, and changed only there.
    pub copied: Option<PathBuf>,
    pub grants: Vec<Grant>,
    /// Granted too, with a secret that the engine adds. None of them is also in `grants`.
    pub authorizations: Vec<Authorization>,
    pub limits: Limits,
    pub floor: Floor,
    pub outside: Outside,
    /// Tests: build this tier even if there is a better one.
    pub forced: Option<Tier>,
    /// Tests: leave this wall out.
    pub broken: Option<Layer>,
    /// Tests: use no more of Landlock than this version has.
    pub landlock_max: Option<u32>,
}

impl Cell {
    pub fn new(program: impl Into<PathBuf>, directory: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            secrets: Vec::new(),
            directory: directory.into(),
            begins: Begins::default(),
            input: Vec::new(),
            files: Vec::new(),
            writable: Vec::new(),
            copied: None,
            grants: Vec::new(),
            authorizations: Vec::new(),
            limits: Limits::default(),
            floor: Floor::default(),
            outside: Outside::default(),
            forced: None,
            broken: None,
            landlock_max: None,
        }
    }

    /// Where the program finds a host that may be reached, on its own loopback.
    pub fn forward(&self, grant: &Grant) -> Option<SocketAddr> {
        let at = self.reachable().iter().position(|one| one == grant)?;
        let port = FORWARD_PORT.checked_add(u16::try_from(at).ok()?)?;
        Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
    }

    /// All that may be reached, in the order of their forwards.
    pub fn reachable(&self) -> Vec<Grant> {
        let authorized = self.authorizations.iter().map(|one| one.grant.clone());
        self.grants.iter().cloned().chain(authorized).collect()
    }
}
