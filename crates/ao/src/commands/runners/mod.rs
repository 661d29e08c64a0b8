//! `ao runners`: who can be asked, and one question to one of them.

mod ask;
pub(crate) mod list;
mod remedy;
pub(crate) mod workshop;

use ao_contract::Exit;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// List the models and agent programs that can be asked, or ask one of them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each program is started once or twice in a cell without a network, to be asked for its version and its login.
Nothing is sent to anybody.

Examples:
  ao runners                                     what is installed, logged in and usable, and what to do if not
  ao runners --json
  ao runners ask claude --schema runner-report < question.txt
                                                 ask one runner one question, and check the answer")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Ask one runner one question, and check the answer
    Ask(ask::Arguments),
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<u8, Failure> {
    match &arguments.command {
        Some(Command::Ask(arguments)) => ask::run(arguments, global, printer),
        None => {
            list::run(global, printer)?;
            Ok(Exit::Done.code())
        }
    }
}
