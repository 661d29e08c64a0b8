//! The record of an iteration: what was taken in, changed and measured, and how it ended.

use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::time::Duration;

use ao_contract::{
    ChangeOp, ChangeStatus, Defrag, DefragPattern, Extra, Finite, Harvested, Iteration,
    IterationStatus, PatternChange, PendingVerdict, TakenLesson, TranscriptSource, format_duration,
};
use ao_corpus::certificate::SOURCE_PREFIX;
use ao_corpus::fitness::regressions;
use ao_corpus::transcripts::Taking;
use ao_tree::{Action, Edit, Outcome};
use jiff::civil::Date;
use serde_json::{Value, json};

use super::Proposal;

/// So many changes are listed; the record of the commit has all of them.
const LISTED_MAX: usize = 2000;

/// Where learnings stand.
const LEARNINGS: &str = "learnings/";

/// Why a rescue was spent on an iteration.
pub(crate) const RESCUE: &str = "rescue";

/// When an iteration ran.
#[derive(Debug, Clone)]
pub(crate) struct Timed {
    pub(crate) run_id: String,
    pub(crate) index: u32,
    pub(crate) started_at: String,
    pub(crate) finished_at: String,
    pub(crate) took: Duration,
    /// The day of the run.
    pub(crate) day: Date,
}

/// How an iteration ended.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    pub(crate) status: IterationStatus,
    pub(crate) committed: Option<bool>,
    /// Why it failed, was rolled back or halted.
    pub(crate) error: Option<String>,
    pub(crate) degraded: Vec<String>,
    /// Why a rescue was spent on it.
    pub(crate) rescue: Option<String>,
    /// What is worth knowing and no failure.
    pub(crate) notes: Vec<String>,
}

impl Ending {
    pub(crate) fn new(status: IterationStatus) -> Self {
        Self {
            status,
            committed: None,
            error: None,
            degraded: Vec::new(),
            rescue: None,
            notes: Vec::new(),
        }
    }

    pub(crate) fn because(mut self, why: impl Into<String>) -> Self {
        self.error = Some(why.into());
        self
    }
}

pub(crate) fn id_of(run_id: &str, index: u32) -> String {
    format!("{run_id}-iter-{index}")
}

pub(crate) fn record(
    timed: &Timed,
    proposal: Option<&Proposal>,
    outcome: Option<&Outcome>,
    ending: Ending,
) -> Iteration {
    let mut iteration = Iteration {
        id: id_of(&timed.run_id, timed.index),
        index: NonZeroU32::new(timed.index).unwrap_or(NonZeroU32::MIN),
        started_at: timed.started_at.clone(),
        finished_at: if ao_mutant::active("REP-17/time-with-an-offset") {
            timed.finished_at.replace('Z', "+00:00")
        } else {
            timed.finished_at.clone()
        },
        duration: format_duration(in_milliseconds(timed.took)),
        day: Some(timed.day.to_string()),
        status: ending.status,
        ingest: Extra::new(),
        reduce: Extra::new(),
        measure: Extra::new(),
        fitness_before: ao_contract::Fitness::default(),
        fitness_after: ao_contract::Fitness::default(),
        fitness_delta: Finite::default(),
        degraded: ending.degraded,
        committed: ending.committed,
        error: ending.error.filter(|_| !ao_mutant::active("REP-12/error-is-lost")),
        extra: Extra::new(),
    };
    if !ending.notes.is_empty() {
        iteration.extra.insert("notes".into(), json!(ending.notes));
    }
    if let Some(reason) = ending.rescue {
        iteration.extra.insert(RESCUE.into(), reason.into());
    }
    if let Some(proposal) = proposal {
        fill(&mut iteration, proposal, outcome);
    }
    // What the door kept from being made is told too; without a commit there is none to name.
    let made = outcome.map_or(Value::Null, commit);
    iteration.extra.insert("commit".into(), made);
    iteration
}

/// A draft that claimed more for itself than a draft has.
fn lowered(taken: &Harvested) -> Option<Value> {
    let claimed = taken.unkept.join(", ");
    let why = format!("it is a draft, so this of its header does not count: {claimed}");
    (!taken.unkept.is_empty()).then(|| json!({ "path": taken.path, "why": why }))
}

