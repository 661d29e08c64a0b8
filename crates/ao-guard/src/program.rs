//! What is to be run, how far it may go, and how it went.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// A program and everything that it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Absolute: nothing is searched for.
    pub path: PathBuf,
    pub arguments: Vec<OsString>,
    /// All of its environment. Nothing of ours is added.
    pub environment: Vec<(OsString, OsString)>,
    pub directory: PathBuf,
    pub input: Input,
}

/// What the program can read from its standard input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Input {
    #[default]
    Nothing,
    /// These bytes, and then the end.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing for as long as somebody holds the program. A program that
    /// reads on finds the end as soon as nobody does, even if nobody was left to tell it.
    HeldOpen(Vec<u8>),
}

impl Program {
    /// The program with no arguments, no environment and no input, in the root directory.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            directory: PathBuf::from("/"),
            input: Input::Nothing,
        }
    }

    #[must_use]
    pub fn arguments(mut self, more: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments.extend(more.into_iter().map(Into::into));
        self
    }

    /// Grants one variable.
    #[must_use]
    pub fn variable(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = directory.into();
        self
    }

    #[must_use]
    pub fn input(mut self, input: Input) -> Self {
        self.input = input;
        self
    }
}

/// How far a program may go before it is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub time: Duration,
    /// Of standard output and of standard error, each.
    pub output_bytes: usize,
}

/// How a program came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    Exited(i32),
    Signalled(i32),
    /// It was ended because its time was over.
    TimedOut,
    /// It was ended because it wrote more than it may.
    TooMuchOutput,
    /// It was ended because the one who wanted it is ending, or no longer wants it.
    Stopped,
}

/// A program that has ended, and all that it started with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    pub how: How,
    /// What it wrote, as far as its bounds allow.
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub took: Duration,
    /// How many processes it had started that were still there, and were ended.
    pub left_behind: u32,
    /// How many of them could not be ended: the kernel was waiting for a device on their behalf.
    pub survivors: u32,
}

impl Ended {
    pub fn is_success(&self) -> bool {
        self.how == How::Exited(0)
    }
}
