//! The council: one packet goes to every runner, one after another, and each answers once.
//!
//! Runners do not hear of each other. What they say is material: it is shown beside the night's own
//! first move and takes the place of nothing.

mod lane;
mod question;
mod synthesis;

use std::sync::Arc;

use ao_contract::{ConsensusPolicy, RecommendedKind, RunnerReport};
use ao_runner::wrap::Nonce;
use ao_runner::{Answer, Budget, Failure, Runner, ask};

pub use lane::Lane;
pub(crate) use question::question;
pub(crate) use synthesis::synthesis;

/// Who is asked, and how the answers are put together.
#[derive(Debug, Clone)]
pub struct Council {
    /// In the order in which they are asked.
    pub seats: Vec<Seat>,
    pub policy: ConsensusPolicy,
    pub lane: Lane,
    /// A word that nobody has seen before; a new one for each question.
    pub nonce: fn() -> Nonce,
}

/// One runner in the council.
#[derive(Debug, Clone)]
pub struct Seat {
    /// For the step and the file; no two have the same.
    pub slug: String,
    pub runner: Arc<dyn Runner + Send + Sync>,
    pub budget: Budget,
}

impl Seat {
    /// Its report, if what it answered is one and is its own.
    pub(crate) fn report(
        &self,
        request: &ao_runner::Request,
        nonce: &Nonce,
        stop: &std::sync::atomic::AtomicBool,
    ) -> Result<(RunnerReport, Answer), Failure> {
        let answer = ask(self.runner.as_ref(), request, nonce, stop)?;
        let report: RunnerReport = ao_contract::read(&answer.value)
            .map_err(|error| Failure::NotOfTheForm(error.to_string()))?;
        if report.runner != self.runner.name() {
            return Err(Failure::NotOfTheForm("it answers in the name of another runner".into()));
        }
        Ok((report, answer))
    }
}

/// The kind as the report spells it.
pub(crate) fn word(kind: RecommendedKind) -> String {
    match serde_json::to_value(kind) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
