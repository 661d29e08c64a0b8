//! The only room that starts another program.
//!
//! A program is named by its absolute path and gets what it was granted and nothing else: the
//! variables that are listed, one directory, an input, a time and a number of bytes to say
//! something. It runs under a keeper: a second process of this same binary that adopts whatever
//! the program leaves behind, and ends all of it when the program ends, when it is told to, and
//! when the process that started it is gone, however it went.
//!
//! ```text
//! ao ──socket── keeper ── program ── its children, and their children
//!  └──────── stdout, stderr ──────┘
//! ```
//!
//! What is not reached is said in `docs/guard.md`. A keeper is for programs that mean well; one that
//! may not is run in a [`cell`].
//!
//! Beside that stand the rules: a [`Policy`] says what may be written, [`shell`] and [`Effect`] what a
//! command would do, [`ToolCall`] what an agent's host asks. They look, and write nothing.

pub mod audit;
pub mod cell;
mod command;
mod descent;
mod find;
mod git;
mod hook;
pub mod host;
mod keeper;
mod person;
mod process;
mod program;
mod running;
mod scale;
mod scope;
pub mod secret_paths;
pub mod shell;
mod start;
mod stream;
mod strict_json;
mod wire;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

pub use command::{Class, Effect};
pub use find::{NotFound, find_program, trusted_path};
pub use git::{Git, Staged};
pub use hook::{Harness, PAYLOAD_BYTES_MAX, ToolCall};
pub use person::{
    AGENTS as KNOWN_AGENTS, Ancestors, Caller, Decision, KnownAgent, NoPerson, person,
};
pub use program::{Bounds, Ended, How, Input, Program};
pub use running::Running;
pub use scope::{
    BadGlob, Case, Change, Globs, Grant, Leak, ManifestKind, Owned, Policy, Project, ProjectPath,
    Refusal, Rule, Sacred, SelfStart, SelfStartKind, Standing, WrittenFile, changed_block,
    project_sacred, self_starting,
};
pub use secret_paths::{ReadDepth, ReadRules, SecretPaths};
pub use start::Keeper;
pub use strict_json::read as read_strict_json;

/// Does the work of a keeper of a program or of a holder of a cell, if this process was started to
/// be one, and says then how it should exit. To be called first in `main`, with the arguments of
/// the process.
pub fn serve(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    keeper::serve(arguments.iter().cloned()).or_else(|| cell::serve(arguments))
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} is not an absolute path", .0.display())]
    NotAbsolute(PathBuf),
    #[error("could not start {}: {source}", program.display())]
    Start { program: PathBuf, source: io::Error },
    #[error("could not start {} in {}: {source}", program.display(), directory.display())]
    Directory { program: PathBuf, directory: PathBuf, source: io::Error },
    /// The program is not running either: it was never started, or it was ended.
    #[error("could not keep hold of {}: {source}", program.display())]
    Keeper { program: PathBuf, source: io::Error },
    #[error(
        "the keeper of {} was ended from outside; {ended} processes of its session were ended",
        program.display()
    )]
    KeeperLost { program: PathBuf, ended: usize },
}
