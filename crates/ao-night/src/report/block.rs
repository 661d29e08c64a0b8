//! A report before it has a form: what is said, and as what.
//!
//! Text gets in only through the constructors of [`Span`], which make it safe; the forms escape it
//! once more by their own rules.

use ao_contract::DreamScape;

use super::say::{safe, safe_code};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Span {
    Text(String),
    Strong(String),
    /// A path, an id or a command.
    Code(String),
    /// Something that is done already.
    Struck(String),
}

pub(super) type Line = Vec<Span>;

pub(super) fn text(raw: &str) -> Span {
    Span::Text(safe(raw))
}

/// Our own words, with the spaces around them.
pub(super) fn words(own: &str) -> Span {
    Span::Text(own.to_owned())
}

pub(super) fn strong(raw: &str) -> Span {
    Span::Strong(safe(raw))
}

pub(super) fn code(raw: &str) -> Span {
    Span::Code(safe_code(raw))
}

pub(super) fn struck(raw: &str) -> Span {
    Span::Struck(safe(raw))
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) line: Line,
    pub(super) inner: Vec<Line>,
}

impl From<Line> for Item {
    fn from(line: Line) -> Self {
        Self { line, inner: Vec::new() }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    Title(Line),
    Heading(&'static str),
    Sub(Line),
    /// What must not be overlooked.
    Alert(Line),
    Paragraph(Line),
    List(Vec<Item>),
    Numbered(Vec<Item>),
    Table {
        head: Vec<&'static str>,
        rows: Vec<Vec<Line>>,
    },
    /// To be copied.
    Commands(Vec<String>),
    Scape(Box<DreamScape>),
}

/// The first ones of many, and how many more there are.
pub(super) fn first<T>(all: &[T], most: usize) -> (&[T], usize) {
    let kept = &all[..all.len().min(most)];
    (kept, all.len() - kept.len())
}

/// "and 3 more", where there are.
pub(super) fn more(left: usize, what: &str) -> Option<Line> {
    (left > 0).then(|| vec![Span::Text(format!("and {left} more {what}"))])
}
