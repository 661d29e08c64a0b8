//! Contradictions as cards: both sides with where they stand, and what was ruled about them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use ao_contract::{
    Contradiction, ContradictionKind, ContradictionSide, Contradictions, Extra, Open,
};
use jiff::civil::Date;

use super::compare::{Difference, Kind};
use super::find::{Found, Search, find};
use super::identity::{Identities, own_id};
use super::rulings::{Placed, Rulings};
use crate::corpus::{Corpus, Entry};
use crate::trust::{Vouches, with_source};
use crate::words;

/// A report holds so many cards; the others are counted.
const CARDS_MAX: usize = 200;
/// Of a source that lowers the trust in an entry, so much is shown.
const SOURCE_CHARS_MAX: usize = 200;
/// Digits of a card's id, and of a claim's hash.
const ID_DIGITS: usize = 10;
const CLAIM_DIGITS: usize = 16;
/// Where an entry comes from: what stands first and is said.
const SOURCES: [&str; 6] =
    ["source_session", "source_bead", "source", "session_id", "source_artifact", "harvested_from"];

/// All contradictions of a corpus.
#[derive(Debug, Clone, Default)]
pub struct Cards {
    /// Nobody ruled about them.
    pub open: Vec<Contradiction>,
    /// Somebody did, and both sides still stand.
    pub ruled: Vec<Contradiction>,
    /// There may be more: a limit of the search was reached.
    pub is_capped: bool,
}

impl Cards {
    /// By id: the same files give the same list. What is past its term `today` has no say.
    pub fn of(corpus: &Corpus, rulings: &Rulings, vouches: &Vouches, today: Date) -> Self {
        let Search { found, is_capped } = find(corpus, today);
        if found.is_empty() {
            return Self { is_capped, ..Self::default() };
        }
        let identities = Identities::of(corpus);
        let placed = Placed::of(rulings, &identities);
        let mut cards: Vec<Contradiction> =
            found.into_iter().map(|found| card(corpus, &identities, vouches, found)).collect();
        cards.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        cards.dedup_by(|one, other| one.id == other.id);
        let (mut ruled, mut open): (Vec<_>, Vec<_>) =
            cards.into_iter().partition(|card| placed.holds_for(card).is_some());
        for card in &mut open {
            card.earlier_ruling = placed.earlier(corpus, card);
        }
        // A ruling and its card have one name, also where an entry has another one by now.
        for card in &mut ruled {
            let id = placed.holds_for(card).map(|ruling| ruling.card.clone());
            card.id = id.unwrap_or_else(|| card.id.clone());
        }
        ruled.sort_by(|one, other| one.id.cmp(&other.id));
        ruled.dedup_by(|one, other| one.id == other.id);
        Self { open, ruled, is_capped }
    }

    /// For a report.
    pub fn report(&self) -> Contradictions {
        Contradictions {
            open: self.open.len() as u64,
            ruled: self.ruled.len() as u64,
            is_capped: self.is_capped,
            cards: self.open.iter().take(CARDS_MAX).cloned().collect(),
            extra: Extra::new(),
        }
    }
}

/// Cards by the entries that they name.
pub fn by_entry(cards: &[Contradiction]) -> BTreeMap<&str, Vec<&Contradiction>> {
    let mut all: BTreeMap<&str, Vec<&Contradiction>> = BTreeMap::new();
    for card in cards {
        for side in [&card.a, &card.b] {
            all.entry(side.path.as_str()).or_default().push(card);
        }
    }
    all
}

fn card(
    corpus: &Corpus,
    identities: &Identities,
    vouches: &Vouches,
    found: Found,
) -> Contradiction {
    let Found { one, other, difference, .. } = found;
    let Difference { kind, ours, theirs } = difference;
    let (one, other) = ((&corpus.entries[one.0], one.1), (&corpus.entries[other.0], other.1));
    // The older one first; what has no day is taken for the newest.
    let age = |entry: &Entry| (entry.date().is_none(), entry.date(), entry.path.clone());
    let is_in_order = age(one.0) <= age(other.0);
    let ((a, b), differs) = if is_in_order {
        ((one, other), format!("{ours} / {theirs}"))
    } else {
        ((other, one), format!("{theirs} / {ours}"))
    };
    let (a, b) = (side(a.0, a.1, vouches), side(b.0, b.1, vouches));
    let id = id_of(identities, &a, &b);
    Contradiction { id, kind: told(kind), differs, a, b, earlier_ruling: None, extra: Extra::new() }
}

fn told(kind: Kind) -> Open<ContradictionKind> {
    match kind {
        Kind::Denied => ContradictionKind::Denied,
        Kind::Value => ContradictionKind::Value,
        Kind::Opposite => ContradictionKind::Opposite,
        Kind::Order => ContradictionKind::Order,
        Kind::Choice => ContradictionKind::Choice,
    }
    .into()
}

fn side(entry: &Entry, quote: String, vouches: &Vouches) -> ContradictionSide {
    let document = &entry.document;
    let text = |key: &&str| document.text(key).map(Cow::into_owned);
    let (trust, lowered_by) = with_source(entry, vouches);
    let lowered_by = lowered_by.map(|text| text.chars().take(SOURCE_CHARS_MAX).collect());
    ContradictionSide {
        path: entry.path.clone(),
        id: own_id(entry),
        title: entry.title(),
        claim: claim_of(&quote),
        quote,
        line: None,
        date: entry.date().map(|day| day.to_string()),
        trust: trust.map(|trust| trust.name().to_owned()),
        source: lowered_by.or_else(|| SOURCES.iter().find_map(text)),
        extra: Extra::new(),
    }
}

/// The hash of a sentence's words: layout and capitals are no claim.
pub(super) fn claim_of(sentence: &str) -> String {
    let mut hash = blake3::Hasher::new();
    words::each_word(sentence, |word| {
        hash.update(word.as_bytes());
        hash.update(b" ");
    });
    short(&hash, CLAIM_DIGITS)
}

/// Of the two entries, by their own names for themselves, and the two claims, in any order. A name that several
/// entries have is none: they are told apart by their paths.
fn id_of(identities: &Identities, a: &ContradictionSide, b: &ContradictionSide) -> String {
    let identity = |side: &ContradictionSide| {
        let id = side.id.clone().filter(|id| identities.is_only_one(id));
        (id.unwrap_or_else(|| side.path.clone()), side.claim.clone())
    };
    let mut sides = [identity(a), identity(b)];
    sides.sort();
    let mut hash = blake3::Hasher::new();
    for (name, claim) in &sides {
        for text in [name, claim] {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
    }
    format!("c-{}", short(&hash, ID_DIGITS))
}

fn short(hash: &blake3::Hasher, digits: usize) -> String {
    hash.finalize().to_hex()[..digits].to_owned()
}
