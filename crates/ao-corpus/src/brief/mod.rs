//! What the corpus knows about a goal: the lines that bear on it, each with its file and line, what of it is disputed,
//! and what is missing.

mod line;
mod page;

use std::collections::BTreeSet;
use std::convert::Infallible;

use ao_contract::{
    BriefLine, BriefSource, Contradiction, ContradictionSide, Extra, Finite, KnowledgeBrief,
    SchemaVersion,
};

use crate::contradictions::{Cards, Disputes, Rulings};
use crate::corpus::{Corpus, Entry};
use crate::files::read_one;
use crate::index::{Place, Question};
use crate::lookup::{TOKEN_BYTES, tokens};
use crate::passage::matched;
use crate::patterns::is_weakened;
use crate::search::search_promoted;
use crate::trust::{Vouches, warned};
use line::lines_of;
use page::Page;

/// So many disputes are listed; the others are counted.
const DISPUTED_MAX: usize = 20;
/// The title of an entry is cut here where a dispute names it.
const TITLE_CHARS_MAX: usize = 200;

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
        let hits = search_promoted(index, &question, entries)?;
        let missing = words_where(&question, |stem| Ok(index.entries_with(stem)? == 0))?;
        Ok((hits, missing))
    });
    let ((hits, missing), _) = asked.map_err(|error| error.to_string())?;
    let read = |path: &str| {
        let bytes = || read_one(&place.agents, path);
        Entry::parse(path, bytes)?.ok()
    };
    // One that went since it was found is not quoted.
    let found: Vec<(Entry, f64)> =
        hits.iter().filter_map(|hit| Some((read(&hit.path)?, hit.score))).collect();
    let corpus = whole(place, &found).map_err(|error| error.to_string())?;
    let rulings = Rulings::read(&place.agents).map_err(|error| error.to_string())?;
    let vouches = Vouches::read(&place.agents).map_err(|error| error.to_string())?;
    let disputes = Disputes::of(&corpus, Cards::of(&corpus, &rulings, &vouches).open);
    let mut page = Page::new(goal, tokens_max.saturating_mul(TOKEN_BYTES));
    page.missing(&missing);
    let entries: Vec<Vec<BriefLine>> =
        found.iter().map(|(entry, _)| lines_of(entry, &question, &disputes)).collect();
    let asked = asked_about(&question, &found, &disputes);
    let all = entries.iter().flatten();
    page.fill(&entries, page.reserve(&cards(all, &asked, &disputes)), |_| true);
    let mut told = cards(page.lines().iter(), &asked, &disputes);
    page.disputed(&told);
    // What the disputes left is for lines, unless they would bring another dispute.
    page.fill(&entries, 0, |line| {
        let card = line.disputed.as_ref();
        card.is_none_or(|id| told.iter().any(|card| card.id == *id))
    });
    let more = told.len().checked_sub(DISPUTED_MAX).filter(|more| *more > 0);
    told.truncate(DISPUTED_MAX);
    let lines = page.lines();
    let quoted: BTreeSet<String> =
        lines.iter().flat_map(|line| crate::words::stems(&line.text)).collect();
    let is_unquoted = |stem: &str| Ok::<_, Infallible>(!quoted.contains(stem));
    let Ok(mut unquoted) = words_where(&question, is_unquoted);
    unquoted.retain(|word| !missing.contains(word));
    let markdown = page.markdown(&unquoted);
    let source = |(entry, score): &(Entry, f64)| {
        let first = lines.iter().find(|line| line.path == entry.path)?;
        Some(BriefSource {
            path: entry.path.clone(),
            heading: first.heading.clone(),
            score: Finite::new(*score).unwrap_or_default(),
            trust: warned(entry),
            weakened: is_weakened(entry),
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
        disputed: told,
        disputed_more: more.map(|more| more as u64),
        missing,
        unquoted,
        markdown,
        extra: Extra::new(),
    })
}

/// Everything that could deny what these entries say: who does need not have any other word in common with the goal.
fn whole(place: &Place, found: &[(Entry, f64)]) -> std::io::Result<Corpus> {
    if found.is_empty() {
        return Ok(Corpus::default());
    }
    let folders: Vec<&str> = place.folders.iter().map(String::as_str).collect();
    Corpus::read(&place.agents, &folders)
}

/// The cards of what was found that have a word of the goal in what is disputed.
fn asked_about<'d>(
    question: &Question,
    found: &[(Entry, f64)],
    disputes: &'d Disputes<'_>,
) -> Vec<&'d Contradiction> {
    let stems: BTreeSet<&str> = question.stems().collect();
    let has_word = |side: &ContradictionSide| !matched(&side.quote, &stems).is_empty();
    let of_found = found.iter().flat_map(|(entry, _)| disputes.with(&entry.path));
    let mut cards: Vec<&Contradiction> =
        of_found.filter(|card| has_word(&card.a) || has_word(&card.b)).collect();
    cards.sort_by(|one, other| one.id.cmp(&other.id));
    cards.dedup_by(|one, other| one.id == other.id);
    cards
}

/// The cards that these lines name, in their order, then the others; each with where its sides stand.
fn cards<'a>(
    lines: impl Iterator<Item = &'a BriefLine>,
    asked: &[&Contradiction],
    disputes: &Disputes<'_>,
) -> Vec<Contradiction> {
    let named = lines.filter_map(|line| disputes.card(line.disputed.as_ref()?));
    let mut seen = BTreeSet::new();
    let each = named.chain(asked.iter().copied()).filter(|card| seen.insert(card.id.clone()));
    let placed = |card: &Contradiction| {
        let mut card = card.clone();
        for side in [&mut card.a, &mut card.b] {
            side.line = disputes.line_of(side);
            side.title = side.title.chars().take(TITLE_CHARS_MAX).collect();
        }
        card
    };
    each.map(placed).collect()
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
