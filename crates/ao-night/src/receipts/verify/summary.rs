//! The newest report against its receipt, wherever later starts have moved it.

use std::collections::BTreeSet;
use std::path::Path;

use ao_contract::{Receipt, Summary};
use ao_tree::own_file;
use serde_json::Value;

use super::super::hash;
use super::super::moved::is_put_back;
use super::chain::{Told, Written};
use super::{Verified, What};
use crate::output::SUMMARY_JSON;

const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Checks that the summary that the newest receipt names is as it was.
pub(super) fn check(root: &Path, newest: Told<'_>, open: &BTreeSet<&str>, found: &mut Verified) {
    let Told { at, receipt, written } = newest;
    let run = ao_tree::shown(&receipt.run_id);
    if receipt.summary.is_none() {
        return found.notes.push(format!("line {at}: run {run} left no summary"));
    }
    // It was gone on with, and its report is another one until it ends.
    if open.contains(receipt.run_id.as_str()) {
        let why = "was gone on with after its receipt, and has no new one yet";
        return found.notes.push(format!("run {run} {why}"));
    }
    if is_as_written(root, receipt) {
        return;
    }
    let there = summaries(root, receipt);
    if there.iter().any(|bytes| whose(bytes).is_none_or(|whose| whose == receipt.run_id)) {
        let why = format!("the summary of run {run} was changed since");
        return found.find(at, What::SummaryChanged, why);
    }
    if written == Written::Elsewhere {
        let why = "is not here: its receipt was written elsewhere";
        return found.unchecked.push(format!("the summary of run {run} {why}"));
    }
    found.find(at, What::SummaryRemoved, format!("the summary of run {run} is not there"));
}

/// What stands where the summary was written, and where a later start would have put it aside.
fn summaries(root: &Path, receipt: &Receipt) -> Vec<Vec<u8>> {
    let dir = root.join(&receipt.output_dir);
    let places = [dir.join(SUMMARY_JSON), dir.join(&receipt.run_id).join(SUMMARY_JSON)];
    places.iter().filter_map(|place| own_file::read(place, BYTES_MAX).ok()).collect()
}

/// Whether the very summary that a receipt names is here.
pub(crate) fn is_as_written(root: &Path, receipt: &Receipt) -> bool {
    let Some(expected) = &receipt.summary else { return false };
    let is_moved = |bytes: &[u8]| {
        let told = serde_json::from_slice::<Value>(bytes);
        told.is_ok_and(|told| is_put_back(bytes, &told, &receipt.output_dir, expected))
    };
    let is_it = |bytes: &Vec<u8>| hash(bytes) == *expected || is_moved(bytes);
    summaries(root, receipt).iter().any(is_it)
}

/// The run that a summary is of, if it is one.
fn whose(bytes: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let summary: Summary = ao_contract::read(&value).ok()?;
    Some(summary.run_id)
}
