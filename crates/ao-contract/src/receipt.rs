//! What a night leaves to prove that it was, a line a run, `overnight/receipts.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{HASH, UTC};
use crate::{Extra, RunStatus, SchemaVersion};

/// One line of `overnight/receipts.jsonl`. Each names the hash of the line before it, and ends with a
/// seal over its own bytes that only the key of this user on this machine makes. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Receipt")]
pub struct Receipt {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// Which receipt of this repository it is, from 1.
    pub number: u64,
    /// The run.
    pub run_id: String,
    /// When it began.
    #[schemars(regex(pattern = UTC))]
    pub began: String,
    /// When it ended; of one that was cut off, the last that is known of it.
    #[schemars(regex(pattern = UTC))]
    pub finished: String,
    /// How long it took, by the clock that never jumps; absent if it was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<u64>,
    /// The program that wrote this, as its file and its user tell it from others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What the run began with.
    pub inputs: ReceiptInputs,
    /// What it did.
    pub work: ReceiptWork,
    /// `done` or `failed`.
    pub status: RunStatus,
    /// The exit code that the process ended with; absent if it was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<u8>,
    /// What failed softly, by the name of its step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<String>,
    /// Why it ended otherwise than by having done everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<ReceiptEnd>,
    /// The same, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The folder of its report: relative to the repository if it lies in it, else absolute.
    pub output_dir: String,
    /// The BLAKE3 hash of its `summary.json` as it was written; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = HASH))]
    pub summary: Option<String>,
    /// The BLAKE3 hash of `overnight/night-files.json` as it was when this was written; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = HASH))]
    pub files: Option<String>,
    /// Who wrote this line.
    pub written_by: ReceiptWriter,
    /// The commit of this run that was decided and not finished when this was written: the next start finishes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
    /// The number of the receipt of this run that this one puts right: a commit of it was decided and not
    /// finished, and a later start finished it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amends: Option<u64>,
    /// The BLAKE3 hash of the line without a seal that this one takes note of. There was no key when it was
    /// written, or it was made by hand: nobody vouches for what it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = HASH))]
    pub unsealed: Option<String>,
    /// The BLAKE3 hash of the line before it, without its end; absent in the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = HASH))]
    pub previous: Option<String>,
    /// Which key the seal is of; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
    /// The keyed BLAKE3 hash of the bytes of the line up to this field; absent if there was no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = HASH))]
    pub seal: Option<String>,
}

/// What a run began with, as far as it came to know it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptInputs {
    /// Entries of the corpus, pending ones left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entries: Option<u64>,
    /// Pending learnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
    /// Repositories to harvest from.
    #[serde(default)]
    pub harvest_sources: u64,
    /// Entries that those have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harvest_entries: Option<u64>,
    /// Drafts of a model that wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drafts: Option<u64>,
    /// Transcripts of agents that worked in this repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcripts: Option<u64>,
    /// Items that the operator put ahead.
    #[serde(default)]
    pub queue: u64,
    /// Whom it would ask.
    #[serde(default)]
    pub runners: Vec<String>,
    /// The BLAKE3 hash of the corpus as it was read; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = HASH))]
    pub corpus: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a run did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptWork {
    /// Turns of the loop.
    pub iterations: u64,
    /// Those of them that were gone through to the end.
    pub finished: u64,
    /// Those of them that were committed.
    pub kept: u64,
    /// Edits of those that were committed.
    pub edits: u64,
    /// Copies that were merged.
    pub merged: u64,
    /// Entries that were archived.
    pub archived: u64,
    /// Pending learnings that were promoted.
    pub promoted: u64,
    /// Pending learnings that were judged.
    pub judged: u64,
    /// Repositories and drafts that were looked through.
    pub sources_read: u64,
    /// Entries that were taken from them.
    pub harvested: u64,
    /// Packets for the morning.
    pub packets: u64,
    /// Runners that answered.
    pub answered: u64,
    /// The run whose findings were carried over, since nothing had changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged_since: Option<String>,
    /// Its commits, in order.
    #[serde(default)]
    pub commits: Vec<ReceiptCommit>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A commit of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptCommit {
    /// As the history has it.
    pub id: String,
    /// The BLAKE3 hash of its record.
    #[schemars(regex(pattern = HASH))]
    pub record_hash: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Why a run ended otherwise than by having done everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptEnd {
    /// Its time ended.
    Time,
    /// Fitness would have fallen.
    Regression,
    /// Nothing moved any more.
    Plateau,
    /// The disk was full.
    DiskFull,
    /// A signal ended it, and it wrote its report.
    Signal,
    /// It was killed, or the machine went down.
    CutOff,
    /// Something else failed.
    Failure,
}

/// Who wrote a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReceiptWriter {
    /// The run itself.
    Run,
    /// The start of the next run: it was cut off, or had not come to it.
    NextStart,
}

/// What is known of a repository's receipts outside of it, in the private folder of the user: how many there
/// are, the hash of the last, and the runs that have none yet. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Head of receipts")]
pub struct ReceiptHead {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The repository, as an absolute path.
    pub repo_root: String,
    /// The number of the last receipt; 0 if there is none.
    pub count: u64,
    /// The BLAKE3 hash of its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = HASH))]
    pub last: Option<String>,
    /// The BLAKE3 hash of `overnight/night-files.json`; absent if none was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = HASH))]
    pub files: Option<String>,
    /// The hash that it is about to have: whoever was killed in between left one of the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = HASH))]
    pub files_next: Option<String>,
    /// The number of the first receipt that was written at this place: those before it came with the file.
    #[serde(default = "first")]
    pub since: u64,
    /// The runs that began and have no receipt yet, oldest first.
    #[serde(default)]
    pub open: Vec<ReceiptOpen>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A run that began and has no receipt yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptOpen {
    /// The run.
    pub run_id: String,
    /// The folder of its report, as an absolute path.
    pub output_dir: String,
    /// When it began.
    #[schemars(regex(pattern = UTC))]
    pub began: String,
    /// What it began with, as far as that was known.
    pub inputs: ReceiptInputs,
    /// Why it ended, where it came to its end and its receipt could not be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

fn first() -> u64 {
    1
}
