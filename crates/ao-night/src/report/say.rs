//! Text from files, made safe to show: on one line, without power over a terminal, without secrets.

use std::borrow::Cow;
use std::fmt::Write as _;

use ao_corpus::looks_secret;
use ao_tree::shown;
use ao_vault::scan::without_keys;
use serde_json::{Number, Value};

/// More of one text does not help anybody in the morning.
const TEXT_CHARS_MAX: usize = 600;
/// A command is copied, so more of it is kept.
const CODE_CHARS_MAX: usize = 4000;
/// A number with more letters is rounded.
const NUMBER_CHARS_MAX: usize = 8;
const DECIMALS: usize = 6;

/// A sentence: all white space is one space.
pub(super) fn safe(raw: &str) -> String {
    let words: Vec<String> = masked(raw).split_whitespace().map(visible).collect();
    cut(words.join(" "), TEXT_CHARS_MAX)
}

/// A path or a command: its spaces mean something.
pub(super) fn safe_code(raw: &str) -> String {
    cut(visible(&masked(raw)), CODE_CHARS_MAX)
}

/// A number with its own digits, or rounded to six decimals where it has very many.
pub(super) fn number(number: &Number) -> String {
    let own = number.to_string();
    match number.as_f64() {
        Some(value) if number.is_f64() && own.len() > NUMBER_CHARS_MAX => {
            let rounded = format!("{value:.DECIMALS$}");
            match rounded.trim_end_matches('0').trim_end_matches('.') {
                "0" | "-0" => own,
                rounded => rounded.to_owned(),
            }
        }
        _ => own,
    }
}

/// A change, with its direction.
pub(super) fn change(value: &Number) -> String {
    let is_more = value.as_f64().is_some_and(|value| value > 0.0);
    format!("{}{}", if is_more { "+" } else { "" }, number(value))
}

/// A value that is no list and no map.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Number(value) => Some(number(value)),
        Value::String(text) => Some(safe(text)),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// `learnings_added` as people write it.
pub(super) fn key(raw: &str) -> String {
    safe(&raw.replace('_', " "))
}

fn visible(text: &str) -> String {
    let shown = shown(text);
    if !shown.chars().any(is_odd) {
        return shown;
    }
    shown
        .chars()
        .map(|c| if is_odd(c) { c.escape_unicode().to_string() } else { c.to_string() })
        .collect()
}

/// What `shown` lets pass and some programs obey, or nobody can see: line separators, the Arabic
/// mark, fillers, tags.
fn is_odd(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{180B}'..='\u{180E}' | '\u{2028}'
        | '\u{2029}' | '\u{206A}'..='\u{206F}' | '\u{3164}' | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E0FFF}')
}

fn cut(text: String, chars: usize) -> String {
    let all = text.chars().count();
    if all <= chars {
        return text;
    }
    let kept: String = text.chars().take(chars).collect();
    format!("{kept}… ({} more characters)", all - chars)
}

/// The text without what looks like a secret.
fn masked(raw: &str) -> Cow<'_, str> {
    // Before letters are put into it that mean something to Markdown.
    match without_keys(raw) {
        Cow::Borrowed(raw) => masked_by_look(raw),
        Cow::Owned(rest) => Cow::Owned(masked_by_look(&rest).into_owned()),
    }
}

fn masked_by_look(raw: &str) -> Cow<'_, str> {
    let whole = |what: &str| Cow::Owned(format!("[masked: seems to hold {what}]"));
    let bare = bare(raw);
    // Hidden among escape sequences and invisible letters.
    if let Some(what) = looks_secret(&bare).filter(|_| looks_secret(raw).is_none()) {
        return whole(what);
    }
    let pieces: Vec<&str> = raw.split_inclusive(char::is_whitespace).collect();
    let mut text = String::new();
    let mut is_masked = false;
    for (at, piece) in pieces.iter().enumerate() {
        let before =
            at.checked_sub(1).and_then(|before| pieces.get(before)).copied().unwrap_or_default();
        let what = in_one(piece).or_else(|| {
            let name = looks_secret(before).is_none().then_some(before)?;
            looks_secret(&format!("{} {}", name.trim_end(), piece.trim_end()))
        });
        match what {
            Some(what) => {
                is_masked = true;
                let _ = write!(text, "[masked: {what}]");
                text.push_str(&piece[piece.trim_end().len()..]);
            }
            None => text.push_str(piece),
        }
    }
    match looks_secret(if is_masked { &text } else { raw }) {
        Some(what) => whole(what),
        None if is_masked => Cow::Owned(text),
        None => Cow::Borrowed(raw),
    }
}

