//! The lines of a file that may be very long, or still be written.

use std::io::{self, Read};

use super::LINE_BYTES_MAX;

const BLOCK_BYTES: usize = 1024 * 1024;

/// How far a walk came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Walked {
    /// What need not be read again.
    pub(super) bytes: u64,
    /// How many lines ended in it.
    pub(super) ends: u64,
    /// How many were longer than a line may be.
    pub(super) too_long: u64,
}

/// Hands over each line with how many ended before it. A last line that nothing ends is handed over if
/// `is_whole` says so; otherwise somebody is still writing it, and the next walk meets it again.
pub(super) fn walk(
    from: &mut impl Read,
    is_whole: impl Fn(&[u8]) -> bool,
    mut see: impl FnMut(u64, &[u8]),
) -> io::Result<Walked> {
    let mut walked = Walked::default();
    let mut block = vec![0; BLOCK_BYTES];
    let mut begun: Vec<u8> = Vec::new();
    let mut is_passing = false;
    let mut unended = 0_u64;
    loop {
        let count = match from.read(&mut block) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &block[..count];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let line = &rest[..end];
            if is_passing || begun.len() + line.len() > LINE_BYTES_MAX {
                walked.too_long += 1;
            } else if begun.is_empty() {
                see(walked.ends, line);
            } else {
                begun.extend_from_slice(line);
                see(walked.ends, &begun);
            }
            begun.clear();
            is_passing = false;
            walked.bytes += unended + end as u64 + 1;
            walked.ends += 1;
            unended = 0;
            rest = &rest[end + 1..];
        }
        unended += rest.len() as u64;
        if is_passing || begun.len() + rest.len() > LINE_BYTES_MAX {
            is_passing = true;
            begun.clear();
        } else {
            begun.extend_from_slice(rest);
        }
    }
    if !begun.is_empty() && is_whole(&begun) {
        see(walked.ends, &begun);
        walked.bytes += unended;
    }
    Ok(walked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> (Vec<(u64, usize)>, Walked) {
        let mut seen = Vec::new();
        let walked = walk(
            &mut &text[..],
            |line| line.ends_with(b"}"),
            |at, line| {
                seen.push((at, line.len()));
            },
        );
        (seen, walked.unwrap())
    }

    #[test]
    fn a_line_that_is_still_written_is_left_for_the_next_time() {
        assert_eq!(lines(b"ab\ncd\ne").0, [(0, 2), (1, 2)]);
        assert_eq!(lines(b"ab\ncd\ne").1.bytes, 6);
        let (seen, walked) = lines(b"ab\n{}");
        assert_eq!((seen, walked.bytes, walked.ends), (vec![(0, 2), (1, 2)], 5, 1));
        // What comes later ends that line first.
        assert_eq!(lines(b"\nxyz\n").0, [(0, 0), (1, 3)]);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let mut text = vec![b'x'; LINE_BYTES_MAX + BLOCK_BYTES];
        text.extend_from_slice(b"\nshort\n");
        let (seen, walked) = lines(&text);
        assert_eq!((seen, walked.too_long), (vec![(1, 5)], 1));
        assert_eq!(walked.bytes, text.len() as u64);
    }
}
