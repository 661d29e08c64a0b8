//! The report as Markdown, `summary.md`.
//!
//! Nothing that a file says becomes markup: letters that could are escaped, whatever is a name of
//! something stands in a code span with a fence of its own length, and links are never made.

use std::fmt::Write as _;

use super::block::{Block, Item, Line, Span};
use crate::dreamscape::{COLUMNS_MAX, draw};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Line,
    Cell,
}

pub(super) fn render(blocks: &[Block]) -> String {
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push('\n');
        }
        write(&mut text, block);
    }
    text
}

fn write(text: &mut String, block: &Block) {
    match block {
        Block::Title(line) => {
            let _ = writeln!(text, "# {}", inline(line, Place::Line));
        }
        Block::Heading(name) => {
            let _ = writeln!(text, "## {name}");
        }
        Block::Sub(line) => {
            let _ = writeln!(text, "### {}", inline(line, Place::Line));
        }
        Block::Alert(line) => {
            let _ = writeln!(text, "> {}", inline(line, Place::Line));
        }
        Block::Paragraph(line) => {
            let _ = writeln!(text, "{}", inline(line, Place::Line));
        }
        Block::List(items) => {
            for item in items {
                list_item(text, "-", item);
            }
        }
        Block::Numbered(items) => {
            for (at, item) in items.iter().enumerate() {
                list_item(text, &format!("{}.", at + 1), item);
            }
        }
        Block::Table { head, rows } => {
            let _ = writeln!(text, "| {} |", head.join(" | "));
            let _ = writeln!(text, "|{}", "---|".repeat(head.len()));
            for row in rows {
                let cells: Vec<String> = row.iter().map(|cell| inline(cell, Place::Cell)).collect();
                let _ = writeln!(text, "| {} |", cells.join(" | "));
            }
        }
        Block::Commands(commands) => fenced(text, "sh", &commands.join("\n")),
        Block::Scape(scape) => fenced(text, "text", draw(scape, COLUMNS_MAX).trim_end()),
    }
}

fn list_item(text: &mut String, mark: &str, item: &Item) {
    let _ = writeln!(text, "{mark} {}", inline(&item.line, Place::Line));
    let indent = " ".repeat(mark.len() + 1);
    for line in &item.inner {
        let _ = writeln!(text, "{indent}- {}", inline(line, Place::Line));
    }
}

fn fenced(text: &mut String, kind: &str, content: &str) {
    let fence = "`".repeat((longest_run(content) + 1).max(3));
    let _ = writeln!(text, "{fence}{kind}\n{content}\n{fence}");
}

fn inline(line: &Line, place: Place) -> String {
    let mut text = String::new();
    for span in line {
        match span {
            Span::Text(raw) => {
                let escaped = escaped(raw);
                let is_first = text.is_empty() && place == Place::Line;
                text.push_str(&if is_first { opened(&escaped) } else { escaped });
            }
            Span::Strong(raw) => text.push_str(&around("**", raw)),
            Span::Struck(raw) => text.push_str(&around("~~", raw)),
            Span::Code(raw) => text.push_str(&code(raw, place)),
        }
    }
    text
}

fn around(mark: &str, raw: &str) -> String {
    let text = escaped(raw.trim());
    if text.is_empty() { text } else { format!("{mark}{text}{mark}") }
}

/// Escapes what is markup anywhere.
fn escaped(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    for (at, c) in raw.char_indices() {
        let is_link = match c {
            ':' => raw[at..].starts_with("://"),
            '.' => raw[..at].to_ascii_lowercase().ends_with("www"),
            _ => false,
        };
        if is_link || r"\`*_[]<>|~&".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// Escapes what is markup at the beginning of a line: headings, lists, rules.
fn opened(escaped: &str) -> String {
    let is_item = |rest: &str| rest.is_empty() || rest.starts_with([' ', '-']);
    let number = escaped.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = escaped.len() - number.len();
    let is_numbered = digits > 0 && number.starts_with(['.', ')']) && is_item(&number[1..]);
    if is_numbered {
        return format!("{}\\{number}", &escaped[..digits]);
    }
    let is_listed = escaped.starts_with(['+', '-']) && is_item(&escaped[1..]);
    let is_opened = is_listed || escaped.starts_with(['#', '=']);
    if is_opened { format!("\\{escaped}") } else { escaped.to_owned() }
}

fn code(raw: &str, place: Place) -> String {
    if raw.is_empty() {
        return String::new();
    }
    let raw = if place == Place::Cell { raw.replace('|', "\\|") } else { raw.to_owned() };
    let fence = "`".repeat(longest_run(&raw) + 1);
    let pad = if raw.starts_with(['`', ' ']) || raw.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{raw}{pad}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::block::{code, strong, struck, text};
    use super::*;

    fn of(span: Span) -> String {
        inline(&vec![span], Place::Line)
    }

    #[test]
    fn nothing_becomes_markup() {
        let cases = [
            ("# head", r"\# head"),
            ("- item", r"\- item"),
            ("12) x", r"12\) x"),
            ("1. x", r"1\. x"),
            ("![a](http://x)", r"!\[a\](http\://x)"),
            ("-0.5", "-0.5"),
            ("---", r"\---"),
            ("1.5 s", "1.5 s"),
            ("<script>&amp;", r"\<script\>\&amp;"),
            ("see www.x.org", r"see www\.x.org"),
            ("a_b *c* `d` |e| ~~f~~ \\", r"a\_b \*c\* \`d\` \|e\| \~\~f\~\~ \\"),
            ("two\n# lines", "two # lines"),
        ];
        for (raw, expected) in cases {
            assert_eq!(of(text(raw)), expected);
        }
        assert_eq!(of(strong("a*b")), r"**a\*b**");
        assert_eq!(of(struck("")), "");
    }

    #[test]
    fn a_code_span_cannot_be_left() {
        assert_eq!(of(code("a`b")), "``a`b``");
        assert_eq!(of(code("`")), "`` ` ``");
        assert_eq!(of(code("x\n# y")), r"`x\n# y`");
        assert_eq!(inline(&vec![code("a|b")], Place::Cell), r"`a\|b`");
        let mut fence = String::new();
        fenced(&mut fence, "text", "```\nout");
        assert!(fence.starts_with("````text\n") && fence.ends_with("\n````\n"), "{fence}");
    }
}
