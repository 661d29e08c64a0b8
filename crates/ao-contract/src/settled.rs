//! What a night found out about a corpus that it left as it was, `overnight/settled.json`: a cache.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::{DAY, UTC};
use crate::{
    CloseLoop, Contradictions, Defrag, DreamScape, Extra, MetricsHealth, RetrievalBench,
    SchemaVersion, SettledQuestion, Trust,
};

/// What the last night that had nothing to do found out, kept for the next one. It holds only as
/// long as everything in it that identifies the corpus and the program is still so. It may be
/// deleted at any time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Settled corpus")]
pub struct Settled {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// BLAKE3 of this file with nothing here, in hexadecimal digits.
    pub digest: String,
    /// The program that found it out: its version, its file, and who ran it.
    pub program: String,
    /// The repository, as an absolute path: paths in logs may begin with it.
    pub repo_root: String,
    /// How old a pending learning must be to be promoted.
    pub promote_after: String,
    /// How far a text must be trusted to be promoted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust_promote_at: Option<Trust>,
    /// The folder of pending texts as the newest commit has it: git's own name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending_tree: Option<String>,
    /// The run that found it out.
    pub run_id: String,
    /// When that run looked at the corpus.
    #[schemars(regex(pattern = UTC))]
    pub looked_at: String,
    /// The day of that run, by which it judged terms and waits. A file without it is of an earlier `ao`, and does
    /// not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = DAY))]
    pub day: Option<String>,
    /// The first day on which something expires or may be promoted; from then on it does not count. Absent if
    /// there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = DAY))]
    pub changes_on: Option<String>,
    /// BLAKE3 over the name, kind, size, inode, device and both times of all that the night reads.
    pub fingerprint: String,
    /// How many files and folders the fingerprint is of.
    pub entries: u64,
    /// The same of the transcripts that the night reads; absent if it reads none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcripts: Option<String>,
    /// What was taken in, as the record of the iteration tells it.
    pub ingest: Extra,
    /// What was looked for, as the record of the iteration tells it.
    pub reduce: Extra,
    /// What became of pending learnings and feedback.
    pub close_loop: CloseLoop,
    /// What is left to merge, prune and review.
    pub defrag: Defrag,
    /// The health of the corpus.
    pub metrics_health: MetricsHealth,
    /// How well it answers; null if nothing could be asked.
    pub retrieval_live: Option<RetrievalBench>,
    /// Why nothing could be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retrieval_absent: Option<String>,
    /// Which of the last questions it answers; absent if they were not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<SettledQuestion>>,
    /// What of the corpus contradicts itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradictions: Option<Contradictions>,
    /// The corpus as a landscape.
    pub dreamscape: DreamScape,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
