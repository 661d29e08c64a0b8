//! `ao defrag`

mod explain;
mod tell;

use std::io::IsTerminal;

use ao_contract::{DefragStatus, Exit};
use ao_corpus::Tree;
use ao_corpus::defrag::{Asked, DefragError, Parts, Plan, plan};
use ao_tree::{Disk, Door, Edit, Preview, Request};
use jiff::civil::Date;
use serde_json::{Value, json};

use super::agreed::agreed;
use super::as_of::day;
use super::proposal::{Fixed, Proposal, settle};
use super::tree::apply::CommitArguments;
use super::tree::outcome;
use crate::cli::Global;
use crate::clock;
use crate::config::Limits;
use crate::failure::Failure;
use crate::printer::{self, Printer, Stream};
use crate::repo::{Repo, Writer};

/// Merge copies, archive what is expired or superseded, compile patterns, and find what goes back and forth
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is typed by itself")]
#[command(
    after_help = "With none of --dedup, --prune, --patterns and --oscillation-sweep all four are done.

Nothing is changed before it was shown and agreed to: on a terminal ao asks, elsewhere --yes
agrees beforehand, and without it the changes are only shown. Each merge and each prune has a
certificate: questions made of the text that goes, asked before and after. One that would lose
something is not made. All is one commit, which `ao tree undo` takes back.

Examples:
  ao defrag                            show everything, ask, then do it
  ao defrag --dedup --yes              merge copies without asking
  ao --json defrag --prune             what would be archived, and why
  ao defrag --explain 2026-04-01-copy  one merge or prune, with its certificate"
)]
pub(crate) struct Arguments {
    /// Merge entries that are copies of each other
    #[arg(long)]
    dedup: bool,
    /// Archive findings past their term, and entries that another one replaced
    #[arg(long)]
    prune: bool,
    /// Compile patterns from learnings that say the same, and keep up those that were compiled
    #[arg(long)]
    patterns: bool,
    /// List targets of improvement cycles whose results go back and forth
    #[arg(long)]
    oscillation_sweep: bool,
    /// Explain one merge or prune, to come or done: the path, name or id of an entry
    #[arg(long, value_name = "ID", conflicts_with = "yes")]
    explain: Option<String>,
    /// Make the changes without asking
    #[arg(long, short = 'y')]
    yes: bool,
    /// Judge terms by this day (default: today)
    #[arg(long, value_name = "DATE", value_parser = day)]
    as_of: Option<Date>,
    #[command(flatten)]
    commit: CommitArguments,
}

impl Arguments {
    fn parts(&self) -> Parts {
        let is_all = !self.dedup && !self.prune && !self.patterns && !self.oscillation_sweep;
        Parts {
            dedup: self.dedup || is_all,
            prune: self.prune || is_all,
            sweep: self.oscillation_sweep || is_all,
            patterns: self.patterns || is_all,
        }
    }
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    if let Some(id) = &arguments.explain {
        let (door, _readers) = repo.read()?;
        let (planned, _) = planned(arguments, &repo, &door, printer)?;
        return explain::run(id, &planned, &door, printer);
    }
    let can_ask =
        std::io::stdin().is_terminal() && printer::is_screen(Stream::Talk) && !global.json;
    let is_dry = global.dry_run && !ao_mutant::active("RUN-07/dry-defrag-commits");
    if is_dry || !arguments.yes && !can_ask {
        let (door, _readers) = repo.read()?;
        let (planned, preview) = planned(arguments, &repo, &door, printer)?;
        let is_something = !planned.edits.is_empty();
        show(&planned, &preview, printer);
        if is_something && !global.dry_run {
            printer.note("Nothing was changed. Run it with --yes to make these changes.");
        }
        return Ok(Exit::Done);
    }
    let limits = Limits::read(&repo.root)?;
    let writer = Writer::open(&repo)?;
    let (planned, preview) = planned(arguments, &repo, &writer.door, printer)?;
    if planned.edits.is_empty() {
        show(&planned, &preview, printer);
        return Ok(Exit::Done);
    }
    if !arguments.yes {
        printer.note(&tell::text(&planned.report, Some(&preview)));
        if !agreed()? {
            printer.note("Nothing was changed.");
            return Ok(Exit::Done);
        }
    }
    commit(arguments, &writer, limits, planned, global, printer)
}

impl Proposal for Plan {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// A copy that stays as it is keeps no other from being merged.
    fn leaves_out(&self, edit: &Edit) -> Vec<String> {
        vec![edit.path.clone()]
    }

    fn hold_back(&mut self, held: &Fixed) {
        self.hold_back(held);
    }
}

fn planned(
    arguments: &Arguments,
    repo: &Repo,
    door: &Door<Disk>,
    printer: &Printer,
) -> Result<(Plan, Preview), Failure> {
    let tell = |what: &str| printer.note(what);
    settle(door, |fixed| {
        let (parts, as_of) = (arguments.parts(), arguments.as_of);
        let today = clock::now().day();
        let asked = Asked { parts, today, as_of, fixed, prior: &[], past: None };
        let tree = Tree::list(&repo.agents()).map_err(DefragError::Io);
        let planned = tree.and_then(|tree| plan(&repo.agents(), tree, asked, &tell));
        planned.map_err(|error| match error {
            DefragError::Io(_) => Failure::new(Exit::Failed, error.to_string())
                .hint("nothing was changed; put right what is named, then run the command again"),
            DefragError::Index(_) => Failure::new(Exit::Failed, error.to_string())
                .hint("nothing was changed; run the command again when nobody edits the corpus"),
        })
    })
}

/// Shows what would be done.
fn show(Plan { report, .. }: &Plan, preview: &Preview, printer: &Printer) {
    let text = tell::text(report, Some(preview));
    let mut fields = json!(report);
    fields["preview"] = json!({
        "changes": preview.changes,
        "refused": outcome::refused_json(&preview.refused),
        "left": outcome::left_json(&preview.left),
        "diff": preview.diffs.iter().map(ao_tree::FileDiff::unified).collect::<String>(),
    });
    printer.answer("defrag", fields, &text);
}

fn commit(
    arguments: &Arguments,
    writer: &Writer,
    limits: Limits,
    planned: Plan,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let mut planned = planned;
    let request = arguments.commit.request(writer, limits, tell::why(&planned.report))?;
    let done = writer.door.apply(Request { edits: planned.edits.clone(), ..request })?;
    let expired = outcome::expire(writer, limits, printer);
    let (told, changes) = outcome::told(writer, &done, &expired, printer);
    planned.hold_back(&done.held_back());
    let mut report = planned.report;
    report.status =
        if done.method.is_some() { DefragStatus::Committed } else { DefragStatus::NothingToDo };
    let mut fields: Value = json!(report);
    fields["commit"] = told;
    printer.answer("defrag", fields, &format!("{}{changes}", tell::text(&report, None)));
    Ok(outcome::exit(&done, global))
}
