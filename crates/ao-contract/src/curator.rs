//! The local curator: jobs that it is given, what it leaves, and events that it raises.

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

impl JobKind {
    pub const ALL: [JobKind; 3] = [Self::LintWiki, Self::DreamSeed, Self::IngestClaudeSession];

    pub fn name(self) -> &'static str {
        match self {
            Self::LintWiki => "lint-wiki",
            Self::DreamSeed => "dream-seed",
            Self::IngestClaudeSession => "ingest-claude-session",
        }
    }

    /// Whether a model has to be asked.
    pub fn needs_engine(self) -> bool {
        self != Self::LintWiki
    }
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
    /// How often it was taken; absent before the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// When it was ended; absent before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = UTC))]
    pub finished_at: Option<String>,
    /// What became of it; absent before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<JobOutcome>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What became of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobOutcome {
    /// How it ended.
    pub status: JobStatus,
    /// The files that it left, from the worker's directory.
    #[serde(default)]
    pub wrote: Vec<String>,
    /// How many faults a lint found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<u64>,
    /// Why it failed, or what else there is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JobStatus {
    Done,
    Failed,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobSource {
    /// The file.
    pub path: String,
    /// The byte at which the part begins. Lines that begin in the part belong to it.
    pub chunk_start: u64,
    /// The byte before which it ends.
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

/// What happened to an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EventStep {
    /// It was raised, and needs review.
    Raised,
    /// One call of its budget was spent, before the runner was asked.
    Asked,
    /// It was looked at, and still needs review.
    Kept,
    /// It was looked at, and needs no more.
    Closed,
}

/// One step of an event, a line of `events/ledger.jsonl`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Curator ledger")]
pub struct EventLine {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// When.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// The event.
    pub event: String,
    /// What happened to it.
    pub step: EventStep,
    /// Who did that: what raised it, or the runner or person that looked at it.
    pub by: String,
    /// How many runner calls the event may cost.
    pub budget: NonZeroU32,
    /// What else there is to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
