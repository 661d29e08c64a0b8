//! What a learning says in one sentence: its title, its rule, how it begins.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::known::{Known, each_stem, is_often, known};
use super::vocabulary::{self, Heading};
use crate::corpus::Entry;
use crate::document::{Section, sections};
use crate::duplicates::{Word, hash, is_retraction, is_spelled_number, measures, mix, words_of};
use crate::pieces::{Shape, item_mark, pieces};
use crate::spoken::spoken;
use crate::words;

/// A longer sentence is no rule.
const BYTES_MAX: usize = 400;
const STEMS_MAX: usize = 24;
/// Fewer stems say too little to be held against others.
pub(super) const STEMS_MIN: usize = 3;
/// The first sentence is in here, or is too long.
const OPENING_BYTES_MAX: usize = 1024;
/// No entry makes more statements than this.
const STATEMENTS_MAX: usize = 6;
/// Of a pattern, which says what it says in any of its sentences, so many are read.
const READ_MAX: usize = 60;
/// Headings over the one thing that an entry is about.
const RULES: [&str; 12] = [
    "rule",
    "the rule",
    "lesson",
    "lesson learned",
    "takeaway",
    "key takeaway",
    "recommendation",
    "what we learned",
    APPLIED,
    "principle",
    "pattern",
    "do this",
];
/// What stands under this one is mostly a list of steps.
const APPLIED: &str = "how to apply";
/// What stands behind one of these is the other side of what stands before it.
const PIVOTS: [&str; 6] = ["over", "than", "before", "after", "instead", "from"];
/// The key of a statement that tells not to begins with this.
pub(super) const NOT: &str = "not: ";
/// Signs of our own block; no sentence with them can be quoted in it.
pub(super) const MARKS: [&str; 2] = ["<!--", "-->"];

/// One sentence of an entry, as it is compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Statement {
    /// On one line, as it was written.
    pub(super) text: String,
    /// Whether it claims something beyond doubt; "Retry policy" may be a thing or a deed.
    pub(super) is_certain: bool,
    /// What it is about, sorted.
    pub(super) stems: Vec<u64>,
    /// Whether it tells not to.
    pub(super) is_negative: bool,
    /// Its numbers, with their units.
    pub(super) numbers: Vec<String>,
    /// Words by which it takes something back.
    pub(super) retractions: BTreeSet<String>,
}

/// What only statements that are near to another one are asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Details {
    /// All words in lower case.
    pub(super) words: BTreeSet<String>,
    /// Names of programs, files and flags in it.
    pub(super) names: BTreeSet<u64>,
    /// For each pivot that it has once, the stems of the clause behind it.
    pub(super) behind: Vec<(&'static str, Vec<u64>)>,
}

impl Statement {
    /// Reads a sentence; `None` where it says too little, or too much for a rule.
    pub(super) fn of(text: &str) -> Option<Self> {
        let text = bare(text)?;
        let all = words_of(&text, Shape::Sentence);
        let known: Vec<Rc<Known>> = all.iter().map(|word| known(&word.text)).collect();
        let turned = known.iter().filter(|word| word.is_turned).count();
        let mut numbers = measures(&with_units(&all, &known));
        numbers.extend(all.iter().filter(|word| is_often(&word.text)).map(|w| w.text.clone()));
        numbers.sort_unstable();
        let mut stems: Vec<u64> =
            known.iter().flat_map(|word| word.stems.iter().copied()).collect();
        stems.sort_unstable();
        stems.dedup();
        if !(STEMS_MIN..=STEMS_MAX).contains(&stems.len()) {
            return None;
        }
        Some(Self {
            is_certain: true,
            stems,
            is_negative: turned % 2 == 1,
            numbers,
            retractions: all
                .iter()
                .filter(|w| is_retraction(&w.text))
                .map(|w| w.text.clone())
                .collect(),
            text,
        })
    }

    pub(super) fn details(&self) -> Details {
        let all = words_of(&self.text, Shape::Sentence);
        Details {
            words: all.iter().map(|word| word.text.clone()).collect(),
            names: all.iter().filter(|word| is_program_name(word)).map(|word| word.key).collect(),
            behind: behind(&self.text),
        }
    }

