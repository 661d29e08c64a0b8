//! An exchange with a runner as it was, `overnight/cassettes/RUN.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::pattern::UTC;
use crate::{Extra, Money, SchemaVersion};

/// One line of a cassette: what a runner was asked, and what came back. An answer or a failure is there,
/// never both. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Cassette line")]
pub struct CassetteLine {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// When it was asked.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// Who was asked.
    pub runner: String,
    /// Its model, where one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it was asked for, in one word.
    pub purpose: String,
    /// The random word that stands around the material of the question.
    pub nonce: String,
    /// The whole text that was sent.
    pub question: String,
    /// What the answer had to look like.
    pub form: CassetteForm,
    /// How far it might go.
    pub budget: CassetteBudget,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// The exit code of the program; absent for a call over HTTP, and for a program that a signal ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = i32::MIN, max = i32::MAX))]
    pub exit: Option<i32>,
    /// What it answered, as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What it says that it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<CassetteUsage>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<CassetteFailure>,
    /// What it tried in its cell and was not let do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<CassetteRefusal>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Something that a cell did not allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CassetteRefusal {
    /// The rule that is against it.
    pub rule: String,
    /// What was tried.
    pub what: String,
}

/// What an answer had to look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CassetteForm {
    /// The name of the format.
    pub name: String,
    /// The JSON Schema that was sent along.
    pub schema: Value,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How far a runner might go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CassetteBudget {
    /// Milliseconds.
    pub time_ms: u64,
    /// Tokens of question and answer together.
    pub tokens: u64,
    /// Turns.
    pub turns: u32,
    /// Millionths of a US dollar.
    pub usd_micros: u64,
    /// Bytes of the answer and whatever is said around it.
    pub output_bytes: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a runner says that it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CassetteUsage {
    /// Tokens; absent if it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Turns.
    pub turns: u32,
    /// Whose money it was.
    pub money: Money,
    /// Millionths of a US dollar.
    pub usd_micros: u64,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CassetteFailure {
    /// The kind, in one word.
    pub kind: FailureKind,
    /// The whole message.
    pub message: String,
    /// What it is about: a program, a runner, or what was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// The milliseconds or bytes that were too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// When a limit of the runner's ends, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = UTC))]
    pub until: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The kinds of failure of a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The program is not there.
    Missing,
    /// Nobody is logged in.
    NotLoggedIn,
    /// It asked for a pause.
    RateLimited,
    /// It took too long.
    TimedOut,
    /// It said too much.
    TooLong,
    /// It is no JSON.
    NotJson,
    /// It is JSON of another form.
    NotOfTheForm,
    /// It holds what must not be shown.
    Unsafe,
    /// It spent more than it was given.
    OverBudget,
    /// Nothing was asked.
    NotStarted,
    /// It sends to somewhere else.
    Redirected,
    /// It ended without an answer.
    Broken,
    /// The cassette has no such exchange.
    NotRecorded,
    /// It was stopped.
    Stopped,
}
