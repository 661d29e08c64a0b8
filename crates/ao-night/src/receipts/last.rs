//! Whether last night really happened, and if not, why, as far as it can be seen.

use std::path::Path;
use std::time::Duration;

use ao_contract::{Receipt, ReceiptEnd, ReceiptHead, RunStatus, format_duration};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::chain::{Line, Lines, Sealed, base, known, lines, read};
use super::custody::{Custody, Kept};
use super::mend::torn;
use super::told::end_of;
use super::verify::is_as_written;
use crate::output::Output;
use did::{did, unworked};

mod did;

/// Clocks are put right by less than this every day.
const AHEAD_MAX: SignedDuration = SignedDuration::from_hours(1);

/// What is to be known of the machine.
#[derive(Debug, Clone)]
pub struct Around {
    pub now: Timestamp,
    /// Since the machine was started.
    pub uptime: Duration,
    /// How far back a night is last night.
    pub within: Duration,
    /// Who holds the lock of a run, if somebody does.
    pub at_work: Option<String>,
    /// What the configuration says of when it should run.
    pub schedule: String,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Done,
    /// It had something to work on, and did not.
    NoWork,
    Time,
    Regression,
    DiskFull,
    Signal,
    Failed,
    /// Killed, while the machine went on.
    Killed,
    /// The machine was restarted meanwhile.
    Restarted,
    /// It ended, and its receipt could not be written.
    NoReceipt,
    /// It is at work, or another command is.
    AtWork,
    NoRun,
    /// The receipts cannot be read or are not what was written.
    Doubtful,
}

impl Outcome {
    pub fn has_happened(self) -> bool {
        self == Self::Done
    }
}

/// The answer, in two lines.
#[derive(Debug, Clone)]
pub struct Last {
    pub outcome: Outcome,
    pub when: String,
    pub what: String,
    /// Of the run that was found.
    pub receipt: Option<Receipt>,
    /// The inputs that nothing was done with.
    pub unworked: Vec<String>,
}

impl Last {
    fn new(outcome: Outcome, when: impl Into<String>, what: impl Into<String>) -> Self {
        let (when, what) = (when.into(), what.into());
        Self { outcome, when, what, receipt: None, unworked: Vec::new() }
    }
}

/// Looks; nothing is written.
pub fn last(state: &Path, custody: Option<&Custody>, around: &Around) -> Last {
    let doubt = |why: String| {
        let when = "No: whether a night ran cannot be told from the receipts";
        Last::new(Outcome::Doubtful, when, format!("{why}; see `ao overnight verify`"))
    };
    let bytes = match read(state) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(error) => return doubt(format!("receipts.jsonl: {error}")),
    };
    let head = match custody.map(Custody::head).transpose() {
        Ok(head) => head.flatten(),
        Err(error) => return doubt(format!("their head cannot be read: {error}")),
    };
    let all = lines(&bytes, custody);
    // Of a repository that was moved, what was known where it was.
    let moved = known(&all, head.as_ref(), custody).filter(|known| known.kept == Kept::Moved);
    let head = moved.map(|known| known.head).or(head);
    // A line that this key did not seal may have been written by anybody.
    let whole = |line: &&Line| line.receipt.is_ok() && line.sealed == Sealed::Right;
    let newest = all.lines.iter().rfind(|line| whole(line));
    let count = newest.and_then(|line| Some(line.receipt.as_ref().ok()?.number)).unwrap_or(0);
    let is_torn = torn(&all, head.as_ref(), custody).is_some();
    if all.lines.last().is_some_and(|line| !whole(&line) && !is_torn) {
        let why = "the last line was not sealed here: it was changed, appended by hand, or is another machine's";
        return doubt(why.into());
    }
    if head.as_ref().is_some_and(|head| head.count > count) {
        return doubt("the last receipts are missing".into());
    }
    let newest = newest.and_then(|line| Some((line, line.receipt.as_ref().ok()?)));
    if newest.is_some_and(|newest| !is_of_here(newest, (&all, head.as_ref(), custody), state)) {
        let why = "the last line was sealed for a run at another place: nothing here tells of it";
        return doubt(why.into());
    }
    let newest = newest.map(|(_, receipt)| receipt);
    if let Some(unsealed) = newest.filter(|receipt| receipt.unsealed.is_some()) {
        let why = "has no seal: there was no key when it was written, or it was made by hand";
        return doubt(format!("the receipt of run {} {why}", unsealed.run_id));
    }
    if let Some(ahead) = newest.filter(|receipt| is_ahead(&receipt.finished, around)) {
        let why = "is later than now: a clock was or is wrong";
        return doubt(format!("the last one ended {}, which {why}", ahead.finished));
    }
    // Its head may have been lost with the process.
    let has_receipt = |run: &str| newest.is_some_and(|newest| newest.run_id == run);
    let open = head.and_then(|head| head.open.into_iter().next_back());
    let open = open.filter(|open| !has_receipt(&open.run_id));
    if let (Some(open), None) = (&open, &around.at_work)
        && is_within(&open.began, around)
    {
        return cut_off(open, around);
    }
    match (newest, &around.at_work) {
        (Some(receipt), _) if is_within(&receipt.finished, around) => told(receipt, around),
        (_, Some(who)) => Last::new(
            Outcome::AtWork,
            "No: none has ended, and the lock is held",
            format!("{who} holds it; `ao overnight status` says what it is doing"),
        ),
        (newest, None) => none(newest, around),
    }
}

