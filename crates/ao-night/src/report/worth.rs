//! What the night was worth: its yield, and what the long haul did.

use super::block::{Block, Item, Line, strong, text, words};
use super::facts::Facts;
use super::say;

pub(super) fn yields(facts: &Facts<'_>) -> Vec<Block> {
    let Some(found) = &facts.summary.yields else { return Vec::new() };
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
    let word =
        |word: &str| if word.trim().is_empty() { "none".to_owned() } else { say::safe(word) };
    let mix =
        found.confidence_mix.iter().map(|(level, count)| format!("{} {count}", say::safe(level)));
    let mix = mix.collect::<Vec<_>>().join(", ");
    let mix = if mix.is_empty() { String::new() } else { format!("; all: {mix}") };
    items.push(vec![
        strong("Confidence of the first:"),
        words(&format!(
            " {} before, {} after{mix}",
            word(&found.top_packet_confidence_before),
            word(&found.top_packet_confidence_after)
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
            word(&found.council_recommended_kind),
            word(&found.council_action_delta)
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
    let items: Vec<Line> = vec![
        vec![strong("Why it ran:"), words(" "), reason(&haul.trigger_reason)],
        vec![strong("Why it stopped:"), words(" "), reason(&haul.exit_reason)],
        vec![
            strong("Probes:"),
            words(&format!(
                " {}, the last {} without effect",
                haul.probe_count, haul.zero_delta_probe_streak
            )),
        ],
    ];
    vec![heading, Block::List(items.into_iter().map(Item::from).collect())]
}
