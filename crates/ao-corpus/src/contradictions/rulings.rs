//! What people ruled: a file each in `knowledge/rulings/`, and which cards it holds for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ao_contract::{Contradiction, ContradictionSide, Ruling};

use super::card::claim_of;
use super::identity::Identities;
use super::said::each_sentence;
use crate::corpus::{Corpus, Entry};
use crate::files::{Files, Left};
use crate::past::Past;

/// Where rulings lie, a file each.
pub const RULINGS: &str = "knowledge/rulings";
/// More are not what people decided.
const RULINGS_MAX: usize = 10_000;
const RULING_BYTES_MAX: u64 = 64 * 1024;

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
        Ok(Self::of_files(&Files::list_beneath(agents, RULINGS)?))
    }

    /// As [`Rulings::read`], of the tree as it was.
    pub fn read_past(agents: &Path, past: &Past) -> std::io::Result<Self> {
        let mut files = Files::list_past(agents, &["knowledge"], past)?;
        let is_one = |path: &str| path.strip_prefix(RULINGS).is_some_and(|p| p.starts_with('/'));
        files.found.retain(|file| is_one(&file.path));
        files.left.retain(|left| is_one(&left.path));
        Ok(Self::of_files(&files))
    }

    fn of_files(files: &Files) -> Self {
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
        rulings
    }

    /// The pairs of entries about which somebody ruled, where both still say what they said then. The smaller path
    /// is first.
    pub fn settled(&self, corpus: &Corpus) -> BTreeSet<(String, String)> {
        if self.by_card.is_empty() {
            return BTreeSet::new();
        }
        let placed = Placed::of(self, &Identities::of(corpus));
        let says = |path: &str, side: &ContradictionSide| {
            corpus.get(path).is_some_and(|entry| is_said(entry, &side.claim))
        };
        let stands =
            |(ruling, [a, b]): &(&Ruling, [String; 2])| says(a, &ruling.a) && says(b, &ruling.b);
        let pairs = placed.pairs.into_iter().filter(stands).map(|(_, [a, b])| ordered(a, b));
        pairs.collect()
    }
}

fn ordered(a: String, b: String) -> (String, String) {
    if a <= b { (a, b) } else { (b, a) }
}

/// Where the ruling about a card lies.
pub fn path_of(card: &str) -> String {
    format!("{RULINGS}/{card}.json")
}

/// One side by where it stands and what it claims.
type Spot<'a> = (String, &'a str);

/// Rulings by the entries that they are about today.
pub(super) struct Placed<'r> {
    by_card: &'r BTreeMap<String, Ruling>,
    by_spots: BTreeMap<[Spot<'r>; 2], &'r Ruling>,
    /// Each with the entries of its sides A and B.
    pairs: Vec<(&'r Ruling, [String; 2])>,
}

impl<'r> Placed<'r> {
    pub(super) fn of(rulings: &'r Rulings, identities: &Identities) -> Self {
        let mut placed =
            Self { by_card: &rulings.by_card, by_spots: BTreeMap::new(), pairs: Vec::new() };
        for ruling in rulings.by_card.values() {
            let path = |side| identities.entry_of(side).map(|entry| entry.path.clone());
            let (Some(a), Some(b)) = (path(&ruling.a), path(&ruling.b)) else { continue };
            // One was archived, and the other has its name now.
            if a == b {
                continue;
            }
            let mut spots =
                [(a.clone(), ruling.a.claim.as_str()), (b.clone(), ruling.b.claim.as_str())];
            spots.sort();
            placed.by_spots.entry(spots).or_insert(ruling);
            placed.pairs.push((ruling, [a, b]));
        }
        placed
    }

    /// The ruling that holds for a card: its id is of these very claims, or it was about these entries, under the
    /// names that they had.
    pub(super) fn holds_for(&self, card: &Contradiction) -> Option<&'r Ruling> {
        let mut spots = [&card.a, &card.b].map(|side| (side.path.clone(), side.claim.as_str()));
        spots.sort();
        self.by_card.get(&card.id).or_else(|| self.by_spots.get(&spots).copied())
    }

    /// A ruling about the same two entries, one of which says something else by now.
    pub(super) fn earlier(&self, corpus: &Corpus, card: &Contradiction) -> Option<String> {
        let paths = BTreeSet::from([card.a.path.as_str(), card.b.path.as_str()]);
        let is_gone = |path: &str, side: &ContradictionSide| {
            !corpus.get(path).is_some_and(|entry| is_said(entry, &side.claim))
        };
        let is_it = |(ruling, [a, b]): &&(&Ruling, [String; 2])| {
            BTreeSet::from([a.as_str(), b.as_str()]) == paths
                && (is_gone(a, &ruling.a) || is_gone(b, &ruling.b))
        };
        self.pairs.iter().find(is_it).map(|(ruling, _)| ruling.card.clone())
    }
}

/// Whether an entry still says the sentence of this hash.
fn is_said(entry: &Entry, claim: &str) -> bool {
    let mut is_said = false;
    each_sentence(entry, |_, sentence, _| is_said |= claim_of(sentence) == claim);
    is_said
}
