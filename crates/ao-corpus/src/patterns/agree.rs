//! Whether two statements say the same.
//!
//! They must be about the same: most of their stems are shared. And they must not part where it counts:
//! not in a number, a negation, a name, the two sides of a comparison, or a word against another one. Where only one
//! of them has more words, it says more about the same; where each has words of its own, these stand against each
//! other, unless the entries around them use the words of both.

use super::statement::{Details, STEMS_MIN, Statement};
use crate::check::{Bound, Check, Side};
use crate::duplicates::{are_opposites, is_negation};

/// So much of the stems of both is in both.
pub const SHARED_MIN: f64 = 0.5;
/// So much of the shorter statement is in the longer one.
pub const CONTAINED_MIN: f64 = 0.75;

/// Two statements, compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Agreement {
    pub(super) shared: usize,
    pub(super) of_both: f64,
    pub(super) of_shorter: f64,
    /// Where they part, if they do.
    pub(super) apart: Option<String>,
}

#[expect(clippy::cast_precision_loss, reason = "sentences are short")]
impl Agreement {
    /// Compares two statements. `around` gives the stems of the whole entries that they stand in; few are asked for them.
    pub(super) fn of<'a>(
        first: &Statement,
        second: &Statement,
        around: impl FnOnce() -> (&'a [u64], &'a [u64]),
    ) -> Self {
        let is_shared = |stem: &&u64| second.stems.binary_search(stem).is_ok();
        let shared = first.stems.iter().filter(is_shared).count();
        let union = first.stems.len() + second.stems.len() - shared;
        let least = first.stems.len().min(second.stems.len());
        let mut agreement = Self {
            shared,
            of_both: shared as f64 / union.max(1) as f64,
            of_shorter: shared as f64 / least.max(1) as f64,
            apart: None,
        };
        if agreement.is_near() {
            let own = |one: &Statement, other: &Statement| -> Vec<u64> {
                one.stems
                    .iter()
                    .filter(|s| other.stems.binary_search(s).is_err())
                    .copied()
                    .collect()
            };
            let (ours, theirs) = (own(first, second), own(second, first));
            let covers = |around: &[u64], stems: &[u64]| {
                stems.iter().all(|stem| around.binary_search(stem).is_ok())
            };
            let is_against = !ours.is_empty() && !theirs.is_empty();
            let is_covered = || {
                let (around_first, around_second) = around();
                covers(around_second, &ours) && covers(around_first, &theirs)
            };
            agreement.apart = parts(first, second).or_else(|| {
                let why = "each has words of its own that the other's entry does not use";
                (is_against && !is_covered()).then(|| why.to_owned())
            });
        }
        agreement
    }

    fn is_near(&self) -> bool {
        self.bounds().iter().all(Bound::holds)
    }

    pub(super) fn holds(&self) -> bool {
        self.is_near() && self.apart.is_none()
    }

    fn bounds(&self) -> [Bound; 3] {
        let least = |name, value, bound| Bound { name, value, side: Side::AtLeast, bound };
        [
            least("stems in both", self.shared as f64, STEMS_MIN as f64),
            least("share of both", self.of_both, SHARED_MIN),
            least("share of the shorter", self.of_shorter, CONTAINED_MIN),
        ]
    }

    /// What was asked, for whoever wants to know why.
    pub(super) fn checks(&self) -> Vec<Check> {
        let bounds = self.bounds();
        let mut checks: Vec<Check> = bounds.iter().map(Check::from).collect();
        if self.is_near() {
            checks.push(Check::plain("claim", "the same", self.apart.clone(), "the same"));
        }
        checks
    }
}

/// Two statements with what only they are asked for.
type Sides<'a> = ((&'a Statement, &'a Details), (&'a Statement, &'a Details));

