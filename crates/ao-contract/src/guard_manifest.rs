//! A work tree and its `.git` at one moment, as `ao guard audit --begin` keeps them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SchemaVersion;

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symlink.
    Link,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManifestEntry {
    /// Relative to the root. A byte that is not UTF-8 is `\xNN`, and a backslash is `\\`. What git keeps
    /// elsewhere for a linked work tree is under `.git/@private` and `.git/@common`.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its permissions, with the set-id bits.
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its bytes; 0 for a folder.
    pub size: u64,
    /// How many names it has; 1 for a folder.
    pub links: u64,
    /// BLAKE3 of a file's bytes; absent for what is no file, or too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Seconds and nanoseconds of its last change, of a file that is too large to be hashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<String>,
    /// Where a link leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Extended attributes that grant something or that anybody can set, by name, as BLAKE3.
    pub attributes: BTreeMap<String, String>,
}

/// A work tree and its `.git` at one moment. Closed: it is compared, not extended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Guard manifest")]
#[serde(deny_unknown_fields)]
pub struct GuardManifest {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The project, written as the paths of the entries are.
    pub root: String,
    /// When it was taken.
    pub taken_at: String,
    /// Everything in it, sorted by path.
    pub entries: Vec<ManifestEntry>,
    /// Paths that could not be looked at, with the reason.
    pub unread: BTreeMap<String, String>,
}
