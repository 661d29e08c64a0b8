//! What of a text can be read, and what it is word for word if it cannot.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use super::claims::Word;
use crate::language::Language;
use crate::pieces::{Shape, item_mark};

/// Letters from here on may stand side by side without a blank between two words: Thai, and all of East Asia.
const DENSE_FROM: u32 = 0x0E00;

/// What is known of the language of a text, piece by piece.
#[derive(Default)]
pub(super) struct PiecesRead {
    is_english: bool,
    is_other: bool,
    /// For each piece whether nobody knows in which language it says something.
    pub(super) unread: Vec<bool>,
    /// The pieces as they are written.
    raw: Vec<String>,
}

impl PiecesRead {
    pub(super) fn piece(&mut self, text: &str, shape: Shape, words: &[Word]) {
        let text = &text[if shape == Shape::Item { item_mark(text) } else { 0 }..];
        let text = if shape == Shape::Heading { text.trim_start_matches('#') } else { text };
        let language = Language::of(text);
        // Code has words of its own; what it is written in is not told by them.
        let is_code = shape == Shape::Code;
        self.is_other |= language == Language::Other;
        self.is_english |= language == Language::English && !is_code;
        self.unread.push(language.is_unread() && !is_code && !words.is_empty());
        self.raw.push(text.to_owned());
    }

    /// The text word for word, unless it can be read.
    pub(super) fn exactly(&self) -> Option<String> {
        let is_read = !self.is_other && (self.is_english || !self.unread.contains(&true));
        if is_read {
            return None;
        }
        // A title in the header and again in the body is said once.
        let mut said = BTreeSet::new();
        let pieces = self.raw.iter().map(|text| exact(text));
        let once: Vec<String> = pieces.filter(|piece| said.insert(piece.clone())).collect();
        Some(exact(&once.join(" ")))
    }
}

/// A text as it is written, but for capitals, blanks and the ends of lines. Writing without blanks between words has
/// them where its lines end.
fn exact(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut exact = String::with_capacity(lower.len());
    for part in lower.split_whitespace() {
        let is_apart = |c: Option<char>| c.is_some_and(|c| u32::from(c) < DENSE_FROM);
        if is_apart(exact.chars().next_back()) && is_apart(part.chars().next()) {
            exact.push(' ');
        }
        exact.extend(part.nfc().filter(|c| *c != '\u{307}').map(|c| match c {
            // Capitals of these are others'.
            'ı' => 'i',
            'ς' => 'σ',
            other => other,
        }));
    }
    exact.replace('ß', "ss")
}
