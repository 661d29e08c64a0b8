//! What to do first, and what else.

use ao_contract::{MorningPacket, RunStatus};

use super::block::{Block, code, first as first_of, more, strong, text, words};
use super::facts::Facts;
use super::say;
use crate::verdict::Verdict;

const COMMANDS_MAX: usize = 20;

pub(super) fn first(facts: &Facts<'_>) -> Vec<Block> {
    let action = facts.summary.next_action.trim();
    let mut line = if !action.is_empty() {
        vec![text(action)]
    } else if facts.status() == RunStatus::Failed {
        vec![words("Read the log: "), code(&facts.summary.runtime.log_path)]
    } else {
        return Vec::new();
    };
    let packets = facts.summary.morning_packets.iter().flatten();
    for packet in packets.filter(|packet| is_about(action, packet)) {
        if let Some(Verdict::Done(why)) = facts.verdicts.get(&packet.id) {
            line.extend([
                words(" "),
                strong("This seems to be done already:"),
                words(" "),
                text(why),
            ]);
        }
    }
    vec![Block::Heading("First move"), Block::Paragraph(line)]
}

fn is_about(action: &str, packet: &MorningPacket) -> bool {
    let title = packet.title.trim();
    (!title.is_empty() && action.contains(title))
        || (!packet.id.is_empty() && action.contains(&packet.id))
}

pub(super) fn recommended(facts: &Facts<'_>) -> Vec<Block> {
    let (kept, left) = first_of(&facts.summary.recommended, COMMANDS_MAX);
    if kept.is_empty() {
        return Vec::new();
    }
    let commands = kept.iter().map(|command| say::safe_code(command)).collect();
    let mut blocks = vec![Block::Heading("Recommended commands"), Block::Commands(commands)];
    blocks.extend(more(left, "commands").map(Block::Paragraph));
    blocks
}
