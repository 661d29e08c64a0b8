//! What `ao defrag` found and would change, `defrag/latest.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Certificate, Extra, SchemaVersion, Unit};

/// What became of a defrag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DefragStatus {
    /// There is nothing to do.
    NothingToDo,
    /// The changes are shown and not made.
    Preview,
    /// The changes are made.
    Committed,
}

/// Why an entry is archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PruneRule {
    /// A finding past its own term.
    Expired,
    /// Another entry replaced it, and is there.
    Superseded,
}

/// An entry that is merged into another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefragMember {
    /// The file that goes.
    pub path: String,
    /// How much of the stems of both is in both, 0 to 1.
    pub stems: Unit,
    /// How much of the pairs of neighbouring stems of both is in both, 0 to 1.
    pub pairs: Unit,
    /// Whether both claim the same, word for word.
    pub is_exact: bool,
    /// The proof that nothing is lost.
    pub certificate: Certificate,
}

/// One entry and the copies that it takes in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefragMerge {
    /// What `--explain` knows it by.
    pub id: String,
    /// The file that stays.
    pub survivor: String,
    /// The files that go.
    pub members: Vec<DefragMember>,
    /// Why, in words.
    pub reason: String,
    /// Files whose references to those that go are rewritten.
    pub referrers: Vec<String>,
}

/// An entry that is archived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefragPrune {
    /// What `--explain` knows it by.
    pub id: String,
    /// The file that goes.
    pub path: String,
    /// By which rule.
    pub rule: PruneRule,
    /// Why, in words.
    pub reason: String,
    /// The proof that it may go.
    pub certificate: Certificate,
}

/// Two entries that are alike and are left as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefragPair {
    /// The better one.
    pub one: String,
    /// The other one.
    pub other: String,
    /// How much of the stems of both is in both, 0 to 1.
    pub stems: Unit,
    /// How much of the pairs of neighbouring stems of both is in both, 0 to 1.
    pub pairs: Unit,
    /// Why they are not merged.
    pub why: String,
}

/// Something that was not done, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefragKept {
    /// The file that stays.
    pub path: String,
    /// Why.
    pub why: String,
    /// The certificate that refused it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
}

/// What became of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PatternChange {
    /// It is new.
    Compiled,
    /// More learnings say it.
    Extended,
    /// One of its sources no longer says it.
    Withdrawn,
    /// So many no longer say it that too few are left.
    Weakened,
    /// Its sources go by other names or words.
    Renamed,
}

/// A source that no longer says what its pattern says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DefragWithdrawn {
    /// The learning.
    pub path: String,
    /// What became of it.
    pub why: String,
}

/// A pattern that is compiled from learnings, or kept up with them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DefragPattern {
    /// Its page.
    pub path: String,
    /// What becomes of it.
    pub change: PatternChange,
    /// What it says, in the words of one of its sources.
    pub claim: String,
    /// The learnings that say it.
    pub sources: Vec<String>,
    /// Those of them that are new to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<String>,
    /// Learnings that say it no longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<DefragWithdrawn>,
    /// The least share of stems that a source and the claim have in common, where it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub likeness: Option<Unit>,
    /// Why, in words.
    pub why: String,
}

/// A target whose results go back and forth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Oscillation {
    /// What the cycles worked on.
    pub target: String,
    /// How often the result turned, within the cycles that were looked at.
    pub turns: u32,
    /// The results, oldest first: `improved` or `failed`.
    pub results: Vec<String>,
    /// The entry of that name, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
}

/// The report of `ao defrag`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Defrag report")]
pub struct Defrag {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// What became of it.
    pub status: DefragStatus,
    /// The day that terms are judged by; absent if none was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Copies that become one.
    pub merges: Vec<DefragMerge>,
    /// Entries that are archived.
    pub prunes: Vec<DefragPrune>,
    /// Patterns that are compiled, or kept up with their sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<DefragPattern>,
    /// Entries that are alike and are left as they are.
    pub review: Vec<DefragPair>,
    /// What could have been merged or archived, and was not.
    pub kept: Vec<DefragKept>,
    /// Targets whose results go back and forth.
    pub oscillations: Vec<Oscillation>,
    /// Lines of the cycle history that could not be read.
    pub cycles_unread: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
