//! What `ao tree apply` is asked to do. People and agents write this file, so it is closed: a field
//! or an operation that `ao` does not know is a typing error, and one that must not be swallowed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SchemaVersion;
use crate::only_map::only_from_map;

/// A list of changes to the corpus. Those that can be made are made as one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Edits")]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Edits {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// Why the changes are made, for the history.
    pub why: String,
    /// The changes.
    pub edits: Vec<Edit>,
}

/// One change to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Edit {
    /// Make the file, or replace what it holds.
    Write {
        /// The file, relative to the root of the corpus.
        path: String,
        /// All of what it is to hold.
        content: String,
        /// Why.
        reason: String,
        /// The files or sessions that the change was derived from.
        #[serde(default)]
        sources: Vec<String>,
        /// Edits of one group are made together or not at all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        /// The BLAKE3 hash of what the author of the edit saw there, or `nothing`. If something
        /// else is there by now, it stays, and the edit goes to the conflicts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
    },
    /// Take the file away; it goes to the archive.
    Delete {
        /// The file, relative to the root of the corpus.
        path: String,
        /// Why.
        reason: String,
        /// The files or sessions that the change was derived from.
        #[serde(default)]
        sources: Vec<String>,
        /// Edits of one group are made together or not at all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
        /// The BLAKE3 hash of what the author of the edit saw there, or `nothing`. If something
        /// else is there by now, it stays, and the edit goes to the conflicts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
    },
}

only_from_map!(Edits, Edit);
