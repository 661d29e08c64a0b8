//! How good a corpus is, in numbers that a night is judged by.
//!
//! Each metric is from 0 to 1 and more is better. What cannot be known is absent, which is not
//! zero: the others then weigh more. Three rules shape the definitions:
//!
//! *Bringing knowledge in is never punished.* What is pending is counted from the start, so that
//! promoting it can only raise a metric; and shares are damped by [`PRIOR_ENTRIES`] entries that
//! are middling, so that a small corpus does not fall because it grows.
//!
//! *Copies are counted once*, each cluster as its worst member: merging copies can then only raise
//! a metric.
//!
//! *One bad thing is no landslide*: a new finding lowers its metric by less than its floor.

mod inputs;
mod measure;

use std::collections::BTreeMap;
use std::sync::Arc;

use ao_contract::{Extra, Finite, FitnessReport, Unit};
use jiff::civil::Date;

use crate::corpus::{Corpus, Entry};
use measure::{findings, freshness, is_measured, maturity, provenance, uniqueness, units};

pub(crate) use inputs::learnings;
pub use inputs::{Retrieved, copies, questions, retrieval, retrievals, retrieved};
pub(crate) use measure::days;
pub use measure::{
    CANDIDATE, ESTABLISHED, FINDINGS_HALF, PENDING, PRIOR_ENTRIES, PROVISIONAL, STALE_DAYS,
    gravity, has_provenance,
};

pub const RETRIEVAL: &str = "retrieval";
pub const UNIQUENESS: &str = "uniqueness";
pub const PROVENANCE: &str = "provenance";
pub const FRESHNESS: &str = "freshness";
pub const MATURITY: &str = "maturity";
pub const FINDINGS: &str = "findings";
/// That all entries are gone is a regression, whatever became of the metrics.
pub const ENTRIES: &str = "entries";

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metric {
    pub name: &'static str,
    /// Its part of the composite; all of them make 1.
    pub weight: f64,
    /// It may fall by this much; more is a regression.
    pub floor: f64,
}

pub const METRICS: [Metric; 6] = [
    Metric { name: RETRIEVAL, weight: 0.40, floor: 0.02 },
    Metric { name: UNIQUENESS, weight: 0.15, floor: 0.02 },
    Metric { name: PROVENANCE, weight: 0.10, floor: 0.05 },
    Metric { name: FRESHNESS, weight: 0.10, floor: 0.05 },
    Metric { name: MATURITY, weight: 0.15, floor: 0.05 },
    Metric { name: FINDINGS, weight: 0.10, floor: 0.10 },
];

/// Numbers are kept to so many parts of one, which is the same on every machine.
const PARTS: f64 = 1e6;
/// Under this a difference is none.
const NOTHING: f64 = 1e-9;

