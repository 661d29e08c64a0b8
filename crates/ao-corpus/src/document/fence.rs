//! Where the header of a Markdown file is: between two lines that are `---` alone.

use std::ops::Range;

const BYTE_ORDER_MARK: char = '\u{feff}';

pub(super) enum Found {
    None {
        body: usize,
    },
    /// A first fence, and no second one.
    Open {
        body: usize,
    },
    Header {
        header: Range<usize>,
        body: usize,
    },
}

pub(super) fn find(text: &str) -> Found {
    let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    let mut lines = lines_from(text, start);
    match lines.next() {
        Some((_, line)) if is_fence(line) => {}
        _ => return Found::None { body: start },
    }
    let first = start + lines_from(text, start).next().map_or(0, |(_, line)| line.len());
    for (at, line) in lines {
        if is_fence(line) {
            return Found::Header { header: first..at, body: at + line.len() };
        }
    }
    Found::Open { body: start }
}

/// Each line with its place, its line end included.
pub(super) fn lines_from(text: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = start;
    text[start..].split_inclusive('\n').map(move |line| {
        let here = at;
        at += line.len();
        (here, line)
    })
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.trim_matches([' ', '\t', '\r', '\n']).is_empty())
}

/// The line end that a text uses.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        _ if ao_mutant::active("LOOP-08/new-lines-end-in-lf") => "\n",
        Some(at) if at > 0 && text.as_bytes()[at - 1] == b'\r' => "\r\n",
        _ => "\n",
    }
}
