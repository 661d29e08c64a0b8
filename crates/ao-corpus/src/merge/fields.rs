//! The headers of two copies become one.

use std::borrow::Cow;

use ao_contract::Extra;
use serde_json::Value;

use super::{MERGED_FIELDS, MERGED_FROM};
use crate::corpus::Entry;
use crate::document::{Document, Draft};
use crate::trust::{TRUST, UNSAID, of_header};

/// Added up: how often the copies were judged is how often the one was.
const SUMS: [&str; 4] = ["reward_count", "helpful_count", "harmful_count", "hit_count"];
/// The greater one.
const GREATEST: [&str; 2] = ["decay_count", "confidence"];
/// The later one; a judgement belongs to its time.
const LATEST: [(&str, Option<&str>); 3] =
    [("last_reward_at", Some("last_reward")), ("last_decay_at", None), ("last_cited", None)];
/// Who the other one was is told by its lineage, and a copy that is hidden is never merged.
const NOT_TAKEN: [&str; 7] =
    ["id", MERGED_FROM, MERGED_FIELDS, "superseded_by", "promoted_to", "superseded", TRUST];
/// As in `2026-04-01`.
const DAY_BYTES: usize = 10;
/// Utilities are written with so many digits at most.
const UTILITY_SCALE: f64 = 10_000.0;

/// How a field is taken over that only the other one has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// As it was written, with its comments.
    Raw,
    Anew,
}

pub(super) fn merge(draft: &mut Draft, survivor: &Entry, other: &Entry, style: Style) {
    let (ours, theirs) = (&survivor.document, &other.document);
    let mut differing = Extra::new();
    for (key, value) in theirs.fields().as_ref() {
        let key = key.as_str();
        let is_text = matches!(key, "content" | "summary") && is_body(theirs, key);
        if NOT_TAKEN.contains(&key) || is_text || !theirs.has(key) {
            continue;
        }
        match ours.field(key).as_deref() {
            _ if key == "utility" => utility(draft, ours, theirs),
            _ if SUMS.contains(&key) => set(draft, key, ours.count(key) + theirs.count(key)),
            None => take(draft, theirs, key, style),
            Some(own) if own == value => {}
            Some(_) if GREATEST.contains(&key) => greatest(draft, ours, theirs, key),
            Some(_) if latest(draft, ours, theirs, key) => {}
            Some(Value::Array(own)) if value.is_array() => united(draft, key, own, value),
            Some(own) if key == "tags" => united(draft, key, std::slice::from_ref(own), value),
            // Its name says so, and its name is kept.
            Some(_) if key == "date" && is_day_of_name(other) => {}
            Some(_) if ao_mutant::active("LOOP-25/field-is-lost") => {}
            Some(_) => {
                differing.insert(key.to_owned(), value.clone());
            }
        }
    }
    trust(draft, ours, theirs);
    lineage(draft, ours, other, differing);
}

/// No more than the least trusted of the two, also where no word says so but the address that one of them comes
/// from: the survivor keeps its own source, and would be taken for its own text alone. Where both count as what
/// says nothing does, nothing is said.
fn trust(draft: &mut Draft, ours: &Document, theirs: &Document) {
    let counts_as = |document: &Document| of_header(document).unwrap_or(UNSAID);
    let (own, lowest) = (counts_as(ours), counts_as(ours).min(counts_as(theirs)));
    let is_newly_said = theirs.has(TRUST) && !ours.has(TRUST);
    if lowest < own || is_newly_said {
        draft.set(TRUST, lowest.name());
    }
}

fn is_day_of_name(entry: &Entry) -> bool {
    let date = entry.document.text("date");
    date.is_some_and(|date| date.len() == DAY_BYTES && entry.stem().starts_with(date.as_ref()))
}

/// Whether a field of a JSON line is its body.
fn is_body(document: &Document, key: &str) -> bool {
    document.form() == crate::document::Form::JsonLine
        && document.text(key).is_some_and(|text| text == document.body())
}

