//! The values that are known, and finding them.
//!
//! Of each form of a value its beginning is looked for, all of them at once; what follows a beginning
//! is compared. So the machine stays small whatever the values are, no more than a beginning has to be
//! held back at the end of a chunk, and a long value that was cut off is found all the same.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::forms::forms;
use crate::secret::{VALUE_BYTES_MIN, told_apart};

/// How much of a form is looked for.
const BEGINNING_BYTES: usize = 64;
/// Up to this many bytes of beginnings the faster and larger machine is made.
const FAST_BYTES_MAX: usize = 64 * 1024;

pub(super) struct Known {
    machine: Option<AhoCorasick>,
    /// Each beginning, in order, with the forms that have it.
    beginnings: Vec<(Vec<u8>, Vec<usize>)>,
    forms: Vec<Form>,
}

struct Form {
    bytes: Vec<u8>,
    /// Which value it is of.
    value: usize,
}

/// A form whose beginning was seen, and all that came after it was as expected so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Following {
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

/// Why values cannot be known.
#[derive(Debug, thiserror::Error)]
pub enum BadValues {
    #[error("value {} has fewer than {VALUE_BYTES_MIN} bytes, and would be found everywhere", .0 + 1)]
    Short(usize),
    #[error("the values are too many or too large: {0}")]
    TooMuch(String),
}

impl Known {
    pub(super) fn new<V: AsRef<[u8]>>(
        values: impl IntoIterator<Item = V>,
    ) -> Result<Self, BadValues> {
        let mut all = Vec::new();
        for (value, bytes) in values.into_iter().enumerate() {
            let bytes = bytes.as_ref();
            if told_apart(bytes) < VALUE_BYTES_MIN {
                return Err(BadValues::Short(value));
            }
            all.extend(forms(bytes).into_iter().map(|bytes| Form { bytes, value }));
        }
        let mut beginnings: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        for (nth, form) in all.iter().enumerate() {
            let beginning = &form.bytes[..form.bytes.len().min(BEGINNING_BYTES)];
            beginnings.entry(beginning.to_vec()).or_default().push(nth);
        }
        let beginnings: Vec<_> = beginnings.into_iter().collect();
        let bytes: usize = beginnings.iter().map(|(bytes, _)| bytes.len()).sum();
        let kind = (bytes <= FAST_BYTES_MAX).then_some(AhoCorasickKind::DFA);
        let machine = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(kind)
            .build(beginnings.iter().map(|(bytes, _)| bytes))
            .map_err(|error| BadValues::TooMuch(error.to_string()))?;
        Ok(Self { machine: (!all.is_empty()).then_some(machine), beginnings, forms: all })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.machine.is_none()
    }

    /// Every place where a value begins.
    pub(super) fn hits(&self, text: &[u8]) -> impl Iterator<Item = Hit> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.machine.as_ref()?.find(Input::new(text).range(from..))?;
            // Another one may begin within this one, and end after it.
            from = found.start() + 1;
            let (_, forms) = &self.beginnings[found.pattern().as_usize()];
            Some(self.hit(text, found.range(), forms))
        })
    }

    fn hit(&self, text: &[u8], beginning: Range<usize>, forms: &[usize]) -> Hit {
        let mut hit = Hit {
            value: self.forms[forms[0]].value,
            range: beginning.clone(),
            is_whole: false,
            following: Vec::new(),
        };
        for &form in forms {
            let follow = Following { form, seen: beginning.len() };
            let (seen, open) = self.follow(follow, &text[beginning.end..]);
            let is_whole = beginning.len() + seen == self.forms[form].bytes.len();
            let end = beginning.end + seen;
            if end > hit.range.end || is_whole && !hit.is_whole {
                hit.value = self.forms[form].value;
            }
            hit.range.end = hit.range.end.max(end);
            hit.is_whole |= is_whole;
            hit.following.extend(open);
        }
        hit
    }

    /// How many bytes are as expected, and what is expected after them if that is not known yet.
    pub(super) fn follow(&self, follow: Following, text: &[u8]) -> (usize, Option<Following>) {
        let expected = &self.forms[follow.form].bytes[follow.seen..];
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
