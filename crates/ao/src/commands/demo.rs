//! `ao demo`

use ao_contract::Exit;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// See on a corpus of its own that a killed commit tears nothing
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, _: &Global, printer: &Printer) -> Result<Exit, Failure> {
    printer.note("demo");
    Ok(Exit::Done)
}
