//! What is disputed among some entries, for whoever is about to change them: whether a card of it was ruled about, or
//! a term is over, makes no difference.

use std::sync::Arc;

use jiff::civil::Date;

use super::card::claim_of;
use super::find::{Found, find_up_to};
use crate::corpus::{Corpus, Entry};

/// So many are known; the others are as if nobody had found them.
const DISPUTES_MAX: usize = 100_000;

/// Two claims that cannot both hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dispute {
    pub(crate) sides: [DisputeSide; 2],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DisputeSide {
    pub(crate) path: String,
    /// The hash of the sentence's words, as on a card.
    claim: String,
    /// The hash of what it says: another wording may say the same.
    form: u64,
}

impl DisputeSide {
    fn says_what(&self, other: &Self) -> bool {
        self.claim == other.claim || self.form == other.form
    }
}

impl Dispute {
    /// Whether both are about the same two claims, whoever makes them.
    pub(crate) fn is_about_what(&self, other: &Self) -> bool {
        let ([a, b], [c, d]) = (&self.sides, &other.sides);
        a.says_what(c) && b.says_what(d) || a.says_what(d) && b.says_what(c)
    }
}

pub(crate) fn disputes_among(mut entries: Vec<Arc<Entry>>) -> Vec<Dispute> {
    entries.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    let corpus = Corpus { entries, left: Vec::new() };
    // On the first of all days no term is over.
    let found = find_up_to(&corpus, Date::MIN, DISPUTES_MAX).found;
    let side = |(at, quote): (usize, String), form: u64| DisputeSide {
        path: corpus.entries[at].path.clone(),
        claim: claim_of(&quote),
        form,
    };
    let dispute = |Found { one, other, forms, .. }: Found| Dispute {
        sides: [side(one, forms[0]), side(other, forms[1])],
    };
    found.into_iter().map(dispute).collect()
}
