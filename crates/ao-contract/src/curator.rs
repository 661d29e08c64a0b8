//! The local curator: jobs that it is given and events that it raises.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::UTC;
use crate::{Extra, SchemaVersion};

/// What the curator may be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JobKind {
    LintWiki,
    DreamSeed,
    IngestClaudeSession,
}

/// One job, `queue/*.json` in the worker's directory. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Curator job")]
pub struct CuratorJob {
    /// `<UTC>-<kind>-<8 hex>`.
    pub id: String,
    /// What to do.
    pub kind: JobKind,
    /// When it was queued.
    #[schemars(regex(pattern = UTC))]
    pub created_at: String,
    /// How often it is tried again; 1.
    pub max_retries: u32,
    /// What to work on, for jobs that read a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<JobSource>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSource {
    /// The file.
    pub path: String,
    /// Where the part begins.
    pub chunk_start: u64,
    /// Where it ends.
    pub chunk_end: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How much an event matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventSeverity {
    Info,
    Warn,
    High,
    Critical,
}

/// Where an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventStatus {
    NeedsReview,
}

/// One event that somebody should look at, a line of `events/pending.jsonl`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Curator event")]
pub struct CuratorEvent {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The event.
    pub id: String,
    /// When it was raised.
    #[schemars(regex(pattern = UTC))]
    pub created_at: String,
    /// What raised it.
    pub source: String,
    /// How much it matters.
    pub severity: EventSeverity,
    /// What should be done.
    pub desired_action: String,
    /// Who should do it.
    pub escalation_target: String,
    /// How many runner calls it may cost; at least one.
    pub budget: NonZeroU32,
    /// What else there is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where it stands.
    pub status: EventStatus,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
