//! MEASURE: how fit a corpus is, by questions and on a day that are fixed for the run.

use std::path::Path;
use std::sync::Arc;

use ao_contract::RetrievalBench;
use ao_corpus::bench::Questions;
use ao_corpus::fitness::{self, Fitness, Inputs, fitness};
use ao_corpus::{CLOSED, Corpus, Logs, Tree};
use jiff::civil::Date;

use super::Work;

/// What before and after are both measured by.
#[derive(Debug)]
pub(crate) struct Baseline {
    questions: Questions,
    as_of: Option<Date>,
}

impl Baseline {
    pub(crate) fn of(agents: &Path, corpus: &Corpus) -> Self {
        let log = Logs::citation_log(agents).unwrap_or_default();
        Self { questions: fitness::questions(corpus, &log), as_of: corpus.newest() }
    }
}

/// What was measured.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) fitness: Fitness,
    /// `Err` says why nothing could be asked.
    pub(crate) bench: Result<RetrievalBench, String>,
}

/// `copies` are the clusters of copies in this corpus.
pub(crate) fn measure(corpus: &Corpus, copies: Vec<Vec<String>>, baseline: &Baseline) -> Measured {
    told(corpus, copies, baseline, fitness::retrieval(corpus, &baseline.questions))
}

/// The same of a corpus and of what it is to become.
pub(crate) fn measure_both(
    agents: &Path,
    [before, after]: [(&Corpus, Vec<Vec<String>>); 2],
    baseline: &Baseline,
) -> (Measured, Measured) {
    let [then, now] = fitness::retrievals(agents, [before.0, after.0], &baseline.questions);
    (told(before.0, before.1, baseline, then), told(after.0, after.1, baseline, now))
}

fn told(
    corpus: &Corpus,
    copies: Vec<Vec<String>>,
    baseline: &Baseline,
    bench: Result<RetrievalBench, String>,
) -> Measured {
    let retrieval = bench.as_ref().map(|bench| bench.ndcg_at_10.get()).map_err(Clone::clone);
    let inputs = Inputs { as_of: baseline.as_of, retrieval, copies: Ok(copies) };
    Measured { fitness: fitness(corpus, &inputs), bench }
}

/// Measures the corpus as it was read just now.
pub(crate) fn measure_live(work: &Work, all: &Arc<Corpus>) -> Measured {
    let corpus = all.within(&CLOSED);
    let baseline = work.baseline.get_or_init(|| Baseline::of(&work.agents, &corpus));
    measure(&corpus, fitness::copies(&Tree::of(Arc::clone(all))), baseline)
}