fn take(draft: &mut Draft, theirs: &Document, key: &str, style: Style) {
    if style == Style::Raw {
        draft.take(theirs, key);
    } else if let Some(value) = theirs.get(key) {
        draft.set(key, value.into_owned());
    }
}

fn set(draft: &mut Draft, key: &str, value: impl Into<Value>) {
    draft.set(key, value);
}

/// The mean, each side with one more than the number of its rewards as weight.
fn utility(draft: &mut Draft, ours: &Document, theirs: &Document) {
    let said = |document: &Document| document.has("utility").then(|| document.utility());
    let Some(other) = said(theirs) else { return };
    let Some(own) = said(ours) else {
        draft.set("utility", rounded(other));
        return;
    };
    #[expect(clippy::cast_precision_loss, reason = "counts are clamped far below 2^52")]
    let weight = |document: &Document| (document.count("reward_count") + 1) as f64;
    let (our_weight, their_weight) = (weight(ours), weight(theirs));
    let mean = (own * our_weight + other * their_weight) / (our_weight + their_weight);
    let is_same = (own - other).abs() < 1.0 / UTILITY_SCALE;
    if !is_same {
        draft.set("utility", rounded(mean));
    }
}

fn rounded(value: f64) -> f64 {
    (value * UTILITY_SCALE).round() / UTILITY_SCALE
}

fn greatest(draft: &mut Draft, ours: &Document, theirs: &Document, key: &str) {
    let value = |document: &Document| match key {
        "confidence" => document.confidence(),
        _ => document.number(key),
    };
    if let (Some(own), Some(other)) = (value(ours), value(theirs))
        && other > own
        && let Some(value) = theirs.get(key)
    {
        draft.set(key, value.into_owned());
    }
}

/// Whether the key is one of those of which the later counts, and then it is done.
fn latest(draft: &mut Draft, ours: &Document, theirs: &Document, key: &str) -> bool {
    let at = LATEST.iter().find(|(at, with)| *at == key || *with == Some(key));
    let Some((at, _)) = at else { return false };
    let is_later = match (ours.text(at), theirs.text(at)) {
        (Some(own), Some(other)) => other > own,
        (None, Some(_)) => true,
        _ => false,
    };
    if is_later && let Some(value) = theirs.get(key) {
        draft.set(key, value.into_owned());
    }
    true
}

fn united(draft: &mut Draft, key: &str, own: &[Value], other: &Value) {
    let other = match other {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut all = own.to_vec();
    for item in other {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    if all.len() > own.len() {
        draft.set(key, all);
    }
}

/// Who was taken in, and what they said otherwise.
fn lineage(draft: &mut Draft, ours: &Document, other: &Entry, differing: Extra) {
    let theirs = &other.document;
    let mut names: Vec<Value> = ours.texts(MERGED_FROM).into_iter().map(Into::into).collect();
    let own = theirs.text("id").filter(|id| id != other.stem());
    // Both names lead to it; the shorter one is enough to say whose fields they were.
    let short = own.as_ref().filter(|id| id.len() < other.stem().len());
    let short = short.map_or(other.stem(), |id| id.as_ref()).to_owned();
    let taken = std::iter::once(other.stem().into()).chain(own).chain(theirs.texts(MERGED_FROM));
    for name in taken.map(|name| Value::from(name.into_owned())) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    draft.set(MERGED_FROM, names);
    let map = |document: &Document| match document.field(MERGED_FIELDS).map(Cow::into_owned) {
        Some(Value::Object(map)) => map,
        _ => Extra::new(),
    };
    let mut said = map(ours);
    if !differing.is_empty() {
        said.insert(short, differing.into());
    }
    for (name, fields) in map(theirs) {
        said.entry(name).or_insert(fields);
    }
    if !said.is_empty() {
        draft.set(MERGED_FIELDS, Value::Object(said));
    }
}
