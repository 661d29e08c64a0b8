//! `ao overnight warn-only`

use ao_contract::{Exit, WarnOnlyBudget};
use ao_guard::Decision;
use ao_night::receipts::relist;
use serde_json::json;

use super::receipts;
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::person;
use crate::printer::Printer;
use crate::repo::Repo;

/// With more the gate would never be strict.
const RESCUES_MAX: i64 = 100;

/// The rescues that let a regression through with a warning
#[derive(Debug, clap::Subcommand)]
#[command(
    after_help = "While a repository has rescues left, a regression or a plateau is noted and let through, \
and spends one. Without any, the gate is strict.

Examples:
  ao overnight warn-only show
  ao overnight warn-only reset
  ao overnight warn-only reset --initial 5"
)]
pub(crate) enum Command {
    /// Say how many are left
    Show,
    /// Give the repository all of them again
    Reset {
        /// How many there are from now on (default: as many as before, at least 3)
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=RESCUES_MAX))]
        initial: Option<u32>,
    },
}

pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let state = repo.state();
    let budget = match command {
        Command::Reset { initial } if !global.dry_run => {
            person::decides(Decision::ResetRescues, &repo.root)?;
            let now = clock::now();
            let _lock = repo.lock(now)?;
            let root = repo.canonical();
            let (custody, _) = receipts::custody(&root);
            let at = now.rfc3339();
            let fresh = ao_night::budget::reset(&state, *initial, at.clone());
            fresh
                .and_then(|fresh| {
                    let listed = custody.map(|custody| relist(&root, &state, &custody, &at));
                    listed.unwrap_or(Ok(())).map(|()| fresh)
                })
                .map_err(|error| {
                    let why = format!("the rescues could not be written: {error}");
                    Failure::new(Exit::Failed, why)
                        .hint("put right what is named, then run the command again")
                })?
        }
        Command::Show | Command::Reset { .. } => ao_night::budget::read(&state).map_err(|why| {
            Failure::new(Exit::Failed, why).hint("`ao overnight warn-only reset` writes it anew")
        })?,
    };
    let WarnOnlyBudget { remaining, initial_budget, .. } = &budget;
    let text = format!("{remaining} of {initial_budget} rescues are left\n");
    printer.answer("overnight warn-only", json!({ "budget": budget }), &text);
    Ok(Exit::Done)
}
