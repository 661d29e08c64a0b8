//! A report that a later start put aside, into a folder of its own run: it is told there with the paths of its new
//! place. What was written is known to the byte, so that nothing else passes for it.

use std::path::{Path, PathBuf};

use ao_contract::{NightFile, Summary};
use ao_tree::own_file;
use serde_json::Value;

use super::files::{Reports, is_same};
use crate::output::{SUMMARY_JSON, SUMMARY_MARKDOWN, written_text};
use crate::report::{self, Run as Life};
use crate::verdict::Verdicts;

/// No file of a report that has paths in it is larger.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// What lies in the folder of a run from the beginning.
const OWN: [&str; 3] = ["iterations/", "ledger.jsonl", "before-resume/"];

/// Where a file of a night is, and whether that is not the place where it was written: a later start has put its report
/// aside since, and another one may lie there by now.
pub(super) fn place(root: &Path, reports: &Reports, name: &str) -> (PathBuf, bool) {
    let aside = report_of(reports, name)
        .map(|(folder, run, inner)| root.join(folder).join(run).join(inner));
    match aside.filter(|path| path.symlink_metadata().is_ok()) {
        Some(path) => (path, true),
        None => (root.join(name), false),
    }
}

/// The report that a file is of, if it lies in the folder itself: the folder, the run, and the name in there.
pub(super) fn report_of<'a>(
    reports: &'a Reports,
    name: &'a str,
) -> Option<(&'a str, &'a str, &'a Path)> {
    let within = reports.iter().filter_map(|(folder, run)| {
        let inner = Path::new(name).strip_prefix(folder).ok()?;
        Some((folder.as_str(), run.as_str(), inner))
    });
    // The innermost.
    let found = within.max_by_key(|(folder, ..)| folder.len());
    found.filter(|(_, run, inner)| !inner.starts_with(run) && ao_contract::check_id(run).is_ok())
}

/// Whether a file of a night is as it was written, wherever it is. One that is not there is not.
pub(super) fn is_as_written(root: &Path, reports: &Reports, name: &str, file: &NightFile) -> bool {
    let (path, is_moved) = place(root, reports, name);
    if is_same(&path, file).unwrap_or(false) {
        return true;
    }
    let of = report_of(reports, name).filter(|_| is_moved);
    let told = of.and_then(|(folder, run, _)| {
        is_told_anew(&root.join(folder).join(run), &path, folder, &file.hash)
    });
    told.unwrap_or(false)
}

/// Whether a file is the one of that hash, with the paths of its new place.
fn is_told_anew(aside: &Path, path: &Path, folder: &str, hash: &str) -> Option<bool> {
    let summary = own_file::read(&aside.join(SUMMARY_JSON), BYTES_MAX).ok()?;
    let summary: Value = serde_json::from_slice(&summary).ok()?;
    let bytes = own_file::read(path, BYTES_MAX).ok()?;
    if path.file_name()? == SUMMARY_MARKDOWN {
        let summary: Summary = ao_contract::read(&summary).ok()?;
        let text = report::markdown(&summary, &Verdicts::new(), Life::Over);
        return Some(written_text(&text).get() == &bytes);
    }
    Some(is_put_back(&bytes, &summary, folder, hash))
}

/// Whether a file of a report has that hash once it has the paths again that it had before. `summary` is the one that
/// was put aside with it: both places are those that it names itself, since the repository may have been moved
/// before or after.
pub(super) fn is_put_back(bytes: &[u8], summary: &Value, folder: &str, hash: &str) -> bool {
    let Ok(mut told) = serde_json::from_slice::<Value>(bytes) else { return false };
    if written(&told).is_none_or(|as_written| as_written != bytes) {
        return false;
    }
    let is_back = put_back(&mut told, summary, folder).is_some();
    is_back && written(&told).is_some_and(|back| super::hash(&back) == *hash)
}

/// As every artifact is written.
fn written(value: &Value) -> Option<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(value).ok()?;
    bytes.push(b'\n');
    Some(bytes)
}

fn put_back(told: &mut Value, summary: &Value, folder: &str) -> Option<()> {
    let was = Path::new(summary["repo_root"].as_str()?).join(folder);
    let aside = summary["output_dir"].as_str()?.to_owned();
    let around = Path::new(&aside).parent()?.to_string_lossy().into_owned();
    let aside_of = format!("{aside}/");
    let is_summary = told["output_dir"] == summary["output_dir"];
    let mut values = vec![&mut *told];
    while let Some(value) = values.pop() {
        match value {
            Value::String(text) => {
                if let Some(rest) = text.strip_prefix(&aside_of)
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
    if is_summary {
        told["output_dir"] = was.to_string_lossy().into();
    }
    Some(())
}
