//! `ao overnight`: the night, and the morning after.

mod report;
mod summary_file;

use ao_contract::Exit;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// Consolidate the knowledge overnight, and read in the morning what became of it
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Show the report of a run
    Report(report::Arguments),
}

pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    match command {
        Command::Report(arguments) => report::run(arguments, global, printer),
    }
}
