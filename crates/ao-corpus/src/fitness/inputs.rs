//! What fitness asks of search and of the search for copies.

use std::sync::Arc;

use crate::bench;
use crate::corpus::{Corpus, Entry, Kind};
use crate::duplicates::{Cluster, Finder};
use crate::index::Index;
use crate::tree::Tree;

/// How well the learnings answer the questions that were asked of them, and probes.
pub fn retrieval(corpus: &Corpus, citation_log: &str) -> Result<f64, String> {
    let is_learning = |entry: &&Arc<Entry>| entry.kind == Kind::Learning;
    let entries = corpus.entries.iter().filter(is_learning).cloned().collect();
    let learnings = Corpus { entries, left: Vec::new() };
    let questions = bench::live_questions(&learnings, &bench::citations(citation_log));
    if questions.list.is_empty() {
        return Err("there is nothing to ask for".into());
    }
    let index = Index::of_entries(&learnings.entries).map_err(|error| error.to_string())?;
    let scores = bench::score(&index, &questions).map_err(|error| error.to_string())?;
    Ok(scores.mean.ndcg_at_10)
}

/// The clusters of copies in a tree.
pub fn copies(tree: &Tree) -> Vec<Vec<String>> {
    let found = Finder::new(tree).find(tree, None);
    let cluster = |cluster: Cluster| {
        let members = cluster.members.into_iter().map(|member| member.path);
        std::iter::once(cluster.survivor).chain(members).collect()
    };
    found.clusters.into_iter().map(cluster).collect()
}
