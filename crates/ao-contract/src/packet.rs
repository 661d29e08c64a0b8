//! A morning packet: one piece of work that a person or an agent can start on.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Extra, Level, Open, Severity, WorkType};

/// One ranked piece of work for the morning. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Morning packet")]
pub struct MorningPacket {
    /// Stable over runs for the same work.
    pub id: String,
    /// Its place in this run, from 1.
    pub rank: NonZeroU32,
    /// What to do, in one line.
    pub title: String,
    /// What sort of work it is.
    #[serde(rename = "type")]
    pub kind: Open<WorkType>,
    /// How bad it is to leave it.
    pub severity: Open<Severity>,
    /// How sure the night is that it is worth doing.
    #[serde(default)]
    pub confidence: Open<Level>,
    /// Why it came up in this night.
    pub why_now: String,
    /// What supports it.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// Files to look at first.
    #[serde(default)]
    pub target_files: Vec<String>,
    /// Tests to run or extend.
    #[serde(default)]
    pub likely_tests: Vec<String>,
    /// The command that starts the work.
    pub morning_command: String,
    /// The bead it is linked to; absent if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bead_id: Option<String>,
    /// The file that holds this packet.
    #[serde(default)]
    pub artifact_path: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
