//! A page is kept up with its sources: who joined, who was withdrawn, who goes by another name.

use std::sync::Arc;

use ao_contract::{DefragPattern, DefragWithdrawn, PatternChange};

use super::compile::{Choir, Compiled};
use super::fate::{Fate, Lookup};
use super::page::{Block, Cited, Page};
use super::recur::{Edges, SOURCES_MAX, SOURCES_MIN, Voice, independent};
use super::trust;
use crate::corpus::Entry;

/// Brings one page up to date: who joined, who was withdrawn, who goes by another name.
pub(super) fn keep_up(
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
    // The claim stays in the words that it was compiled from, so what a page is trusted never rises.
    let sources = voices.iter().map(|voice| &voice.entry.document);
    let own = (!ao_mutant::active("GRD-07/a-pattern-forgets")).then_some(&voice.entry.document);
    let trust = trust::lowest(sources.chain(own));
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
    let known: Vec<&Voice> = block
        .sources
        .iter()
        .chain(&block.withdrawn)
        .filter_map(|one| choir.learning(&one.path))
        .collect();
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
