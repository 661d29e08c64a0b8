//! A corpus, asked by questions of its own: those that people asked before, and probes.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use ao_contract::{
    BenchExpected, BenchQuestion, Citation, CitationType, Finite, QuestionSource, Unit,
};
use serde_json::Value;

use super::measures::Measures;
use super::probe::{Usage, hash, sentences};
use crate::corpus::{Corpus, Entry};
use crate::index::{Broken, Index, Question, RERANKED, facts_of, is_shown};
use crate::lineage::{Found, Lineage};
use crate::search::{Asking, Places, ranking};

/// So many entries are probed, chosen by their paths.
const PROBED_MAX: usize = 1000;
/// So many past questions are asked again.
const CITED_MAX: usize = 1000;
/// A longer question was no question.
const QUERY_BYTES_MAX: usize = 4096;

/// Questions that are fixed, so that before and after are asked the same ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Questions {
    /// Past questions by their words, then probes by their entries' paths.
    pub list: Vec<BenchQuestion>,
    /// Why past questions are missing, if the citation log could not be read.
    pub log_unread: Option<String>,
}

/// What a list of questions scored.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// Of each question, in their order; `None` for one that leads to nothing that is there.
    pub each: Vec<Option<Measures>>,
    pub mean: Measures,
    pub by_source: Vec<(QuestionSource, u64, Measures)>,
    pub queries: u64,
    pub left_out: u64,
}

/// An entry that was cited for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct CitedFor {
    pub query: String,
    pub path: String,
    pub weight: f64,
}

/// The lines of a citation log that have a question; what cannot be read is passed over, as the
/// log is written by several tools.
pub fn citations(log: &str) -> Vec<CitedFor> {
    let mut found = Vec::new();
    for line in log.lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let Ok(citation) = ao_contract::read::<Citation>(&value) else { continue };
        let weight = match citation.citation_type.known() {
            Some(CitationType::Applied) => 3.0,
            Some(CitationType::Reference) => 2.0,
            // That something was shown does not make it an answer: the bench would want what search gives anyway.
            Some(CitationType::Retrieved | CitationType::Bypass) | None => continue,
        };
        let query = citation.query.get().map_or("", |query| query.trim());
        if !query.is_empty() && query.len() <= QUERY_BYTES_MAX {
            let path = citation.artifact_path;
            found.push(CitedFor { query: query.to_owned(), path, weight });
        }
    }
    found
}

/// The questions of a corpus as it is now.
pub fn live_questions(corpus: &Corpus, citations: &[CitedFor]) -> Questions {
    // Needs something of every entry, and often nobody asks.
    let lineage = LazyCell::new(|| lineage_of(corpus));
    let mut asked: BTreeMap<&str, BTreeMap<String, f64>> = BTreeMap::new();
    for cited in citations {
        if Question::new(&cited.query).is_empty() {
            continue;
        }
        if let Found::Entry { path, .. } = lineage.find(&cited.path) {
            let expected = asked.entry(&cited.query).or_default();
            let weight = expected.entry(path).or_insert(0.0);
            *weight = weight.max(cited.weight);
        }
    }
    let mut queries: Vec<&str> = asked.keys().copied().collect();
    queries.sort_by_cached_key(|query| (hash(query), *query));
    queries.truncate(CITED_MAX);
    queries.sort_unstable();
    let mut list: Vec<BenchQuestion> = queries
        .into_iter()
        .map(|query| question(QuestionSource::Citation, query.to_owned(), &asked[query]))
        .collect();
    list.extend(probes(corpus));
    Questions { list, log_unread: None }
}

fn probes(corpus: &Corpus) -> Vec<BenchQuestion> {
    let shown: Vec<&Arc<Entry>> = corpus.entries.iter().filter(|entry| is_shown(entry)).collect();
    let mut probed = shown.clone();
    // Each is hashed once, and not at each comparison.
    probed.sort_by_cached_key(|entry| (hash(&entry.path), entry.path.clone()));
    probed.truncate(PROBED_MAX);
    probed.sort_by(|a, b| a.path.cmp(&b.path));
    let looked = crate::files::in_parallel(&probed, |entry| sentences(entry.document.body()));
    let usage = Usage::of(&shown, &looked);
    let probed: Vec<_> = probed.into_iter().zip(&looked).collect();
    let probe = |(entry, sentences): &(&Arc<Entry>, &Vec<Vec<String>>)| {
        let expected = BTreeMap::from([(entry.path.clone(), 1.0)]);
        let asked = usage.probe(entry, sentences).unwrap_or_default();
        question(QuestionSource::Probe, asked, &expected)
    };
    crate::files::in_parallel(&probed, probe)
}

