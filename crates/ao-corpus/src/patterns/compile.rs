//! From a corpus to its patterns: pages that are new, and pages whose sources are others by now.

use std::path::Path;
use std::sync::Arc;

use ao_contract::{DefragPattern, Extra, PatternChange, Taken, TakenFrom, Unit};
use ao_tree::Edit;

use super::fate::Lookup;
use super::keep;
use super::page::{Block, Cited, Fresh, Page, is_compiled};
use super::recur::{Edges, Recurring, SOURCES_MIN, Voice, recurring, voices};
use super::shelf::{Made, Shelf, paths_of};
use super::statement::{Statement, all_statements};
use super::trust;
use crate::corpus::{Entry, Kind};
use crate::lineage::Found;
use crate::names::slug;
use crate::past::Past;
use crate::propose::Group;
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

    /// The learning at a path, if it may speak.
    pub(super) fn learning(&self, path: &str) -> Option<&Voice> {
        let at = self.learnings.binary_search_by(|voice| voice.path().cmp(path)).ok()?;
        self.learnings.get(at)
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
    let edges = Edges::of(&all, choir.learnings.len());
    let lookup = Lookup::new(tree, past.is_none().then_some(agents), archived);
    for at in 0..choir.pages.len() {
        keep::keep_up(&choir, at, &edges, &lookup, day, &mut compiled);
    }
    let found = recurring(&all, choir.learnings.len(), &edges);
    let shelf = Shelf::of(&choir);
    let mut new = found.iter().filter(|star| shelf.known_by(&edges, star).is_none()).peekable();
    if new.peek().is_none() {
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
    let made = Made::of(&ledger);
    let mut taken = Vec::new();
    // Nobody is asked about what there is no room for.
    while taken.len() < COMPILED_MAX {
        let Some(star) = new.next() else { break };
        let fresh = fresh(&choir, star, day);
        if made.has(&fresh.key, &paths_of(&choir, star)) {
            continue;
        }
        if let Some(entry) = make(&fresh, &lookup, &compiled) {
            taken.push(taken_of(&fresh, &entry));
            compiled.add(star, &fresh, entry);
        }
    }
    for one in taken {
        ledger.add(one);
    }
    compiled.ledger = ledger.edits(GROUP);
    compiled
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

fn taken_of(fresh: &Fresh<'_>, entry: &Entry) -> Taken {
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
