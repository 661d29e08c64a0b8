//! What the next night would do: its first iteration is thought out by the very code of the night, and nothing
//! is written, locked or asked.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ao_contract::{ChangeStatus, CloseLoop, Defrag, Harvest, Receipt, RunStatus, Settled, Signals};
use ao_tree::{Disk, Door, Edit};

use crate::clock::Clock;
use crate::council::Council;
use crate::iteration::{Began, HARVESTED_MAX, Proposal, Work, propose};
use crate::judge::{Verdict, judge};
use crate::outside::Outside;
use crate::progress::Progress;
use crate::receipts::{self, Custody, Sealed, began_with};
use crate::settings::{Extent, Mode, Settings};
use crate::settled::{Key, Print, holding};

/// So many nights are looked at for how long one takes.
const NIGHTS: usize = 9;
/// A corpus is similar if it has no more than so many times the entries of another.
const SIMILAR: u64 = 2;

/// Everything that a plan needs. Whoever asks for it holds a reader's lock.
#[derive(Debug)]
pub struct Evening<'a> {
    pub settings: Settings,
    pub door: Door<Disk>,
    /// The repository, with no symlink on the way.
    pub root: PathBuf,
    pub clock: Clock,
    pub council: Option<&'a Council>,
    pub program: Option<String>,
    pub custody: Option<&'a Custody>,
}

/// What there is to work on; `None` where nothing would be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    pub entries: Option<u64>,
    pub pending: Option<u64>,
    pub harvest_sources: u64,
    pub harvest_entries: Option<u64>,
    pub drafts: Option<u64>,
    /// Transcripts of this repository.
    pub transcripts: Option<u64>,
    pub queue: u64,
}

/// What would become of the first iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// There is nothing to do.
    Nothing,
    Committed,
    /// Committed, and a rescue is spent on it.
    Rescued(String),
    Halted(String),
}

/// How long it should take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The median.
    pub took: Duration,
    /// Of so many nights.
    pub nights: usize,
}

/// What tonight would do.
#[derive(Debug)]
pub struct Tonight {
    /// What comes after the loop, by name.
    pub steps: Vec<String>,
    pub counts: Counts,
    /// The run since which nothing changed: then nothing is read.
    pub unchanged_since: Option<String>,
    /// The edits of the first iteration.
    pub edits: Vec<Edit>,
    pub fate: Fate,
    /// Where they come from.
    pub defrag: Option<Defrag>,
    pub closing: Option<CloseLoop>,
    pub harvest: Option<Harvest>,
    pub signals: Option<Signals>,
    /// Whether more waits to be harvested than one iteration takes.
    pub has_more: bool,
    pub estimate: Option<Estimate>,
}

