//! `ao guard`: what holds other programs, and what an agent may write.

mod answer;
mod audit;
mod auth;
mod check;
mod home;
mod hook;
pub(crate) mod install;
mod kept;
mod log;
mod order;
pub(crate) mod place;
mod policy;
mod run;
mod secrets_elsewhere;
mod toolchains;

pub(crate) use answer::refused;
pub(crate) use auth::authorities;
pub(crate) use order::Order;
pub(crate) use run::{Options, carry_out};

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Run a command in a cell: it writes only where it may, and reaches nobody
    Run(run::Arguments),
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

/// The exit code is a number: that of a command that ran goes through as it is.
pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<u8, Failure> {
    let exit = match command {
        Command::Run(arguments) => return run::run(arguments, global, printer),
        Command::Check(arguments) => check::run(arguments, global, printer),
        Command::Audit(arguments) => audit::run(arguments, global, printer),
        Command::Hook(arguments) => Ok(hook::run(arguments, global, printer)),
        Command::Install(arguments) => install::install(arguments, global, printer),
        Command::Uninstall(arguments) => install::uninstall(arguments, global, printer),
    };
    Ok(exit?.code())
}
