//! What a runner gave back.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::request::Usd;

/// An answer that its reader has taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub value: Value,
    pub usage: Usage,
    pub took: Duration,
    /// The first one was not of the form; this is the second.
    pub is_repaired: bool,
}

/// What it took, of this exchange alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub tokens: Said,
    pub turns: u32,
    pub cost: Cost,
}

/// A number of tokens, and who says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Said {
    /// Nobody: all that was reserved is charged.
    #[default]
    Nothing,
    ByRunner(u64),
}

/// Money, and whether it was really spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// Nobody says: all that was reserved is charged.
    #[default]
    Unknown,
    /// An account is charged by use.
    Real(Usd),
    /// What it would have cost by the maker's prices: a subscription pays, or the runner only estimates.
    Imputed(Usd),
    /// It runs on this machine.
    Free,
}
