//! What is kept of a stream: its beginning and its end.

use std::fmt::Write as _;

/// Of each, in bytes.
const HEAD_BYTES: usize = 256 * 1024;
const TAIL_BYTES: usize = 64 * 1024;

#[derive(Debug, Default)]
pub(super) struct Kept {
    head: Vec<u8>,
    tail: Vec<u8>,
    left_out: u64,
}

impl Kept {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.extend_from_slice(rest);
        if self.tail.len() > TAIL_BYTES {
            let over = self.tail.len() - TAIL_BYTES;
            self.tail.drain(..over);
            self.left_out += over as u64;
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.head).into_owned();
        if self.left_out > 0 {
            let _ = write!(text, "\n[{} bytes left out]\n", self.left_out);
        }
        text.push_str(&String::from_utf8_lossy(&self.tail));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept() {
        let mut kept = Kept::default();
        kept.take(b"first ");
        for _ in 0..100 {
            kept.take(&[b'x'; 10_000]);
        }
        kept.take(b" last");
        let text = kept.text();
        assert!(text.starts_with("first x") && text.ends_with("x last"));
        assert!(text.contains("bytes left out]") && text.len() < 400_000);
    }
}
