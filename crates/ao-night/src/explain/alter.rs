//! A change of one file, or of one value, that is tried to see whether a verdict turns.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use ao_corpus::{Corpus, Entry};
use ao_tree::{Action, Edit};
use serde_json::Value;

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Alteration {
    /// A field of a header.
    Set {
        path: String,
        key: String,
        value: Value,
    },
    Remove {
        path: String,
        key: String,
    },
    /// Words of a body for others; none for nothing.
    Replace {
        path: String,
        old: String,
        new: String,
    },
    /// A paragraph at the end of a body; `what` says why this one.
    Append {
        path: String,
        text: String,
        what: String,
    },
    /// A value that no single edit of a file gives: it is changed where the rule is asked.
    Value {
        name: String,
        value: String,
        found: String,
    },
}

impl Alteration {
    pub(super) fn set(path: &str, key: &str, value: impl Into<Value>) -> Self {
        Self::Set { path: path.to_owned(), key: key.to_owned(), value: value.into() }
    }

    pub(super) fn remove(path: &str, key: &str) -> Self {
        Self::Remove { path: path.to_owned(), key: key.to_owned() }
    }

    pub(super) fn append(path: &str, text: &str, what: &str) -> Self {
        Self::Append { path: path.to_owned(), text: text.to_owned(), what: what.to_owned() }
    }

    /// Other words at one place of a body, with as many of those before them as tell the place.
    pub(super) fn replace_at(path: &str, body: &str, place: Range<usize>, new: &str) -> Self {
        let mut from = place.start;
        // The first word before, so that people see what is meant; more where the same stands earlier.
        loop {
            let before = body[..from].trim_end();
            from = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
            if from == 0 || body.find(&body[from..place.end]) == Some(from) {
                break;
            }
        }
        let lead = &body[from..place.start];
        let new = format!("{lead}{new}");
        Self::Replace {
            path: path.to_owned(),
            old: body[from..place.end].to_owned(),
            new: if new.trim().is_empty() { String::new() } else { new },
        }
    }

    pub(super) fn value(name: &str, value: &dyn ToString, found: &dyn ToString) -> Self {
        Self::Value { name: name.to_owned(), value: value.to_string(), found: found.to_string() }
    }

    /// The file that it changes, if it changes one.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Set { path, .. }
            | Self::Remove { path, .. }
            | Self::Replace { path, .. }
            | Self::Append { path, .. } => Some(path),
            Self::Value { .. } => None,
        }
    }

    /// For people; `was` is what the field said before.
    pub fn told(&self, was: Option<&Value>) -> String {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match self {
            Self::Set { key, value, .. } => match was {
                Some(was) => format!("`{key}: {}` instead of {}", plain(value), plain(was)),
                None => format!("`{key}: {}`", plain(value)),
            },
            Self::Remove { key, .. } => format!("without `{key}`"),
            Self::Replace { old, new, .. } if new.is_empty() => format!("without `{old}`"),
            Self::Replace { old, new, .. } => format!("`{new}` instead of `{old}`"),
            Self::Append { what, .. } => what.clone(),
            Self::Value { name, value, found } => format!("{name}: {value} instead of {found}"),
        }
    }

    fn apply(&self, entry: &Entry) -> Option<Vec<u8>> {
        let document = &entry.document;
        let mut draft = document.draft();
        match self {
            Self::Set { key, value, .. } => draft.set(key, value.clone()),
            Self::Remove { key, .. } => draft.remove(key),
            Self::Replace { old, new, .. } => {
                let body = document.body();
                let at = body.find(old.as_str())?;
                let rest = &body[at + old.len()..];
                draft.set_body(&format!("{}{new}{rest}", &body[..at]))
            }
            Self::Append { text, .. } => {
                draft.set_body(&format!("{}\n\n{text}\n", document.body().trim_end()))
            }
            Self::Value { .. } => return None,
        };
        Some(draft.finish().ok()?.bytes().to_vec())
    }
}

/// The edits that these come to, one after the other; `None` where one cannot be made.
pub(super) fn edits(corpus: &Corpus, changes: &[Alteration]) -> Option<Vec<Edit>> {
    let mut made: BTreeMap<String, Arc<Entry>> = BTreeMap::new();
    for change in changes {
        let path = change.path()?;
        let entry = made.get(path).or_else(|| corpus.get(path))?;
        let bytes = change.apply(entry)?;
        let entry = Entry::parse(path, || Ok(bytes))?.ok()?;
        made.insert(path.to_owned(), Arc::new(entry));
    }
    let edit = |(path, entry): (String, Arc<Entry>)| Edit {
        path,
        action: Action::Write(entry.document.bytes().to_vec()),
        mode: None,
        reason: String::new(),
        sources: Vec::new(),
        group: None,
        seen: None,
    };
    Some(made.into_iter().map(edit).collect())
}
