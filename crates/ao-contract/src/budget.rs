//! The rescues that warn-only mode has left, `overnight/warn-only-budget.json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Extra;

/// The commit that a rescue was spent on. It is recorded before the commit is decided: if the history does not
/// have the commit, nothing was rescued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LastRescue {
    /// The iteration, which is the commit's id too.
    pub iteration_id: String,
    /// What spoke against the commit.
    pub reason: String,
}

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
    /// What the last rescue was spent on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_rescue: Option<LastRescue>,
    /// Fields that `ao` does not know. They are kept.
    #[serde(flatten)]
    pub extra: Extra,
}
