//! The machine that the night runs on, as the binary hands it in.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_guard::cell::Cells;
use ao_guard::{Bounds, Keeper, NotFound, Program};

/// Which family of systems it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Linux,
    MacOs,
    Other,
}

/// What the programs that the night starts may be told about the machine.
#[derive(Debug, Clone)]
pub struct Host {
    pub keeper: Keeper,
    /// For programs that are not trusted to do only what they are for.
    pub cells: Cells,
    pub system: System,
    /// The id of this process.
    pub process: u32,
    /// All variables of this process. A program gets those that it is granted by name.
    pub environment: Vec<(OsString, OsString)>,
    /// Where the repository is. No program is taken from there.
    pub repository: PathBuf,
    /// The program for beads: its name on `PATH`, or its absolute path.
    pub beads: String,
}

impl Host {
    /// Looks for a program on the `PATH` of this process.
    pub(crate) fn find(&self, name: &str) -> Result<PathBuf, NotFound> {
        ao_guard::find_program(name, self.path(), &self.repository)
    }

    /// The program, with the variables it may see. It finds others where we would find them.
    pub(crate) fn program(&self, path: PathBuf, may_see: impl Fn(&str) -> bool) -> Program {
        let mut program = Program::new(path)
            .directory(&self.repository)
            .variable("PATH", ao_guard::trusted_path(self.path(), &self.repository));
        for (name, value) in &self.environment {
            if name.to_str().is_some_and(&may_see) {
                program = program.variable(name, value);
            }
        }
        program
    }

    /// Runs a program of this machine outside of every cell. Only mutants do.
    pub(crate) fn run(&self, name: &str) {
        const BOUNDS: Bounds = Bounds { time: Duration::from_secs(10), output_bytes: 1024 };
        if let Ok(path) = self.find(name) {
            let program = self.program(path, |_| false);
            let _ = self.keeper.run(&program, BOUNDS, &AtomicBool::new(false));
        }
    }

    fn path(&self) -> &OsStr {
        let named = self.environment.iter().find(|(name, _)| name == "PATH");
        named.map_or(OsStr::new(""), |(_, value)| value)
    }
}
