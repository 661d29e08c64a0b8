//! What a runner is asked.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::failure::Failure;

/// One question.
#[derive(Debug, Clone)]
pub struct Request {
    /// What it is for, in one word, such as `council`.
    pub purpose: &'static str,
    /// What is asked. Only ours.
    pub prompt: String,
    /// What it is about. Anybody's.
    pub material: Vec<Material>,
    pub form: Form,
    pub budget: Budget,
}

/// A text that is not ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Material {
    /// What it is, in our words.
    pub label: String,
    pub text: String,
}

/// What the answer must look like.
#[derive(Clone)]
pub struct Form {
    /// The name of the format, as `ao schema` has it.
    pub name: &'static str,
    /// The JSON Schema that is sent along.
    pub schema: Value,
    /// The reader that decides.
    pub read: fn(&Value) -> Result<(), String>,
}

impl Form {
    /// With one field that has this value and no other, such as the name of the one who answers.
    #[must_use]
    pub fn with_constant(mut self, field: &str, value: &str) -> Self {
        self.schema["properties"][field] = serde_json::json!({ "type": "string", "const": value });
        self
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Form({})", self.name)
    }
}

/// How far it may go. Nothing here is a wish: whoever goes further is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub time: Duration,
    /// Of question and answer together.
    pub tokens: u64,
    pub turns: u32,
    pub usd: Usd,
    /// Of the answer and whatever is said around it.
    pub output_bytes: u64,
}

/// Money, in millionths of a US dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Usd(pub u64);

impl Budget {
    /// Where nothing may be paid, whoever has an account is not asked: what a question costs is known when it is paid.
    pub(crate) fn for_account(&self) -> Result<(), Failure> {
        if self.usd > Usd(0) {
            return Ok(());
        }
        Err(Failure::NotStarted(
            "it may cost nothing, and whoever pays for it is asked for money".to_owned(),
        ))
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}
