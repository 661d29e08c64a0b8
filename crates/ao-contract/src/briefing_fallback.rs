//! A brief that nobody asked for by a goal, `briefing-fallback.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Extra, KnowledgeBrief, SchemaVersion};

/// What the corpus knows about the packets of a night that had no brief of its own. Unknown fields
/// are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Briefing fallback")]
pub struct BriefingFallback {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The run.
    pub run_id: String,
    /// Why there was no other brief.
    pub why: String,
    /// The packets whose titles were asked about, by id.
    pub packets: Vec<String>,
    /// The entries in it that neither the packets nor a brief on the goal had named.
    pub new_sources: Vec<String>,
    /// The brief; its goal is what was asked.
    pub brief: KnowledgeBrief,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
