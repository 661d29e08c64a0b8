//! Words as small numbers, in the order in which they were met.

use std::collections::HashMap;

use crate::words;

/// A word that says nothing by itself has no number.
const STOP: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Interner {
    /// Stop words are in here too: one look decides everything about a word.
    ids: HashMap<Box<str>, u32>,
    words: Vec<Box<str>>,
}

impl Interner {
    /// The number of a word as [`words::each_word`] gives it, `None` for a stop word.
    pub(super) fn id(&mut self, word: &str) -> Option<u32> {
        if let Some(id) = self.ids.get(word) {
            return (*id != STOP).then_some(*id);
        }
        if words::is_stop_word(word) {
            self.ids.insert(word.into(), STOP);
            return None;
        }
        let id = u32::try_from(self.words.len()).ok().filter(|id| *id != STOP)?;
        self.ids.insert(word.into(), id);
        self.words.push(word.into());
        Some(id)
    }

    /// All words by number.
    pub(super) fn into_words(self) -> Vec<Box<str>> {
        self.words
    }
}
