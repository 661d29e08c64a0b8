//! The patterns that are there, and which of them says already what recurs. Each pattern is read once, however much
//! recurs.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use ao_contract::Taken;

use super::compile::Choir;
use super::page::Page;
use super::recur::{Edges, Recurring, SOURCES_MIN, Voice, is_one_claim, is_same};
use crate::references::{Names, Wanted};
use crate::taken::Ledger;

/// The pages and the patterns of people, as [`Choir::all`] places them.
pub(super) struct Shelf<'c> {
    choir: &'c Choir,
    /// The pages that cite a learning, by its path.
    citing: BTreeMap<&'c str, Vec<usize>>,
    /// What each page claims, by its key.
    claims: BTreeMap<String, usize>,
    /// The other patterns that name a learning, by its place; these are asked for last.
    naming: OnceCell<BTreeMap<usize, Vec<usize>>>,
}

impl<'c> Shelf<'c> {
    pub(super) fn of(choir: &'c Choir) -> Self {
        let mut shelf = Self {
            choir,
            citing: BTreeMap::new(),
            claims: BTreeMap::new(),
            naming: OnceCell::new(),
        };
        for (at, (_, page)) in choir.pages.iter().enumerate() {
            let Ok(page) = page else { continue };
            for path in cited(page) {
                shelf.citing.entry(path).or_default().push(choir.place(at));
            }
            if let Some(key) = shelf.key(choir.place(at)) {
                shelf.claims.entry(key).or_insert(choir.place(at));
            }
        }
        shelf
    }

    fn voice(&self, place: usize) -> Option<&'c Voice> {
        let page = place.checked_sub(self.choir.learnings.len())?;
        let other = || self.choir.others.get(page.checked_sub(self.choir.pages.len())?);
        self.choir.pages.get(page).map(|(voice, _)| voice).or_else(other)
    }

    /// The key of what a page claims.
    fn key(&self, place: usize) -> Option<String> {
        self.voice(place)?.statements.first().map(super::statement::Statement::key)
    }

    /// The pattern that says it already, if one does.
    pub(super) fn known_by(&self, edges: &Edges, star: &Recurring) -> Option<&'c str> {
        let (voice, at) = star.medoid;
        let key = self.choir.learnings[voice].statements[at].key();
        let mut places: BTreeSet<usize> = self.claims.get(&key).copied().into_iter().collect();
        places.extend(self.saying(edges, star));
        places.extend(self.compiled_from(star, &key));
        places.extend(self.naming(star));
        places.first().and_then(|place| self.voice(*place)).map(Voice::path)
    }

    /// Those that agree with the medoid, or with half of the others.
    fn saying(&self, edges: &Edges, star: &Recurring) -> Vec<usize> {
        let first = self.choir.learnings.len();
        let mut agreeing: BTreeMap<usize, usize> = BTreeMap::new();
        for statement in star.statements() {
            for (place, _, _) in edges.with(statement).filter(|(place, _, _)| *place >= first) {
                *agreeing.entry(place).or_default() += 1;
            }
        }
        let says = |place: usize| edges.with(star.medoid).any(|(other, _, _)| other == place);
        let count = star.others.len() + 1;
        agreeing.retain(|place, agree| 2 * *agree >= count || says(*place));
        agreeing.into_keys().collect()
    }

    /// Pages of the same sources that claim the same, perhaps in other words.
    fn compiled_from(&self, star: &Recurring, key: &str) -> Vec<usize> {
        let paths = paths_of(self.choir, star);
        let near: BTreeSet<usize> =
            paths.iter().filter_map(|path| self.citing.get(path)).flatten().copied().collect();
        let is_it = |place: &usize| {
            let page = self.choir.pages.get(*place - self.choir.learnings.len());
            let Some((_, Ok(page))) = page else { return false };
            is_same(&paths, &cited(page).collect())
                && self.key(*place).is_none_or(|other| is_one_claim(key, &other))
        };
        near.into_iter().filter(is_it).collect()
    }

    /// Patterns of people, and pages that are theirs by now, that name several of the sources.
    fn naming(&self, star: &Recurring) -> Vec<usize> {
        let naming = self.naming.get_or_init(|| self.read());
        let mut named: BTreeMap<usize, usize> = BTreeMap::new();
        let sources: BTreeSet<usize> = star.voices().collect();
        for place in sources.iter().filter_map(|source| naming.get(source)).flatten() {
            *named.entry(*place).or_default() += 1;
        }
        named.retain(|_, count| *count >= SOURCES_MIN);
        named.into_keys().collect()
    }

    fn read(&self) -> BTreeMap<usize, Vec<usize>> {
        let choir = self.choir;
        let wanted =
            Wanted::new(choir.learnings.iter().map(|voice| Names::of(&voice.entry)).collect());
        let is_theirs = |at: &usize| choir.pages.get(*at).is_none_or(|(_, page)| page.is_err());
        let mut naming: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for at in (0..choir.pages.len() + choir.others.len()).filter(is_theirs) {
            let place = choir.place(at);
            let Some(voice) = self.voice(place) else { continue };
            let text = String::from_utf8_lossy(voice.entry.document.bytes());
            for learning in wanted.mentioned(&text) {
                naming.entry(learning).or_default().push(place);
            }
        }
        naming
    }
}

/// All that a page cites or cited.
fn cited(page: &Page) -> impl Iterator<Item = &str> {
    page.block.sources.iter().chain(&page.block.withdrawn).map(|one| one.path.as_str())
}

pub(super) fn paths_of<'c>(choir: &'c Choir, star: &Recurring) -> BTreeSet<&'c str> {
    star.voices().map(|at| choir.learnings[at].path()).collect()
}

/// What was compiled before.
pub(super) struct Made<'l> {
    all: &'l [Taken],
    by_key: BTreeSet<&'l str>,
    by_source: BTreeMap<&'l str, Vec<usize>>,
}

impl<'l> Made<'l> {
    pub(super) fn of(ledger: &'l Ledger) -> Self {
        let all = ledger.patterns();
        let mut by_source: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, taken) in all.iter().enumerate() {
            for path in &taken.sources {
                by_source.entry(path).or_default().push(at);
            }
        }
        Self { all, by_key: all.iter().map(|taken| taken.key.as_str()).collect(), by_source }
    }

    /// Whether a page with this claim was made before; it is not there, so somebody took it away.
    pub(super) fn has(&self, key: &str, paths: &BTreeSet<&str>) -> bool {
        let near: BTreeSet<usize> =
            paths.iter().filter_map(|path| self.by_source.get(path)).flatten().copied().collect();
        let is_it = |at: &usize| {
            let taken = &self.all[*at];
            let sources: BTreeSet<&str> = taken.sources.iter().map(String::as_str).collect();
            is_same(paths, &sources) && is_one_claim(key, &taken.key)
        };
        self.by_key.contains(key) || near.iter().any(is_it)
    }
}
