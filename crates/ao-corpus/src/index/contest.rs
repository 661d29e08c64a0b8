//! Who comes before one entry, found without ranking everything.
//!
//! A proof asks tens of thousands of questions, and each only wants to know the place of one entry.
//! Its relevance is read off directly. What all others score at most is added up in small whole
//! numbers, rounded up, which takes microseconds where a ranking takes a millisecond; and only those
//! whose bound suffices are looked at word by word.

use std::cell::RefCell;
use std::sync::OnceLock;

use super::formula::{EXACT, PAIR, RERANKED, SATURATED_MAX, saturated};
use super::question::{Asked, Question};
use super::rank::{Matches, Ranked};
use super::reader::Reader;
use super::source::Broken;

/// A word that one in so many entries has, has a row.
const ROW_SHARE: usize = 32;
/// More would need too much memory; a corpus of half a million has few rows, and takes its time.
const ROWS_BYTES_MAX: usize = 48 * 1024 * 1024;
/// What all weights of a question become together: times a byte they fit into 16 bits.
const WEIGHTS: f64 = 224.0;
/// More words than this are rounded up too far.
const WORDS_MAX: usize = 32;
/// More than these are ranked as a whole.
const CANDIDATES_MAX: usize = 2 * RERANKED;

const CHUNK: usize = 256;

/// How an entry stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Contest {
    /// It has none of the words.
    Absent,
    /// Its relevance, and all others of at least the relevance that a rival needs.
    Decided { relevance: f64, rivals: Vec<Ranked> },
    /// Too many could be rivals: rank them all.
    Open,
}

/// For common words, what each entry scores for the word at most: a byte an entry.
#[derive(Debug)]
pub(super) struct Rows {
    /// By the number of the stem.
    rows: Vec<OnceLock<Box<[u8]>>>,
    /// Their bytes so far.
    made: std::sync::atomic::AtomicUsize,
}

impl Rows {
    pub(super) fn new(stems: usize) -> Self {
        let rows = std::iter::repeat_with(OnceLock::new).take(stems).collect();
        Self { rows, made: 0.into() }
    }

    fn of(&self, reader: &Reader, word: &super::question::AskedWord) -> Option<&[u8]> {
        let slot = self.rows.get(word.id)?;
        if let Some(row) = slot.get() {
            return Some(row);
        }
        let is_common = word.record.df as usize > reader.entries / ROW_SHARE;
        let order = std::sync::atomic::Ordering::Relaxed;
        if !is_common || self.made.fetch_add(reader.entries, order) >= ROWS_BYTES_MAX {
            return None;
        }
        let mut row = vec![0; reader.entries].into_boxed_slice();
        let fill = |entry: usize, title, body| {
            row[entry] = byte(saturated(reader.resistance[entry], title, body));
        };
        reader.each_posting(&word.record, fill).ok()?;
        Some(slot.get_or_init(|| row))
    }
}

/// A saturation as a share of what it can be, rounded up.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
fn byte(saturation: f64) -> u8 {
    (saturation * (255.0 / SATURATED_MAX)).ceil().min(255.0) as u8
}

thread_local! {
    /// What each entry scores at most; kept, since half of the time would go into making it.
    static SUMS: RefCell<Vec<u16>> = const { RefCell::new(Vec::new()) };
}

