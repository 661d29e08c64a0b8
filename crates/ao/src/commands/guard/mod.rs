//! `ao guard`: what an agent may write, asked from outside.

mod audit;
mod check;
mod hook;
mod install;
mod log;
mod policy;

use ao_contract::Exit;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Say of paths, or of a command, whether an agent may write them
    Check(check::Arguments),
    /// Say what changed since a moment, and was not owned
    Audit(audit::Arguments),
    /// Judge a tool call that an agent's host is about to make, in the host's own format
    Hook(hook::Arguments),
    /// Have a host ask the guard before each tool call
    Install(install::Install),
    /// Take the hook out of a host's settings again
    Uninstall(install::Uninstall),
}

pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    match command {
        Command::Check(arguments) => check::run(arguments, global, printer),
        Command::Audit(arguments) => audit::run(arguments, global, printer),
        Command::Hook(arguments) => Ok(hook::run(arguments, global, printer)),
        Command::Install(arguments) => install::install(arguments, global, printer),
        Command::Uninstall(arguments) => install::uninstall(arguments, global, printer),
    }
}
