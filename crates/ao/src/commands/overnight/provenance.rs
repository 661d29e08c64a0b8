//! Where a report comes from, and whether the commands in it are run.

use std::path::Path;

use ao_guard::cell::Cells;
use ao_night::Shell;

use crate::commands::guard::place;
use crate::config;
use crate::repo::Repo;

const NO_REPOSITORY: &str = "its command is not run: the report is read without its repository";
const ELSEWHERE: &str =
    "its command is not run: the report lies outside of this repository and of its report folder";

/// A command is run only if the report lies where a run of this repository leaves it. One from
/// elsewhere is the word of a stranger, and even a cell lets a command read.
#[derive(Debug)]
pub(super) struct Provenance(Result<Cells, &'static str>);

impl Provenance {
    pub(super) fn of(report: &Path, repo: Option<&Repo>) -> Self {
        let Some(repo) = repo else { return Self(Err(NO_REPOSITORY)) };
        let root = repo.canonical();
        let is_in =
            |folder: &Path| report.canonicalize().is_ok_and(|report| report.starts_with(folder));
        let configured = config::report_dir(&root).ok().and_then(|dir| dir.canonicalize().ok());
        let is_own = is_in(&root) || configured.is_some_and(|folder| is_in(&folder));
        Self(if is_own { Ok(place::cells(&root)) } else { Err(ELSEWHERE) })
    }

    /// Whether the report lies where a run of this repository leaves it.
    pub(super) fn is_own(&self) -> bool {
        self.0.is_ok()
    }

    pub(super) fn shell(&self) -> Shell<'_> {
        match &self.0 {
            Ok(cells) => Shell::In(cells),
            Err(why) => Shell::Never(why),
        }
    }
}
