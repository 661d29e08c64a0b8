//! The history of improvement cycles, `evolve/cycle-history.jsonl`: what the oscillation sweep reads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Extra;

/// One line of `evolve/cycle-history.jsonl`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Cycle-history line")]
pub struct Cycle {
    /// The number of the cycle.
    pub cycle: u64,
    /// What it worked on.
    pub target: String,
    /// How it ended.
    pub result: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
