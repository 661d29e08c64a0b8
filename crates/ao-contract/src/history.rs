//! The history of the corpus, a line a commit, `overnight/history.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{HASH, UTC};
use crate::{Extra, Fitness, Manner, Open, SchemaVersion};

/// One line of `overnight/history.jsonl`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "History line")]
pub struct HistoryLine {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The commit.
    pub id: String,
    /// When it was made.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// Why it was made.
    pub why: String,
    /// How it was made.
    pub method: Method,
    /// How many files it added.
    pub added: u64,
    /// How many files it changed.
    pub changed: u64,
    /// How many files it deleted.
    pub deleted: u64,
    /// How many files others changed meanwhile.
    pub carried: u64,
    /// How many files both sides changed.
    pub conflicts: u64,
    /// How many bytes its undo snapshot takes.
    pub stored_bytes: u64,
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
    /// The record of the commit, relative to `overnight/`.
    pub record: String,
    /// The BLAKE3 hash of the record.
    #[schemars(regex(pattern = HASH))]
    pub record_hash: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Who decided what a commit changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Author {
    /// A person, as by a ruling or a word for a text. An undo of a night leaves it, and it is taken back whole.
    Person,
}

impl HistoryLine {
    /// Whether a person decided what is in it.
    pub fn is_by_person(&self) -> bool {
        self.by.as_ref().and_then(Open::known) == Some(&Author::Person)
    }
}

/// How a commit was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Whole directories were exchanged, as earlier versions did.
    Exchange,
    /// Each edited file was exchanged.
    FileByFile,
}
