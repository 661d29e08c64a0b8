//! Which statements are worth comparing, without comparing all of them.
//!
//! Statements that say the same share most of their stems, and so some threes of their rare ones. Each statement is
//! listed under the threes of its rarest stems, together with its numbers and whether it tells not to; those that meet
//! in a list are compared.

use super::statement::Statement;
use crate::duplicates::mix;

/// A statement is listed under the threes of so many of its rarest stems.
const RAREST: usize = 7;
/// A longer list is of words that everybody uses; it says nothing.
const CROWD_MAX: usize = 64;

/// The pairs of places that meet, in order; each once, the smaller place first.
pub(super) fn meet(statements: &[&Statement]) -> Vec<(u32, u32)> {
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
        if list.len() > CROWD_MAX {
            continue;
        }
        for (at, (_, one)) in list.iter().enumerate() {
            met.extend(list[at + 1..].iter().map(|(_, other)| (*one, *other)));
        }
    }
    met.sort_unstable();
    met.dedup();
    met
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
        assert_eq!(meet(&all.iter().collect::<Vec<_>>()), [(0, 1)]);
        let many: Vec<Statement> = (0..=CROWD_MAX).map(|_| all[0].clone()).collect();
        assert!(meet(&many.iter().collect::<Vec<_>>()).is_empty());
    }
}
