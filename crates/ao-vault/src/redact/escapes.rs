//! Where the escape sequences of a terminal stand in a text.
//!
//! Whoever shows a text that is not to be acted upon spells them out (`\u{1b}[31m`), and so does JSON, with
//! line breaks too (`\n`). Spelt out, they tear a value apart just as well.

use std::ops::Range;

pub(super) const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const BACKSLASH: u8 = b'\\';
/// How an escape is spelt out, behind the backslash.
const SPELT_ESCAPES: [&[u8]; 5] = [b"u{1b}", b"u001b", b"u001B", b"x1b", b"x1B"];
const SPELT_BREAKS: [&[u8]; 2] = [b"n", b"r"];
/// What is spelt out within what is spelt out has more than one backslash.
const BACKSLASHES_MAX: usize = 8;
/// A sequence with more parameters is none.
const CONTROL_BYTES_MAX: usize = 64;
/// A string that a terminal is given (a title, a link) and that is longer is none.
const STRING_BYTES_MAX: usize = 4096;

/// What the sequences take up. An escape that begins none counts as one byte.
#[derive(Debug, Default)]
pub(super) struct Escapes {
    /// All of them, and line breaks that are spelt out.
    pub(super) whole: Vec<Range<usize>>,
    /// Those that a terminal would act upon.
    pub(super) real: Vec<Range<usize>>,
    /// The start of one that has not ended, as far as can be seen.
    pub(super) open: Option<usize>,
}

enum End {
    At(usize),
    None,
    NotYet,
}

impl Escapes {
    /// `is_last` says that nothing follows: what has not ended by then is taken as ended.
    pub(super) fn find(bytes: &[u8], is_last: bool) -> Self {
        let mut found = Self::default();
        let mut from = 0;
        while let Some(at) = memchr::memchr2(ESCAPE, BACKSLASH, &bytes[from..]) {
            let start = from + at;
            let is_real = bytes[start] == ESCAPE;
            let end = if is_real { end(&bytes[start..]) } else { spelt_end(&bytes[start..]) };
            let end = match end {
                End::At(length) => start + length,
                End::None if is_real => start + 1,
                End::NotYet if is_last && is_real => bytes.len(),
                End::NotYet if !is_last => {
                    found.open = Some(start);
                    break;
                }
                End::None | End::NotYet => {
                    from = start + 1;
                    continue;
                }
            };
            found.whole.push(start..end);
            if is_real {
                found.real.push(start..end);
            }
            from = end;
        }
        found
    }

    /// The start of the sequence that this place is within, or the place itself.
    pub(super) fn before(&self, place: usize) -> usize {
        let nth = self.whole.partition_point(|range| range.end <= place);
        match self.whole.get(nth) {
            Some(range) if range.start < place => range.start,
            _ => place,
        }
    }
}

/// How long the sequence is that these bytes begin with.
fn end(bytes: &[u8]) -> End {
    match bytes.get(1) {
        None => End::NotYet,
        Some(b'[') => {
            let is_middle = |byte: &u8| matches!(byte, 0x20..=0x3f);
            ended(bytes, 2, is_middle, |byte| matches!(byte, 0x40..=0x7e))
        }
        Some(b']' | b'P' | b'X' | b'^' | b'_') => string_end(bytes),
        Some(0x20..=0x2f) => {
            let is_middle = |byte: &u8| matches!(byte, 0x20..=0x2f);
            ended(bytes, 2, is_middle, |byte| matches!(byte, 0x30..=0x7e))
        }
        Some(0x30..=0x7e) => End::At(2),
        Some(_) => End::None,
    }
}

/// How long the sequence or line break is that these bytes spell out, from the backslash on.
fn spelt_end(bytes: &[u8]) -> End {
    let most = bytes.iter().take(BACKSLASHES_MAX + 1);
    let backslashes = most.take_while(|byte| **byte == BACKSLASH).count();
    if backslashes > BACKSLASHES_MAX {
        return End::None;
    }
    let after = &bytes[backslashes..];
    if SPELT_BREAKS.iter().any(|one| after.starts_with(one)) {
        return End::At(backslashes + 1);
    }
    let Some(spelt) = SPELT_ESCAPES.iter().find(|one| after.starts_with(one)) else {
        let is_begun = SPELT_ESCAPES.iter().any(|one| one.starts_with(after));
        return if is_begun { End::NotYet } else { End::None };
    };
    // The last letter stands for the escape itself.
    let before = backslashes + spelt.len() - 1;
    match bytes.get(before + 1) {
        None => End::NotYet,
        // What ends a string would be spelt out too.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => End::At(before + 1),
        Some(_) => match end(&bytes[before..]) {
            End::At(length) => End::At(before + length),
            End::None => End::At(before + 1),
            End::NotYet => End::NotYet,
        },
    }
}

