//! A directory in which a program runs, and by which everything that it started is known.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ao_guard::{Bounds, Ended, Error, Keeper, Program};

/// A test that is not through by then will never be.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);
/// For programs that end by themselves.
pub(crate) const AMPLE: Bounds = Bounds { time: PATIENCE, output_bytes: 4 * 1024 * 1024 };
/// For programs that do not. They are in the middle of it by then.
pub(crate) const SHORT: Bounds = Bounds { time: Duration::from_secs(2), output_bytes: 64 * 1024 };

pub(crate) const STAND_IN: &str = env!("CARGO_BIN_EXE_guard-stand-in");

pub(crate) fn keeper() -> Keeper {
    Keeper::new(STAND_IN)
}

#[derive(Debug)]
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn program(&self, path: impl Into<PathBuf>) -> Program {
        Program::new(path).directory(self.path())
    }

    /// A script for the shell, which finds its own tools.
    pub(crate) fn script(&self, text: &str) -> Program {
        self.program("/bin/sh").arguments(["-c", text]).variable("PATH", "/usr/bin:/bin")
    }

    pub(crate) fn run(&self, script: &str, bounds: Bounds) -> Result<Ended, Error> {
        keeper().run(&self.script(script), bounds, &AtomicBool::new(false))
    }

    /// Ids of the processes that are at home here.
    pub(crate) fn living(&self) -> Vec<u32> {
        let here = self.path().canonicalize().unwrap();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap() {
            let path = entry.unwrap().path();
            let id = path.file_name().unwrap().to_str().unwrap().parse();
            if let Ok(id) = id
                && fs::read_link(path.join("cwd")).is_ok_and(|cwd| cwd == here)
            {
                found.push(id);
            }
        }
        found
    }

    /// Waits until a script has written a file.
    pub(crate) fn wait_for(&self, name: &str) -> String {
        let mut text = String::new();
        wait_until(name, || {
            text = fs::read_to_string(self.path().join(name)).unwrap_or_default();
            text.ends_with('\n')
        });
        text
    }
}

pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "never came: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
