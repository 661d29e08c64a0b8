//! What is charged for an exchange.

use ao_contract::{Money, Settlement};

use super::Reservation;
use crate::answer::{Cost, Said, Usage};
use crate::request::Usd;

/// How a reservation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was asked.
    NotAsked,
    /// The runner may have spent anything.
    Unreported,
    /// The runner says.
    Said(Usage),
}

/// What a settlement charged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charged {
    pub why: Settlement,
    pub tokens: u64,
    pub usd: Usd,
    pub money: Money,
}

/// What is charged, whatever the runner says.
pub(super) fn charge(reservation: &Reservation, outcome: Outcome) -> Charged {
    let Reservation { tokens: all_tokens, usd: all_usd, .. } = *reservation;
    let usage = match outcome {
        Outcome::NotAsked => {
            let why = Settlement::NotAsked;
            return Charged { why, tokens: 0, usd: Usd(0), money: Money::Free };
        }
        Outcome::Unreported => Usage::default(),
        Outcome::Said(usage) => usage,
    };
    let (tokens, is_counted) = match usage.tokens {
        Said::ByRunner(count) => (count, true),
        Said::Nothing => (all_tokens, false),
    };
    let (usd, money) = match usage.cost {
        Cost::Real(usd) => (usd, Money::Real),
        Cost::Imputed(usd) => (usd, Money::Imputed),
        Cost::Free => (Usd(0), Money::Free),
        Cost::Unknown => (all_usd, Money::Unknown),
    };
    // Nothing may be paid, and nobody says that nothing was.
    let is_doubtful = money == Money::Unknown && all_usd == Usd(0);
    let is_answer = matches!(outcome, Outcome::Said(_));
    let why = if tokens > all_tokens || usd > all_usd || is_answer && is_doubtful {
        Settlement::OverBudget
    } else if is_counted && money != Money::Unknown {
        Settlement::Reported
    } else {
        Settlement::Unreported
    };
    Charged { why, tokens, usd, money }
}
