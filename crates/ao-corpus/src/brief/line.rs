//! The lines of an entry that bear on a goal.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use ao_contract::{BriefLine, Contradiction, ContradictionSide, Extra};

use crate::corpus::Entry;
use crate::document::sections;
use crate::index::Question;
use crate::passage::matched;
use crate::pieces::{Shape, item_mark, pieces};
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
    disputed: &[Contradiction],
) -> Vec<BriefLine> {
    let body = entry.document.body();
    let stems: BTreeSet<&str> = question.stems().collect();
    let headings: Vec<&str> = sections(body).iter().map(|section| section.heading).collect();
    // What stands above the first heading has none, whether or not there is such a section.
    let has_top = headings.first().is_some_and(|heading| heading.is_empty());
    let heading_of = |section: usize| {
        let at = if has_top { Some(section) } else { section.checked_sub(1) };
        at.and_then(|at| headings.get(at).copied()).unwrap_or_default()
    };
    let mut found = Vec::new();
    for piece in pieces(body) {
        let text = body[piece.span.clone()].trim();
        if matches!(piece.shape, Shape::Heading) || bare(text).is_empty() {
            continue;
        }
        let heading = heading_of(piece.section);
        let matches = matched(text, &stems).len();
        let is_rule = RULES.iter().any(|rule| heading.to_lowercase().contains(rule));
        if matches > 0 || is_rule {
            let told = bare(text);
            let word = told.split_whitespace().next().unwrap_or_default();
            let start = piece.span.start + body[piece.span].find(word).unwrap_or(0);
            found.push(((Reverse(matches), !is_rule, start), heading, text));
        }
    }
    found.sort_by_key(|(order, ..)| *order);
    let line = |((_, _, start), heading, text): ((_, _, usize), &str, &str)| BriefLine {
        text: on_one_line(&bare(text)),
        disputed: card_of(entry, text, disputed),
        trust: warned(entry),
        path: entry.path.clone(),
        line: line_number(entry, start),
        heading: Some(heading.to_owned()).filter(|heading| !heading.is_empty()),
        date: entry.date().map(|date| date.to_string()),
        extra: Extra::new(),
    };
    found.into_iter().take(LINES_MAX).map(line).collect()
}

/// The card that a line of an entry is one side of.
fn card_of(entry: &Entry, text: &str, disputed: &[Contradiction]) -> Option<String> {
    let text = joined(text);
    let says = |side: &ContradictionSide| {
        side.path == entry.path
            && (text.contains(&joined(&side.quote)) || joined(&side.quote).contains(&text))
    };
    disputed.iter().find(|card| says(&card.a) || says(&card.b)).map(|card| card.id.clone())
}

/// Where in its file a place of the body is, from 1.
fn line_number(entry: &Entry, start: usize) -> u64 {
    let (file, body) = (entry.document.bytes(), entry.document.body().as_bytes());
    // The body of a JSON line stands nowhere in its file as it is.
    let Some(before) = file.len().checked_sub(body.len()).filter(|at| file[*at..] == *body) else {
        return 1;
    };
    1 + memchr::memchr_iter(b'\n', &file[..before + start]).count() as u64
}

/// Without the marks of a list or a quotation, and without comments: those of a compiled page are for `ao`.
fn bare(text: &str) -> String {
    let mut told = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        told.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    told.push_str(rest);
    let told = told[item_mark(&told)..].trim_start_matches(['>', ' ', '\n']);
    told.trim().to_owned()
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
