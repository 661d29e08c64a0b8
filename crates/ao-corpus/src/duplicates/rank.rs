//! Which of two copies is the better one.

use std::cmp::Reverse;

use ao_contract::Maturity;
use jiff::civil::Date;

use crate::corpus::Entry;

/// What an entry is worth as a survivor. The smallest is the best: the further it has come, the more
/// it helped, the more stands behind it, the older it is; and then its name, so that there is always
/// an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    maturity: Reverse<u8>,
    /// In ten thousandths, so that ranks can be compared whatever the machine.
    utility: Reverse<u32>,
    evidence: Reverse<u64>,
    /// Entries without a day come last.
    day: (bool, Option<Date>),
    path: String,
}

/// Fields that name what an entry was learned from.
const SOURCES: [&str; 8] = [
    "source_session",
    "source_bead",
    "source-bead",
    "source_phase",
    "source-phase",
    "source_artifact",
    "promoted_from",
    "original_path",
];

impl Rank {
    pub fn of(entry: &Entry) -> Self {
        let document = &entry.document;
        let maturity = match document.maturity() {
            Some(Maturity::Established) => 3,
            Some(Maturity::Candidate) => 2,
            Some(Maturity::Provisional) | None => 1,
            // It did harm: a copy that did not is the better text to keep.
            Some(Maturity::AntiPattern) => 0,
        };
        let counts = ["reward_count", "helpful_count", "hit_count"];
        let sources = SOURCES.iter().filter(|key| document.has(key)).count();
        let evidence = counts.iter().map(|key| document.count(key)).sum::<u64>() + sources as u64;
        let day = entry.date();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
        let utility = (document.utility() * 10_000.0).round() as u32;
        Self {
            maturity: Reverse(maturity),
            utility: Reverse(utility),
            evidence: Reverse(evidence),
            day: (day.is_none(), day),
            path: entry.path.clone(),
        }
    }
}
