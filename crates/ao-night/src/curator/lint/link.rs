//! The links of a note, with their lines. What stands in code is none.

use ao_corpus::Document;

const TICKS: char = '`';
/// Lines that begin with so many blanks are code, outside of lists.
const INDENT_OF_CODE: usize = 4;

/// How a link is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `[[name#heading|words]]`
    Wiki,
    /// `[words](path#heading "title")`, or `[words]: path`
    Markdown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) style: Style,
    /// The line within the body, from 0.
    pub(super) line: u64,
    /// Without words, title and heading.
    pub(super) target: String,
    pub(super) heading: Option<String>,
}

pub(super) fn links(document: &Document) -> Vec<Link> {
    let mut found = Vec::new();
    for (line, text) in prose(document.body()) {
        let text = without_code(text);
        wiki(&text, line, &mut found);
        markdown(&text, line, &mut found);
    }
    found
}

/// The headings of a body with their lines, from 0.
pub(super) fn headings(body: &str) -> Vec<(u64, &str)> {
    let mut found = Vec::new();
    let mut before: Option<(u64, &str)> = None;
    for (line, whole) in prose(body) {
        let text = whole.trim_start_matches(' ');
        let level = text.bytes().take_while(|byte| *byte == b'#').count();
        let rest = &text[level..];
        let is_near = whole.len() - text.len() < INDENT_OF_CODE;
        if is_near && (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']))
        {
            found.push((line, rest.trim().trim_end_matches('#').trim_end()));
            before = None;
            continue;
        }
        // Words with a line beneath them are a heading too.
        let is_line =
            |sign: char| !text.trim().is_empty() && text.trim().chars().all(|c| c == sign);
        if is_near
            && (is_line('=') || is_line('-'))
            && let Some((above, words)) = before.filter(|(above, _)| above + 1 == line)
        {
            found.push((above, words.trim()));
            before = None;
            continue;
        }
        before = (!text.trim().is_empty()).then_some((line, text));
    }
    found
}

/// The lines that are no code, with their numbers.
fn prose(body: &str) -> impl Iterator<Item = (u64, &str)> {
    let mut fence: Option<(char, usize)> = None;
    let mut indented = Indented::default();
    (0..).zip(body.lines()).filter(move |(_, line)| {
        // A fence may stand in a quotation.
        let bare = line.trim_start_matches([' ', '\t', '>']);
        let sign = bare.chars().next().filter(|c| matches!(c, '`' | '~'));
        let length = sign.map_or(0, |sign| bare.chars().take_while(|c| *c == sign).count());
        match (fence, sign) {
            (Some((open, count)), Some(sign)) if sign == open && length >= count => {
                if bare.trim_end().chars().all(|c| c == sign) {
                    fence = None;
                }
                false
            }
            (Some(_), _) => false,
            // Ticks that are closed on their own line are no fence.
            (None, Some(sign))
                if length >= 3 && (sign != TICKS || !bare[length..].contains(TICKS)) =>
            {
                fence = Some((sign, length));
                false
            }
            (None, _) => !indented.is_code(line),
        }
    })
}

/// Whether a line is code because it is indented: after a blank one, and in no list.
#[derive(Default)]
struct Indented {
    is_in_list: bool,
    is_in_words: bool,
}

impl Indented {
    fn is_code(&mut self, line: &str) -> bool {
        let text = line.trim_start();
        let indent: usize = line[..line.len() - text.len()]
            .chars()
            .map(|c| if c == '\t' { INDENT_OF_CODE } else { 1 })
            .sum();
        if text.is_empty() {
            self.is_in_words = false;
            return false;
        }
        if indent >= INDENT_OF_CODE && !self.is_in_list && !self.is_in_words {
            return true;
        }
        if indent < INDENT_OF_CODE {
            let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_item = ["- ", "* ", "+ "].iter().any(|mark| text.starts_with(mark))
                || number.len() < text.len() && number.starts_with(['.', ')']);
            // What is indented a little goes on with the list.
            self.is_in_list = is_item || (self.is_in_list && (indent > 0 || self.is_in_words));
        }
        self.is_in_words = true;
        false
    }
}

/// The same line with blanks where code stands.
fn without_code(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(TICKS) {
        let count = rest[at..].chars().take_while(|c| *c == TICKS).count();
        let ticks = &rest[at..at + count];
        text.push_str(&rest[..at]);
        let inner = &rest[at + count..];
        let Some(end) = closing(inner, ticks) else {
            text.push_str(&rest[at..]);
            return text;
        };
        text.push(' ');
        rest = &inner[end + count..];
    }
    text.push_str(rest);
    text
}

/// Where exactly as many ticks stand again.
fn closing(text: &str, ticks: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find(TICKS).map(|at| from + at) {
        let count = text[at..].chars().take_while(|c| *c == TICKS).count();
        if count == ticks.len() {
            return Some(at);
        }
        from = at + count;
    }
    None
}

fn wiki(text: &str, line: u64, found: &mut Vec<Link>) {
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once("[[") {
        let Some((whole, after)) = inner.split_once("]]") else { return };
        rest = after;
        // One that is never closed is none; the last one is.
        let (before, whole) = whole.rsplit_once("[[").unwrap_or((before, whole));
        if before.ends_with('\\') {
            continue;
        }
        // In a table the bar is written with a backslash.
        let named = whole.split('|').next().unwrap_or(whole).trim_end_matches('\\');
        let (target, heading) = match named.split_once('#') {
            Some((target, heading)) => (target, Some(heading.trim().to_owned())),
            None => (named, None),
        };
        found.push(Link { style: Style::Wiki, line, target: target.trim().to_owned(), heading });
    }
}

fn markdown(text: &str, line: u64, found: &mut Vec<Link>) {
    let mut take = |(target, heading)| {
        found.push(Link { style: Style::Markdown, line, target, heading });
    };
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once("](") {
        let end = end_of(inner).unwrap_or(inner.len());
        // Where the words begin may be a line above.
        if !before.ends_with('\\') && end < inner.len() {
            let (path, rest) = cut(&inner[..end]);
            // Blanks in a path are a mistake of its writer; which file was meant is clear.
            let is_title = rest.is_empty() || rest.starts_with(['"', '\'', '(']);
            let path = if is_title { path } else { inner[..end].trim() };
            take(target_of(path));
        }
        rest = &inner[end..];
    }
    // `[words]: path`, which other lines refer to; a footnote is none.
    let defined = text.trim_start().strip_prefix('[').filter(|rest| !rest.starts_with('^'));
    if let Some((words, target)) = defined.and_then(|rest| rest.split_once("]:"))
        && !words.contains(['[', ']'])
        && let (path, rest) = cut(target)
        && !path.is_empty()
        && (rest.is_empty() || rest.starts_with(['"', '\'', '(']))
    {
        take(target_of(path));
    }
}

/// Where the bracket is closed that was opened before.
fn end_of(text: &str) -> Option<usize> {
    let mut open = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// A path, and what stands behind it.
fn cut(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (path, rest) = match text.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some(parts) => parts,
        None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
    };
    (path, rest.trim())
}

/// The path and the heading of a Markdown target.
fn target_of(path: &str) -> (String, Option<String>) {
    match path.split_once('#') {
        Some((path, heading)) => (decoded(path), Some(decoded(heading))),
        None => (decoded(path), None),
    }
}

/// `%20` and the like.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let code = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = if let (b'%', Some(byte)) = (first, code) {
            bytes.push(byte);
            &after[2..]
        } else {
            bytes.push(*first);
            after
        };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use ao_corpus::Form;

    use super::*;

    #[test]
    fn links_are_found_outside_of_code_alone() {
        let body = "[a](one.md) and ![b](<two words.png> \"t\") `[c](no.md)` ``[[no]] ` ``\n\
            ```\n[[no]]\n```\n[[Three#Part|words]] \\[[no]] [d](x_(y).md#s%20t)\n\
            [ref]: four.md\n[^1]: a footnote.md\n| [[Five\\|5]] |\n~~~~\n~~~\n[[no]]\n~~~~\n[[Six]]\n";
        let document = Document::parse(Form::Markdown, body.into()).unwrap();
        let found: Vec<_> = links(&document)
            .into_iter()
            .map(|link| (link.line, link.target, link.heading.unwrap_or_default()))
            .collect();
        let expected = [
            (0, "one.md", ""),
            (0, "two words.png", ""),
            (4, "Three", "Part"),
            (4, "x_(y).md", "s t"),
            (5, "four.md", ""),
            (7, "Five", ""),
            (12, "Six", ""),
        ];
        let expected = expected.map(|(line, a, b)| (line, a.to_owned(), b.to_owned()));
        assert_eq!(found, expected);
    }
}
