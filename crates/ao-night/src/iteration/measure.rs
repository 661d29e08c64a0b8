//! MEASURE: how fit a corpus is, by questions and on a day that are fixed for the run.

use std::path::Path;
use std::sync::Arc;

use ao_contract::RetrievalBench;
use ao_corpus::bench::{self, Questions};
use ao_corpus::fitness::{self, Fitness, Inputs, Retrieved, fitness};
use ao_corpus::questions::{Asked, last_asked};
use ao_corpus::{CLOSED, Corpus, Logs, Tree};
use jiff::civil::Date;

use super::Work;

/// What before and after are both measured by.
#[derive(Debug)]
pub(crate) struct Baseline {
    questions: Questions,
    as_of: Option<Date>,
    /// What was asked before. It is only reported: nothing is judged by it.
    pub(crate) past: Asked,
}

impl Baseline {
    pub(crate) fn of(work: &Work, corpus: &Corpus) -> Self {
        let log = Logs::citation_log(&work.agents).unwrap_or_default();
        let questions = fitness::questions(corpus, &log);
        let as_of = if ao_mutant::active("RUN-44/fitness-by-the-run") {
            Some(work.today())
        } else {
            corpus.newest_by(work.latest())
        };
        Self { questions, as_of, past: past(work, &log.text) }
    }
}

/// The last questions, with what was cited for them.
pub(crate) fn past(work: &Work, citation_log: &str) -> Asked {
    let asked = work.outside.questions(|| last_asked(&work.agents));
    if asked.is_empty() {
        return Asked::default();
    }
    Asked::of(&asked, &bench::citations(citation_log))
}

/// What was measured.
#[derive(Debug, Clone)]
pub(crate) struct Measured {
    pub(crate) fitness: Fitness,
    /// `Err` says why nothing could be asked.
    pub(crate) bench: Result<RetrievalBench, String>,
    /// Which of the past questions have an answer, in their order.
    pub(crate) answered: Option<Vec<bool>>,
}

/// `copies` are the clusters of copies in this corpus.
pub(crate) fn measure(corpus: &Corpus, copies: Vec<Vec<String>>, baseline: &Baseline) -> Measured {
    let found = fitness::retrieved(corpus, &baseline.questions, &baseline.past);
    told(corpus, copies, baseline, found)
}

/// The same of a corpus and of what it is to become.
pub(crate) fn measure_both(
    agents: &Path,
    [before, after]: [(&Corpus, Vec<Vec<String>>); 2],
    baseline: &Baseline,
) -> (Measured, Measured) {
    let both = [before.0, after.0];
    let [then, now] = fitness::retrievals(agents, both, &baseline.questions, &baseline.past);
    (told(before.0, before.1, baseline, then), told(after.0, after.1, baseline, now))
}

fn told(
    corpus: &Corpus,
    copies: Vec<Vec<String>>,
    baseline: &Baseline,
    Retrieved { bench, answered }: Retrieved,
) -> Measured {
    let retrieval = bench.as_ref().map(|bench| bench.ndcg_at_10.get()).map_err(Clone::clone);
    let inputs = Inputs { as_of: baseline.as_of, latest: None, retrieval, copies: Ok(copies) };
    Measured { fitness: fitness(corpus, &inputs), bench, answered }
}

/// Measures the corpus as it was read just now.
pub(crate) fn measure_live(work: &Work, all: &Arc<Corpus>) -> Measured {
    let corpus = all.within(&CLOSED);
    let baseline = work.baseline.get_or_init(|| Baseline::of(work, &corpus));
    measure(&corpus, fitness::copies(&Tree::of(Arc::clone(all))), baseline)
}
