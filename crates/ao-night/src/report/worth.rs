//! What the night was worth: its yield, and what the long haul did.

use ao_contract::{HaulProbe, HaulProbeKind, Support};

use super::block::{Block, Item, Line, code, first, more, strong, text, words};
use super::facts::Facts;
use super::say;
use crate::artifacts::word;

const PROBES_MAX: usize = 12;
const SUPPORTS_MAX: usize = 8;

pub(super) fn yields(facts: &Facts<'_>) -> Vec<Block> {
    let Some(found) = &facts.summary.yields else {
        let is_there = ao_mutant::active("REP-13/heading-of-nothing");
        return is_there.then_some(Block::Heading("Yield")).into_iter().collect();
    };
    let won = if found.queue_backed_won {
        "the first one is from the queue"
    } else {
        "the first one is not from the queue"
    };
    let mut items: Vec<Line> = vec![vec![
        strong("Packets:"),
        words(&format!(
            " {} before, {} after; {} from the queue, {} synthesized; {won}",
            found.packet_count_before,
            found.packet_count_after,
            found.queue_backed_count,
            found.synthetic_count
        )),
    ]];
    let said =
        |word: &str| if word.trim().is_empty() { "none".to_owned() } else { say::safe(word) };
    let mix =
        found.confidence_mix.iter().map(|(level, count)| format!("{} {count}", say::safe(level)));
    let mix = mix.collect::<Vec<_>>().join(", ");
    let mix = if mix.is_empty() { String::new() } else { format!("; all: {mix}") };
    items.push(vec![
        strong("Confidence of the first:"),
        words(&format!(
            " {} before, {} after{mix}",
            said(&found.top_packet_confidence_before),
            said(&found.top_packet_confidence_after)
        )),
    ]);
    items.push(vec![strong("Linked to beads:"), words(&format!(" {}", found.bead_sync_count))]);
    let asked = found.council_completed_count.saturating_add(found.council_failed_count);
    let council = if asked == 0 {
        " nobody was asked".to_owned()
    } else {
        format!(
            " {} completed, {} failed ({} because time ended); it recommends {}; the first move: {}",
            found.council_completed_count,
            found.council_failed_count,
            found.council_timeout_count,
            said(&found.council_recommended_kind),
            said(&found.council_action_delta)
        )
    };
    items.push(vec![strong("Council:"), words(&council)]);
    vec![Block::Heading("Yield"), Block::List(items.into_iter().map(Item::from).collect())]
}

pub(super) fn long_haul(facts: &Facts<'_>) -> Vec<Block> {
    let Some(haul) = &facts.summary.long_haul else { return Vec::new() };
    let heading = Block::Heading("Long-haul");
    if !haul.active {
        let told = if haul.enabled { "Asked for, and not needed." } else { "Off." };
        let mut line = vec![words(told)];
        if !haul.exit_reason.trim().is_empty() {
            line.extend([words(" "), text(&haul.exit_reason)]);
        }
        return vec![heading, Block::Paragraph(line)];
    }
    let reason =
        |reason: &str| if reason.trim().is_empty() { words("not said") } else { text(reason) };
    let mut items: Vec<Item> = [
        vec![strong("Why it ran:"), words(" "), reason(&haul.trigger_reason)],
        vec![strong("Why it stopped:"), words(" "), reason(&haul.exit_reason)],
        vec![
            strong("Probes:"),
            words(&format!(
                " {}, the last {} without effect",
                haul.probe_count, haul.zero_delta_probe_streak
            )),
        ],
    ]
    .into_iter()
    .map(Item::from)
    .collect();
    if let Some(probes) = items.last_mut() {
        let (kept, left) = first(&haul.probes, PROBES_MAX);
        probes.inner.extend(kept.iter().map(probe));
        probes.inner.extend(more(left, "probes"));
    }
    items.extend(raised(facts));
    vec![heading, Block::List(items)]
}

fn probe(probe: &HaulProbe) -> Line {
    let mut line = match probe.probe.known() {
        Some(HaulProbeKind::BriefingFallback) => vec![words("a brief on the packets: ")],
        Some(HaulProbeKind::PacketCorroboration) => vec![words("what speaks for ")],
        Some(HaulProbeKind::Council) => vec![words("the council: ")],
        None => vec![text(&word(&probe.probe)), words(": ")],
    };
    if let Some(id) = &probe.packet {
        line.extend([code(id), words(": ")]);
    }
    line.push(text(&probe.told));
    line.push(words(if probe.changed { "" } else { " (no change)" }));
    line
}

/// Which packets are surer by it, and what made them so.
fn raised(facts: &Facts<'_>) -> Vec<Item> {
    let packets = facts.summary.morning_packets.iter().flatten();
    let told = packets.filter_map(|packet| {
        let why = packet.corroboration.as_ref()?;
        let (before, after) = (word(&why.confidence_before), word(&packet.confidence));
        let line = vec![
            strong("Raised:"),
            words(" "),
            text(&packet.title),
            words(&format!(", from {} to {}, by", say::safe(&before), say::safe(&after))),
        ];
        let (kept, left) = first(&why.supports, SUPPORTS_MAX);
        let mut inner: Vec<Line> = kept.iter().map(spoke).collect();
        inner.extend(more(left, "supports"));
        Some(Item { line, inner })
    });
    told.collect()
}

/// One thing that spoke for a packet.
pub(super) fn spoke(support: &Support) -> Line {
    let kind = say::safe(&word(&support.kind));
    vec![words(&format!("{kind} ")), code(&support.at), words(": "), text(&support.says)]
}
