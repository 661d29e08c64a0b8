//! Gemini CLI. It takes no schema: the form goes along in the question.

use serde_json::{Value, json};

use super::line::{Ask, Line, Output, sum};
use crate::answer::{Cost, Said, Usage};
use crate::failure::Failure;

pub(super) const API: &str = "https://generativelanguage.googleapis.com";
/// What it says by its exit code.
const NO_LOGIN: i32 = 41;
const BAD_INPUT: i32 = 42;
const TOO_MANY_TURNS: i32 = 53;

pub(super) fn line(ask: &Ask<'_>) -> Line {
    let mut line = Line { input: ask.with_schema(), ..Line::default() };
    // What stands here comes after standard input. In this mode it plans, and changes nothing.
    line.arguments(&["-p", "Do what is asked above.", "-o", "json", "--approval-mode", "plan"]);
    if let Some(model) = ask.model {
        line.arguments(&["-m", model]);
    }
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "tools": { "sandbox": false },
        "model": { "maxSessionTurns": ask.budget.turns },
        "general": { "disableAutoUpdate": true, "enableAutoUpdate": false },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "mcpServers": {},
    });
    line.files.push((".gemini/settings.json", settings.to_string()));
    line.environment.extend(ask.base.map(|base| ("GOOGLE_GEMINI_BASE_URL", base.to_owned())));
    line.environment.extend(ask.placeholder.map(|key| ("GEMINI_API_KEY", key.to_owned())));
    line
}

pub(super) fn read(output: &Output<'_>) -> Result<(String, Usage), Failure> {
    match output.exit {
        NO_LOGIN => return Err(output.not_logged_in()),
        TOO_MANY_TURNS => return Err(Failure::OverBudget("its turns".to_owned())),
        BAD_INPUT => return Err(Failure::Broken("it refused its input (exit 42)".to_owned())),
        _ => {}
    }
    let said = object(output.stdout).or_else(|| object(output.stderr)).unwrap_or_default();
    if let Some(error) = said.get("error").filter(|error| !error.is_null()) {
        let message = error["message"].as_str().unwrap_or("it says no reason");
        let code = error["code"].as_i64().map(|code| format!("{code} ")).unwrap_or_default();
        return Err(output.failure(&format!("{code}{message}")));
    }
    let answer = said["response"].as_str().map(str::to_owned);
    Ok((output.answered(answer)?, usage(&said["stats"])))
}

/// Notes may stand before it.
fn object(text: &str) -> Option<Value> {
    let text = &text[text.find('{')?..];
    serde_json::from_str(text).ok()
}

fn usage(stats: &Value) -> Usage {
    let models = || stats["models"].as_object().into_iter().flatten().map(|(_, model)| model);
    let by_model: Vec<u64> =
        models().filter_map(|model| model["tokens"]["total"].as_u64()).collect();
    let tokens = match (by_model.is_empty(), stats["totalTokens"].as_u64()) {
        (false, _) => Said::ByRunner(sum(by_model.into_iter())),
        (true, Some(count)) => Said::ByRunner(count),
        (true, None) => Said::Nothing,
    };
    let requests = sum(models().filter_map(|model| model["api"]["totalRequests"].as_u64()));
    Usage { tokens, turns: u32::try_from(requests).unwrap_or(u32::MAX).max(1), cost: Cost::Unknown }
}
