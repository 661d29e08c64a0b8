//! A sentence as words, each with what it does there.

use super::lexicon::{OF_PARTS, Sense, key_of, sense};
use super::quantity;

/// Longer sentences claim too much at once to be held against another one.
pub(super) const SENTENCE_BYTES_MAX: usize = 400;
const WORDS_MAX: usize = 60;
const WORD_BYTES_MAX: usize = 48;

/// What stands behind a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    None,
    Comma,
    /// A colon or an equals sign.
    Colon,
    /// A semicolon, a dash: another clause.
    Break,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) raw: &'a str,
    pub(super) sense: Sense,
    pub(super) mark: Mark,
    /// Written as a name or as code.
    pub(super) is_name: bool,
    /// The number that it is or begins with, and the rest of it.
    pub(super) number: Option<(f64, &'a str)>,
}

impl Token<'_> {
    pub(super) fn text(&self) -> String {
        self.raw.to_lowercase()
    }

    pub(super) fn says(&self, word: &str) -> bool {
        self.raw.eq_ignore_ascii_case(word)
    }
}

/// The words of a sentence in order, in the same list every time.
pub(super) fn tokens<'a>(sentence: &'a str, found: &mut Vec<Token<'a>>) {
    found.clear();
    let mut is_code = false;
    let has_ticks = sentence.contains('`');
    for raw in sentence.split_ascii_whitespace() {
        if found.len() >= WORDS_MAX {
            return;
        }
        let ticks = if has_ticks { raw.bytes().filter(|byte| *byte == b'`').count() } else { 0 };
        let has_code = is_code || ticks > 0;
        if ticks % 2 == 1 {
            is_code = !is_code;
        }
        push(raw, has_code, found);
    }
}

fn push<'a>(raw: &'a str, in_code: bool, found: &mut Vec<Token<'a>>) {
    let bare = raw
        .trim_start_matches(|c| {
            matches!(c, '(' | '[' | '{' | '"' | '\'' | '*' | '_' | '`' | '“' | '‘' | '«' | '|')
        })
        .trim_end_matches(ends_word);
    if !bare.bytes().any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii()) {
        let mark = match bare {
            "=" | ":" => Mark::Colon,
            _ if raw.starts_with(['-', '–', '—']) => Mark::Break,
            _ if raw == ":" => Mark::Colon,
            _ => return,
        };
        if let Some(last) = found.last_mut() {
            last.mark = mark;
        }
        return;
    }
    let tail = &raw[bare.as_ptr() as usize - raw.as_ptr() as usize + bare.len()..];
    let mark = match tail {
        "" => Mark::None,
        tail if tail.contains(';') => Mark::Break,
        tail if tail.contains(':') => Mark::Colon,
        tail if tail.contains(',') => Mark::Comma,
        _ => Mark::None,
    };
    let has_signs = bare.bytes().any(is_sign);
    let is_number = bare.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '~' | '=' | '$'));
    let number =
        if is_number && (!in_code || is_set(found.last())) { quantity::number(bare) } else { None };
    let is_word = !in_code && !has_signs && number.is_none();
    if is_word && bare.contains('-') && !bare.starts_with('-') {
        let mut parts = bare.split('-').filter(|part| !part.is_empty()).peekable();
        while let Some(part) = parts.next() {
            let mark = if parts.peek().is_some() { Mark::None } else { mark };
            let mut token = token(part, mark, false);
            if !part.eq_ignore_ascii_case("non") {
                token.sense.flags &= OF_PARTS;
            }
            found.push(token);
        }
        return;
    }
    found.push(Token { number, ..token(bare, mark, in_code || (has_signs && number.is_none())) });
}

/// Whether what stands behind this word in code is its value: `--retries 3`, `limit = 3`. In `grep 5214` nothing is set.
fn is_set(before: Option<&Token<'_>>) -> bool {
    before.is_some_and(|before| before.raw.starts_with('-') || before.mark == Mark::Colon)
}

fn ends_word(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '"' | '\'' | '*' | '_' | '`' | ',' | '.' | ';' | ':' | '!' | '?')
        || matches!(c, '”' | '’' | '»' | '|' | '…')
}

/// Within a word it makes it a name.
fn is_sign(byte: u8) -> bool {
    matches!(
        byte,
        b'_' | b'/' | b'.' | b':' | b'=' | b'<' | b'>' | b'$' | b'#' | b'@' | b'(' | b')'
    ) || matches!(byte, b'{' | b'}' | b'[' | b']' | b'\\' | b'+')
}

fn token(raw: &str, mark: Mark, is_sign: bool) -> Token<'_> {
    let capitals = raw.bytes().filter(u8::is_ascii_uppercase).count();
    let sense = if is_sign && raw.len() > 1 && raw.bytes().any(|b| !b.is_ascii_alphabetic()) {
        Sense { key: key_of(&raw.to_lowercase()), flags: 0 }
    } else {
        lowered(raw)
    };
    Token { raw, sense, mark, is_name: is_sign || capitals > 0, number: None }
}

/// Without a new string for what everybody writes.
fn lowered(raw: &str) -> Sense {
    let mut buffer = [0_u8; WORD_BYTES_MAX];
    match buffer.get_mut(..raw.len()) {
        Some(lower) if raw.is_ascii() => {
            lower.copy_from_slice(raw.as_bytes());
            lower.make_ascii_lowercase();
            sense(std::str::from_utf8(lower).unwrap_or_default())
        }
        _ => sense(&raw.to_lowercase()),
    }
}