/// Where two statements about the same thing claim something else.
fn parts(one: &Statement, other: &Statement) -> Option<String> {
    if one.is_negative != other.is_negative {
        return Some("one tells not to".into());
    }
    if one.numbers != other.numbers {
        return Some("their numbers differ".into());
    }
    if one.retractions != other.retractions {
        return Some("one takes something back".into());
    }
    let (ours, theirs) = (one.details(), other.details());
    let apart = |ours: &std::collections::BTreeSet<u64>,
                 theirs: &std::collections::BTreeSet<u64>| {
        ours.difference(theirs).next().is_some() && theirs.difference(ours).next().is_some()
    };
    if apart(&ours.names, &theirs.names) {
        return Some("they name different things".into());
    }
    let sides = ((one, &ours), (other, &theirs));
    for word in ours.words.difference(&theirs.words).filter(|word| !is_negation(word)) {
        let others = theirs.words.difference(&ours.words).filter(|word| !is_negation(word));
        for against in others {
            if are_opposites(word, against) && !is_turned_round(sides, [word, against]) {
                return Some(format!("`{word}` against `{against}`"));
            }
        }
    }
    if one.is_certain || other.is_certain {
        crossed(sides).map(|pivot| format!("the sides of `{pivot}` are exchanged"))
    } else {
        Some("neither claims anything beyond doubt".into())
    }
}

/// "This before that" and "that after this" are the same.
fn is_turned_round((one, other): Sides<'_>, words: [&str; 2]) -> bool {
    let is_pair = matches!(words, ["before", "after"] | ["after", "before"]);
    let behind = |details: &Details, word: &str| {
        details.behind.iter().find(|(pivot, _)| *pivot == word).map(|(_, stems)| stems.clone())
    };
    let sides = (behind(one.1, words[0]), behind(other.1, words[1]));
    let (true, (Some(ours), Some(theirs))) = (is_pair, sides) else { return false };
    is_crossed((one.0, &ours), (other.0, &theirs))
}

/// Whether what stands behind a word in one statement stands before it in the other.
fn is_crossed(one: (&Statement, &[u64]), other: (&Statement, &[u64])) -> bool {
    let ((first, ours), (second, theirs)) = (one, other);
    let before = |statement: &Statement, behind: &[u64]| -> Vec<u64> {
        statement.stems.iter().filter(|stem| !behind.contains(stem)).copied().collect()
    };
    let common = |one: &[u64], other: &[u64]| one.iter().filter(|s| other.contains(s)).count();
    let (left, right) = (before(first, ours), before(second, theirs));
    common(&left, theirs) + common(ours, &right) > common(&left, &right) + common(ours, theirs)
}

/// The word whose two sides are exchanged, as in "this over that" and "that over this".
fn crossed((one, other): Sides<'_>) -> Option<&'static str> {
    for (pivot, ours) in &one.1.behind {
        let theirs = other.1.behind.iter().find(|(name, _)| name == pivot);
        if theirs.is_some_and(|(_, theirs)| is_crossed((one.0, ours), (other.0, theirs))) {
            return Some(pivot);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agree(one: &str, other: &str) -> bool {
        let (one, other) = (Statement::of(one).unwrap(), Statement::of(other).unwrap());
        Agreement::of(&one, &other, || (&one.stems, &other.stems)).holds()
    }

    #[test]
    fn the_same_rule_in_other_words() {
        for (one, other) in [
            (
                "Close the connection pool after each integration test",
                "After each integration test, close the connection pool.",
            ),
            (
                "Never run migrations on a database without a backup",
                "Always take a database backup before running migrations",
            ),
            (
                "Use exponential backoff for network retries",
                "Network calls to the registry fail at times; retry with exponential backoff.",
            ),
        ] {
            assert!(agree(one, other) && agree(other, one), "{one} | {other}");
        }
    }

    #[test]
    fn another_rule_about_the_same_thing() {
        for (one, other) in [
            (
                "Take the lock before reading the state file",
                "Read the state file before taking the lock",
            ),
            (
                "Prefer the merge queue over direct pushes to main",
                "Prefer direct pushes to main over the merge queue",
            ),
            (
                "Enable the query cache on the read replica",
                "Disable the query cache on the read replica",
            ),
            (
                "Keep the formatter version pinned in the image",
                "Keep the linter version pinned in the image",
            ),
            (
                "Run `make lint` before each release commit",
                "Run `make test` before each release commit",
            ),
            (
                "Set the worker queue timeout to 30 seconds",
                "Set the worker queue timeout to 5 minutes",
            ),
        ] {
            assert!(!agree(one, other) && !agree(other, one), "{one} | {other}");
        }
    }
}
