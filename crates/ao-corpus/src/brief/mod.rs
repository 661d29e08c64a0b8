//! What the corpus knows about a goal: the lines that bear on it, each with its file and line, and what is missing.

mod line;
mod page;

use std::collections::BTreeSet;
use std::convert::Infallible;

use ao_contract::{BriefSource, Extra, Finite, KnowledgeBrief, SchemaVersion};

use crate::corpus::Entry;
use crate::files::read_one;
use crate::index::{Place, Question};
use crate::lookup::{TOKEN_BYTES, tokens};
use crate::search::{Asking, search};
use line::lines_of;
use page::Page;

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
        let hits = search(index, &question, Asking { limit: entries, as_of: None })?;
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
    let mut page = Page::new(goal, tokens_max.saturating_mul(TOKEN_BYTES));
    page.missing(&missing);
    page.fill(found.iter().map(|(entry, _)| lines_of(entry, &question)).collect());
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
        missing,
        unquoted,
        markdown,
        extra: Extra::new(),
    })
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
