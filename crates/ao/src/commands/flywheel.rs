//! `ao flywheel`: what was learned and used becomes knowledge.

use std::fmt::Write as _;
use std::time::Duration;

use ao_contract::{CloseLoop, Exit, LeftAlone, Promotion};
use ao_corpus::{CLOSED, Closing, Corpus, Ledger, LedgerError, Logs, Settings, close_loop};
use ao_tree::{Edit, shown};
use jiff::civil::Date;

use super::proposal::{self, Fixed, Proposal};
use super::tree::apply::CommitArguments;
use crate::cli::Global;
use crate::clock::Moment;
use crate::config;
use crate::failure::Failure;
use crate::printer::{DOUBT, FAINT, GOOD, Printer, paint};
use crate::repo::Repo;

/// How many lines of one kind are listed for people; JSON has them all.
const LISTED_MAX: usize = 20;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Promote pending learnings and take citations as feedback, as one commit
    CloseLoop(Arguments),
}

/// Promote pending learnings and take citations as feedback, as one commit
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A pending learning (knowledge/pending/) is promoted when it makes a concrete claim, its signals
add up to 0.5, and it is old enough. Citations (ao/citations.jsonl) and feedback (ao/feedback.jsonl)
move the utility and the maturity of the entries they name. What was taken once is not taken again;
`ao tree undo` takes it all back.

Examples:
  ao --dry-run flywheel close-loop              see what would be promoted, and why not
  ao flywheel close-loop --threshold 0h --json
  ao flywheel close-loop --as-of 2026-04-01"
)]
pub(crate) struct Arguments {
    /// How old a pending learning must be, by its date (default: `flywheel.auto_promote_threshold`, or 24h)
    #[arg(long, value_name = "DURATION", value_parser = ao_contract::parse_duration)]
    threshold: Option<Duration>,
    /// The day that ages are counted from (default: today)
    #[arg(long, value_name = "DATE")]
    as_of: Option<Date>,
    #[command(flatten)]
    commit: CommitArguments,
}

impl Proposal for Closing {
    fn edits(&self) -> &[Edit] {
        &self.edits
    }

    fn hold_back(&mut self, held: &Fixed) {
        self.hold_back(&held.keys().cloned().collect());
    }
}

pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let Command::CloseLoop(arguments) = command;
    let repo = Repo::find(global)?;
    let why = "close the loop";
    let done = proposal::admit(&repo, why, &arguments.commit, (global, printer), |now, fixed| {
        plan(&repo, arguments, now, fixed)
    })?;
    let report = done.proposal.report(done.status, done.id);
    let mut fields = serde_json::to_value(&report).map_err(|error| unwritable(&error))?;
    fields["commit"] = done.commit;
    for left in report.left.iter().chain(&report.unused).take(LISTED_MAX) {
        printer.note(&format!(
            "{} {}: {}",
            paint(DOUBT, "note:"),
            shown(&left.path),
            shown(&left.why)
        ));
    }
    more_notes(&report.left, &report.unused, printer);
    printer.answer("flywheel close-loop", fields, &(text(&report) + &done.ending));
    Ok(done.exit)
}

fn plan(
    repo: &Repo,
    arguments: &Arguments,
    now: Moment,
    fixed: &Fixed,
) -> Result<Closing, Failure> {
    let agents = repo.agents();
    let root = repo.canonical();
    let corpus = Corpus::read(&agents, &CLOSED).map_err(|error| unreadable(&error))?;
    let logs = Logs::read(&agents).map_err(|error| unreadable(&error))?;
    let ledger = Ledger::read(&agents).map_err(|error| unledgered(&error))?;
    let settings = Settings {
        root: &root,
        now: &now.rfc3339(),
        today: now.day(),
        as_of: arguments.as_of,
        min_age: match arguments.threshold {
            _ if ao_mutant::active("RUN-07/threshold-is-ignored") => Duration::ZERO,
            Some(threshold) => threshold,
            None => config::threshold(&root)?,
        },
        except: fixed.keys().cloned().collect(),
        trust: super::trust::told(repo)?,
    };
    Ok(close_loop(&corpus, &logs, ledger, &settings))
}

pub(crate) fn unreadable(error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the corpus cannot be read: {error}"))
        .hint("put right what is named, then run the command again")
}

pub(crate) fn unledgered(error: &LedgerError) -> Failure {
    Failure::new(Exit::Preflight, error.to_string())
        .hint("it says what was taken before; put it right, or move it away to take all again")
}

pub(crate) fn unwritable(error: &serde_json::Error) -> Failure {
    Failure::new(Exit::Failed, format!("the result cannot be written as JSON: {error}"))
}

fn more_notes(left: &[LeftAlone], unused: &[LeftAlone], printer: &Printer) {
    let more = (left.len() + unused.len()).saturating_sub(LISTED_MAX);
    if more > 0 {
        printer.note(&format!("{} … and {more} more; --json lists them", paint(DOUBT, "note:")));
    }
}

fn text(report: &CloseLoop) -> String {
    let mut text = String::new();
    for pending in report.pending.iter().take(LISTED_MAX) {
        let (style, word) = match pending.verdict {
            Promotion::Promoted => (GOOD, "promote"),
            Promotion::Known => (FAINT, "known"),
            Promotion::Kept => (DOUBT, "keep"),
        };
        let word = paint(style, &format!("{word:<8}"));
        let _ = writeln!(text, "{word}{}: {}", shown(&pending.path), shown(&pending.reason));
    }
    more(&mut text, report.pending.len());
    for judged in report.feedback.iter().take(LISTED_MAX) {
        let word = paint(GOOD, &format!("{:<8}", "judge"));
        let (before, after) = (judged.utility_before.get(), judged.utility_after.get());
        let _ = write!(text, "{word}{}: utility {before} → {after}", shown(&judged.path));
        if judged.maturity_before != judged.maturity_after {
            let name = |maturity| serde_json::to_value(maturity).unwrap_or_default();
            let maturity = name(judged.maturity_after);
            let _ = write!(text, ", now {}", maturity.as_str().unwrap_or_default());
        }
        text.push('\n');
    }
    more(&mut text, report.feedback.len());
    let CloseLoop { promoted, known, kept, waiting, rewards, .. } = report;
    let judged = report.feedback.len();
    let _ = writeln!(
        text,
        "{promoted} promoted, {known} known, {kept} kept; {rewards} judgements on {judged} entries."
    );
    if *waiting > 0 {
        let _ = writeln!(text, "{waiting} wait for a person: `ao trust` shows them.");
    }
    text
}

fn more(text: &mut String, total: usize) {
    if total > LISTED_MAX {
        let _ = writeln!(text, "… and {} more", total - LISTED_MAX);
    }
}
