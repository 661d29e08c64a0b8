//! What the corpus knows about a goal: the lines that bear on it, each with its file and line, what of it is disputed,
//! and what is missing.

mod line;
mod page;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use ao_contract::{
    BriefSource, Contradiction, ContradictionSide, Extra, Finite, KnowledgeBrief, SchemaVersion,
};

use crate::contradictions::{Cards, Rulings, may_be_on_a_card};
use crate::corpus::{Corpus, Entry, Kind};
use crate::files::read_one;
use crate::index::{Place, Question};
use crate::lookup::{TOKEN_BYTES, tokens};
use crate::search::search_promoted;
use crate::trust::{Vouches, warned};
use line::lines_of;
use page::Page;

/// Among so many entries is looked for those that deny what a brief quotes.
const OPPONENTS_MAX: usize = 64;

/// Makes a brief of at most `tokens_max` tokens out of the best `entries`.
pub fn brief(
    place: &Place,
    goal: &str,
    tokens_max: usize,
    entries: usize,
) -> Result<KnowledgeBrief, String> {
    let question = Question::new(goal);
    if question.is_empty() {
        return Err("the goal has no word to look for".into());
    }
    let asked = place.ask(|index| {
        let limit = entries.max(OPPONENTS_MAX);
        let hits = search_promoted(index, &question, limit)?;
        let missing = words_where(&question, |stem| Ok(index.entries_with(stem)? == 0))?;
        Ok((hits, missing))
    });
    let ((hits, missing), _) = asked.map_err(|error| error.to_string())?;
    let read = |path: &str| {
        let bytes = || read_one(&place.agents, path);
        Entry::parse(path, bytes)?.ok()
    };
    // One that went since it was found is not quoted.
    let mut found: Vec<(Arc<Entry>, f64)> =
        hits.iter().filter_map(|hit| Some((Arc::new(read(&hit.path)?), hit.score))).collect();
    let disputed = disputed(place, &found, entries)?;
    found.truncate(entries);
    let mut page = Page::new(goal, tokens_max.saturating_mul(TOKEN_BYTES));
    page.missing(&missing);
    page.disputed(&disputed);
    let entries = found.iter().map(|(entry, _)| lines_of(entry, &question, &disputed));
    page.fill(&entries.collect::<Vec<_>>());
    let lines = page.lines();
    let quoted: BTreeSet<String> =
        lines.iter().flat_map(|line| crate::words::stems(&line.text)).collect();
    let is_unquoted = |stem: &str| Ok::<_, Infallible>(!quoted.contains(stem));
    let Ok(mut unquoted) = words_where(&question, is_unquoted);
    unquoted.retain(|word| !missing.contains(word));
    let markdown = page.markdown(&unquoted);
    let source = |(entry, score): &(Arc<Entry>, f64)| {
        let first = lines.iter().find(|line| line.path == entry.path)?;
        Some(BriefSource {
            path: entry.path.clone(),
            heading: first.heading.clone(),
            score: Finite::new(*score).unwrap_or_default(),
            trust: warned(entry),
            extra: Extra::new(),
        })
    };
    Ok(KnowledgeBrief {
        schema_version: SchemaVersion,
        goal: goal.to_owned(),
        tokens_max: tokens_max as u64,
        tokens: tokens(&markdown) as u64,
        sources: found.iter().filter_map(source).collect(),
        lines,
        disputed,
        missing,
        unquoted,
        markdown,
        extra: Extra::new(),
    })
}

/// What the first of these entries say and another one denies. Who speaks about the same thing is found by the same
/// question, so nobody else is looked at.
fn disputed(
    place: &Place,
    found: &[(Arc<Entry>, f64)],
    quoted: usize,
) -> Result<Vec<Contradiction>, String> {
    let mut entries: Vec<Arc<Entry>> = found.iter().map(|(entry, _)| Arc::clone(entry)).collect();
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    let corpus = Corpus { entries, left: Vec::new() };
    let rulings = Rulings::read(&place.agents).map_err(|error| error.to_string())?;
    let vouches = Vouches::read(&place.agents).map_err(|error| error.to_string())?;
    let shared = |ids: &BTreeSet<String>| shared_ids(place, ids);
    let mut cards = Cards::among(&corpus, &rulings, &vouches, shared).open;
    let is_quoted = |side: &ContradictionSide| {
        found.iter().take(quoted).any(|(entry, _)| entry.path == side.path)
    };
    cards.retain(|card| is_quoted(&card.a) || is_quoted(&card.b));
    Ok(cards)
}

/// Those of these ids that several entries have: a card is called as `ao rule` calls it.
fn shared_ids(place: &Place, ids: &BTreeSet<String>) -> BTreeSet<String> {
    let asked = place.ask(|index| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for entry in 0..index.len() {
            let Some(id) = index.facts(entry)?.id.filter(|id| ids.contains(id.trim())) else {
                continue;
            };
            if Kind::of(&index.key(entry)?).is_some_and(may_be_on_a_card) {
                *counts.entry(id.trim().to_owned()).or_default() += 1;
            }
        }
        Ok(counts)
    });
    let counts = asked.map(|(counts, _)| counts).unwrap_or_default();
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(id, _)| id).collect()
}

/// The words of a goal whose stems are so, each once and as it was written.
fn words_where<E>(
    question: &Question,
    is_so: impl Fn(&str) -> Result<bool, E>,
) -> Result<Vec<String>, E> {
    let mut stems = BTreeSet::new();
    let mut found = Vec::new();
    for (word, stem) in question.words() {
        if stems.insert(stem) && is_so(stem)? {
            found.push(word.to_owned());
        }
    }
    Ok(found)
}
