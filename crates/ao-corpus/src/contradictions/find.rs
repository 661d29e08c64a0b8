//! From entries to pairs of sentences that cannot both hold, without comparing all pairs.
//!
//! A statement is found again by what it is about: its words as a sum of hashes, and the same sum without a word
//! that could be another one (what is done, what is said of it, what is chosen). Statements that claim something
//! else of the same thing meet in one of these sums. Most statements meet nobody.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::Date;

use super::around::Surroundings;
use super::compare::{CHOICE_WORDS_MAX, Difference, compare, may_be_another};
use super::said::{self, Place, each_sentence, has_a_say};
use super::statement::{LabelKind, Place as Part, Statement, statements};
use super::tokens::{Token, tokens};
use crate::corpus::{Corpus, Entry};
use crate::duplicates::mix;
use crate::files::in_parallel;

/// So many claims about one thing are compared with each other.
const CROWD_MAX: usize = 64;
/// A claim that many entries repeat is put against another so many times.
const REPEATED_MAX: usize = 3;
/// Contradictions that are looked for at once.
const FOUND_MAX: usize = 1_000;
/// Of two claims that many entries repeat, so many pairs of entries are looked at; and so many in all.
const TRIES_MAX: usize = 100_000;
const ALL_TRIES_MAX: usize = 2_000_000;
/// Room for a sentence.
const WORDS_USUAL: usize = 32;
/// Tells sums of all words from sums that leave something out.
const LEFT_OUT: u64 = 0x5bd1_e995;

/// Two sentences that cannot both hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The place of the entry in the corpus, and its sentence.
    pub(super) one: (usize, String),
    pub(super) other: (usize, String),
    /// What each of them says, as a hash.
    pub(super) forms: [u64; 2],
    pub(super) difference: Difference,
}

/// What was found, and whether that may not be all of it.
#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) found: Vec<Found>,
    /// One of the limits above was reached.
    pub(super) is_capped: bool,
}

/// A statement where it stands.
pub(super) struct Said {
    pub(super) entry: usize,
    pub(super) place: Place,
    pub(super) heading: Option<String>,
    /// Which of the statements of its sentence.
    pub(super) nth: usize,
    /// What it says, as a hash: two that say the same in the same words have the same.
    form: u64,
    sums: Vec<Sum>,
}

/// Under which a statement can be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sum {
    sum: u64,
    /// What was left out is known to have another side. Of two that meet, one must.
    is_known: bool,
}

pub(super) fn find(corpus: &Corpus, today: Date) -> Search {
    find_up_to(corpus, today, FOUND_MAX)
}

pub(super) fn find_up_to(corpus: &Corpus, today: Date, most: usize) -> Search {
    let places: Vec<usize> = (0..corpus.entries.len()).collect();
    let listen = |place: &usize| {
        let entry = &corpus.entries[*place];
        if has_a_say(entry, today) { said_by(*place, entry) } else { Vec::new() }
    };
    let said: Vec<Said> = in_parallel(&places, listen).into_iter().flatten().collect();
    let forms = forms(&said);
    let mut together = Together {
        corpus,
        said: &said,
        surroundings: Surroundings::of(corpus, &said),
        seen: BTreeSet::new(),
        tries: 0,
        search: Search::default(),
    };
    for meeting in meetings(&said, &forms) {
        together.put(&forms[meeting.one], &forms[meeting.other], meeting.is_cut);
        if together.search.found.len() >= most || together.tries >= ALL_TRIES_MAX {
            together.search.is_capped = true;
            break;
        }
    }
    together.search
}

/// Every sentence that claims something, as it is written.
pub fn every_statement(corpus: &Corpus, today: Date) -> Vec<String> {
    let mut all = Vec::new();
    for (place, entry) in corpus.entries.iter().enumerate() {
        if has_a_say(entry, today) {
            let said = said_by(place, entry);
            let text = |said: Said| {
                said::sentence_at(entry, &said.place).map(std::borrow::Cow::into_owned)
            };
            all.extend(said.into_iter().filter_map(text));
        }
    }
    all
}

fn said_by(place: usize, entry: &Arc<Entry>) -> Vec<Said> {
    let mut all = Vec::new();
    each_sentence(entry, |at, sentence, heading| {
        let mut words: Vec<Token> = Vec::with_capacity(WORDS_USUAL);
        tokens(sentence, &mut words);
        for (nth, statement) in statements(sentence, &words).iter().enumerate() {
            let heading = heading.map(str::to_owned);
            let (place_of, sums) = (at.clone(), sums(statement));
            all.push(Said {
                entry: place,
                place: place_of,
                heading,
                nth,
                form: form(statement),
                sums,
            });
        }
    });
    all
}

/// What a statement says, in one number.
pub(super) fn form(statement: &Statement) -> u64 {
    let mut form = mix(sum(&statement.keys()) ^ u64::from(statement.is_denied));
    for (quantity, _) in &statement.values {
        form = mix(form ^ quantity.value.to_bits() ^ ((quantity.bound as u64) << 3));
    }
    if let Some((_, at, is_later)) = statement.order {
        let first = statement.content[..at].iter().map(|content| content.key).collect::<Vec<_>>();
        form = mix(form ^ sum(&first) ^ u64::from(is_later));
    }
    form
}

fn sum(keys: &[u32]) -> u64 {
    keys.iter().fold(0, |sum, key| sum.wrapping_add(mix(u64::from(*key))))
}

