//! A body as a list of pieces: headings, sentences, list items, table rows, blocks of code.
//!
//! Two texts are compared and merged piece by piece. Each piece knows its bytes, so that what
//! is taken over is taken over as it was written.

use std::ops::Range;

use crate::document::{code_fence, ends_code, heading};

/// What a piece is, and so how it is written down elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Heading,
    /// A sentence of running text.
    Sentence,
    /// An item of a list, whole, its mark included.
    Item,
    Row,
    Code,
}

#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) shape: Shape,
    pub(crate) span: Range<usize>,
    /// The heading that it stands under, by number; 0 is what stands above the first.
    pub(crate) section: usize,
}

/// The pieces of a body in their order. Every character that is not white space is in one.
pub(crate) fn pieces(body: &str) -> Vec<Piece> {
    Cutter { body, found: Vec::new(), section: 0, open: None }.cut()
}

struct Cutter<'a> {
    body: &'a str,
    found: Vec<Piece>,
    section: usize,
    /// A paragraph, an item or a block of code that may go on.
    open: Option<(Shape, Range<usize>)>,
}

impl Cutter<'_> {
    fn cut(mut self) -> Vec<Piece> {
        let mut at = 0;
        let mut fence: Option<&str> = None;
        for line in self.body.split_inclusive('\n') {
            let span = at..at + line.len();
            at = span.end;
            let bare = line.trim();
            if let Some(mark) = fence {
                self.extend(span);
                if ends_code(bare, mark) {
                    fence = None;
                    self.close();
                }
                continue;
            }
            fence = code_fence(bare);
            if fence.is_some() {
                self.begin(Shape::Code, span);
            } else if bare.is_empty() {
                self.close();
            } else if heading(line).is_some() {
                self.close();
                self.section += 1;
                self.begin(Shape::Heading, span);
                self.close();
            } else if bare.starts_with('|') {
                self.begin(Shape::Row, span);
                self.close();
            } else if item_mark(line) > 0 {
                self.begin(Shape::Item, span);
            } else if self.open.is_some() {
                self.extend(span);
            } else {
                self.begin(Shape::Sentence, span);
            }
        }
        self.close();
        self.found
    }

    fn begin(&mut self, shape: Shape, span: Range<usize>) {
        self.close();
        self.open = Some((shape, span));
    }

    fn extend(&mut self, span: Range<usize>) {
        if let Some((_, open)) = &mut self.open {
            open.end = span.end;
        }
    }

    fn close(&mut self) {
        let Some((shape, span)) = self.open.take() else { return };
        let section = self.section;
        if shape == Shape::Sentence {
            let sentences = sentences(&self.body[span.clone()]);
            self.found.extend(sentences.into_iter().map(|inner| Piece {
                shape,
                span: span.start + inner.start..span.start + inner.end,
                section,
            }));
            return;
        }
        let text = &self.body[span.clone()];
        let end = span.start + text.trim_end().len();
        self.found.push(Piece { shape, span: span.start..end, section });
    }
}

/// Where the sentences of a paragraph are, without the white space between them.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = text.len() - text.trim_start().len();
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        if c.is_whitespace() && ends_sentence(&text[start.min(at)..at], previous, &text[at..]) {
            found.push(start..at);
            start = at + (text[at..].len() - text[at..].trim_start().len());
        }
        previous = c;
    }
    let end = text.trim_end().len();
    if start < end {
        found.push(start..end);
    }
    found
}

/// Whether a sentence ends here: a stop, then a capital letter or a sign. `e.g. this` and `v1. 2` go
/// on.
fn ends_sentence(before: &str, last: char, after: &str) -> bool {
    let stop = before.trim_end_matches(['"', '\'', ')', '*', '_', '`']);
    let is_stop = stop.ends_with(['.', '!', '?']);
    let next = after.trim_start().chars().next();
    is_stop
        && !last.is_whitespace()
        && next.is_some_and(|c| !c.is_lowercase() && !c.is_ascii_digit())
}

/// How many bytes the mark of a list item takes, the space after it included; 0 if there is none.
pub(crate) fn item_mark(line: &str) -> usize {
    let indent = line.len() - line.trim_start().len();
    let rest = &line[indent..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let sign = if rest.starts_with(['-', '*', '+']) {
        1
    } else if (1..=9).contains(&digits) && rest[digits..].starts_with(['.', ')']) {
        digits + 1
    } else {
        return 0;
    };
    if rest[sign..].starts_with([' ', '\t']) { indent + sign + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::Shape::{Code, Heading, Item, Row, Sentence};
    use super::*;

    #[test]
    fn a_body_is_cut_and_nothing_is_left_out() {
        let body = "Above it. See e.g. this one.\nGoes on! \"Quoted.\" End\n\n# One\n- a\n  b\n- c\n\n\
            ```sh\nx. Y\n\n# z\n```\n| a | b |\n|---|---|\n1. first\n2) second\n## Two\n\nlast 3. 4";
        let cut: Vec<(Shape, usize, &str)> =
            pieces(body).iter().map(|p| (p.shape, p.section, &body[p.span.clone()])).collect();
        let expected = [
            (Sentence, 0, "Above it."),
            (Sentence, 0, "See e.g. this one."),
            (Sentence, 0, "Goes on!"),
            (Sentence, 0, "\"Quoted.\""),
            (Sentence, 0, "End"),
            (Heading, 1, "# One"),
            (Item, 1, "- a\n  b"),
            (Item, 1, "- c"),
            (Code, 1, "```sh\nx. Y\n\n# z\n```"),
            (Row, 1, "| a | b |"),
            (Row, 1, "|---|---|"),
            (Item, 1, "1. first"),
            (Item, 1, "2) second"),
            (Heading, 2, "## Two"),
            (Sentence, 2, "last 3. 4"),
        ];
        assert_eq!(cut, expected);
    }
}
