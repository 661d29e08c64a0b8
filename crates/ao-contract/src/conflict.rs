//! A file that `ao` and somebody else changed at the same time. The live version stays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::UTC;
use crate::{Extra, SchemaVersion, Version};

/// One such file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// The file, relative to the root of the corpus.
    pub path: String,
    /// What both sides did.
    pub why: String,
    /// Where the version of `ao` was put, relative to `overnight/`; absent if it was a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// The version of `ao`; absent if it was a deletion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ours: Option<Version>,
    /// The version that stayed; absent if somebody deleted the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Version>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The conflicts of one commit, in `overnight/conflicts/<id>/`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Conflicts")]
pub struct Conflicts {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The commit.
    pub id: String,
    /// When it was made.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// The files.
    pub conflicts: Vec<Conflict>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
