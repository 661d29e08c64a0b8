//! Whom the worker asks. This is the one place where the curator and the runners meet.

use ao_night::curator::{ENGINE, Settings};
use ao_runner::Runner;

/// The configured engine, or why there is none.
pub(super) fn engine(settings: &Settings) -> Result<Box<dyn Runner>, String> {
    if settings.engine != ENGINE {
        return Err(format!("the engine {:?} is not known", ao_tree::shown(&settings.engine)));
    }
    if settings.model.is_none() {
        return Err("no model is configured (`dream.local_curator.model`)".to_owned());
    }
    Err("this program cannot ask an Ollama yet".to_owned())
}