/// A key may stand behind a name or inside an address.
fn in_one(piece: &str) -> Option<&'static str> {
    looks_secret(piece)
        .or_else(|| piece.split(['=', '/', ':', '@', '+', '.']).find_map(looks_secret))
}

/// Without escape sequences and what cannot be seen.
fn bare(raw: &str) -> String {
    let mut text = String::new();
    let mut rest = raw.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            // `ESC [ … letter`; of other sequences the letters stay, which masks no less.
            if rest.next_if_eq(&'[').is_some() {
                while rest.next().is_some_and(|c| !c.is_ascii_alphabetic()) {}
            }
        } else if c.is_whitespace()
            || (shown(c.encode_utf8(&mut [0; 4])).chars().eq([c]) && !is_odd(c))
        {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_no_power() {
        let cases = [
            ("a\nb\r\n\tc", "a b c"),
            ("\u{1b}[31mred", r"\u{1b}[31mred"),
            ("x\u{202e}y\u{2066}z", r"x\u{202e}y\u{2066}z"),
            ("x\u{2028}y\u{61c}z", r"x y\u{61c}z"),
            ("\u{7}", r"\u{7}"),
        ];
        for (raw, shown) in cases {
            assert_eq!(safe(raw), shown);
        }
        assert_eq!(safe_code("a  b\nc"), r"a  b\nc");
        assert_eq!(safe(&"x".repeat(700)).chars().filter(|c| *c == 'x').count(), 600);
    }

    #[test]
    fn secrets_are_masked_and_the_rest_is_kept() {
        let token = format!("ghp_{}", "a1".repeat(18));
        let cases = [
            (format!("push with {token} now"), "push with [masked: a GitHub token] now"),
            (format!("evidence: token={token}."), "evidence: [masked: a password or key]"),
            (format!("clone https://x:{token}@host"), "clone [masked: a GitHub token]"),
            (format!("GH={token}"), "[masked: a GitHub token]"),
            (
                "set password: hunter2hunter2hunter2 there".to_owned(),
                "set password: [masked: a password or key] there",
            ),
            (format!("ghp_\u{1b}[0m{}", "a1".repeat(18)), "[masked: seems to hold a GitHub token]"),
            (format!("ghp_\u{200b}{}", "a1".repeat(18)), "[masked: seems to hold a GitHub token]"),
        ];
        for (raw, shown) in cases {
            assert_eq!(safe(&raw), shown, "{raw}");
        }
        let block = format!("x\n-----BEGIN RSA {}-----\nMIIE\nabc", "PRIVATE KEY");
        assert_eq!(safe(&block), "[masked: seems to hold a private key]");
        assert_eq!(safe("the token bucket: 12 a second"), "the token bucket: 12 a second");
    }

    #[test]
    fn numbers_have_their_own_digits() {
        let shown = |text: &str| number(&serde_json::from_str(text).unwrap());
        for text in ["0", "12", "-3", "0.019", "0.5", "31.5", "18446744073709551615", "1e-9"] {
            assert_eq!(shown(text), text);
        }
        assert_eq!(shown("31.533333333333335"), "31.533333");
        assert_eq!(shown("0.30000000000000004"), "0.3");
        assert_eq!(shown("1.2345678e-12"), "1.2345678e-12");
        assert_eq!(change(&Number::from(2)), "+2");
        assert_eq!(change(&Number::from(0)), "0");
    }
}
