//! What a bench found, in the form in which it is published.

use ao_contract::{BenchMode, BenchSource, Extra, RetrievalBench, SchemaVersion, Unit};

use super::dataset::DatasetScore;
use super::live::{Questions, Scores};
use super::measures::Measures;
use crate::index::Index;

/// The live bench; `corpus` says in a word what was asked.
pub fn live_report(
    corpus: &str,
    index: &Index,
    questions: &Questions,
    scores: &Scores,
) -> RetrievalBench {
    let sources = scores.by_source.iter().map(|(source, queries, mean)| BenchSource {
        source: *source,
        queries: *queries,
        ndcg_at_10: Unit::nearest(mean.ndcg_at_10),
    });
    RetrievalBench {
        entries: index.shown(),
        queries: scores.queries,
        queries_left_out: scores.left_out,
        sources: sources.collect(),
        questions: scores.told(questions),
        citation_log_unread: questions.log_unread.clone(),
        ..of(BenchMode::Live, corpus, &scores.mean)
    }
}

impl DatasetScore {
    pub fn report(&self) -> RetrievalBench {
        RetrievalBench {
            entries: self.documents,
            queries: self.queries,
            queries_left_out: self.left_out,
            ..of(BenchMode::Dataset, "dataset", &self.mean)
        }
    }
}

fn of(mode: BenchMode, corpus: &str, mean: &Measures) -> RetrievalBench {
    RetrievalBench {
        schema_version: SchemaVersion,
        mode,
        corpus: corpus.to_owned(),
        entries: 0,
        queries: 0,
        queries_left_out: 0,
        ndcg_at_10: Unit::nearest(mean.ndcg_at_10),
        recall_at_5: Unit::nearest(mean.recall_at_5),
        recall_at_10: Unit::nearest(mean.recall_at_10),
        mrr_at_10: Unit::nearest(mean.mrr_at_10),
        map: Unit::nearest(mean.map),
        sources: Vec::new(),
        asked: None,
        questions: Vec::new(),
        citation_log_unread: None,
        extra: Extra::new(),
    }
}
