//! One step of a run and how it ended.

use std::borrow::Cow;
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::Extra;

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepStatus {
    /// Not yet reached.
    Pending,
    /// It did what it should.
    Done,
    /// It failed and the run went on; the report is degraded.
    SoftFail,
    /// It failed and ended the run.
    Failed,
    /// It was left out on purpose.
    Skipped,
}

/// One step of a run, in the order in which the steps ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Its name.
    pub name: StepName,
    /// How it ended.
    pub status: StepStatus,
    /// The command that does the same by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The file that it wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    /// What there is to say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The name of a step. A council runner called `packet` or `synthesis` would take the name of
/// another step; the slug that stands here is made unique by whoever names the runners.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum StepName {
    CloseLoop,
    DefragPreview,
    MetricsHealth,
    RetrievalLive,
    KnowledgeBrief,
    KnowledgeBriefFallback,
    CouncilPacket,
    CouncilRunner(String),
    CouncilSynthesis,
    PacketCorroboration,
    MorningPackets,
    BeadSync,
    Iteration(u32),
    /// A step of another version; kept as it is.
    Other(String),
}

const FIXED: [(&str, StepName); 11] = [
    ("close-loop", StepName::CloseLoop),
    ("defrag-preview", StepName::DefragPreview),
    ("metrics-health", StepName::MetricsHealth),
    ("retrieval-live", StepName::RetrievalLive),
    ("knowledge-brief", StepName::KnowledgeBrief),
    ("knowledge-brief-fallback", StepName::KnowledgeBriefFallback),
    ("council-packet", StepName::CouncilPacket),
    ("council-synthesis", StepName::CouncilSynthesis),
    ("packet-corroboration", StepName::PacketCorroboration),
    ("morning-packets", StepName::MorningPackets),
    ("bead-sync", StepName::BeadSync),
];

impl fmt::Display for StepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CouncilRunner(runner) => write!(f, "council-{runner}"),
            Self::Iteration(index) => write!(f, "iteration-{index}"),
            Self::Other(name) => f.write_str(name),
            fixed => FIXED
                .iter()
                .filter(|(_, step)| step == fixed)
                .try_for_each(|(name, _)| f.write_str(name)),
        }
    }
}

impl From<String> for StepName {
    fn from(name: String) -> Self {
        if let Some((_, step)) = FIXED.iter().find(|(fixed, _)| *fixed == name) {
            return step.clone();
        }
        if let Some(runner) = name.strip_prefix("council-") {
            return Self::CouncilRunner(runner.to_owned());
        }
        match name.strip_prefix("iteration-").map(str::parse) {
            // `iteration-007` would come back as another text.
            Some(Ok(index)) if name == Self::Iteration(index).to_string() => Self::Iteration(index),
            _ => Self::Other(name),
        }
    }
}

impl From<StepName> for String {
    fn from(name: StepName) -> Self {
        name.to_string()
    }
}

impl FromStr for StepName {
    type Err = Infallible;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Ok(Self::from(name.to_owned()))
    }
}

impl JsonSchema for StepName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "StepName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = FIXED.map(|(name, _)| name);
        json_schema!({
            "anyOf": [
                { "enum": names },
                { "type": "string", "pattern": "^(council-.+|iteration-[1-9][0-9]*)$" },
                { "type": "string", "description": "A step of another version." },
            ],
        })
    }
}
