//! The ledger in memory, as the file has it.

use std::collections::BTreeMap;
use std::path::Path;

use ao_contract::{LedgerEvent, LedgerLine, Money, Settlement};

use super::charge::Charged;
use super::limits::Spent;
use super::{LedgerError, Reservation};
use crate::request::Usd;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) spent: BTreeMap<String, Spent>,
    pub(super) open: BTreeMap<u64, Reservation>,
    pub(super) last_id: u64,
}

impl State {
    pub(super) fn of(path: &Path, text: &str) -> Result<Self, LedgerError> {
        let mut state = Self::default();
        for (number, text) in text.lines().enumerate() {
            let damaged = |why: &str| LedgerError::Damaged {
                path: path.to_owned(),
                line: number + 1,
                why: why.to_owned(),
            };
            let line: LedgerLine =
                serde_json::from_str(text).map_err(|error| damaged(&error.to_string()))?;
            match line.event {
                LedgerEvent::Reserved => {
                    if line.id <= state.last_id {
                        return Err(damaged("this reservation is there twice"));
                    }
                    state.last_id = line.id;
                    let LedgerLine { id, runner, purpose, tokens, usd_micros, .. } = line;
                    let usd = Usd(usd_micros);
                    state.open.insert(id, Reservation { id, runner, purpose, tokens, usd });
                }
                LedgerEvent::Settled => {
                    let reserved = state.open.remove(&line.id);
                    let Some(reserved) = reserved.filter(|one| one.runner == line.runner) else {
                        return Err(damaged("what it settles was not reserved"));
                    };
                    let (Some(money), Some(why)) = (line.money, line.why) else {
                        return Err(damaged("it does not say why so much is charged"));
                    };
                    let usd = Usd(line.usd_micros);
                    state
                        .spend(&reserved.runner, &Charged { why, tokens: line.tokens, usd, money });
                }
            }
        }
        Ok(state)
    }

    pub(super) fn spend(&mut self, runner: &str, charged: &Charged) {
        let (real, imputed) = match charged.money {
            Money::Real | Money::Unknown => (charged.usd, Usd(0)),
            Money::Imputed => (Usd(0), charged.usd),
            Money::Free => (Usd(0), Usd(0)),
        };
        let calls = u64::from(charged.why != Settlement::NotAsked);
        let more = Spent { calls, tokens: charged.tokens, real, imputed };
        let spent = self.spent.entry(runner.to_owned()).or_default();
        *spent = spent.plus(&more);
    }

    pub(super) fn settled(&self, runner: Option<&str>) -> Spent {
        let of = self.spent.iter().filter(|(name, _)| runner.is_none_or(|runner| runner == *name));
        of.fold(Spent::default(), |sum, (_, spent)| sum.plus(spent))
    }

    /// What is spent, and what may be by now.
    pub(super) fn taken(&self, runner: Option<&str>) -> Spent {
        let open =
            self.open.values().filter(|one| runner.is_none_or(|runner| runner == one.runner));
        open.fold(self.settled(runner), |sum, one| {
            sum.plus(&Spent { calls: 1, tokens: one.tokens, real: one.usd, imputed: Usd(0) })
        })
    }
}