fn sums(statement: &Statement) -> Vec<Sum> {
    let all = sum(&statement.keys());
    let mut sums = vec![Sum { sum: all, is_known: true }];
    let content = &statement.content;
    for (at, word) in content.iter().enumerate() {
        let may_differ = matches!(word.place, Part::Deed | Part::Predicate)
            || word.label == Some(LabelKind::Claim)
            || word.is_chosen;
        if !may_differ {
            continue;
        }
        let is_known = may_be_another(statement, word);
        let most = if word.is_chosen { CHOICE_WORDS_MAX } else { 1 };
        let mut rest = all;
        for gone in content[at..].iter().take(most) {
            rest = rest.wrapping_sub(mix(u64::from(gone.key)));
            // Nothing in common is no subject.
            if rest != 0 {
                sums.push(Sum { sum: rest ^ LEFT_OUT, is_known });
            }
        }
    }
    sums
}

/// Statements of one form: they are compared once.
type Form = Vec<usize>;

fn forms(said: &[Said]) -> Vec<Form> {
    let mut order: Vec<(u64, usize)> =
        said.iter().enumerate().map(|(at, one)| (one.form, at)).collect();
    order.sort_unstable();
    let mut forms: Vec<Form> = order
        .chunk_by(|one, other| one.0 == other.0)
        .map(|same| same.iter().map(|(_, at)| *at).collect())
        .collect();
    // In the order of the corpus, whatever the hashes are.
    forms.sort_unstable_by_key(|form| form[0]);
    forms
}

/// Two forms that share a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Meeting {
    one: usize,
    other: usize,
    /// There were more forms of that sum than are compared.
    is_cut: bool,
}

fn meetings(said: &[Said], forms: &[Form]) -> Vec<Meeting> {
    let mut sums: Vec<(u64, usize, bool)> = Vec::with_capacity(3 * forms.len());
    for (at, form) in forms.iter().enumerate() {
        sums.extend(said[form[0]].sums.iter().map(|sum| (sum.sum, at, sum.is_known)));
    }
    sums.sort_unstable();
    let mut pairs = Vec::new();
    for crowd in sums.chunk_by(|one, other| one.0 == other.0) {
        let is_cut = crowd.len() > CROWD_MAX;
        let crowd = &crowd[..crowd.len().min(CROWD_MAX)];
        for (at, (_, one, is_known)) in crowd.iter().enumerate() {
            let others = crowd[at + 1..]
                .iter()
                .filter(|(_, other, known)| (*is_known || *known) && one != other);
            pairs.extend(others.map(|(_, other, _)| Meeting { one: *one, other: *other, is_cut }));
        }
    }
    pairs.sort_unstable();
    pairs.dedup_by(|next, kept| {
        let is_same = (next.one, next.other) == (kept.one, kept.other);
        kept.is_cut |= is_same && next.is_cut;
        is_same
    });
    pairs
}

/// Forms that meet, put against each other entry by entry.
struct Together<'a> {
    corpus: &'a Corpus,
    said: &'a [Said],
    surroundings: Surroundings<'a>,
    seen: BTreeSet<(usize, usize, String, String)>,
    /// Pairs of entries that were looked at.
    tries: usize,
    search: Search,
}

impl Together<'_> {
    fn put(&mut self, one: &Form, other: &Form, is_cut: bool) {
        let (corpus, said) = (self.corpus, self.said);
        let Some(difference) = apart(corpus, &said[one[0]], &said[other[0]]) else { return };
        let last = (self.tries + TRIES_MAX).min(ALL_TRIES_MAX);
        let (ours, theirs) = (self.surroundings.groups(one), self.surroundings.groups(other));
        let pairs = ours.iter().flat_map(|one| theirs.iter().map(move |other| (one, other)));
        let mut count = 0;
        for (one, other) in pairs {
            if self.tries >= last {
                self.search.is_capped = true;
                return;
            }
            self.tries += 1;
            if !self.surroundings.hold_together(one[0], other[0]) {
                continue;
            }
            for (first, second) in one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b))) {
                if count >= REPEATED_MAX || self.tries >= last {
                    self.search.is_capped = true;
                    return;
                }
                self.tries += 1;
                if self.surroundings.may_meet(first, second)
                    && self.take(first, second, &difference)
                {
                    self.search.is_capped |= is_cut;
                    count += 1;
                }
            }
        }
    }

    /// Whether this is news.
    fn take(&mut self, first: usize, second: usize, difference: &Difference) -> bool {
        let (first, second) = (&self.said[first], &self.said[second]);
        let (ours, theirs) = (difference.ours.clone(), difference.theirs.clone());
        // A title and a sentence of one entry that say the same are one claim.
        let key = if first.entry < second.entry {
            (first.entry, second.entry, ours, theirs)
        } else {
            (second.entry, first.entry, theirs, ours)
        };
        if !self.seen.insert(key) {
            return false;
        }
        let quotes = (quoted(self.corpus, first), quoted(self.corpus, second));
        let (Some(one), Some(other)) = quotes else { return false };
        let (forms, difference) = ([first.form, second.form], difference.clone());
        self.search.found.push(Found { one, other, forms, difference });
        true
    }
}

fn quoted(corpus: &Corpus, said: &Said) -> Option<(usize, String)> {
    let text = said::sentence_at(&corpus.entries[said.entry], &said.place)?;
    Some((said.entry, text.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// Reads both sentences again, and lays what they say side by side.
fn apart(corpus: &Corpus, one: &Said, other: &Said) -> Option<Difference> {
    with_statement(corpus, one, |first| {
        with_statement(corpus, other, |second| compare(first, second))
    })
}

pub(super) fn with_statement<T>(
    corpus: &Corpus,
    said: &Said,
    then: impl FnOnce(&Statement) -> Option<T>,
) -> Option<T> {
    let sentence = said::sentence_at(&corpus.entries[said.entry], &said.place)?;
    let mut words = Vec::new();
    tokens(&sentence, &mut words);
    let all = statements(&sentence, &words);
    then(all.get(said.nth)?)
}
