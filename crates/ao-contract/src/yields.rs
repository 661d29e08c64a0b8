//! What the night was worth, as numbers about its packets and its council.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Extra;

/// Morning-handoff telemetry, derived from packets and council results. Unknown fields are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Yield {
    /// Packets before the synthesis.
    pub packet_count_before: u64,
    /// Packets after it.
    pub packet_count_after: u64,
    /// Packets that come from existing items of the work queue.
    pub queue_backed_count: u64,
    /// Whether the first packet is one of them.
    pub queue_backed_won: bool,
    /// Packets that the night itself made: from findings, from what it saw, or for want of others.
    pub synthetic_count: u64,
    /// Packets that are linked to beads.
    pub bead_sync_count: u64,
    /// Confidence of the first packet before the synthesis; empty if there was none.
    pub top_packet_confidence_before: String,
    /// Confidence of the first packet after it; empty if there is none.
    pub top_packet_confidence_after: String,
    /// Packets by confidence.
    pub confidence_mix: BTreeMap<String, u64>,
    /// Runners that completed.
    pub council_completed_count: u64,
    /// Runners that failed.
    pub council_failed_count: u64,
    /// Runners that failed because their time ended.
    pub council_timeout_count: u64,
    /// The kind of work that the council agreed on; empty if there is none.
    pub council_recommended_kind: String,
    /// Whether the council left the first move alone or refined it; empty without a council.
    pub council_action_delta: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
