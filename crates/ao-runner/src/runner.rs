//! Whoever can be asked.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_guard::cell::Refused;

use crate::answer::Usage;
use crate::failure::Failure;
use crate::login::Way;
use crate::request::Request;

/// A model or an agent program. It is asked once and answers with a text; whether that is an answer is
/// not its to say.
pub trait Runner: std::fmt::Debug {
    /// As the configuration or `--runner` has it.
    fn name(&self) -> &str;

    /// How it is known to its API; part of what is reported of it.
    fn login(&self) -> Way {
        Way::None
    }

    /// What it tried in its last exchange and was not let do; part of what is reported of it.
    fn refused(&self) -> Vec<Refused> {
        Vec::new()
    }

    /// One exchange. `question` is the whole text to send: the prompt with the wrapped material, and after
    /// an answer that was not of the form what was wrong with it. Whoever sets `stop` ends it.
    fn exchange(
        &self,
        request: &Request,
        question: &str,
        stop: &AtomicBool,
    ) -> Result<Exchange, Failure>;
}

/// What came back, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The answer: the text that should be JSON of the form.
    pub text: String,
    pub usage: Usage,
    pub took: Duration,
    /// The code of the program; none of an HTTP call.
    pub exit: Option<i32>,
}
