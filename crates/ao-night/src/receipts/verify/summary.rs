//! The newest report against its receipt, wherever later starts have moved it.

use std::collections::BTreeSet;
use std::path::Path;

use ao_contract::{Receipt, Summary};
use serde_json::Value;

use super::{Verified, What};
use crate::output::SUMMARY_JSON;

const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// What lies in the folder of a run from its beginning, and is not moved.
const OWN: [&str; 3] = ["iterations/", "ledger.jsonl", "before-resume/"];

/// Checks that the summary that the newest receipt names is as it was.
pub(super) fn check(
    root: &Path,
    (at, newest): (usize, &Receipt),
    open: &BTreeSet<&str>,
    found: &mut Verified,
) {
    let Some(expected) = &newest.summary else {
        return found.notes.push(format!("line {at}: run {} left no summary", newest.run_id));
    };
    let dir = root.join(&newest.output_dir);
    let aside = || is_moved(&dir, &newest.run_id, expected);
    let Some(bytes) = plain(&dir.join(SUMMARY_JSON)) else {
        if !aside() {
            let why = format!("the summary of run {} is not there", newest.run_id);
            found.find(at, What::SummaryRemoved, why);
        }
        return;
    };
    if super::super::hash(&bytes) == *expected || aside() {
        return;
    }
    let whose: Option<Summary> =
        serde_json::from_slice(&bytes).ok().and_then(|value: Value| ao_contract::read(&value).ok());
    match whose {
        Some(whose) if whose.run_id != newest.run_id && open.contains(whose.run_id.as_str()) => {
            let why = format!("run {} has no receipt yet", whose.run_id);
            found.notes.push(why);
            let is_there = dir.join(&newest.run_id).join(SUMMARY_JSON).exists();
            let (what, word) = if is_there {
                (What::SummaryChanged, "was changed since")
            } else {
                (What::SummaryRemoved, "is not there")
            };
            found.find(at, what, format!("the summary of run {} {word}", newest.run_id));
        }
        _ => {
            let why = format!("the summary of run {} was changed since", newest.run_id);
            found.find(at, What::SummaryChanged, why);
        }
    }
}

/// Whether a later start put it aside as it was: it is then told with the paths of its new place.
fn is_moved(dir: &Path, run_id: &str, expected: &str) -> bool {
    let mut places = vec![dir.join(SUMMARY_JSON), dir.join(run_id).join(SUMMARY_JSON)];
    places.dedup();
    places.iter().any(|place| {
        let Some(bytes) = plain(place) else { return false };
        let Ok(mut told) = serde_json::from_slice::<Value>(&bytes) else { return false };
        put_back(&mut told, dir, run_id);
        let written = ao_vault::redactor().json(&told);
        written.is_ok_and(|bytes| super::super::hash(bytes.get()) == expected)
    })
}

fn put_back(told: &mut Value, dir: &Path, run_id: &str) {
    let old = format!("{}/", dir.to_string_lossy());
    let new = format!("{old}{run_id}/");
    let mut values = vec![&mut *told];
    while let Some(value) = values.pop() {
        match value {
            Value::String(text) => {
                if let Some(rest) = text.strip_prefix(&new)
                    && !OWN.iter().any(|own| rest.starts_with(own))
                {
                    *text = format!("{old}{rest}");
                }
            }
            Value::Array(items) => values.extend(items),
            Value::Object(map) => values.extend(map.values_mut()),
            _ => {}
        }
    }
    told["output_dir"] = dir.to_string_lossy().into();
}

fn plain(path: &Path) -> Option<Vec<u8>> {
    let found = std::fs::symlink_metadata(path).ok()?;
    (found.is_file() && found.len() <= BYTES_MAX).then(|| std::fs::read(path).ok()).flatten()
}
