//! What the runners of one run may spend, and what they have spent.
//!
//! Before a runner is asked, what it may spend at most is written down and kept from all others; after it,
//! what it spent. Both are on the disk before anything else happens. So whenever the process is killed, the
//! file says at least as much as was spent: a reservation that was never settled counts in full when
//! the ledger is opened again.

mod charge;
mod limits;
mod state;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use ao_contract::{Extra, LedgerEvent, LedgerLine, Money, SchemaVersion, Settlement};
use ao_tree::own_file;
use ao_vault::{Ansi, out, redactor};

use crate::clock::Clock;
use crate::line;
use crate::request::{Budget, Usd};

use charge::charge;
pub use charge::{Charged, Outcome};
pub use limits::{Limits, Spent};
use state::State;

/// Beside the iterations of its run.
pub const FILE: &str = "ledger.jsonl";
/// A night asks some dozens of times; this is a hundred thousand.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// One exchange that may be had.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "what is reserved and not settled counts as spent"]
pub struct Reservation {
    id: u64,
    runner: String,
    purpose: String,
    tokens: u64,
    usd: Usd,
}

#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// What was spent cannot be known, so nothing more is.
    #[error("{} line {line}: {why}", path.display())]
    Damaged { path: PathBuf, line: usize, why: String },
    #[error("no budget is left: {0}")]
    NoBudget(String),
}

#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    total: Limits,
    per_runner: BTreeMap<String, Limits>,
    clock: Clock,
    state: Mutex<State>,
}

impl Ledger {
    /// Opens the ledger of a run, or begins it. What was reserved and never settled is charged.
    pub fn open(
        path: &Path,
        total: Limits,
        per_runner: BTreeMap<String, Limits>,
        clock: Clock,
    ) -> Result<Self, LedgerError> {
        let io = |source| LedgerError::Io { path: path.to_owned(), source };
        let state = match read(path).map_err(io)? {
            None => State::default(),
            Some(text) => {
                // Whoever was killed while a line was written had not begun what the line says.
                let whole = text.rfind('\n').map_or(0, |at| at + 1);
                let state = State::of(path, &text[..whole])?;
                if whole < text.len() {
                    let kept = redactor().bytes(&text.as_bytes()[..whole], Ansi::Keep);
                    out::replace_file(path, &kept).map_err(io)?;
                }
                state
            }
        };
        let per_runner = per_runner.into_iter().map(|(name, limits)| (line::plain(&name), limits));
        let ledger = Self {
            path: path.to_owned(),
            total,
            per_runner: per_runner.collect(),
            clock,
            state: Mutex::new(state),
        };
        ledger.charge_lost()?;
        Ok(ledger)
    }

    fn charge_lost(&self) -> Result<(), LedgerError> {
        let lost: Vec<Reservation> = self.state().open.values().cloned().collect();
        for reservation in lost {
            let charged = Charged {
                why: Settlement::Lost,
                tokens: reservation.tokens,
                usd: reservation.usd,
                money: Money::Unknown,
            };
            self.close(&reservation, &charged)?;
        }
        Ok(())
    }

    /// Keeps as much as an exchange may take from all others; refused if so much is not left.
    pub fn reserve(
        &self,
        runner: &str,
        purpose: &str,
        budget: &Budget,
    ) -> Result<Reservation, LedgerError> {
        let mut state = self.state();
        let runner = line::plain(runner);
        let limits = self.per_runner.get(&runner).copied().unwrap_or_default();
        let asked = Spent { calls: 1, tokens: budget.tokens, real: budget.usd, imputed: Usd(0) };
        for (whose, limits, taken) in [
            (&*runner, limits, state.taken(Some(&runner))),
            ("the run", self.total, state.taken(None)),
        ] {
            limits
                .take(&taken.plus(&asked))
                .map_err(|why| LedgerError::NoBudget(format!("{whose} {why}")))?;
        }
        let id = state.last_id + 1;
        let reservation = Reservation {
            id,
            runner,
            purpose: line::plain(purpose),
            tokens: budget.tokens,
            usd: budget.usd,
        };
        self.write(&reservation, LedgerEvent::Reserved, None)?;
        state.last_id = id;
        state.open.insert(id, reservation.clone());
        Ok(reservation)
    }

    /// Writes down what became of it. Whoever says nothing is charged in full; whoever says more than it
    /// was given is charged what it says.
    pub fn settle(
        &self,
        reservation: &Reservation,
        outcome: Outcome,
    ) -> Result<Charged, LedgerError> {
        let charged = charge(reservation, outcome);
        self.close(reservation, &charged)?;
        Ok(charged)
    }

    fn close(&self, reservation: &Reservation, charged: &Charged) -> Result<(), LedgerError> {
        let mut state = self.state();
        self.write(reservation, LedgerEvent::Settled, Some(charged))?;
        state.open.remove(&reservation.id);
        state.spend(&reservation.runner, charged);
        Ok(())
    }

    /// What was spent: by one runner, or by all.
    pub fn spent(&self, runner: Option<&str>) -> Spent {
        let runner = runner.map(line::plain);
        self.state().settled(runner.as_deref())
    }

    /// What a runner may still be given: the limits less what was spent and what is reserved, of the run and
    /// of the runner.
    pub fn left(&self, runner: &str) -> Limits {
        let state = self.state();
        let runner = line::plain(runner);
        let own = self.per_runner.get(&runner).copied().unwrap_or_default();
        own.less(&state.taken(Some(&runner))).least(&self.total.less(&state.taken(None)))
    }

    fn write(
        &self,
        reservation: &Reservation,
        event: LedgerEvent,
        charged: Option<&Charged>,
    ) -> Result<(), LedgerError> {
        let line = LedgerLine {
            schema_version: SchemaVersion,
            at: self.clock.now().to_string(),
            event,
            id: reservation.id,
            runner: reservation.runner.clone(),
            purpose: reservation.purpose.clone(),
            tokens: charged.map_or(reservation.tokens, |charged| charged.tokens),
            usd_micros: charged.map_or(reservation.usd, |charged| charged.usd).0,
            money: charged.map(|charged| charged.money),
            why: charged.map(|charged| charged.why),
            extra: Extra::new(),
        };
        line::append(&self.path, &line)
            .map_err(|source| LedgerError::Io { path: self.path.clone(), source })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics between two changes that belong together.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn read(path: &Path) -> io::Result<Option<String>> {
    let bytes = own_file::read_if_any(path, FILE_BYTES_MAX)?;
    // A line that was cut off may end within a letter.
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}
