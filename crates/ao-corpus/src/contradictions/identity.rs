//! Which entry a side of a card or a ruling means, also after it was renamed or merged.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ao_contract::ContradictionSide;

use crate::corpus::{Corpus, Entry, Kind};
use crate::merge::MERGED_FROM;

/// By what the entries of a corpus are known.
#[derive(Debug)]
pub(super) struct Identities<'a> {
    corpus: &'a Corpus,
    /// Entries by the id that they give themselves.
    ids: BTreeMap<String, Vec<&'a Arc<Entry>>>,
    /// Entries by the names of what they took in.
    taken: BTreeMap<String, Vec<&'a Arc<Entry>>>,
}

/// The id that an entry gives itself.
pub(super) fn own_id(entry: &Entry) -> Option<String> {
    let id = entry.document.text("id").map(Cow::into_owned)?;
    let id = id.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

impl<'a> Identities<'a> {
    pub(super) fn of(corpus: &'a Corpus) -> Self {
        let (ids, taken) = (BTreeMap::new(), BTreeMap::new());
        let mut made = Self { corpus, ids, taken };
        for entry in corpus.entries.iter().filter(|entry| may_be_on_a_card(entry.kind)) {
            if let Some(id) = own_id(entry) {
                made.ids.entry(id).or_default().push(entry);
            }
            let names = entry.document.texts(MERGED_FROM);
            let names: BTreeSet<String> = names.iter().map(|name| stem(name).to_owned()).collect();
            for name in names {
                made.taken.entry(name).or_default().push(entry);
            }
        }
        made
    }

    /// Whether no other entry has this id.
    pub(super) fn is_only_one(&self, id: &str) -> bool {
        self.ids.get(id).is_none_or(|entries| entries.len() < 2)
    }

    /// The entry that a side was cut from, as far as it can be told beyond doubt.
    pub(super) fn entry_of(&self, side: &ContradictionSide) -> Option<&'a Arc<Entry>> {
        self.itself(side).or_else(|| self.taker_of(side))
    }

    /// The entry itself: it was not merged into another one.
    pub(super) fn itself(&self, side: &ContradictionSide) -> Option<&'a Arc<Entry>> {
        let there = self.corpus.get(&side.path);
        let Some(id) = &side.id else { return there };
        let is_same = |entry: &&Arc<Entry>| own_id(entry).is_none_or(|own| own == *id);
        there.filter(is_same).or_else(|| only(self.ids.get(id)).filter(|_| self.is_only_one(id)))
    }

    /// The entry that took it in.
    pub(super) fn taker_of(&self, side: &ContradictionSide) -> Option<&'a Arc<Entry>> {
        let by_id = side.id.as_ref().and_then(|id| self.taken.get(stem(id)));
        only(by_id).or_else(|| only(self.taken.get(stem(&side.path))))
    }

    /// The entry that a header names: by path, by name, by id, or by what it took in.
    pub(super) fn named(&self, name: &str) -> Option<&'a Arc<Entry>> {
        let name = name.trim();
        let name = name.rsplit_once(".agents/").map_or(name, |(_, rest)| rest);
        let name = name.strip_prefix("./").unwrap_or(name);
        let by_name = || {
            let is_it = |entry: &&Arc<Entry>| entry.name() == name || entry.stem() == name;
            let mut all = self.corpus.entries.iter().filter(is_it);
            all.next().filter(|_| all.next().is_none())
        };
        let by_id = || only(self.ids.get(name));
        let found = self.corpus.get(name).or_else(by_name).or_else(by_id);
        found.or_else(|| only(self.taken.get(name)).or_else(|| only(self.taken.get(stem(name)))))
    }
}

/// What is pending, or was, may share its id with what it was promoted to.
fn may_be_on_a_card(kind: Kind) -> bool {
    matches!(kind, Kind::Learning | Kind::Pattern | Kind::Knowledge | Kind::Finding)
}

fn only<'a>(entries: Option<&Vec<&'a Arc<Entry>>>) -> Option<&'a Arc<Entry>> {
    match entries.map(Vec::as_slice) {
        Some([entry]) => Some(entry),
        _ => None,
    }
}

/// A name without its folder and ending, as merges write it down.
fn stem(name: &str) -> &str {
    let name = name.trim();
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    name.strip_suffix(".md").or_else(|| name.strip_suffix(".jsonl")).unwrap_or(name)
}
