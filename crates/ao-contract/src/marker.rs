//! The commit marker: while it exists a commit is under way, and recovery finishes it.
//!
//! It is closed, and one word in it that is not understood makes it doubtful: recovery moves
//! files on its authority alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::only_map::only_from_map;
use crate::pattern::{HASH, UTC};

/// The one format of markers that `ao` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MarkerFormat {
    #[serde(rename = "ao-tree/2")]
    AoTree2,
}

/// What recovery is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MarkerState {
    RollForward,
}

/// The file `overnight/COMMIT-MARKER.<iteration-id>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Commit marker")]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Marker {
    /// Always `ao-tree/2`. The first format exchanged whole folders; a marker of it is still finished.
    pub format: MarkerFormat,
    /// Always `roll-forward`: all that the commit needs is staged and durable.
    pub state: MarkerState,
    /// The commit.
    pub iteration_id: String,
    /// When the commit began.
    #[schemars(regex(pattern = UTC))]
    pub started_at: String,
    /// What is brought into the tree, in this order: additions, replacements, removals.
    pub slots: Vec<Slot>,
    /// The BLAKE3 hash of the staged plan.
    #[schemars(regex(pattern = HASH))]
    pub plan_hash: String,
    /// The BLAKE3 hash of this object with an empty checksum.
    #[schemars(regex(pattern = HASH))]
    pub checksum: String,
}

/// One path that the commit changes. What stands there and what is staged tell what is left to do: a
/// path that was brought in has its new content, and staging has what came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Slot {
    /// The path, relative to the root.
    pub path: String,
    /// What it is: a file, or a folder that is new with all that is in it.
    pub kind: SlotKind,
    /// The BLAKE3 hash of what the commit was made against; absent if nothing stood there.
    pub base: Option<String>,
    /// The BLAKE3 hash of what it becomes; absent if it goes, or is a folder.
    pub new: Option<String>,
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlotKind {
    Dir,
    File,
}

only_from_map!(Marker, Slot);
