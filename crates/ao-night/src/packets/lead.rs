//! Leads: pieces of work before they are drawn up, in the order of their strength.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet, VecDeque};

use ao_contract::{MorningPacket, Open, PacketSource, Severity};

use super::PACKETS_MAX;
use super::night::Seen;
use crate::queue::QueueItem;
use crate::work_queue::Spot;

/// Of one sort of things that the night saw, so many come before the other sorts.
const SORT_FIRST: usize = 2;

/// What the work is about.
#[derive(Debug)]
pub(super) enum What<'a> {
    Asked { item: &'a QueueItem, queued: Option<Spot> },
    Queued(Spot),
    Finding { path: String },
    Seen(Seen<'a>),
    Weakest,
}

#[derive(Debug)]
pub(super) struct Lead<'a> {
    pub(super) id: String,
    pub(super) strength: Strength,
    pub(super) severity: Severity,
    /// Among leads of one strength and severity, more is better.
    pub(super) weight: u64,
    /// What is left to decide by: the order in which they were found.
    pub(super) order: String,
    pub(super) what: What<'a>,
}

/// The strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    Asked,
    QueuedStrong,
    Finding,
    QueuedWeak,
    Seen,
    /// The third and further of one sort.
    SeenMore,
    Synthesized,
}

impl Lead<'_> {
    pub(super) fn source(&self) -> PacketSource {
        match self.strength {
            Strength::Asked => PacketSource::OperatorQueue,
            Strength::QueuedStrong | Strength::QueuedWeak => PacketSource::NextWork,
            Strength::Finding => PacketSource::Finding,
            Strength::Seen | Strength::SeenMore => PacketSource::Night,
            Strength::Synthesized => PacketSource::Synthesized,
        }
    }

    pub(super) fn source_name(&self) -> String {
        match self.source() {
            PacketSource::OperatorQueue => "operator-queue",
            PacketSource::NextWork => "next-work",
            PacketSource::Finding => "finding",
            PacketSource::Night => "night",
            PacketSource::Synthesized => "synthesized",
        }
        .to_owned()
    }

    /// What it is about, without drawing it up.
    pub(super) fn name(&self) -> String {
        match &self.what {
            What::Asked { item, .. } => crate::plain::title(&item.title),
            What::Queued(spot) => format!("line {} of the work queue", spot.number),
            What::Finding { path } => crate::plain::title(path),
            What::Seen(seen) => seen.name(),
            What::Weakest => "the weakest figure".into(),
        }
    }

    /// Whether its id names one thing that stays what it is, and not a figure that moves.
    pub(super) fn is_about_one_thing(&self) -> bool {
        match &self.what {
            What::Finding { .. } | What::Asked { .. } | What::Queued(_) => true,
            What::Seen(seen) => seen.is_one_thing(),
            What::Weakest => false,
        }
    }

    fn is_urgent_finding(&self) -> bool {
        self.strength == Strength::Finding && self.severity >= Severity::High
    }
}

/// Puts the strongest first, and keeps one of each.
pub(super) fn rank(leads: &mut Vec<Lead<'_>>) {
    sort(leads);
    let mut seen = HashSet::new();
    leads.retain(|lead| seen.insert(lead.id.clone()));
    let mut sorts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for lead in leads.iter_mut() {
        let What::Seen(thing) = &lead.what else { continue };
        let nth = sorts.entry(thing.sort()).or_default();
        *nth += 1;
        if *nth > SORT_FIRST {
            lead.strength = Strength::SeenMore;
        }
    }
    sort(leads);
}

fn sort(leads: &mut [Lead<'_>]) {
    let key = |lead: &Lead<'_>| {
        // The operator's order is the operator's.
        let severity = match lead.strength {
            Strength::Asked if !ao_mutant::active("LOOP-19/by-severity") => Severity::Low,
            _ if ao_mutant::active("REP-15/severity-does-not-count") => Severity::Low,
            _ => lead.severity,
        };
        (lead.strength, Reverse(severity), Reverse(lead.weight))
    };
    leads.sort_by(|a, b| {
        key(a).cmp(&key(b)).then_with(|| a.order.cmp(&b.order)).then_with(|| a.id.cmp(&b.id))
    });
}

/// Leads in the order in which they become packets.
#[derive(Debug)]
pub(super) struct Ranked<'a> {
    leads: VecDeque<Lead<'a>>,
}

impl<'a> Ranked<'a> {
    pub(super) fn new(leads: Vec<Lead<'a>>) -> Self {
        Self { leads: leads.into() }
    }

    /// The next one. The last place is kept for a finding that is bad, so that a long queue does not
    /// hide it; what the operator asked for does not make room.
    pub(super) fn next(&mut self, made: &[MorningPacket]) -> Option<Lead<'a>> {
        let is_finding = |packet: &MorningPacket| {
            packet.source.as_ref().and_then(Open::known) == Some(&PacketSource::Finding)
        };
        let is_last = made.len() + 1 == PACKETS_MAX;
        let next_is_queued =
            self.leads.front().is_some_and(|lead| lead.strength == Strength::QueuedStrong);
        if is_last && next_is_queued && !made.iter().any(is_finding) {
            let urgent = self.leads.iter().position(Lead::is_urgent_finding);
            if let Some(at) = urgent {
                return self.leads.remove(at);
            }
        }
        self.leads.pop_front()
    }

    pub(super) fn rest(self) -> impl Iterator<Item = Lead<'a>> {
        self.leads.into_iter()
    }
}