/// Thinks tonight out. The error says which stage would fail, and why.
pub fn tonight(evening: Evening<'_>) -> Result<Tonight, String> {
    let Evening { mut settings, door, root, clock, council, program, custody } = evening;
    settings.mode = Mode::DryRun;
    let agents = root.join(".agents");
    let state = agents.join("overnight");
    let inputs = began_with(&settings, council);
    let steps = crate::run::step_names(&settings, council);
    let past = past(&state, custody);
    let head = custody.and_then(|custody| custody.head().ok().flatten());
    // A night after one that was cut off reads everything.
    let is_cut_off = head.is_some_and(|head| !head.open.is_empty());
    let is_whole = is_cut_off || council.is_some() || settings.extent == Extent::Everything;
    let kept = if is_whole { None } else { kept(&settings, &root, program.as_deref(), clock) };
    let mut counts = Counts {
        harvest_sources: inputs.harvest_sources,
        queue: inputs.queue,
        ..Counts::default()
    };
    let mut told = Tonight {
        steps,
        counts: counts.clone(),
        unchanged_since: None,
        edits: Vec::new(),
        fate: Fate::Nothing,
        defrag: None,
        closing: None,
        harvest: None,
        signals: None,
        has_more: false,
        estimate: None,
    };
    if let Some(kept) = kept {
        let run = past.iter().rev().find(|receipt| receipt.run_id == kept.run_id);
        counts.entries = run.and_then(|run| run.inputs.entries);
        counts.pending = Some(kept.close_loop.pending.len() as u64);
        told.estimate = estimate(&past, &|receipt| receipt.work.unchanged_since.is_some());
        told.unchanged_since = Some(kept.run_id);
        return Ok(Tonight { counts, ..told });
    }
    let rescues = crate::budget::read(&state)?.remaining;
    let outside = Arc::new(Outside::unkept(clock));
    let progress = Progress::new("", &state, settings.run_timeout, (clock, Arc::clone(&outside)));
    let work = Work::new((door, root, agents), settings, (clock, outside, progress));
    let proposal = propose(&work)
        .map_err(|failed| format!("{} would fail: {}", failed.stage.name(), failed.why))?;
    if let Some(Began { entries, pending, harvest_entries, drafts, transcripts, .. }) =
        work.began.get()
    {
        counts.entries = Some(*entries);
        counts.pending = Some(*pending);
        counts.harvest_entries = Some(*harvest_entries);
        counts.drafts = Some(*drafts);
        counts.transcripts = work.settings.transcripts.as_ref().map(|_| *transcripts);
    }
    let entries = counts.entries.unwrap_or(0);
    let is_similar = |receipt: &Receipt| {
        let then = receipt.inputs.entries.unwrap_or(0);
        let is_near =
            then <= entries.saturating_mul(SIMILAR) && entries <= then.saturating_mul(SIMILAR);
        let is_asked = receipt.inputs.runners.is_empty() == inputs.runners.is_empty();
        receipt.work.unchanged_since.is_none() && is_near && is_asked
    };
    told.estimate = estimate(&past, &is_similar);
    told.fate = fate(&proposal, &work.settings, rescues);
    let status = ChangeStatus::NothingChanged;
    told.harvest = proposal.ingested.report(status, None);
    told.signals = proposal.ingested.taking().map(|taking| taking.report(status, None));
    told.has_more =
        told.harvest.as_ref().is_some_and(|harvest| harvest.harvested.len() >= HARVESTED_MAX);
    told.closing = Some(proposal.closing.report(status, None));
    told.edits = proposal.edits().to_vec();
    told.defrag = Some(proposal.plan.report);
    Ok(Tonight { counts, ..told })
}

/// What the last night that had nothing to do found out, if it still holds.
fn kept(
    settings: &Settings,
    root: &std::path::Path,
    program: Option<&str>,
    clock: Clock,
) -> Option<Settled> {
    let key = Key::of(program, root, settings)?;
    let agents = root.join(".agents");
    let print = Print::take(&agents).ok()?;
    holding(&agents.join("overnight"), &key, &print, clock)
}

fn fate(proposal: &Proposal, settings: &Settings, rescues: u32) -> Fate {
    let Some((before, after)) = &proposal.measured else { return Fate::Nothing };
    let delta = after.fitness.composite - before.fitness.composite;
    let (epsilon, window) = (settings.plateau_epsilon, settings.plateau_window);
    let measured = (&before.fitness, &after.fitness);
    match judge(measured, &[delta], (epsilon, window), settings.gate, rescues) {
        Verdict::Commit => Fate::Committed,
        Verdict::Rescue(doubt) => Fate::Rescued(doubt.reason(epsilon)),
        Verdict::Halt(doubt) => Fate::Halted(doubt.reason(epsilon)),
    }
}

/// The receipts that there are, oldest first. They only say how long a night takes: whether they hold is for a
/// verification to say.
fn past(state: &std::path::Path, custody: Option<&Custody>) -> Vec<Receipt> {
    let bytes = receipts::read(state).ok().flatten().unwrap_or_default();
    let lines = receipts::lines(&bytes, custody).lines.into_iter();
    lines.filter(|line| line.sealed != Sealed::Wrong).filter_map(|line| line.receipt.ok()).collect()
}

fn estimate(past: &[Receipt], is_similar: &dyn Fn(&Receipt) -> bool) -> Option<Estimate> {
    let whole = past.iter().rev().filter(|one| one.status == RunStatus::Done && is_similar(one));
    let mut took: Vec<u64> = whole.filter_map(|one| one.took_ms).take(NIGHTS).collect();
    took.sort_unstable();
    let median = *took.get(took.len() / 2)?;
    Some(Estimate { took: Duration::from_millis(median), nights: took.len() })
}
