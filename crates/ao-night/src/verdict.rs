//! Whether a packet is still worth starting on, found out when the report is read.

use std::collections::BTreeMap;

/// What became of a packet's own checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All of them hold.
    True,
    /// One no longer holds, and this is why: the work seems to be done.
    Done(String),
    /// They were not made, and this is why.
    NotChecked(String),
}

/// By the packet's id.
pub type Verdicts = BTreeMap<String, Verdict>;
