//! How wide a text is where every letter has its own column.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

pub(crate) fn width(text: &str) -> usize {
    text.width()
}

pub(crate) fn width_of(c: char) -> usize {
    c.width().unwrap_or(0)
}

/// The text, or as much of it as fits with a sign that there is more.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut left = columns.saturating_sub(1);
    for c in text.chars() {
        let Some(rest) = left.checked_sub(width_of(c)) else { break };
        left = rest;
        kept.push(c);
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The text with spaces after it, so that it fills the columns.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text with spaces before it.
pub(crate) fn padded_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_columns_and_not_by_letters() {
        assert_eq!(cut("flywheel", 8), "flywheel");
        assert_eq!(cut("flywheel", 5), "flyw…");
        assert_eq!(cut("数据库", 5), "数据…");
        assert_eq!(cut("数据库", 4), "数…");
        assert_eq!(cut("x", 0), "");
        assert_eq!(padded("数", 4), "数  ");
    }
}
