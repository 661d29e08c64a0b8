//! From a corpus to its patterns: pages that are new, and pages whose sources are others by now.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use ao_contract::{DefragPattern, DefragWithdrawn, Extra, PatternChange, Taken, TakenFrom, Unit};
use ao_tree::Edit;

use super::fate::{Fate, Lookup};
use super::page::{Block, Cited, Fresh, Page, is_compiled};
use super::recur::{
    Edges, Recurring, SOURCES_MAX, SOURCES_MIN, Voice, independent, is_same, recurring, voices,
};
use super::statement::{Statement, all_statements};
use super::trust;
use crate::corpus::{Entry, Kind};
use crate::lineage::Found;
use crate::names::slug;
use crate::past::Past;
use crate::propose::Group;
use crate::references::{Names, Wanted};
use crate::taken::Ledger;
use crate::tree::Tree;

/// So many pages are made at once.
const COMPILED_MAX: usize = 20;
/// Tries for a name that nobody has.
const NAMES_MAX: usize = 100;
const GROUP: Group<'_> = Group("patterns");

/// What compiling would change.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    pub(crate) patterns: Vec<DefragPattern>,
    /// Pages that are to be written, each with its reason and sources.
    pub(crate) pages: Vec<(Arc<Entry>, String, Vec<String>)>,
    /// Pages that are left alone, and why.
    pub(crate) kept: Vec<(String, String)>,
    /// Edits of the ledger.
    pub(crate) ledger: Vec<Edit>,
}

/// Learnings and patterns as voices: the learnings first, then pages, then what people wrote.
pub(super) struct Choir {
    pub(super) learnings: Vec<Voice>,
    /// Compiled pages; each with why it is left alone, if it is.
    pub(super) pages: Vec<(Voice, Result<Page, String>)>,
    pub(super) others: Vec<Voice>,
}

impl Choir {
    pub(super) fn of(tree: &Tree) -> Self {
        let mut choir = Self { learnings: voices(tree), pages: Vec::new(), others: Vec::new() };
        let mut paths = tree.paths();
        paths.retain(|path| Kind::of(path) == Some(Kind::Pattern));
        for entry in paths.iter().filter_map(|path| tree.entry(path)) {
            if is_compiled(&entry) {
                let page = Page::read(&entry);
                let claim = page.as_ref().ok().and_then(|page| Statement::of(&page.block.claim));
                let statements = claim.map_or_else(|| all_statements(&entry), |claim| vec![claim]);
                choir.pages.push((Voice::saying(entry, statements), page));
            } else {
                let statements = all_statements(&entry);
                choir.others.push(Voice::saying(entry, statements));
            }
        }
        choir
    }

    pub(super) fn all(&self) -> Vec<&Voice> {
        let pages = self.pages.iter().map(|(voice, _)| voice);
        self.learnings.iter().chain(pages).chain(&self.others).collect()
    }

    /// The place of a page among all.
    pub(super) fn place(&self, page: usize) -> usize {
        self.learnings.len() + page
    }
}

/// Looks for what recurs. `day` is the corpus's newest, `archived` what this plan takes away.
pub(crate) fn compile(
    (agents, past): (&Path, Option<&Past>),
    tree: &Tree,
    day: Option<&str>,
    archived: &[(String, String)],
) -> Compiled {
    let mut compiled = Compiled::default();
    let choir = Choir::of(tree);
    if choir.learnings.len() < SOURCES_MIN && choir.pages.is_empty() {
        return compiled;
    }
    let all = choir.all();
    let edges = Edges::of(&all);
    let lookup = Lookup::new(tree, past.is_none().then_some(agents), archived);
    for at in 0..choir.pages.len() {
        keep_up(&choir, at, &edges, &lookup, day, &mut compiled);
    }
    let found = recurring(&all, choir.learnings.len(), &edges);
    let new: Vec<&Recurring> =
        found.iter().filter(|star| known_by(&choir, &edges, star).is_none()).collect();
    if new.is_empty() {
        return compiled;
    }
    let ledger = match past {
        Some(past) => Ledger::read_past(agents, past),
        None => Ledger::read(agents),
    };
    let mut ledger = match ledger {
        Ok(ledger) => ledger,
        Err(error) => {
            let why = format!("no pattern was compiled: {error}");
            compiled.kept.push(("knowledge/taken".into(), why));
            return compiled;
        }
    };
    let mut made = 0;
    for star in new {
        if made == COMPILED_MAX {
            break;
        }
        let fresh = fresh(&choir, star, day);
        if was_made(&ledger, &fresh.key, &paths_of(&choir, star)) {
            continue;
        }
        if let Some(entry) = make(&fresh, &lookup, &compiled) {
            ledger.add(taken(&fresh, &entry));
            compiled.add(star, &fresh, entry);
            made += 1;
        }
    }
    compiled.ledger = ledger.edits(GROUP);
    compiled
}

