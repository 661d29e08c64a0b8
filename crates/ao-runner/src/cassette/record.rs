//! What is said is written down.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ao_contract::{
    CassetteBudget, CassetteForm, CassetteLine, CassetteRefusal, CassetteUsage, Extra, Money,
    SchemaVersion,
};
use ao_guard::cell::Refused;

use ao_vault::redactor;

use super::{FOLDER, failure};
use crate::answer::{Cost, Said, Usage};
use crate::ask::WITHHELD;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::line;
use crate::request::{Request, Usd};
use crate::runner::{Exchange, Runner};
use crate::wrap::Nonce;

/// The cassette of a run while it is recorded.
#[derive(Debug)]
pub struct Tape {
    path: PathBuf,
    clock: Clock,
}

impl Tape {
    /// `overnight` is the folder of the nights.
    pub fn new(overnight: &Path, run_id: &str, clock: Clock) -> io::Result<Self> {
        let path = super::path(overnight, run_id)?;
        ao_tree::make_folders(overnight, FOLDER)?;
        Ok(Self { path, clock })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A runner whose exchanges are recorded. It is made for one question, as the word around its material is.
#[derive(Debug)]
pub struct Recorded<'a> {
    pub runner: &'a dyn Runner,
    pub model: Option<&'a str>,
    pub nonce: &'a Nonce,
    pub tape: &'a Tape,
}

impl Runner for Recorded<'_> {
    fn name(&self) -> &str {
        self.runner.name()
    }

    fn exchange(
        &self,
        request: &Request,
        question: &str,
        stop: &AtomicBool,
    ) -> Result<Exchange, Failure> {
        let at = self.tape.clock.now().to_string();
        let since = Instant::now();
        let mut result = self.runner.exchange(request, question, stop);
        let took = match &mut result {
            // What is played back has whole milliseconds, so the first time it has them, too.
            Ok(exchange) => {
                exchange.took = Duration::from_millis(millis(exchange.took));
                exchange.took
            }
            Err(_) => since.elapsed(),
        };
        let budget = &request.budget;
        let answered = result.as_ref().ok();
        let line = CassetteLine {
            schema_version: SchemaVersion,
            at,
            runner: self.name().to_owned(),
            model: self.model.map(str::to_owned),
            purpose: request.purpose.to_owned(),
            nonce: self.nonce.as_str().to_owned(),
            question: question.to_owned(),
            form: CassetteForm {
                name: request.form.name.to_owned(),
                schema: request.form.schema.clone(),
                extra: Extra::new(),
            },
            budget: CassetteBudget {
                time_ms: millis(budget.time),
                tokens: budget.tokens,
                turns: budget.turns,
                usd_micros: budget.usd.0,
                output_bytes: budget.output_bytes,
                extra: Extra::new(),
            },
            took_ms: millis(took),
            exit: answered.and_then(|exchange| exchange.exit),
            answer: answered.map(|exchange| kept(&exchange.text)),
            usage: answered.map(|exchange| usage(&exchange.usage)),
            failure: result.as_ref().err().map(failure::recorded),
            refused: self.runner.refused().into_iter().map(refusal).collect(),
            extra: Extra::new(),
        };
        // A night that could not be replayed is not one that may go on as if it could.
        line::append(&self.tape.path, &line).map_err(|error| {
            Failure::Broken(format!("{} could not be written: {error}", self.tape.path.display()))
        })?;
        result
    }
}

/// An answer with a value of the vault in it is refused, also where the value was taken out.
fn kept(text: &str) -> String {
    if redactor().is_in(text.as_bytes()) {
        format!("{}\n{WITHHELD}", line::plain(text))
    } else {
        text.to_owned()
    }
}

fn refusal(refused: Refused) -> CassetteRefusal {
    CassetteRefusal { rule: refused.rule, what: refused.what }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn usage(usage: &Usage) -> CassetteUsage {
    let tokens = match usage.tokens {
        Said::ByRunner(count) => Some(count),
        Said::Nothing => None,
    };
    let (money, usd) = match usage.cost {
        Cost::Unknown => (Money::Unknown, Usd(0)),
        Cost::Real(usd) => (Money::Real, usd),
        Cost::Imputed(usd) => (Money::Imputed, usd),
        Cost::Free => (Money::Free, Usd(0)),
    };
    CassetteUsage { tokens, turns: usage.turns, money, usd_micros: usd.0, extra: Extra::new() }
}
