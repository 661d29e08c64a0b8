//! What the commands that bring knowledge in tell: closing the loop, and harvesting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::DAY;
use crate::{Extra, Finite, Maturity, SchemaVersion, Sign, Trust, Unit};

/// Whether the corpus was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeStatus {
    /// It was, as one commit.
    Committed,
    /// There was nothing to change, or nothing that could be.
    NothingChanged,
    /// Nothing was written; this is what would change.
    DryRun,
}

/// Something that was left as it is, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftAlone {
    /// The file, or the line of a log as `file:line`.
    pub path: String,
    /// Why.
    pub why: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Something that was not taken because of what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Poisoned {
    /// Where it is, with its repository.
    pub path: String,
    /// How far it is trusted.
    pub trust: Trust,
    /// What speaks against it.
    pub signs: Vec<Sign>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What closing the loop did with pending learnings and with feedback, `close-loop.json`.
/// Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Close-loop result")]
pub struct CloseLoop {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// Whether the corpus was changed.
    pub status: ChangeStatus,
    /// The commit, if there is one.
    #[serde(default)]
    pub id: Option<String>,
    /// The day that the age of pending learnings is counted from; null in reports of an earlier `ao` over a corpus without
    /// dates.
    #[serde(default)]
    #[schemars(regex(pattern = DAY))]
    pub as_of: Option<String>,
    /// How old a pending learning had to be, such as `24h0m0s`.
    pub min_age: String,
    /// The score at which a pending learning was promoted.
    pub promote_at: Unit,
    /// How many were promoted.
    pub promoted: u64,
    /// How many said what an entry says already, word for word.
    pub known: u64,
    /// How many stay pending.
    pub kept: u64,
    /// How many of these wait for a person.
    #[serde(default, skip_serializing_if = "is_none")]
    pub waiting: u64,
    /// How far a pending learning had to be trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust_promote_at: Option<Trust>,
    /// Each pending learning with what became of it.
    pub pending: Vec<PendingVerdict>,
    /// How many judgements were taken.
    pub rewards: u64,
    /// Each entry that was judged.
    pub feedback: Vec<FeedbackVerdict>,
    /// Lines of the logs that could not be used.
    pub unused: Vec<LeftAlone>,
    /// Files of the corpus that could not be read or must not be changed.
    pub left: Vec<LeftAlone>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What became of a pending learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Promotion {
    /// It is a learning now.
    Promoted,
    /// Another entry says the same, word for word; it was filed as that one.
    Known,
    /// It stays pending.
    Kept,
}

/// One pending learning, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PendingVerdict {
    /// The pending file.
    pub path: String,
    /// What became of it.
    pub verdict: Promotion,
    /// Why.
    pub reason: String,
    /// The sum of its signals, from 0 to 1; null if it was not read that far.
    #[serde(default)]
    pub score: Option<Unit>,
    /// What was seen in the text, each with its amount.
    pub signals: Vec<Signal>,
    /// The learning that it became, or that says the same.
    #[serde(default)]
    pub promoted_to: Option<String>,
    /// How far it is trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// What it is trusted by, where it waits for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust_why: Vec<String>,
    /// What speaks of poison in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signs: Vec<Sign>,
    /// Whether only a person's word can promote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_person: bool,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One thing that speaks for a text, or against it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Signal {
    /// Its name in the published table.
    pub name: String,
    /// What it adds to the score.
    pub amount: Finite,
    /// What was seen.
    pub seen: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What feedback did to one entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FeedbackVerdict {
    /// The entry.
    pub path: String,
    /// How many judgements it got.
    pub rewards: u64,
    /// How many of them say that it helped.
    pub helpful: u64,
    /// How many of them say that it did harm.
    pub harmful: u64,
    /// Its utility before.
    pub utility_before: Unit,
    /// Its utility after.
    pub utility_after: Unit,
    /// How far it had come; null if it did not say.
    #[serde(default)]
    pub maturity_before: Option<Maturity>,
    /// How far it has come; null if it does not say.
    #[serde(default)]
    pub maturity_after: Option<Maturity>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What was harvested from other repositories. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Harvest result")]
pub struct Harvest {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// Whether the corpus was changed.
    pub status: ChangeStatus,
    /// The commit, if there is one.
    #[serde(default)]
    pub id: Option<String>,
    /// The confidence under which nothing was taken.
    pub min_confidence: Unit,
    /// The corpora that were looked at.
    pub sources: Vec<HarvestSource>,
    /// What was taken.
    pub harvested: Vec<Harvested>,
    /// What was not taken, and why.
    pub skipped: Vec<LeftAlone>,
    /// Those of them that have signs of poison.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub poisoned: Vec<Poisoned>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One corpus that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HarvestSource {
    /// The name of its repository.
    pub repo: String,
    /// Where it is.
    pub path: String,
    /// How many entries it has.
    pub entries: u64,
    /// How many were taken.
    pub harvested: u64,
    /// Why nothing of it was looked at, if so.
    #[serde(default)]
    pub refused: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One entry that was taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Harvested {
    /// What it is here.
    pub path: String,
    /// The repository that it comes from.
    pub repo: String,
    /// What it is there.
    pub original_path: String,
    /// How far it is trusted, from 0 to 1.
    pub confidence: Unit,
    /// The BLAKE3 hash of its text.
    pub hash: String,
    /// How far it is trusted here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// Fields of a draft's header that do not count: what it says of its own worth, and what no draft says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unkept: Vec<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where a taken thing comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TakenFrom {
    /// `ao/citations.jsonl`.
    Citations,
    /// `ao/feedback.jsonl`.
    Feedback,
    /// Another repository.
    Harvest,
    /// Learnings that say the same, which a pattern was compiled from.
    Patterns,
    /// The transcripts of coding agents.
    Transcripts,
}

/// One line of a ledger in `knowledge/taken/`: that something was taken, so that it is not taken
/// again. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Taken line")]
pub struct Taken {
    /// A hash of what was taken.
    pub key: String,
    /// Where it comes from.
    pub from: TakenFrom,
    /// The entry that it went into.
    pub entry: String,
    /// When it was said, or taken where it does not say.
    pub at: String,
    /// The judgement, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<Finite>,
    /// The repository and the path there, if it was harvested; the file and the line, if it was in a transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The learnings, if it is a pattern that was compiled from them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde hands it over")]
fn is_none(count: &u64) -> bool {
    *count == 0
}
