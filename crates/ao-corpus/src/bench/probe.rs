//! Questions that an intact corpus answers.
//!
//! A probe is made of a sentence of an entry: its rarest words, without those of the title and
//! without those that no other entry has, which would find it by themselves. A sentence counts only
//! if it reads as the corpus reads: of a sensible length, with enough of the words that many
//! entries share, in an order that others use too. Noise has no such sentence, so an entry whose text was lost has no probe, and that
//! is a miss: a bench that asked noise for its own noise would find it well.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
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
/// And if at least this part of the usual share of its neighbours is known from other entries.
const USUAL_PART: f64 = 0.7;
/// In a smaller corpus few words are in two entries: there a word may be an entry's own.
const SMALL_CORPUS: usize = 200;
/// With fewer entries nothing can be said about what is common.
const TINY_CORPUS: usize = 3;
const PROBE_WORDS_MAX: usize = 8;
const PROBE_WORDS_MIN: usize = 3;
const WORD_CHARS_MIN: usize = 2;
/// So many entries' words are in memory at once.
const ENTRIES_AT_ONCE: usize = 2_000;

/// How many entries have each word, stop words among them, and each two neighbours.
#[derive(Debug)]
pub(super) struct Usage {
    entries: usize,
    /// By their hashes.
    counts: ByHash,
    pairs: ByHash,
    /// The share of a sentence's neighbours that other entries have too, in the middle of all
    /// sentences that were looked at.
    usual_share: f64,
}

impl Usage {
    /// What is usual in `entries`; `looked` are the sentences of those among them that will be asked
    /// for probes.
    pub(super) fn of(entries: &[&Arc<Entry>], looked: &[Vec<Vec<String>>]) -> Self {
        let mut wanted = Wanted::default();
        for sentence in looked.iter().flatten() {
            for pair in pairs_of(sentence) {
                wanted.pairs.number(pair);
            }
            for word in sentence {
                wanted.words.number(hash_of(word));
            }
        }
        let mut counts = (vec![0_usize; wanted.words.len()], vec![0_usize; wanted.pairs.len()]);
        for part in entries.chunks(ENTRIES_AT_ONCE) {
            for (words, pairs) in crate::files::in_parallel(part, |entry| wanted.met(entry)) {
                for word in words {
                    counts.0[word] += 1;
                }
                for pair in pairs {
                    counts.1[pair] += 1;
                }
            }
        }
        let mut usage = Self {
            entries: entries.len(),
            counts: wanted.words.with(&counts.0),
            pairs: wanted.pairs.with(&counts.1),
            usual_share: 0.0,
        };
        let is_sentence = |sentence: &&Vec<String>| SENTENCE_WORDS.contains(&sentence.len());
        let mut shares: Vec<f64> =
            looked.iter().flatten().filter(is_sentence).map(|s| usage.shared(s)).collect();
        shares.sort_by(f64::total_cmp);
        usage.usual_share = shares.get(shares.len() / 2).copied().unwrap_or(0.0);
        usage
    }

    /// The share of a sentence's neighbours that another entry has too.
    fn shared(&self, sentence: &[String]) -> f64 {
        let (mut all, mut shared) = (0_u32, 0_u32);
        for pair in pairs_of(sentence) {
            all += 1;
            shared += u32::from(self.pairs.get(&pair).is_some_and(|count| *count > 1));
        }
        if all == 0 { 0.0 } else { f64::from(shared) / f64::from(all) }
    }

    fn count(&self, word: &str) -> usize {
        self.counts.get(&hash_of(word)).copied().unwrap_or(0)
    }

    fn is_common(&self, word: &str) -> bool {
        self.count(word) >= COMMON_MIN.max(self.entries.div_ceil(COMMON_ONE_IN))
    }

    fn is_readable(&self, sentence: &[String]) -> bool {
        let common = sentence.iter().filter(|word| self.is_common(word)).count();
        SENTENCE_WORDS.contains(&sentence.len())
            && (self.entries < TINY_CORPUS || common * READABLE_ONE_IN >= sentence.len())
            && self.shared(sentence) >= self.usual_share * USUAL_PART
    }

    /// The rarest words of a sentence that can be asked for, in their order.
    fn askable(&self, sentence: &[String], title: &BTreeSet<String>) -> Vec<Askable> {
        let others = if self.entries < SMALL_CORPUS { 1 } else { 2 };
        let mut stems = BTreeSet::new();
        let mut askable = Vec::new();
        for (at, word) in sentence.iter().enumerate() {
            let count = self.count(word);
            let is_word = word.chars().count() >= WORD_CHARS_MIN && !words::is_stop_word(word);
            if !is_word || count < others {
                continue;
            }
            let stem = words::stem(word);
            if !title.contains(&stem) && stems.insert(stem) {
                askable.push(Askable { count, at, word: word.clone() });
            }
        }
        askable.sort_by_key(|askable| (askable.count, askable.at));
        askable.truncate(PROBE_WORDS_MAX);
        askable.sort_by_key(|askable| askable.at);
        askable
    }

