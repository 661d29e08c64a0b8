//! What the corpus knows about a goal, `briefing.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Contradiction, Extra, Finite, SchemaVersion, Trust};

/// What bears on a goal, within a number of tokens. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Knowledge brief")]
pub struct KnowledgeBrief {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// The goal.
    pub goal: String,
    /// The most tokens that were allowed, of four bytes each.
    pub tokens_max: u64,
    /// How many the text takes.
    pub tokens: u64,
    /// The entries that it quotes, best first.
    pub sources: Vec<BriefSource>,
    /// What it quotes, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<BriefLine>,
    /// What it quotes, or what the goal has words of, and another entry denies, with nobody having ruled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disputed: Vec<Contradiction>,
    /// How many more of these there are than are listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disputed_more: Option<u64>,
    /// Words of the goal that no entry has.
    pub missing: Vec<String>,
    /// Words of the goal that entries have, and no line of this brief.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unquoted: Vec<String>,
    /// The brief itself, for a prompt; every line names its file and line.
    pub markdown: String,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An entry that a brief quotes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BriefSource {
    /// The entry, relative to `.agents/`.
    pub path: String,
    /// The heading of its best passage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// How well it bears on the goal.
    pub score: Finite,
    /// How far it is trusted, where that is less than `code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// A pattern that fewer learnings say by now than a pattern needs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weakened: bool,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A line that a brief quotes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BriefLine {
    /// As it stands there, on one line; a long one is cut.
    pub text: String,
    /// The entry, relative to `.agents/`.
    pub path: String,
    /// Where it begins in the file, from 1.
    pub line: u64,
    /// The heading that it stands under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// How far the entry is trusted, where that is less than `code`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
    /// It is of a pattern that fewer learnings say by now than a pattern needs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weakened: bool,
    /// The card of the dispute that it is one side of, or says the same as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disputed: Option<String>,
    /// The day of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
