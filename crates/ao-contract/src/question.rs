//! What people and agents asked the corpus, `ao/questions.jsonl`, and what a night found to be answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Extra, Open};

/// Which command was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AskedBy {
    Search,
    Lookup,
    Brief,
}

/// One line of `ao/questions.jsonl`. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Question line")]
pub struct AskedQuestion {
    /// When it was asked.
    pub asked_at: String,
    /// Which command was asked: `search`, `lookup` or `brief`.
    pub by: Open<AskedBy>,
    /// What was asked.
    pub question: String,
    /// How many entries came back.
    pub answered: u64,
    /// The first of them, relative to `.agents/`.
    #[serde(default)]
    pub top: Vec<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a night was told of the log of questions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NightQuestions {
    /// The last questions that differ, the newest first.
    pub asked: Vec<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How many of the last questions have an answer before the night, and after it. Nothing is decided by this.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastQuestions {
    /// How many there are.
    pub asked: u64,
    /// How many of them had an answer before the night.
    pub answered_before: u64,
    /// How many have one after it.
    pub answered_after: u64,
    /// Those that have one only since, the newest first.
    pub gained: Vec<String>,
    /// Those that have none since, the newest first.
    pub lost: Vec<String>,
    /// How many of them are among the questions that edits are judged by, because somebody used an answer to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<u64>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A question, and whether it has an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettledQuestion {
    /// What was asked.
    pub question: String,
    /// Whether it has an answer.
    pub answered: bool,
}
