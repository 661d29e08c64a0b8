//! What a run is doing, `overnight/status.json`, while it lives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::UTC;
use crate::{Extra, SchemaVersion};

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunStage {
    Starting,
    Ingest,
    Reduce,
    Measure,
    Commit,
    /// The steps after the loop.
    Steps,
    Reporting,
}

impl RunStage {
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Ingest => "ingest",
            Self::Reduce => "reduce",
            Self::Measure => "measure",
            Self::Commit => "commit",
            Self::Steps => "steps",
            Self::Reporting => "reporting",
        }
    }
}

/// What a run is doing now. The file is gone when the run has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Status of a run")]
pub struct RunNow {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The run.
    pub run_id: String,
    /// Its process.
    pub process: u32,
    /// The folder of its artifacts, as an absolute path.
    pub output_dir: String,
    /// When it began.
    #[schemars(regex(pattern = UTC))]
    pub started_at: String,
    /// When this was written.
    #[schemars(regex(pattern = UTC))]
    pub updated_at: String,
    /// Where it is.
    pub stage: RunStage,
    /// Which iteration, from 1; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u32>,
    /// What it is doing, in words.
    pub doing: String,
    /// What came of it so far, a line each.
    pub found: Vec<String>,
    /// How much of its time is left.
    pub seconds_left: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
