//! What a run left that did not live to write its report: its summary, completed by the files that it had written
//! since. The command `report` and the next start both show it from here, so that they say the same.

use std::path::Path;
use std::time::Duration;

use ao_contract::{
    HistoryLine, RunStatus, Step, StepStatus, Summary, WarnOnlyBudget, format_duration,
};
use jiff::Timestamp;

use super::end::{put_iterations, put_rescues, top_delta};
use super::records::{Records, read_records};
use super::rounds::rescues;
use super::step_file::StepFile;
use crate::output::Output;

/// Completes the summary of a run that was cut off, for whoever only reads. `dir` is the folder that the
/// summary lies in; `history` are the commits of its repository, as far as they are known.
pub fn complete_cut_off(
    summary: &mut Summary,
    dir: &Path,
    history: &[HistoryLine],
    budget: Option<&WarnOnlyBudget>,
) {
    let output = Output::of_ended(dir.to_owned());
    let records = read_records(&output, history, &summary.run_id, budget).unwrap_or_else(|error| {
        let why = format!("the records of its iterations cannot be read: {error}");
        Records { unread: vec![why], ..Records::default() }
    });
    let why =
        "the run is gone and left no report of its own: it was killed, or the machine went down";
    complete(summary, &output, records, budget, why.to_owned());
}

pub(super) fn complete(
    summary: &mut Summary,
    output: &Output,
    records: Records,
    budget: Option<&WarnOnlyBudget>,
    why: String,
) {
    if !ao_mutant::active("REP-19/gone-is-still-planned") {
        summary.status = RunStatus::Failed;
    }
    summary.failure_reason = Some(why);
    put_files(summary, output);
    for step in &mut summary.steps {
        not_reached(step, "the run was cut off");
    }
    if !records.unread.is_empty() {
        summary.degraded.get_or_insert_default().extend(records.unread);
    }
    let iterations = records.iterations;
    if let Some(budget) = budget.filter(|_| !ao_mutant::active("RUN-45/rescues-are-not-told")) {
        summary.warn_only_remaining = Some(budget.remaining);
        put_rescues(summary, &rescues(&iterations));
    }
    if let Some(last) = iterations.last() {
        seen_at(summary, &last.finished_at);
        summary.fitness_delta = top_delta(&iterations, None);
        put_iterations(summary, iterations);
    }
    summary.schema_version = summary.expected_version();
    summary.next_action = "Look at the log, then start the night again".into();
    summary.recommended = vec!["ao overnight start".into(), "ao tree log".into()];
}

/// The run lived at this time, which may be later than its summary.
fn seen_at(summary: &mut Summary, at: &str) {
    let moment = |text: &str| text.parse::<Timestamp>().ok();
    let (Some(began), Some(then)) = (moment(&summary.started_at), moment(at)) else { return };
    if moment(&summary.finished_at).is_none_or(|known| known < then) {
        at.clone_into(&mut summary.finished_at);
        let took = Duration::try_from(then.duration_since(began)).unwrap_or_default();
        summary.duration = format_duration(took);
    }
}

/// A step whose file is there is done, although the run did not live to record it.
fn put_files(summary: &mut Summary, output: &Output) {
    let is_pending = |step: &&Step| step.status == StepStatus::Pending;
    let pending: Vec<_> =
        summary.steps.iter().filter(is_pending).map(|step| step.name.clone()).collect();
    for name in pending {
        let Some(file) = StepFile::of(&name).filter(|file| file.is_in(output)) else { continue };
        if ao_mutant::active("RUN-45/files-are-not-looked-for") {
            continue;
        }
        let path = output.told_path(&file.file);
        file.put(summary, &name, path);
        if let Some(step) = summary.steps.iter_mut().find(|step| step.name == name) {
            step.status = StepStatus::Done;
            step.note = Some("its file is there; the run was cut off before it said more".into());
        }
    }
}

/// A step that the run did not come to.
pub(super) fn not_reached(step: &mut Step, why: &str) {
    if step.status == StepStatus::Pending {
        step.status = StepStatus::Skipped;
        step.note = Some(format!("not reached: {why}"));
    }
}
