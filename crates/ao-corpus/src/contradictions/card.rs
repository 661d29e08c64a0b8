//! Contradictions as cards: both sides with where they stand, and what was ruled about them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ao_contract::{
    Contradiction, ContradictionKind, ContradictionSide, Contradictions, Extra, Open, Ruling,
};

use super::compare::{Difference, Kind};
use super::find::{Found, find};
use super::said::each_sentence;
use crate::corpus::{Corpus, Entry};
use crate::files::{Files, Left};
use crate::words;

/// Where rulings lie, a file each.
pub const RULINGS: &str = "knowledge/rulings";
/// More are not what people decided.
const RULINGS_MAX: usize = 10_000;
const RULING_BYTES_MAX: u64 = 64 * 1024;
/// A report holds so many cards; the others are counted.
const CARDS_MAX: usize = 200;
/// Digits of a card's id, and of a claim's hash.
const ID_DIGITS: usize = 10;
const CLAIM_DIGITS: usize = 16;
/// Where an entry comes from: what stands first and is said.
const SOURCES: [&str; 6] =
    ["source_session", "source_bead", "source", "session_id", "source_artifact", "harvested_from"];

/// What people ruled.
#[derive(Debug, Clone, Default)]
pub struct Rulings {
    /// By card.
    pub by_card: BTreeMap<String, Ruling>,
    /// What lies there and cannot be read as a ruling.
    pub left: Vec<Left>,
    /// The bytes of each, for whoever would write it anew.
    pub(super) seen: BTreeMap<String, Vec<u8>>,
}

impl Rulings {
    /// Reads the rulings beneath `.agents/`.
    pub fn read(agents: &Path) -> std::io::Result<Self> {
        let files = Files::list_beneath(agents, RULINGS)?;
        let mut rulings = Self { left: files.left.clone(), ..Self::default() };
        for (at, file) in files.found.iter().enumerate() {
            let read = || {
                if at >= RULINGS_MAX {
                    return Err(format!("there are more than {RULINGS_MAX} rulings"));
                }
                let bytes = files.read_up_to(file, RULING_BYTES_MAX)?;
                let value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
                let ruling: Ruling =
                    ao_contract::read(&value).map_err(|error| error.to_string())?;
                if file.path == path_of(&ruling.card) {
                    Ok((ruling, bytes))
                } else {
                    Err("its name is not that of its card".to_owned())
                }
            };
            match read() {
                Ok((ruling, bytes)) => {
                    rulings.seen.insert(ruling.card.clone(), bytes);
                    rulings.by_card.insert(ruling.card.clone(), ruling);
                }
                Err(why) => rulings.left.push(Left { path: ao_tree::shown(&file.path), why }),
            }
        }
        Ok(rulings)
    }

    /// The ruling that holds for a card, whose id is of these very claims.
    pub fn of(&self, card: &Contradiction) -> Option<&Ruling> {
        self.by_card.get(&card.id)
    }
}

/// Where the ruling about a card lies.
pub fn path_of(card: &str) -> String {
    format!("{RULINGS}/{card}.json")
}

/// All contradictions of a corpus.
#[derive(Debug, Clone, Default)]
pub struct Cards {
    /// Nobody ruled about them.
    pub open: Vec<Contradiction>,
    /// Somebody did, and both sides still stand.
    pub ruled: Vec<Contradiction>,
}

impl Cards {
    /// By id: the same files give the same list.
    pub fn of(corpus: &Corpus, rulings: &Rulings) -> Self {
        let mut cards: Vec<Contradiction> =
            find(corpus).into_iter().map(|found| card(corpus, found)).collect();
        cards.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        cards.dedup_by(|one, other| one.id == other.id);
        let (ruled, mut open): (Vec<_>, Vec<_>) =
            cards.into_iter().partition(|card| rulings.of(card).is_some());
        for card in &mut open {
            card.earlier_ruling = earlier(corpus, rulings, card);
        }
        Self { open, ruled }
    }

    /// For a report.
    pub fn report(&self) -> Contradictions {
        Contradictions {
            open: self.open.len() as u64,
            ruled: self.ruled.len() as u64,
            cards: self.open.iter().take(CARDS_MAX).cloned().collect(),
            extra: Extra::new(),
        }
    }
}

/// The contradictions of a corpus that nobody ruled about.
pub fn open(corpus: &Corpus, rulings: &Rulings) -> Vec<Contradiction> {
    Cards::of(corpus, rulings).open
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

fn card(corpus: &Corpus, found: Found) -> Contradiction {
    let Found { one, other, difference } = found;
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
    let (a, b) = (side(a.0, a.1), side(b.0, b.1));
    let id = id_of(corpus, &a, &b);
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

fn side(entry: &Entry, quote: String) -> ContradictionSide {
    let document = &entry.document;
    let text = |key: &str| document.text(key).map(Cow::into_owned);
    ContradictionSide {
        path: entry.path.clone(),
        title: entry.title(),
        claim: claim_of(&quote),
        quote,
        line: None,
        date: entry.date().map(|day| day.to_string()),
        trust: text("trust"),
        source: SOURCES.iter().find_map(|key| text(key)),
        extra: Extra::new(),
    }
}

/// The hash of a sentence's words: layout and capitals are no claim.
fn claim_of(sentence: &str) -> String {
    let mut hash = blake3::Hasher::new();
    words::each_word(sentence, |word| {
        hash.update(word.as_bytes());
        hash.update(b" ");
    });
    short(&hash, CLAIM_DIGITS)
}

/// Of the two entries, by their own names for themselves, and the two claims, in any order.
fn id_of(corpus: &Corpus, a: &ContradictionSide, b: &ContradictionSide) -> String {
    let identity = |side: &ContradictionSide| {
        let entry = corpus.get(&side.path);
        let id = entry.and_then(|entry| entry.document.text("id").map(Cow::into_owned));
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

/// A ruling about the same two entries, one of which says something else by now.
fn earlier(corpus: &Corpus, rulings: &Rulings, card: &Contradiction) -> Option<String> {
    let paths = BTreeSet::from([card.a.path.as_str(), card.b.path.as_str()]);
    let is_of_both = |ruling: &&Ruling| {
        BTreeSet::from([ruling.a.path.as_str(), ruling.b.path.as_str()]) == paths
    };
    let is_gone = |side: &ContradictionSide| {
        let Some(entry) = corpus.get(&side.path) else { return true };
        let mut is_said = false;
        each_sentence(entry, |_, sentence, _| is_said |= claim_of(sentence) == side.claim);
        !is_said
    };
    let mut about = rulings.by_card.values().filter(is_of_both);
    about.find(|ruling| is_gone(&ruling.a) || is_gone(&ruling.b)).map(|ruling| ruling.card.clone())
}
