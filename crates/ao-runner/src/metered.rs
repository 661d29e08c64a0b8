//! A runner that asks the ledger first.

use std::sync::atomic::AtomicBool;

use ao_contract::Settlement;

use crate::failure::Failure;
use crate::ledger::{Ledger, LedgerError, Outcome};
use crate::request::{Request, Usd};
use crate::runner::{Exchange, Runner};

/// What a runner may have spent when it gives up for a limit of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// Nothing: it is one call, which was refused.
    Call,
    /// Anything: it may have taken turns before.
    Agent,
}

/// Each exchange is reserved before and settled after, the second one of a repair too; it is given no more than is
/// left. An answer that cost more than was reserved is charged, and not handed out.
#[derive(Debug)]
pub struct Metered<'a> {
    runner: &'a dyn Runner,
    ledger: &'a Ledger,
    nature: Nature,
}

impl<'a> Metered<'a> {
    pub fn new(runner: &'a dyn Runner, ledger: &'a Ledger, nature: Nature) -> Self {
        Self { runner, ledger, nature }
    }

    /// What a failure may have cost.
    fn outcome(&self, failure: &Failure) -> Outcome {
        match failure {
            Failure::Missing(_) | Failure::NotStarted(_) | Failure::Redirected(_) => {
                Outcome::NotAsked
            }
            // A login can end in the middle of the night, too.
            Failure::NotLoggedIn(_) | Failure::RateLimited { .. }
                if self.nature == Nature::Call =>
            {
                Outcome::NotAsked
            }
            _ => Outcome::Unreported,
        }
    }
}

impl Runner for Metered<'_> {
    fn name(&self) -> &str {
        self.runner.name()
    }

    fn exchange(
        &self,
        request: &Request,
        question: &str,
        stop: &AtomicBool,
    ) -> Result<Exchange, Failure> {
        // What cannot be written down is not spent.
        let failed = |error: LedgerError| Failure::NotStarted(error.to_string());
        let left = self.ledger.left(self.name());
        let mut request = request.clone();
        let budget = &mut request.budget;
        // Of nothing nothing can be reserved: then the whole is asked for, and refused with the reason.
        if left.tokens != Some(0) && left.usd != Some(Usd(0)) {
            budget.tokens = left.tokens.map_or(budget.tokens, |left| left.min(budget.tokens));
            budget.usd = left.usd.map_or(budget.usd, |left| left.min(budget.usd));
        }
        let reservation =
            self.ledger.reserve(self.name(), request.purpose, &request.budget).map_err(failed)?;
        let result = self.runner.exchange(&request, question, stop);
        let outcome = match &result {
            Ok(exchange) => Outcome::Said(exchange.usage),
            Err(failure) => self.outcome(failure),
        };
        // A settlement that cannot be written leaves the reservation, which counts in full.
        let charged = self
            .ledger
            .settle(&reservation, outcome)
            .map_err(|error| Failure::Broken(error.to_string()))?;
        if charged.why == Settlement::OverBudget {
            let (tokens, usd) = (request.budget.tokens, request.budget.usd);
            return Err(Failure::OverBudget(format!(
                "it took {} tokens of {tokens} and {} of {usd}",
                charged.tokens, charged.usd
            )));
        }
        result
    }
}
