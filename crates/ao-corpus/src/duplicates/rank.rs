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

/// Utilities are compared to so many parts of one.
pub const UTILITY_PARTS: f64 = 10_000.0;

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
    /// What it is made of, in the order in which it counts.
    pub fn points(&self) -> [(&'static str, String); 5] {
        let utility = f64::from(self.utility.0) / UTILITY_PARTS;
        [
            ("maturity", self.maturity.0.to_string()),
            ("utility", utility.to_string()),
            ("evidence", self.evidence.0.to_string()),
            ("day", self.day.1.map_or_else(|| "none".to_owned(), |day| day.to_string())),
            ("path", self.path.clone()),
        ]
    }

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
        let utility = (document.utility() * UTILITY_PARTS).round() as u32;
        Self {
            maturity: Reverse(maturity),
            utility: Reverse(utility),
            evidence: Reverse(evidence),
            day: (day.is_none(), day),
            path: entry.path.clone(),
        }
    }
}
