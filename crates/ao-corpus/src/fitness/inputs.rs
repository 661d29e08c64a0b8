//! What fitness asks of search and of the search for copies.

use std::sync::Arc;

use ao_contract::RetrievalBench;

use crate::bench::{self, Questions};
use crate::corpus::{Corpus, Entry, Kind};
use crate::duplicates::{Cluster, Finder};
use crate::index::Index;
use crate::tree::Tree;

/// The questions that were asked of the learnings, and probes.
pub fn questions(corpus: &Corpus, citation_log: &str) -> Questions {
    bench::live_questions(&learnings(corpus), &bench::citations(citation_log))
}

/// How well the learnings answer them; `Err` says why nothing could be asked.
pub fn retrieval(corpus: &Corpus, questions: &Questions) -> Result<RetrievalBench, String> {
    if questions.list.is_empty() {
        return Err("there is nothing to ask for".into());
    }
    let index = Index::of_entries(&learnings(corpus).entries).map_err(|error| error.to_string())?;
    let scores = bench::score(&index, questions).map_err(|error| error.to_string())?;
    Ok(bench::live_report("learnings", &index, questions, &scores))
}

fn learnings(corpus: &Corpus) -> Corpus {
    let is_learning = |entry: &&Arc<Entry>| entry.kind == Kind::Learning;
    let entries = corpus.entries.iter().filter(is_learning).cloned().collect();
    Corpus { entries, left: Vec::new() }
}

/// The clusters of copies in a tree.
pub fn copies(tree: &Tree) -> Vec<Vec<String>> {
    let found = Finder::new(tree).find(tree, None);
    found.clusters.into_iter().map(Cluster::into_paths).collect()
}
