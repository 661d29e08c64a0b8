//! The record of one commit: what it changed and why, so that it can be explained and undone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{HASH, UTC};
use crate::{Author, Conflict, Extra, Fitness, Manner, Open, SchemaVersion};

/// The file `overnight/undo/<id>/record.json`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Commit record")]
pub struct Record {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The commit.
    pub id: String,
    /// When it was made.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// Why it was made.
    pub why: String,
    /// The commits that it takes back; empty unless it is an undo.
    #[serde(default)]
    pub undo_of: Vec<String>,
    /// Who decided what is in it, where that was a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Open<Author>>,
    /// How that person gave their word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Open<Manner>>,
    /// The fitness of the corpus after it, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitness: Option<Fitness>,
    /// What it changed.
    pub changes: Vec<Change>,
    /// The folders that it had to make.
    #[serde(default)]
    pub folders: Vec<String>,
    /// Files that others changed meanwhile and that were taken over.
    #[serde(default)]
    pub carried: Vec<String>,
    /// Files that both sides changed.
    #[serde(default)]
    pub conflicts: Vec<Conflict>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One file that a commit added, changed or deleted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The file, relative to the root of the corpus.
    pub path: String,
    /// What happened to it.
    pub op: ChangeOp,
    /// What it held before; absent if it was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Version>,
    /// What it holds after; absent if it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Version>,
    /// Why.
    pub reason: String,
    /// The files or sessions that the change was derived from.
    #[serde(default)]
    pub sources: Vec<String>,
    /// The changes of one group are made together, and taken back together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeOp {
    Add,
    Change,
    Delete,
}

/// What a file held at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Version {
    /// The BLAKE3 hash of its bytes.
    #[schemars(regex(pattern = HASH))]
    pub hash: String,
    /// Its permission bits.
    pub mode: u32,
    /// Its size in bytes.
    pub size: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
