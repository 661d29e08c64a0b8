//! Runners that are not asked before a time, `overnight/deferred-runners.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::UTC;
use crate::{Extra, SchemaVersion};

/// The runners whose limit was reached and does not end within the night that found it so. It is kept
/// from one night to the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Deferred runners")]
pub struct DeferredRunners {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The runners.
    pub runners: Vec<DeferredRunner>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One runner that is not asked before a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeferredRunner {
    /// Who it is.
    pub runner: String,
    /// When it may be asked again.
    #[schemars(regex(pattern = UTC))]
    pub until: String,
    /// When that was found.
    #[schemars(regex(pattern = UTC))]
    pub since: String,
    /// The run that found it.
    pub run_id: String,
    /// What the runner said.
    pub why: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
