//! What a bench of retrieval found, `retrieval-bench.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Extra, Finite, SchemaVersion, Unit};

/// What was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BenchMode {
    /// A corpus, by questions of its own.
    Live,
    /// A labelled set.
    Dataset,
}

/// Where a question of a live bench comes from.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionSource {
    /// Somebody asked it, and entries were cited for it.
    Citation,
    /// It was made from a sentence of an entry, without the words of its title.
    Probe,
    /// Somebody asked it, and nobody said what is right: it counts apart, and not in a mean.
    Asked,
}

/// The same corpus gives the same bytes: nothing here depends on time, place or machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Retrieval bench")]
pub struct RetrievalBench {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// What was asked.
    pub mode: BenchMode,
    /// What was searched: `learnings`, `global` or `directory`; the word `dataset` for a labelled
    /// set.
    pub corpus: String,
    /// How many entries it has that can be found.
    pub entries: u64,
    /// How many questions count.
    pub queries: u64,
    /// How many were left out, because nothing is right for them.
    pub queries_left_out: u64,
    /// Discounted gain of the first ten over that of the best possible ten.
    pub ndcg_at_10: Unit,
    /// The share of what is right that is among the first five.
    pub recall_at_5: Unit,
    /// The share of what is right that is among the first ten.
    pub recall_at_10: Unit,
    /// One over the place of the first right one, if it is among the first ten.
    pub mrr_at_10: Unit,
    /// Mean average precision.
    pub map: Unit,
    /// The same by where questions come from; empty for a labelled set.
    pub sources: Vec<BenchSource>,
    /// The last questions of the log, apart from all means; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<BenchAsked>,
    /// Every question of a live bench, so that a later run can ask the same ones.
    pub questions: Vec<BenchQuestion>,
    /// Why the citation log could not be read, so that past questions are missing; absent if it could, or if
    /// there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub citation_log_unread: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The questions of one source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchSource {
    /// Where they come from.
    pub source: QuestionSource,
    /// How many count.
    pub queries: u64,
    /// Their mean.
    pub ndcg_at_10: Unit,
}

/// The last questions that were asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BenchAsked {
    /// How many there are.
    pub questions: u64,
    /// How many of them have an answer.
    pub answered: u64,
}

/// A question, and what is right for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchQuestion {
    /// Where it comes from.
    pub source: QuestionSource,
    /// What is asked. Empty where no probe can be made from an entry: that counts as a miss.
    pub query: String,
    /// What is right.
    pub expected: Vec<BenchExpected>,
    /// How it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ndcg_at_10: Option<Unit>,
    /// Of one that counts apart: whether it has an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered: Option<bool>,
}

/// An entry that is right for a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BenchExpected {
    /// The entry, from the root of the corpus.
    pub path: String,
    /// How right: 3 if it was applied, 2 if it was referred to, 1 if it was shown.
    pub weight: Finite,
}
