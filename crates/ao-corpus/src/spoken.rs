//! What of an entry's text is its own word.
//!
//! A comment is seen by nobody who reads the page; what a lesson of a transcript says under `Context` and `Source` is
//! what others had said, often the very opposite; and the lists of a compiled page name learnings that speak for
//! themselves. Whoever takes sentences out of an entry takes them from here. What is left out is blank, so that every
//! place in the text is the same place in the body.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use crate::corpus::Entry;
use crate::document::{Document, code_fence, ends_code, heading};
use crate::patterns::lists_of;
use crate::transcripts::HASH;

const COMMENT: &str = "<!--";
const COMMENT_END: &str = "-->";
/// Headings over what others had said, in a lesson of a transcript.
const HEARSAY: [&str; 2] = ["context", "source"];
/// A header that is nested deeper was not written by a merge.
const DEPTH_MAX: usize = 8;

/// The body of an entry with everything blank that is not its own word.
pub(crate) fn spoken(entry: &Entry) -> Cow<'_, str> {
    let body = entry.document.body();
    let mut gone = hearsay(&entry.document);
    if memchr::memmem::find(body.as_bytes(), COMMENT.as_bytes()).is_some() {
        gone.extend(comments(body));
        gone.extend(lists_of(entry));
    }
    blanked(body, gone)
}

/// A piece of a body with its comments blank.
pub(crate) fn without_comments(text: &str) -> Cow<'_, str> {
    let has_any = memchr::memmem::find(text.as_bytes(), COMMENT.as_bytes()).is_some();
    blanked(text, if has_any { comments(text) } else { Vec::new() })
}

/// As [`spoken`], but only without what others had said: for whoever must not lose anything else.
pub(crate) fn without_hearsay(document: &Document) -> Cow<'_, str> {
    blanked(document.body(), hearsay(document))
}

/// Whether a section of an entry is what others had said, by its heading.
pub(crate) fn is_hearsay(document: &Document, heading: &str) -> bool {
    is_hearsay_heading(heading) && is_lesson(document)
}

fn is_hearsay_heading(heading: &str) -> bool {
    let bare = heading.trim().trim_end_matches(':');
    HEARSAY.iter().any(|one| bare.eq_ignore_ascii_case(one))
}

/// Whether an entry was made of a transcript, or took one in that was.
fn is_lesson(document: &Document) -> bool {
    memchr::memmem::find(document.header_text().as_bytes(), HASH.as_bytes()).is_some()
        && document.fields().iter().any(|(key, value)| key == HASH || has_hash(value, DEPTH_MAX))
}

fn has_hash(value: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match value {
        Value::Object(fields) => {
            fields.iter().any(|(key, value)| key == HASH || has_hash(value, depth))
        }
        Value::Array(items) => items.iter().any(|item| has_hash(item, depth)),
        _ => false,
    }
}

/// The sections that are what others had said, each with the sections beneath it.
fn hearsay(document: &Document) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !is_lesson(document) {
        return found;
    }
    let body = document.body();
    let mut open: Option<(usize, usize)> = None;
    each_line(body, |at, line| {
        let Some((level, heading)) = heading(line) else { return };
        if let Some((start, _)) = open.take_if(|(_, above)| level <= *above) {
            found.push(start..at);
        }
        if open.is_none() && is_hearsay_heading(heading) {
            open = Some((at, level));
        }
    });
    found.extend(open.map(|(start, _)| start..body.len()));
    found
}

/// Comments, over as many lines as they have. One that is never closed hides the rest if it opens a line, as it does
/// for whoever sees the page.
fn comments(body: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let last = body.rfind(COMMENT_END).unwrap_or(0);
    let (mut end, mut hidden) = (0, 0);
    let mut fence: Option<&str> = None;
    for line in body.split_inclusive('\n') {
        let start = end;
        end += line.len();
        // What a comment hides opens and ends no code.
        let mut at = hidden.max(start);
        if at >= end {
            continue;
        }
        if let Some(mark) = fence {
            fence = fence.filter(|_| !ends_code(line.trim(), mark));
            continue;
        }
        fence = code_fence(line.trim()).filter(|_| at == start);
        while let Some(open) = body[at..end].find(COMMENT).filter(|_| fence.is_none()) {
            let open = at + open;
            // `<!-->` is a whole one. Behind the last end there is none, and nobody looks for it again.
            let rest = if open + 2 <= last { &body[open + 2..] } else { "" };
            let close = rest.find(COMMENT_END).map(|close| open + 2 + close + COMMENT_END.len());
            let is_first = body[start..open].trim().is_empty();
            let Some(close) = close.or_else(|| is_first.then_some(body.len())) else { break };
            found.push(open..close);
            hidden = close;
            at = close.min(end);
        }
    }
    found
}

/// Calls `each` with the lines that are not code, and where each begins.
fn each_line(body: &str, mut each: impl FnMut(usize, &str)) {
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let bare = line.trim();
        match fence {
            Some(mark) if ends_code(bare, mark) => fence = None,
            Some(_) => {}
            None => {
                fence = code_fence(bare);
                if fence.is_none() {
                    each(at, line);
                }
            }
        }
        at += line.len();
    }
}

fn blanked(body: &str, gone: Vec<Range<usize>>) -> Cow<'_, str> {
    if gone.is_empty() {
        return Cow::Borrowed(body);
    }
    let mut bytes = body.as_bytes().to_vec();
    for range in gone {
        let seen = bytes[range].iter_mut().filter(|byte| **byte != b'\n');
        seen.for_each(|byte| *byte = b' ');
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(body), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        let entry = Entry::parse("learnings/a.md", || Ok(text.as_bytes().to_vec()));
        let entry = entry.unwrap().unwrap();
        let said = spoken(&entry);
        assert_eq!(said.len(), entry.document.body().len());
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_comment_is_left_out_however_long_it_is() {
        assert_eq!(words("a <!-- b --> c <!-- d\n\n# é\n\n--> f <!--> g\n"), "a c f g");
        assert_eq!(words("a\n\n<!-- b\n\n--> c\n"), "a c");
        // Never closed: at the beginning of a line the rest is not seen, within one it is text.
        assert_eq!(words("a\n\n  <!-- b\n\nc\n"), "a");
        assert_eq!(words("a <!-- b\n\nc\n"), "a <!-- b c");
        // In code it is code, also what would open one.
        let code = "```html\n<!-- a\n```\n\nb\n";
        assert_eq!(words(code), "```html <!-- a ``` b");
        assert_eq!(words("<!-- a\n```\n-->\nb\n<!-- c -->\n"), "b");
    }

    #[test]
    fn what_others_had_said_is_left_out_of_lessons_alone() {
        let body = "# T\n\nNo.\n\n## Context\n\nThe agent had said: yes.\n\n### More\n\nYes.\n\n## Rule\n\nNo.\n\n\
                    ## Source:\n\nA line.\n";
        assert_eq!(words(&format!("---\ntranscript_hash: x\n---\n{body}")), "# T No. ## Rule No.");
        let merged = format!("---\nmerged:\n  - transcript_hash: x\n---\n{body}");
        assert_eq!(words(&merged), "# T No. ## Rule No.");
        assert!(words(&format!("---\ntitle: transcript_hash\n---\n{body}")).contains("yes."));
    }
}
