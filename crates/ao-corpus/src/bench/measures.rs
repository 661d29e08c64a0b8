//! How good a ranking is, by the usual definitions.

use std::collections::BTreeMap;

/// What one question scored, or the mean of several.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measures {
    /// Gain is the label, the discount the logarithm to base 2 of the place plus one; over the same
    /// of the best ten labels.
    pub ndcg_at_10: f64,
    pub recall_at_5: f64,
    pub recall_at_10: f64,
    pub mrr_at_10: f64,
    pub map: f64,
}

impl Measures {
    /// `ranking` is best first; `right` says how right each right one is, all of them above 0.
    pub fn of(ranking: &[String], right: &BTreeMap<String, f64>) -> Self {
        if right.is_empty() {
            return Self::default();
        }
        let gains: Vec<f64> =
            ranking.iter().map(|key| right.get(key).copied().unwrap_or(0.0)).collect();
        let mut best: Vec<f64> = right.values().copied().collect();
        best.sort_by(|a, b| b.total_cmp(a));
        let count = number(right.len());
        let hits =
            |depth: usize| number(gains.iter().take(depth).filter(|gain| **gain > 0.0).count());
        let first = gains.iter().take(10).position(|gain| *gain > 0.0);
        let (mut found, mut precision) = (0, 0.0);
        for (at, _) in gains.iter().enumerate().filter(|(_, gain)| **gain > 0.0) {
            found += 1;
            precision += number(found) / number(at + 1);
        }
        Self {
            ndcg_at_10: discounted(&gains) / discounted(&best),
            recall_at_5: hits(5) / count,
            recall_at_10: hits(10) / count,
            mrr_at_10: first.map_or(0.0, |at| 1.0 / number(at + 1)),
            map: precision / count,
        }
    }

    /// In the order that they have; the order of a sum is part of its result.
    pub fn mean<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let (mut sum, mut count) = (Self::default(), 0);
        for one in all {
            sum = sum.zip(one, |a, b| a + b);
            count += 1;
        }
        if count == 0 { sum } else { sum.zip(&sum, |a, _| (a / number(count)).min(1.0)) }
    }

    fn zip(&self, other: &Self, with: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            ndcg_at_10: with(self.ndcg_at_10, other.ndcg_at_10),
            recall_at_5: with(self.recall_at_5, other.recall_at_5),
            recall_at_10: with(self.recall_at_10, other.recall_at_10),
            mrr_at_10: with(self.mrr_at_10, other.mrr_at_10),
            map: with(self.map, other.map),
        }
    }
}

fn discounted(gains: &[f64]) -> f64 {
    gains.iter().take(10).enumerate().map(|(at, gain)| gain / libm::log2(number(at + 2))).sum()
}

#[expect(clippy::cast_precision_loss, reason = "places and counts are small")]
fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn measures_are_what_they_are_by_hand() {
        let right = BTreeMap::from([("a".into(), 3.0), ("b".into(), 1.0), ("z".into(), 2.0)]);
        let found = Measures::of(&keys("x a y w v b"), &right);
        // 3/log2(3) + 1/log2(7) over 3 + 2/log2(3) + 1/log2(4)
        let expected = (3.0 / 1.584_962_500_721_156 + 1.0 / 2.807_354_922_057_604)
            / (3.0 + 2.0 / 1.584_962_500_721_156 + 0.5);
        assert!((found.ndcg_at_10 - expected).abs() < 1e-12);
        assert!((found.recall_at_5 - 1.0 / 3.0).abs() < 1e-12);
        assert!((found.recall_at_10 - 2.0 / 3.0).abs() < 1e-12);
        assert!((found.mrr_at_10 - 0.5).abs() < 1e-12);
        assert!((found.map - (0.5 + 2.0 / 6.0) / 3.0).abs() < 1e-12);
        let perfect = Measures::of(&keys("a z b"), &right);
        assert!(
            (perfect.ndcg_at_10 - 1.0).abs() < f64::EPSILON && (perfect.map - 1.0).abs() < 1e-12
        );
        assert_eq!(Measures::of(&keys("a"), &BTreeMap::new()), Measures::default());
        let mean = Measures::mean([&perfect, &Measures::default()]);
        assert!((mean.ndcg_at_10 - 0.5).abs() < 1e-12);
    }
}
