//! A commit that a run had decided and could not finish, and that a later start finished: the report and the receipts
//! of that run say so afterwards.

use std::io;
use std::path::{Path, PathBuf};

use ao_contract::{HistoryLine, Receipt, ReceiptWriter, Summary};
use ao_tree::{Disk, Door};
use serde_json::Value;

use super::end::commit_id;
use super::records::commit_of;
use crate::output::{Output, SUMMARY_JSON, SUMMARY_MARKDOWN};
use crate::receipts::{self, Custody, FileList, is_as_written};
use crate::report::{self, Run as Life};
use crate::verdict::Verdicts;

/// In an amended summary: the commits that were finished later.
const FINISHED_LATER: &str = "finished_later";

/// The repository of the run. Whoever amends holds the lock of a run, and has recovered.
#[derive(Debug)]
pub struct Amending<'a> {
    pub root: &'a Path,
    pub state: &'a Path,
    pub door: &'a Door<Disk>,
    pub custody: Option<&'a Custody>,
    pub program: Option<&'a str>,
    /// RFC 3339, UTC.
    pub now: String,
}

/// Amends the reports of runs whose commit was finished since; gives a line each. Doing it twice is doing it once.
pub fn amend(places: &Amending<'_>) -> io::Result<Vec<String>> {
    let mut notes = Vec::new();
    if ao_mutant::active("LOOP-29/nothing-is-amended") {
        return Ok(notes);
    }
    let unfinished = receipts::unfinished(places.state, places.custody)?;
    if unfinished.is_empty() {
        return Ok(notes);
    }
    let history = places.door.history().map_err(io::Error::other)?;
    for receipt in unfinished {
        let id = receipt.unfinished.as_deref().unwrap_or_default();
        let Some(line) = history.iter().find(|line| line.id == id) else { continue };
        amend_one(places, &receipt, line, &history)?;
        notes.push(format!(
            "run {} had decided commit {id} and not finished it; its report and its receipt say now that it is",
            receipt.run_id
        ));
    }
    Ok(notes)
}

fn amend_one(
    places: &Amending<'_>,
    receipt: &Receipt,
    line: &HistoryLine,
    history: &[HistoryLine],
) -> io::Result<()> {
    let found = report_of(places.root, receipt);
    let summary = match &found {
        // A start that was killed in here may have told of it already.
        Some((dir, summary)) if is_told(summary, line) || is_as_written(places.root, receipt) => {
            let summary = finished(summary.clone(), line);
            let output = Output::of_ended(dir.clone());
            let text = report::markdown(&summary, &Verdicts::new(), Life::Over);
            output.write(SUMMARY_MARKDOWN, text.as_bytes())?;
            output.write_json(SUMMARY_JSON, &summary)?;
            let bytes = output.summary_bytes("")?;
            list(places, dir)?;
            Some((summary, bytes))
        }
        // What was changed since stays to be seen.
        _ => None,
    };
    let commits = receipts::commits(&receipt.run_id, history);
    let mut amended = match &summary {
        Some((summary, bytes)) => {
            receipts::of_summary(summary, Some(bytes), receipt.inputs.clone(), history)
        }
        None => receipt.clone(),
    };
    amended.work.commits = commits;
    receipts::append(
        places.state,
        places.custody,
        Receipt {
            program: places.program.map(str::to_owned),
            exit: receipt.exit,
            output_dir: receipt.output_dir.clone(),
            written_by: ReceiptWriter::NextStart,
            unfinished: None,
            amends: Some(receipt.number),
            seal: None,
            ..amended
        },
    )
}

/// The report, and the folder that it lies in by now.
fn report_of(root: &Path, receipt: &Receipt) -> Option<(PathBuf, Summary)> {
    ao_contract::check_id(&receipt.run_id).ok()?;
    let dir = root.join(&receipt.output_dir);
    let places = [dir.clone(), dir.join(&receipt.run_id)];
    places.into_iter().find_map(|dir| {
        let summary = Output::of_ended(dir.clone()).summary()?;
        (summary.run_id == receipt.run_id).then_some((dir, summary))
    })
}

fn told_ids(line: &HistoryLine) -> Value {
    vec![line.id.clone()].into()
}

fn is_told(summary: &Summary, line: &HistoryLine) -> bool {
    summary.extra.get(FINISHED_LATER) == Some(&told_ids(line))
}

fn finished(mut summary: Summary, line: &HistoryLine) -> Summary {
    if is_told(&summary, line) {
        return summary;
    }
    let why = format!("a later start finished commit {}: it is whole", line.id);
    let of_commit = |one: &&mut ao_contract::Iteration| commit_id(one).as_ref() == Some(&line.id);
    if let Some(one) = summary.iterations.iter_mut().flatten().find(of_commit) {
        one.extra.insert("commit".into(), commit_of(line));
        one.error = one.error.take().map(|error| format!("{error}; {why}"));
    }
    summary.failure_reason = summary.failure_reason.take().map(|reason| format!("{reason}; {why}"));
    summary.extra.insert(FINISHED_LATER.into(), told_ids(line));
    summary
}

fn list(places: &Amending<'_>, dir: &Path) -> io::Result<()> {
    let Some(custody) = places.custody else { return Ok(()) };
    let Some(mut list) = FileList::known((places.root, places.state), custody, &places.now)? else {
        return Ok(());
    };
    list.add(&dir.join(SUMMARY_JSON))?;
    list.add(&dir.join(SUMMARY_MARKDOWN))?;
    list.add_history()?;
    list.keep(custody)
}