/// Tells how `entry` stands; `needed` says of its relevance what a rival needs.
pub(super) fn contest(
    reader: &Reader,
    question: &Question,
    entry: usize,
    needed: impl FnOnce(f64) -> f64,
) -> Result<Contest, Broken> {
    let asked = Asked::of(reader, question)?;
    let mut matches = Matches::default();
    let (own_first, relevance) = matches.relevance(reader, &asked, entry)?;
    if own_first <= 0.0 {
        return Ok(Contest::Absent);
    }
    if asked.words.len() > WORDS_MAX {
        return Ok(Contest::Open);
    }
    let needed = needed(relevance);
    SUMS.with_borrow_mut(|sums| {
        let scale = add_up(reader, &asked, &with_second(&asked), sums)?;
        let bar = floor(needed * scale);
        let Some(candidates) = at_least(sums, bar, entry) else { return Ok(Contest::Open) };
        let mut rivals = Vec::new();
        let mut least_first = own_first;
        for other in candidates {
            let (first, relevance) = matches.relevance(reader, &asked, other)?;
            if relevance >= needed {
                least_first = least_first.min(first);
                rivals.push(Ranked { entry: other, relevance });
            }
        }
        // Only the best at the first look get a second one: all rivals must be among them.
        let mut is_certain = has_few(sums, least_first * scale);
        if !is_certain {
            let firsts: Vec<f64> = asked.words.iter().map(|word| word.weight).collect();
            let scale = add_up(reader, &asked, &firsts, sums)?;
            is_certain = has_few(sums, least_first * scale);
        }
        Ok(if is_certain { Contest::Decided { relevance, rivals } } else { Contest::Open })
    })
}

/// Everybody but `entry` who comes up to the bar, if they are not too many.
fn at_least(sums: &[u16], bar: u16, entry: usize) -> Option<Vec<usize>> {
    let mut candidates = Vec::new();
    for (nth, chunk) in sums.chunks(CHUNK).enumerate() {
        // Most have nobody: this is told for many at a time.
        if chunk.iter().fold(0, |most: u16, sum| most.max(*sum)) < bar {
            continue;
        }
        let all = chunk.iter().enumerate().map(|(at, sum)| (nth * CHUNK + at, *sum));
        candidates.extend(all.filter(|(at, sum)| *sum >= bar && *at != entry).map(|(at, _)| at));
        if candidates.len() > CANDIDATES_MAX {
            return None;
        }
    }
    Some(candidates)
}

/// Whether no more entries come up to this than get a second look.
fn has_few(sums: &[u16], least: f64) -> bool {
    let least = floor(least);
    sums.iter().map(|sum| usize::from(*sum >= least)).sum::<usize>() <= RERANKED
}

/// Puts what each entry scores at most with these weights into `sums`; gives their scale.
fn add_up(
    reader: &Reader,
    asked: &Asked,
    weights: &[f64],
    sums: &mut Vec<u16>,
) -> Result<f64, Broken> {
    sums.clear();
    sums.resize(reader.entries, 0);
    let all: f64 = weights.iter().sum();
    let rows = reader.rows()?;
    for (word, weight) in asked.words.iter().zip(weights) {
        let weight = share(weight / all);
        if let Some(row) = rows.of(reader, word) {
            for (sum, byte) in sums.iter_mut().zip(row) {
                *sum += u16::from(*byte) * weight;
            }
        } else {
            reader.each_posting(&word.record, |other, title, body| {
                let byte = byte(saturated(reader.resistance[other], title, body));
                sums[other] += u16::from(byte) * weight;
            })?;
        }
    }
    Ok(WEIGHTS / all * (255.0 / SATURATED_MAX))
}

/// A share of all weights, rounded up: with [`WORDS_MAX`] words they add up to at most 256, and times
/// a byte that fits into 16 bits.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 225")]
fn share(share: f64) -> u16 {
    (share * WEIGHTS).ceil() as u16
}

/// A bound in the whole numbers of the sums; a little lower, for sums in another order.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn floor(value: f64) -> u16 {
    (value * (1.0 - 1e-9)).floor().clamp(1.0, f64::from(u16::MAX)) as u16
}

/// What each word can bring with the second look: an exact form scores no more than its word, two
/// neighbours one after the other no more than half of both, near each other no more than both.
fn with_second(asked: &Asked) -> Vec<f64> {
    let mut weights: Vec<f64> = asked.words.iter().map(|word| word.weight).collect();
    for form in &asked.forms {
        if let Some(word) = asked.word_of(form.id) {
            weights[word] += EXACT * form.weight;
        }
    }
    for pair in &asked.pairs {
        for word in [pair.first, pair.second] {
            weights[word] += PAIR * 1.5 * pair.weight;
        }
    }
    weights
}
