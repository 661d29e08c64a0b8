//! The words of all batches as one vocabulary.

use super::bytes::Cursor;
use super::draft::Batch;
use super::source::Broken;
use crate::words;

/// Forms and stems. Their numbers in the index are their places in the alphabet; while counting
/// they are looked at in the order in which they were met, which keeps the frequent ones together.
pub(super) struct Vocabulary<'a> {
    pub(super) forms: Vec<&'a str>,
    pub(super) stems: Vec<String>,
    pub(super) stem_of_form: Vec<u32>,
    /// For each batch, the turn of each of its words.
    pub(super) turn_of: Vec<Vec<u32>>,
    pub(super) turn_of_form: Vec<u32>,
    pub(super) turn_of_stem: Vec<u32>,
}

/// Not a word that any entry has.
pub(super) const UNUSED: u32 = u32::MAX;

impl<'a> Vocabulary<'a> {
    pub(super) fn of(batches: &'a [Batch], texts: &[Vec<u8>]) -> Result<Self, Broken> {
        let mut met = Vec::new();
        let mut turn_of = Vec::new();
        for (index, batch) in batches.iter().enumerate() {
            let is_used = used(batch, &texts[index])?;
            for (id, word) in batch.vocabulary.iter().enumerate().filter(|(id, _)| is_used[*id]) {
                met.push((prefix(word), word.as_ref(), index, id));
            }
            turn_of.push(vec![UNUSED; batch.vocabulary.len()]);
        }
        met.sort_unstable();
        let mut forms: Vec<&str> = Vec::new();
        for (_, word, batch, id) in met {
            if forms.last() != Some(&word) {
                forms.push(word);
            }
            turn_of[batch][id] = small(forms.len() - 1);
        }
        let turn_of_form = in_turn(turn_of.iter_mut().flatten(), forms.len());
        let (stems, stem_of_form) = stems_of(&forms);
        let mut by_turn = vec![0; forms.len()];
        for (form, turn) in turn_of_form.iter().enumerate() {
            by_turn[*turn as usize] = stem_of_form[form];
        }
        let turn_of_stem = in_turn(by_turn.iter_mut(), stems.len());
        Ok(Self { forms, stems, stem_of_form, turn_of, turn_of_form, turn_of_stem })
    }
}

/// The beginning of a word as a number that orders as it does: most comparisons need no more.
fn prefix(word: &str) -> u64 {
    let mut bytes = [0; 8];
    let length = word.len().min(8);
    bytes[..length].copy_from_slice(&word.as_bytes()[..length]);
    u64::from_be_bytes(bytes)
}

/// All stems in order, and the place of each form's stem among them.
fn stems_of(forms: &[&str]) -> (Vec<String>, Vec<u32>) {
    let stem = |(form, word): (usize, &&str)| {
        let stem = words::stem(word);
        (prefix(&stem), stem, form)
    };
    let mut met: Vec<(u64, String, usize)> = forms.iter().enumerate().map(stem).collect();
    met.sort_unstable();
    let (mut stems, mut stem_of_form) = (Vec::<String>::new(), vec![0; forms.len()]);
    for (_, stem, form) in met {
        if stems.last() != Some(&stem) {
            stems.push(stem);
        }
        stem_of_form[form] = small(stems.len() - 1);
    }
    (stems, stem_of_form)
}

/// Replaces places in the alphabet by turns, in the order in which they come; returns the turn of
/// each place.
fn in_turn<'b>(places: impl Iterator<Item = &'b mut u32>, count: usize) -> Vec<u32> {
    let mut turns = vec![UNUSED; count];
    let mut next = 0;
    for place in places.filter(|place| **place != UNUSED) {
        let turn = &mut turns[*place as usize];
        if *turn == UNUSED {
            *turn = next;
            next += 1;
        }
        *place = *turn;
    }
    turns
}

/// Which words of a batch its entries have: those that left may have been the only ones.
fn used(batch: &Batch, text: &[u8]) -> Result<Vec<bool>, Broken> {
    if batch.is_whole {
        return Ok(vec![true; batch.vocabulary.len()]);
    }
    let mut is_used = vec![false; batch.vocabulary.len()];
    for draft in &batch.drafts {
        let mut cursor = Cursor::new(text.get(draft.span.clone()).ok_or(Broken)?);
        while !cursor.is_at_end() {
            *is_used.get_mut(cursor.varint()? as usize).ok_or(Broken)? = true;
        }
    }
    Ok(is_used)
}

/// Nothing here comes near 2^32: neither words nor entries.
pub(super) fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
