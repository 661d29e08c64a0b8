//! `ao vault run`: a command that gets what it must have.

use std::ffi::OsString;

use ao_contract::Exit;
use ao_vault::Store;

use super::failure;
use super::granted::Granted;
use super::place::Where;
use crate::cli::Global;
use crate::commands::guard::{self, Options, Order};
use crate::failure::Failure;
use crate::printer::Printer;

/// Run a command in a cell that gets values in its environment, for its life alone
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  ao vault run STRIPE_KEY -- ./report            the variable STRIPE_KEY has the value
  ao vault run stripe/live=STRIPE_KEY -- ./report
                                                 the name of the variable is another
  ao vault run --rw out --net api.stripe.com:443 STRIPE_KEY -- ./report
                                                 the cell is that of `ao guard run`, with the same options

The command can do with the value what it likes within its cell. If it only speaks HTTP with it to one host, let
`ao guard run --auth HOST:PORT=vault://NAME` do that: then it never has it.

Exit code: that of the command, as with `ao guard run`; 2, 5 and 6 as with `ao vault read` if there is no value:
then nothing was started.")]
pub(crate) struct Arguments {
    /// Names of values, each with the variable that it goes into if that is called otherwise
    #[arg(value_name = "NAME[=VARIABLE]", required = true)]
    names: Vec<String>,
    #[command(flatten)]
    options: Options,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Arguments {
    pub(crate) fn place(&self) -> &Where {
        &self.options.vault
    }
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<u8, Failure> {
    let granted = Granted::all(&arguments.names)?;
    let mut order = Order::resolve(&arguments.options, &arguments.command, global)?;
    if global.dry_run {
        for one in &granted {
            printer.note(&format!(
                "{} would be the variable {}",
                one.name.reference(),
                one.variable
            ));
        }
        order.tell("vault run", printer);
        return Ok(Exit::Done.code());
    }
    let files = arguments.options.vault.files()?;
    {
        // Only what was named is kept while the command runs.
        let store = Store::open(&files).map_err(|error| failure::of(&error))?;
        for one in &granted {
            order.cell.secrets.push(one.take(&store)?);
        }
    }
    guard::carry_out(&order, "vault run", global, printer)
}
