//! Keys that the rules know by their look, taken out of what a run reports.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde_json::Value;

use super::{Finding, GENERIC, Scanner};
use crate::redact::MARK;

/// No file: the rules for paths do not say anything about it.
const PATH: &str = "report";

/// The text without keys. Of the rules the general one is left out: it takes names of files for
/// keys, of which reports are full.
pub fn without_keys(text: &str) -> Cow<'_, str> {
    let mut found = found_in(text);
    found.retain(|finding| finding.rule != GENERIC);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let rest = taken_out(text.as_bytes(), found);
    Cow::Owned(String::from_utf8_lossy(&rest).into_owned())
}

/// Whether any rule finds a key, the general one too.
pub fn has_key(text: &str) -> bool {
    !found_in(text).is_empty()
}

fn found_in(text: &str) -> Vec<Finding> {
    static RULES: OnceLock<Scanner> = OnceLock::new();
    let rules = RULES.get_or_init(|| {
        Scanner::new(&[]).unwrap_or_else(|_| unreachable!("the rules are part of this program"))
    });
    let mut found = Vec::new();
    for text in [text.as_bytes(), &loosened(text)] {
        rules.by_rules(PATH, text, &mut found);
    }
    found
}

/// The same length, with blanks for what stands behind a word in a sentence: the rules are made for
/// programs and settings, where a key ends in a quote or a blank.
fn loosened(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for at in 0..bytes.len() {
        let is_end = bytes.get(at + 1).is_none_or(|next| !next.is_ascii_alphanumeric());
        if is_end && b".,:;!?)]}>*|".contains(&bytes[at]) {
            bytes[at] = b' ';
        }
    }
    bytes
}

/// The same with every string of a value.
pub fn value_without_keys(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(rest) = without_keys(text) {
                *text = rest;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(value_without_keys),
        Value::Object(map) => map.values_mut().for_each(value_without_keys),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The mark in place of what was found.
pub(crate) fn taken_out(bytes: &[u8], mut found: Vec<Finding>) -> Vec<u8> {
    found.sort_by_key(|finding| std::cmp::Reverse((finding.range.start, finding.range.end)));
    let mut rest = bytes.to_vec();
    let mut before = rest.len();
    for finding in found {
        let end = finding.range.end.min(before);
        if finding.range.start < end {
            rest.splice(finding.range.start..end, MARK.bytes());
            before = finding.range.start;
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_taken_out_and_the_address_stays() {
        let password = "q8Zr2LmXc7TvB1nK";
        let text = |password: &str| format!("psql postgres://app:{password}@db.internal/app, then");
        assert_eq!(without_keys(&text(password)), text(MARK));
    }

    #[test]
    fn keys_are_taken_out_and_names_of_files_are_not() {
        let key = format!("gh{}_{}", "p", "1Ab2Cd3Ef4Gh5Ij6Kl7Mn8Op9Qr0St1Uv2Wx");
        let text = format!("a {key} b {key}\n");
        assert_eq!(without_keys(&text), format!("a {MARK} b {MARK}\n"));
        for (before, after) in
            [("see ", "."), ("[", "]"), ("(", "), and"), ("**", "**"), ("<", ">:")]
        {
            let text = format!("{before}{key}{after}");
            assert_eq!(without_keys(&text), format!("{before}{MARK}{after}"));
        }
        let files = "see token.md, learnings-2026-x7f3a9.md and secret: notes-4f9a8b7c6d5e.md";
        assert_eq!(without_keys(files), files);
        let mut value = serde_json::json!({ "a": [{ "b": text }], "c": 1 });
        value_without_keys(&mut value);
        assert_eq!(value["a"][0]["b"], format!("a {MARK} b {MARK}\n"));
    }
}
