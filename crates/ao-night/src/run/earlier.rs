//! What an earlier run left in the output directory: it is finished, gone on with, or moved aside.

use std::path::Path;

use ao_contract::{Iteration, RunNow, RunStatus, Summary, WarnOnlyBudget};
use ao_tree::{Disk, Door, own_file};
use serde_json::Value;

use super::left::complete;
use super::records::read_back;
use super::{Resume, StartError};
use crate::clock::Clock;
use crate::output::{Output, SUMMARY_JSON, SUMMARY_MARKDOWN};
use crate::progress::STATUS;
use crate::receipts::Receipts;
use crate::report::{self, Run as Life};
use crate::settings::Mode;
use crate::verdict::Verdicts;

/// A larger word of progress is none.
const STATUS_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// The run that is gone on with.
    pub(super) resumed: Option<Summary>,
    pub(super) iterations: Vec<Iteration>,
    pub(super) stored_bytes: u64,
    pub(super) notes: Vec<String>,
    /// The runs whose report was written in their place, and where.
    pub(super) reported: Vec<(Output, String)>,
}

/// Where an earlier run may have left something.
pub(super) struct Places<'a> {
    pub(super) output: &'a Output,
    pub(super) door: &'a Door<Disk>,
    pub(super) state: &'a Path,
    pub(super) budget: &'a WarnOnlyBudget,
    pub(super) root: &'a Path,
    pub(super) receipts: &'a Receipts,
    pub(super) program: Option<&'a str>,
}

/// Sees to what is there. The folder is ours alone, so a run that is still planned no longer lives.
pub(super) fn see_to(
    places: &Places<'_>,
    resume: Option<&Resume>,
    mode: Mode,
    clock: Clock,
) -> Result<Earlier, StartError> {
    let output = places.output;
    let mut earlier = Earlier::default();
    if mode == Mode::Real
        && let Some((elsewhere, summary)) = left_elsewhere(places)
    {
        earlier.report(&elsewhere, summary, places, clock)?;
    }
    let there = output.summary();
    if mode == Mode::Real {
        sweep(places, there.as_ref());
    }
    if let Some(resume) = resume {
        let summary = resumed(output, there, resume)?;
        let fail = StartError::io("read the iterations of the run");
        let records =
            read_back(output, places.door, &summary.run_id, places.budget).map_err(fail)?;
        let unread = records.unread.into_iter().next();
        if let Some(unread) = unread.filter(|_| !ao_mutant::active("LOOP-14/unknown-is-left-out")) {
            return Err(StartError::Record(unread));
        }
        let count = records.iterations.len();
        earlier.notes.push(format!(
            "run {} is gone on with; {count} of its iterations were finished",
            summary.run_id
        ));
        earlier.notes.extend(records.notes);
        earlier.iterations = records.iterations;
        if ao_mutant::active("RUN-41/iterations-run-again") {
            earlier.iterations.clear();
        }
        if !ao_mutant::active("LOOP-18/resumed-counts-anew") {
            earlier.stored_bytes = records.stored_bytes;
        }
        earlier.receipt(places, Some(&summary.run_id), clock);
        earlier.resumed = Some(summary);
        return Ok(earlier);
    }
    if let Some(summary) = there
        && summary.status == RunStatus::Planned
        && !ao_mutant::active("RUN-41/no-report-of-the-run-before")
    {
        earlier.report(output, summary, places, clock)?;
    }
    // Before it is told with the paths of another place.
    earlier.receipt(places, None, clock);
    let fail = StartError::io("move the report of the run before");
    let moved = output.clear().map_err(fail)?;
    if let (Some(folder), Mode::Real) = (moved, mode) {
        earlier.notes.push(format!("the artifacts of the run before are in {folder}/"));
    }
    Ok(earlier)
}

impl Earlier {
    fn report(
        &mut self,
        output: &Output,
        summary: Summary,
        places: &Places<'_>,
        clock: Clock,
    ) -> Result<(), StartError> {
        let id = summary.run_id.clone();
        let fail = StartError::io("write the report of the run before");
        let notes = report_cut_off(output, summary, places, clock).map_err(fail)?;
        self.notes
            .push(format!("run {id} had ended without a report; it was written now, as failed"));
        self.notes.extend(notes);
        self.reported.push((Output::of_ended(output.dir.clone()), id));
        Ok(())
    }
}

/// What a run left that was killed in the middle of a file. Should it fail, it is in nobody's way.
fn sweep(places: &Places<'_>, before: Option<&Summary>) {
    let mut folders = vec![places.output.dir.clone()];
    if let Some(before) = before {
        folders.extend(places.output.artifacts(&before.run_id));
        folders.push(places.output.iterations(&before.run_id));
    }
    let agents = places.root.join(".agents");
    folders.extend(["ao", "ao/index"].map(|name| agents.join(name)));
    folders.extend(["", "docs", "cassettes"].map(|name| places.state.join(name)));
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let _ = ao_tree::sweep(folder);
    }
}

/// The unfinished run of another folder: the word of progress that it left says where.
fn left_elsewhere(places: &Places<'_>) -> Option<(Output, Summary)> {
    let bytes = own_file::read(&places.state.join(STATUS), STATUS_BYTES_MAX).ok()?;
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    let left: RunNow = ao_contract::read(&value).ok()?;
    let output = Output::of_ended(left.output_dir.into());
    let summary = output.summary().filter(|summary| {
        summary.status == RunStatus::Planned && summary.run_id == left.run_id && !summary.dry_run
    })?;
    (output.dir != places.output.dir).then_some((output, summary))
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
        (_, None) if output.path(SUMMARY_JSON).symlink_metadata().is_ok() => {
            return nothing("the summary of the last run cannot be read".into());
        }
        (_, None) => return nothing("there is no run to go on with".into()),
    };
    match summary.status {
        _ if summary.dry_run => nothing(format!("run {} was a dry run", summary.run_id)),
        RunStatus::Planned | RunStatus::Failed => Ok(summary),
        RunStatus::Done | RunStatus::DryRun => {
            nothing(format!("run {} was finished", summary.run_id))
        }
    }
}

/// Writes the report that a run did not live to write; gives what was found on the way.
fn report_cut_off(
    output: &Output,
    mut summary: Summary,
    places: &Places<'_>,
    clock: Clock,
) -> std::io::Result<Vec<String>> {
    let mut records = read_back(output, places.door, &summary.run_id, places.budget)?;
    let notes = std::mem::take(&mut records.notes);
    let why = format!(
        "it was cut off: killed, or the machine went down; found by the run that began at {}",
        clock.rfc3339()
    );
    complete(&mut summary, output, records, Some(places.budget), why);
    // The report names the log, and a run may be cut off before its first line.
    let line = format!("{} run {} had been cut off", clock.rfc3339(), summary.run_id);
    output.log(&line)?;
    output.write_json(SUMMARY_JSON, &summary)?;
    let text = report::markdown(&summary, &Verdicts::new(), Life::Over);
    output.write(SUMMARY_MARKDOWN, text.as_bytes())?;
    Ok(notes)
}
