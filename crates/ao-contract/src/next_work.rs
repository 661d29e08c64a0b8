//! The work queue, `rpi/next-work.jsonl`: one batch of items a line, claimed and consumed in place.
//!
//! A line that does not read as one of these stays in the file as it is, byte for byte. That is why
//! `claim_status` is a closed list: a state that `ao` does not know is not one it may change.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Check, Confidence, Extra, Maybe, Open, Severity, Texts, WorkType};

/// Who has the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimStatus {
    Available,
    InProgress,
    Consumed,
}

/// One line of the work queue (schema 1.3). Null means unset. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Next-work line")]
pub struct NextWork {
    /// The epic or the tool that the items come from.
    pub source_epic: String,
    /// When the line was written.
    pub timestamp: String,
    /// The work.
    pub items: Vec<WorkItem>,
    /// True when every item is done.
    #[serde(default)]
    pub consumed: bool,
    /// Who has the line as a whole.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub claim_status: Maybe<ClaimStatus>,
    /// Who claimed it.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub claimed_by: Maybe<String>,
    /// When it was claimed.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub claimed_at: Maybe<String>,
    /// Who finished it.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub consumed_by: Maybe<String>,
    /// When it was finished.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub consumed_at: Maybe<String>,
    /// When an attempt at it last failed.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub failed_at: Maybe<String>,
    /// What shows that it is done.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub completion_evidence: Maybe<String>,
    /// When that was seen.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub completion_evidence_at: Maybe<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One piece of work in the queue. Null means unset. Unknown fields are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkItem {
    /// What to do, in one line.
    pub title: String,
    /// Stable over runs for the same work.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub id: Maybe<String>,
    /// What sort of work it is.
    #[serde(default, rename = "type", skip_serializing_if = "Maybe::is_absent")]
    pub kind: Maybe<Open<WorkType>>,
    /// How bad it is to leave it.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub severity: Maybe<Open<Severity>>,
    /// What proposed it.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub source: Maybe<String>,
    /// What to do, in full.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub description: Maybe<String>,
    /// What supports it.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub evidence: Maybe<Texts>,
    /// The repo it is for; `*` is any.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub target_repo: Maybe<String>,
    /// Where the proof of its completion is found.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub proof_ref: Maybe<ProofRef>,
    /// The file it is about.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub file: Maybe<String>,
    /// The function it is about.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub func: Maybe<String>,
    /// The file that it was derived from.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub source_path: Maybe<String>,
    /// True when this item is done.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub consumed: Maybe<bool>,
    /// Who has this item.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub claim_status: Maybe<ClaimStatus>,
    /// Who claimed it.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub claimed_by: Maybe<String>,
    /// When it was claimed.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub claimed_at: Maybe<String>,
    /// Who finished it.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub consumed_by: Maybe<String>,
    /// When it was finished.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub consumed_at: Maybe<String>,
    /// When an attempt at it last failed.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub failed_at: Maybe<String>,
    /// How sure the night was that it is worth doing.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub confidence: Maybe<Confidence>,
    /// Why it came up in this night.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub why_now: Maybe<String>,
    /// Files to look at first.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub target_files: Maybe<Vec<String>>,
    /// Tests to run or extend.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub likely_tests: Maybe<Vec<String>>,
    /// The command that starts the work.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub morning_command: Maybe<String>,
    /// The command as a night wrote it. One that differs from it is its author's own.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub written_command: Maybe<String>,
    /// The morning packet of the item.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub packet_path: Maybe<String>,
    /// The bead it is linked to.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub bead_id: Maybe<String>,
    /// What must hold for it to be worth doing still.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub still_true: Maybe<Vec<Check>>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where the proof of an item's completion is found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProofRef {
    /// What sort of proof it is.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub kind: Maybe<String>,
    /// The id of what was proved.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub target_id: Maybe<String>,
    /// The run that proved it.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub run_id: Maybe<String>,
    /// The file that shows it.
    #[serde(skip_serializing_if = "Maybe::is_absent")]
    pub path: Maybe<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
