//! How alike two texts are, and whether that is enough.

use super::features::{Features, overlap};
use super::{MERGE_PAIRS_MIN, MERGE_STEMS_MIN, NEAR_STEMS_MIN};
use crate::check::{Bound, Side};

/// How alike two texts are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Likeness {
    pub stems: f64,
    pub pairs: f64,
    /// Different stems of the shorter one.
    pub words: usize,
}

impl Likeness {
    pub(crate) fn of(one: &Features, other: &Features) -> Self {
        Self {
            stems: overlap(&one.stems, &other.stems),
            pairs: overlap(&one.pairs, &other.pairs),
            words: one.stems.len().min(other.stems.len()),
        }
    }

    /// Whether they are near enough to be copies, if they claim the same.
    pub fn is_copy(&self) -> bool {
        let is_near = !ao_mutant::active("LOOP-25/near-copies-stay");
        is_near && self.bounds().iter().all(Bound::holds) || self.is_same()
    }

    /// The same stems are enough, however short the text.
    pub fn is_same(&self) -> bool {
        self.stems >= 1.0
    }

    #[expect(clippy::cast_precision_loss, reason = "texts are short")]
    pub fn bounds(&self) -> [Bound; 3] {
        let least = |name, value, bound| Bound { name, value, side: Side::AtLeast, bound };
        [
            least("stems", self.stems, MERGE_STEMS_MIN),
            least("pairs", self.pairs, MERGE_PAIRS_MIN),
            least("words", self.words as f64, NEAR_STEMS_MIN as f64),
        ]
    }
}
