//! `ao overnight curator`: the local worker, its queue, and what it has to say.

mod compact;
mod diagnose;
mod engine;
mod enqueue;
mod event;
mod failure;
pub(crate) mod settings;
mod status;
mod surroundings;
mod work;

use ao_contract::Exit;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;

/// The local curator: lints notes and drafts learnings with a model of this machine
#[derive(Debug, clap::Subcommand)]
#[command(
    after_help = "It is configured by `dream.local_curator` in ~/.agentops/config.yaml: enabled, engine (ollama), \
ollama_url, model,
worker_dir, vault_dir, hourly_cap, allowed_job_kinds. All of it may be absent. It never edits knowledge: drafts
lie in worker_dir/drafts/ until a night takes them in.

Examples:
  ao overnight curator status --json
  ao overnight curator diagnose
  ao overnight curator enqueue --kind lint-wiki
  ao overnight curator work"
)]
pub(crate) enum Command {
    /// Show how it is configured, whether its engine answers, and what waits
    Status,
    /// Say what is wrong with it, and what to do about that
    Diagnose,
    /// Put one job into the queue
    Enqueue(enqueue::Arguments),
    /// Fold the pending log entries into one file
    #[command(name = if ao_mutant::active("RUN-06/compact-is-unknown") { "fold" } else { "compact" })]
    Compact(compact::Arguments),
    /// Raise something that needs review, or close it
    Event(event::Arguments),
    /// Work the jobs of the queue, one at a time
    Work(work::Arguments),
}

pub(crate) fn run(command: &Command, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    match command {
        Command::Status => status::run(global, printer),
        Command::Diagnose => diagnose::run(global, printer),
        Command::Enqueue(arguments) => enqueue::run(arguments, global, printer),
        Command::Compact(arguments) => compact::run(arguments, global, printer),
        Command::Event(arguments) => event::run(arguments, global, printer),
        Command::Work(arguments) => work::run(arguments, global, printer),
    }
}
