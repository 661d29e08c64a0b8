//! Judgements that were not made here: kept under other names, and made anew.
//!
//! Whoever writes a file can write that it was useful, cited or rewarded. What has not been in this corpus has
//! earned nothing in it, whether it comes from another repository or waits here to be promoted.

use ao_contract::Maturity;

use crate::document::{Document, Draft};

const MATURITY: &str = "maturity";
const PROVISIONAL: &str = "provisional";
/// What an entry earns where it is.
const JUDGED: [&str; 10] = [
    "utility",
    MATURITY,
    "reward_count",
    "helpful_count",
    "harmful_count",
    "hit_count",
    "last_cited",
    "last_reward",
    "last_reward_at",
    "merged_from",
];
/// Marks that mean something only where they were made.
const LOCAL: [&str; 3] = ["pinned", "last_decay_at", "decay_count"];

/// The name under which something is kept that was said elsewhere.
pub(crate) fn named(elsewhere: &str, key: &str) -> String {
    format!("{elsewhere}_{key}")
}

/// Puts what was earned elsewhere under other names. The entry then starts as every new one does.
pub(crate) fn judge_anew(draft: &mut Draft, document: &Document, elsewhere: &str) {
    for key in JUDGED {
        let is_as_new = key == MATURITY && document.maturity() == Some(Maturity::Provisional);
        if let Some(value) = document.get(key).filter(|_| !is_as_new) {
            draft.remove(key).set(&named(elsewhere, key), value.into_owned());
        }
    }
    for key in LOCAL {
        draft.remove(key);
    }
    draft.set(MATURITY, PROVISIONAL);
}
