//! The report for a terminal: no colour, and lines that say by their beginning what they are.
//!
//! A line that is not indented is the title or a heading; one that begins with [`ALERT`] must not
//! be overlooked; all others are indented, the lines of the landscape aside, which stand between
//! two empty ones. Whoever prints it may paint by that.

use std::fmt::Write as _;

use super::block::{Block, Item, Line, Span};
use crate::columns::{cut, padded, width};
use crate::dreamscape::draw;

pub(super) const COLUMNS_MIN: usize = 60;
pub(super) const COLUMNS_MAX: usize = 100;
/// How a line begins that must not be overlooked.
pub const ALERT: &str = "! ";
/// How something begins that is done already.
pub const STRUCK: &str = "[done] ";
const INDENT: &str = "  ";
/// No column of a table but the last is wider.
const CELL_COLUMNS_MAX: usize = 36;
const LAST_COLUMNS_MIN: usize = 16;

pub(super) fn render(blocks: &[Block], columns: usize) -> String {
    let columns = columns.clamp(COLUMNS_MIN, COLUMNS_MAX);
    let mut text = String::new();
    for (at, block) in blocks.iter().enumerate() {
        let is_close = matches!(block, Block::Alert(_))
            && at.checked_sub(1).is_some_and(|before| matches!(blocks[before], Block::Alert(_)));
        let follows_heading = at
            .checked_sub(1)
            .is_some_and(|before| matches!(blocks[before], Block::Heading(_) | Block::Sub(_)));
        let is_scape = matches!(block, Block::Scape(_));
        if at > 0 && !is_close && (!follows_heading || is_scape) {
            text.push('\n');
        }
        write(&mut text, block, columns);
    }
    text
}

fn write(text: &mut String, block: &Block, columns: usize) {
    match block {
        Block::Title(line) => wrapped(text, &inline(line), "", "", columns),
        Block::Heading(name) => {
            let _ = writeln!(text, "{name}");
        }
        Block::Sub(line) | Block::Paragraph(line) => {
            wrapped(text, &inline(line), INDENT, INDENT, columns);
        }
        Block::Alert(line) => wrapped(text, &inline(line), ALERT, INDENT, columns),
        Block::List(items) => items.iter().for_each(|item| list_item(text, "-", item, columns)),
        Block::Numbered(items) => {
            for (at, item) in items.iter().enumerate() {
                list_item(text, &format!("{}.", at + 1), item, columns);
            }
        }
        Block::Table { head, rows } => table(text, head, rows, columns),
        Block::Commands(commands) => {
            for command in commands {
                let _ = writeln!(text, "{INDENT}{INDENT}{command}");
            }
        }
        Block::Scape(scape) => {
            let _ = writeln!(text, "{}", draw(scape, columns).trim_end());
        }
    }
}

fn list_item(text: &mut String, mark: &str, item: &Item, columns: usize) {
    let first = format!("{INDENT}{mark} ");
    let rest = " ".repeat(first.len());
    wrapped(text, &inline(&item.line), &first, &rest, columns);
    for line in &item.inner {
        wrapped(text, &inline(line), &format!("{rest}- "), &format!("{rest}  "), columns);
    }
}

fn inline(line: &Line) -> String {
    line.iter()
        .map(|span| match span {
            Span::Text(raw) | Span::Strong(raw) | Span::Code(raw) => raw.clone(),
            Span::Struck(raw) => format!("{STRUCK}{raw}"),
        })
        .collect()
}

fn wrapped(text: &mut String, line: &str, first: &str, rest: &str, columns: usize) {
    let room = columns.saturating_sub(width(first).max(width(rest)));
    for (at, part) in wrap(line, room).iter().enumerate() {
        let _ = writeln!(text, "{}{part}", if at == 0 { first } else { rest });
    }
}

/// Breaks at spaces. A word that is wider than a line stays whole: it is a path or a command.
fn wrap(line: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    for word in line.split(' ') {
        if !current.is_empty() && width(&current) + 1 + width(word) > columns {
            lines.push(std::mem::take(&mut current).trim_end().to_owned());
        } else if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
    }
    lines.push(current.trim_end().to_owned());
    lines
}

fn table(text: &mut String, head: &[&str], rows: &[Vec<Line>], columns: usize) {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(inline).collect()).collect();
    let Some(last) = head.len().checked_sub(1) else { return };
    let widest = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| width(cell));
        cells.chain([width(head[at])]).max().unwrap_or(0).min(CELL_COLUMNS_MAX)
    };
    let widths: Vec<usize> = (0..last).map(widest).collect();
    let used: usize = INDENT.len() + widths.iter().map(|width| width + 2).sum::<usize>();
    let room = columns.saturating_sub(used).max(LAST_COLUMNS_MIN);
    let mut line = |cells: &[String]| {
        let mut before = INDENT.to_owned();
        for (cell, width) in cells.iter().zip(&widths) {
            before.push_str(&padded(&cut(cell, *width), width + 2));
        }
        let cell = cells.get(last).map_or("", String::as_str);
        for (at, part) in wrap(cell, room).iter().enumerate() {
            let lead = if at == 0 { before.clone() } else { " ".repeat(used) };
            let _ = writeln!(text, "{}", format!("{lead}{part}").trim_end());
        }
    };
    line(&head.iter().map(ToString::to_string).collect::<Vec<_>>());
    for row in &rows {
        line(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_paths_do_not_break() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("see /a/very/long/path now", 8), ["see", "/a/very/long/path", "now"]);
        assert_eq!(wrap("", 8), [""]);
        assert_eq!(wrap("数据 数据 数据", 9), ["数据 数据", "数据"]);
    }
}
