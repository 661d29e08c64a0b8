//! What a host's answer means before anybody looks into it.

use ao_vault::said;
use serde_json::Value;

use super::call::{Endpoint, Reply};
use super::reset;
use crate::failure::Failure;

/// Of what a host says, in a message of ours.
const SAID_CHARS_MAX: usize = 300;
const OVERLOADED: u16 = 529;

impl Reply {
    /// The answer as JSON, or what its status means.
    pub(super) fn json(self, runner: &str, endpoint: &Endpoint) -> Result<Value, Failure> {
        match self.head.status {
            200..300 => {}
            _ => return Err(self.refusal(runner, endpoint)),
        }
        let kind = self.head.field("content-type").unwrap_or("nothing that it names");
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if kind != "application/json" && !kind.ends_with("+json") {
            return Err(Failure::Broken(format!(
                "it answered with {}, not with JSON",
                shown(kind.as_bytes())
            )));
        }
        serde_json::from_slice(&self.body).map_err(|error| {
            Failure::Broken(format!(
                "what it answered around the answer is not JSON: line {} column {}",
                error.line(),
                error.column()
            ))
        })
    }

    /// Why there is no answer. Whoever refuses a question (4xx) has not worked on it.
    pub(super) fn refusal(&self, runner: &str, endpoint: &Endpoint) -> Failure {
        let reset = || reset::until(&self.head, endpoint.clock.now());
        match self.head.status {
            status @ 300..400 => Failure::Redirected(match self.head.field("location") {
                Some(place) => shown(place.as_bytes()),
                None => format!("somewhere else ({status})"),
            }),
            401 => Failure::NotLoggedIn(runner.to_owned()),
            429 | OVERLOADED => Failure::RateLimited { runner: runner.to_owned(), until: reset() },
            503 if reset().is_some() => {
                Failure::RateLimited { runner: runner.to_owned(), until: reset() }
            }
            status @ 400..500 => {
                Failure::NotStarted(format!("it refused with {status}: {}", self.complaint()))
            }
            status => Failure::Broken(format!("it failed with {status}: {}", self.complaint())),
        }
    }

    /// What the host says about it.
    pub(super) fn complaint(&self) -> String {
        let value: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        complaint(&value).unwrap_or_else(|| shown(&self.body))
    }
}

/// Both protocols, and both ways of the second one.
pub(super) fn complaint(value: &Value) -> Option<String> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    let text = error.as_str().or_else(|| error["message"].as_str());
    Some(text.map_or_else(|| shown(error.to_string().as_bytes()), |text| shown(text.as_bytes())))
}

/// A text of somebody else's in a message of ours.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = ao_tree::shown(said(bytes).trim());
    match text.char_indices().nth(SAID_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
