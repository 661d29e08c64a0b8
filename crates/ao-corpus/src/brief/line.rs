//! The lines of an entry that bear on a goal.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use ao_contract::{BriefLine, Extra};

use crate::contradictions::Disputes;
use crate::corpus::Entry;
use crate::document::sections;
use crate::index::Question;
use crate::passage::matched;
use crate::patterns::is_weakened;
use crate::pieces::{Shape, item_mark, pieces};
use crate::spoken::spoken;
use crate::trust::warned;

/// A longer one is cut.
const LINE_CHARS_MAX: usize = 400;
/// More lines of one entry are no brief.
const LINES_MAX: usize = 12;
/// What stands under these headings is what an entry is for, whichever words it says it with.
const RULES: [&str; 3] = ["rule", "apply", "fix"];

/// The best first.
pub(super) fn lines_of(
    entry: &Entry,
    question: &Question,
    disputes: &Disputes<'_>,
) -> Vec<BriefLine> {
    let body = spoken(entry);
    let stems: BTreeSet<&str> = question.stems().collect();
    let headings: Vec<&str> = sections(&body).iter().map(|section| section.heading).collect();
    // What stands above the first heading has none, whether or not there is such a section.
    let has_top = headings.first().is_some_and(|heading| heading.is_empty());
    let heading_of = |section: usize| {
        let at = if has_top { Some(section) } else { section.checked_sub(1) };
        at.and_then(|at| headings.get(at).copied()).unwrap_or_default()
    };
    let mut found = Vec::new();
    for piece in pieces(&body) {
        let text = bare(&body[piece.span.clone()]);
        if matches!(piece.shape, Shape::Heading) || text.is_empty() {
            continue;
        }
        let heading = heading_of(piece.section);
        let matches = matched(text, &stems).len();
        let is_rule = RULES.iter().any(|rule| heading.to_lowercase().contains(rule));
        if matches > 0 || is_rule {
            let word = text.split_whitespace().next().unwrap_or_default();
            let start = piece.span.start + body[piece.span].find(word).unwrap_or(0);
            // The first heading is the title.
            let below = (piece.section > 1).then_some(heading);
            found.push(((Reverse(matches), !is_rule, start), (heading, below), text));
        }
    }
    found.sort_by_key(|(order, ..)| *order);
    found.truncate(LINES_MAX);
    let is_weakened = is_weakened(entry);
    let line =
        |((_, _, start), (heading, below), text): ((_, _, usize), (&str, _), &str)| BriefLine {
            text: on_one_line(text),
            disputed: disputes.card_of(entry, text, below).map(|card| card.id.clone()),
            trust: warned(entry),
            weakened: is_weakened,
            path: entry.path.clone(),
            line: entry.document.line_at(start),
            heading: Some(on_one_line(heading)).filter(|heading| !heading.is_empty()),
            date: entry.date().map(|date| date.to_string()),
            extra: Extra::new(),
        };
    found.into_iter().map(line).collect()
}

/// Without the marks of a list or a quotation.
fn bare(text: &str) -> &str {
    let text = text.trim();
    text[item_mark(text)..].trim_start_matches(['>', ' ', '\n']).trim()
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn on_one_line(text: &str) -> String {
    let text = joined(text);
    match text.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