fn ended(
    bytes: &[u8],
    from: usize,
    is_middle: impl Fn(&u8) -> bool,
    is_final: impl Fn(u8) -> bool,
) -> End {
    let middle = bytes[from..].iter().take(CONTROL_BYTES_MAX).take_while(|byte| is_middle(byte));
    let length = from + middle.count();
    match bytes.get(length) {
        _ if length - from >= CONTROL_BYTES_MAX => End::None,
        None => End::NotYet,
        Some(byte) if is_final(*byte) => End::At(length + 1),
        Some(_) => End::None,
    }
}

/// A string ends with a bell or with an escape and a backslash. A line break cuts it off: it is then
/// no string, so that nothing of a text is hidden by one that never ends.
fn string_end(bytes: &[u8]) -> End {
    for (at, byte) in bytes.iter().enumerate().skip(2).take(STRING_BYTES_MAX) {
        match *byte {
            BELL => return End::At(at + 1),
            ESCAPE => {
                return match bytes.get(at + 1) {
                    Some(b'\\') => End::At(at + 2),
                    Some(_) => End::None,
                    None => End::NotYet,
                };
            }
            b'\n' | b'\r' | 0x18 | 0x1a => return End::None,
            _ => {}
        }
    }
    if bytes.len() >= STRING_BYTES_MAX + 2 { End::None } else { End::NotYet }
}

#[cfg(test)]
mod tests {
    use super::Escapes;

    #[test]
    fn sequences_are_told_from_what_only_begins_like_one() {
        let cases: [(&[u8], Option<&[u8]>); 9] = [
            (b"a\x1b[1;31mb", Some(b"ab")),
            (b"a\x1b]0;title\x07b", Some(b"ab")),
            (b"a\x1b]8;;http://x\x1b\\b", Some(b"ab")),
            (b"a\x1b(Bb", Some(b"ab")),
            (b"a\x1b]never\nended", Some(b"a]never\nended")),
            (b"a\x1b7b", Some(b"ab")),
            (b"a\x1b\x01b", Some(b"a\x01b")),
            (b"a\x1b[1;3", None),
            (b"a\x1b", None),
        ];
        for (bytes, plain) in cases {
            let found = Escapes::find(bytes, false);
            let rest: Vec<u8> = bytes
                .iter()
                .enumerate()
                .filter(|(at, _)| !found.whole.iter().any(|range| range.contains(at)))
                .map(|(_, byte)| *byte)
                .collect();
            match plain {
                Some(plain) => assert_eq!((rest.as_slice(), found.open), (plain, None)),
                None => assert_eq!(found.open, Some(1)),
            }
        }
    }

    #[test]
    fn what_is_spelt_out_counts_and_is_not_real() {
        let cases: [(&str, &str); 9] = [
            (r"a\u{1b}[1;31mb", "ab"),
            (r"a\u001b[0mb", "ab"),
            (r"a\\u001B[0mb", "ab"),
            (r"a\x1b(Bb", "ab"),
            (r"a\r\nb", "ab"),
            (r"a\\\nb", "ab"),
            (r"a\tb\", r"a\tb\"),
            (r"a\u{1b}]0;b", "a]0;b"),
            (r"a\u{1", r"a\u{1"),
        ];
        for (text, plain) in cases {
            let found = Escapes::find(text.as_bytes(), true);
            let mut rest = text.to_owned();
            for range in found.whole.iter().rev() {
                rest.drain(range.clone());
            }
            assert_eq!((rest.as_str(), found.real.len()), (plain, 0), "{text}");
        }
        for open in [r"a\", r"a\\", r"a\u", r"a\u{1b}", r"a\u{1b}[3", r"a\x1"] {
            assert_eq!(Escapes::find(open.as_bytes(), false).open, Some(1), "{open}");
        }
        let many = format!("a{}n", "\\".repeat(30));
        assert_eq!(Escapes::find(many.as_bytes(), true).whole.len(), 1);
    }
}
