//! The newest report against its receipt, wherever later starts have moved it.

use std::collections::BTreeSet;
use std::path::Path;

use ao_contract::{Receipt, Summary};
use serde_json::Value;

use super::super::hash;
use super::chain::{Told, Written};
use super::{Verified, What};
use crate::output::SUMMARY_JSON;

const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// What lies in the folder of a run from its beginning, and is not moved.
const OWN: [&str; 3] = ["iterations/", "ledger.jsonl", "before-resume/"];

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
    places.iter().filter_map(|place| plain(place)).collect()
}

/// Whether the very summary that a receipt names is here.
pub(in crate::receipts) fn is_as_written(root: &Path, receipt: &Receipt) -> bool {
    let Some(expected) = &receipt.summary else { return false };
    let is_it = |bytes: &Vec<u8>| hash(bytes) == *expected || is_moved(bytes, receipt, expected);
    summaries(root, receipt).iter().any(is_it)
}

/// The run that a summary is of, if it is one.
fn whose(bytes: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(bytes).ok()?;
    let summary: Summary = ao_contract::read(&value).ok()?;
    Some(summary.run_id)
}

/// Whether a later start put it aside as it was: it is then told with the paths of its new place. What was
/// written is known to the byte, so that nothing else passes for it.
fn is_moved(bytes: &[u8], receipt: &Receipt, expected: &str) -> bool {
    let Ok(mut told) = serde_json::from_slice::<Value>(bytes) else { return false };
    let is_as_written = written(&told).is_some_and(|as_written| as_written == bytes);
    let is_back = put_back(&mut told, &receipt.output_dir).is_some();
    is_as_written && is_back && written(&told).is_some_and(|back| hash(&back) == expected)
}

/// As every artifact is written.
fn written(value: &Value) -> Option<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value).ok()?;
    bytes.push(b'\n');
    Some(bytes)
}

/// Gives it the paths that it had before it was put aside. Both places are those that it names itself: the
/// repository may have been moved before or after.
fn put_back(told: &mut Value, output_dir: &str) -> Option<()> {
    let was = Path::new(told["repo_root"].as_str()?).join(output_dir);
    let aside = told["output_dir"].as_str()?.to_owned();
    let around = Path::new(&aside).parent()?.to_string_lossy().into_owned();
    let aside = format!("{aside}/");
    let mut values = vec![&mut *told];
    while let Some(value) = values.pop() {
        match value {
            Value::String(text) => {
                if let Some(rest) = text.strip_prefix(&aside)
                    && !OWN.iter().any(|own| rest.starts_with(own))
                {
                    *text = format!("{around}/{rest}");
                }
            }
            Value::Array(items) => values.extend(items),
            Value::Object(map) => values.extend(map.values_mut()),
            _ => {}
        }
    }
    told["output_dir"] = was.to_string_lossy().into();
    Some(())
}

fn plain(path: &Path) -> Option<Vec<u8>> {
    let found = std::fs::symlink_metadata(path).ok()?;
    (found.is_file() && found.len() <= BYTES_MAX).then(|| std::fs::read(path).ok()).flatten()
}
