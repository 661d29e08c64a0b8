//! Text from files, made fit for a report: one line, bounded, with nothing in it that acts on a
//! terminal, and without what looks like a secret.

use ao_corpus::looks_secret;
use ao_tree::shown;
use ao_vault::scan::without_keys;
use ao_vault::{Ansi, redactor};

pub(crate) const TITLE_CHARS_MAX: usize = 200;
/// One piece of evidence, or one reason.
pub(crate) const LINE_CHARS_MAX: usize = 500;
const SLUG_BYTES_MAX: usize = 40;
const SLUG_OF_NOTHING: &str = "packet";

/// A number with its noun: `1 entry`, `2 entries`.
pub fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The text on one line of at most `chars_max` characters.
pub(crate) fn one_line(text: &str, chars_max: usize) -> String {
    if let Some(what) = looks_secret(text) {
        return format!("(left out: it looks as if it held {what})");
    }
    // Before anything is cut or joined, and becomes the name of a file: what is left of a value then is
    // not found any more.
    let text = redactor().text(&without_keys(text), Ansi::Keep).into_inner();
    // Longer texts are cut before they are looked at letter by letter.
    let start: String = text.chars().take(chars_max.saturating_mul(4)).collect();
    let words: Vec<&str> = start.split_whitespace().collect();
    let is_raw = ao_mutant::active("REP-18/title-keeps-its-colours");
    let line = if is_raw { words.join(" ") } else { shown(&words.join(" ")) };
    if line.chars().count() <= chars_max && start.len() == text.len() {
        return line;
    }
    let cut: String = line.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{cut}…")
}

pub(crate) fn title(text: &str) -> String {
    match one_line(text, TITLE_CHARS_MAX) {
        empty if empty.is_empty() => "(without a title)".into(),
        title => title,
    }
}

/// Titles that differ only in case and spaces are one.
pub(crate) fn folded(title: &str) -> String {
    title.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// A piece of a file's name: letters and digits of ASCII, never empty.
pub(crate) fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars() {
        if slug.len() >= SLUG_BYTES_MAX {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    match slug.trim_end_matches('-') {
        "" => SLUG_OF_NOTHING.into(),
        slug => slug.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_harmless() {
        assert_eq!(one_line(" a\n\tb  c ", 10), "a b c");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("abcd", 4), "abcd");
        assert_eq!(one_line("\u{1b}[31mred\u{202e}", 40), "\\u{1b}[31mred\\u{202e}");
        assert!(one_line(&"x".repeat(1 << 20), 10).chars().count() <= 10);
        let key = format!("use ghp_{}", "a1".repeat(18));
        assert!(!one_line(&key, 100).contains("ghp_"));
        assert_eq!(title("\n \t"), "(without a title)");
        assert_eq!(folded(" Fix\tTHE  bug "), folded("fix the bug"));
    }

    #[test]
    fn slugs_fit_into_any_file_system() {
        let long = "A very ".repeat(40);
        for text in ["Fix it!", "../../etc/passwd", "数据 🦀", "", "-", "a\u{0}b", "CON", &long]
        {
            let slug = slug(text);
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(slug.chars().all(is_plain) && !slug.is_empty(), "{text:?} {slug:?}");
            assert!(slug.len() <= SLUG_BYTES_MAX && !slug.starts_with('-') && !slug.ends_with('-'));
        }
        assert_eq!(slug("../../etc/passwd"), "etc-passwd");
        assert_eq!(slug("数据"), SLUG_OF_NOTHING);
    }
}
