//! The ranking, as numbers.
//!
//! What a word is worth falls with the number of entries that have it, and rises where it is a
//! word that titles are made of. What an entry scores for it rises with how often it has the word,
//! less and less, and falls with the entry's length. Logarithm and power come from `libm` and every
//! sum has one order, so the same corpus gives the same bits on every machine.

/// How soon more of the same word stops to count.
const SATURATION: f64 = 1.2;
/// How much a long entry has to pay for its length.
const LENGTH: f64 = 0.5;
/// A word of the title, or a tag, counts as this many of the body.
const TITLE: f64 = 3.0;
/// How strongly a word is raised or lowered for being one that titles use.
const TITLENESS: f64 = 0.25;
/// As many imagined entries with the average share of titles stand beside each word's own, so that
/// a rare word's few titles do not say too much.
const TITLENESS_PRIOR: f64 = 20.0;
const TITLENESS_MAX: f64 = 4.0;
/// The exact form of a word, beside its stem.
pub(super) const EXACT: f64 = 0.2;
/// Two neighbours of the question that are neighbours in the entry too; and that are near.
pub(super) const PAIR: f64 = 0.2;
/// Near means: fewer words apart than this.
pub(super) const WINDOW: u32 = 8;
/// This many of the best by their words alone are looked at for exact forms and pairs.
pub const RERANKED: usize = 100;

/// What a corpus says about itself as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Totals {
    /// Entries that can be found.
    pub(super) entries: u64,
    /// Words in them, stop words left out.
    pub(super) words: u64,
    /// Over all stems, how many entries have the stem.
    pub(super) sum_df: u64,
    /// Over all stems, how many entries have the stem in the title.
    pub(super) sum_title_df: u64,
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn number(count: u64) -> f64 {
    count as f64
}

impl Totals {
    /// The worth of a word that `df` entries have.
    pub(super) fn rarity(&self, df: u64) -> f64 {
        let (n, df) = (number(self.entries), number(df));
        libm::log(1.0 + (n - df + 0.5) / (df + 0.5))
    }

    /// The worth of a stem.
    pub(super) fn worth(&self, df: u64, title_df: u64) -> f64 {
        self.rarity(df) * self.titleness(df, title_df)
    }

    fn titleness(&self, df: u64, title_df: u64) -> f64 {
        if self.sum_title_df == 0 || self.sum_df == 0 {
            return 1.0;
        }
        let share = number(self.sum_title_df) / number(self.sum_df);
        let own = (number(title_df) + TITLENESS_PRIOR * share) / (number(df) + TITLENESS_PRIOR);
        libm::pow((own / share).clamp(1.0 / TITLENESS_MAX, TITLENESS_MAX), TITLENESS)
    }

    /// What an entry of this length sets against a count before it counts.
    pub(super) fn resistance(&self, words: u32) -> f64 {
        let average = if self.words == 0 || self.entries == 0 {
            1.0
        } else {
            number(self.words) / number(self.entries)
        };
        SATURATION * (1.0 - LENGTH + LENGTH * f64::from(words) / average)
    }
}

/// What [`saturated`] stays under.
pub(super) const SATURATED_MAX: f64 = SATURATION + 1.0;

/// From nothing at 0 towards [`SATURATED_MAX`], for counts in the title and in the body.
pub(super) fn saturated(resistance: f64, title: u32, body: u32) -> f64 {
    let count = TITLE * f64::from(title) + f64::from(body);
    count * SATURATED_MAX / (resistance + count)
}

/// A word that the question has several times.
pub(super) fn emphasis(count: u32) -> f64 {
    1.0 + libm::log(f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTALS: Totals = Totals { entries: 4, words: 40, sum_df: 20, sum_title_df: 5 };

    fn assert_near(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-12, "{left} {right}");
    }

    #[test]
    fn the_parts_are_what_they_are_by_hand() {
        // ln(1 + 3.5 / 1.5)
        assert_near(TOTALS.rarity(1), 1.203_972_804_325_936);
        // The average share of titles is 1/4. A word in one title of one entry has
        // (1 + 5) / 21 = 0.2857.., which is 1.142857.. of it; its fourth root is 1.033946...
        assert_near(TOTALS.worth(1, 1) / TOTALS.rarity(1), 1.033_946_307_914);
        // (0 + 5) / 21 is 0.952380.. of it.
        assert_near(TOTALS.worth(1, 0) / TOTALS.rarity(1), 0.987_876_547_423);
        // An entry of average length: 1.2; of double length: 1.2 × 1.5.
        assert_near(TOTALS.resistance(10), 1.2);
        assert_near(TOTALS.resistance(20), 1.8);
        // Once in the body of an average entry is 1; once in the title 3 × 2.2 / 4.2.
        assert_near(saturated(1.2, 0, 1), 1.0);
        assert_near(saturated(1.2, 1, 0), 1.571_428_571_428_571_4);
        assert_near(emphasis(1), 1.0);
    }

    #[test]
    fn a_corpus_that_says_nothing_gives_numbers_too() {
        let none = Totals { entries: 0, words: 0, sum_df: 0, sum_title_df: 0 };
        assert!(none.worth(0, 0).is_finite() && none.resistance(0).is_finite());
        assert_near(saturated(none.resistance(0), 0, 0), 0.0);
    }

    #[test]
    fn how_far_titles_raise_a_word_is_bounded() {
        let totals = Totals { entries: 9000, words: 90, sum_df: 100_000, sum_title_df: 10 };
        assert_near(totals.titleness(5000, 5000), libm::pow(4.0, 0.25));
        let totals = Totals { entries: 9000, words: 90, sum_df: 100, sum_title_df: 99 };
        assert_near(totals.titleness(5000, 0), libm::pow(0.25, 0.25));
    }
}
