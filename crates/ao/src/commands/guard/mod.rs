//! `ao guard`: what holds other programs.

mod answer;
mod kept;
mod order;
mod place;
mod run;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// Hold other programs to what they may do
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Run a command in a cell: it writes only where it may, and reaches nobody
    Run(run::Arguments),
}

/// The exit code is a number: that of a command that ran goes through as it is.
pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<u8, Failure> {
    match command {
        Command::Run(arguments) => run::run(arguments, global, printer),
    }
}
