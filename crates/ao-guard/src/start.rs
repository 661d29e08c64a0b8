//! Starting a program under its keeper.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use crate::program::{Bounds, Ended, Program};
use crate::running::Running;
use crate::{Error, keeper};

/// The binary whose `main` calls [`crate::serve`], to be started as keeper of programs.
#[derive(Debug, Clone)]
pub struct Keeper {
    binary: PathBuf,
}

impl Keeper {
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        Self { binary: binary.into() }
    }

    /// The binary of this very process, even if its file was replaced since.
    pub fn this_binary() -> Self {
        Self::new("/proc/self/exe")
    }

    /// Runs a program to its end, which comes at the latest when its bounds are reached or when
    /// `stop` becomes true. Nothing that it started lives longer.
    pub fn run(
        &self,
        program: &Program,
        bounds: Bounds,
        stop: &AtomicBool,
    ) -> Result<Ended, Error> {
        self.start(program)?.wait(bounds, stop)
    }

    /// Starts a program that runs until it is waited for, ended or dropped.
    #[expect(clippy::disallowed_methods, reason = "this is the room that starts programs")]
    pub fn start(&self, program: &Program) -> Result<Running, Error> {
        check(program)?;
        let path = program.path.clone();
        let lost = |source| Error::Keeper { program: path.clone(), source };
        let (ours, theirs) = UnixStream::pair().map_err(lost)?;
        let mut command = Command::new(&self.binary);
        command
            .arg0("ao")
            .arg(keeper::WORD)
            .arg(&program.path)
            .args(&program.arguments)
            .env_clear()
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&program.directory)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let keeper = command.spawn().map_err(lost)?;
        // The command has the other end of the socket, whose closing is to be noticed.
        drop(command);
        Running::begin(keeper, ours, program)
    }
}

/// What can be said about a program before anything is started.
fn check(program: &Program) -> Result<(), Error> {
    if !program.path.is_absolute() {
        return Err(Error::NotAbsolute(program.path.clone()));
    }
    let start = |source| Error::Start { program: program.path.clone(), source };
    // The kernel would only say that permission is denied.
    if std::fs::metadata(&program.path).map_err(start)?.is_dir() {
        return Err(start(io::ErrorKind::IsADirectory.into()));
    }
    let wrong = |source| Error::Directory {
        program: program.path.clone(),
        directory: program.directory.clone(),
        source,
    };
    if !std::fs::metadata(&program.directory).map_err(wrong)?.is_dir() {
        return Err(wrong(io::ErrorKind::NotADirectory.into()));
    }
    Ok(())
}
