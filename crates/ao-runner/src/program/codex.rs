//! Codex.
//!
//! Its own sandbox does not start in a cell, so it is off, and so are its tools: what is left to it writes into its home.

use serde_json::{Value, json};

use super::line::{Ask, Line, Output, events};
use crate::answer::{Cost, Said, Usage};
use crate::failure::Failure;

pub(super) const API: &str = "https://api.openai.com/v1";
/// Where a subscription is served.
pub(super) const SUBSCRIPTION: &str = "chatgpt.com:443";
pub(super) const TOKEN: &str = "CODEX_ACCESS_TOKEN";
/// In its home, where it starts.
const SCHEMA: &str = "schema.json";
/// A name of ours for its API.
const PROVIDER: &str = "ao";
const KEY: &str = "OPENAI_API_KEY";
/// What it could do beside answering. One that a version does not know it passes over.
const FEATURES: [&str; 16] = [
    "apps",
    "browser_use",
    "computer_use",
    "goals",
    "hooks",
    "image_generation",
    "multi_agent",
    "plugins",
    "remote_plugin",
    "shell_snapshot",
    "shell_tool",
    "skill_search",
    "sleep_tool",
    "tool_suggest",
    "unified_exec",
    "view_image",
];

pub(super) fn line(ask: &Ask<'_>) -> Line {
    let mut line = Line { input: ask.question.to_owned(), ..Line::default() };
    line.arguments(&["exec", "--json", "--ephemeral", "--ignore-user-config", "--ignore-rules"]);
    line.arguments(&["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"]);
    line.arguments(&["--color", "never", "--output-schema", SCHEMA]);
    for feature in FEATURES {
        line.arguments(&["-c", &format!("features.{feature}=false")]);
    }
    line.arguments(&["-c", "web_search=\"disabled\""]);
    if let Some(base) = ask.base {
        let key = match ask.placeholder {
            Some(_) => format!(",env_key=\"{KEY}\""),
            None => ",requires_openai_auth=true".to_owned(),
        };
        // With more tries it waits for as long as a limit lasts.
        let provider = format!(
            "model_providers.{PROVIDER}={{name=\"{PROVIDER}\",base_url={},wire_api=\"responses\"{key},request_max_retries=0,stream_max_retries=0}}",
            json!(base)
        );
        line.arguments(&["-c", &format!("model_provider=\"{PROVIDER}\""), "-c", &provider]);
    }
    if let Some(model) = ask.model {
        line.arguments(&["-m", model]);
    }
    line.arguments(&["-"]);
    line.files.push((SCHEMA, ask.schema.to_string()));
    line.environment.extend(ask.placeholder.map(|key| (KEY, key.to_owned())));
    line
}

/// The answer is the last message of a turn that was completed.
pub(super) fn read(output: &Output<'_>) -> Result<(String, Usage), Failure> {
    let (mut answer, mut error, mut usage) = (None, None, None);
    let mut turns = 0_u32;
    for event in events(output.stdout) {
        match event["type"].as_str() {
            Some("item.completed") if event["item"]["type"] == "agent_message" => {
                answer = event["item"]["text"].as_str().map(str::to_owned);
            }
            Some("turn.completed") => {
                turns = turns.saturating_add(1);
                usage = Some(event["usage"].clone());
            }
            Some("turn.failed") => error = message(&event["error"]),
            Some("error") => error = message(&event),
            _ => {}
        }
    }
    match usage {
        None if error.is_some() || output.exit != 0 => {
            let said = error.unwrap_or_else(|| output.stderr.to_owned());
            Err(output.failure(&said))
        }
        None => Err(Failure::Broken("it ended before its turn was completed".to_owned())),
        Some(usage) => Ok((output.answered(answer)?, of(&usage, turns))),
    }
}

fn message(error: &Value) -> Option<String> {
    error["message"].as_str().map(str::to_owned)
}

/// What is cached is counted as input already. It knows no prices.
fn of(usage: &Value, turns: u32) -> Usage {
    let count = |name: &str| usage[name].as_u64();
    let tokens = match (count("input_tokens"), count("output_tokens")) {
        (Some(input), Some(output)) => Said::ByRunner(input.saturating_add(output)),
        _ => Said::Nothing,
    };
    Usage { tokens, turns, cost: Cost::Unknown }
}
