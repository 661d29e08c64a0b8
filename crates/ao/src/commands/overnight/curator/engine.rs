//! Whom the worker asks. This is the one place where the curator and the runners meet.

use ao_night::curator::{ENGINE, Settings};
use ao_runner::http::{self, Ollama};
use ao_runner::{Clock, Runner};

use crate::clock;
use crate::commands::guard;

/// The configured engine, or why there is none.
pub(super) fn engine(settings: &Settings) -> Result<Box<dyn Runner>, String> {
    if settings.engine != ENGINE {
        return Err(format!("the engine {:?} is not known", ao_tree::shown(&settings.engine)));
    }
    let Some(model) = &settings.model else {
        return Err("no model is configured (`dream.local_curator.model`)".to_owned());
    };
    let bad = |why: &dyn std::fmt::Display| format!("dream.local_curator.ollama_url: {why}");
    let address = settings.url.parse().map_err(|error: http::BadAddress| bad(&error))?;
    let clock = Clock::new(clock::timestamp);
    let endpoint = http::Endpoint::new(address, None, guard::authorities, clock)
        .map_err(|error| bad(&error))?;
    Ok(Box::new(Ollama::new(ENGINE, endpoint, model)))
}
