//! A receipt from what is known of a run: the report that it wrote, and the commits that it made.

use std::time::Duration;

use ao_contract::{
    Extra, HistoryLine, Iteration, Receipt, ReceiptCommit, ReceiptEnd, ReceiptInputs, ReceiptOpen,
    ReceiptWork, ReceiptWriter, RunStatus, SchemaVersion, StepName, StepStatus, Summary,
};
use ao_corpus::harvest::SourceForm;
use serde_json::Value;

use crate::council::Council;
use crate::settings::Settings;

const UNCHANGED: &str = "unchanged_since";
/// How the file system says that there is no room; the texts of failures hold it.
const FULL: [&str; 4] = ["No space left", "os error 28", "disk is full", "quota exceeded"];

/// What a run begins with, before it reads anything.
pub(crate) fn began_with(settings: &Settings, council: Option<&Council>) -> ReceiptInputs {
    let is_corpus = |source: &&ao_corpus::harvest::Source| source.form == SourceForm::Corpus;
    ReceiptInputs {
        harvest_sources: settings.harvest.iter().filter(is_corpus).count() as u64,
        queue: settings.queue.as_ref().map_or(0, |queue| queue.items.len() as u64),
        runners: council
            .map(|council| council.seats.iter().map(|seat| seat.slug.clone()).collect())
            .unwrap_or_default(),
        ..ReceiptInputs::default()
    }
}

/// Of a run whose report is written. `bytes` are those of its summary.
pub(crate) fn of_summary(
    summary: &Summary,
    bytes: Option<&[u8]>,
    inputs: ReceiptInputs,
    history: &[HistoryLine],
) -> Receipt {
    let (ended_by, cause) = end(summary);
    let took = ao_contract::parse_duration(&summary.duration).ok().map(milliseconds);
    Receipt {
        schema_version: SchemaVersion,
        number: 0,
        run_id: summary.run_id.clone(),
        began: summary.started_at.clone(),
        finished: summary.finished_at.clone(),
        took_ms: took,
        program: None,
        inputs,
        work: work(summary, history),
        status: summary.status,
        exit: None,
        degraded: summary.degraded.clone().unwrap_or_default(),
        ended_by,
        cause,
        output_dir: summary.output_dir.clone(),
        summary: bytes.map(super::hash),
        files: None,
        written_by: ReceiptWriter::Run,
        unfinished: None,
        amends: None,
        unsealed: None,
        previous: None,
        key: None,
        extra: Extra::new(),
        seal: None,
    }
}

/// Of a run that was cut off, once its report was written in its place.
pub(crate) fn of_cut_off(
    summary: &Summary,
    bytes: Option<&[u8]>,
    inputs: ReceiptInputs,
    history: &[HistoryLine],
) -> Receipt {
    Receipt {
        took_ms: None,
        ended_by: Some(ReceiptEnd::CutOff),
        written_by: ReceiptWriter::NextStart,
        ..of_summary(summary, bytes, inputs, history)
    }
}

/// Of a run that said outside of the repository why it ended.
pub(crate) fn with_cause(receipt: Receipt, cause: Option<String>) -> Receipt {
    match cause {
        Some(cause) => Receipt { ended_by: Some(end_of(&cause)), cause: Some(cause), ..receipt },
        None => receipt,
    }
}

/// Of a run that began and left nothing else.
pub(crate) fn of_lost(open: &ReceiptOpen, history: &[HistoryLine]) -> Receipt {
    let commits = commits(&open.run_id, history);
    let kept = commits.len() as u64;
    Receipt {
        schema_version: SchemaVersion,
        number: 0,
        run_id: open.run_id.clone(),
        began: open.began.clone(),
        finished: open.began.clone(),
        took_ms: None,
        program: None,
        inputs: open.inputs.clone(),
        work: ReceiptWork { kept, commits, ..ReceiptWork::default() },
        status: RunStatus::Failed,
        exit: None,
        degraded: Vec::new(),
        ended_by: Some(ReceiptEnd::CutOff),
        cause: Some("it was cut off, and its summary is not there".into()),
        output_dir: open.output_dir.clone(),
        summary: None,
        files: None,
        written_by: ReceiptWriter::NextStart,
        unfinished: None,
        amends: None,
        unsealed: None,
        previous: None,
        key: None,
        extra: Extra::new(),
        seal: None,
    }
}