/// A list, if there is anything in it, and how long it was.
fn tell(record: &mut Extra, key: &str, mut told: Vec<Value>) {
    if told.is_empty() {
        return;
    }
    if told.len() > LISTED_MAX {
        record.insert(format!("{key}_in_all"), told.len().into());
        told.truncate(LISTED_MAX);
    }
    record.insert(key.to_owned(), told.into());
}

fn fill(iteration: &mut Iteration, proposal: &Proposal, outcome: Option<&Outcome>) {
    let is_made = outcome.is_some_and(|outcome| outcome.method.is_some());
    let status = if is_made { ChangeStatus::Committed } else { ChangeStatus::NothingChanged };
    let id = is_made.then(|| iteration.id.clone());
    let closing = proposal.closing.report(status, id.clone());
    let harvest = proposal.ingested.report(status, id);
    let taken = harvest.as_ref().map_or(&[][..], |harvest| &harvest.harvested);
    let harvested = taken.len();
    // What waits for a person is no learning yet.
    let is_learning = |one: &&Harvested| one.path.starts_with(LEARNINGS);
    let learned = taken.iter().filter(is_learning).count();
    let poisoned = harvest.iter().flat_map(|all| &all.poisoned).map(|one| json!(one)).collect();
    let lowered: Vec<Value> =
        harvest.iter().flat_map(|all| &all.harvested).filter_map(lowered).collect();
    iteration.ingest = object(json!({
        "pending": closing.pending.len(),
        "harvested": harvested,
        "sources": harvest.map(|harvest| harvest.sources),
        "learnings_added": closing.promoted + learned as u64,
    }));
    if let Some(taking) = proposal.ingested.taking() {
        iteration.ingest.extend(lessons(taking, &closing.pending));
    }
    let unfit = proposal.ingested.unfit().iter().map(|left| json!(left)).collect();
    for (key, told) in [("refused", unfit), ("lowered", lowered), ("poisoned", poisoned)] {
        tell(&mut iteration.ingest, key, told);
    }
    iteration.reduce = reduced(&proposal.plan.report, &closing, proposal.edits());
    let Some((before, after)) = &proposal.measured else { return };
    iteration.fitness_before = before.fitness.map();
    iteration.fitness_after = after.fitness.map();
    let is_back = ao_mutant::active("REP-12/delta-is-turned-round");
    let (from, to) = if is_back { (after, before) } else { (before, after) };
    let delta = to.fitness.composite - from.fitness.composite;
    iteration.fitness_delta = Finite::new(rounded(delta)).unwrap_or_default();
    let score = |bench: &Result<ao_contract::RetrievalBench, String>| match bench {
        Ok(bench) => json!({ "ndcg_at_10": bench.ndcg_at_10, "queries": bench.queries }),
        Err(why) => json!({ "absent": why }),
    };
    let fell = regressions(&before.fitness, &after.fitness);
    let fell = fell
        .iter()
        .map(|fell| json!({ "metric": fell.metric, "drop": fell.drop, "floor": fell.floor }));
    iteration.measure = object(json!({
        "entries_before": before.fitness.entries,
        "entries_after": after.fitness.entries,
        "retrieval_before": score(&before.bench),
        "retrieval_after": score(&after.bench),
        "absent": after.fitness.absent,
        "regressions": fell.collect::<Vec<_>>(),
    }));
}

/// What the transcripts gave, and where it is. Where there are none, nothing is said of them.
fn lessons(taking: &Taking, judged: &[PendingVerdict]) -> Extra {
    if taking.sources().is_empty() {
        return Extra::new();
    }
    let taken: Vec<Value> = taking.taken().iter().map(|taken| lesson(taken, judged)).collect();
    let mut told = object(json!({
        "transcripts": taking.sources().iter().map(transcripts).collect::<Vec<_>>(),
        "lessons_waiting": taking.waiting(),
    }));
    told.insert("lessons".into(), taken.into());
    let skipped = taking.skipped().iter().map(|left| json!(left)).collect();
    tell(&mut told, "lessons_left", skipped);
    told
}

