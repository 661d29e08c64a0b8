//! The words by which work is sorted, in the queue and in the morning packets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Open;

/// What sort of work it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkType {
    TechDebt,
    Improvement,
    PatternFix,
    ProcessImprovement,
    Feature,
    Bug,
    Task,
}

/// How bad it is to leave it. `critical` is met in findings; the queue knows the first three.
#[derive(
    PartialOrd, Ord, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

impl Open<Severity> {
    /// For sorting. A word that nobody defined says that somebody cared: it ranks as medium.
    pub fn rank(&self) -> Severity {
        self.known().copied().unwrap_or(Severity::Medium)
    }
}
