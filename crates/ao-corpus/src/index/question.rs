//! A question: its words in order, and what the index knows of them.

use super::rank::weight;
use super::reader::{Reader, StemRecord};
use super::source::Broken;
use crate::words;

/// More words than this are not read: nobody asks a question of several pages.
pub const QUESTION_WORDS_MAX: usize = 256;

/// The words of a question, stop words left out, each with its stem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    words: Vec<(String, String)>,
    /// How many words were not read, because there were too many.
    pub left_out: usize,
}

impl Question {
    pub fn new(text: &str) -> Self {
        let mut question = Self { words: Vec::new(), left_out: 0 };
        words::each_word(text, |word| {
            if words::is_stop_word(word) {
            } else if question.words.len() < QUESTION_WORDS_MAX {
                question.words.push((word.to_owned(), words::stem(word)));
            } else {
                question.left_out += 1;
            }
        });
        question
    }

    /// Nothing but stop words and signs.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words and their stems, in order and as often as they were asked.
    pub fn words(&self) -> impl Iterator<Item = (&str, &str)> {
        self.words.iter().map(|(word, stem)| (word.as_str(), stem.as_str()))
    }

    /// The stems, in order and as often as they were asked.
    pub fn stems(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|(_, stem)| stem.as_str())
    }
}

/// A stem of the question that the index has.
#[derive(Debug)]
pub(super) struct AskedWord<'q> {
    /// As it was asked first.
    pub(super) text: &'q str,
    /// The number of the stem.
    pub(super) id: usize,
    pub(super) record: StemRecord,
    pub(super) worth: f64,
    pub(super) weight: f64,
}

#[derive(Debug)]
pub(super) struct AskedForm<'q> {
    pub(super) text: &'q str,
    pub(super) id: u32,
    pub(super) weight: f64,
}

/// Two neighbours of the question, by their places in [`Asked::words`].
#[derive(Debug)]
pub(super) struct AskedPair {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) weight: f64,
}

/// A question as the index understands it; everything in the order in which it was asked.
#[derive(Debug)]
pub(super) struct Asked<'q> {
    pub(super) words: Vec<AskedWord<'q>>,
    pub(super) forms: Vec<AskedForm<'q>>,
    pub(super) pairs: Vec<AskedPair>,
    /// How many different stems the index does not have.
    pub(super) unknown: u32,
    /// All forms of all stems, sorted, each with the place of its stem.
    word_of_form: Vec<(u32, usize)>,
    /// A bit a form, modulo the number of bits: most words of an entry were not asked for, and
    /// this says so at once.
    maybe: [u64; FILTER_WORDS],
}

const FILTER_WORDS: usize = 64;

impl<'q> Asked<'q> {
    pub(super) fn of(reader: &Reader, question: &'q Question) -> Result<Self, Broken> {
        let count = question.words.len();
        let mut words = Vec::<AskedWord<'_>>::with_capacity(count);
        let mut forms = Vec::<AskedForm<'_>>::with_capacity(count);
        let mut word_of_form = Vec::with_capacity(2 * count);
        let mut unknown = 0;
        // For each word of the question the place of its stem, if the index has it.
        let mut places: Vec<Option<usize>> = Vec::with_capacity(count);
        for (index, (text, stem)) in question.words.iter().enumerate() {
            let earlier = question.words[..index].iter().position(|(_, other)| other == stem);
            places.push(match earlier {
                Some(earlier) => places[earlier],
                None => match reader.find_stem(stem)? {
                    None => {
                        unknown += 1;
                        None
                    }
                    Some(id) => {
                        let count = question.words.iter().filter(|(_, other)| other == stem);
                        let word = asked_word(reader, id, text, count.count())?;
                        let place = words.len();
                        let put = |form| word_of_form.push((form, place));
                        reader.each_form(&word.record, put)?;
                        words.push(word);
                        Some(place)
                    }
                },
            });
            if !question.words[..index].iter().any(|(other, _)| other == text)
                && let Some((id, df)) = reader.find_form(text)?
            {
                let count = question.words.iter().filter(|(other, _)| other == text).count();
                let rarity = reader.whole.totals.rarity(u64::from(df));
                forms.push(AskedForm { text, id, weight: weight(rarity, small(count)) });
            }
        }
        word_of_form.sort_unstable();
        let mut maybe = [0; FILTER_WORDS];
        for (form, _) in &word_of_form {
            let (slot, bit) = filter_bit(*form);
            maybe[slot] |= bit;
        }
        let pairs = pairs(&places, &words);
        Ok(Self { words, forms, pairs, unknown, word_of_form, maybe })
    }

    /// The place of the asked word that a form belongs to.
    #[inline]
    pub(super) fn word_of(&self, form: u32) -> Option<usize> {
        let (slot, bit) = filter_bit(form);
        if self.maybe[slot] & bit == 0 {
            return None;
        }
        let found = self.word_of_form.binary_search_by_key(&form, |(form, _)| *form).ok()?;
        Some(self.word_of_form[found].1)
    }
}

fn filter_bit(form: u32) -> (usize, u64) {
    let bit = form as usize % (FILTER_WORDS * 64);
    (bit / 64, 1 << (bit % 64))
}

fn asked_word<'q>(
    reader: &Reader,
    id: usize,
    text: &'q str,
    count: usize,
) -> Result<AskedWord<'q>, Broken> {
    let record = reader.stem(id)?;
    let totals = &reader.whole.totals;
    let worth = totals.worth(u64::from(record.df), u64::from(record.title_df));
    let weight = weight(worth, small(count));
    Ok(AskedWord { text, id, record, worth, weight })
}

/// Each two neighbours once.
fn pairs(places: &[Option<usize>], words: &[AskedWord<'_>]) -> Vec<AskedPair> {
    let mut pairs = Vec::<AskedPair>::with_capacity(places.len());
    for two in places.windows(2) {
        let (Some(first), Some(second)) = (two[0], two[1]) else { continue };
        let is_known = pairs.iter().any(|pair| (pair.first, pair.second) == (first, second));
        if first != second && !is_known {
            let weight = words[first].worth.max(words[second].worth);
            pairs.push(AskedPair { first, second, weight });
        }
    }
    pairs
}

/// A question has at most [`QUESTION_WORDS_MAX`] words.
fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
