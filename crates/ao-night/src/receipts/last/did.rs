//! What a run did, and with what it did nothing, in words.

use std::fmt::Write as _;

use ao_contract::{Receipt, ReceiptInputs, ReceiptWork};

/// What it did, in a line, and what of it failed softly.
pub(super) fn did(Receipt { work, inputs, degraded, .. }: &Receipt) -> String {
    let mut text = match &work.unchanged_since {
        Some(since) => format!("nothing had changed since run {since}"),
        None if work.edits == 0 => {
            format!(
                "{} entries were gone through, and nothing was to do",
                inputs.entries.unwrap_or(0)
            )
        }
        None => format!(
            "{} edits in {} commits: {} merged, {} archived, {} promoted, {} harvested",
            work.edits, work.kept, work.merged, work.archived, work.promoted, work.harvested
        ),
    };
    let _ = write!(text, "; {} packets for the morning", work.packets);
    if !inputs.runners.is_empty() {
        let _ = write!(text, "; {} of {} runners answered", work.answered, inputs.runners.len());
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
    let mut look = |count: u64, what: &str, is_worked: bool| {
        if count > 0 && !is_worked {
            left.push(format!("{count} {what}"));
        }
    };
    let has_finished = is_carried || work.finished > 0;
    look(inputs.entries.unwrap_or(0), "entries", has_finished);
    look(inputs.pending.unwrap_or(0), "pending learnings", is_carried || work.judged > 0);
    look(inputs.harvest_sources, "repositories to harvest", work.sources_read > 0);
    look(inputs.drafts.unwrap_or(0), "drafts", work.sources_read > 0);
    look(inputs.queue, "items of the queue", work.packets > 0);
    left
}
