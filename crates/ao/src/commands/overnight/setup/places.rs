//! The places that a night reads from and writes to, as the preflight finds them.

use ao_corpus::{Ledger, Logs};
use ao_night::receipts::FILE;

use super::super::super::flywheel;
use super::super::super::harvest;
use super::super::super::vault::place;
use super::super::receipts as custody;
use super::probe::Check;
use crate::config::{self, Night};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

pub(super) const CONFIGURATION: &str = "configuration";

/// The corpus, what is said about it, and what a commit needs around it.
pub(super) fn knowledge(repo: &Repo) -> Check {
    const NAME: &str = "knowledge";
    let agents = repo.agents();
    if !agents.is_dir() {
        let found = format!("no .agents/ in {}", repo.root.display());
        return Check::bad(NAME, found, "run `mkdir .agents` in the repository");
    }
    match whole(repo) {
        Err(failure) => Check::failed(NAME, &failure),
        Ok(Some(id)) => {
            Check::good(NAME, format!("commit {id} was cut off; the night finishes it first"))
        }
        Ok(None) => Check::good(NAME, agents.display().to_string()),
    }
}

/// Gives the commit that was cut off, if one was.
fn whole(repo: &Repo) -> Result<Option<String>, Failure> {
    let door = repo.door()?;
    door.check_kept_places()?;
    let interrupted = door.interrupted()?;
    door.history()?;
    Logs::read(&repo.agents()).map_err(|error| flywheel::unreadable(&error))?;
    Ledger::read(&repo.agents()).map_err(|error| flywheel::unledgered(&error))?;
    Ok(interrupted)
}

/// What is said without effect, each by itself.
pub(super) fn warnings(night: &Night) -> Vec<Check> {
    let remedy =
        "put it right in the file, or take it out; docs/configuration.md lists what counts";
    let told = night.warnings.iter().filter(|_| !ao_mutant::active("RUN-46/setup-is-silent"));
    told.map(|warning| Check::doubt(CONFIGURATION, config::told(warning), remedy)).collect()
}

/// Where the report goes, by the rules of the night.
pub(super) fn settings(repo: &Repo) -> Check {
    const NAME: &str = CONFIGURATION;
    let root = repo.canonical();
    match config::report_dir(&root) {
        Err(failure) => Check::failed(NAME, &failure),
        Ok(folder) => match ao_night::check_output(&folder, &root) {
            Ok(()) => Check::good(NAME, format!("the report goes to {}", folder.display())),
            Err(bad) => Check::bad(
                NAME,
                format!("the report goes to {}, which {}", folder.display(), bad.why),
                "name another in dream.report_dir, or make it yours",
            ),
        },
    }
}

/// A night without a seal runs, and in the morning nobody can say that it did.
pub(super) fn receipts(repo: &Repo) -> Check {
    const NAME: &str = "receipts";
    let file = repo.state().join(FILE);
    if std::fs::symlink_metadata(&file).is_ok_and(|found| !found.is_file()) {
        let found = format!("{} is no plain file", file.display());
        return Check::bad(NAME, found, "move it away: the next night begins a new one");
    }
    let (_, trouble) = custody::custody(&repo.canonical());
    let folder = place::receipts().unwrap_or_default();
    let trouble = trouble.or_else(|| {
        let written = ao_tree::may_be_written(&folder);
        written.err().map(|error| format!("{}: {error}", folder.display()))
    });
    match trouble {
        None => Check::good(NAME, format!("the key is in {}", folder.display())),
        Some(why) => Check::bad(
            NAME,
            format!("the night cannot seal its receipt: {why}"),
            "make the folder yours alone (0700, and 0600 the key in it), or move it away; without a seal \
             `ao overnight last` does not call a night done",
        ),
    }
}

/// What `dream.harvest_from` names, where something is wrong with it.
pub(super) fn harvest(repo: &Repo, printer: &Printer) -> Option<Check> {
    const NAME: &str = "harvest";
    let remedy = "put it there, or take it out of dream.harvest_from";
    let sources = match harvest::configured(repo, printer) {
        Ok(sources) => sources,
        Err(failure) => return Some(Check::failed(NAME, &failure)),
    };
    let is_read = sources.iter().any(|source| source.refused.is_none());
    let refused = sources.into_iter().filter_map(|source| source.refused);
    let refused: Vec<String> = refused.collect();
    if refused.is_empty() {
        return None;
    }
    let found = refused.join("; ");
    // With nothing read of what was to be read, the morning does not call the night done.
    Some(if is_read { Check::doubt(NAME, found, remedy) } else { Check::bad(NAME, found, remedy) })
}
