//! Which files the nights wrote, `overnight/night-files.json`: its hash is in the head of the receipts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::HASH;
use crate::{Extra, SchemaVersion};

/// Every file that a night wrote and that is to stay as it is, caches left out. The receipts and the undo
/// snapshots are not in it: they have seals and hashes of their own. Unknown fields are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Files of nights")]
pub struct NightFiles {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// By the path: relative to the repository if the file lies in it, else absolute.
    pub files: BTreeMap<String, NightFile>,
    /// The run whose report lies in a folder itself, and not in a folder of its own in it. By the folder.
    #[serde(default)]
    pub reports: BTreeMap<String, String>,
    /// When a list was found to be gone or changed, and another one was begun: what was written before has been
    /// hashed only then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file as a night wrote it. A file that only grows may have more bytes by now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NightFile {
    /// How many bytes were hashed, from its beginning.
    pub bytes: u64,
    /// Their BLAKE3 hash.
    #[schemars(regex(pattern = HASH))]
    pub hash: String,
}
