//! `ao vault read`: the value, and nothing else.

use ao_contract::Exit;
use ao_vault::Store;

use super::place::Where;
use super::{failure, name, print_alone};
use crate::cli::Global;
use crate::failure::Failure;

/// Print a value, and nothing else
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ao vault read STRIPE_KEY | wl-copy             the bytes as they were written, with no line end after them

Refused in a cell: a command that needs a value is given it by `ao vault run`, and one that only speaks to a
host with it never has it (`ao guard run --auth`). There is no --json.

Exit codes: 0 it was printed, 2 there is no such name, 5 the vault is damaged or not private,
6 there is no vault or no identity, or this is a cell. Where it is not 0 nothing was printed.")]
pub(crate) struct Arguments {
    /// What it is called, with or without `vault://` before it
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    place: Where,
}

pub(super) fn run(arguments: &Arguments, global: &Global) -> Result<Exit, Failure> {
    if global.json {
        return Err(Failure::usage("a value is printed by itself, never as JSON")
            .hint("leave --json out; `ao --json vault refs` lists the names"));
    }
    let name = name(&arguments.name)?;
    let files = arguments.place.files()?;
    let store = Store::open(&files).map_err(|error| failure::of(&error))?;
    let secret = store.get(&name).map_err(|error| failure::of(&error))?;
    print_alone(secret.expose())
}
