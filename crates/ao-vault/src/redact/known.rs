//! The values that are known, and finding them.
//!
//! Of each form of a value its beginning is looked for, all of them at once; what follows a beginning
//! is compared. So the machine stays small whatever the values are, no more than a beginning has to be
//! held back at the end of a chunk, and a long value that was cut off is found all the same.
//!
//! Forms of a long value are made when its beginning is seen: they are many times as long as the value,
//! and most commands never meet it.
//!
//! The machine takes some milliseconds to make. Most commands say a few lines and are done: the first
//! short texts are looked through for one beginning after the other.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use memchr::memmem;
use zeroize::Zeroizing;

use super::forms::forms;
use crate::secret::{VALUE_BYTES_MIN, told_apart};

/// How much of a form is looked for.
const BEGINNING_BYTES: usize = 64;
/// Up to this many bytes of beginnings the faster and larger machine is made.
const FAST_BYTES_MAX: usize = 64 * 1024;

/// Of a value that is longer only as much is put into its forms at first; more than any escape sequence.
const START_BYTES: usize = 8 * 1024;

/// Longer texts are given to the machine, and so is every text after this many.
const SHORT_BYTES_MAX: usize = 16 * 1024;
const SHORT_TEXTS_MAX: usize = 32;

pub(super) struct Known {
    /// Absent within if the beginnings are too many for one.
    machine: OnceLock<Option<AhoCorasick>>,
    /// How many texts were looked through without the machine.
    short_texts: AtomicUsize,
    /// Each beginning, in order, with the values of which it begins a form.
    beginnings: Vec<(Vec<u8>, Vec<usize>)>,
    values: Vec<Value>,
}

struct Value {
    bytes: Zeroizing<Vec<u8>>,
    forms: OnceLock<Vec<Vec<u8>>>,
}

/// A form whose beginning was seen, and all that came after it was as expected so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Following {
    value: usize,
    form: usize,
    seen: usize,
}

/// Where a value was seen.
#[derive(Debug)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) value: usize,
    /// Whether it is all there; a form's beginning is enough to be taken out.
    pub(super) is_whole: bool,
    /// What would belong to it too, in what comes after the end.
    pub(super) following: Vec<Following>,
}

/// Why values cannot be known: the number of the one that is too short.
#[derive(Debug, thiserror::Error)]
#[error("value {} has fewer than {VALUE_BYTES_MIN} bytes, and would be found everywhere", .0 + 1)]
pub struct BadValues(usize);

impl Known {
    pub(super) fn new<V: AsRef<[u8]>>(
        values: impl IntoIterator<Item = V>,
    ) -> Result<Self, BadValues> {
        let mut all = Vec::new();
        let mut beginnings: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        for (nth, bytes) in values.into_iter().enumerate() {
            let bytes = bytes.as_ref();
            if told_apart(bytes) < VALUE_BYTES_MIN {
                return Err(BadValues(nth));
            }
            let value = Value { bytes: Zeroizing::new(bytes.to_vec()), forms: OnceLock::new() };
            let of_start = value.forms_of_start();
            for form in of_start.as_ref().unwrap_or_else(|| value.forms()) {
                let of_values = beginnings.entry(beginning(form).to_vec()).or_default();
                // Several forms of one value can begin alike.
                if of_values.last() != Some(&nth) {
                    of_values.push(nth);
                }
            }
            all.push(value);
        }
        let beginnings = beginnings.into_iter().collect();
        let (machine, short_texts) = (OnceLock::new(), AtomicUsize::new(0));
        Ok(Self { machine, short_texts, beginnings, values: all })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Every place where a value begins.
    pub(super) fn hits(&self, text: &[u8]) -> Vec<Hit> {
        if self.is_empty() {
            return Vec::new();
        }
        let begun = match self.machine_for(text) {
            Some(machine) => by_machine(machine, text),
            None => self.one_by_one(text),
        };
        let hit = |(start, nth): (usize, usize)| {
            let (beginning, values) = &self.beginnings[nth];
            self.hit(text, start..start + beginning.len(), values)
        };
        begun.into_iter().map(hit).collect()
    }

    fn machine_for(&self, text: &[u8]) -> Option<&AhoCorasick> {
        if self.machine.get().is_none()
            && text.len() <= SHORT_BYTES_MAX
            && self.short_texts.fetch_add(1, Ordering::Relaxed) < SHORT_TEXTS_MAX
        {
            return None;
        }
        self.machine.get_or_init(|| self.made()).as_ref()
    }

    fn made(&self) -> Option<AhoCorasick> {
        let bytes: usize = self.beginnings.iter().map(|(bytes, _)| bytes.len()).sum();
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind((bytes <= FAST_BYTES_MAX).then_some(AhoCorasickKind::DFA))
            .build(self.beginnings.iter().map(|(bytes, _)| bytes))
            .ok()
    }

    /// Where a beginning stands, and which: the longest of each place.
    fn one_by_one(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let mut begun: BTreeMap<usize, usize> = BTreeMap::new();
        // A longer one comes after those that it begins with.
        for (nth, (beginning, _)) in self.beginnings.iter().enumerate() {
            let mut from = 0;
            while let Some(at) = memmem::find(&text[from..], beginning) {
                begun.insert(from + at, nth);
                from += at + 1;
            }
        }
        begun.into_iter().collect()
    }

    fn hit(&self, text: &[u8], begun: Range<usize>, values: &[usize]) -> Hit {
        let (range, following) = (begun.clone(), Vec::new());
        let mut hit = Hit { value: values[0], range, is_whole: false, following };
        for &value in values {
            let forms = self.values[value].forms().iter().enumerate();
            for (form, bytes) in forms.filter(|(_, form)| beginning(form) == &text[begun.clone()]) {
                let follow = Following { value, form, seen: begun.len() };
                let (seen, open) = self.follow(follow, &text[begun.end..]);
                let is_whole = begun.len() + seen == bytes.len();
                let end = begun.end + seen;
                if end > hit.range.end || is_whole && !hit.is_whole {
                    hit.value = value;
                }
                hit.range.end = hit.range.end.max(end);
                hit.is_whole |= is_whole;
                hit.following.extend(open);
            }
        }
        hit
    }

    /// How many bytes are as expected, and what is expected after them if that is not known yet.
    pub(super) fn follow(&self, follow: Following, text: &[u8]) -> (usize, Option<Following>) {
        let expected = &self.values[follow.value].forms()[follow.form][follow.seen..];
        let same = expected.iter().zip(text).take_while(|(one, other)| one == other).count();
        let is_open = same == text.len() && same < expected.len();
        let next = Following { seen: follow.seen + same, ..follow };
        (same, is_open.then_some(next))
    }

    /// How many of the last bytes may be the start of a beginning that goes on after them.
    pub(super) fn undecided(&self, text: &[u8]) -> usize {
        let most = text.len().min(BEGINNING_BYTES - 1);
        (1..=most).rev().find(|count| self.begins(&text[text.len() - count..])).unwrap_or(0)
    }

    fn begins(&self, part: &[u8]) -> bool {
        let nth = self.beginnings.partition_point(|(bytes, _)| bytes.as_slice() <= part);
        self.beginnings.get(nth).is_some_and(|(bytes, _)| bytes.starts_with(part))
    }
}

impl Value {
    fn forms(&self) -> &Vec<Vec<u8>> {
        self.forms.get_or_init(|| forms(&self.bytes))
    }