/// The pattern that says it already, if one does.
pub(super) fn known_by<'c>(choir: &'c Choir, edges: &Edges, star: &Recurring) -> Option<&'c str> {
    let members: Vec<usize> = star.voices().collect();
    let paths: BTreeSet<&str> = members.iter().map(|at| choir.learnings[*at].path()).collect();
    let first = choir.learnings.len();
    let names =
        || Wanted::new(members.iter().map(|at| Names::of(&choir.learnings[*at].entry)).collect());
    let wanted = names();
    let patterns = choir.all().into_iter().enumerate().skip(first);
    for (place, voice) in patterns {
        let says = edges.with(star.medoid).any(|(other, _, _)| other == place);
        let agreeing = members.iter().filter(|at| edges.are_joined(**at, place)).count();
        let cited = match place.checked_sub(first).and_then(|at| choir.pages.get(at)) {
            Some((_, Ok(page))) => {
                let cited = page.block.sources.iter().chain(&page.block.withdrawn);
                is_same(&paths, &cited.map(|one| one.path.as_str()).collect())
            }
            _ => {
                let text = String::from_utf8_lossy(voice.entry.document.bytes());
                wanted.mentioned(&text).len() >= SOURCES_MIN
            }
        };
        if says || 2 * agreeing >= members.len() || cited {
            let path = choir.pages.get(place - first).map(|(voice, _)| voice.path());
            return path
                .or_else(|| choir.others.get(place - first - choir.pages.len()).map(Voice::path));
        }
    }
    None
}

/// Whether a page about it was made before; it is not there, so somebody took it away.
pub(super) fn was_made(ledger: &Ledger, key: &str, paths: &BTreeSet<String>) -> bool {
    let is_it = |taken: &Taken| {
        taken.key == key || is_same(paths, &taken.sources.iter().cloned().collect())
    };
    ledger.patterns().iter().any(is_it)
}

pub(super) fn paths_of(choir: &Choir, star: &Recurring) -> BTreeSet<String> {
    star.voices().map(|at| choir.learnings[at].path().to_owned()).collect()
}

fn fresh<'a>(choir: &Choir, star: &Recurring, day: Option<&'a str>) -> Fresh<'a> {
    let words = |voice: usize, at: usize| Cited {
        path: choir.learnings[voice].path().to_owned(),
        words: choir.learnings[voice].statements[at].text.clone(),
    };
    let (voice, at) = star.medoid;
    let medoid = &choir.learnings[voice].statements[at];
    let mut sources = vec![words(voice, at)];
    sources.extend(star.others.iter().map(|(voice, at, _)| words(*voice, *at)));
    sources.sort_by(|one, other| one.path.cmp(&other.path));
    let entries = || star.voices().map(|at| &choir.learnings[at].entry);
    let date = entries().filter_map(|entry| entry.date()).max().map(|day| day.to_string());
    let trust = trust::lowest(entries().map(|entry| &entry.document));
    let block = Block { claim: medoid.text.clone(), sources, withdrawn: Vec::new() };
    Fresh { block, key: medoid.key(), date, day, trust }
}

