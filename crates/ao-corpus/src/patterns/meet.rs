//! Which statements are worth comparing, without comparing all of them.
//!
//! Statements that say the same share most of their stems, and so some threes of their rare ones. Each statement is
//! listed under the threes of its rarest stems, together with its numbers and whether it tells not to; those that meet
//! in a list are compared.

use super::statement::Statement;
use crate::duplicates::mix;

/// A statement is listed under the threes of so many of its rarest stems.
const RAREST: usize = 7;
/// A longer list is of words that everybody uses, or of a rule that everybody knows. Of it so many learnings are compared,
/// spread over all, and so many patterns, which are few and may say it already.
const CROWD_MAX: usize = 64;
const CROWD_LEARNINGS: usize = 48;
const CROWD_PATTERNS: usize = CROWD_MAX - CROWD_LEARNINGS;

/// The pairs of places that meet, in order; each once, the smaller place first. The first so many statements are of
/// learnings, the others of patterns.
pub(super) fn meet(statements: &[&Statement], of_learnings: usize) -> Vec<(u32, u32)> {
    let counts = Counts::of(statements);
    let mut listed: Vec<(u64, u32)> = Vec::new();
    for (place, statement) in statements.iter().enumerate() {
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        let mut stems: Vec<(usize, u64)> =
            statement.stems.iter().map(|stem| (counts.of_stem(*stem), *stem)).collect();
        // What nobody else has leads to nobody.
        stems.retain(|(count, _)| *count > 1);
        stems.sort_unstable();
        stems.truncate(RAREST);
        let signature = statement.signature();
        for (at, (_, one)) in stems.iter().enumerate() {
            for (next, (_, two)) in stems.iter().enumerate().skip(at + 1) {
                // The sum does not depend on the order.
                let pair = mix(*one).wrapping_add(mix(*two));
                let three = |last: &u64| mix(signature ^ pair.wrapping_add(mix(*last)));
                listed.extend(stems[next + 1..].iter().map(|(_, last)| (three(last), place)));
            }
        }
    }
    listed.sort_unstable();
    let mut met: Vec<(u32, u32)> = Vec::new();
    for list in listed.chunk_by(|one, other| one.0 == other.0) {
        let list = some_of(list, of_learnings);
        for (at, one) in list.iter().enumerate() {
            met.extend(list[at + 1..].iter().map(|other| (*one, *other)));
        }
    }
    met.sort_unstable();
    met.dedup();
    met
}

/// The places of a list that are compared. Which learnings these are does not depend on the patterns, so that a page
/// meets those that it was made of.
fn some_of(list: &[(u64, u32)], of_learnings: usize) -> Vec<u32> {
    if list.len() <= CROWD_MAX {
        return list.iter().map(|(_, place)| *place).collect();
    }
    let split = list.partition_point(|(_, place)| (*place as usize) < of_learnings);
    let (learnings, patterns) = list.split_at(split);
    let count = learnings.len().min(CROWD_LEARNINGS);
    let spread = (0..count).map(|at| &learnings[at * learnings.len() / count]);
    spread.chain(patterns.iter().take(CROWD_PATTERNS)).map(|(_, place)| *place).collect()
}

/// In how many statements a stem is.
struct Counts(Vec<(u64, usize)>);

impl Counts {
    fn of(statements: &[&Statement]) -> Self {
        let mut all: Vec<u64> =
            statements.iter().flat_map(|one| one.stems.iter().copied()).collect();
        all.sort_unstable();
        Self(all.chunk_by(|one, other| one == other).map(|run| (run[0], run.len())).collect())
    }

    fn of_stem(&self, stem: u64) -> usize {
        let at = self.0.binary_search_by_key(&stem, |(stem, _)| *stem);
        at.map_or(0, |at| self.0[at].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_share_rare_stems_meet_and_others_do_not() {
        let of = |text: &str| Statement::of(text).unwrap();
        let all = [
            of("Close the connection pool in integration tests"),
            of("Integration tests must close the connection pool"),
            of("Never close the connection pool in integration tests"),
            of("Rotate the signing key of the release every quarter"),
        ];
        assert_eq!(meet(&all.iter().collect::<Vec<_>>(), 4), [(0, 1)]);
    }

    /// A crowd is thinned out, whatever its size, and the patterns behind it stay in it.
    #[test]
    fn of_a_crowd_some_meet() {
        let one = Statement::of("Close the connection pool in integration tests").unwrap();
        for (learnings, patterns) in [(64, 0), (65, 0), (65, 1), (500, 0), (500, 40), (20, 60)] {
            let all: Vec<&Statement> = (0..learnings + patterns).map(|_| &one).collect();
            let met = meet(&all, learnings);
            let places: std::collections::BTreeSet<u32> =
                met.iter().flat_map(|(one, other)| [*one, *other]).collect();
            let few = places.iter().filter(|place| **place as usize >= learnings).count();
            assert!((20..=CROWD_MAX).contains(&places.len()), "{learnings} {patterns}");
            assert_eq!(few, patterns.min(CROWD_PATTERNS), "{learnings} {patterns}");
            let count = places.len();
            assert_eq!(met.len(), count * (count - 1) / 2);
        }
    }
}
