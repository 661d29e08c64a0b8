//! Questions to git, asked so that nothing of a worker's answers them.
//!
//! A worker that can write `.git` could make git run its program: a hook, a monitor of files, a pager.
//! So git is started with all of these off, with no configuration but the repository's own, and with no
//! locks: it changes nothing, not even the index.

mod committed;
mod content;

pub use content::Staged;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::{Bounds, How, Input, Keeper, Program};

const QUESTION: Bounds = Bounds { time: Duration::from_secs(10), output_bytes: 1024 * 1024 };

/// What a repository's own configuration could otherwise make git start or change.
const OFF: [&str; 8] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "diff.external=",
    "credential.helper=",
    "protocol.allow=never",
];

/// The git of this machine, and the repository that it is asked about.
#[derive(Debug, Clone)]
pub struct Git {
    keeper: Keeper,
    program: PathBuf,
    root: PathBuf,
    variables: Vec<(&'static str, OsString)>,
}

/// What git said to a question of yes and no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Yes,
    No,
}

impl Git {
    /// `program` is an absolute path, such as [`crate::find_program`] gives.
    pub fn new(keeper: Keeper, program: PathBuf, root: PathBuf) -> Self {
        Self { keeper, program, root, variables: Vec::new() }
    }

    /// Why writing this path would leak, if it would: it is tracked, it would be, or it lies in a
    /// repository of its own. An error if git cannot say; that is no permission.
    pub fn leak(&self, path: &str) -> Result<Option<String>, String> {
        if let Some(nested) = self.nested_repository(path) {
            return Ok(Some(format!("{nested} is a repository of its own")));
        }
        // Without --no-index: with it a tracked file in an ignored folder counts as ignored.
        // It takes no literal pathspecs; the dot keeps a leading colon from being magic.
        let plain = format!("./{path}");
        if self.ask(&["check-ignore", "--quiet", "--", &plain])? == Said::No {
            return Ok(Some("git does not ignore it, so it could be committed".into()));
        }
        if !self.listed(&["--literal-pathspecs", "ls-files", "-z", "--", path])?.is_empty() {
            return Ok(Some("git tracks it".into()));
        }
        Ok(None)
    }

    /// Which of these paths git ignores and does not track.
    pub fn ignored(&self, paths: &[&str]) -> Result<Vec<String>, String> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let plain: Vec<String> = paths.iter().map(|path| format!("./{path}")).collect();
        // A name that git would write between quotes is not recognised, and counts as read.
        let mut question = vec!["check-ignore", "--"];
        question.extend(plain.iter().map(String::as_str));
        match self.run(&question)? {
            (0 | 1, answer, _) => Ok(answer
                .split(|byte| *byte == b'\n')
                .filter_map(|path| std::str::from_utf8(path).ok())
                .map(|path| path.trim_start_matches("./").to_owned())
                .collect()),
            (code, _, complaint) => Err(told(code, &complaint)),
        }
    }

    /// Whether the path is in the index or in the newest commit.
    pub fn is_committed(&self, path: &str) -> Result<bool, String> {
        if !self.listed(&["--literal-pathspecs", "ls-files", "-z", "--", path])?.is_empty() {
            return Ok(true);
        }
        match self.ask(&["rev-parse", "--quiet", "--verify", "HEAD"])? {
            Said::No => Ok(false),
            Said::Yes => Ok(!self
                .listed(&[
                    "--literal-pathspecs",
                    "ls-tree",
                    "-rz",
                    "--name-only",
                    "HEAD",
                    "--",
                    path,
                ])?
                .is_empty()),
        }
    }

    fn nested_repository(&self, path: &str) -> Option<String> {
        path.match_indices('/')
            .map(|(at, _)| &path[..at])
            .find(|folder| std::fs::symlink_metadata(self.root.join(folder).join(".git")).is_ok())
            .map(str::to_owned)
    }

    fn ask(&self, question: &[&str]) -> Result<Said, String> {
        match self.run(question)? {
            (0, _, _) => Ok(Said::Yes),
            (1, _, _) => Ok(Said::No),
            (code, _, complaint) => Err(told(code, &complaint)),
        }
    }

    fn listed(&self, question: &[&str]) -> Result<Vec<u8>, String> {
        match self.run(question)? {
            (0, answer, _) => Ok(answer),
            (code, _, complaint) => Err(told(code, &complaint)),
        }
    }

    fn run(&self, question: &[&str]) -> Result<(i32, Vec<u8>, Vec<u8>), String> {
        self.run_with(question, Input::Nothing, QUESTION)
    }

    fn run_with(
        &self,
        question: &[&str],
        input: Input,
        bounds: Bounds,
    ) -> Result<(i32, Vec<u8>, Vec<u8>), String> {
        let mut arguments: Vec<OsString> = Vec::new();
        for setting in OFF {
            arguments.extend(["-c".into(), setting.into()]);
        }
        arguments.extend(question.iter().map(Into::into));
        self.start(arguments, input, bounds)
    }

    /// What the settings say. To read them starts nothing.
    fn settings(&self, name: &str) -> Result<(i32, Vec<u8>, Vec<u8>), String> {
        let question = ["config", "--type=path", "--get", name].map(OsString::from);
        self.start(question.into(), Input::Nothing, QUESTION)
    }

    fn start(
        &self,
        question: Vec<OsString>,
        input: Input,
        bounds: Bounds,
    ) -> Result<(i32, Vec<u8>, Vec<u8>), String> {
        let mut arguments: Vec<OsString> =
            ["--no-pager", "--no-optional-locks"].map(Into::into).into();
        arguments.extend(question);
        let nowhere = Path::new("/dev/null");
        let mut program = Program::new(&self.program)
            .arguments(arguments)
            .input(input)
            .directory(&self.root)
            .variable("GIT_OPTIONAL_LOCKS", "0")
            .variable("GIT_CONFIG_NOSYSTEM", "1")
            .variable("GIT_CONFIG_SYSTEM", nowhere)
            .variable("GIT_CONFIG_GLOBAL", nowhere)
            .variable("GIT_ATTR_NOSYSTEM", "1")
            .variable("GIT_TERMINAL_PROMPT", "0")
            .variable("GIT_NO_REPLACE_OBJECTS", "1")
            // What a repository lacks could be fetched by a program that its own settings name: by no protocol, then.
            .variable("GIT_NO_LAZY_FETCH", "1")
            .variable("GIT_ALLOW_PROTOCOL", "none")
            .variable("HOME", "/nonexistent")
            .variable("LC_ALL", "C");
        for (name, value) in &self.variables {
            program = program.variable(name, value);
        }
        let ended = self.keeper.run(&program, bounds, &AtomicBool::new(false));
        let ended = ended.map_err(|error| error.to_string())?;
        match ended.how {
            How::Exited(code) => Ok((code, ended.stdout, ended.stderr)),
            how => Err(format!("it did not end by itself ({how:?})")),
        }
    }
}

fn told(code: i32, complaint: &[u8]) -> String {
    let first = complaint.split(|byte| *byte == b'\n').next().unwrap_or_default();
    format!("exit {code}, {}", String::from_utf8_lossy(first))
}
