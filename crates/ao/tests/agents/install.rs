//! The agents, installed from npm in the versions that `package.json` names.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use crate::bounded;

const PACKAGE: &str = include_str!("package.json");
const LOCK: &str = include_str!("package-lock.json");
/// Some hundred megabytes over a slow line.
const PATIENCE: Duration = Duration::from_mins(10);

/// A folder with `node_modules` in it.
#[derive(Debug)]
pub(crate) struct Installed(PathBuf);

impl Installed {
    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    pub(crate) fn module(&self, path: &str) -> PathBuf {
        self.0.join("node_modules").join(path)
    }
}

/// All agents, or nothing where there is no npm, which is said.
pub(crate) fn agents() -> Option<&'static Installed> {
    static INSTALLED: OnceLock<Option<Installed>> = OnceLock::new();
    INSTALLED.get_or_init(install).as_ref()
}

/// Past the test harness, which shows nothing of a test that passes.
pub(crate) fn say_left_out(what: &str) {
    // A reason that nobody can read changes nothing.
    let _ = writeln!(std::io::stderr(), "left out: {what}");
}

fn install() -> Option<Installed> {
    if Command::new("npm").arg("--version").output().is_err() {
        say_left_out("real agents in a cell: npm is not installed");
        return None;
    }
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("agents");
    fs::create_dir_all(&cache).unwrap();
    // Two runs of the tests at once install once.
    let lock = File::create(cache.join("lock")).unwrap();
    lock.lock().unwrap();
    let pinned = blake3::hash([PACKAGE, LOCK].concat().as_bytes()).to_hex();
    let folder = cache.join(&pinned[..16]);
    if folder.join("complete").exists() {
        return Some(Installed(folder));
    }
    // What was cut off, and what was pinned before: each is some hundred megabytes.
    for entry in fs::read_dir(&cache).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        }
    }
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("package.json"), PACKAGE).unwrap();
    fs::write(folder.join("package-lock.json"), LOCK).unwrap();
    let mut npm = Command::new("npm");
    // No package runs anything of its own while it is installed.
    npm.current_dir(&folder).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    npm.args(["--no-engine-strict", "--no-update-notifier", "--loglevel=error"]);
    let (_, output) = bounded::output(&mut npm, PATIENCE);
    assert!(output.status.success(), "npm ci: {}", String::from_utf8_lossy(&output.stderr));
    fs::write(folder.join("complete"), "").unwrap();
    Some(Installed(folder))
}
