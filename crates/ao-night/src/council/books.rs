//! What every question of a run goes through: the ledger, and the tape.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use ao_runner::cassette::Tape;
use ao_runner::ledger::{self, Ledger, Limits};
use ao_runner::{Clock, Usd};
use serde_json::{Value, json};

use super::Seat;

#[derive(Debug)]
pub(crate) struct Books {
    pub(crate) ledger: Ledger,
    pub(crate) tape: Tape,
}

impl Books {
    /// `own` is the folder of the run, `overnight` that of all nights. A run that is gone on with goes on with its
    /// books.
    pub(crate) fn open(
        own: &Path,
        (overnight, run_id): (&Path, &str),
        seats: &[Seat],
        clock: &Clock,
    ) -> Result<Self, String> {
        let said = |error: io::Error| error.to_string();
        let mut limits: BTreeMap<String, Limits> = BTreeMap::new();
        for seat in seats {
            // One who was named twice has two seats, and the second knows no limits.
            let of = limits.entry(seat.runner.name().to_owned()).or_default();
            *of = of.least(&seat.limits);
        }
        std::fs::symlink_metadata(own).map_err(said)?;
        let ledger =
            Ledger::open(&own.join(ledger::FILE), Limits::default(), limits, clock.clone());
        Ok(Self {
            ledger: ledger.map_err(|error| error.to_string())?,
            tape: Tape::new(overnight, run_id, clock.clone()).map_err(said)?,
        })
    }

    /// What a runner has spent so far, in words and as fields.
    pub(crate) fn spent(&self, runner: &str) -> (String, Value) {
        let spent = self.ledger.spent(Some(runner));
        let mut told = format!("charged {} tokens", spent.tokens);
        for (money, kind) in [(spent.real, ""), (spent.imputed, " by the list price")] {
            if money > Usd(0) {
                let _ = write!(told, ", {money}{kind}");
            }
        }
        let fields = json!({
            "calls": spent.calls,
            "tokens": spent.tokens,
            "real_usd_micros": spent.real.0,
            "imputed_usd_micros": spent.imputed.0,
        });
        (told, fields)
    }
}