/// Whether a run of this very place wrote it. The key is the user's: with it, runs in other repositories and other
/// clones of this one are sealed, too.
fn is_of_here(
    (line, receipt): (&Line, &Receipt),
    (all, head, custody): (&Lines, Option<&ReceiptHead>, Option<&Custody>),
    state: &Path,
) -> bool {
    let of_head = head.filter(|head| head.count > 0);
    if of_head.is_some_and(|head| head.last.as_deref() == Some(line.hash.as_str())) {
        return true;
    }
    // One whose head was lost with the process, or with the home folder.
    let is_next = of_head.is_none() || base(all, head, custody).last.as_ref() == Some(&line.hash);
    let began = head.is_some_and(|head| head.open.iter().any(|open| open.run_id == receipt.run_id));
    let root = state.ancestors().nth(2).unwrap_or(state);
    // By its bytes: nights that begin in one second have one id.
    is_next && (began || is_as_written(root, receipt))
}

/// Whether a clock was put back since: such a night would be last night until the clock is there again.
fn is_ahead(text: &str, around: &Around) -> bool {
    let then = text.parse::<Timestamp>();
    then.is_ok_and(|then| then.duration_since(around.now) > AHEAD_MAX)
}

fn is_within(text: &str, around: &Around) -> bool {
    let Ok(then) = text.parse::<Timestamp>() else { return false };
    let limit = SignedDuration::try_from(around.within).unwrap_or(SignedDuration::MAX);
    around.now.duration_since(then) <= limit
}

fn none(newest: Option<&Receipt>, around: &Around) -> Last {
    let when = format!("No: no run has ended in the last {}", format_duration(around.within));
    let before = match newest {
        Some(receipt) => format!("the newest is {}, ended {}", receipt.run_id, receipt.finished),
        None => "there is no receipt of any".into(),
    };
    Last {
        receipt: newest.cloned(),
        ..Last::new(Outcome::NoRun, when, format!("{before}; {}", around.schedule))
    }
}

