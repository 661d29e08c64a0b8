//! `ao tree`: the door to `.agents/`, by hand.

pub(crate) mod apply;
mod diff;
mod log;
pub(crate) mod outcome;
mod recover;
mod show;
pub(crate) mod undo;
pub(crate) mod verify;

use ao_contract::Exit;

pub(crate) use outcome::list_changes;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// Change the knowledge under .agents/ as one, see what was changed, take it back
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make edits to the knowledge, all as one commit that no crash can tear
    Apply(apply::Arguments),
    /// List the commits, newest first
    Log(log::Arguments),
    /// Show what a commit changed and why
    Show(show::Arguments),
    /// Show a commit as a diff
    Diff(diff::Arguments),
    /// Take back a commit and all after it; what people changed since stays
    Undo(undo::Arguments),
    /// Check that history and undo snapshots are whole and nothing is left half done
    Verify(verify::Arguments),
    /// Finish or remove what a killed run left behind
    Recover(recover::Arguments),
}

pub(crate) fn run(command: Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    match command {
        Command::Apply(arguments) => apply::run(&arguments, global, printer),
        Command::Log(arguments) => log::run(&arguments, global, printer),
        Command::Show(arguments) => show::run(&arguments, global, printer),
        Command::Diff(arguments) => diff::run(&arguments, global, printer),
        Command::Undo(arguments) => undo::run(&arguments, global, printer),
        Command::Verify(arguments) => verify::run(&arguments, global, printer),
        Command::Recover(arguments) => recover::run(&arguments, global, printer),
    }
}
