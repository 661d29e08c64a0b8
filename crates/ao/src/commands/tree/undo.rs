//! `ao tree undo`

use ao_contract::Exit;
use ao_corpus::contradictions::RULINGS;
use ao_guard::Decision;
use ao_tree::{Request, UndoPlan, UndoScope, shown};

use super::apply::{CommitArguments, edits_a_decision};
use super::outcome;
use crate::cli::Global;
use crate::config::Limits;
use crate::failure::Failure;
use crate::person;
use crate::printer::Printer;
use crate::repo::{Repo, Writer};

/// So many rulings are named; the answer has all that stays.
const NAMED_MAX: usize = 5;

/// Take back a commit and all after it; what people changed since stays
#[derive(Debug, clap::Args)]
#[command(after_help = "An undo is a commit like any other: undo it to have everything back.
A file that somebody changed since stays as it is, and what it was before is kept
in .agents/overnight/conflicts/. A ruling, or a word for a text, is taken back whole or not at all.

Examples:
  ao --dry-run tree undo                       what would be taken back
  ao tree undo                                 the newest commit
  ao tree undo 20260401T020000Z                that commit and all after it
  ao tree undo 20260401T020000Z --only         that commit alone")]
pub(crate) struct Arguments {
    /// The commit to go back before (default: the newest)
    commit_id: Option<String>,
    /// Take back this commit alone, and leave the later ones
    #[arg(long)]
    only: bool,
    #[command(flatten)]
    commit: CommitArguments,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let scope = if arguments.only { UndoScope::Only } else { UndoScope::FromHereOn };
    let what = (arguments.commit_id.as_deref(), scope);
    take_back(Decision::UndoCommit, what, &arguments.commit, global, printer)
}

/// Takes back a commit, or the newest one, for any command that says so.
pub(crate) fn take_back(
    decision: Decision,
    (id, scope): (Option<&str>, UndoScope),
    commit: &CommitArguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let command = &decision.words().join(" ");
    if global.dry_run {
        let (door, _readers) = repo.read()?;
        let plan = door.plan_undo(id, scope)?;
        tell_rulings(&plan, printer);
        let conflicts: Vec<_> = plan.stays().collect();
        let preview = door.preview_undo(&plan)?;
        return Ok(outcome::preview(command, &preview, &conflicts, printer));
    }
    let limits = Limits::read(&repo.root)?;
    let writer = Writer::open(&repo)?;
    let plan = writer.door.plan_undo(id, scope)?;
    // To take back what the night did is no decision that a person has to make; their own words are.
    let given = if edits_a_decision(&plan.edits) {
        Some(person::decides(decision, &repo.root)?)
    } else {
        None
    };
    tell_rulings(&plan, printer);
    let why = format!("undo of {}", plan.undo_of.join(", "));
    let request = commit.request(&writer, limits, why)?;
    let done = writer.door.undo(plan, Request { given, ..request })?;
    let expired = outcome::expire(&writer, limits, printer);
    Ok(outcome::report(command, &writer, &done, &expired, global, printer))
}

/// An undo goes by bytes; a withdrawal knows a mark by what it says.
fn tell_rulings(plan: &UndoPlan, printer: &Printer) {
    let card = |path: &str| {
        let name = path.strip_prefix(RULINGS)?.strip_prefix('/')?.strip_suffix(".json")?;
        Some(shown(name))
    };
    for card in plan.stays().filter_map(|stay| card(&stay.path)).take(NAMED_MAX) {
        printer
            .note(&format!("The ruling {card} stays: `ao rule {card} --withdraw` takes it back."));
    }
}
