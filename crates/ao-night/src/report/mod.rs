//! The report: what is shown of a summary, as Markdown and for a terminal.
//!
//! Both are pure functions of the recorded facts, of the verdicts on its packets and of whether the
//! run still lives. What a section is about decides whether it is there; what a file says is safe
//! before it gets here (`say`); what a form looks like is decided by the two renderers alone.
//!
//! The report never flatters: what was not enforced, not done, skipped or guessed is said, and said
//! first where it changes what the rest is worth.

mod block;
mod changes;
mod contradictions;
mod council;
mod degraded;
mod facts;
mod head;
mod health;
mod markdown;
mod moves;
mod packets;
mod plain;
mod questions;
mod ran;
mod say;
mod scape;
mod waiting;
mod worth;

use ao_contract::Summary;

use crate::verdict::Verdicts;
use block::Block;
use facts::Facts;

pub use facts::Run;
pub(crate) use facts::{status_name, step_status_name};
pub use plain::{ALERT, STRUCK};

/// The headings that a report can have, in their order.
pub const HEADINGS: [&str; 11] = [
    "DreamScape",
    "Terrain and health",
    "Yield",
    "Long-haul",
    "What ran",
    "Waiting for a person",
    "Morning packets",
    "Dream Council",
    "Degraded",
    "First move",
    "Recommended commands",
];

/// The report as Markdown.
pub fn markdown(summary: &Summary, verdicts: &Verdicts, run: Run) -> String {
    markdown::render(&blocks(&Facts::new(summary, verdicts, run)))
}

/// The report for a terminal of so many columns, without colours. See [`ALERT`] and [`STRUCK`] for
/// how lines begin that are worth painting.
pub fn text(summary: &Summary, verdicts: &Verdicts, run: Run, columns: usize) -> String {
    plain::render(&blocks(&Facts::new(summary, verdicts, run)), columns)
}

/// The sections in their order. Each is empty if there is nothing that it could be about.
fn blocks(facts: &Facts<'_>) -> Vec<Block> {
    let mut sections = [
        head::section,
        scape::section,
        health::section,
        worth::yields,
        worth::long_haul,
        ran::section,
        waiting::section,
        packets::section,
        contradictions::section,
        council::section,
        degraded::section,
        moves::first,
        moves::recommended,
    ];
    if ao_mutant::active("REP-13/first-move-before-degraded") {
        sections.swap(10, 11);
    }
    sections.iter().flat_map(|section| section(facts)).collect()
}

#[cfg(test)]
mod tests;
