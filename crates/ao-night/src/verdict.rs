//! What a check said.

use std::collections::BTreeMap;

/// Whether something that was true when a packet was made is true still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    True,
    /// It no longer is, and why.
    Done(String),
    /// Nobody looked, and why.
    NotChecked(String),
}

/// By the packet's id.
pub type Verdicts = BTreeMap<String, Verdict>;

impl Verdict {
    /// The word for it in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::True => "true",
            Self::Done(_) => "done",
            Self::NotChecked(_) => "not-checked",
        }
    }

    pub fn why(&self) -> Option<&str> {
        match self {
            Self::True => None,
            Self::Done(why) | Self::NotChecked(why) => Some(why),
        }
    }
}
