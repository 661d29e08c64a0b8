//! The morning packets, and whether each is still worth starting on.

use ao_contract::{MorningPacket, Open};
use serde::Serialize;
use serde_json::Value;

use super::block::{Block, Item, Line, code, first, more, strong, struck, text, words};
use super::facts::Facts;
use super::say;
use crate::verdict::Verdict;

const PACKETS_MAX: usize = 20;
const EVIDENCE_MAX: usize = 10;
const FILES_MAX: usize = 10;

pub(super) fn section(facts: &Facts<'_>) -> Vec<Block> {
    let Some(packets) = &facts.summary.morning_packets else { return Vec::new() };
    let heading = Block::Heading("Morning packets");
    if packets.is_empty() {
        return vec![
            heading,
            Block::Paragraph(vec![words("There is none: the night found nothing to start on.")]),
        ];
    }
    let mut ranked: Vec<&MorningPacket> = packets.iter().collect();
    ranked.sort_by_key(|packet| packet.rank);
    let (kept, left) = first(&ranked, PACKETS_MAX);
    let mut blocks =
        vec![heading, Block::Numbered(kept.iter().map(|one| item(facts, one)).collect())];
    blocks.extend(more(left, "packets").map(Block::Paragraph));
    blocks
}

fn item(facts: &Facts<'_>, packet: &MorningPacket) -> Item {
    let verdict = verdict(facts, packet);
    let sort = [word(&packet.kind), word(&packet.severity)].join(", ");
    let sure = word(&packet.confidence);
    let sure = if sure.is_empty() { String::new() } else { format!(", {sure} confidence") };
    let title = match &verdict {
        Some(Verdict::Done(_)) => struck(&packet.title),
        _ => strong(&packet.title),
    };
    let mut inner: Vec<Line> = Vec::new();
    match &verdict {
        Some(Verdict::Done(why)) => {
            inner.push(vec![strong("Already done:"), words(" "), text(why)]);
        }
        Some(Verdict::NotChecked(why)) => {
            inner.push(vec![strong("Not checked again:"), words(" "), text(why)]);
        }
        Some(Verdict::True) => inner.push(vec![words("Checked again just now: still true")]),
        None => {}
    }
    if !packet.why_now.trim().is_empty() {
        inner.push(vec![strong("Why now:"), words(" "), text(&packet.why_now)]);
    }
    let (evidence, left) = first(&packet.evidence, EVIDENCE_MAX);
    inner.extend(evidence.iter().map(|one| vec![strong("Evidence:"), words(" "), text(one)]));
    inner.extend(more(left, "pieces of evidence"));
    if let Some(why) = &packet.corroboration {
        let before = word(&why.confidence_before);
        inner.push(vec![
            strong("Corroborated:"),
            words(&format!(" {} before, raised by {} supports", before, why.supports.len())),
        ]);
    }
    inner.extend(paths("Look at:", &packet.target_files));
    inner.extend(paths("Test with:", &packet.likely_tests));
    if let Some(bead) = &packet.bead_id {
        inner.push(vec![strong("Bead:"), words(" "), code(bead)]);
    }
    if !packet.morning_command.trim().is_empty() {
        inner.push(vec![strong("Start:"), words(" "), code(&packet.morning_command)]);
    }
    Item { line: vec![title, words(&format!(" ({sort}{sure})"))], inner }
}

/// A packet that carries checks which nobody made was not checked.
fn verdict(facts: &Facts<'_>, packet: &MorningPacket) -> Option<Verdict> {
    if let Some(verdict) = facts.verdicts.get(&packet.id) {
        return Some(verdict.clone());
    }
    let whole = serde_json::to_value(packet).ok()?;
    let has_checks = match whole.get("still_true") {
        Some(Value::Array(checks)) => !checks.is_empty(),
        Some(Value::Null) | None => false,
        Some(_) => true,
    };
    has_checks.then(|| Verdict::NotChecked("its checks were not made".to_owned()))
}

fn paths(name: &str, paths: &[String]) -> Option<Line> {
    let (kept, left) = first(paths, FILES_MAX);
    let mut line = vec![strong(name)];
    for (at, path) in kept.iter().enumerate() {
        line.extend([words(if at == 0 { " " } else { ", " }), code(path)]);
    }
    if left > 0 {
        line.push(words(&format!(", and {left} more")));
    }
    (!kept.is_empty()).then_some(line)
}

fn word<T: Serialize>(word: &Open<T>) -> String {
    match serde_json::to_value(word) {
        Ok(Value::String(word)) => say::safe(&word),
        _ => String::new(),
    }
}
