//! The rescues: how often a regression may still be let through with a warning.

use std::io;
use std::path::Path;

use ao_contract::{Extra, HistoryLine, LastRescue, WarnOnlyBudget};
use ao_tree::own_file;
use ao_vault::{out, redactor};

pub(crate) const FILE: &str = "warn-only-budget.json";
const VERSION: u32 = 1;
pub const RESCUES: u32 = 3;
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Reads what is left; a repository that never spent one has all of them.
pub fn read(state: &Path) -> Result<WarnOnlyBudget, String> {
    let path = state.join(FILE);
    let told = |why: String| format!("{}: {why}", path.display());
    let read = own_file::read_if_any(&path, FILE_BYTES_MAX);
    let Some(bytes) = read.map_err(|error| told(error.to_string()))? else { return Ok(full()) };
    let value = serde_json::from_slice(&bytes).map_err(|error| told(error.to_string()))?;
    ao_contract::read(&value).map_err(|error| told(error.to_string()))
}

fn full() -> WarnOnlyBudget {
    WarnOnlyBudget {
        version: VERSION,
        remaining: RESCUES,
        initial_budget: RESCUES,
        last_reset_at: None,
        last_decrement_at: None,
        last_rescue: None,
        extra: Extra::new(),
    }
}

/// Restores all rescues, or gives this many, also where nobody can read any more how many are left.
pub fn reset(state: &Path, rescues: Option<u32>, at: String) -> io::Result<WarnOnlyBudget> {
    let before = read(state).unwrap_or_else(|_| full());
    let rescues = rescues.unwrap_or_else(|| before.initial_budget.max(RESCUES));
    let fresh = WarnOnlyBudget {
        remaining: rescues - u32::from(ao_mutant::active("RUN-03/reset-restores-too-few")),
        initial_budget: rescues,
        last_reset_at: Some(at),
        last_rescue: None,
        ..before
    };
    write(state, &fresh)?;
    Ok(fresh)
}

/// Spends one, durably, before what it rescues is committed.
pub(crate) fn spend(
    state: &Path,
    budget: &mut WarnOnlyBudget,
    at: String,
    rescue: LastRescue,
) -> io::Result<()> {
    budget.remaining = budget.remaining.saturating_sub(1);
    budget.last_decrement_at = Some(at);
    budget.last_rescue = Some(rescue);
    write(state, budget)
}

/// Takes back that one was spent: what it was spent on does not need it any more.
pub(crate) fn give_back(state: &Path, budget: &mut WarnOnlyBudget) -> io::Result<()> {
    budget.remaining = budget.remaining.saturating_add(1);
    budget.last_rescue = None;
    write(state, budget)
}

/// Gives back the rescue of a run that was cut off before its commit was decided. Gives the iteration.
pub(crate) fn give_back_unused(
    state: &Path,
    budget: &mut WarnOnlyBudget,
    history: &[HistoryLine],
) -> io::Result<Option<String>> {
    let is_committed = |id: &str| history.iter().any(|line| line.id == id);
    let Some(LastRescue { iteration_id, .. }) =
        budget.last_rescue.clone().filter(|last| !is_committed(&last.iteration_id))
    else {
        return Ok(None);
    };
    give_back(state, budget)?;
    Ok(Some(iteration_id))
}

pub(crate) fn write(state: &Path, budget: &WarnOnlyBudget) -> io::Result<()> {
    out::replace_file(&state.join(FILE), &redactor().json(budget)?)
}
