//! Taking values out of a stream, whatever pieces it comes in.
//!
//! Three views of the stream are searched: one without line breaks, one without escape sequences
//! too, and one without those that are spelt out. The first alone would miss a value with a colour in
//! its middle, the others alone one whose first letter ends a sequence. What may still become a value is held back until more comes; what
//! comes out does not depend on the pieces.

use std::borrow::Cow;
use std::ops::Range;

use super::MARK;
use super::escapes::{ESCAPE, Escapes};
use super::known::{Following, Known};
use super::view::View;

/// What is held back at most, however many line breaks and sequences stand between the letters.
const HELD_BYTES_MAX: usize = 64 * 1024;

const VIEWS: usize = 3;

/// What becomes of escape sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ansi {
    /// They are left out, as for a file.
    Strip,
    /// They stay, but for those within a value, as for our own colours on a terminal.
    Keep,
}

/// A stream in its middle.
pub(super) struct State {
    ansi: Ansi,
    held: Vec<u8>,
    /// How much of what is held belongs to a value that began before.
    covered: usize,
    /// The mark for it has gone out.
    is_marked: bool,
    /// Values that may go on, in each view.
    open: [Vec<Open>; VIEWS],
}

/// A value that may go on after what was seen, and where it ends so far.
#[derive(Clone, Copy)]
struct Open {
    following: Following,
    end: usize,
}

impl State {
    pub(super) fn new(ansi: Ansi) -> Self {
        Self { ansi, held: Vec::new(), covered: 0, is_marked: false, open: Default::default() }
    }

    pub(super) fn push(&mut self, known: &Known, chunk: &[u8], is_last: bool, out: &mut Vec<u8>) {
        if known.is_empty() && self.ansi == Ansi::Keep {
            out.extend_from_slice(chunk);
            return;
        }
        let old = self.held.len();
        let held = std::mem::take(&mut self.held);
        let text = if held.is_empty() {
            Cow::Borrowed(chunk)
        } else {
            Cow::Owned([held.as_slice(), chunk].concat())
        };
        let escapes = Escapes::find(&text, is_last);
        let (covers, mut opened, place) = self.look(known, &text, old, &escapes, is_last);
        for open in opened.iter_mut().flatten() {
            open.end -= place;
        }
        self.open = opened;
        self.emit(&text, &escapes, &covers, place, out);
        self.settle(&covers, place);
        self.held = text[place..].to_vec();
    }

    /// What is covered, which values may go on, and from where on the rest is held back.
    fn look(
        &mut self,
        known: &Known,
        text: &[u8],
        old: usize,
        escapes: &Escapes,
        is_last: bool,
    ) -> (Vec<Range<usize>>, [Vec<Open>; VIEWS], usize) {
        let mut covers = Vec::new();
        if self.covered > 0 {
            covers.push(0..self.covered);
        }
        if known.is_empty() {
            let place = if is_last { text.len() } else { escapes.open.unwrap_or(text.len()) };
            return (covers, Default::default(), place);
        }
        let views = views(text, escapes);
        let mut place = if is_last { text.len() } else { escapes.open.unwrap_or(text.len()) };
        let mut opened: [Vec<(usize, Open)>; VIEWS] = Default::default();
        let mut last = None;
        for (nth, view) in views.iter().enumerate() {
            let Some(seen) = view.as_ref().or(last) else { continue };
            last = Some(seen);
            for open in std::mem::take(&mut self.open[nth]) {
                let from = seen.first_from(old);
                let (same, next) = known.follow(open.following, &seen.bytes[from..]);
                let end = if same > 0 { seen.place(from + same - 1) + 1 } else { open.end };
                covers.push(open.end..end);
                // It began before all of this.
                opened[nth].extend(next.map(|following| (0, Open { following, end })));
            }
            let Some(view) = view else {
                // The same as the one before.
                let is_fresh = |(start, _): &&(usize, Open)| *start > 0;
                let fresh: Vec<_> = opened[nth - 1].iter().filter(is_fresh).copied().collect();
                opened[nth].extend(fresh);
                continue;
            };
            for hit in known.hits(&view.bytes) {
                let span = view.span(hit.range);
                let end = span.end;
                opened[nth].extend(
                    hit.following
                        .into_iter()
                        .map(|following| (span.start + 1, Open { following, end })),
                );
                covers.push(span);
            }
            let undecided = if is_last { 0 } else { known.undecided(&view.bytes) };
            if undecided > 0 {
                place = place.min(view.place(view.bytes.len() - undecided));
            }
        }
        if !is_last {
            // Line breaks after a value that may go on belong to it if it does.
            let ends = opened.iter().flatten().map(|(_, open)| open.end);
            place = escapes.before(ends.fold(place, usize::min));
            if text.len() - place > HELD_BYTES_MAX {
                place = text.len() - HELD_BYTES_MAX;
            }
        }
        // One that began in what is held is found again.
        let kept = opened.map(|open| {
            let is_before = |(start, open): &(usize, Open)| *start <= place && open.end >= place;
            open.into_iter().filter(is_before).map(|(_, open)| open).collect()
        });
        (merged(covers), kept, place)
    }

    fn emit(
        &self,
        text: &[u8],
        escapes: &Escapes,
        covers: &[Range<usize>],
        place: usize,
        out: &mut Vec<u8>,
    ) {
        let mut from = 0;
        for cover in covers.iter().take_while(|cover| cover.start < place) {
            self.copy(text, escapes, from..cover.start, out);
            if !(cover.start == 0 && self.is_marked) {
                out.extend_from_slice(MARK.as_bytes());
            }
            from = cover.end.min(place);
        }
        self.copy(text, escapes, from..place, out);
    }

    fn copy(&self, text: &[u8], escapes: &Escapes, range: Range<usize>, out: &mut Vec<u8>) {
        let mut from = range.start;
        if self.ansi == Ansi::Strip {
            let first = escapes.real.partition_point(|escape| escape.end <= range.start);
            for escape in escapes.real[first..].iter().take_while(|it| it.start < range.end) {
                if escape.start > from {
                    out.extend_from_slice(&text[from..escape.start]);
                }
                from = escape.end.min(range.end);
            }
        }
        out.extend_from_slice(&text[from..range.end]);
    }

    fn settle(&mut self, covers: &[Range<usize>], place: usize) {
        let across = covers.iter().find(|cover| cover.start <= place && cover.end >= place);
        let was_marked = self.is_marked;
        (self.covered, self.is_marked) = match across {
            Some(cover) if cover.start == 0 && place == 0 => (cover.end, was_marked),
            Some(cover) => (cover.end - place, cover.start < place),
            None => (0, was_marked && place == 0),
        };
    }
}

/// With the sequences, without those that a terminal acts upon, and without those that are spelt out
/// too; none where it would be the same as the one before.
pub(super) fn views(text: &[u8], escapes: &Escapes) -> [Option<View>; VIEWS] {
    let is_real = |start: &usize| text[*start] == ESCAPE;
    let is_other = escapes.whole.len() > escapes.real.len();
    let without = |ranges: &[Range<usize>], open: Option<usize>| {
        let mut left_out = ranges.to_vec();
        left_out.extend(open.map(|start| start..text.len()));
        (!left_out.is_empty()).then(|| View::new(text, &left_out))
    };
    let plain = without(&escapes.real, escapes.open.filter(is_real));
    let is_needed = is_other || escapes.open.is_some_and(|start| !is_real(&start));
    let bare = if is_needed { without(&escapes.whole, escapes.open) } else { None };
    [Some(View::new(text, &[])), plain, bare]
}

/// In order, with those that touch made one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
