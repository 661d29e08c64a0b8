//! What of a text is compared: the set of its stems, and the set of its pairs of neighbouring stems.

use std::cell::RefCell;

use crate::words;

/// Slots of the memory for stems; a text of another vocabulary only costs time.
const MEMORY_SLOTS: usize = 1 << 15;
const HASH_START: u64 = 0xcbf2_9ce4_8422_2325;
const HASH_STEP: u64 = 0x0000_0100_0000_01b3;
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
/// No stem has this number: it stands for a word that says nothing by itself.
const STOP: u32 = 0;

/// The stems of a text and their pairs as sorted sets of numbers. The numbers are hashes with fixed
/// seeds: the same on every machine, and in every run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Features {
    pub stems: Vec<u32>,
    pub pairs: Vec<u32>,
}

impl Features {
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut features = Self::default();
        for text in texts {
            features.add(text);
        }
        for set in [&mut features.stems, &mut features.pairs] {
            set.sort_unstable();
            set.dedup();
            set.shrink_to_fit();
        }
        features
    }

    fn add(&mut self, text: &str) {
        let mut last = STOP;
        words::each_word(text, |word| {
            let stem = stem_number(word);
            if stem == STOP {
                return;
            }
            self.stems.push(stem);
            if last != STOP {
                self.pairs.push(pair(last, stem));
            }
            last = stem;
        });
    }
}

/// How much of two sets is in both, from 0 to 1. Two empty sets have nothing in common.
pub fn overlap(one: &[u32], other: &[u32]) -> f64 {
    let (mut at, mut there, mut shared) = (0, 0, 0_usize);
    while at < one.len() && there < other.len() {
        match one[at].cmp(&other[there]) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => there += 1,
            std::cmp::Ordering::Equal => {
                shared += 1;
                at += 1;
                there += 1;
            }
        }
    }
    let union = one.len() + other.len() - shared;
    #[expect(clippy::cast_precision_loss, reason = "sets of words are far smaller than 2^52")]
    let ratio = if union == 0 { 0.0 } else { shared as f64 / union as f64 };
    ratio
}

pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let mut hash = HASH_START;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(HASH_STEP);
    }
    mix(hash)
}

/// Spreads what differs in a few bits over all of them.
pub(crate) fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 32)).wrapping_mul(MIX);
    value = (value ^ (value >> 29)).wrapping_mul(MIX);
    value ^ (value >> 32)
}

#[expect(clippy::cast_possible_truncation, reason = "half of a mixed hash is a hash")]
fn pair(first: u32, second: u32) -> u32 {
    mix((u64::from(first) << 32) | u64::from(second)) as u32
}

thread_local! {
    /// Hashes of words and of their stems. Stemming is the dearest step, and texts repeat their words.
    static MEMORY: RefCell<Vec<Known>> = RefCell::new(vec![Known::default(); MEMORY_SLOTS]);
}

#[derive(Debug, Clone, Copy, Default)]
struct Known {
    word: u64,
    stem: u64,
    is_stop: bool,
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits choose the slot")]
fn known(word: &str) -> Known {
    let key = hash(word.as_bytes());
    MEMORY.with_borrow_mut(|memory| {
        let slot = &mut memory[key as usize % MEMORY_SLOTS];
        if slot.word != key {
            let stem = hash(words::stem(word).as_bytes());
            *slot = Known { word: key, stem, is_stop: words::is_stop_word(word) };
        }
        *slot
    })
}

/// The hash of a word's stem.
pub(crate) fn stem_hash(word: &str) -> u64 {
    known(word).stem
}

#[expect(clippy::cast_possible_truncation, reason = "half of a mixed hash is a hash")]
fn stem_number(word: &str) -> u32 {
    let known = known(word);
    if known.is_stop { STOP } else { (known.stem as u32).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH_OF_PARSER: u64 = 7_928_118_709_921_420_310;

    #[test]
    fn sets_of_stems_and_pairs() {
        let one = Features::of(["The retries of a retry loop"]);
        assert_eq!((one.stems.len(), one.pairs.len()), (2, 2));
        let other = Features::of(["Retry the loop", "loop retry"]);
        assert!((overlap(&one.stems, &other.stems) - 1.0).abs() < 1e-9);
        assert!(overlap(&one.pairs, &other.pairs) < 0.5);
        assert!(overlap(&[], &[]) < 1e-9);
    }

    #[test]
    fn numbers_do_not_depend_on_the_machine() {
        assert_eq!(hash(b"parser"), HASH_OF_PARSER);
        assert_eq!(stem_hash("parsers"), stem_hash("parser"));
    }
}
