//! One runner in the council.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ao_contract::RunnerReport;
use ao_runner::cassette::Recorded;
use ao_runner::ledger::Limits;
use ao_runner::pause::{self, patiently};
use ao_runner::wrap::Nonce;
use ao_runner::{Answer, Budget, Failure, Metered, Nature, Request, Runner, Way, ask};
use jiff::Timestamp;

use super::Books;

#[derive(Debug, Clone)]
pub struct Seat {
    /// For the step and the file; no two have the same.
    pub slug: String,
    pub runner: Arc<dyn Runner + Send + Sync>,
    pub model: Option<String>,
    /// How it is known to its API.
    pub login: Way,
    pub nature: Nature,
    /// Of one question, its repair included.
    pub budget: Budget,
    /// Of the whole run.
    pub limits: Limits,
}

/// Whether limits of runners are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    Waits,
    /// The time of a replay is that of its cassette: nobody waits.
    Passes,
}

/// The time that there is for an answer.
#[derive(Debug, Clone)]
pub(crate) struct Hours {
    pub(crate) ends: Timestamp,
    pub(crate) clock: ao_runner::Clock,
    pub(crate) patience: Patience,
}

impl Seat {
    /// Its answer: reserved, recorded and settled. A limit that ends within the night is waited for.
    pub(crate) fn ask(
        &self,
        request: &Request,
        books: &Books,
        nonce: &Nonce,
        hours: &Hours,
        stop: &AtomicBool,
    ) -> Result<Answer, Failure> {
        let model = self.model.as_deref();
        let recorded = Recorded { runner: self.runner.as_ref(), model, nonce, tape: &books.tape };
        let metered = Metered::new(&recorded, &books.ledger, self.nature);
        let now = || hours.clock.now();
        let wait = |until| match hours.patience {
            Patience::Waits => pause::wait(until, stop, &now, &std::thread::sleep),
            Patience::Passes => {}
        };
        let night = pause::Night { ends: hours.ends, now: &now, wait: &wait };
        patiently(night, request.budget.time, stop, || ask(&metered, request, nonce, stop))
    }

    /// Its report, if what it answered is one and is its own.
    pub(crate) fn report(&self, answer: &Answer) -> Result<RunnerReport, Failure> {
        let report: RunnerReport = ao_contract::read(&answer.value)
            .map_err(|error| Failure::NotOfTheForm(error.to_string()))?;
        if report.runner != self.runner.name() {
            return Err(Failure::NotOfTheForm("it answers in the name of another runner".into()));
        }
        Ok(report)
    }
}
