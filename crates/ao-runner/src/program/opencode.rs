//! `OpenCode`. Its model names its provider, and so its API. It takes no schema: the form goes along in the question.

use serde_json::{Value, json};

use super::line::{Ask, Line, Output, events, sum};
use crate::answer::{Cost, Said, Usage};
use crate::failure::Failure;
use crate::login::Way;
use crate::settings::micros;

/// The providers whose address is known; others are configured with an `endpoint`.
const APIS: [(&str, &str); 4] = [
    ("anthropic", "https://api.anthropic.com/v1"),
    ("openai", "https://api.openai.com/v1"),
    ("google", "https://generativelanguage.googleapis.com/v1beta"),
    ("openrouter", "https://openrouter.ai/api/v1"),
];

/// Who serves a model: its API and its usual secret go by this.
pub(crate) fn provider(model: Option<&str>) -> Option<&str> {
    let (provider, rest) = model?.split_once('/')?;
    (!provider.is_empty() && !rest.is_empty()).then_some(provider)
}

fn no_model() -> Failure {
    Failure::NotStarted(
        "opencode needs a model that names its provider: set runners.NAME.model to PROVIDER/MODEL"
            .to_owned(),
    )
}

pub(super) fn key_name(model: Option<&str>) -> Option<String> {
    let name = provider(model)?.to_uppercase().replace('-', "_");
    Some(format!("{name}_API_KEY"))
}

pub(super) fn api(model: Option<&str>) -> Result<&'static str, Failure> {
    let provider = provider(model).ok_or_else(no_model)?;
    let known = APIS.iter().find(|(name, _)| *name == provider);
    known.map(|(_, api)| *api).ok_or_else(|| {
        let provider = ao_tree::shown(provider);
        Failure::NotStarted(format!(
            "where {provider} listens is not known: set runners.NAME.endpoint"
        ))
    })
}

pub(super) fn line(ask: &Ask<'_>) -> Result<Line, Failure> {
    let provider = provider(ask.model).ok_or_else(no_model)?;
    let mut line = Line { input: ask.with_schema(), ..Line::default() };
    line.arguments(&["run", "--format", "json", "-m", ask.model.unwrap_or_default()]);
    let mut options = serde_json::Map::new();
    options.extend(ask.base.map(|base| ("baseURL".to_owned(), base.into())));
    options.extend(ask.placeholder.map(|key| ("apiKey".to_owned(), key.into())));
    let mut settings = json!({
        "autoupdate": false,
        "share": "disabled",
        "permission": { "*": "deny" },
        "tools": { "*": false },
        "mcp": {},
        "plugin": [],
    });
    settings["provider"] = json!({ provider: { "options": options } });
    line.environment.push(("OPENCODE_CONFIG_CONTENT", settings.to_string()));
    line.environment.push(("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()));
    line.environment.push(("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()));
    Ok(line)
}

/// The answer is what the last step says.
pub(super) fn read(output: &Output<'_>) -> Result<(String, Usage), Failure> {
    let (mut answer, mut error, mut is_finished) = (String::new(), None, false);
    let (mut tokens, mut cost, mut turns) = (None::<u64>, None::<f64>, 0_u32);
    for event in events(output.stdout) {
        let part = &event["part"];
        match event["type"].as_str() {
            Some("step_start") => {
                answer.clear();
                is_finished = false;
            }
            Some("text") => answer.push_str(part["text"].as_str().unwrap_or_default()),
            Some("step_finish") => {
                is_finished = true;
                turns = turns.saturating_add(1);
                if let Some(count) = counted(&part["tokens"]) {
                    tokens = Some(tokens.unwrap_or(0).saturating_add(count));
                }
                if let Some(spent) = part["cost"].as_f64() {
                    cost = Some(cost.unwrap_or(0.0) + spent);
                }
            }
            Some("error") => error = Some(reason(&event["error"])),
            _ => {}
        }
    }
    if let Some(error) = error {
        return Err(output.failure(&error));
    }
    if !is_finished && output.exit == 0 && !answer.is_empty() {
        return Err(Failure::Broken("it ended before its last step did".to_owned()));
    }
    let answer = output.answered(Some(answer))?;
    let cost = match (cost.map(micros), output.way) {
        (None, _) => Cost::Unknown,
        (Some(usd), Way::ApiKey) => Cost::Real(usd),
        (Some(usd), _) => Cost::Imputed(usd),
    };
    let tokens = tokens.map_or(Said::Nothing, Said::ByRunner);
    Ok((answer, Usage { tokens, turns, cost }))
}

fn counted(tokens: &Value) -> Option<u64> {
    let cache = &tokens["cache"];
    let all = [
        &tokens["input"],
        &tokens["output"],
        &tokens["reasoning"],
        &cache["read"],
        &cache["write"],
    ];
    let counts: Vec<u64> = all.into_iter().filter_map(Value::as_u64).collect();
    (!counts.is_empty()).then(|| sum(counts.into_iter()))
}

fn reason(error: &Value) -> String {
    let data = &error["data"];
    let said = data["message"].as_str().or(error["message"].as_str()).or(error["name"].as_str());
    let status = data["statusCode"].as_i64().map(|status| format!("{status} ")).unwrap_or_default();
    format!("{status}{}", said.unwrap_or("it says no reason"))
}
