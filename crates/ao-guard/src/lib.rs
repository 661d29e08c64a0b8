//! The only room that starts another program.
//!
//! A program is named by its absolute path, gets nothing of our environment, nothing on standard
//! input, and ends when the value that stands for it is dropped.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0} is not an absolute path")]
    NotAbsolute(PathBuf),
    #[error("could not start {program}: {source}")]
    Start { program: PathBuf, source: io::Error },
    #[error("could not wait for process {id}: {source}")]
    Wait { id: u32, source: io::Error },
}

/// A running program. Dropping it ends it.
#[derive(Debug)]
pub struct Running {
    child: std::process::Child,
}

impl Running {
    /// Starts a program whose output nobody reads.
    #[expect(clippy::disallowed_methods, reason = "this is the room that starts programs")]
    pub fn start(
        program: &Path,
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, Error> {
        if !program.is_absolute() {
            return Err(Error::NotAbsolute(program.to_owned()));
        }
        let child = Command::new(program)
            .args(arguments)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| Error::Start { program: program.to_owned(), source })?;
        Ok(Self { child })
    }

    /// Waits until the program ends by itself.
    pub fn wait(mut self) -> Result<ExitStatus, Error> {
        let id = self.child.id();
        self.child.wait().map_err(|source| Error::Wait { id, source })
    }

    /// Ends the program at once (SIGKILL), and says how it ended: it may have been quicker.
    pub fn kill(mut self) -> Result<ExitStatus, Error> {
        let id = self.child.id();
        let killed = self.child.kill().and_then(|()| self.child.wait());
        killed.map_err(|source| Error::Wait { id, source })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A program that has ended cannot be killed; that is what was wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
