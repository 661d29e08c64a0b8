//! Regular expressions as Go reads them, for the engine that is used here.
//!
//! The two dialects are nearly one. What differs: Go takes a brace that begins no count as a letter,
//! and knows neither sets within sets nor operations on them.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

/// A compiled expression may not be larger.
const COMPILED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// An expression that is compiled when it is first needed.
#[derive(Debug)]
pub(super) struct Expression {
    source: String,
    compiled: OnceLock<Result<Regex, String>>,
}

impl Expression {
    pub(super) fn new(go: &str) -> Self {
        Self { source: translated(go), compiled: OnceLock::new() }
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// The error says why it cannot be used.
    pub(super) fn get(&self) -> Result<&Regex, &str> {
        let compile = || {
            // Go's classes are ASCII's, and texts may be anything.
            let mut builder = RegexBuilder::new(&self.source);
            builder.unicode(false).size_limit(COMPILED_BYTES_MAX);
            builder.build().map_err(|error| one_line(&error.to_string()))
        };
        self.compiled.get_or_init(compile).as_ref().map_err(String::as_str)
    }

    /// Why it could not be used, if it was needed.
    pub(super) fn failed(&self) -> Option<&str> {
        self.compiled.get()?.as_ref().err().map(String::as_str)
    }

    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.get().is_ok_and(|expression| expression.is_match(text))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn translated(go: &str) -> String {
    let letters: Vec<char> = go.chars().collect();
    let mut text = String::with_capacity(go.len() + 8);
    let mut is_in_set = false;
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let next = letters.get(at + 1).copied();
        match letter {
            '\\' => {
                text.push(letter);
                text.extend(next);
                at += 2;
                continue;
            }
            '[' if is_in_set && next == Some(':') => {
                // A class by its name, such as [:alpha:].
                let end = letters[at..].windows(2).position(|pair| pair == [':', ']']);
                let end = end.map_or(letters.len(), |end| at + end + 2);
                text.extend(&letters[at..end]);
                at = end;
                continue;
            }
            '[' if is_in_set => text.push_str("\\["),
            '[' => {
                is_in_set = true;
                text.push('[');
                // A bracket that comes first is one of the letters.
                if next == Some('^') {
                    text.push('^');
                    at += 1;
                }
                if letters.get(at + 1) == Some(&']') {
                    text.push_str("\\]");
                    at += 1;
                }
            }
            ']' if is_in_set => {
                is_in_set = false;
                text.push(']');
            }
            '&' | '~' if is_in_set && next == Some(letter) => {
                text.push('\\');
                text.push(letter);
            }
            '-' if is_in_set && next == Some('-') && !text.ends_with(['[', '^']) => {
                // A span that ends with a dash.
                text.push_str("-\\-");
                at += 1;
            }
            '-' if is_in_set && next == Some('-') => text.push_str("\\-"),
            '{' if !is_in_set && !is_count(&letters[at + 1..]) => text.push_str("\\{"),
            _ => text.push(letter),
        }
        at += 1;
    }
    text
}

/// `3}`, `3,}` or `3,5}`.
fn is_count(after: &[char]) -> bool {
    let Some(end) = after.iter().position(|letter| *letter == '}') else { return false };
    let inside: String = after[..end].iter().collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match inside.split_once(',') {
        None => is_number(&inside),
        Some((least, most)) => is_number(least) && (most.is_empty() || is_number(most)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_go_takes_as_letters_is_taken_as_letters() {
        for (go, text) in [
            (r"^\$(?:\d+|{\d+})$", "${1}"),
            (r"^\{\{[ \t]*[\w ().|]+[ \t]*}}$", "{{ x }}"),
            (r"^[^[]+$", "ab]"),
            (r"^[[(]x$", "[x"),
            (r"^[a&&b]+$", "a&b"),
            (r"^[]a]+$", "]a"),
            (r"^[+--]+$", "+,-"),
            (r"^[[:alpha:]]{2}$", "ab"),
            (r"^a{2,}b{1}$", "aaab"),
            (r"^\w$", "w"),
        ] {
            let expression = Expression::new(go);
            assert_eq!(expression.get().map(|it| it.is_match(text.as_bytes())), Ok(true), "{go}");
        }
        assert!(!Expression::new(r"^\w$").is_match("é".as_bytes()));
        assert!(Expression::new("(?<!x)y").get().is_err());
    }
}
