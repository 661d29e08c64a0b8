//! A model's draft, with what it says of itself taken down to what it may be.
//!
//! Whoever wrote the file wrote its header too. What a draft tells about its origin is kept, and nothing else: no
//! mark of trust, no judgement, no name of another entry, and no day that has not come.

use ao_tree::shown;
use jiff::civil::Date;
use serde_json::Value;

use crate::corpus::Entry;
use crate::document::{Form, day};

/// How far a model's draft is trusted, and how far it has come.
pub(super) const TRUST: &str = "model-inference";
const MATURITY: &str = "provisional";
const CONFIDENCE: &str = "low";
/// The only kind that is knowledge; questions to dream about are none.
const LEARNING: &str = "learning";

/// What a draft may say in its own words.
const KEPT: [&str; 11] = [
    "type",
    "title",
    "date",
    "tags",
    "drafted_by",
    "drafted_at",
    "curator_job",
    "drafted_from",
    "drafted_from_hash",
    "drafted_from_cut",
    "evidence",
];

/// The draft as it may be taken, and the fields that it said otherwise; or why it is not taken.
pub(super) fn lowered(entry: &Entry, today: Option<Date>) -> Result<(Entry, Vec<String>), String> {
    let document = &entry.document;
    if document.form() != Form::Markdown {
        return Err("it is a draft that is not Markdown".into());
    }
    match document.text("type").as_deref() {
        Some(LEARNING) => {}
        Some(other) => return Err(format!("it is a draft of the kind {}", shown(other))),
        None => return Err("it is a draft that does not say of what kind".into()),
    }
    let mut draft = document.draft();
    let mut unkept = Vec::new();
    let fixed = [("trust", TRUST), ("maturity", MATURITY), ("confidence", CONFIDENCE)];
    for key in document.keys() {
        let is_kept = KEPT.contains(&key);
        match fixed.iter().find(|(name, _)| *name == key) {
            Some((_, value)) if document.get(key).as_deref() == Some(&Value::from(*value)) => {}
            Some(_) => unkept.push(shown(key)),
            None if is_kept => {}
            None => {
                draft.remove(key);
                unkept.push(shown(key));
            }
        }
    }
    for (key, value) in fixed {
        draft.set(key, value);
    }
    let is_ahead = |date: Date| today.is_some_and(|today| date > today);
    let mut path = entry.path.clone();
    if entry.date().is_some_and(is_ahead) {
        draft.set("date", today.map(|today| today.to_string()));
        unkept.push("date".into());
    }
    if day(entry.stem()).is_some_and(is_ahead) {
        // The day is cut off its name; it gets another one.
        let rest = entry.stem().get("0000-00-00".len()..).unwrap_or_default();
        path = format!("learnings/{}.md", rest.trim_matches('-'));
    }
    let document = draft.finish().map_err(|error| error.to_string())?;
    Ok((Entry { path, kind: entry.kind, document }, unkept))
}
