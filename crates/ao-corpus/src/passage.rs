//! The parts of an entry that answer a question.

use std::collections::BTreeSet;

use crate::corpus::Entry;
use crate::document::{Section, sections};
use crate::index::Question;
use crate::pieces::sentences;
use crate::spoken::is_hearsay;
use crate::words;

/// Stands for sentences that are left out.
const GAP: &str = " … ";

/// A paragraph, with the heading that it stands under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage<'a> {
    pub heading: &'a str,
    pub text: &'a str,
    /// How many different words of the question it has.
    pub matches: usize,
}

/// All paragraphs of an entry in their order.
pub fn passages<'a>(entry: &'a Entry, question: &Question) -> Vec<Passage<'a>> {
    let stems: BTreeSet<&str> = question.stems().collect();
    let mut found = Vec::new();
    for section in told(entry) {
        for text in paragraphs(section.text) {
            let matches = matched(text, &stems).len();
            found.push(Passage { heading: section.heading, text, matches });
        }
    }
    found
}

/// The sections of an entry that are its own word.
fn told(entry: &Entry) -> impl Iterator<Item = Section<'_>> {
    let document = &entry.document;
    sections(document.body()).into_iter().filter(|part| !is_hearsay(document, part.heading))
}

/// The sentences of a passage that have most of a question's words, as many as there is room for,
/// in their order; what is left out between them is told by dots.
pub fn sentences_that_fit(text: &str, question: &Question, bytes_max: usize) -> String {
    let stems: BTreeSet<&str> = question.stems().collect();
    let sentences: Vec<&str> = sentences(text)
        .into_iter()
        .map(|range| text[range].trim())
        .filter(|s| !s.is_empty())
        .collect();
    let mut order: Vec<usize> = (0..sentences.len()).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(matched(sentences[*at], &stems).len()), *at));
    let mut taken = BTreeSet::new();
    let mut room = bytes_max;
    for at in order {
        let length = sentences[at].len() + GAP.len();
        if length <= room {
            room -= length;
            taken.insert(at);
        }
    }
    let mut told = String::new();
    for at in &taken {
        let follows = at.checked_sub(1).is_none_or(|before| taken.contains(&before));
        told.push_str(if follows { " " } else { GAP });
        told.push_str(sentences[*at]);
    }
    told.trim_start().to_owned()
}

/// Runs of lines between empty ones.
fn paragraphs(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut at) = (None, 0);
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            found.extend(start.take().map(|start| &text[start..at]));
        } else if start.is_none() {
            start = Some(at);
        }
        at += line.len();
    }
    found.extend(start.map(|start| &text[start..]));
    found.into_iter().map(str::trim_end).collect()
}

pub(crate) fn matched<'q>(text: &str, stems: &BTreeSet<&'q str>) -> BTreeSet<&'q str> {
    let mut found = BTreeSet::new();
    words::each_word(text, |word| {
        if !words::is_stop_word(word)
            && let Some(stem) = stems.get(words::stem(word).as_str())
        {
            found.insert(*stem);
        }
    });
    found
}

/// A piece of text on one line, with the places of the question's words in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    pub text: String,
    /// Byte ranges of `text`.
    pub marks: Vec<std::ops::Range<usize>>,
}

/// The line of an entry that has most of a question's words; its beginning if none has any.
pub fn snippet(entry: &Entry, question: &Question, chars_max: usize) -> Snippet {
    let stems: BTreeSet<&str> = question.stems().collect();
    let mut best: Option<(usize, &str)> = None;
    for section in told(entry) {
        for line in section.text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let matches = matched(line, &stems).len();
            if best.is_none_or(|(most, _)| matches > most) {
                best = Some((matches, line));
            }
        }
    }
    let Some((_, line)) = best else { return Snippet::default() };
    cut(line, &stems, chars_max)
}

/// As many characters of a line as there is room for, with the first word of the question among
/// them.
fn cut(line: &str, stems: &BTreeSet<&str>, chars_max: usize) -> Snippet {
    let is_asked = |(at, word): &(usize, &str)| {
        let _ = at;
        !matched(word, stems).is_empty()
    };
    let first = raw_words(line).find(is_asked).map_or(0, |(at, _)| at);
    let lead = line[..first].chars().count();
    let total = line.chars().count();
    // A third of the room for what stands before.
    let skip = if total <= chars_max { 0 } else { lead.saturating_sub(chars_max / 3) };
    let mut text: String = line.chars().skip(skip).take(chars_max).collect();
    if skip + chars_max < total {
        text.push('…');
    }
    if skip > 0 {
        text.insert(0, '…');
    }
    let marks = raw_words(&text).filter(is_asked).map(|(at, word)| at..at + word.len()).collect();
    Snippet { text, marks }
}

/// Runs of letters and digits with their places.
fn raw_words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_end_at_empty_lines() {
        assert_eq!(paragraphs("\n\na\nb\n \n\nc"), ["a\nb", "c"]);
        assert!(paragraphs("\n \n").is_empty());
    }

    #[test]
    fn a_snippet_has_the_words_and_marks_them() {
        let stems = BTreeSet::from(["retri"]);
        let line = format!("{} it retries often", "long ".repeat(100));
        let snippet = cut(&line, &stems, 60);
        assert!(snippet.text.chars().count() <= 62 && snippet.text.starts_with('…'));
        let marked: Vec<&str> =
            snippet.marks.iter().map(|range| &snippet.text[range.clone()]).collect();
        assert_eq!(marked, ["retries"]);
        assert_eq!(cut("short", &stems, 60).text, "short");
    }
}