/// What the corpus alone does not tell; `Err` says why it is not known.
#[derive(Debug, Clone)]
pub struct Inputs {
    /// The day to measure ages against instead of the corpus's newest.
    pub as_of: Option<Date>,
    /// Days after this one are not the corpus's newest.
    pub latest: Option<Date>,
    /// The score of the retrieval bench; see [`retrieval`].
    pub retrieval: Result<f64, String>,
    /// Clusters of copies, by their paths; see [`copies`].
    pub copies: Result<Vec<Vec<String>>, String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Fitness {
    pub metrics: BTreeMap<&'static str, f64>,
    /// The weighted mean of the metrics that are known; 0 for an empty corpus.
    pub composite: f64,
    /// Why a metric is not known.
    pub absent: BTreeMap<&'static str, String>,
    /// How many entries it was measured on.
    pub entries: usize,
}

/// A metric that fell by more than its floor.
#[derive(Debug, Clone, PartialEq)]
pub struct Regression {
    pub metric: &'static str,
    pub drop: f64,
    pub floor: f64,
}

pub fn fitness(corpus: &Corpus, inputs: &Inputs) -> Fitness {
    let day = inputs.as_of.or_else(|| corpus.newest_by(inputs.latest));
    let measured: Vec<&Arc<Entry>> =
        corpus.entries.iter().filter(|entry| is_measured(entry, inputs.as_of)).collect();
    let mut fitness = Fitness {
        metrics: BTreeMap::new(),
        composite: 0.0,
        absent: BTreeMap::new(),
        entries: measured.len(),
    };
    if measured.is_empty() {
        for metric in METRICS {
            fitness.absent.insert(metric.name, "the corpus has no entries".into());
        }
        if ao_mutant::active("LOOP-26/nothing-is-perfect") {
            fitness.composite = 1.0;
        }
        return fitness;
    }
    let units = units(&measured, inputs.copies.as_deref().unwrap_or_default());
    fitness.put(RETRIEVAL, inputs.retrieval.clone());
    fitness
        .put(UNIQUENESS, inputs.copies.as_ref().map(|_| uniqueness(&units)).map_err(Clone::clone));
    fitness.put(PROVENANCE, Ok(provenance(&units)));
    fitness.put(FRESHNESS, freshness(&units, day));
    fitness.put(MATURITY, Ok(maturity(&units)));
    fitness.put(FINDINGS, Ok(findings(&units)));
    fitness.composite = composite(&fitness.metrics);
    fitness
}

/// What fell by more than its floor. A metric that is known on one side only did not fall.
pub fn regressions(before: &Fitness, after: &Fitness) -> Vec<Regression> {
    if before.entries > 0 && after.entries == 0 {
        return vec![Regression { metric: ENTRIES, drop: 1.0, floor: 0.0 }];
    }
    let fell = |metric: Metric| {
        let drop = before.metrics.get(metric.name)? - after.metrics.get(metric.name)?;
        let one = ao_mutant::active("LOOP-26/one-floor-for-all");
        let floor = if one { METRICS[0].floor } else { metric.floor };
        let is_under = drop > floor + NOTHING;
        is_under.then_some(Regression {
            metric: metric.name,
            drop: rounded(drop),
            floor: metric.floor,
        })
    };
    METRICS.into_iter().filter_map(fell).collect()
}

impl Fitness {
    fn put(&mut self, name: &'static str, value: Result<f64, String>) {
        match value {
            Ok(value) if value.is_nan() => {
                self.absent.insert(name, "what was measured is not a number".into());
            }
            Ok(value) => drop(self.metrics.insert(name, rounded(value.clamp(0.0, 1.0)))),
            Err(why) => drop(self.absent.insert(name, why)),
        }
    }

    /// With the composite among the metrics, as iterations and the history keep it.
    pub fn map(&self) -> ao_contract::Fitness {
        let composite = ("composite", self.composite);
        let metrics = self.metrics.iter().map(|(name, value)| (*name, *value));
        metrics
            .chain([composite])
            .filter_map(|(name, value)| Some((name.to_owned(), Finite::new(value)?)))
            .collect()
    }

