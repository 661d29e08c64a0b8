//! `ao overnight`: the night.

mod packet;

use ao_contract::Exit;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// Consolidate the knowledge overnight, and see in the morning what became of it
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Print a morning packet as a brief for whoever does the work
    Packet(packet::Arguments),
}

pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    match command {
        Command::Packet(arguments) => packet::run(arguments, global, printer),
    }
}