    /// What two statements must have in common to be compared at all.
    pub(super) fn signature(&self) -> u64 {
        let numbers = self.numbers.iter().chain(&self.retractions);
        let start = u64::from(self.is_negative) + 1;
        numbers.fold(start, |key, number| mix(key ^ hash(number.as_bytes())))
    }

    /// What it is about, in words that stay the same: its stems in order, and whether it tells not to.
    pub(super) fn key(&self) -> String {
        let mut stems: BTreeSet<String> = BTreeSet::new();
        for word in words_of(&self.text, Shape::Sentence) {
            each_stem(&word.text, |stem| {
                stems.insert(stem);
            });
        }
        let stems: Vec<String> = stems.into_iter().collect();
        let numbers = self.numbers.iter().map(|number| format!(" {number}"));
        let not = if self.is_negative { NOT } else { "" };
        format!("{not}{}{}", stems.join(" "), numbers.collect::<String>())
    }
}

/// A sentence on one line without the marks around it.
fn bare(text: &str) -> Option<String> {
    if text.len() > BYTES_MAX || MARKS.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line[item_mark(&line)..].trim_start_matches('#').trim();
    // A question asks, and a line that ends so only announces.
    let is_open = line.ends_with(['?', ':']) || line.contains(char::is_control);
    (!line.is_empty() && !is_open).then(|| line.to_owned())
}

/// Numbers, each with the word behind it, which may be its unit.
fn with_units(all: &[Word], known: &[Rc<Known>]) -> Vec<Word> {
    let is_number = |at: usize| known[at].is_number;
    let is_unit = |at: usize| at > 0 && is_number(at - 1) && !is_spelled_number(&all[at].text);
    let places = (0..all.len()).filter(|at| is_number(*at) || is_unit(*at));
    places.map(|at| all[at].clone()).collect()
}

/// Whether a word is written as a name; a capital letter in a title is none.
fn is_program_name(word: &Word) -> bool {
    let signs = word.text.bytes().filter(|byte| b"_:=<>$#@(){}[]\\`".contains(byte)).count();
    word.is_name && (signs > 0 || word.text.starts_with('-') || word.text.contains('.'))
}

fn behind(text: &str) -> Vec<(&'static str, Vec<u64>)> {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    for pivot in PIVOTS {
        let is_pivot = |token: &&str| token.eq_ignore_ascii_case(pivot);
        let Some(at) = tokens.iter().position(&is_pivot) else { continue };
        if tokens[at + 1..].iter().any(is_pivot) {
            continue;
        }
        let mut stems = Vec::new();
        for token in &tokens[at + 1..] {
            stems.extend(&known(&token.to_lowercase()).stems);
            if token.ends_with([',', ';', ':', '.']) {
                break;
            }
        }
        found.push((pivot, stems));
    }
    found
}

/// The beginning of a text.
fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// What an entry says, the most telling first.
pub(super) fn statements(entry: &Entry) -> Vec<Statement> {
    let document = &entry.document;
    let mut texts: Vec<String> = Vec::new();
    let title = document.title().and_then(|title| of_title(&title));
    texts.extend(document.text("summary").map(std::borrow::Cow::into_owned));
    let body = spoken(entry);
    let parts = sections(&body);
    texts.extend(parts.iter().filter(|part| is_rule(part)).filter_map(|part| only_rule(part)));
    texts.extend(opening(&parts).filter(|text| !texts.contains(text)));
    let mut found: Vec<Statement> = title.into_iter().collect();
    for statement in texts.iter().filter_map(|text| Statement::of(text)) {
        if !found.iter().any(|known| known.stems == statement.stems) {
            found.push(statement);
        }
    }
    found.truncate(STATEMENTS_MAX);
    found
}