    pub fn report(&self) -> FitnessReport {
        let of = |value: fn(&Metric) -> f64| {
            let all = METRICS.iter();
            all.map(|metric| (metric.name.to_owned(), Unit::nearest(value(metric)))).collect()
        };
        let metrics = self.metrics.iter();
        let absent = self.absent.iter();
        FitnessReport {
            composite: Unit::nearest(self.composite),
            metrics: metrics.map(|(name, v)| ((*name).to_owned(), Unit::nearest(*v))).collect(),
            weights: of(|metric| metric.weight),
            floors: of(|metric| metric.floor),
            absent: absent.map(|(name, why)| ((*name).to_owned(), why.clone())).collect(),
            extra: Extra::new(),
        }
    }
}

fn composite(metrics: &BTreeMap<&'static str, f64>) -> f64 {
    let known = METRICS.iter().filter_map(|m| Some((m.weight, *metrics.get(m.name)?)));
    let (sum, weights) = known.fold((0.0, 0.0), |(sum, weights), (weight, value)| {
        (sum + weight * value, weights + weight)
    });
    let weights =
        if ao_mutant::active("LOOP-26/absent-is-zero") { weights.max(1.0) } else { weights };
    if weights > 0.0 { rounded(sum / weights) } else { 0.0 }
}

/// To [`PARTS`] parts of one.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * PARTS).round() / PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(files: &[(&str, &str)]) -> Corpus {
        let parse = |(path, text): &(&str, &str)| {
            Arc::new(Entry::parse(path, || Ok(text.as_bytes().to_vec())).unwrap().unwrap())
        };
        let mut entries: Vec<Arc<Entry>> = files.iter().map(parse).collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Corpus { entries, left: Vec::new() }
    }

    fn inputs(retrieval: Result<f64, String>) -> Inputs {
        Inputs { as_of: None, latest: None, retrieval, copies: Ok(Vec::new()) }
    }

    const ENTRY: (&str, &str) = ("learnings/a.md", "---\ndate: 2026-04-01\n---\nx\n");

    #[test]
    fn what_is_no_number_is_absent_and_not_zero() {
        let corpus = corpus(&[ENTRY]);
        let known = fitness(&corpus, &inputs(Ok(0.0)));
        for odd in [Ok(f64::NAN), Err("not asked".to_owned())] {
            let odd = fitness(&corpus, &inputs(odd));
            assert!(odd.absent.contains_key(RETRIEVAL) && odd.composite.is_finite());
            assert!(odd.composite > known.composite, "zero counts, absent does not");
            assert_eq!(regressions(&known, &odd), []);
            assert_eq!(regressions(&odd, &known), [], "a missing metric did not fall");
        }
        let beyond = fitness(&corpus, &inputs(Ok(f64::INFINITY)));
        assert_eq!(beyond.metrics.get(RETRIEVAL), Some(&1.0));
    }

    #[test]
    fn a_regression_names_metric_drop_and_floor() {
        let corpus = corpus(&[ENTRY]);
        let before = fitness(&corpus, &inputs(Ok(0.9)));
        let at_the_floor = fitness(&corpus, &inputs(Ok(0.88)));
        assert_eq!(regressions(&before, &at_the_floor), []);
        let under = fitness(&corpus, &inputs(Ok(0.85)));
        let fell = regressions(&before, &under);
        assert_eq!(fell, [Regression { metric: RETRIEVAL, drop: 0.05, floor: 0.02 }]);
        assert_eq!(regressions(&under, &before), []);
        let nothing = fitness(&Corpus::default(), &inputs(Ok(1.0)));
        assert_eq!(regressions(&before, &nothing)[0].metric, ENTRIES);
        assert_eq!(regressions(&nothing, &before), []);
        assert_eq!(before.map().get("composite"), Some(before.composite));
    }

    /// Over many corpora: promoting raises or keeps every metric, and so does merging copies.
    #[test]
    fn promoting_and_merging_never_lower_a_metric() {
        let maturities =
            ["", "maturity: provisional\n", "maturity: candidate\n", "maturity: established\n"];
        for seed in 0_usize..400 {
            let pick = |salt: usize, of: usize| (seed * 31 + salt * 17 + seed / 7 * salt) % of;
            let header = |salt: usize| {
                let source = ["", "source_session: s\n"][pick(salt + 1, 2)];
                let date =
                    format!("date: 202{}-0{}-01\n", 4 + pick(salt, 3), 1 + pick(salt + 2, 9));
                format!("{}{source}{date}", maturities[pick(salt + 3, 4)])
            };
            let texts: Vec<(String, String)> = (0..=pick(9, 6))
                .map(|n| (format!("learnings/l{n}.md"), format!("---\n{}---\n{n}\n", header(n))))
                .collect();
            let mut files: Vec<(&str, &str)> =
                texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
            let pending =
                format!("---\n{}---\np\n", header(40).replace("maturity: established\n", ""));
            files.push(("knowledge/pending/p.md", &pending));
            let copy = format!("---\n{}---\n0\n", header(50));
            files.push(("learnings/copy.md", &copy));
            let copies = vec![vec!["learnings/l0.md".to_owned(), "learnings/copy.md".to_owned()]];
            let before = Inputs { copies: Ok(copies), ..inputs(Ok(0.5)) };
            let first = fitness(&corpus(&files), &before);

            let promoted =
                pending.replace("---\np", "promoted_from: knowledge/pending/p.md\n---\np");
            let mut after = files.clone();
            after.retain(|(path, _)| !path.starts_with("knowledge"));
            after.push(("learnings/p.md", &promoted));
            assert_never_lower(&first, &fitness(&corpus(&after), &before), seed);

            // Whichever of the two is kept.
            for gone in ["learnings/l0.md", "learnings/copy.md"] {
                let mut after = files.clone();
                after.retain(|(path, _)| *path != gone);
                assert_never_lower(&first, &fitness(&corpus(&after), &inputs(Ok(0.5))), seed);
            }
        }
    }

    fn assert_never_lower(before: &Fitness, after: &Fitness, seed: usize) {
        for (name, value) in &before.metrics {
            assert!(after.metrics[name] >= *value, "{seed}: {name} {before:?} {after:?}");
        }
        assert!(after.composite >= before.composite, "{seed}");
    }
}
