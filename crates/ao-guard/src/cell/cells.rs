//! Cells for one repository: what all of them have in common, as the binary hands it in.
//!
//! A lane that runs programs knows neither the home nor the environment; it takes a cell from here,
//! says what is the program's and how far it may go, and gets what the program said.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::order::Cell;
use super::paths::{Place, admit, leads_away};
use super::report::{Refusal, Report};
use super::scratch::Scratch;
use super::supervise::Source;

/// A folder with more entries is not looked through, and so is not given to a program.
const ENTRIES_MAX: usize = 200_000;
const GIT: &str = ".git";
/// So many were made by this process: no two have one name.
static MADE: AtomicU64 = AtomicU64::new(0);

/// Whether this process is held itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Around {
    Nothing,
    /// A cell, and a cell has none in it.
    Cell,
}

#[derive(Debug, Clone)]
pub struct Cells {
    /// A binary whose `main` calls [`crate::serve`].
    pub holder: PathBuf,
    /// Folders for temporary files. The first that the program may not write takes what a cell
    /// needs outside.
    pub temporary: Vec<PathBuf>,
    /// Of this process alone, at this moment.
    pub name: String,
    /// The rules for what may be writable.
    pub place: Place,
    /// What every cell is like but for its program.
    pub pattern: Cell,
    pub around: Around,
}

/// How it went in the cell, with all that was said.
#[derive(Debug, Clone)]
pub struct Caught {
    pub report: Report,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Cells {
    /// A pass cell with nothing writable and no network.
    pub fn cell(&self, program: impl Into<PathBuf>) -> Cell {
        Cell { program: program.into(), ..self.pattern.clone() }
    }

    /// Where a folder really is, if it may be given to a program that keeps its files there. A
    /// socket in it is no reason against it: no program in a cell can speak to one.
    pub fn own_folder(&self, folder: &Path) -> Result<PathBuf, String> {
        let real = admit(folder, &self.place).map_err(|refusal| refusal.to_string())?;
        match leading_away(&real, &[GIT, &self.place.knowledge]) {
            Ok(None) => Ok(real),
            Ok(Some(path)) => Err(format!("{} in it must not be writable", path.display())),
            Err(error) => Err(format!("{} cannot be looked through: {error}", real.display())),
        }
    }

    /// Runs a program to its end. What it says is kept, as far as its bound for that lets it.
    pub fn run(&self, cell: &Cell, stop: &AtomicBool) -> Result<Caught, Refusal> {
        if self.around == Around::Cell {
            return Err(Refusal::Inside);
        }
        let name = format!("{}-{}", self.name, MADE.fetch_add(1, Ordering::Relaxed));
        let scratch = Scratch::beside(cell, &self.temporary, &name)?;
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut take = |source: Source, bytes: &[u8]| match source {
            Source::Stdout => stdout.extend_from_slice(bytes),
            Source::Stderr => stderr.extend_from_slice(bytes),
        };
        let report = cell.run(&self.holder, &scratch, &mut take, stop)?;
        Ok(Caught { report, stdout, stderr })
    }
}

/// The first entry through which a write would reach something else, or a folder of this name.
fn leading_away(root: &Path, names: &[&str]) -> io::Result<Option<PathBuf>> {
    let mut waiting = vec![root.to_owned()];
    let mut count = 0;
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            count += 1;
            if count > ENTRIES_MAX {
                let why = format!("it has more than {ENTRIES_MAX} entries");
                return Err(io::Error::new(io::ErrorKind::QuotaExceeded, why));
            }
            let seen = match entry.metadata() {
                Ok(seen) => seen,
                // It went while we looked.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let is_named = names.iter().any(|name| entry.file_name() == *name);
            if is_named || (leads_away(&seen) && !seen.file_type().is_socket()) {
                return Ok(Some(entry.path()));
            }
            if seen.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    Ok(None)
}
