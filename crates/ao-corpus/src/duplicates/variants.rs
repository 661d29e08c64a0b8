//! What earlier merges took in, held against a text that is to follow.
//!
//! Of a sentence that two copies said otherwise, the survivor keeps the other's words under *Variants*: "… waits 30
//! seconds for …". That is no claim of the survivor, and a third text may still contradict it, some nights after the
//! text that said so is gone. So what is left of it has its say here.

use similar::{Algorithm, capture_diff_slices};

use super::claims::{Apart, Claims, LIKE_MIN, Word, flips, is_equal, likeness, measures, words_of};
use crate::pieces::{Shape, item_mark};

/// Between the parts of a sentence that are shown.
const GAP: char = '…';
/// A shorter part may say nothing of what it is about.
const WORDS_MIN: usize = 4;

/// The parts of one variant that are shown.
pub(super) fn parts(item: &str) -> impl Iterator<Item = Vec<Word>> {
    let parts = item[item_mark(item)..].split(GAP);
    parts.map(|part| words_of(part, Shape::Sentence)).filter(|words| !words.is_empty())
}

/// Where one text contradicts what the other one took in. The pieces are those of each that the other has not.
pub(super) fn apart(
    one: &Claims,
    other: &Claims,
    (ours, theirs): (&[&[Word]], &[&[Word]]),
) -> Option<Apart> {
    let taken: Vec<&[Word]> = other.variants.iter().map(Vec::as_slice).collect();
    if one.variants.is_empty() && taken.is_empty() {
        return None;
    }
    against(&one.variants, &other.all(), theirs)
        .or_else(|| against(&other.variants, &one.all(), ours).map(Apart::turned))
        .or_else(|| against(&one.variants, &taken, &taken))
}

/// `own` are those of the pieces that nobody compared yet.
fn against(parts: &[Vec<Word>], pieces: &[&[Word]], own: &[&[Word]]) -> Option<Apart> {
    parts.iter().find_map(|part| match nearest(part, pieces) {
        Some(near) => is_among(near, own).then(|| within(part, near)).flatten(),
        // Another number may be about the same.
        None if part.len() < WORDS_MIN => own.iter().find_map(|piece| other_measures(part, piece)),
        None => None,
    })
}

/// The piece that speaks of the same, if one does.
pub(super) fn nearest<'p>(part: &[Word], pieces: &[&'p [Word]]) -> Option<&'p [Word]> {
    let near = pieces.iter().map(|piece| (likeness(part, piece), *piece));
    let best = near.fold(None, |best: Option<(f64, &[Word])>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    });
    best.filter(|(like, _)| *like >= LIKE_MIN).map(|(_, piece)| piece)
}

pub(super) fn is_among(piece: &[Word], own: &[&[Word]]) -> bool {
    own.iter().any(|other| std::ptr::eq(other.as_ptr(), piece.as_ptr()))
}

fn other_measures(part: &[Word], piece: &[Word]) -> Option<Apart> {
    let (ours, theirs) = (measures(part), measures(piece));
    let is_other = !ours.is_empty() && !theirs.is_empty() && ours != theirs;
    is_other.then(|| Apart::of(part, piece))
}

/// Where a part of a sentence and a whole one part, but for what is before and behind the part.
fn within(part: &[Word], piece: &[Word]) -> Option<Apart> {
    let keys = |side: &[Word]| side.iter().map(|word| word.key).collect::<Vec<_>>();
    let ops = capture_diff_slices(Algorithm::Myers, &keys(part), &keys(piece));
    for run in ops.chunk_by(|one, other| is_equal(one) == is_equal(other)) {
        let (first, last) = (&run[0], &run[run.len() - 1]);
        let old = first.old_range().start..last.old_range().end;
        let mut new = first.new_range().start..last.new_range().end;
        if is_equal(first) || old.is_empty() && (old.start == 0 || old.end == part.len()) {
            continue;
        }
        if old.start == 0 {
            new.start = new.start.max(new.end.saturating_sub(old.len()));
        } else if old.end == part.len() {
            new.end = new.end.min(new.start + old.len());
        }
        let (old, new) = (&part[old], &piece[new]);
        if flips(old, new) {
            return Some(Apart::of(old, new));
        }
    }
    None
}