/// A run that has no receipt, and nobody holds the lock.
fn cut_off(open: &ao_contract::ReceiptOpen, around: &Around) -> Last {
    let summary = Output::of_ended(open.output_dir.clone().into()).summary();
    let is_over = |summary: &ao_contract::Summary| {
        summary.run_id == open.run_id && summary.status != RunStatus::Planned
    };
    if summary.as_ref().is_some_and(is_over) {
        let when = format!("No: run {} ended, and its receipt was not written", open.run_id);
        let why = open.cause.as_deref().map(ao_tree::shown);
        let why = why.unwrap_or_else(|| "it was killed before, or could not write it".into());
        let what = format!("{why}; the next start writes it");
        return Last::new(Outcome::NoReceipt, when, what);
    }
    if let Some(cause) = open.cause.as_deref() {
        let when = format!("No: run {} began {} and failed", open.run_id, open.began);
        let cause = ao_tree::shown(cause);
        return match end_of(&cause) {
            ReceiptEnd::DiskFull => {
                Last::new(Outcome::DiskFull, when, format!("the disk was full: {cause}"))
            }
            _ => Last::new(Outcome::Failed, when, format!("it failed: {cause}")),
        };
    }
    let booted = SignedDuration::try_from(around.uptime)
        .ok()
        .and_then(|uptime| around.now.checked_sub(uptime).ok());
    let began: Option<Timestamp> = open.began.parse().ok();
    let restarted = booted.zip(began).filter(|(booted, began)| booted > began);
    let when = format!("No: run {} began {} and was cut off", open.run_id, open.began);
    match restarted {
        Some((booted, _)) => {
            let at = booted.strftime("%Y-%m-%dT%H:%M:%SZ");
            let what = format!("the machine was restarted at {at}, after it had begun");
            Last::new(Outcome::Restarted, when, what)
        }
        None => Last::new(
            Outcome::Killed,
            when,
            "it was killed while the machine went on; the next start writes its report",
        ),
    }
}

fn told(receipt: &Receipt, around: &Around) -> Last {
    let unworked = unworked(&receipt.inputs, &receipt.work);
    let cause = receipt.cause.as_deref().map(ao_tree::shown).unwrap_or_default();
    let outcome = match (receipt.status, receipt.ended_by) {
        (RunStatus::Failed, Some(ReceiptEnd::CutOff)) => Outcome::Killed,
        (_, Some(ReceiptEnd::DiskFull)) => Outcome::DiskFull,
        (RunStatus::Failed, Some(ReceiptEnd::Signal)) => Outcome::Signal,
        (RunStatus::Failed, Some(ReceiptEnd::Time)) => Outcome::Time,
        (RunStatus::Failed, _) => Outcome::Failed,
        (_, Some(ReceiptEnd::Regression)) => Outcome::Regression,
        _ if !unworked.is_empty() => Outcome::NoWork,
        _ => Outcome::Done,
    };
    let took = receipt.took_ms.map(|took| format_duration(Duration::from_millis(took)));
    let took = took.map(|took| format!(", took {took}")).unwrap_or_default();
    let ago = receipt.finished.parse::<Timestamp>().ok();
    let ago = ago.and_then(|then| Duration::try_from(around.now.duration_since(then)).ok());
    let ago = ago.map(|ago| Duration::from_secs(ago.as_secs()));
    let ago = ago.map(|ago| format!(", {} ago", format_duration(ago))).unwrap_or_default();
    let (run, finished) = (&receipt.run_id, &receipt.finished);
    let word = if outcome.has_happened() { "Yes" } else { "No" };
    let when = format!("{word}: run {run} ended {finished}{ago}{took}");
    let mut what = match outcome {
        Outcome::Done => did(receipt),
        Outcome::NoWork => {
            format!("it is not done: nothing was done with {}", unworked.join(", "))
        }
        Outcome::Regression => format!("it halted on a regression: {cause}"),
        Outcome::DiskFull => format!("the disk was full: {cause}"),
        Outcome::Time => format!("its time ended: {cause}"),
        _ => format!("it failed: {cause}"),
    };
    if outcome.has_happened() && !cause.is_empty() {
        what = format!("{what}; {cause}");
    }
    Last { receipt: Some(receipt.clone()), unworked, ..Last::new(outcome, when, what) }
}
