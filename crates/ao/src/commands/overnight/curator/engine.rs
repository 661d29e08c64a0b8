//! Whom the worker asks. This is the one place where the curator and the runners meet.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_night::curator::{ENGINE, Health, Settings};
use ao_runner::http::{self, Address, Ollama};
use ao_runner::{Clock, Runner};

use crate::clock;
use crate::commands::guard;

/// Of an engine that is asked what it has.
const PROBE_TIME: Duration = Duration::from_secs(2);
/// Where installations are found beside the one that is configured.
const OTHERS: [&str; 2] = ["http://127.0.0.1:11434", "http://127.0.0.1:11435"];

/// The configured engine, or why there is none.
pub(super) fn engine(settings: &Settings) -> Result<Box<dyn Runner>, String> {
    if settings.engine != ENGINE {
        return Err(format!("the engine {:?} is not known", ao_tree::shown(&settings.engine)));
    }
    let Some(model) = &settings.model else {
        return Err("no model is configured (`dream.local_curator.model`)".to_owned());
    };
    let ollama = ollama(&settings.url, model)
        .map_err(|why| format!("dream.local_curator.ollama_url: {why}"))?;
    Ok(Box::new(ollama))
}

/// What the engine at an address says. Nothing of anybody's is sent to it.
pub(super) fn health(url: &str) -> Health {
    // Which models there are is asked in the name of none.
    let ollama = match ollama(url, "") {
        Ok(ollama) => ollama,
        Err(why) => return Health::BadUrl(why),
    };
    match ollama.models(PROBE_TIME, &AtomicBool::new(false)) {
        Ok(models) => {
            Health::Answers { models: models.into_iter().map(|model| model.name).collect() }
        }
        Err(failure) => Health::Silent(failure.to_string()),
    }
}

/// Another place of this machine at which an Ollama answers.
pub(super) fn elsewhere(url: &str) -> Option<&'static str> {
    let address = |url: &str| url.parse::<Address>().ok();
    let tried = address(url);
    OTHERS
        .into_iter()
        .filter(|other| address(other) != tried)
        .find(|other| matches!(health(other), Health::Answers { .. }))
}

fn ollama(url: &str, model: &str) -> Result<Ollama, String> {
    let address = url.parse().map_err(|bad: http::BadAddress| bad.to_string())?;
    let clock = Clock::new(clock::timestamp);
    let endpoint = http::Endpoint::new(address, None, guard::authorities, clock)
        .map_err(|bad| bad.to_string())?;
    Ok(Ollama::new(ENGINE, endpoint, model))
}