    /// A question for an entry, if its sentences give one: of the one that tells most.
    pub(super) fn probe(&self, entry: &Entry, sentences: &[Vec<String>]) -> Option<String> {
        let title: BTreeSet<String> = words::stems(&entry.title()).into_iter().collect();
        let mut best: Option<(f64, Vec<Askable>)> = None;
        for sentence in sentences {
            if !self.is_readable(sentence) {
                continue;
            }
            let askable = self.askable(sentence, &title);
            if askable.len() < PROBE_WORDS_MIN {
                continue;
            }
            let tells = askable.iter().map(|askable| self.tells(askable.count)).sum();
            if best.as_ref().is_none_or(|(most, _)| tells > *most) {
                best = Some((tells, askable));
            }
        }
        let words: Vec<String> = best?.1.into_iter().map(|askable| askable.word).collect();
        Some(words.join(" "))
    }

    /// How much a word that so many entries have tells one from the others.
    fn tells(&self, count: usize) -> f64 {
        let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        libm::log((number(self.entries) + 1.0) / number(count.max(1)))
    }
}

/// A word that can be asked for.
#[derive(Debug)]
struct Askable {
    count: usize,
    at: usize,
    word: String,
}

/// What is counted: a corpus has many words that nobody asks about.
#[derive(Debug, Default)]
struct Wanted {
    words: Numbers,
    pairs: Numbers,
}

/// Hashes, by the order in which they were met.
#[derive(Debug, Default)]
struct Numbers {
    numbers: ByHash,
}

/// What is looked up is a hash already, and every word of the corpus is: nothing is gained by hashing it again.
type ByHash = HashMap<u64, usize, BuildHasherDefault<AsItIs>>;

#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let text = bytes.iter();
        self.0 = text.fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        // The table takes the upper bits by themselves, and FNV mixes the lower ones better.
        self.0 = hash ^ hash.rotate_left(32);
    }
}

impl Numbers {
    fn len(&self) -> usize {
        self.numbers.len()
    }

    fn number(&mut self, hash: u64) {
        let next = self.numbers.len();
        self.numbers.entry(hash).or_insert(next);
    }

    fn number_of(&self, hash: u64) -> Option<usize> {
        self.numbers.get(&hash).copied()
    }

    /// The hashes, each with its count.
    fn with(self, counts: &[usize]) -> ByHash {
        self.numbers.into_iter().map(|(hash, at)| (hash, counts[at])).collect()
    }
}

impl Wanted {
    /// The wanted words and neighbours that an entry has; each once.
    fn met(&self, entry: &Entry) -> (Vec<usize>, Vec<usize>) {
        let (mut found_words, mut found_pairs) = (Vec::new(), Vec::new());
        each_sentence(entry.document.body(), |sentence| {
            let mut before: Option<u64> = None;
            words::each_word(sentence, |word| {
                let word = hash_of(word);
                found_words.extend(self.words.number_of(word));
                let pair = before.replace(word).map(|before| pair_of(before, word));
                found_pairs.extend(pair.and_then(|pair| self.pairs.number_of(pair)));
            });
        });
        for found in [&mut found_words, &mut found_pairs] {
            found.sort_unstable();
            found.dedup();
        }
        (found_words, found_pairs)
    }
}

/// Each two neighbours as a number.
fn pairs_of(sentence: &[String]) -> impl Iterator<Item = u64> {
    sentence.windows(2).map(|two| pair_of(hash_of(&two[0]), hash_of(&two[1])))
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// FNV-1a: that two fall together is rare, and does no harm.
fn hash_of(word: &str) -> u64 {
    word.bytes().fold(FNV_START, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

/// Of one word and the next; in the other order it is another number.
fn pair_of(before: u64, word: u64) -> u64 {
    (before.rotate_left(5) ^ word).wrapping_mul(FNV_PRIME)
}

/// The same on every machine, and nothing to do with what names look like.
pub(super) fn hash(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    let mut head = [0; 8];
    head.copy_from_slice(&hash.as_bytes()[..8]);
    u64::from_le_bytes(head)
}

/// The sentences under the headings, as words.
pub(super) fn sentences(body: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    each_sentence(body, |sentence| {
        let mut words = Vec::new();
        words::each_word(sentence, |word| words.push(word.to_owned()));
        found.push(words);
    });
    found
}

fn each_sentence(body: &str, mut each: impl FnMut(&str)) {
    for section in sections(body) {
        for line in section.text.lines() {
            split(line).into_iter().for_each(&mut each);
        }
    }
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
