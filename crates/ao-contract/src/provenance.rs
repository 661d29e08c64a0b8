//! Where the files of the archive came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{HASH, UTC};
use crate::{Extra, SchemaVersion};

/// The file `overnight/archive/<id>/provenance.json`: what a commit merged or pruned. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Archive provenance")]
pub struct Provenance {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The commit.
    pub id: String,
    /// When it was made.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// The files that it took out of the corpus.
    pub entries: Vec<Archived>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One file of the archive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Archived {
    /// Where it stood, relative to the root of the corpus.
    pub path: String,
    /// The BLAKE3 hash of its bytes.
    #[schemars(regex(pattern = HASH))]
    pub hash: String,
    /// Why it was taken out.
    pub reason: String,
    /// The files or sessions that this was derived from.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
