//! `ao vault`: secrets that no child holds and no file shows.

pub(crate) mod failure;
mod granted;
mod init;
mod input;
mod names;
pub(crate) mod place;
mod read;
mod run;
mod write;

use std::str::FromStr;

use ao_guard::cell::Around;
use ao_vault::Name;

use crate::cli::Global;
use crate::commands::guard;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make an identity and an empty vault
    Init(init::Arguments),
    /// Keep a value under a name; it is typed without being shown, or comes from standard input
    Write(write::Arguments),
    /// Print a value, and nothing else
    Read(read::Arguments),
    /// List the names
    Refs(names::Refs),
    /// Forget a name and its value
    Rm(names::Remove),
    /// Make a new identity, encrypt everything to it, and forget the old one
    Rotate(names::Rotate),
    /// Run a command in a cell that gets values in its environment, for its life alone
    Run(run::Arguments),
}

/// The exit code is a number: that of a command that ran goes through as it is.
pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<u8, Failure> {
    if guard::place::around() == Around::Cell {
        return Err(failure::in_a_cell());
    }
    place::keep_memory_to_ourselves()?;
    let exit = match command {
        Command::Run(arguments) => return run::run(arguments, global, printer),
        Command::Init(arguments) => init::run(arguments, global, printer),
        Command::Write(arguments) => write::run(arguments, global, printer),
        Command::Read(arguments) => read::run(arguments, global),
        Command::Refs(arguments) => names::refs(arguments, printer),
        Command::Rm(arguments) => names::remove(arguments, global, printer),
        Command::Rotate(arguments) => names::rotate(arguments, global, printer),
    };
    Ok(exit?.code())
}

/// What was typed is not repeated if it is no name: it may be a value.
pub(crate) fn name(text: &str) -> Result<Name, Failure> {
    Name::from_str(text).map_err(|bad| {
        Failure::usage(bad.to_string()).hint(
            "a name has letters, digits and . _ - / and begins with a letter or a digit; if it was a value that you typed, the shell's history has it now: replace it",
        )
    })
}
