//! A home with a vault, and the binary at work in it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::cell::{User, as_user, as_user_with, give, is_root};
use crate::repo::Ran;

/// Looks like nothing else, in any file or memory.
pub(crate) const VALUE: &str = "tok_live_9fQ2xVbR7mKpW4zLhT8c";

pub(crate) struct Home {
    dir: TempDir,
    user: User,
    variables: Vec<(String, String)>,
}

impl Home {
    /// With an empty vault.
    pub(crate) fn new(user: User) -> Self {
        let home = Self::bare(user);
        home.ao(&["vault", "init"]).expect(0);
        home
    }

    /// With nothing in it.
    pub(crate) fn bare(user: User) -> Self {
        let dir = tempfile::Builder::new().prefix("vault-").tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        let home = Self { dir, user, variables: Vec::new() };
        home.settle();
        home
    }

    #[must_use]
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Gives everything to whoever runs the commands.
    pub(crate) fn settle(&self) {
        if self.user == User::Ordinary && is_root() {
            give(self.dir.path());
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn identity(&self) -> PathBuf {
        self.path(".config/ao/identity.txt")
    }

    pub(crate) fn vault(&self) -> PathBuf {
        self.path(".local/share/ao/vault.age")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = as_user(self.user);
        command
            .env_clear()
            .env("HOME", self.path(""))
            .env("TMPDIR", self.path("tmp"))
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(self.path("work"))
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// The same, started by another program that goes on as it.
    pub(crate) fn wrapped(&self, before: &[&str], arguments: &[&str]) -> Command {
        let inner = self.command(arguments);
        let mut command = as_user_with(self.user, before[0]);
        command.args(&before[1..]).arg(inner.get_program()).args(inner.get_args()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.path("work")).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn ao(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// With these bytes as standard input.
    pub(crate) fn fed(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        // One that refuses may have ended before it read.
        let _ = child.stdin.take().unwrap().write_all(input);
        child.wait_with_output().unwrap()
    }

    pub(crate) fn write(&self, name: &str, value: &[u8]) -> Ran {
        Ran::of(self.fed(&["vault", "write", name], value))
    }

    /// What `read` printed, and how it ended.
    pub(crate) fn read(&self, name: &str) -> (Vec<u8>, i32) {
        let output = self.command(&["vault", "read", name]).output().unwrap();
        (output.stdout, output.status.code().unwrap_or(-1))
    }

    #[track_caller]
    pub(crate) fn holds(&self, name: &str, value: &[u8]) {
        let (printed, code) = self.read(name);
        assert_eq!(code, 0, "{name}");
        assert!(printed == value, "{name} has {} bytes instead of {}", printed.len(), value.len());
    }
}

/// Makes a vault with these values in a folder that will be a home.
pub(crate) fn keep_in(home: &Path, values: &[(&str, &str)]) {
    let ao = |arguments: &[&str], input: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
        command.env_clear().env("HOME", home).args(arguments).stdout(Stdio::null());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "{arguments:?}");
    };
    ao(&["vault", "init"], "");
    for (name, value) in values {
        ao(&["vault", "write", name, "--exact"], value);
    }
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn contains(bytes: &[u8], value: &str) -> bool {
    bytes.windows(value.len()).any(|window| window == value.as_bytes())
}

/// All files beneath a folder that have this in them.
pub(crate) fn files_with(folder: &Path, value: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(files_with(&path, value));
        } else if path.is_file() && fs::read(&path).is_ok_and(|bytes| contains(&bytes, value)) {
            found.push(path);
        }
    }
    found
}
