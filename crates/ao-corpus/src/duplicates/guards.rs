//! What is asked of an entry before it is compared with any other.

use crate::check::Check;
use crate::corpus::{Entry, Kind};
use crate::document::Form;

/// The kinds that are compared, each with itself.
pub(super) fn is_compared(kind: Kind) -> bool {
    matches!(kind, Kind::Learning | Kind::Finding | Kind::Pattern)
}

/// What an entry must be to be merged at all: what is asked, whether it is so, and why it is left alone if not.
/// What its author pinned or hid, and what cannot be read beyond doubt, stays.
type Guard = (&'static str, fn(&Entry) -> bool, &'static str);

pub(super) const GUARDS: [Guard; 5] = [
    ("kind", |entry| is_compared(entry.kind), "only learnings, findings and patterns are compared"),
    ("lines", is_one, "the file holds several entries"),
    ("header", |entry| entry.document.doubt().is_none(), "its header cannot be read beyond doubt"),
    ("pinned", |entry| !entry.document.is_pinned(), "it is pinned"),
    ("replaced", |entry| !entry.document.is_hidden(), "another entry took its place"),
];

fn is_one(entry: &Entry) -> bool {
    let document = &entry.document;
    let lines = || document.bytes().split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    document.form() == Form::Markdown || lines().count() == 1
}

/// What is asked of an entry before it is compared.
pub fn guards(entry: &Entry) -> Vec<Check> {
    let check = |(name, holds, why): &(&'static str, fn(&Entry) -> bool, &'static str)| {
        let (needed, found) = match *name {
            "kind" => ("learning, finding or pattern", entry.kind.name()),
            "lines" => ("one entry a file", "one"),
            "header" => ("it can be read beyond doubt", "it can"),
            _ => ("no", "no"),
        };
        Check::plain(name, needed, (!holds(entry)).then(|| (*why).to_owned()), found)
    };
    GUARDS.iter().map(check).collect()
}
