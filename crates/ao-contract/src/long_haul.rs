//! Whether the run went on past its short path, and why it stopped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Extra;

/// Long-haul decisions and probe counters. Unknown fields are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LongHaul {
    /// Whether it was asked for.
    pub enabled: bool,
    /// Whether it ran.
    pub active: bool,
    /// Why it ran; empty if it did not.
    pub trigger_reason: String,
    /// Why it stopped; empty if it did not run.
    pub exit_reason: String,
    /// How many probes were made.
    pub probe_count: u64,
    /// How many probes in a row changed nothing, at the end.
    pub zero_delta_probe_streak: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
