//! What to do about a runner that gave no answer.

use ao_contract::Exit;
use ao_runner::{Failure, Kind, Settings};

/// How each program is got.
fn install(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Claude => Some("npm install -g @anthropic-ai/claude-code"),
        Kind::Codex => Some("npm install -g @openai/codex"),
        Kind::Gemini => Some("npm install -g @google/gemini-cli"),
        Kind::OpenCode => Some("npm install -g opencode-ai"),
        Kind::Ollama | Kind::OpenAi | Kind::Command => None,
    }
}

/// One sentence.
pub(super) fn of(failure: &Failure, settings: Option<&Settings>) -> String {
    let kind = settings.map(|settings| settings.kind);
    match failure {
        Failure::Missing(what) => match kind.and_then(install).filter(|_| !what.contains('/')) {
            Some(line) => format!("install it, such as with `{line}`"),
            None => format!("install {what}, or name the path of another program"),
        },
        Failure::NotLoggedIn(_) => login(settings),
        Failure::RateLimited { until: Some(until), .. } => format!("ask it again after {until}"),
        Failure::RateLimited { until: None, .. } => {
            "ask it again later; it did not say when".to_owned()
        }
        Failure::TimedOut(_) => {
            "give it more time (--time, or timeout in the configuration)".to_owned()
        }
        Failure::TooLong(_) => "ask for less, or allow more (--output)".to_owned(),
        Failure::NotJson(_) | Failure::NotOfTheForm(_) | Failure::Unsafe(_) => {
            "its answer was not used; ask again, or another runner".to_owned()
        }
        Failure::OverBudget(_) => {
            "give it more (--tokens, --usd, --turns), or ask for less".to_owned()
        }
        Failure::NotStarted(_) => {
            "nothing was started; put right what is named, and see `ao runners`".to_owned()
        }
        Failure::Redirected(_) => {
            "name the address that it leads to as its endpoint, if you trust it".to_owned()
        }
        Failure::NotRecorded(_) => {
            "only what was asked then can be asked of a recording".to_owned()
        }
        Failure::Broken(_) | Failure::Stopped => "ask it again".to_owned(),
    }
}

fn login(settings: Option<&Settings>) -> String {
    let Some(settings) = settings else { return "keep its key with `ao vault write`".to_owned() };
    if let Some(name) = &settings.auth {
        let name = name.as_str();
        return format!("keep a key or token that is good with `ao vault write {name}`");
    }
    let each: Vec<String> =
        settings.usual_secrets().iter().map(|name| format!("`ao vault write {name}`")).collect();
    match (settings.kind, each.is_empty()) {
        (Kind::OpenCode, true) => "set runners.NAME.model to PROVIDER/MODEL".to_owned(),
        (Kind::Claude, _) => {
            format!("keep a token of `claude setup-token` or an API key with {}", each.join(" or "))
        }
        _ => format!("keep a token or an API key with {}", each.join(" or ")),
    }
}

/// What a command that asked exits with.
pub(super) fn exit(failure: &Failure) -> Exit {
    match failure {
        Failure::Missing(_) | Failure::NotLoggedIn(_) | Failure::NotStarted(_) => Exit::Preflight,
        Failure::RateLimited { .. } => Exit::Deferred,
        Failure::TooLong(_)
        | Failure::NotJson(_)
        | Failure::NotOfTheForm(_)
        | Failure::Unsafe(_) => Exit::Found,
        Failure::TimedOut(_)
        | Failure::OverBudget(_)
        | Failure::Redirected(_)
        | Failure::NotRecorded(_)
        | Failure::Broken(_)
        | Failure::Stopped => Exit::Failed,
    }
}
