//! How the corpus is doing, `metrics-health.json`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::DAY;
use crate::{Extra, Finite, LeftAlone, SchemaVersion, Unit};

/// The health of a corpus. A number that cannot be known is null, and `absent` says why: null is
/// not zero. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Metrics health")]
pub struct MetricsHealth {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The day that ages are measured against; null if nothing in the corpus has a date.
    #[serde(default)]
    #[schemars(regex(pattern = DAY))]
    pub as_of: Option<String>,
    /// How many learnings, findings and patterns can be retrieved.
    pub retrievable: u64,
    /// How many of them were cited in the last ten sessions.
    pub cited: u64,
    /// How many sessions the citation log knows.
    pub sessions: u64,
    /// The share of retrievable entries that were cited in the last ten sessions.
    #[serde(default)]
    pub sigma: Option<Unit>,
    /// The share of those that were cited with evidence.
    #[serde(default)]
    pub rho: Option<Unit>,
    /// The mean age of retrievable entries in days.
    #[serde(default)]
    pub delta: Option<Finite>,
    /// Whether sigma times rho is more than delta over a hundred.
    #[serde(default)]
    pub escape_velocity: Option<bool>,
    /// How many entries there are of each kind.
    pub knowledge_stock: BTreeMap<String, u64>,
    /// Which of the two loops is the stronger.
    pub loop_dominance: LoopDominance,
    /// Why a number is null.
    pub absent: BTreeMap<String, String>,
    /// What a night is judged by.
    pub fitness: FitnessReport,
    /// Files and lines that could not be read.
    pub left: Vec<LeftAlone>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Growth against decay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoopDominance {
    /// Entries newer than 30 days, per session.
    #[serde(default)]
    pub r1: Option<Finite>,
    /// Entries older than 90 days that nobody cited, per session.
    #[serde(default)]
    pub b1: Option<Finite>,
    /// The larger one: `r1`, `b1` or `balanced`.
    #[serde(default)]
    pub dominant: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The metrics that a night is judged by, each from 0 to 1, and what they weigh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FitnessReport {
    /// The weighted mean of the metrics that are known; 0 for an empty corpus.
    pub composite: Unit,
    /// The metrics that are known.
    pub metrics: BTreeMap<String, Unit>,
    /// What each weighs; the weights of those that are known are scaled to 1.
    pub weights: BTreeMap<String, Unit>,
    /// How far each may fall before it is a regression.
    pub floors: BTreeMap<String, Unit>,
    /// Why a metric is not known.
    pub absent: BTreeMap<String, String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