/// What there is of one maker, and in a few words.
fn transcripts(source: &TranscriptSource) -> Value {
    let mut note = format!(
        "{} of {} are of this repository, {} read, {} lessons",
        source.own, source.files, source.read, source.lessons
    );
    for (count, what) in [
        (source.secret, "dropped for a secret"),
        (source.bad_lines, "unreadable lines"),
        (source.left.len() as u64, "left alone"),
    ] {
        if count > 0 {
            let _ = write!(note, ", {count} {what}");
        }
    }
    let mut told = json!(source);
    told["name"] = source.maker.name().into();
    told["note"] = note.into();
    told
}

fn lesson(taken: &TakenLesson, judged: &[PendingVerdict]) -> Value {
    let lesson = &taken.lesson;
    // One that was promoted at once was never pending on disk.
    let promoted = judged.iter().find(|one| one.path == taken.path);
    let path = promoted.and_then(|one| one.promoted_to.as_ref()).unwrap_or(&taken.path);
    json!({
        "path": path, "title": lesson.title, "kind": lesson.kind, "trust": lesson.trust,
        "why": format!("{} at {}", lesson.kind.name(), lesson.place()),
    })
}

/// Nobody reads a time more closely.
pub(crate) fn in_milliseconds(took: Duration) -> Duration {
    Duration::from_millis(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}

/// To the same number of digits as the metrics.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn reduced(defrag: &Defrag, closing: &ao_contract::CloseLoop, edits: &[Edit]) -> Extra {
    let merged: usize = defrag.merges.iter().map(|merge| merge.members.len()).sum();
    let is_new = |pattern: &&DefragPattern| pattern.change == PatternChange::Compiled;
    let compiled = defrag.patterns.iter().filter(is_new).count();
    let changes: Vec<Value> = edits.iter().take(LISTED_MAX).map(change).collect();
    object(json!({
        "deduped": merged,
        "merges": defrag.merges.len(),
        "pruned": defrag.prunes.len(),
        "compiled": (compiled > 0).then_some(compiled),
        "patterns": (!defrag.patterns.is_empty()).then_some(&defrag.patterns),
        "promoted": closing.promoted,
        "known": closing.known,
        "kept_pending": closing.kept,
        "waiting_for_a_person": closing.waiting,
        "rewards": closing.rewards,
        "left_alone": defrag.kept.len(),
        "for_review": defrag.review.len(),
        "oscillating": defrag.oscillations.len(),
        "edits": edits.len(),
        "changes": changes,
        "changes_left_out": edits.len().saturating_sub(LISTED_MAX),
    }))
}

fn change(edit: &Edit) -> Value {
    let op = if matches!(edit.action, Action::Delete) { "delete" } else { "write" };
    // Certificates are with the commit: `ao defrag --explain` shows them.
    let sources = edit.sources.iter().filter(|source| !source.starts_with(SOURCE_PREFIX));
    let sources: Vec<&String> =
        sources.filter(|_| !ao_mutant::active("LOOP-27/sources-are-unsaid")).collect();
    json!({ "path": edit.path, "op": op, "reason": edit.reason, "sources": sources })
}

fn commit(outcome: &Outcome) -> Value {
    let count = |op: ChangeOp| outcome.changes.iter().filter(|change| change.op == op).count();
    let is_said = !ao_mutant::active("LOOP-07/conflict-is-unsaid");
    let conflicts = if is_said { &outcome.conflicts[..] } else { &[] };
    json!({
        "id": outcome.method.map(|_| &outcome.id),
        "added": count(ChangeOp::Add),
        "changed": count(ChangeOp::Change),
        "deleted": count(ChangeOp::Delete),
        "carried": outcome.carried,
        "conflicts": conflicts,
        "refused": outcome.refused.iter().map(|refused| {
            json!({ "path": refused.path, "why": refused.why })
        }).collect::<Vec<_>>(),
        "untidy": outcome.untidy,
    })
}

fn object(value: Value) -> Extra {
    match value {
        Value::Object(map) => map.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Extra::new(),
    }
}
