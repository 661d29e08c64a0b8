//! The records of iterations that an earlier process left on disk.
//!
//! The history of commits is the stronger witness: an iteration that it knows and that has no record
//! was cut off in the instant after its commit, and gets its record from there.

use std::collections::BTreeMap;
use std::io;
use std::num::NonZeroU32;
use std::path::Path;

use ao_contract::{Extra, Finite, HistoryLine, Iteration, IterationStatus, WarnOnlyBudget};
use ao_tree::{Disk, Door, own_file, shown};
use serde_json::{Value, json};

use crate::iteration::RESCUE;
use crate::output::Output;

/// A larger record is none.
const RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Records {
    /// By their index.
    pub(super) iterations: Vec<Iteration>,
    /// Those of them that only the history of commits knows of.
    pub(super) lost: Vec<NonZeroU32>,
    /// Files that should be records and cannot be read, each with why.
    pub(super) unread: Vec<String>,
    /// What was put right or is worth knowing.
    pub(super) notes: Vec<String>,
    /// What the commits of the run have stored.
    pub(super) stored_bytes: u64,
}

/// Reads back what a run did, and completes it on disk.
pub(super) fn read_back(
    output: &Output,
    door: &Door<Disk>,
    run_id: &str,
    budget: &WarnOnlyBudget,
) -> io::Result<Records> {
    // A history that cannot be read is named by the commit that needs it.
    let history = door.history().unwrap_or_default();
    let mut records = read_records(output, &history, run_id, Some(budget))?;
    for iteration in records.iterations.iter().filter(|one| records.lost.contains(&one.index)) {
        output.write_json(&Output::iteration(run_id, iteration.index.get()), iteration)?;
        records.notes.push(format!(
            "iteration {} had been committed and left no record; the history of commits gave it one",
            iteration.index
        ));
    }
    records.flag(output, run_id)?;
    Ok(records)
}

/// Only a look: nothing is written.
pub(super) fn read_records(
    output: &Output,
    history: &[HistoryLine],
    run_id: &str,
    budget: Option<&WarnOnlyBudget>,
) -> io::Result<Records> {
    let mut records = Records::default();
    // It comes from a file, and names one.
    if let Err(error) = ao_contract::check_id(run_id) {
        records.unread.push(format!("the id of the run: {error}"));
        return Ok(records);
    }
    let folder = output.iterations(run_id);
    let mut found: BTreeMap<u32, Result<Iteration, String>> = BTreeMap::new();
    let is_read = !ao_mutant::active("LOOP-13/only-commits-are-read-back");
    for index in indexes(&folder)?.into_iter().filter(|_| is_read) {
        let path = folder.join(format!("iter-{index}.json"));
        let told = |why: String| format!("{}: {why}", shown(&path.to_string_lossy()));
        found.insert(index, read(&path, index).map_err(told));
    }
    let prefix = format!("{run_id}-iter-");
    let rescue_of = |id: &str| {
        let last = budget.and_then(|budget| budget.last_rescue.as_ref());
        last.filter(|last| last.iteration_id == id).map(|last| last.reason.clone())
    };
    let history = if ao_mutant::active("RUN-45/lost-records-stay-lost") { &[] } else { history };
    for line in history {
        if !line.id.starts_with(&format!("{run_id}-")) {
            continue;
        }
        records.stored_bytes = records.stored_bytes.saturating_add(line.stored_bytes);
        let index = line.id.strip_prefix(&prefix).and_then(|index| index.parse().ok());
        let Some(index) = index.filter(|index| !found.contains_key(index)) else { continue };
        let Some(iteration) = of_history(line, index, rescue_of(&line.id)) else { continue };
        records.lost.push(iteration.index);
        found.insert(index, Ok(iteration));
    }
    for one in found.into_values() {
        match one {
            Ok(iteration) => records.iterations.push(iteration),
            Err(why) => records.unread.push(why),
        }
    }
    Ok(records)
}

impl Records {
    /// An iteration of an older history that was committed and then found to have regressed has a
    /// companion that is seen in a listing.
    fn flag(&mut self, output: &Output, run_id: &str) -> io::Result<()> {
        let is_flagged = |one: &&Iteration| {
            one.status == IterationStatus::HaltedOnRegressionPostCommit
                && !ao_mutant::active("LOOP-16/no-companion")
        };
        for iteration in self.iterations.iter().filter(is_flagged) {
            let name = Output::flag(run_id, iteration.index.get());
            if output.path(&name).symlink_metadata().is_err() {
                output.write(&name, format!("{}\n", iteration.id).as_bytes())?;
            }
            self.notes.push(format!(
                "iteration {} was committed and then found to have regressed; {name} marks it",
                iteration.index
            ));
        }
        Ok(())
    }
}

fn indexes(folder: &Path) -> io::Result<Vec<u32>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut indexes = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let index = name.to_str().and_then(|name| name.strip_prefix("iter-"));
        let index = index.and_then(|name| name.strip_suffix(".json"));
        indexes.extend(index.and_then(|index| index.parse::<u32>().ok()));
    }
    Ok(indexes)
}

fn read(path: &Path, index: u32) -> Result<Iteration, String> {
    let bytes = own_file::read(path, RECORD_BYTES_MAX).map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let iteration: Iteration = ao_contract::read(&value).map_err(|error| error.to_string())?;
    if iteration.index.get() == index {
        Ok(iteration)
    } else {
        Err(format!("says that it is iteration {}", iteration.index))
    }
}

/// A commit as the history tells it.
pub(super) fn commit_of(line: &HistoryLine) -> Value {
    json!({
        "id": line.id,
        "added": line.added,
        "changed": line.changed,
        "deleted": line.deleted,
        "show": format!("ao tree show {}", line.id),
        "diff": format!("ao tree diff {}", line.id),
        "undo": format!("ao tree undo {}", line.id),
    })
}

fn of_history(line: &HistoryLine, index: u32, rescue: Option<String>) -> Option<Iteration> {
    let mut extra = Extra::new();
    let note =
        "its record was lost when the run was cut off; this is what the history of commits says";
    extra.insert("notes".into(), json!([note]));
    extra.insert("commit".into(), commit_of(line));
    if let Some(reason) = rescue {
        extra.insert(RESCUE.into(), reason.into());
    }
    let mut reduce = Extra::new();
    reduce.insert("edits".into(), json!(line.added + line.changed + line.deleted));
    Some(Iteration {
        id: line.id.clone(),
        index: NonZeroU32::new(index)?,
        started_at: line.at.clone(),
        finished_at: line.at.clone(),
        duration: "unknown".into(),
        day: None,
        status: IterationStatus::Done,
        ingest: Extra::new(),
        reduce,
        measure: Extra::new(),
        fitness_before: ao_contract::Fitness::default(),
        fitness_after: line.fitness.clone().unwrap_or_default(),
        fitness_delta: Finite::default(),
        degraded: Vec::new(),
        committed: Some(true),
        error: None,
        extra,
    })
}
