//! What the corpus knows about a goal: the lines that bear on it, each with its file and line, what of it is disputed,
//! and what is missing.

mod line;
mod page;
mod told;

use std::collections::BTreeSet;
use std::convert::Infallible;

use ao_contract::{BriefLine, BriefSource, Extra, Finite, KnowledgeBrief, SchemaVersion};
use jiff::civil::Date;

use crate::contradictions::{Cards, Disputes, Rulings};
use crate::corpus::{Corpus, Entry};
use crate::files::read_one;
use crate::index::{Place, Question};
use crate::lookup::{TOKEN_BYTES, tokens};
use crate::patterns::is_weakened;
use crate::search::search_promoted;
use crate::trust::{Vouches, warned};
use line::lines_of;
use page::Page;
use told::{Told, asked_about};

/// Makes a brief of at most `tokens_max` tokens out of the best `entries`. Findings that are past their term
/// `today` dispute nothing.
pub fn brief(
    place: &Place,
    goal: &str,
    (tokens_max, entries): (usize, usize),
    today: Date,
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
    let disputes = Disputes::of(&corpus, Cards::of(&corpus, &rulings, &vouches, today).open);
    let mut page = Page::new(goal, tokens_max.saturating_mul(TOKEN_BYTES));
    page.missing(&missing);
    let entries: Vec<Vec<BriefLine>> =
        found.iter().map(|(entry, _)| lines_of(entry, &question, &disputes)).collect();
    let asked = asked_about(&question, &found, &disputes);
    let all = entries.iter().flatten();
    page.fill(&entries, page.reserve(&Told::of(all, &asked, &disputes)), |_| true);
    let told = Told::of(page.lines().iter(), &asked, &disputes);
    page.disputed(&told);
    // What the disputes left is for lines, unless they would bring another dispute.
    page.fill(&entries, 0, |line| line.disputed.as_ref().is_none_or(|id| told.has(id)));
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
        disputed_more: Some(told.more as u64).filter(|more| *more > 0),
        disputed: told.cards,
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
