//! What speaks for a packet beside its own evidence, `packet-corroboration.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Extra, Level, Open, SchemaVersion};

/// What sort of thing speaks for a packet.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum SupportKind {
    /// Another entry of the corpus.
    Entry,
    /// Another finding that is open.
    Finding,
    /// Something that this night saw in the files of the packet.
    Night,
    /// A figure that this night measured.
    Metric,
    /// A file of the repository, outside of the corpus.
    File,
}

/// One thing that speaks for a packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Support {
    /// What sort of thing it is.
    pub kind: Open<SupportKind>,
    /// Its path, relative to the repository, or the name of the figure.
    pub at: String,
    /// What it says, in one line.
    pub says: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Why the confidence of a packet was raised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Corroboration {
    /// What its own source gave it.
    pub confidence_before: Open<Level>,
    /// What spoke for it.
    pub supports: Vec<Support>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Something that was found and does not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotCounted {
    /// Its path, relative to the repository.
    pub at: String,
    /// Why it does not count.
    pub why: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One look for what speaks for a packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacketProbe {
    /// The packet.
    pub packet: String,
    /// Its title.
    pub title: String,
    /// Its confidence before the look.
    pub confidence_before: Open<Level>,
    /// Its confidence after it; never lower, and at most one step higher.
    pub confidence_after: Open<Level>,
    /// How many supports the next step asks for.
    pub needed: u64,
    /// What speaks for it and was not used for a step before.
    pub supports: Vec<Support>,
    /// What was found and does not count, as far as it is told.
    pub not_counted: Vec<NotCounted>,
    /// What came of it, in words.
    pub told: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a long haul found that speaks for the packets of a night. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Packet corroboration")]
pub struct PacketCorroboration {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The run.
    pub run_id: String,
    /// Each look, in order.
    pub probes: Vec<PacketProbe>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
