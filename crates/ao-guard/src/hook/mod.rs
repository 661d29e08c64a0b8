//! The hook that a host asks before each tool call.
//!
//! It is a courtesy layer: hosts let a call through when a hook is missing or fails, and what it allows
//! can change before it is done. The boundary is the cell. So it is made to be right where it can be,
//! and to say no everywhere else: what it does not know, what it cannot read, what it cannot judge.

mod patch;
mod reads;
mod tools;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

pub(crate) use patch::judge as judge_patch;
pub use tools::Harness;

use crate::command::Effect;
use crate::scope::{Policy, Refusal, Rule};
use crate::strict_json;

/// A call with more than this is not read: no honest one is that large.
pub const PAYLOAD_BYTES_MAX: usize = 8 * 1024 * 1024;

/// A tool call, as both hosts describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub tool: String,
    pub input: Map<String, Value>,
    /// Where the host stands.
    pub directory: PathBuf,
}

impl ToolCall {
    /// Reads what a host wrote to the hook's input.
    pub fn read(payload: &[u8]) -> Result<Self, Refusal> {
        let refuse = |why: &str| Refusal::new(Rule::Payload, "call", why);
        if payload.iter().all(u8::is_ascii_whitespace) {
            return Err(refuse("it is empty"));
        }
        if payload.len() > PAYLOAD_BYTES_MAX {
            return Err(refuse("it is too large"));
        }
        let value = strict_json::read(payload)
            .map_err(|error| refuse(&format!("it cannot be read: {error}")))?;
        let Value::Object(mut call) = value else { return Err(refuse("it is no object")) };
        let mut text = |key: &str| match call.remove(key) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text),
            Some(_) => Err(refuse(&format!("`{key}` is no text"))),
            None => Err(refuse(&format!("it has no `{key}`"))),
        };
        if text("hook_event_name")? != "PreToolUse" {
            return Err(refuse("it is not about a tool that is to be used"));
        }
        let (tool, directory) = (text("tool_name")?, PathBuf::from(text("cwd")?));
        if !directory.is_absolute() {
            return Err(refuse("`cwd` is not absolute"));
        }
        match call.remove("tool_input") {
            Some(Value::Object(input)) => Ok(Self { tool, input, directory }),
            Some(_) => Err(refuse("`tool_input` is no object")),
            None => Err(refuse("it has no `tool_input`")),
        }
    }

    /// Whether the call may be made.
    pub fn judge(
        &self,
        policy: &Policy,
        harness: Harness,
        let_through: &[String],
    ) -> Result<Vec<Effect>, Refusal> {
        tools::judge(self, policy, harness, let_through)
    }

    fn text(&self, key: &str) -> Result<&str, Refusal> {
        match self.input.get(key) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(self.refuse(&format!("`{key}` is no text"))),
            None => Err(self.refuse(&format!("it has no `{key}`"))),
        }
    }

    fn refuse(&self, why: &str) -> Refusal {
        Refusal::new(Rule::Payload, &self.tool, why)
    }

    fn directory(&self) -> &Path {
        &self.directory
    }
}
