//! A text without its line breaks, backslashes and escape sequences, and where each byte of it was.

use std::ops::Range;

use ao_guard::cell::FILLERS;

#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) bytes: Vec<u8>,
    /// Where pieces begin: here, and in the whole text.
    pieces: Vec<(usize, usize)>,
}

impl View {
    /// Leaves out line breaks, backslashes and what these ranges take up.
    pub(super) fn new(text: &[u8], left_out: &[Range<usize>]) -> Self {
        let mut view = Self { bytes: Vec::with_capacity(text.len()), pieces: Vec::new() };
        let mut from = 0;
        for range in left_out {
            view.add(text, from..range.start);
            from = range.end;
        }
        view.add(text, from..text.len());
        view
    }

    fn add(&mut self, text: &[u8], range: Range<usize>) {
        let mut from = range.start;
        let [a, b, c] = FILLERS;
        for at in memchr::memchr3_iter(a, b, c, &text[range.clone()]) {
            self.piece(text, from..range.start + at);
            from = range.start + at + 1;
        }
        self.piece(text, from..range.end);
    }

    fn piece(&mut self, text: &[u8], range: Range<usize>) {
        if !range.is_empty() {
            self.pieces.push((self.bytes.len(), range.start));
            self.bytes.extend_from_slice(&text[range]);
        }
    }

    /// Where this byte was.
    pub(super) fn place(&self, at: usize) -> usize {
        let nth = self.pieces.partition_point(|(here, _)| *here <= at);
        let (here, there) = self.pieces[nth - 1];
        there + (at - here)
    }

    /// What these bytes took up, with whatever was left out between them.
    pub(super) fn span(&self, range: Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end - 1) + 1
    }

    /// The first byte that was at this place or after it.
    pub(super) fn first_from(&self, place: usize) -> usize {
        let nth = self.pieces.partition_point(|(_, there)| *there <= place);
        let end = self.pieces.get(nth).map_or(self.bytes.len(), |(here, _)| *here);
        match nth.checked_sub(1).map(|nth| self.pieces[nth]) {
            Some((here, there)) => end.min(here + (place - there)),
            None => end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::View;

    #[test]
    fn every_byte_knows_where_it_was() {
        let text = b"\nab\r\ncd--ef\n";
        let view = View::new(text, &[Range { start: 7, end: 9 }]);
        assert_eq!(view.bytes, b"abcdef");
        let places: Vec<_> = (0..6).map(|at| view.place(at)).collect();
        assert_eq!(places, [1, 2, 5, 6, 9, 10]);
        assert_eq!(view.span(1..5), 2..10);
        let firsts: Vec<_> = [0, 1, 2, 3, 5, 7, 9, 11, 12].map(|at| view.first_from(at)).into();
        assert_eq!(firsts, [0, 0, 1, 2, 2, 4, 4, 6, 6]);
    }

    use std::ops::Range;
}
