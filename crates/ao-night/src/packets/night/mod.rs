//! What the night saw itself: entries that contradict each other, entries that could not be merged or
//! archived, targets that go back and forth, files that cannot be read, figures that fell or are not
//! known.

mod drafts;

use std::collections::BTreeMap;

use ao_contract::{DefragKept, DefragPair, LeftAlone, MetricsHealth, Oscillation, Severity};
use ao_corpus::fitness::METRICS;

use super::Sources;
use super::identity::id_of;
use super::lead::{Lead, Strength, What};
use crate::plain;

pub(super) use drafts::draft;

/// A metric that fell by less did not really fall.
const FALL_MIN: f64 = 0.01;
/// So many turns are more than bad luck.
const TURNS_MANY: u32 = 5;
/// So many of each sort are looked at; what comes after is for another night.
const EACH_MAX: usize = 2000;

/// One thing that was seen.
#[derive(Debug)]
pub(super) enum Seen<'a> {
    /// Two entries that are alike, and differ.
    Pair(&'a DefragPair),
    /// An entry that was to be merged or archived, and was not.
    Kept(&'a DefragKept),
    Oscillation(&'a Oscillation),
    Unreadable {
        left: &'a LeftAlone,
        lines: usize,
    },
    Fell {
        metric: &'static str,
        before: f64,
        after: f64,
        floor: f64,
    },
    /// More is old and unused than is new.
    Stale(&'a MetricsHealth),
    /// Figures that cannot be known, and the one reason for all of them.
    Unknown {
        figures: Vec<&'a str>,
        why: &'a str,
    },
}

impl Seen<'_> {
    pub(super) fn sort(&self) -> &'static str {
        match self {
            Self::Pair(_) => "pair",
            Self::Kept(_) => "kept",
            Self::Oscillation(_) => "oscillation",
            Self::Unreadable { .. } => "unreadable",
            Self::Fell { .. } => "metric",
            Self::Stale(_) => "stale",
            Self::Unknown { .. } => "unknown",
        }
    }

    pub(super) fn is_one_thing(&self) -> bool {
        matches!(self, Self::Pair(_) | Self::Kept(_) | Self::Unreadable { .. })
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::Pair(pair) => plain::title(&format!("{} and {}", pair.one, pair.other)),
            Self::Kept(kept) => plain::title(&kept.path),
            Self::Oscillation(swing) => plain::title(&swing.target),
            Self::Unreadable { left, .. } => plain::title(&left.path),
            Self::Fell { metric, .. } => (*metric).to_owned(),
            Self::Stale(_) => "entries that are old and unused".into(),
            Self::Unknown { why, .. } => plain::title(why),
        }
    }

    /// The id of the work, whatever its numbers are.
    fn id(&self) -> String {
        let parts: Vec<&str> = match self {
            Self::Pair(pair) => {
                let (one, other) = (pair.one.as_str(), pair.other.as_str());
                vec![one.min(other), one.max(other)]
            }
            Self::Kept(kept) => vec![&kept.path],
            Self::Oscillation(swing) => vec![&swing.target],
            Self::Unreadable { left, .. } => vec![file_of(&left.path)],
            Self::Fell { metric, .. } => vec![metric],
            Self::Stale(_) => Vec::new(),
            Self::Unknown { why, .. } => vec![why],
        };
        id_of(self.sort(), &parts)
    }

    fn severity(&self) -> Severity {
        match self {
            Self::Fell { before, after, floor, .. } if before - after > *floor => Severity::High,
            Self::Oscillation(swing) if swing.turns >= TURNS_MANY => Severity::High,
            Self::Pair(pair) if pair.why.is_empty() => Severity::Low,
            Self::Pair(_) | Self::Oscillation(_) | Self::Unreadable { .. } | Self::Fell { .. } => {
                Severity::Medium
            }
            Self::Kept(_) | Self::Stale(_) | Self::Unknown { .. } => Severity::Low,
        }
    }

    /// How much of it there is, in parts of a million.
    fn weight(&self) -> u64 {
        let parts = |value: f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
            let parts = (value.clamp(0.0, 1.0) * 1e6) as u64;
            parts
        };
        match self {
            Self::Pair(pair) => parts(pair.stems.get()),
            Self::Oscillation(swing) => swing.turns.into(),
            Self::Unreadable { lines, .. } => *lines as u64,
            Self::Fell { before, after, .. } => parts(before - after),
            Self::Kept(_) | Self::Stale(_) | Self::Unknown { .. } => 0,
        }
    }
}

pub(super) fn leads<'a>(sources: &Sources<'a>) -> Vec<Lead<'a>> {
    let mut seen: Vec<Seen<'a>> = fallen(sources);
    if let Some(defrag) = sources.defrag {
        seen.extend(defrag.review.iter().take(EACH_MAX).map(Seen::Pair));
        let is_pinned =
            |path: &str| sources.tree.entry(path).is_none_or(|entry| entry.document.is_pinned());
        let kept = defrag.kept.iter().take(EACH_MAX).filter(|kept| !is_pinned(&kept.path));
        seen.extend(kept.map(Seen::Kept));
        seen.extend(defrag.oscillations.iter().take(EACH_MAX).map(Seen::Oscillation));
    }
    if let Some(health) = sources.health {
        seen.extend(unreadable(&health.left));
        let dominant = health.loop_dominance.dominant.as_deref();
        seen.extend((dominant == Some("b1")).then_some(Seen::Stale(health)));
        seen.extend(unknown(health));
    }
    let lead = |seen: Seen<'a>| Lead {
        id: seen.id(),
        strength: Strength::Seen,
        severity: seen.severity(),
        weight: seen.weight(),
        order: format!("{} {}", seen.sort(), seen.name()),
        what: What::Seen(seen),
    };
    seen.into_iter().map(lead).collect()
}

fn fallen<'a>(sources: &Sources<'a>) -> Vec<Seen<'a>> {
    let (Some(before), Some(after)) = (sources.fitness_before, sources.fitness_after) else {
        return Vec::new();
    };
    let fell = METRICS.iter().filter_map(|metric| {
        let (before, after) = (before.get(metric.name)?, after.get(metric.name)?);
        let fall = before - after;
        (fall >= FALL_MIN || fall > metric.floor).then_some(Seen::Fell {
            metric: metric.name,
            before,
            after,
            floor: metric.floor,
        })
    });
    fell.collect()
}

/// Lines of one log are one thing.
fn unreadable(left: &[LeftAlone]) -> Vec<Seen<'_>> {
    let mut files: BTreeMap<&str, (&LeftAlone, usize)> = BTreeMap::new();
    for left in left {
        let (_, lines) = files.entry(file_of(&left.path)).or_insert((left, 0));
        *lines += 1;
    }
    let seen = files.into_values().take(EACH_MAX);
    seen.map(|(left, lines)| Seen::Unreadable { left, lines }).collect()
}

/// `file:line` without the line.
fn file_of(path: &str) -> &str {
    match path.rsplit_once(':') {
        Some((file, line)) if line.bytes().all(|byte| byte.is_ascii_digit()) => file,
        _ => path,
    }
}

/// Figures by the reason why they are not known. Of an empty corpus nothing is known, and that is
/// no news.
fn unknown(health: &MetricsHealth) -> Vec<Seen<'_>> {
    if health.retrievable == 0 {
        return Vec::new();
    }
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (figure, why) in health.absent.iter().chain(&health.fitness.absent) {
        by_reason.entry(why).or_default().push(figure);
    }
    by_reason.into_iter().map(|(why, figures)| Seen::Unknown { figures, why }).collect()
}