/// The page under a name that nobody has or had: an old reference must not lead to it.
fn make(fresh: &Fresh<'_>, lookup: &Lookup<'_>, made: &Compiled) -> Option<Arc<Entry>> {
    let stem = slug(&fresh.title(), "pattern");
    for number in 1..=NAMES_MAX {
        let stem = if number == 1 { stem.clone() } else { format!("{stem}-{number}") };
        let path = format!("patterns/{stem}.md");
        let is_ours = made.pages.iter().any(|(entry, _, _)| entry.path == path);
        let is_fixed = lookup.tree.fixed().contains_key(&path);
        if !is_ours && !is_fixed && lookup.lineage().find(&stem) == Found::Nothing {
            return fresh.entry(&path).ok().map(Arc::new);
        }
    }
    None
}

fn taken(fresh: &Fresh<'_>, entry: &Entry) -> Taken {
    Taken {
        key: fresh.key.clone(),
        from: TakenFrom::Patterns,
        entry: entry.path.clone(),
        at: fresh.day.unwrap_or_default().to_owned(),
        reward: None,
        origin: None,
        sources: fresh.block.sources.iter().map(|cited| cited.path.clone()).collect(),
        extra: Extra::new(),
    }
}

impl Compiled {
    fn add(&mut self, star: &Recurring, fresh: &Fresh<'_>, entry: Arc<Entry>) {
        let sources: Vec<String> =
            fresh.block.sources.iter().map(|cited| cited.path.clone()).collect();
        let least =
            star.others.iter().map(|(_, _, agreement)| agreement.of_both).fold(1.0, f64::min);
        let why = format!(
            "compiled: {} learnings say it (at least {least:.2} of the stems of both in both): {}",
            sources.len(),
            fresh.block.claim
        );
        self.patterns.push(DefragPattern {
            path: entry.path.clone(),
            change: PatternChange::Compiled,
            claim: fresh.block.claim.clone(),
            sources: sources.clone(),
            joined: Vec::new(),
            withdrawn: Vec::new(),
            likeness: Some(Unit::nearest(rounded(least))),
            why: why.clone(),
        });
        self.pages.push((entry, why, sources));
    }
}

fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// Brings one page up to date: who joined, who was withdrawn, who goes by another name.
fn keep_up(
    choir: &Choir,
    at: usize,
    edges: &Edges,
    lookup: &Lookup<'_>,
    day: Option<&str>,
    compiled: &mut Compiled,
) {
    let (voice, page) = &choir.pages[at];
    let path = voice.path();
    if voice.entry.document.is_hidden() || lookup.tree.fixed().contains_key(path) {
        return;
    }
    let page = match page {
        Ok(page) => page,
        Err(why) => {
            compiled.kept.push((path.to_owned(), why.clone()));
            return;
        }
    };
    let mut block = sources_now(page, voice, lookup);
    let joined = joining(choir, choir.place(at), edges, &block);
    block.sources.extend(joined.iter().cloned());
    block.sources.sort_by(|one, other| one.path.cmp(&other.path));
    if block == page.block {
        return;
    }
    let voices: Vec<Voice> = block
        .sources
        .iter()
        .filter_map(|cited| Some(Voice::saying(lookup.tree.entry(&cited.path)?, Vec::new())))
        .collect();
    let is_weak = independent(&voices.iter().collect::<Vec<_>>()) < SOURCES_MIN;
    let trust = trust::lowest(voices.iter().map(|voice| &voice.entry.document));
    match page.with(&block, is_weak, day, trust) {
        Ok(entry) => compiled.change(page, &block, &joined, is_weak, entry),
        Err(why) => compiled.kept.push((path.to_owned(), why)),
    }
}

