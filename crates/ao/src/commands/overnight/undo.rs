//! `ao overnight undo`

use ao_contract::Exit;
use ao_tree::{UndoScope, shown};

use super::nights::{self, End};
use crate::cli::Global;
use crate::commands::tree::apply::CommitArguments;
use crate::commands::tree::undo::take_back;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

/// So many commits are named; the answer has all changes.
const NAMED_MAX: usize = 5;

/// Take back an iteration and what ao changed after it; what people changed since stays
#[derive(Debug, clap::Args)]
#[command(after_help = "An undo is a commit like any other: `ao tree undo` takes it back.
A file that somebody changed since stays as it is, and what it was before the iteration is kept
in .agents/overnight/conflicts/. One commit alone: `ao tree undo ID --only`.

Examples:
  ao --dry-run overnight undo                       what would be taken back
  ao overnight undo                                 the newest iteration that is kept, and what came after it
  ao overnight undo 20260415T020000Z-iter-2         that iteration and all after it
  ao overnight undo 20260415T020000Z                that night and all after it")]
pub(crate) struct Arguments {
    /// The iteration to go back before, or a run (default: the newest iteration that is kept)
    #[arg(value_name = "ID")]
    iteration: Option<String>,
    #[command(flatten)]
    commit: CommitArguments,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let (first, ids) = {
        let (door, _readers) = repo.read()?;
        let first = nights::find(&repo, &door, arguments.iteration.as_deref(), End::First)?;
        let ids: Vec<String> = door.history()?.into_iter().map(|line| line.id).collect();
        (first.line.id, ids)
    };
    let from = ids.iter().position(|id| *id == first).unwrap_or(ids.len());
    let later = ids.len() - from;
    let named: Vec<String> = ids[from..].iter().rev().take(NAMED_MAX).map(|id| shown(id)).collect();
    let more = if later > named.len() { ", …" } else { "" };
    let word = if global.dry_run { "Would take back" } else { "Taking back" };
    let commits = if later == 1 { "commit" } else { "commits" };
    printer.note(&format!("{word} {later} {commits}: {}{more}.", named.join(", ")));
    let what = (Some(first.as_str()), UndoScope::FromHereOn);
    take_back("overnight undo", what, &arguments.commit, global, printer)
}
