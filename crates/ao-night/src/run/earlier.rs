//! What an earlier run left in the output directory: it is finished, gone on with, or moved aside.

use std::io;
use std::path::Path;

use ao_contract::{Iteration, RunStatus, Step, StepStatus, Summary};
use ao_tree::{Disk, Door};

use super::end::put_iterations;
use super::{Resume, StartError};
use crate::clock::Clock;
use crate::iteration::{id_of, rebuilt};
use crate::output::{LOG, Output, SUMMARY_JSON, SUMMARY_MARKDOWN};
use crate::report::{self, Run as Life};
use crate::settings::Mode;
use crate::verdict::Verdicts;

#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// The run that is gone on with.
    pub(super) resumed: Option<Summary>,
    pub(super) iterations: Vec<Iteration>,
    pub(super) notes: Vec<String>,
}

/// A dry run holds no lock: what a run that is at work has here is not its to touch.
pub(super) fn leave_alone(output: &Output, state: &Path) -> Result<(), StartError> {
    match output.summary() {
        Some(summary)
            if summary.status == RunStatus::Planned && ao_tree::holder(state).is_some() =>
        {
            Err(StartError::AtWork(summary.run_id))
        }
        _ => Ok(()),
    }
}

/// Sees to what is there. The lock is ours, so a run that is still planned no longer lives.
pub(super) fn see_to(
    output: &Output,
    door: &Door<Disk>,
    resume: Option<&Resume>,
    mode: Mode,
    clock: Clock,
) -> Result<Earlier, StartError> {
    let there = output.summary();
    let mut earlier = Earlier::default();
    if let Some(resume) = resume {
        let summary = resumed(output, there, resume)?;
        let fail = StartError::io("tell what the run before had committed");
        earlier.iterations = finished(output, door, &summary.run_id).map_err(fail)?;
        let count = earlier.iterations.len();
        earlier.notes.push(format!(
            "run {} is gone on with; {count} of its iterations were finished",
            summary.run_id
        ));
        earlier.resumed = Some(summary);
        return Ok(earlier);
    }
    // A dry run that somebody cut off changed nothing.
    if let Some(summary) = there
        && summary.status == RunStatus::Planned
    {
        let id = summary.run_id.clone();
        let fail = StartError::io("write the report of the run before");
        report_cut_off(output, door, summary, clock).map_err(fail)?;
        earlier
            .notes
            .push(format!("run {id} had ended without a report; it was written now, as failed"));
    }
    let fail = StartError::io("move the report of the run before");
    let moved = output.clear().map_err(fail)?;
    if let (Some(folder), Mode::Real) = (moved, mode) {
        earlier.notes.push(format!("the artifacts of the run before are in {folder}/"));
    }
    Ok(earlier)
}

fn resumed(
    output: &Output,
    there: Option<Summary>,
    resume: &Resume,
) -> Result<Summary, StartError> {
    let nothing = |why: String| Err(StartError::NothingToResume(why));
    let summary = match (resume, there) {
        (Resume::Run(id), there) if there.as_ref().is_none_or(|there| there.run_id != *id) => {
            let Some(_) = output.summary_in(id) else {
                return nothing(format!("there is no run {id} in the output directory"));
            };
            return nothing(format!(
                "another run came after {id}: only the last one is gone on with"
            ));
        }
        (_, Some(summary)) => summary,
        (_, None) => return nothing("there is no run to go on with".into()),
    };
    match summary.status {
        RunStatus::Planned | RunStatus::Failed => Ok(summary),
        RunStatus::Done | RunStatus::DryRun => {
            nothing(format!("run {} was finished", summary.run_id))
        }
    }
}

/// The iterations of a run, and those too that were committed but not told of: between the two it
/// may have been cut off.
fn finished(output: &Output, door: &Door<Disk>, run_id: &str) -> io::Result<Vec<Iteration>> {
    let mut iterations = output.iterations(run_id);
    let history = door.history().map_err(io::Error::other)?;
    for index in (1..).skip(iterations.len()) {
        let id = id_of(run_id, index);
        let is_of = |commit: &str| {
            commit.strip_prefix(&id).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        let Some(line) = history.iter().find(|line| is_of(&line.id)) else { break };
        let iteration = rebuilt(&id, index, &door.record(&line.id).map_err(io::Error::other)?);
        output.write_json(&Output::iteration(run_id, index), &iteration)?;
        iterations.push(iteration);
    }
    Ok(iterations)
}

/// Writes the report that a run did not live to write.
fn report_cut_off(
    output: &Output,
    door: &Door<Disk>,
    mut summary: Summary,
    clock: Clock,
) -> io::Result<()> {
    let iterations = finished(output, door, &summary.run_id)?;
    let last = iterations.last().map(|iteration| iteration.finished_at.clone());
    if let Some(last) = last {
        summary.finished_at = last;
    }
    summary.status = RunStatus::Failed;
    summary.failure_reason = Some(format!(
        "it was cut off: killed, or the machine went down; found by the run that began at {}",
        clock.rfc3339()
    ));
    for step in &mut summary.steps {
        not_reached(step, "the run was cut off");
    }
    put_iterations(&mut summary, iterations);
    summary.schema_version = summary.expected_version();
    summary.next_action = "Look at the log, then start the night again".into();
    summary.recommended = vec!["ao overnight start".into(), "ao tree log".into()];
    // The report names the log, and a run may be cut off before its first line.
    let line = format!("{} run {} had been cut off", clock.rfc3339(), summary.run_id);
    ao_tree::append_line(&output.path(LOG), &line)?;
    output.write_json(SUMMARY_JSON, &summary)?;
    let text = report::markdown(&summary, &Verdicts::new(), Life::Over);
    output.write(SUMMARY_MARKDOWN, text.as_bytes())?;
    Ok(())
}

/// A step that the run did not come to.
pub(super) fn not_reached(step: &mut Step, why: &str) {
    if step.status == StepStatus::Pending {
        step.status = StepStatus::Skipped;
        step.note = Some(format!("not reached: {why}"));
    }
}
