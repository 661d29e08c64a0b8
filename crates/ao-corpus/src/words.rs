//! The words of a text, as search and comparison see them.
//!
//! One tokenizer for everything: what is indexed, asked, probed and compared. The result depends
//! on nothing but the text: no locale, no dictionary on the machine.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longer runs are keys, hashes of blobs or noise; nobody asks for them by heart.
const WORD_BYTES_MAX: usize = 64;

/// So many stems a thread remembers; a corpus of another vocabulary only costs time.
const STEMS_MAX: usize = 1 << 15;

/// Words that every text has and no question is about.
const STOP_WORDS: &str = "a about after all also am an and any are as at be because been before \
    being between both but by can could did do does doing done during each eg either else etc for from further \
    get give had has have having he her here him his how i ie if in into is it its itself just \
    let may me might more most much must my neither no nor not of off on once only or other \
    our out over own per same shall she should since so some such than that the their them \
    then there these they this those through thus to too under until up upon us use used using \
    very via was we were what when where whether which while who whom whose why will with \
    within without would yet you your";

static STOPS: LazyLock<HashSet<&str, Quickly>> =
    LazyLock::new(|| STOP_WORDS.split_whitespace().collect());

/// For tables of words that are asked for every word of a corpus. Nobody gains by words that fall together: a corpus
/// is bounded, and whoever writes it can make it slow in simpler ways.
pub(crate) type Quickly = BuildHasherDefault<Quick>;

#[derive(Debug, Default)]
pub(crate) struct Quick(u64);

impl Quick {
    const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

    fn add(&mut self, piece: u64) {
        self.0 = (self.0 ^ piece).wrapping_mul(Self::STEP);
        self.0 ^= self.0 >> 32;
    }
}

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (pieces, rest) = bytes.as_chunks::<8>();
        for piece in pieces {
            self.add(u64::from_le_bytes(*piece));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last));
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }
}

thread_local! {
    static STEMMER: Stemmer = Stemmer::create(Algorithm::English);
    /// Texts repeat their words, and stemming one is dear.
    static STEMS: RefCell<HashMap<Box<str>, Box<str>, Quickly>> = RefCell::default();
}

/// Calls `each` with every word of the text in order: lower case, without accents, stop words
/// left in. Writing without spaces (Chinese, Japanese, Thai) gives overlapping pairs of
/// characters.
pub fn each_word(text: &str, mut each: impl FnMut(&str)) {
    if text.is_ascii() {
        ascii_words(text, &mut each);
    } else {
        let folded: String = text.nfkd().filter(|c| !is_combining_mark(*c)).collect();
        any_words(&folded.to_lowercase(), &mut each);
    }
}

/// Whether a word, as [`each_word`] gives it, says nothing by itself.
pub fn is_stop_word(word: &str) -> bool {
    let is_one_letter = word.len() == 1 && !word.as_bytes()[0].is_ascii_digit();
    is_one_letter || STOPS.contains(word)
}

/// The stem of a word, as [`each_word`] gives it.
pub fn stem(word: &str) -> String {
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.get(word) {
            return String::from(&**stem);
        }
        let stem = STEMMER.with(|stemmer| stemmer.stem(word).into_owned());
        if stems.len() >= STEMS_MAX {
            stems.clear();
        }
        stems.insert(word.into(), stem.as_str().into());
        stem
    })
}

/// The stems of a text in order, stop words left out.
pub fn stems(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_word(text, |word| {
        if !is_stop_word(word) {
            found.push(stem(word));
        }
    });
    found
}

fn ascii_words(text: &str, each: &mut impl FnMut(&str)) {
    let lower = text.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_alphanumeric) {
            at += 1;
        }
        if bytes.get(at) == Some(&b'\'') && is_inner_apostrophe(bytes, at) {
            at = apostrophed(&lower, start, each);
        } else {
            each(&lower[start..at.min(start + WORD_BYTES_MAX)]);
        }
    }
}

/// A word with apostrophes in it; returns where it ends.
fn apostrophed(lower: &str, start: usize, each: &mut impl FnMut(&str)) -> usize {
    let text = lower.as_bytes();
    let mut word = String::new();
    let mut at = start;
    while at < text.len() {
        let byte = text[at];
        if byte.is_ascii_alphanumeric() {
            word.push(char::from(byte));
        } else if !is_inner_apostrophe(text, at) {
            break;
        } else if is_possessive(text, at) {
            at += 2;
            break;
        }
        at += 1;
    }
    word.truncate(WORD_BYTES_MAX);
    each(&word);
    at
}

/// `don't` is one word.
fn is_inner_apostrophe(text: &[u8], at: usize) -> bool {
    let is_letter = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphabetic);
    text[at] == b'\'' && at > 0 && is_letter(at - 1) && is_letter(at + 1)
}

/// `parser's` is the parser.
fn is_possessive(text: &[u8], at: usize) -> bool {
    let ends = text.get(at + 2).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    text[at + 1].eq_ignore_ascii_case(&b's') && ends
}

fn any_words(text: &str, each: &mut impl FnMut(&str)) {
    // All other apostrophes that are typed between letters become the plain one.
    let text: String =
        text.chars().map(|c| if matches!(c, '\u{2019}' | '\u{2bc}') { '\'' } else { c }).collect();
    for run in text.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        spaced_and_not(run, each);
    }
}

/// Splits a run at the border between writing with spaces and writing without them.
fn spaced_and_not(run: &str, each: &mut impl FnMut(&str)) {
    let mut rest = run;
    while let Some(first) = rest.chars().next() {
        let is_dense = is_unspaced(first);
        let end = rest
            .char_indices()
            .find(|(_, c)| is_unspaced(*c) != is_dense)
            .map_or(rest.len(), |(at, _)| at);
        let (part, after) = rest.split_at(end);
        if is_dense {
            pairs(part, each);
        } else {
            plain(part, each);
        }
        rest = after;
    }
}

fn plain(part: &str, each: &mut impl FnMut(&str)) {
    if part.is_ascii() {
        return ascii_words(part, each);
    }
    let part = part.strip_suffix("'s").unwrap_or(part);
    let mut word: String = part.chars().filter(|c| *c != '\'').collect();
    let end = (0..=WORD_BYTES_MAX.min(word.len())).rev().find(|at| word.is_char_boundary(*at));
    word.truncate(end.unwrap_or(0));
    if !word.is_empty() {
        each(&word);
    }
}

fn pairs(part: &str, each: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = part.char_indices().map(|(at, _)| at).chain([part.len()]).collect();
    if starts.len() == 2 {
        return each(part);
    }
    for pair in starts.windows(3) {
        each(&part[pair[0]..pair[2]]);
    }
}

fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x3040..=0x30FF | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_word(text, |word| found.push(word.to_owned()));
        found
    }

    #[test]
    fn words_are_folded_and_cut_where_writing_does_not_tell() {
        assert_eq!(
            words("The parser's don't-care `snake_case`, v2.0"),
            ["the", "parser", "dont", "care", "snake", "case", "v2", "0"]
        );
        assert_eq!(words("Café ＦＯＯ Straße l’été’s"), ["cafe", "foo", "straße", "lete"]);
        assert_eq!(words("数据库 lock"), ["数据", "据库", "lock"]);
        assert_eq!(words("鎖"), ["鎖"]);
        assert_eq!(words("' '' 's a's"), ["s", "a"]);
    }

    #[test]
    fn stems_leave_out_what_says_nothing() {
        assert_eq!(stems("The retries of a retrying x 7"), ["retri", "retri", "7"]);
    }
}