fn question(
    source: QuestionSource,
    query: String,
    expected: &BTreeMap<String, f64>,
) -> BenchQuestion {
    let expected = expected
        .iter()
        .filter_map(|(path, weight)| {
            Some(BenchExpected { path: path.clone(), weight: Finite::new(*weight)? })
        })
        .collect();
    BenchQuestion { source, query, expected, ndcg_at_10: None, answered: None }
}

fn lineage_of(corpus: &Corpus) -> Lineage {
    Lineage::of_facts(
        corpus.entries.iter().map(|entry| (entry.path.clone(), facts_of(entry))).collect(),
    )
}

/// Asks the questions. An entry that was replaced since is found if its successor is; a probe for
/// an entry that is gone is a miss, and a past question for which nothing is left is left out.
pub fn score(index: &Index, questions: &Questions) -> Result<Scores, Broken> {
    let lineage = Lineage::of(index)?;
    let places = Places::of(index)?;
    let each =
        crate::files::in_parallel(&questions.list, |question| measure(&places, &lineage, question));
    let each = each.into_iter().collect::<Result<Vec<Option<Measures>>, Broken>>()?;
    let of = |source: QuestionSource| {
        let all = questions.list.iter().zip(&each);
        all.filter(move |(question, _)| question.source == source)
            .filter_map(|(_, one)| one.as_ref())
    };
    let mut by_source = Vec::new();
    for source in [QuestionSource::Citation, QuestionSource::Probe] {
        let count = of(source).count() as u64;
        if count > 0 {
            by_source.push((source, count, Measures::mean(of(source))));
        }
    }
    let queries = each.iter().flatten().count() as u64;
    let mean = Measures::mean(each.iter().flatten());
    Ok(Scores { left_out: each.len() as u64 - queries, queries, mean, by_source, each })
}

fn measure(
    places: &Places<'_>,
    lineage: &Lineage,
    question: &BenchQuestion,
) -> Result<Option<Measures>, Broken> {
    let mut right = BTreeMap::new();
    for BenchExpected { path, weight } in &question.expected {
        let path = match lineage.find(path) {
            Found::Entry { path, .. } => path,
            _ if question.source == QuestionSource::Probe => path.clone(),
            _ => continue,
        };
        let best: &mut f64 = right.entry(path).or_insert(0.0);
        *best = best.max(weight.get());
    }
    right.retain(|_, weight| *weight > 0.0);
    if right.is_empty() {
        return Ok(None);
    }
    let asked = Question::new(&question.query);
    let mut paths = right.keys();
    if let (Some(path), None) = (paths.next(), paths.next()) {
        // One place is found sooner than a whole ranking. Who stands before it makes no difference.
        let place = places.of_path(&asked, path, RERANKED)?;
        let mut ranking = vec![String::new(); place.map_or(1, |place| place as usize - 1)];
        ranking.extend(place.map(|_| path.clone()));
        return Ok(Some(Measures::of(&ranking, &right)));
    }
    let asking = Asking { limit: RERANKED, as_of: None };
    let ranking = ranking(places.index, &asked, asking)?;
    Ok(Some(Measures::of(&ranking, &right)))
}

/// Questions as an earlier run wrote them: its whole output, or only the list.
pub fn read_questions(text: &str) -> Result<Questions, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let list = value.get("questions").unwrap_or(&value);
    let mut list: Vec<BenchQuestion> =
        ao_contract::read(list).map_err(|error| format!("questions: {error}"))?;
    for question in &mut list {
        question.ndcg_at_10 = None;
    }
    if list.is_empty() {
        Err("there are no questions in it".into())
    } else {
        Ok(Questions { list, log_unread: None })
    }
}

impl Scores {
    /// The questions with how each went.
    pub fn told(&self, questions: &Questions) -> Vec<BenchQuestion> {
        let told = |(question, measures): (&BenchQuestion, &Option<Measures>)| BenchQuestion {
            ndcg_at_10: measures.and_then(|measures| Unit::new(measures.ndcg_at_10)),
            ..question.clone()
        };
        questions.list.iter().zip(&self.each).map(told).collect()
    }
}
