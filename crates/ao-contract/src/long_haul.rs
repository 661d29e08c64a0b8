//! Whether the run went on past its short path, and why it stopped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Extra, Open};

/// What a probe tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HaulProbeKind {
    /// A brief from what the night itself knows.
    BriefingFallback,
    /// A look for what speaks for a packet.
    PacketCorroboration,
    /// The council.
    Council,
}

/// One probe, and what it changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HaulProbe {
    /// What it tried.
    pub probe: Open<HaulProbeKind>,
    /// The packet that it was about, if it was about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<String>,
    /// Whether the morning has something by it that it had not before.
    pub changed: bool,
    /// What came of it, in words.
    pub told: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

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
    /// Why it stopped, or why it did not run though it was asked for; empty if it was not.
    pub exit_reason: String,
    /// How many probes were made.
    pub probe_count: u64,
    /// How many probes in a row changed nothing, at the end.
    pub zero_delta_probe_streak: u64,
    /// The probes, in order; absent where there was none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<HaulProbe>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
