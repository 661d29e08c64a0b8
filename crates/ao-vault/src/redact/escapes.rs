//! Where the escape sequences of a terminal stand in a text.

use std::ops::Range;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
/// A sequence with more parameters is none.
const CONTROL_BYTES_MAX: usize = 64;
/// A string that a terminal is given (a title, a link) and that is longer is none.
const STRING_BYTES_MAX: usize = 4096;

/// What the sequences take up. An escape that begins none counts as one byte.
#[derive(Debug, Default)]
pub(super) struct Escapes {
    pub(super) whole: Vec<Range<usize>>,
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
        while let Some(at) = memchr::memchr(ESCAPE, &bytes[from..]) {
            let start = from + at;
            let end = match end(&bytes[start..]) {
                End::At(length) => start + length,
                End::None => start + 1,
                End::NotYet if is_last => bytes.len(),
                End::NotYet => {
                    found.open = Some(start);
                    break;
                }
            };
            found.whole.push(start..end);
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
}
