//! Who comes before one entry, found without ranking everything.
//!
//! A proof asks tens of thousands of questions, and each only wants to know the place of one entry.
//! Its relevance is read off directly. What all others score at most is added up in small whole
//! numbers, rounded up, which takes microseconds where a ranking takes a millisecond; and only those
//! whose bound suffices are looked at word by word.

use std::cell::RefCell;
use std::sync::OnceLock;

use super::formula::{EXACT, PAIR, RERANKED, SATURATED_MAX, saturated};
use super::lanes::{self, Weighed};
use super::question::{Asked, AskedWord, Question};
use super::rank::Matches;
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
const CANDIDATES_MAX: usize = 10 * RERANKED;

/// Whose standing is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub entry: usize,
    /// Whether this many come before it or more makes no difference.
    pub within: usize,
    /// How far scores may be off, as a share of them, for [`Contest::Decided::at_worst`].
    pub slack: f64,
}

/// How an entry stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Contest {
    /// It has none of the words.
    Absent,
    Decided {
        /// How many come before it.
        before: usize,
        /// How many would come before it if its own score were lower by the slack, and each entry
        /// stood where it is less favourable to it; `None` if that cannot be told.
        at_worst: Option<usize>,
    },
    /// Too many could be rivals: rank them all.
    Open,
}

/// For common words, what each entry scores for the word at most: a byte an entry.
#[derive(Debug)]
pub struct Rows {
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

    fn of(&self, reader: &Reader, word: &AskedWord<'_>) -> Option<&[u8]> {
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

/// Tells how an entry stands among all others. A score is the relevance times the factor of its entry,
/// and no factor is greater than `factor_max`; equals come in the order of their numbers.
pub(super) fn contest(
    reader: &Reader,
    rows: &Rows,
    question: &Question,
    wanted: Wanted,
    factors: &[f64],
    factor_max: f64,
) -> Result<Contest, Broken> {
    let Wanted { entry, within, slack } = wanted;
    let asked = Asked::of(reader, question)?;
    let mut matches = Matches::default();
    let (own_first, relevance) = matches.relevance(reader, &asked, entry)?;
    if own_first <= 0.0 {
        return Ok(Contest::Absent);
    }
    if asked.words.len() > WORDS_MAX {
        return Ok(Contest::Open);
    }
    let own = relevance * factors[entry];
    let columns = Columns::of(reader, rows, &asked)?;
    SUMS.with_borrow_mut(|sums| {
        let scale = columns.add_up(&with_second(&asked), sums);
        let low = own * (1.0 - slack);
        let bar = floor(low / factor_max * scale);
        let mut candidates = Vec::new();
        if !lanes::places_from(sums, bar, CANDIDATES_MAX, &mut candidates) {
            return Ok(Contest::Open);
        }
        let with_forms = with_forms(&asked);
        let mut rivals: Vec<(f64, usize)> = candidates
            .into_iter()
            .filter(|other| *other != entry)
            .map(|other| (columns.most(&asked, &with_forms, other) * factors[other], other))
            .filter(|(most, _)| *most >= low * CLOSE)
            .collect();
        // Those first that could have most: it is soon clear of an entry that many come before.
        rivals.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let (mut before, mut close) = (0, 0);
        let mut least_first = own_first;
        for (_, other) in rivals {
            if before >= within {
                break;
            }
            let (first, relevance) = matches.relevance(reader, &asked, other)?;
            let score = relevance * factors[other];
            if score.total_cmp(&own).then(entry.cmp(&other)).is_gt() {
                least_first = least_first.min(first);
                before += 1;
            } else if score >= low {
                close += 1;
            }
        }
        // Only the best at the first look get a second one: the entry and all before it must be
        // among them. At worst, so many others may be before it that it is still one of them.
        let low_first = own_first * (1.0 - slack);
        let is_certain = |sums: &[u16], scale: f64| count(sums, least_first * scale) <= RERANKED;
        let is_firm =
            |sums: &[u16], scale: f64| count(sums, low_first * scale) + within <= RERANKED;
        let mut held = (is_certain(sums, scale), slack > 0.0 && is_firm(sums, scale));
        if !held.0 || slack > 0.0 && !held.1 {
            let firsts: Vec<f64> = asked.words.iter().map(|word| word.weight).collect();
            let scale = columns.add_up(&firsts, sums);
            held = (is_certain(sums, scale), slack > 0.0 && is_firm(sums, scale));
        }
        let at_worst = held.1.then_some(before + close);
        Ok(if held.0 { Contest::Decided { before, at_worst } } else { Contest::Open })
    })
}

/// How many of these others come before an entry, if all of them get a second look.
pub(super) fn before_among(
    reader: &Reader,
    question: &Question,
    entry: usize,
    others: &[usize],
    factors: &[f64],
) -> Result<usize, Broken> {
    let asked = Asked::of(reader, question)?;
    let mut matches = Matches::default();
    let mut score = |entry: usize| -> Result<f64, Broken> {
        Ok(matches.relevance(reader, &asked, entry)?.1 * factors[entry])
    };
    let own = score(entry)?;
    let mut before = 0;
    for other in others {
        before += usize::from(score(*other)? >= own);
    }
    Ok(before)
}

/// Sums in another order differ by less.
const CLOSE: f64 = 1.0 - 1e-9;

/// How many entries come up to this at most.
fn count(sums: &[u16], least: f64) -> usize {
    lanes::count_from(sums, floor(least))
}

/// For each word of a question, what entries score for it at most.
struct Columns<'a> {
    entries: usize,
    words: Vec<Column<'a>>,
}

enum Column<'a> {
    /// A byte an entry.
    Row(&'a [u8]),
    /// Those that have the word, in order.
    Some(Vec<(u32, u8)>),
}

impl<'a> Columns<'a> {
    fn of(reader: &Reader, rows: &'a Rows, asked: &Asked<'_>) -> Result<Self, Broken> {
        let column = |word| match rows.of(reader, word) {
            Some(row) => Ok(Column::Row(row)),
            None => some(reader, word).map(Column::Some),
        };
        let words = asked.words.iter().map(column).collect::<Result<_, _>>()?;
        Ok(Self { entries: reader.entries, words })
    }

