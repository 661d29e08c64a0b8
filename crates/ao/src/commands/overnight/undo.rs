//! `ao overnight undo`

use ao_contract::Exit;
use ao_guard::Decision;
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
/// Rulings, and words for texts, are no part of a night.
const SCOPE: UndoScope = UndoScope::OursFromHereOn;

/// Take back an iteration and what ao changed after it; what people changed since stays
#[derive(Debug, clap::Args)]
#[command(after_help = "An undo is a commit like any other: `ao tree undo` takes it back.
A file that somebody changed since stays as it is, and what it was before the iteration is kept
in .agents/overnight/conflicts/. What people decided since with `ao rule` and `ao trust` stays, too.
One commit alone: `ao tree undo ID --only`.

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
    let (first, lines) = {
        let (door, _readers) = repo.read()?;
        let first = nights::find(&repo, &door, arguments.iteration.as_deref(), End::First)?;
        let mut lines = door.history()?;
        let from = lines.iter().position(|line| line.id == first.line.id).unwrap_or(lines.len());
        lines.drain(..from);
        (first.line.id, lines)
    };
    let ids: Vec<String> = lines.iter().map(|line| line.id.clone()).collect();
    let taken: Vec<String> = SCOPE.of(lines).into_iter().map(|line| line.id).collect();
    let word = if global.dry_run { "Would take back" } else { "Taking back" };
    printer.note(&format!("{word} {}.", named(&taken)));
    let stay: Vec<String> = ids.into_iter().filter(|id| !taken.contains(id)).collect();
    if !stay.is_empty() {
        let word = if global.dry_run { "Would leave" } else { "Leaving" };
        printer.note(&format!("{word} what people decided since, {}.", named(&stay)));
    }
    let what = (Some(first.as_str()), SCOPE);
    take_back(Decision::UndoNight, what, &arguments.commit, global, printer)
}

/// How many commits, and the newest of them.
fn named(ids: &[String]) -> String {
    let some: Vec<String> = ids.iter().rev().take(NAMED_MAX).map(|id| shown(id)).collect();
    let more = if ids.len() > some.len() { ", …" } else { "" };
    let commits = if ids.len() == 1 { "commit" } else { "commits" };
    format!("{} {commits}: {}{more}", ids.len(), some.join(", "))
}
