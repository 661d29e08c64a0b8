//! The links of a note, with their lines. What stands in code is none.

use ao_corpus::Document;

const TICKS: char = '`';

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
    prose(body)
        .filter_map(|(line, text)| {
            let level = text.bytes().take_while(|byte| *byte == b'#').count();
            let rest = text.get(level..)?;
            let is_heading = (1..=6).contains(&level) && rest.starts_with([' ', '\t']);
            is_heading.then(|| (line, rest.trim().trim_end_matches('#').trim_end()))
        })
        .collect()
}

/// The lines that are not between fences, with their numbers.
fn prose(body: &str) -> impl Iterator<Item = (u64, &str)> {
    let mut fence: Option<(char, usize)> = None;
    (0..).zip(body.lines()).filter(move |(_, line)| {
        let bare = line.trim_start();
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
            (None, Some(sign)) if length >= 3 => {
                fence = Some((sign, length));
                false
            }
            (None, _) => true,
        }
    })
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
        if before.ends_with('\\') || whole.contains("[[") {
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
    let mut take = |target: &str| {
        if let Some((target, heading)) = target_of(target) {
            found.push(Link { style: Style::Markdown, line, target, heading });
        }
    };
    let mut rest = text;
    while let Some((before, inner)) = rest.split_once("](") {
        let end = end_of(inner).unwrap_or(inner.len());
        let is_link = before.contains('[') && !before.ends_with('\\');
        if is_link && end < inner.len() {
            take(&inner[..end]);
        }
        rest = &inner[end..];
    }
    // `[words]: path`, which other lines refer to; a footnote is none.
    let defined = text.trim_start().strip_prefix('[').filter(|rest| !rest.starts_with('^'));
    if let Some((words, target)) = defined.and_then(|rest| rest.split_once("]:"))
        && !words.contains(['[', ']'])
        && !target.trim().is_empty()
    {
        take(target);
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

/// The path and the heading of a Markdown target.
fn target_of(text: &str) -> Option<(String, Option<String>)> {
    let text = text.trim();
    let path = match text.strip_prefix('<') {
        Some(rest) => rest.split_once('>')?.0,
        None => text.split_whitespace().next()?,
    };
    let (path, heading) = match path.split_once('#') {
        Some((path, heading)) => (path, Some(decoded(heading))),
        None => (path, None),
    };
    Some((decoded(path), heading))
}

/// `%20` and the like.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
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