    /// Puts what each entry scores at most with these weights into `sums`; gives their scale.
    fn add_up(&self, weights: &[f64], sums: &mut Vec<u16>) -> f64 {
        sums.clear();
        sums.resize(self.entries, 0);
        let all: f64 = weights.iter().sum();
        let mut rows: Vec<Weighed<'_>> = Vec::with_capacity(self.words.len());
        for (word, weight) in self.words.iter().zip(weights) {
            let weight = share(weight / all);
            match word {
                Column::Row(row) => rows.push((row, weight)),
                Column::Some(some) => {
                    for (entry, byte) in some {
                        sums[*entry as usize] += u16::from(*byte) * weight;
                    }
                }
            }
        }
        lanes::add_rows(sums, &rows);
        WEIGHTS / all * (255.0 / SATURATED_MAX)
    }

    /// What an entry scores for a word at most.
    fn saturation(&self, word: usize, entry: usize) -> f64 {
        let byte = match &self.words[word] {
            Column::Row(row) => row[entry],
            Column::Some(some) => {
                let found = some.binary_search_by_key(&entry, |(entry, _)| *entry as usize);
                found.map_or(0, |at| some[at].1)
            }
        };
        f64::from(byte) * (SATURATED_MAX / 255.0)
    }

    /// What an entry scores at most, the second look included. An exact form scores no more than its
    /// word; two neighbours one after the other no more than either, and near each other no more
    /// than both together, if the entry has both.
    fn most(&self, asked: &Asked<'_>, with_forms: &[f64], entry: usize) -> f64 {
        let mut saturations = [0.0; WORDS_MAX];
        let mut most = 0.0;
        for (at, weight) in with_forms.iter().enumerate() {
            saturations[at] = self.saturation(at, entry);
            most += weight * saturations[at];
        }
        for pair in &asked.pairs {
            let (one, other) = (saturations[pair.first], saturations[pair.second]);
            if one > 0.0 && other > 0.0 {
                most += PAIR * pair.weight * (one.min(other) + one + other);
            }
        }
        most
    }
}

/// The entries that have a word, each with what it scores for it at most.
fn some(reader: &Reader, word: &AskedWord<'_>) -> Result<Vec<(u32, u8)>, Broken> {
    let mut some = Vec::with_capacity(word.record.df as usize);
    reader.each_posting(&word.record, |entry, title, body| {
        let byte = byte(saturated(reader.resistance[entry], title, body));
        some.push((u32::try_from(entry).unwrap_or(u32::MAX), byte));
    })?;
    Ok(some)
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

/// What each word can bring by itself and by its exact form.
fn with_forms(asked: &Asked<'_>) -> Vec<f64> {
    let mut weights: Vec<f64> = asked.words.iter().map(|word| word.weight).collect();
    for form in &asked.forms {
        if let Some(word) = asked.word_of(form.id) {
            weights[word] += EXACT * form.weight;
        }
    }
    weights
}

/// What each word can bring with the second look: see [`Columns::most`]. What is no more than either
/// of two is no more than half of both.
fn with_second(asked: &Asked<'_>) -> Vec<f64> {
    let mut weights = with_forms(asked);
    for pair in &asked.pairs {
        for word in [pair.first, pair.second] {
            weights[word] += PAIR * 1.5 * pair.weight;
        }
    }
    weights
}
