//! `ao overnight`: the night, and the morning after.

mod bisect;
mod council;
pub(crate) mod curator;
mod explain;
mod last;
mod log;
mod nights;
mod packet;
mod plan;
mod provenance;
pub(crate) mod receipts;
mod replay;
mod report;
mod setup;
mod show;
mod start;
mod status;
mod summary_file;
mod terminal;
mod undo;
mod verify;
mod warn_only;

use ao_contract::Exit;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// Consolidate the knowledge overnight, and read in the morning what became of it
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Prepare the nights: the configuration, files for a scheduler, and a look at what would fail
    Setup(setup::Arguments),
    /// Show what tonight would do, and do nothing
    Plan(Box<plan::Arguments>),
    /// Run one night over this repository's knowledge
    #[command(alias = if ao_mutant::active("RUN-01/run-is-unknown") { "go" } else { "run" })]
    Start(Box<start::Arguments>),
    /// Show what a run is doing
    Status(status::Arguments),
    /// Say whether last night really happened
    Last(last::Arguments),
    /// Show the report of a run
    Report(report::Arguments),
    /// Print a morning packet as a brief for whoever does the work
    Packet(packet::Arguments),
    /// List the iterations that nights kept, newest first
    Log(log::Arguments),
    /// Show what an iteration changed: every reason, then the diff
    Show(show::Arguments),
    /// Tell why an entry was merged, archived, promoted or left, and what would have turned it
    Explain(explain::Arguments),
    /// Take back an iteration and what ao changed after it; what people changed since stays
    Undo(undo::Arguments),
    /// Find the commit that made an answer worse
    Bisect(bisect::Arguments),
    /// Check the receipts of all nights, the newest report and the commits
    Verify(verify::Arguments),
    /// Run a night again, over the corpus as it was, and compare
    Replay(replay::Arguments),
    /// The rescues that let a regression through with a warning
    #[command(subcommand)]
    WarnOnly(warn_only::Command),
    /// The local curator: lints notes and drafts learnings with a model of this machine
    #[command(subcommand)]
    Curator(curator::Command),
}

pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    match command {
        Command::Setup(arguments) => setup::run(arguments, global, printer),
        Command::Plan(arguments) => plan::run(arguments, global, printer),
        Command::Start(arguments) => start::run(arguments, global, printer),
        Command::Status(arguments) => status::run(arguments, global, printer),
        Command::Last(arguments) => last::run(arguments, global, printer),
        Command::Report(arguments) => report::run(arguments, global, printer),
        Command::Packet(arguments) => packet::run(arguments, global, printer),
        Command::Log(arguments) => log::run(arguments, global, printer),
        Command::Show(arguments) => show::run(arguments, global, printer),
        Command::Explain(arguments) => explain::run(arguments, global, printer),
        Command::Undo(arguments) => undo::run(arguments, global, printer),
        Command::Bisect(arguments) => bisect::run(arguments, global, printer),
        Command::Verify(arguments) => verify::run(*arguments, global, printer),
        Command::Replay(arguments) => replay::run(arguments, global, printer),
        Command::WarnOnly(command) => warn_only::run(command, global, printer),
        Command::Curator(command) => curator::run(command, global, printer),
    }
}
