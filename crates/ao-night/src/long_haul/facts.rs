//! What this night found out itself, as far as it can speak for a packet.

use std::collections::{BTreeMap, BTreeSet};

use ao_contract::{Defrag, Fitness, MetricsHealth, MorningPacket, Support, SupportKind};
use ao_corpus::fitness::METRICS;
use ao_corpus::words;

use super::own::{Own, is_seen, subject};
use super::supports::support;
use crate::place::AGENTS;

/// A figure below this is weak.
const WEAK_BELOW: f64 = 0.5;
/// A figure that fell by less did not really fall.
const FALL_MIN: f64 = 0.01;

/// The results of this night.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) defrag: Option<Defrag>,
    pub(crate) health: Option<MetricsHealth>,
    /// The metrics before the first iteration and after the last.
    pub(crate) before: Option<Fitness>,
    pub(crate) after: Option<Fitness>,
}

impl Facts {
    /// What was seen in the packet's own files, and the first weak figure that it is about. What the
    /// night made the packet from is no second witness.
    pub(super) fn supports(&self, packet: &MorningPacket, own: &Own) -> Vec<Support> {
        if is_seen(packet) {
            return Vec::new();
        }
        self.seen(own).into_iter().chain(self.figure(packet)).collect()
    }

    fn seen(&self, own: &Own) -> Option<Support> {
        let mut seen: BTreeMap<&str, String> = BTreeMap::new();
        if let Some(health) = &self.health {
            for left in &health.left {
                let path = left.path.split(':').next().unwrap_or_default();
                seen.insert(path, format!("this night could not read it: {}", left.why));
            }
        }
        if let Some(defrag) = &self.defrag {
            for swing in &defrag.oscillations {
                let path = swing.entry.as_deref().unwrap_or(&swing.target);
                seen.insert(
                    path,
                    format!("this night saw it go back and forth {} times", swing.turns),
                );
            }
            for pair in defrag.review.iter().filter(|pair| !pair.why.is_empty()) {
                for (one, other) in [(&pair.one, &pair.other), (&pair.other, &pair.one)] {
                    seen.insert(one, format!("this night saw that it and {other} disagree"));
                }
            }
        }
        let (path, says) = own.paths.iter().find_map(|path| seen.get_key_value(path.as_str()))?;
        Some(support(SupportKind::Night, &format!("{AGENTS}/{path}"), says))
    }

    fn figure(&self, packet: &MorningPacket) -> Option<Support> {
        let mut said = BTreeSet::new();
        words::each_word(subject(packet), |word| {
            said.insert(word.to_owned());
        });
        METRICS.iter().filter(|metric| said.contains(metric.name)).find_map(|metric| {
            let get = |fitness: &Option<Fitness>| fitness.as_ref()?.get(metric.name);
            let after = get(&self.after)?;
            let fell = get(&self.before).filter(|before| before - after >= FALL_MIN);
            let says = match fell {
                Some(before) => format!("{} fell from {before:.4} to {after:.4}", metric.name),
                None if after < WEAK_BELOW => format!("{} is {after:.4}", metric.name),
                None => return None,
            };
            Some(support(SupportKind::Metric, metric.name, &says))
        })
    }
}