/// Takes note of a receipt without a seal: that it is there, and which commits of the history it names. What it says
/// of the run is not repeated.
pub(crate) fn of_unsealed(unsealed: &Receipt, line: String, history: &[HistoryLine]) -> Receipt {
    let commits = commits(&unsealed.run_id, history);
    let kept = commits.len() as u64;
    Receipt {
        schema_version: SchemaVersion,
        number: 0,
        run_id: unsealed.run_id.clone(),
        began: unsealed.began.clone(),
        finished: unsealed.finished.clone(),
        took_ms: None,
        program: None,
        inputs: ReceiptInputs::default(),
        work: ReceiptWork { kept, commits, ..ReceiptWork::default() },
        status: unsealed.status,
        exit: None,
        degraded: Vec::new(),
        ended_by: None,
        cause: Some("its receipt has no seal: nobody vouches for what it said".into()),
        output_dir: unsealed.output_dir.clone(),
        summary: None,
        files: None,
        written_by: ReceiptWriter::NextStart,
        unfinished: None,
        amends: None,
        unsealed: Some(line),
        previous: None,
        key: None,
        extra: Extra::new(),
        seal: None,
    }
}

fn milliseconds(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

/// Why a run failed, by its own words.
pub(super) fn end_of(why: &str) -> ReceiptEnd {
    match why {
        why if FULL.iter().any(|word| why.contains(word)) => ReceiptEnd::DiskFull,
        why if why.starts_with("it was cut off") => ReceiptEnd::CutOff,
        why if why.starts_with("ended by ") => ReceiptEnd::Signal,
        _ => ReceiptEnd::Failure,
    }
}

fn end(summary: &Summary) -> (Option<ReceiptEnd>, Option<String>) {
    let is_out_of_time = summary.budget_exhausted == Some(true);
    if let Some(why) = &summary.failure_reason {
        let end = match end_of(why) {
            ReceiptEnd::Failure if is_out_of_time => ReceiptEnd::Time,
            end => end,
        };
        return (Some(end), Some(why.clone()));
    }
    if let Some(why) = &summary.regression_reason {
        return (Some(ReceiptEnd::Regression), Some(why.clone()));
    }
    if is_out_of_time {
        return (Some(ReceiptEnd::Time), Some("the time ended".into()));
    }
    match &summary.plateau_reason {
        Some(why) => (Some(ReceiptEnd::Plateau), Some(why.clone())),
        None => (None, None),
    }
}

fn number(part: &Extra, key: &str) -> u64 {
    part.get(key).and_then(Value::as_u64).unwrap_or(0)
}

fn work(summary: &Summary, history: &[HistoryLine]) -> ReceiptWork {
    let iterations = summary.iterations.as_deref().unwrap_or_default();
    let is_kept = |one: &&Iteration| {
        one.extra.get("commit").and_then(|commit| commit.get("id")).is_some_and(Value::is_string)
    };
    let kept: Vec<&Iteration> = iterations.iter().filter(is_kept).collect();
    let finished: Vec<&Iteration> =
        iterations.iter().filter(|one| one.status.is_baseline()).collect();
    let sum = |key: &str| kept.iter().map(|one| number(&one.reduce, key)).sum();
    let most = |of: &dyn Fn(&Iteration) -> u64| finished.iter().map(|one| of(one)).max();
    let has_answered = |step: &&ao_contract::Step| {
        matches!(step.name, StepName::CouncilRunner(_)) && step.status == StepStatus::Done
    };
    let since = summary.extra.get(UNCHANGED).and_then(|since| since.get("run_id"));
    ReceiptWork {
        iterations: iterations.len() as u64,
        finished: finished.len() as u64,
        kept: kept.len() as u64,
        edits: sum("edits"),
        merged: sum("deduped"),
        archived: sum("pruned"),
        promoted: sum("promoted"),
        judged: most(&|one| number(&one.ingest, "pending")).unwrap_or(0),
        sources_read: most(&sources_read).unwrap_or(0),
        harvested: kept.iter().map(|one| number(&one.ingest, "harvested")).sum(),
        packets: summary.morning_packets.as_ref().map_or(0, |packets| packets.len() as u64),
        answered: summary.steps.iter().filter(has_answered).count() as u64,
        unchanged_since: since.and_then(Value::as_str).map(str::to_owned),
        commits: commits(&summary.run_id, history),
        extra: Extra::new(),
    }
}

fn sources_read(iteration: &Iteration) -> u64 {
    let sources = iteration.ingest.get("sources").and_then(Value::as_array);
    let is_read = |source: &&Value| source.get("refused").is_none_or(Value::is_null);
    sources.map_or(0, |sources| sources.iter().filter(is_read).count() as u64)
}

/// The run that a commit is of, by its id: `RUN-iter-N`, `RUN-packets` or `RUN-packets-N`.
pub(super) fn run_of(id: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(run) = id.strip_suffix("-packets") {
        return Some(run);
    }
    let (rest, _) = id.rsplit_once('-').filter(|(_, number)| is_number(number))?;
    rest.strip_suffix("-iter").or_else(|| rest.strip_suffix("-packets"))
}

pub(crate) fn commits(run_id: &str, history: &[HistoryLine]) -> Vec<ReceiptCommit> {
    let is_its_own = |line: &&HistoryLine| run_of(&line.id) == Some(run_id);
    let told = |line: &HistoryLine| ReceiptCommit {
        id: line.id.clone(),
        record_hash: line.record_hash.clone(),
        extra: Extra::new(),
    };
    history.iter().filter(is_its_own).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::{ReceiptEnd, Summary, end, run_of};

    #[test]
    fn the_end_of_a_run_is_told_from_its_report() {
        let text = include_str!("../../../ao-contract/tests/samples/summary.v2.json");
        let whole: Summary = serde_json::from_str(text).unwrap();
        let plain = Summary {
            failure_reason: None,
            regression_reason: None,
            plateau_reason: None,
            budget_exhausted: None,
            ..whole
        };
        assert_eq!(end(&plain), (None, None));
        for (why, expected) in [
            ("COMMIT failed: write: No space left on device (os error 28)", ReceiptEnd::DiskFull),
            ("ended by SIGTERM", ReceiptEnd::Signal),
            ("it was cut off: killed, or the machine went down", ReceiptEnd::CutOff),
            ("panicked: no", ReceiptEnd::Failure),
        ] {
            let failed = Summary { failure_reason: Some(why.into()), ..plain.clone() };
            assert_eq!(end(&failed), (Some(expected), Some(why.to_owned())));
        }
        let halted = Summary { regression_reason: Some("fell".into()), ..plain.clone() };
        assert_eq!(end(&halted).0, Some(ReceiptEnd::Regression));
        let late = Summary { budget_exhausted: Some(true), ..plain.clone() };
        assert_eq!(end(&late).0, Some(ReceiptEnd::Time));
        let flat = Summary { plateau_reason: Some("flat".into()), ..plain };
        assert_eq!(end(&flat).0, Some(ReceiptEnd::Plateau));
    }

    #[test]
    fn a_commit_names_its_run() {
        for (id, run) in [
            ("20260415T020000Z-iter-1", Some("20260415T020000Z")),
            ("20260415T020000Z-2-iter-12", Some("20260415T020000Z-2")),
            ("20260415T020000Z-packets", Some("20260415T020000Z")),
            ("20260415T020000Z-packets-2", Some("20260415T020000Z")),
            ("20260415T020000Z-iter-", None),
            ("undo-20260415", None),
            ("mine", None),
        ] {
            assert_eq!(run_of(id), run, "{id}");
        }
    }
}