/// Every sentence of an entry, within bounds.
pub(super) fn all_statements(entry: &Entry) -> Vec<Statement> {
    let document = &entry.document;
    let body = spoken(entry);
    let head = [document.title(), document.text("summary")];
    let head = head.into_iter().flatten().map(std::borrow::Cow::into_owned);
    let sentences = pieces(&body).into_iter().map(|piece| body[piece.span].to_owned());
    head.chain(sentences).take(READ_MAX).filter_map(|text| Statement::of(&text)).collect()
}

/// What a title says, unless it only names a subject.
fn of_title(title: &str) -> Option<Statement> {
    let mut found = Vec::new();
    words::each_word(title, |word| found.push(word.to_owned()));
    let is_turned = title.split_whitespace().any(|word| known(&word.to_lowercase()).is_turned);
    let heading = if is_turned { Heading::Claim } else { vocabulary::heading(&found) };
    let is_certain = heading == Heading::Claim;
    if heading == Heading::Subject {
        return None;
    }
    Some(Statement { is_certain, ..Statement::of(title)? })
}

fn is_rule(section: &Section<'_>) -> bool {
    let heading = section.heading.trim_end_matches(':');
    RULES.iter().any(|rule| heading.eq_ignore_ascii_case(rule))
}

/// The rule of a section: its first sentence, unless it is one of several steps.
fn only_rule(section: &Section<'_>) -> Option<String> {
    let lines = || section.text.lines().filter(|line| !line.trim().is_empty());
    let items = lines().filter(|line| item_mark(line) > 0).take(2).count();
    let is_list = section.heading.trim_end_matches(':').eq_ignore_ascii_case(APPLIED);
    if is_list && items > 0 && lines().take(2).count() > 1 {
        return None;
    }
    let text = head(section.text, OPENING_BYTES_MAX);
    let found = pieces(text);
    let first = found.iter().find(|piece| matches!(piece.shape, Shape::Sentence | Shape::Item))?;
    let is_step = items > 1 && first.shape == Shape::Item;
    (!is_step).then(|| text[first.span.clone()].to_owned())
}

/// The first sentence of the text, behind lines such as `**ID**: L1`.
fn opening(parts: &[Section<'_>]) -> Option<String> {
    let mut read = parts.iter().flat_map(|part| {
        let text = head(part.text, OPENING_BYTES_MAX);
        pieces(text).into_iter().map(move |piece| (piece.shape, text[piece.span].to_owned()))
    });
    let is_text = |(shape, text): &(Shape, String)| {
        *shape == Shape::Sentence && !text.starts_with("**") && !text.starts_with('>')
    };
    read.find(is_text).map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Statement {
        Statement::of(text).unwrap()
    }

    #[test]
    fn wording_makes_no_difference_and_numbers_and_negations_do() {
        let one = of("Always close the connection pool in integration tests.");
        let other = of("Integration tests must shut their connection-pool");
        assert_eq!(one.stems, other.stems);
        assert_eq!(one.signature(), other.signature());
        let not = of("Never close the connection pool in integration tests");
        let avoid = of("Avoid closing the connection pool in integration tests");
        assert_eq!(not.signature(), avoid.signature());
        assert_ne!(one.signature(), not.signature());
        let twice = of("Never start a migration of tables without a backup");
        assert!(!twice.is_negative);
        let short = of("Wait 30 seconds for the worker queue to drain");
        assert_eq!(short.numbers, of("Wait 30s until the worker queue drains").numbers);
        assert_ne!(short.numbers, of("Wait 90s until the worker queue drains").numbers);
        assert!(Statement::of("Why does the worker queue drain slowly?").is_none());
        assert!(Statement::of("Queue drain").is_none());
        assert!(Statement::of("Close the pool --> of every worker").is_none());
    }

    #[test]
    fn a_subject_is_no_claim() {
        let is_certain = |title: &str| of_title(title).map(|statement| statement.is_certain);
        assert_eq!(is_certain("Nightly report writer"), None);
        assert_eq!(is_certain("Retry policy of the upload worker"), Some(false));
        assert_eq!(is_certain("Sync the nightly report before the rename"), Some(true));
        assert_eq!(is_certain("The nightly report writer needs a lock"), Some(true));
    }
}
