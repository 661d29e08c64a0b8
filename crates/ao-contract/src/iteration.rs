//! One turn of the loop and how it ended.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{DAY, UTC};
use crate::{Extra, Finite, Fitness};

/// How an iteration ended. A run ends one in exactly six of these ways, an older history may have a
/// seventh, and a file with another one is refused: on resume the status decides which corpus is the
/// baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IterationStatus {
    /// Committed.
    Done,
    /// Rolled back because it could not be measured; or committed, where the record says so.
    Degraded,
    /// Rolled back because the corpus could not be reduced.
    RolledBackPreCommit,
    /// Rolled back because a metric fell under its floor, or nothing moved any more.
    HaltedOnRegressionPreCommit,
    /// Committed, then found to have regressed. Only older histories have it.
    HaltedOnRegressionPostCommit,
    /// Ended by an error; recovery has seen to the corpus.
    Failed,
    /// Said to be rolled back, with no word of whether before or after its commit. Only older
    /// histories have it.
    RolledBack,
}

impl IterationStatus {
    /// Whether the next iteration may measure itself against this one on resume.
    pub fn is_baseline(self) -> bool {
        match self {
            Self::Done => true,
            Self::HaltedOnRegressionPostCommit => {
                !ao_mutant::active("LOOP-15/flagged-is-walked-past")
            }
            Self::Degraded => ao_mutant::active("LOOP-15/degraded-is-a-baseline"),
            Self::RolledBack => ao_mutant::active("RUN-47/rolled-back-is-a-baseline"),
            Self::RolledBackPreCommit | Self::HaltedOnRegressionPreCommit | Self::Failed => false,
        }
    }
}

/// The summary of one iteration, `<run-id>/iterations/iter-<N>.json`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Iteration summary")]
pub struct Iteration {
    /// `<run-id>-iter-<N>`.
    pub id: String,
    /// Its number in the run, from 1.
    pub index: NonZeroU32,
    /// When it began.
    #[schemars(regex(pattern = UTC))]
    pub started_at: String,
    /// When it ended.
    #[schemars(regex(pattern = UTC))]
    pub finished_at: String,
    /// How long it took, such as `12m38s`.
    pub duration: String,
    /// The day of the run, by which terms and waits were judged; absent if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = DAY))]
    pub day: Option<String>,
    /// How it ended.
    pub status: IterationStatus,
    /// What was taken in.
    #[serde(default)]
    pub ingest: Extra,
    /// What was merged, pruned and compiled.
    #[serde(default)]
    pub reduce: Extra,
    /// What was measured.
    #[serde(default)]
    pub measure: Extra,
    /// The metrics before.
    #[serde(default)]
    pub fitness_before: Fitness,
    /// The metrics after.
    #[serde(default)]
    pub fitness_after: Fitness,
    /// The change of the composite.
    #[serde(default)]
    pub fitness_delta: Finite,
    /// The stages that failed softly.
    #[serde(default)]
    pub degraded: Vec<String>,
    /// True where a degraded iteration was committed all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<bool>,
    /// Why it failed, was rolled back or halted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
