//! What the runners of a night were given and what they took, `ledger.jsonl`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::pattern::UTC;
use crate::{Extra, SchemaVersion};

/// One line of the ledger of a run: a reservation before a runner is asked, or its settlement after.
/// A reservation without a settlement counts as spent in full. Unknown fields are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Ledger line")]
pub struct LedgerLine {
    /// Always 1.
    pub schema_version: SchemaVersion<1>,
    /// When it was written.
    #[schemars(regex(pattern = UTC))]
    pub at: String,
    /// Whether something is reserved or settled.
    pub event: LedgerEvent,
    /// The number of the reservation, from 1; its settlement has the same.
    pub id: u64,
    /// Whom it is for.
    pub runner: String,
    /// What it is asked for, in one word.
    pub purpose: String,
    /// Tokens that are reserved, or charged.
    pub tokens: u64,
    /// Millionths of a US dollar that are reserved, or charged.
    pub usd_micros: u64,
    /// Of a settlement: whose money it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub money: Option<Money>,
    /// Of a settlement: why this much is charged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Settlement>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a line of the ledger says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LedgerEvent {
    /// So much may be spent.
    Reserved,
    /// So much was.
    Settled,
}

/// Whether money was really spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Money {
    /// Nobody says whether it was; it counts as if.
    Unknown,
    /// An account is charged by use.
    Real,
    /// What it would have cost by the maker's prices.
    Imputed,
    /// It runs on a machine of one's own.
    Free,
}

/// Why a settlement charges what it charges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Settlement {
    /// The runner reported it, and it is within what was reserved.
    Reported,
    /// The runner reported more than was reserved.
    OverBudget,
    /// The runner did not report all of it: where it did not, the reserve is charged in full.
    Unreported,
    /// Nothing was asked, so nothing is charged.
    NotAsked,
    /// The run was ended before it could be settled: charged in full.
    Lost,
}
