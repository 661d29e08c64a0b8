//! `ao overnight curator enqueue`

use std::path::PathBuf;

use ao_contract::{Exit, JobKind};
use ao_night::curator::{self, Enqueue, Write};
use serde_json::json;

use super::{failure, settings};
use crate::chance;
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::Printer;

/// Put one job into the queue
#[derive(Debug, clap::Args)]
#[command(
    after_help = "lint-wiki looks through the vault folder; dream-seed drafts questions about its newest notes, or about \
--source;
ingest-claude-session drafts learnings from a part of a session. Lines that begin in the part belong to it.

Exit code: 4 if the kind is not allowed here, 6 if there is no worker directory, 75 if the hourly cap is reached.

Examples:
  ao overnight curator enqueue --kind lint-wiki
  ao overnight curator enqueue --kind ingest-claude-session --source ~/.claude/projects/x/1.jsonl
  ao overnight curator enqueue --kind ingest-claude-session --source 1.jsonl --chunk-start 0 --chunk-end 65536"
)]
pub(crate) struct Arguments {
    /// lint-wiki, dream-seed or ingest-claude-session
    #[arg(long, value_parser = settings::kind)]
    kind: JobKind,
    /// The file to work on
    #[arg(long, value_name = "PATH")]
    source: Option<PathBuf>,
    /// The byte of it to begin at (default: 0)
    #[arg(long, value_name = "N")]
    chunk_start: Option<u64>,
    /// The byte of it to end before (default: its size)
    #[arg(long, value_name = "N")]
    chunk_end: Option<u64>,
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let (settings, worker) = settings::open(global, printer)?;
    let wanted = Enqueue {
        kind: arguments.kind,
        source: arguments.source.as_deref().map(settings::absolute).transpose()?,
        chunk_start: arguments.chunk_start,
        chunk_end: arguments.chunk_end,
        now: clock::timestamp(),
        chance: chance::bytes()?,
    };
    let write = if global.dry_run { Write::No } else { Write::Yes };
    let (job, path) = curator::enqueue(&worker, &settings, &wanted, write)
        .map_err(|error| failure::of(&error))?;
    let word = if global.dry_run { "Would queue" } else { "Queued" };
    let text = format!("{word} {}\n", job.id);
    let status = if global.dry_run { "preview" } else { "queued" };
    let fields = json!({ "status": status, "job": job, "path": path });
    printer.answer("overnight curator enqueue", fields, &text);
    Ok(Exit::Done)
}
