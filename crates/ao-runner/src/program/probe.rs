//! What can be known of a program without asking it anything.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_guard::cell::Limits;
use serde_json::Value;

use super::line::{Line, brief};
use super::{FILE_BYTES, MEMORY_BYTES, PROCESSES, Program};
use crate::failure::Failure;
use crate::kind::Kind;
use crate::login::Login;

const TIME: Duration = Duration::from_secs(20);
const OUTPUT_BYTES: u64 = 64 * 1024;

/// A program that was started in a cell and said who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probed {
    pub version: String,
    pub login: LoggedIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoggedIn {
    /// It says so itself, of what it was given.
    Yes,
    /// It has what it needs; whether its API takes that is known only when it is asked.
    Granted,
    No,
    NotNeeded,
}

impl Program {
    /// Starts it in a cell without a network, to be asked for its version and its login alone.
    pub fn probe(&self, stop: &AtomicBool) -> Result<Probed, Failure> {
        let kind = self.settings.kind;
        if kind == Kind::Command {
            // What it would do if it were started is not ours to know.
            return Ok(Probed { version: String::new(), login: LoggedIn::NotNeeded });
        }
        let (said, code) = self.ask_about(&["--version"], Line::default(), stop)?;
        if code != 0 {
            return Err(Failure::Broken(format!("it ended with {code}: {}", brief(&said))));
        }
        let version = said.lines().find(|line| !line.trim().is_empty()).map(brief);
        let version =
            version.ok_or_else(|| Failure::Broken("it does not say its version".to_owned()))?;
        let login = match (&self.login, kind) {
            (Login::None, _) => LoggedIn::No,
            (_, Kind::Claude) => self.claude_login(stop)?,
            _ => LoggedIn::Granted,
        };
        Ok(Probed { version, login })
    }

    fn claude_login(&self, stop: &AtomicBool) -> Result<LoggedIn, Failure> {
        let mut line = Line::default();
        if let Login::Key(key) = &self.login {
            line.environment.push(("ANTHROPIC_API_KEY", key.placeholder.clone()));
        }
        let (said, _) = self.ask_about(&["auth", "status"], line, stop)?;
        let said: Value = serde_json::from_str(&said).unwrap_or_default();
        Ok(match said["loggedIn"].as_bool() {
            Some(true) => LoggedIn::Yes,
            Some(false) => LoggedIn::No,
            None => LoggedIn::Granted,
        })
    }

    fn ask_about(
        &self,
        arguments: &[&str],
        mut line: Line,
        stop: &AtomicBool,
    ) -> Result<(String, i32), Failure> {
        let mut cell = self.cell(Limits {
            time: TIME,
            output_bytes: OUTPUT_BYTES,
            memory_bytes: MEMORY_BYTES,
            processes: PROCESSES,
            file_bytes: FILE_BYTES,
        })?;
        cell.grants.clear();
        cell.authorizations.clear();
        line.arguments(arguments);
        line.put(&mut cell);
        let (caught, code) = self.run(&cell, stop)?;
        // What went wrong stands on the other stream.
        let said =
            if code == 0 || caught.stderr.is_empty() { caught.stdout } else { caught.stderr };
        Ok((String::from_utf8_lossy(&said).into_owned(), code))
    }
}