/// The sources of a page as they are now; one that had been withdrawn may say it again.
fn sources_now(page: &Page, voice: &Voice, lookup: &Lookup<'_>) -> Block {
    let known = &page.block;
    let mut block =
        Block { claim: known.claim.clone(), sources: Vec::new(), withdrawn: Vec::new() };
    let is_cited = |block: &Block, path: &str| block.sources.iter().any(|one| one.path == path);
    for cited in &known.sources {
        match lookup.fate(&cited.path, Some(&cited.words), voice) {
            Fate::Unclear => block.sources.push(cited.clone()),
            // Two that became one are cited once.
            Fate::Says(now) if is_cited(&block, &now.path) => {}
            Fate::Says(now) => block.sources.push(now),
            Fate::Withdrawn(words) => {
                block.withdrawn.push(Cited { path: cited.path.clone(), words });
            }
        }
    }
    for cited in &known.withdrawn {
        // What is gone stays gone for the reason that was given.
        let fate = lookup.tree.entry(&cited.path).map(|_| lookup.fate(&cited.path, None, voice));
        match fate {
            Some(Fate::Says(now)) if is_cited(&block, &now.path) => {}
            Some(Fate::Says(now)) => block.sources.push(now),
            Some(Fate::Withdrawn(words)) => {
                block.withdrawn.push(Cited { path: cited.path.clone(), words });
            }
            Some(Fate::Unclear) | None => block.withdrawn.push(cited.clone()),
        }
    }
    block.withdrawn.sort_by(|one, other| one.path.cmp(&other.path));
    block
}

/// Learnings that say what a page says and are not cited there.
fn joining(choir: &Choir, place: usize, edges: &Edges, block: &Block) -> Vec<Cited> {
    let cited =
        |path: &str| block.sources.iter().chain(&block.withdrawn).any(|one| one.path == path);
    let known: Vec<&Voice> = choir.learnings.iter().filter(|voice| cited(voice.path())).collect();
    let room = SOURCES_MAX.saturating_sub(block.sources.len());
    let near = edges.with((place, 0)).filter(|(voice, _, _)| *voice < choir.learnings.len());
    near.map(|(voice, at, _)| (&choir.learnings[voice], at))
        .filter(|(voice, _)| !cited(voice.path()))
        .filter(|(voice, _)| !known.iter().any(|one| one.is_copy_of(voice)))
        .map(|(voice, at)| Cited {
            path: voice.path().to_owned(),
            words: voice.statements[at].text.clone(),
        })
        .take(room)
        .collect()
}

impl Compiled {
    fn change(
        &mut self,
        page: &Page,
        block: &Block,
        joined: &[Cited],
        is_weak: bool,
        entry: Entry,
    ) {
        let is_new =
            |cited: &&Cited| !page.block.withdrawn.iter().any(|old| old.path == cited.path);
        let withdrawn: Vec<&Cited> = block.withdrawn.iter().filter(is_new).collect();
        let change = match (is_weak, joined.is_empty(), withdrawn.is_empty()) {
            (true, _, false) => PatternChange::Weakened,
            (_, false, _) => PatternChange::Extended,
            (_, true, false) => PatternChange::Withdrawn,
            _ => PatternChange::Renamed,
        };
        let list = |cited: &[&Cited]| {
            let lines: Vec<String> =
                cited.iter().map(|one| format!("{} ({})", one.path, one.words)).collect();
            lines.join(", ")
        };
        let paths = |cited: &[Cited]| cited.iter().map(|one| one.path.clone()).collect::<Vec<_>>();
        let mut why = Vec::new();
        if !joined.is_empty() {
            why.push(format!("{} says it too", paths(joined).join(", ")));
        }
        if !withdrawn.is_empty() {
            why.push(format!("withdrawn: {}", list(&withdrawn)));
        }
        if why.is_empty() {
            why.push("its sources go by other names or words".into());
        }
        if is_weak {
            why.push(format!("fewer than {SOURCES_MIN} independent learnings say it still"));
        }
        let (sources, why) = (paths(&block.sources), why.join("; "));
        self.patterns.push(DefragPattern {
            path: entry.path.clone(),
            change,
            claim: block.claim.clone(),
            sources: sources.clone(),
            joined: paths(joined),
            withdrawn: withdrawn
                .into_iter()
                .map(|one| DefragWithdrawn { path: one.path.clone(), why: one.words.clone() })
                .collect(),
            likeness: None,
            why: why.clone(),
        });
        self.pages.push((Arc::new(entry), why, sources));
    }
}
