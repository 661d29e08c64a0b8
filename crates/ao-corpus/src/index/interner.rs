//! Words as small numbers, in the order in which they were met.
//!
//! Half of the time of an index goes into this look, so the table holds short words in its own
//! slots: one place in memory tells everything about a word. Its hash is keyed anew in every
//! process, so nobody can write a text whose words all fall into one place; the numbers do not
//! depend on it.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use crate::words;

/// A word that says nothing by itself has no number.
const STOP: u32 = u32::MAX;
/// A slot that holds no word.
const EMPTY: u32 = u32::MAX - 1;
/// Almost all words are no longer than this.
const SHORT_BYTES_MAX: usize = 12;
const SLOTS_MIN: usize = 1024;

/// A short word in zeroes: no word has a zero in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Short {
    head: u64,
    tail: u32,
}

impl Short {
    /// Put together from a few loads that may overlap; a copy of so few bytes would cost more than
    /// all the rest.
    fn of(word: &str) -> Option<Self> {
        let bytes = word.as_bytes();
        let length = bytes.len();
        let four =
            |at: usize| bytes.get(at..at + 4)?.first_chunk().map(|four| u32::from_le_bytes(*four));
        match length {
            1..=3 => {
                let byte = |at: usize| u64::from(bytes[at]) << (8 * at);
                Some(Self { head: byte(0) | byte(length / 2) | byte(length - 1), tail: 0 })
            }
            4..=8 => {
                let last = u64::from(four(length - 4)?) << (8 * (length - 4));
                Some(Self { head: u64::from(four(0)?) | last, tail: 0 })
            }
            9..=SHORT_BYTES_MAX => {
                let head = u64::from_le_bytes(*bytes.first_chunk()?);
                Some(Self { head, tail: four(length - 4)? >> (8 * (SHORT_BYTES_MAX - length)) })
            }
            _ => None,
        }
    }
}

/// Sixteen bytes, so that none lies across two lines of the cache.
#[derive(Debug, Clone, Copy)]
struct Slot {
    head: u64,
    tail: u32,
    id: u32,
}

const NO_SLOT: Slot = Slot { head: 0, tail: 0, id: EMPTY };

#[derive(Debug)]
pub(super) struct Interner {
    /// A power of two, never more than three quarters full: a small table stays in the cache. Stop
    /// words are in here too.
    slots: Vec<Slot>,
    taken: usize,
    keys: [u64; 2],
    long: HashMap<Box<str>, u32>,
    words: Vec<Box<str>>,
}

impl Default for Interner {
    fn default() -> Self {
        let state = RandomState::new();
        Self {
            slots: vec![NO_SLOT; SLOTS_MIN],
            taken: 0,
            keys: [state.hash_one(1), state.hash_one(2)],
            long: HashMap::new(),
            words: Vec::new(),
        }
    }
}

impl Interner {
    /// The number of a word as [`words::each_word`] gives it, `None` for a stop word.
    pub(super) fn id(&mut self, word: &str) -> Option<u32> {
        let id = match Short::of(word) {
            Some(short) => self.short(short, word),
            None => self.long(word),
        };
        (id != STOP).then_some(id)
    }

    fn short(&mut self, short: Short, word: &str) -> u32 {
        let mut at = self.place(short);
        loop {
            let slot = self.slots[at];
            if slot.id == EMPTY {
                break;
            }
            if slot.head == short.head && slot.tail == short.tail {
                return slot.id;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let id = self.number(word);
        self.slots[at] = Slot { head: short.head, tail: short.tail, id };
        self.taken += 1;
        if self.taken * 4 > self.slots.len() * 3 {
            self.grow();
        }
        id
    }

    fn long(&mut self, word: &str) -> u32 {
        if let Some(id) = self.long.get(word) {
            return *id;
        }
        let id = self.number(word);
        self.long.insert(word.into(), id);
        id
    }

    /// The number of a word that was not met before.
    fn number(&mut self, word: &str) -> u32 {
        match u32::try_from(self.words.len()) {
            Ok(id) if id < EMPTY && !words::is_stop_word(word) => {
                self.words.push(word.into());
                id
            }
            _ => STOP,
        }
    }

    /// The two halves, multiplied with keys that nobody knows, folded.
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are what is wanted")]
    fn place(&self, word: Short) -> usize {
        let folded = fold(word.head ^ self.keys[0], u64::from(word.tail) ^ self.keys[1]);
        folded as usize & (self.slots.len() - 1)
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots = vec![NO_SLOT; old.len() * 2];
        for slot in old.into_iter().filter(|slot| slot.id != EMPTY) {
            let mut at = self.place(Short { head: slot.head, tail: slot.tail });
            while self.slots[at].id != EMPTY {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// All words by number.
    pub(super) fn into_words(self) -> Vec<Box<str>> {
        self.words
    }
}

/// The two halves of a product, one over the other.
pub(super) fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    #[expect(clippy::cast_possible_truncation, reason = "each half by itself")]
    let [low, high] = [product as u64, (product >> 64) as u64];
    low ^ high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_words_are_told_apart() {
        let text = "abcdefghijklmnop";
        for length in 1..=SHORT_BYTES_MAX {
            let mut bytes = [0; SHORT_BYTES_MAX];
            bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
            let head = u64::from_le_bytes(*bytes.first_chunk().unwrap());
            let tail = u32::from_le_bytes(*bytes.last_chunk().unwrap());
            assert_eq!(Short::of(&text[..length]), Some(Short { head, tail }), "{length}");
        }
        assert_eq!(Short::of(&text[..=SHORT_BYTES_MAX]), None);
        assert_eq!(Short::of(""), None);
    }

    #[test]
    fn every_word_has_one_number() {
        let mut interner = Interner::default();
        let words: Vec<String> = (0..5000)
            .map(|n| format!("w{n}"))
            .chain((0..500).map(|n| format!("a-long-word-{n}")))
            .collect();
        for round in 0..2 {
            for (id, word) in words.iter().enumerate() {
                assert_eq!(interner.id(word), u32::try_from(id).ok(), "{word} {round}");
            }
            assert_eq!(interner.id("the"), None);
        }
        let met: Vec<String> = interner.into_words().into_iter().map(String::from).collect();
        assert_eq!(met, words);
    }
}
