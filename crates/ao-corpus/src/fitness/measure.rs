//! The metrics, one by one.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use ao_contract::{Maturity, Severity};
use jiff::civil::Date;

use crate::corpus::{Entry, Kind};
use crate::document::{Document, sections};
use crate::patterns::is_compiled;

/// So many entries that are neither good nor bad are counted with every corpus.
pub const PRIOR_ENTRIES: f64 = 20.0;
const PRIOR_PROVENANCE: f64 = 0.5;
const PRIOR_FRESHNESS: f64 = 0.5;
const PRIOR_MATURITY: f64 = PROVISIONAL;

pub const ESTABLISHED: f64 = 1.0;
pub const CANDIDATE: f64 = 0.7;
pub const PROVISIONAL: f64 = 0.4;
pub const PENDING: f64 = 0.2;

/// An entry of this age is not fresh at all.
pub const STALE_DAYS: f64 = 365.0;

/// Findings that weigh this much together halve their metric.
pub const FINDINGS_HALF: f64 = 20.0;

pub(super) fn is_measured(entry: &Entry, as_of: Option<Date>) -> bool {
    use Kind::{Finding, Learning, Pattern, Pending};
    let is_later = as_of.is_some_and(|as_of| entry.date().is_some_and(|date| date > as_of));
    matches!(entry.kind, Learning | Finding | Pattern | Pending)
        && !entry.document.is_hidden()
        && !is_later
        // All that it says is said by its sources, which are counted.
        && !is_compiled(entry)
}

/// Entries, with copies of one another together.
pub(super) type Units<'a> = Vec<Vec<&'a Entry>>;

pub(super) fn units<'a>(entries: &[&'a Arc<Entry>], copies: &[Vec<String>]) -> Units<'a> {
    let mut cluster_of: HashMap<&str, usize> = HashMap::new();
    for (cluster, paths) in copies.iter().enumerate() {
        for path in paths {
            cluster_of.entry(path).or_insert(cluster);
        }
    }
    let mut together: BTreeMap<usize, Vec<&Entry>> = BTreeMap::new();
    let mut units = Vec::new();
    for entry in entries {
        let entry: &'a Entry = entry;
        match cluster_of.get(entry.path.as_str()) {
            Some(cluster) => together.entry(*cluster).or_default().push(entry),
            None => units.push(vec![entry]),
        }
    }
    units.extend(together.into_values());
    units
}

/// The mean of the worst value of each unit, damped; `None` where no entry has a value.
fn mean(units: &Units<'_>, prior: f64, value: impl Fn(&Entry) -> Option<f64>) -> Option<f64> {
    let worst = |unit: &Vec<&Entry>| unit.iter().filter_map(|entry| value(entry)).reduce(f64::min);
    let (sum, count) =
        units.iter().filter_map(worst).fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
    (count > 0.0).then(|| (sum + prior * PRIOR_ENTRIES) / (count + PRIOR_ENTRIES))
}

#[expect(clippy::cast_precision_loss, reason = "no corpus has 2^52 entries")]
pub(super) fn uniqueness(units: &Units<'_>) -> f64 {
    let entries: usize = units.iter().map(Vec::len).sum();
    units.len() as f64 / entries as f64
}

pub(super) fn provenance(units: &Units<'_>) -> f64 {
    let share = |entry: &Entry| Some(f64::from(u8::from(has_provenance(&entry.document))));
    mean(units, PRIOR_PROVENANCE, share).unwrap_or(PRIOR_PROVENANCE)
}

/// Keys by which an entry says where it comes from.
const ORIGINS: [&str; 11] = [
    "source_session",
    "source_bead",
    "source-bead",
    "source_phase",
    "source-phase",
    "source_skill",
    "source_artifact",
    "source",
    "promoted_from",
    "original_path",
    "harvested_from",
];

/// Whether an entry says where it comes from: in its header, or in a section of its own.
pub fn has_provenance(document: &Document) -> bool {
    let is_source = |heading: &str| {
        let heading = heading.to_lowercase();
        ["source", "evidence", "provenance"].iter().any(|word| heading.starts_with(word))
    };
    ORIGINS.iter().any(|key| document.has(key))
        || sections(document.body())
            .iter()
            .any(|section| is_source(section.heading) && !section.text.trim().is_empty())
}

pub(super) fn freshness(units: &Units<'_>, day: Option<Date>) -> Result<f64, String> {
    let value = |entry: &Entry| {
        let day = day?;
        let document = &entry.document;
        let used = [document.day("last_reward_at"), document.day("last_cited")];
        let last = used.into_iter().flatten().chain([entry.date()?]).max()?;
        Some(1.0 - (days(last, day).max(0.0) / STALE_DAYS).min(1.0))
    };
    mean(units, PRIOR_FRESHNESS, value).ok_or_else(|| "no entry has a date".into())
}

/// From one day to another; negative if the second comes first.
pub(crate) fn days(from: Date, to: Date) -> f64 {
    f64::from(to.since(from).map_or(0, |span| span.get_days()))
}

pub(super) fn maturity(units: &Units<'_>) -> f64 {
    let value = |entry: &Entry| match (entry.kind, entry.document.maturity()) {
        (Kind::Finding, _) | (_, Some(Maturity::AntiPattern)) => None,
        (Kind::Pending, _) => Some(PENDING),
        (_, Some(Maturity::Established)) => Some(ESTABLISHED),
        (_, Some(Maturity::Candidate)) => Some(CANDIDATE),
        (_, Some(Maturity::Provisional) | None) => Some(PROVISIONAL),
    };
    mean(units, PRIOR_MATURITY, value).unwrap_or(PRIOR_MATURITY)
}

/// What one unresolved finding weighs.
pub fn gravity(severity: Severity) -> f64 {
    match severity {
        Severity::Low => 0.5,
        Severity::Medium => 1.0,
        Severity::High => 1.5,
        Severity::Critical => 2.0,
    }
}

pub(super) fn findings(units: &Units<'_>) -> f64 {
    let heaviest = |unit: &Vec<&Entry>| {
        let open = unit.iter().filter(|entry| entry.is_open_finding());
        open.map(|entry| gravity(entry.severity())).reduce(f64::max)
    };
    let open = units.iter().filter_map(heaviest).fold(0.0, |sum, weight| sum + weight);
    FINDINGS_HALF / (FINDINGS_HALF + open)
}
