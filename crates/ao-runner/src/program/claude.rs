//! Claude Code.
//!
//! It gets no tool but the one that takes its answer, which it checks against the schema by itself. Settings, hooks,
//! servers and commands of a project are not loaded; its home is empty, so there are none of the user's either.

use serde_json::Value;

use super::line::{Ask, Line, Output, brief, sum};
use crate::answer::{Cost, Said, Usage};
use crate::failure::Failure;
use crate::login::Way;
use crate::request::Usd;
use crate::settings::micros;

pub(super) const API: &str = "https://api.anthropic.com";
pub(super) const TOKEN: &str = "CLAUDE_CODE_OAUTH_TOKEN";
/// The call of the tool that takes the answer is a turn of its own.
const TURNS_FOR_ANSWER: u32 = 1;
/// What it asks its model for at once, at most.
const OUTPUT_TOKENS_MAX: u64 = 32_000;
const UNAUTHORIZED: [i64; 2] = [401, 403];
const TOO_MANY: i64 = 429;

pub(super) fn line(ask: &Ask<'_>) -> Line {
    let mut line = Line { input: ask.question.to_owned(), ..Line::default() };
    line.arguments(&["-p", "--output-format", "json", "--no-session-persistence"]);
    line.arguments(&["--tools", "", "--disallowedTools", "mcp__*", "--permission-mode", "dontAsk"]);
    line.arguments(&[
        "--setting-sources",
        "user",
        "--strict-mcp-config",
        "--disable-slash-commands",
    ]);
    let turns = ask.budget.turns.saturating_add(TURNS_FOR_ANSWER);
    line.arguments(&["--max-turns", &turns.to_string()]);
    line.arguments(&["--json-schema", &ask.schema.to_string()]);
    if ask.budget.usd > Usd(0) {
        line.arguments(&["--max-budget-usd", &dollars(ask.budget.usd)]);
    }
    if let Some(model) = ask.model {
        line.arguments(&["--model", model]);
    }
    let output = ask.budget.tokens.clamp(1, OUTPUT_TOKENS_MAX);
    line.environment = vec![
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ("DISABLE_AUTOUPDATER", "1".to_owned()),
        // One more try, not a storm.
        ("CLAUDE_CODE_MAX_RETRIES", "1".to_owned()),
        ("MAX_STRUCTURED_OUTPUT_RETRIES", "2".to_owned()),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", output.to_string()),
    ];
    line.environment.extend(ask.base.map(|base| ("ANTHROPIC_BASE_URL", base.to_owned())));
    line.environment.extend(ask.placeholder.map(|key| ("ANTHROPIC_API_KEY", key.to_owned())));
    line
}

fn dollars(usd: Usd) -> String {
    usd.to_string().trim_start_matches('$').to_owned()
}

/// Success is all of: exit 0, `subtype` success, no `is_error`, and an answer.
pub(super) fn read(output: &Output<'_>) -> Result<(String, Usage), Failure> {
    let Ok(result) = serde_json::from_str::<Value>(output.stdout.trim()) else {
        // It says some things as plain text, before it has begun.
        let said = if output.stderr.trim().is_empty() { output.stdout } else { output.stderr };
        return Err(output.failure(&brief(said)));
    };
    let is_good = result["subtype"] == "success" && result["is_error"] == false;
    if !is_good {
        return Err(failure(output, &result));
    }
    let answer = match &result["structured_output"] {
        Value::Null => result["result"].as_str().map(str::to_owned),
        value => Some(value.to_string()),
    };
    Ok((output.answered(answer)?, usage(&result, output.way)))
}

fn failure(output: &Output<'_>, result: &Value) -> Failure {
    let errors = result["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let errors = brief(&errors.collect::<Vec<_>>().join("; "));
    match result["subtype"].as_str() {
        Some("error_max_turns") => Failure::OverBudget(format!("its turns: {errors}")),
        Some("error_max_budget_usd") => Failure::OverBudget(format!("its money: {errors}")),
        // It was told what was wrong and answered once more, as we would have had it do.
        Some("error_max_structured_output_retries") => Failure::NotOfTheForm(errors),
        _ => {
            let said = result["result"].as_str().unwrap_or(&errors);
            match result["api_error_status"].as_i64() {
                Some(status) if UNAUTHORIZED.contains(&status) => output.not_logged_in(),
                Some(TOO_MANY) => output.limited(said),
                _ => output.failure(said),
            }
        }
    }
}

fn usage(result: &Value, way: Way) -> Usage {
    const COUNTS: [&str; 4] =
        ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"];
    let counts = COUNTS.map(|name| result["usage"][name].as_u64());
    let tokens = if counts.iter().all(Option::is_none) {
        Said::Nothing
    } else {
        Said::ByRunner(sum(counts.into_iter().flatten()))
    };
    let cost = match (result["total_cost_usd"].as_f64().map(micros), way) {
        (None, _) => Cost::Unknown,
        (Some(usd), Way::ApiKey) => Cost::Real(usd),
        (Some(usd), _) => Cost::Imputed(usd),
    };
    let turns = result["num_turns"].as_u64().and_then(|turns| u32::try_from(turns).ok());
    Usage { tokens, turns: turns.unwrap_or(1).saturating_sub(TURNS_FOR_ANSWER).max(1), cost }
}