    /// The forms of the start of a long value: they begin as those of all of it do. None of a short value,
    /// and none of one that has hardly anything at its start that counts.
    fn forms_of_start(&self) -> Option<Vec<Vec<u8>>> {
        let start = self.bytes.get(..START_BYTES)?;
        // A letter that was cut would make it another kind of text.
        let start = match std::str::from_utf8(start) {
            Err(error) if error.error_len().is_none() => &start[..error.valid_up_to()],
            _ => start,
        };
        let forms = forms(start);
        forms.iter().all(|form| form.len() >= BEGINNING_BYTES).then_some(forms)
    }
}

fn beginning(form: &[u8]) -> &[u8] {
    &form[..form.len().min(BEGINNING_BYTES)]
}

fn by_machine(machine: &AhoCorasick, text: &[u8]) -> Vec<(usize, usize)> {
    let mut begun = Vec::new();
    let mut from = 0;
    while let Some(found) = machine.find(Input::new(text).range(from..)) {
        begun.push((found.start(), found.pattern().as_usize()));
        // Another one may begin within this one, and end after it.
        from = found.start() + 1;
    }
    begun
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_and_without_the_machine_the_same_is_found() {
        let values = ["aabaabaab", "abaabaaba-and-more", "aabaabaaba", "x-y-z-x-y-z"];
        let known = Known::new(values).unwrap();
        let machine = known.made().unwrap();
        let text = "aabaabaabaabaaba-and-more x-y-z-x-y-z-x-y-z 616162616162616162".repeat(3);
        let found = known.one_by_one(text.as_bytes());
        assert!(found.len() > 12, "{found:?}");
        assert_eq!(found, by_machine(&machine, text.as_bytes()));
    }

    #[test]
    fn the_start_of_a_long_value_has_every_beginning() {
        let texts = [
            "ab \"c\"/<é>=+'\n".repeat(2000),
            format!("{}{}", "plain".repeat(3000), "\"quoted\" é\\".repeat(3000)),
            format!("\u{1b}]0;{}\u{7}{}", "t".repeat(3000), "after".repeat(3000)),
            "é".repeat(9000),
        ];
        for text in texts.iter().map(String::as_bytes).chain([vec![0xff; 20_000].as_slice()]) {
            for cut in 0..4 {
                let text = &text[cut..];
                let value = Value { bytes: Zeroizing::new(text.to_vec()), forms: OnceLock::new() };
                let start = value.forms_of_start().unwrap();
                for form in value.forms() {
                    let is_there = start.iter().any(|other| beginning(other) == beginning(form));
                    assert!(is_there, "{}", beginning(form).escape_ascii());
                }
            }
        }
    }
}
