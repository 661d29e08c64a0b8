//! The rescues that warn-only mode has left, `overnight/warn-only-budget.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Extra;

/// How many regressions may still be let through with a warning before the gate is strict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Warn-only budget")]
pub struct WarnOnlyBudget {
    /// The version of this file's format.
    pub version: u32,
    /// Rescues left.
    pub remaining: u32,
    /// Rescues after a reset.
    pub initial_budget: u32,
    /// When it was last reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reset_at: Option<String>,
    /// When a rescue was last spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_decrement_at: Option<String>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
