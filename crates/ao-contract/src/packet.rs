//! A morning packet: one piece of work that a person or an agent can start on.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Check, Corroboration, Extra, Level, Open, SchemaVersion, Severity, WorkType};

/// Where a packet comes from, the strongest first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PacketSource {
    /// The file that the operator gave with `--queue`.
    OperatorQueue,
    /// An item of `rpi/next-work.jsonl`.
    NextWork,
    /// An open finding.
    Finding,
    /// Something that the night itself saw.
    Night,
    /// Nothing was there, so the weakest figure was taken.
    Synthesized,
}

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
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Open<PacketSource>>,
    /// The item of the work queue that it is about: its id, or its title where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_item: Option<String>,
    /// What must hold for it to be worth doing still. `ao` looks again whenever it shows the packet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub still_true: Vec<Check>,
    /// Why its confidence is higher than its source gave it; absent if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corroboration: Option<Corroboration>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A piece of work that was not made a packet, because it is done already.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DroppedPacket {
    /// The id that it would have had.
    pub id: String,
    /// What to do, in one line.
    pub title: String,
    /// What shows that it is done.
    pub why: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The packets of one night, `morning-packets/index.json`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Morning packets")]
pub struct PacketIndex {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The run.
    #[serde(default)]
    pub run_id: String,
    /// The packets by rank.
    pub packets: Vec<MorningPacket>,
    /// How many more were ranked and left out, by where they come from.
    #[serde(default)]
    pub left_out: BTreeMap<String, u64>,
    /// What was not made a packet, because it is done already.
    #[serde(default)]
    pub dropped: Vec<DroppedPacket>,
    /// Lines and items of the work queue that could not be read.
    #[serde(default)]
    pub unread: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
