//! What the corpus knows about a goal: the best passages, each with its entry, and what is missing.

use ao_contract::{BriefSource, Extra, Finite, KnowledgeBrief, SchemaVersion};

use crate::corpus::Entry;
use crate::files::read_one;
use crate::index::{Place, Question};
use crate::lookup::{Source, lookup, tokens};
use crate::search::search_promoted;

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
        let mut missing: Vec<String> = Vec::new();
        for stem in question.stems() {
            if index.entries_with(stem)? == 0 && !missing.iter().any(|known| known == stem) {
                missing.push(stem.to_owned());
            }
        }
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
    let sources: Vec<Source<'_>> =
        found.iter().map(|(entry, score)| Source { entry, score: *score }).collect();
    let made = lookup(goal, &question, &sources, tokens_max);
    let score_of = |path: &str| {
        let score = hits.iter().find(|hit| hit.path == path).map_or(0.0, |hit| hit.score);
        Finite::new(score).unwrap_or_default()
    };
    let source = |given: &crate::lookup::Given| BriefSource {
        path: given.path.clone(),
        heading: given.heading.clone(),
        score: score_of(&given.path),
        trust: given.trust,
        extra: Extra::new(),
    };
    Ok(KnowledgeBrief {
        schema_version: SchemaVersion,
        goal: goal.to_owned(),
        tokens_max: tokens_max as u64,
        tokens: tokens(&made.markdown) as u64,
        sources: made.given.iter().map(source).collect(),
        missing,
        markdown: made.markdown,
        extra: Extra::new(),
    })
}
