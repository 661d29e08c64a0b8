//! A tree as it was: today's files, but for those that are known to have been otherwise.

use std::collections::BTreeMap;

/// How an earlier state differs from what lies in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    /// Names the state, also among the caches; the same name is the same state.
    pub name: String,
    /// The end of it, in nanoseconds since the epoch.
    pub until_ns: i64,
    /// Where the bytes of each file lie that is not what it was; `None` for one that was not there.
    pub files: BTreeMap<String, Option<Elsewhere>>,
}

/// The bytes of a file, kept under another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// The folder, beneath `.agents/`.
    pub folder: String,
    /// Beneath that folder.
    pub name: String,
    /// The BLAKE3 hash that they must have.
    pub hash: String,
}
