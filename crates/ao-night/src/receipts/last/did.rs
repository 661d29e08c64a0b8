//! What a run did, and with what it did nothing, in words.

use std::fmt::Write as _;

use ao_contract::{Receipt, ReceiptInputs, ReceiptWork};

use crate::plain::counted;

/// What it did, in a line, and what of it failed softly.
pub(super) fn did(Receipt { work, inputs, degraded, .. }: &Receipt) -> String {
    let mut text = match &work.unchanged_since {
        Some(since) => format!("nothing had changed since run {since}"),
        None if work.edits == 0 => {
            let through = ("entry was gone through", "entries were gone through");
            let through = counted(inputs.entries.unwrap_or(0), through.0, through.1);
            format!("{through}, and nothing was to do")
        }
        None => format!(
            "{} in {}: {} merged, {} archived, {} promoted, {} harvested",
            counted(work.edits, "edit", "edits"),
            counted(work.kept, "commit", "commits"),
            work.merged,
            work.archived,
            work.promoted,
            work.harvested
        ),
    };
    let _ = write!(text, "; {} for the morning", counted(work.packets, "packet", "packets"));
    if !inputs.runners.is_empty() {
        let asked = counted(inputs.runners.len(), "runner", "runners");
        let _ = write!(text, "; {} of {asked} answered", work.answered);
    }
    if !degraded.is_empty() {
        let _ = write!(text, "; failed softly: {}", ao_tree::shown(&degraded.join(", ")));
    }
    text
}

/// The inputs that were there and that nothing was done with.
pub(super) fn unworked(inputs: &ReceiptInputs, work: &ReceiptWork) -> Vec<String> {
    let mut left = Vec::new();
    let is_carried = work.unchanged_since.is_some();
    let mut look = |count: u64, (one, many): (&str, &str), is_worked: bool| {
        if count > 0 && !is_worked {
            left.push(counted(count, one, many));
        }
    };
    let has_finished = is_carried || work.finished > 0;
    look(inputs.entries.unwrap_or(0), ("entry", "entries"), has_finished);
    look(
        inputs.pending.unwrap_or(0),
        ("pending learning", "pending learnings"),
        is_carried || work.judged > 0,
    );
    look(
        inputs.harvest_sources,
        ("repository to harvest", "repositories to harvest"),
        work.sources_read > 0,
    );
    look(inputs.drafts.unwrap_or(0), ("draft", "drafts"), work.sources_read > 0);
    look(inputs.transcripts.unwrap_or(0), ("transcript", "transcripts"), has_finished);
    look(inputs.queue, ("item of the queue", "items of the queue"), work.packets > 0);
    left
}
