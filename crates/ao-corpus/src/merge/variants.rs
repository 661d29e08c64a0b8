//! The words of one text that stand where the other has other words.

use std::collections::BTreeSet;
use std::iter::once;

use similar::{Algorithm, DiffOp, capture_diff_slices};
use unicode_normalization::UnicodeNormalization;

use crate::duplicates::is_colour;

/// How many words of a sentence are shown around those that differ; `None` shows all of it.
pub(super) const WINDOWS: [Option<usize>; 5] = [None, Some(4), Some(2), Some(1), Some(0)];

/// Longer pieces are compared as they are, not word by word.
const WORDS_MAX: usize = 4_000;

/// A word as it is compared: lower case, without the signs around it.
pub(super) fn key(raw: &str) -> String {
    let bare = raw.trim_matches(|c: char| !is_letter(c) && !"<>=+%&^~/$#@-\\".contains(c));
    let bare = if bare.is_empty() { raw } else { bare };
    bare.to_lowercase()
}

pub(super) fn keys(text: &str) -> Vec<String> {
    text.split_whitespace().map(key).filter(|key| has_sense(key)).collect()
}

/// Marks of lists and headings, dashes and bars are not words.
fn has_sense(key: &str) -> bool {
    key.chars().any(is_letter) || key.chars().all(|c| "<>=!+%&^~/".contains(c))
}

/// A letter or a figure, also one that is written as a single sign: search reads `㌟` and `™` as words.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || !c.is_ascii() && once(c).nfkd().any(char::is_alphanumeric)
}

/// A piece whose words partly stand in the other text, and which of them do not.
#[derive(Debug)]
pub(super) struct Variant {
    words: Vec<String>,
    /// Runs of words that the other text does not have at this place.
    runs: Vec<std::ops::Range<usize>>,
}

impl Variant {
    /// What `piece` says otherwise than `there`, which says most of it; `None` if it says nothing
    /// that is not `known`.
    pub(super) fn of(piece: &str, there: &str, known: &BTreeSet<String>) -> Option<Self> {
        let words: Vec<String> = piece
            .split_whitespace()
            .filter(|word| has_sense(&key(word)))
            .map(ToOwned::to_owned)
            .collect();
        let ours: Vec<String> = words.iter().map(|word| key(word)).collect();
        let theirs = keys(there);
        if ours.len().max(theirs.len()) > WORDS_MAX {
            let runs = once(0..words.len()).collect();
            return Some(Self { words, runs });
        }
        let mut runs = Vec::new();
        for op in capture_diff_slices(Algorithm::Myers, &theirs, &ours) {
            let run = op.new_range();
            let is_new = |word: &String| {
                if is_colour(word) { !known.contains(word) } else { true }
            };
            if !matches!(op, DiffOp::Equal { .. }) && ours[run.clone()].iter().any(is_new) {
                runs.push(run);
            }
        }
        (!runs.is_empty()).then_some(Self { words, runs })
    }

    /// On one line, with so many words around each run.
    pub(super) fn told(&self, window: Option<usize>) -> String {
        let Some(window) = window else { return self.words.join(" ") };
        let mut parts: Vec<std::ops::Range<usize>> = Vec::new();
        for run in &self.runs {
            let wide = run.start.saturating_sub(window)..(run.end + window).min(self.words.len());
            match parts.last_mut() {
                Some(last) if wide.start <= last.end => last.end = wide.end,
                _ => parts.push(wide),
            }
        }
        let told: Vec<String> =
            parts.iter().map(|part| self.words[part.clone()].join(" ")).collect();
        let is_start = parts.first().is_some_and(|part| part.start == 0);
        let is_end = parts.last().is_some_and(|part| part.end == self.words.len());
        let (before, after) = (if is_start { "" } else { "… " }, if is_end { "" } else { " …" });
        format!("{before}{}{after}", told.join(" … "))
    }

    pub(super) fn words(&self) -> impl Iterator<Item = String> + '_ {
        self.runs.iter().flat_map(|run| self.words[run.clone()].iter().map(|word| key(word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_otherwise_is_told() {
        let known: BTreeSet<String> = keys("the loop often ends in a retry").into_iter().collect();
        let variant = |text, there| Variant::of(text, there, &known);
        let found =
            variant("When the loop 37 ends in a *retry*.", "When the loop often ends in a retry.");
        assert_eq!(found.as_ref().unwrap().told(Some(1)), "… loop 37 ends …");
        assert_eq!(found.unwrap().told(None), "When the loop 37 ends in a *retry*.");
        // A word that only colours, and that stands elsewhere, is not kept once more.
        assert!(variant("the loop often ends", "the loop ends").is_none());
        assert!(variant("The loop ends!", "the loop ends in a retry").is_none());
        // A sign that search reads as a word is one.
        for text in ["the loop ㌟ ends", "the loop㌟ ends", "the ㌟loop ends"] {
            assert!(variant(text, "the loop ends").is_some(), "{text}");
        }
    }
}
