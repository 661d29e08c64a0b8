//! When nothing asks for work: the figure that has most to gain, or the first entry of all.

use ao_contract::{Check, Severity, WorkType};
use ao_corpus::fitness::METRICS;

use super::Sources;
use super::draft::Draft;
use super::identity::id_of;
use super::lead::{Lead, Strength, What};
use crate::place::AGENTS;

/// Less than this is not worth a morning.
const GAIN_MIN: f64 = 0.001;

/// The metric with most to gain, by its weight: its name, its value and what it could add.
fn weakest(sources: &Sources<'_>) -> Option<(&'static str, f64, f64)> {
    let value = |name: &str| {
        let measured = sources.fitness_after.and_then(|fitness| fitness.get(name));
        let reported = || Some(sources.health?.fitness.metrics.get(name)?.get());
        measured.or_else(reported)
    };
    let gains = METRICS.iter().filter_map(|metric| {
        let value = value(metric.name)?;
        Some((metric.name, value, metric.weight * (1.0 - value)))
    });
    let best = gains.max_by(|one, other| one.2.total_cmp(&other.2).then(other.0.cmp(one.0)));
    best.filter(|(_, _, gain)| *gain >= GAIN_MIN)
}

fn is_empty(sources: &Sources<'_>) -> bool {
    match sources.health {
        Some(health) => health.retrievable == 0,
        None => sources.tree.paths().is_empty(),
    }
}

pub(super) fn lead<'a>(sources: &Sources<'a>) -> Lead<'a> {
    let what = match weakest(sources) {
        _ if is_empty(sources) => "first entry",
        Some((metric, _, _)) => metric,
        None => "nothing",
    };
    Lead {
        id: id_of("synthesized", &[what]),
        strength: Strength::Synthesized,
        severity: Severity::Low,
        weight: 0,
        order: String::new(),
        what: What::Weakest,
    }
}

pub(super) fn draft<'a>(sources: &Sources<'a>) -> Draft<'a> {
    let entries = sources.tree.paths().len();
    let counted =
        format!("{AGENTS}/: {entries} entries, no open finding, no item in the work queue");
    if is_empty(sources) {
        let mut draft = Draft::new(sources, "Write down the first learning", WorkType::Task);
        draft.why("The corpus has nothing that could be found.");
        draft.evidence(&counted);
        let path = format!("{AGENTS}/learnings");
        draft.checks_if_true.push(Check::PathAbsent { path });
        return draft;
    }
    let Some((metric, value, gain)) = weakest(sources) else {
        let mut draft = Draft::new(sources, "Choose what to learn next", WorkType::Task);
        draft.why("Nothing asked for work, and no figure is low.");
        draft.evidence(&counted);
        return draft;
    };
    let mut draft = Draft::new(sources, &format!("Raise {metric}"), WorkType::Improvement);
    draft.why("Nothing asked for work; this metric has most to gain.");
    draft.evidence(&format!(
        "{metric} is {value:.4}; at its best it would add {gain:.3} to the composite"
    ));
    draft.evidence(&counted);
    draft
}
