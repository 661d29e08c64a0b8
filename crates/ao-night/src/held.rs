//! Files that the door would not change now, and why.

use std::collections::BTreeMap;

use ao_tree::Outcome;

pub(crate) type Fixed = BTreeMap<String, String>;

/// What the door did not make of a proposal.
pub(crate) fn held_back(done: &Outcome) -> Fixed {
    let refused = done.refused.iter().map(|refused| (refused.path.clone(), refused.why.clone()));
    let clashes = done.conflicts.iter().map(|clash| (clash.path.clone(), clash.why.clone()));
    refused.chain(clashes).collect()
}
