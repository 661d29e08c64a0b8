//! Signs that a text was written to steer whoever reads it.

use std::ops::Range;

use ao_contract::{Extra, Sign};
use serde_json::Value;

use super::dress::Dress;
use super::hidden::{hidden, visible};
use super::joined::sentences;
use super::packed::{Inner, unpacked};
use super::rules::{Kind, Rules, acts, phrases, shapes};
use super::view::View;
use crate::corpus::{self, Entry};
use crate::document::Form;

/// No more are told of one text.
const SIGNS_MAX: usize = 8;
/// So much is shown of what was seen.
const SEEN_CHARS_MAX: usize = 60;
/// What is packed in what is packed is unpacked, and no further.
const PACKED_MAX: usize = 2;
/// Strings of a header beyond this are not looked at one by one; they are all in the text.
const STRINGS_MAX: usize = 1_000;

/// What a learning earns, and no pending one has.
const EARNED: [&str; 8] = [
    "reward_count",
    "helpful_count",
    "last_reward",
    "last_reward_at",
    "promoted_at",
    "promoted_from",
    "merged_from",
    "vouched",
];
const PROVISIONAL: &str = "provisional";

/// The signs in an entry: in its name, its header and its text.
pub fn signs(entry: &Entry) -> Vec<Sign> {
    let mut found = Found::default();
    let document = &entry.document;
    let text = String::from_utf8_lossy(document.bytes());
    found.look(&text, 0, &|at| format!("line {}", line_of(&text, at)));
    // What is written with escapes reads otherwise once it is read.
    if document.form() == Form::JsonLine || text.contains('\\') {
        let mut strings = Vec::new();
        for (key, value) in document.fields().as_ref() {
            gather(key, value, &mut strings);
        }
        for (key, text) in strings {
            found.look(&text, 0, &|_| format!("header `{}`", visible(&key, SEEN_CHARS_MAX)));
        }
    }
    // What is odd about the name itself is for whoever makes names plain, and for the door.
    let name = entry.stem().replace(['-', '_', '.'], " ");
    found.look_at_words(&name, &|_| "name".to_owned());
    if entry.kind == corpus::Kind::Pending {
        forged(entry, &mut found);
    }
    found.signs
}

fn gather(key: &str, value: &Value, strings: &mut Vec<(String, String)>) {
    if strings.len() >= STRINGS_MAX {
        return;
    }
    match value {
        Value::String(text) => strings.push((key.to_owned(), text.clone())),
        Value::Array(items) => items.iter().for_each(|item| gather(key, item, strings)),
        Value::Object(map) => map.values().for_each(|item| gather(key, item, strings)),
        _ => {}
    }
}

/// A pending learning that says it has come further than any has.
fn forged(entry: &Entry, found: &mut Found) {
    let document = &entry.document;
    let maturity = document.text("maturity").filter(|word| {
        let word = word.trim();
        !word.is_empty() && !word.eq_ignore_ascii_case(PROVISIONAL)
    });
    let earned = EARNED.iter().find(|key| document.has(key) && document.number(key) != Some(0.0));
    let key = maturity.map(|word| format!("maturity: {word}"));
    let key = key.or_else(|| earned.map(|key| (*key).to_owned()));
    if let Some(key) = key {
        found.add(Kind::Forged, "header".to_owned(), &key);
    }
}

#[derive(Debug, Default)]
struct Found {
    signs: Vec<Sign>,
}

impl Found {
    fn add(&mut self, kind: Kind, place: String, seen: &str) {
        let is_known = self.signs.iter().any(|sign| sign.kind == kind.name());
        if !is_known && self.signs.len() < SIGNS_MAX {
            let seen = visible(seen, SEEN_CHARS_MAX);
            self.signs.push(Sign { kind: kind.name().into(), place, seen, extra: Extra::new() });
        }
    }

    /// Looks through a text in every view of it. `place` says where a byte of it stands.
    fn look(&mut self, text: &str, packed: usize, place: &dyn Fn(usize) -> String) {
        for (what, at) in hidden(text) {
            let around = around(text, &at);
            self.add(Kind::Hidden, place(at.start), &format!("{what}: {around}"));
        }
        self.look_at_words(text, place);
        let plain = View::plain(text);
        self.look_by(shapes(), text, &plain, place);
        self.look_by(acts(), text, &plain.flowing(text), place);
        self.look_inside(text, packed, place);
    }

    fn look_by(&mut self, rules: &Rules, text: &str, view: &View, place: &dyn Fn(usize) -> String) {
        for (kind, at) in rules.find(&view.text) {
            let start = view.original(at.start);
            let end = text.ceil_char_boundary(view.original(at.end.saturating_sub(1)) + 1);
            self.add(kind, place(start), around(text, &(start..end.max(start))));
        }
    }

    fn look_at_words(&mut self, text: &str, place: &dyn Fn(usize) -> String) {
        for dress in Dress::of(text) {
            let view = View::words(text, dress);
            let mut found = phrases().find(&view.text);
            // A phrase begins and ends with a blank, which a sentence of letters does not.
            let joined = sentences(&view.text);
            found.extend(
                joined.into_iter().map(|(kind, at)| (kind, at.start.saturating_sub(1)..at.end + 1)),
            );
            for (kind, at) in found {
                let start = view.original(at.start + 1);
                let end = view.original(at.end.saturating_sub(2)).max(start);
                let end = text.ceil_char_boundary(end + 1);
                self.add(kind, place(start), around(text, &(start..end)));
            }
        }
    }

    fn look_inside(&mut self, text: &str, packed: usize, place: &dyn Fn(usize) -> String) {
        if packed < PACKED_MAX {
            for (at, inner) in unpacked(text) {
                let inner = match inner {
                    Inner::Text(inner) => inner,
                    Inner::Compressed => {
                        self.add(Kind::Packed, place(at), "something compressed");
                        continue;
                    }
                    Inner::TooMuch => {
                        self.add(Kind::Packed, place(at), "more is packed than is looked at");
                        break;
                    }
                };
                let mut within = Self::default();
                within.look(&inner, packed + 1, &|_| String::new());
                if let Some(sign) = within.signs.first() {
                    let seen = format!("{}: {}", sign.kind, sign.seen);
                    self.add(Kind::Packed, place(at), &seen);
                }
            }
        }
    }
}

/// The word that something stands in, whole.
fn around<'a>(text: &'a str, at: &Range<usize>) -> &'a str {
    let start = text[..at.start].rfind(char::is_whitespace).map_or(0, |before| before + 1);
    let end = text[at.end..].find(char::is_whitespace).map_or(text.len(), |after| at.end + after);
    text[text.ceil_char_boundary(start)..end].trim()
}

fn line_of(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    1 + memchr::memchr_iter(b'\n', before).count()
}
