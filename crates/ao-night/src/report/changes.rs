//! What an iteration took in, merged, pruned and measured, told from its record.
//!
//! The stages keep what they like in their parts of the record. A number is told as a count, a list
//! as its length with the first of its items, and a map by its numbers.

use ao_contract::{Extra, Iteration, IterationStatus, check_id};
use serde_json::Value;

use super::block::{Item, Line, code, first, strong, text, words};
use super::say;

const EXAMPLES: usize = 3;
const FIELDS_MAX: usize = 24;
/// What names an item of a list, and what explains it.
const NAMES: [&str; 7] = ["path", "title", "survivor", "entry", "id", "name", "target"];
const REASONS: [&str; 3] = ["reason", "why", "note"];

pub(super) fn told(iteration: &Iteration) -> Vec<Item> {
    let not_made = not_made(iteration);
    let stages = [
        ("taken in", &iteration.ingest),
        ("changed", &iteration.reduce),
        ("not made", &not_made),
        ("measured", &iteration.measure),
    ];
    let mut items = Vec::new();
    for (stage, record) in stages {
        let counts = counts(record);
        if counts.is_empty() {
            continue;
        }
        let line = vec![strong(&format!("{stage}:")), words(&format!(" {}", counts.join(", ")))];
        let mut inner: Vec<Line> = Vec::new();
        for example in record.iter().take(FIELDS_MAX).flat_map(|(key, value)| of_list(key, value)) {
            // What has a list of its own is among the changes, too.
            if !inner.contains(&example) {
                inner.push(example);
            }
        }
        items.push(Item { line, inner });
    }
    items
}

/// The edits that the commit left out because somebody else changed the same files.
fn not_made(iteration: &Iteration) -> Extra {
    let commit = iteration.extra.get("commit");
    let list = |key: &str| {
        let found = commit?.get(key)?;
        let is_empty = found.as_array().is_none_or(Vec::is_empty);
        (!is_empty).then(|| (key.to_owned(), found.clone()))
    };
    if ao_mutant::active("LOOP-07/conflict-is-in-the-record-only") {
        return Extra::new();
    }
    ["conflicts", "refused"].into_iter().filter_map(list).collect()
}

/// The fields of a record, each in a few words.
pub(super) fn counts(record: &Extra) -> Vec<String> {
    let fields = record.iter().filter(|(key, _)| *key != "schema_version").take(FIELDS_MAX);
    let mut counts: Vec<String> = fields.flat_map(|(key, value)| count(key, value)).collect();
    if let Some(left) = record.len().checked_sub(FIELDS_MAX).filter(|left| *left > 0) {
        counts.push(format!("and {left} more"));
    }
    counts
}

fn count(key: &str, value: &Value) -> Vec<String> {
    let name = say::key(key);
    match value {
        Value::Array(items) => vec![format!("{} {name}", length(items))],
        Value::Object(map) => map
            .iter()
            .take(FIELDS_MAX)
            .filter_map(|(inner, value)| match value {
                Value::Number(number) => {
                    Some(format!("{name} {} {}", say::key(inner), say::number(number)))
                }
                _ => None,
            })
            .collect(),
        Value::Number(number) if number.is_u64() => vec![format!("{} {name}", say::number(number))],
        Value::Bool(false) | Value::Null => Vec::new(),
        Value::Bool(true) => vec![name],
        other => say::scalar(other).map(|told| format!("{name} {told}")).into_iter().collect(),
    }
}

/// How many there are. A list of sources counts what is ours in them.
fn length(items: &[Value]) -> u64 {
    let own = items.iter().map(|item| item.get("own").and_then(Value::as_u64)).sum::<Option<u64>>();
    own.filter(|_| !items.is_empty()).unwrap_or(items.len() as u64)
}

fn of_list(key: &str, value: &Value) -> Vec<Line> {
    let Value::Array(items) = value else { return Vec::new() };
    let (kept, left) = first(items, EXAMPLES);
    let mut lines: Vec<Line> = kept.iter().filter_map(example).collect();
    if left > 0 && !lines.is_empty() {
        lines.push(vec![words(&format!("and {left} more {}", say::key(key)))]);
    }
    lines
}

fn example(item: &Value) -> Option<Line> {
    let Value::Object(map) = item else { return Some(vec![text(item.as_str()?)]) };
    let find = |keys: &[&str]| keys.iter().find_map(|key| map.get(*key)?.as_str());
    let mut line = vec![code(find(&NAMES)?)];
    if let Some(reason) = find(&REASONS) {
        line.extend([words(": "), text(reason)]);
    }
    Some(line)
}

/// The commit that the iteration made, if its record names one. The records of other tools name none:
/// what they changed is in no history, and cannot be shown or taken back.
pub(super) fn commit(iteration: &Iteration) -> Option<String> {
    let id = match iteration.extra.get("commit") {
        Some(Value::Object(commit)) => commit.get("id")?.as_str()?,
        Some(commit) => commit.as_str()?,
        None if ao_mutant::active("RUN-47/undo-without-a-commit") => &iteration.id,
        None => return None,
    };
    check_id(id).is_ok().then(|| id.to_owned())
}

/// Whether it kept nothing because there was nothing to keep.
pub(super) fn is_idle(iteration: &Iteration) -> bool {
    let is_silent = iteration.extra.get("commit").map_or(!did_something(iteration), Value::is_null);
    iteration.status == IterationStatus::Done && is_silent
}

fn did_something(iteration: &Iteration) -> bool {
    let mut told = iteration.ingest.values().chain(iteration.reduce.values());
    told.any(|value| match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number > 0.0),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    })
}
