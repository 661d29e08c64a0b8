//! What the guard decided, `ao/guard.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Extra;

/// What became of a question to the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GuardDecision {
    /// It may be done.
    Allowed,
    /// It may not.
    Refused,
}

/// One line of `ao/guard.jsonl`. It holds names and paths, and never what was to be written or run.
/// Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Guard log line")]
pub struct GuardLine {
    /// When it was decided.
    pub at: String,
    /// Who was asked: `hook`, `check`, or `decision` where a person was asked for.
    pub by: String,
    /// Whose call it was: `claude` or `codex`; absent where nobody's was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// The tool of the call; absent if it could not be read, or there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What was decided.
    pub decision: GuardDecision,
    /// The rule that refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What it refused: a path, or the name of a program or a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Programs and tools that only read.
    pub reads: Vec<String>,
    /// Programs that build, test or check.
    pub builds: Vec<String>,
    /// Paths that are written.
    pub writes: Vec<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
