//! What the curator's worker leaves: its status, its findings, and what it asks an engine for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{HASH, UTC};
use crate::{Extra, SchemaVersion};

/// What the worker is doing, `logs/status.json` in its directory. Other workers write it too, so only the
/// process is needed. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Curator worker")]
pub struct CuratorWorker {
    /// Its process.
    pub pid: u32,
    /// When the process started, in the kernel's ticks: tells a reused process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_start: Option<u64>,
    /// What it does: `working`, or `ended`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The job that it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// When this was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = UTC))]
    pub updated_at: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What is wrong with a note.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LintRule {
    /// A link to a note or file that is not there.
    DeadLink,
    /// A link to a heading that its note does not have.
    DeadHeading,
    /// A link by a name that several notes have.
    AmbiguousLink,
    /// A link that leads out of the vault; it is not followed.
    OutsideLink,
    /// A title that another note has too.
    DoubleTitle,
    /// An `id` that another note has too.
    DoubleId,
    /// A note without a header between `---` lines.
    MissingHeader,
    /// A header that cannot be read beyond doubt.
    BrokenHeader,
    /// A note without a title: neither in its header nor as a heading.
    MissingTitle,
    /// A note that says nothing.
    EmptyNote,
    /// Something that cannot be read as a note: no text, too large, a symlink.
    Unreadable,
}

impl LintRule {
    pub fn name(self) -> &'static str {
        match self {
            Self::DeadLink => "dead-link",
            Self::DeadHeading => "dead-heading",
            Self::AmbiguousLink => "ambiguous-link",
            Self::OutsideLink => "outside-link",
            Self::DoubleTitle => "double-title",
            Self::DoubleId => "double-id",
            Self::MissingHeader => "missing-header",
            Self::BrokenHeader => "broken-header",
            Self::MissingTitle => "missing-title",
            Self::EmptyNote => "empty-note",
            Self::Unreadable => "unreadable",
        }
    }
}

/// One fault of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LintFault {
    /// What is wrong.
    pub rule: LintRule,
    /// The note, from the vault folder.
    pub path: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong, in words.
    pub message: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a `lint-wiki` job found, `findings/<job>.json` in the worker's directory. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Curator lint")]
pub struct CuratorLint {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The job.
    pub job: String,
    /// When it was looked.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// The vault folder.
    pub vault_dir: String,
    /// How many notes were read.
    pub notes: u64,
    /// How many faults there are; more than are listed, if there are very many.
    pub total: u64,
    /// The faults, by path and line.
    pub faults: Vec<LintFault>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A compaction that is under way, `logs/compacting.json`: what a killed one leaves to the next. Unknown
/// fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Curator compaction")]
pub struct Compacting {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The compacted file, by its name in `logs/compacted/`.
    pub compacted: String,
    /// What its bytes hash to once it is whole.
    #[schemars(regex(pattern = HASH))]
    pub hash: String,
    /// The entries that it holds.
    pub entries: Vec<CompactingEntry>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One log entry of a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompactingEntry {
    /// Its file.
    pub name: String,
    /// What its bytes hash to; one that has changed since stays.
    #[schemars(regex(pattern = HASH))]
    pub hash: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
