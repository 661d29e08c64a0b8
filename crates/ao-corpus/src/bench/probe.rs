//! Questions that an intact corpus answers.
//!
//! A probe is made of a sentence of an entry: its rarest words, without those of the title and
//! without those that no other entry has, which would find it by themselves. A sentence counts only
//! if it reads as the corpus reads: of a sensible length, with enough of the words that many
//! entries share. Noise has no such sentence, so an entry whose text was lost has no probe, and that
//! is a miss: a bench that asked noise for its own noise would find it well.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::corpus::Entry;
use crate::document::sections;
use crate::words;

/// So many words has a sentence.
const SENTENCE_WORDS: std::ops::RangeInclusive<usize> = 5..=60;
/// A word is common if this share of the entries has it (one in ten), and at least two.
const COMMON_ONE_IN: usize = 10;
const COMMON_MIN: usize = 2;
/// A sentence reads as text if one word in this many is common.
const READABLE_ONE_IN: usize = 5;
/// In a smaller corpus few words are in two entries: there a word may be an entry's own.
const SMALL_CORPUS: usize = 200;
/// With fewer entries nothing can be said about what is common.
const TINY_CORPUS: usize = 3;
const PROBE_WORDS_MAX: usize = 6;
const PROBE_WORDS_MIN: usize = 3;
const WORD_CHARS_MIN: usize = 3;

/// How many entries have each word, stop words among them.
#[derive(Debug)]
pub(super) struct Usage {
    entries: usize,
    counts: HashMap<String, usize>,
}

impl Usage {
    pub(super) fn of(entries: &[&Arc<Entry>]) -> Self {
        let sets = crate::files::in_parallel(entries, |entry| {
            let mut set = BTreeSet::new();
            words::each_word(entry.document.body(), |word| {
                if !set.contains(word) {
                    set.insert(word.to_owned());
                }
            });
            set
        });
        let mut counts = HashMap::new();
        for word in sets.into_iter().flatten() {
            *counts.entry(word).or_insert(0) += 1;
        }
        Self { entries: entries.len(), counts }
    }

    fn count(&self, word: &str) -> usize {
        self.counts.get(word).copied().unwrap_or(0)
    }

    fn is_common(&self, word: &str) -> bool {
        self.count(word) >= COMMON_MIN.max(self.entries.div_ceil(COMMON_ONE_IN))
    }

    fn is_readable(&self, sentence: &[String]) -> bool {
        let common = sentence.iter().filter(|word| self.is_common(word)).count();
        SENTENCE_WORDS.contains(&sentence.len())
            && (self.entries < TINY_CORPUS || common * READABLE_ONE_IN >= sentence.len())
    }

    /// The words of a sentence that can be asked for, with how rare they are.
    fn askable(&self, sentence: &[String], title: &BTreeSet<String>) -> Vec<(usize, usize, String)> {
        let others = if self.entries < SMALL_CORPUS { 1 } else { 2 };
        let mut stems = BTreeSet::new();
        let mut askable = Vec::new();
        for (at, word) in sentence.iter().enumerate() {
            let is_word = word.chars().count() >= WORD_CHARS_MIN
                && !word.chars().all(|c| c.is_ascii_digit())
                && !words::is_stop_word(word)
                && self.count(word) >= others;
            let stem = words::stem(word);
            if is_word && !title.contains(&stem) && stems.insert(stem) {
                askable.push((self.count(word), at, word.clone()));
            }
        }
        askable
    }

    /// A question for an entry, if its text gives one.
    pub(super) fn probe(&self, entry: &Entry) -> Option<String> {
        let title: BTreeSet<String> = words::stems(&entry.title()).into_iter().collect();
        let mut usable = Vec::new();
        for sentence in sentences(entry.document.body()) {
            let askable = self.askable(&sentence, &title);
            if self.is_readable(&sentence) && askable.len() >= PROBE_WORDS_MIN {
                usable.push(askable);
            }
        }
        let pick = usize::try_from(hash(&entry.path) % (usable.len().max(1) as u64)).unwrap_or(0);
        let mut rarest = usable.into_iter().nth(pick)?;
        rarest.sort_unstable();
        rarest.truncate(PROBE_WORDS_MAX);
        rarest.sort_unstable_by_key(|(_, at, _)| *at);
        let words: Vec<String> = rarest.into_iter().map(|(_, _, word)| word).collect();
        Some(words.join(" "))
    }
}

/// The same on every machine, and nothing to do with what names look like.
pub(super) fn hash(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    let mut head = [0; 8];
    head.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(head)
}

/// The sentences under the headings, as words.
fn sentences(body: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for section in sections(body) {
        for line in section.text.lines() {
            for sentence in split(line) {
                let mut words = Vec::new();
                words::each_word(sentence, |word| words.push(word.to_owned()));
                found.push(words);
            }
        }
    }
    found
}

/// At the signs that end a sentence, where a space or the end of the line follows.
fn split(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, sign) in line.char_indices().filter(|(_, c)| matches!(c, '.' | '!' | '?' | ';')) {
        let end = at + sign.len_utf8();
        if line[end..].chars().next().is_none_or(char::is_whitespace) {
            parts.push(&line[start..end]);
            start = end;
        }
    }
    parts.push(&line[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}
