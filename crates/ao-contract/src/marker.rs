//! The commit marker: while it exists a commit is under way, and recovery finishes it.
//!
//! It is closed, and one word in it that is not understood makes it doubtful: recovery moves
//! directories on its authority alone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::only_map::only_from_map;
use crate::pattern::{HASH, UTC};

/// The one format of markers that `ao` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MarkerFormat {
    #[serde(rename = "ao-tree/1")]
    AoTree1,
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
    /// Always `ao-tree/1`.
    pub format: MarkerFormat,
    /// Always `roll-forward`: all that the commit needs is staged and durable.
    pub state: MarkerState,
    /// The commit.
    pub iteration_id: String,
    /// When the commit began.
    #[schemars(regex(pattern = UTC))]
    pub started_at: String,
    /// What is swapped, in this order.
    pub slots: Vec<Slot>,
    /// The BLAKE3 hash of the staged plan.
    #[schemars(regex(pattern = HASH))]
    pub plan_hash: String,
    /// The BLAKE3 hash of this object with an empty checksum.
    #[schemars(regex(pattern = HASH))]
    pub checksum: String,
}

/// One swap of a staged path with a live one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Slot {
    /// The live path, relative to the root.
    pub live: String,
    /// The staged path, relative to the root.
    pub staged: String,
    /// What both are.
    pub kind: SlotKind,
    /// The inode at the live path before the swap, if there was one.
    pub old_inode: Option<u64>,
    /// The inode at the staged path before the swap.
    pub new_inode: Option<u64>,
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlotKind {
    Dir,
    File,
}

only_from_map!(Marker, Slot);
