//! What was read of each transcript, so that it is not read again: a cache.
//!
//! It may be deleted at any time: then everything is read once more, and the ledger keeps what was taken
//! from being taken twice. It holds what may be learned and nothing that seems to be a secret.

use std::collections::BTreeMap;
use std::path::Path;

use ao_tree::own_file;
use serde::{Deserialize, Serialize};

use super::list::Stamp;
use super::watch::{Lessons, Watch};

/// Where it lies beneath `.agents/`.
pub const MEMO: &str = "ao/index/transcripts.json";
/// Other rules give other lessons.
const VERSION: u32 = 4;
/// A larger one is not read: to read the transcripts again is as cheap.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

/// What is known of all transcripts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Memo {
    version: u32,
    /// The repository that it was read for.
    root: String,
    pub(super) files: BTreeMap<String, Kept>,
}

/// Whose a transcript is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Whose {
    Own,
    Elsewhere,
    /// It does not say so far.
    Unsaid,
}

/// What is known of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) stamp: Stamp,
    pub(super) whose: Whose,
    /// How far it was read, and how many lines ended there.
    pub(super) read: u64,
    pub(super) ends: u64,
    /// BLAKE3 of its first bytes, and of those before the place where reading ended.
    pub(super) head: String,
    pub(super) tail: String,
    pub(super) bad_lines: u64,
    pub(super) watch: Watch,
    pub(super) lessons: Lessons,
    /// Why it was left alone, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) left: Option<String>,
}

impl Memo {
    pub(super) fn new(root: &Path) -> Self {
        Self { version: VERSION, root: root.to_string_lossy().into_owned(), files: BTreeMap::new() }
    }

    /// What was kept for this repository; nothing where it is missing, damaged, or of another version.
    pub fn read(agents: &Path, root: &Path) -> Self {
        Self::kept(agents, root).unwrap_or_else(|| Self::new(root))
    }

    fn kept(agents: &Path, root: &Path) -> Option<Self> {
        let bytes = own_file::read(&agents.join(MEMO), BYTES_MAX).ok()?;
        let end = memchr::memchr(b'\n', &bytes)?;
        let (digest, body) = (&bytes[..end], &bytes[end + 1..]);
        if blake3::hash(body).to_hex().as_bytes() != digest {
            return None;
        }
        let memo: Self = serde_json::from_slice(body).ok()?;
        let is_ours = memo.version == VERSION && memo.root == root.to_string_lossy();
        is_ours.then_some(memo)
    }

    /// As it is written: a line with a digest, and the rest.
    pub fn bytes(&self) -> Vec<u8> {
        let body = serde_json::to_vec(self).unwrap_or_default();
        let mut bytes = blake3::hash(&body).to_hex().as_bytes().to_vec();
        bytes.push(b'\n');
        bytes.extend_from_slice(&body);
        bytes
    }
}
