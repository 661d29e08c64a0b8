//! `ao overnight curator compact`

use std::fmt::Write as _;

use ao_contract::Exit;
use ao_night::curator::{self, Worker};
use serde_json::json;

use super::{failure, settings};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{DOUBT, Printer, paint};
use crate::repo::Repo;

/// Fold the pending log entries into one file
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The entries of worker_dir/logs/pending-log-entries/ go when the compacted file in logs/compacted/ is \
durable.
A dry run says exactly what --apply does.

Examples:
  ao overnight curator compact --dry-run
  ao overnight curator compact --apply"
)]
pub(crate) struct Arguments {
    /// Do it
    #[arg(long)]
    apply: bool,
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if !arguments.apply && !global.dry_run {
        return Err(Failure::usage("either --dry-run or --apply is needed")
            .hint("`ao overnight curator compact --dry-run` says what --apply does"));
    }
    let repo = Repo::find(global)?;
    let settings = settings::noted(&repo, printer)?;
    let worker = Worker::open(&settings).map_err(|error| failure::of(&error))?;
    let (status, done) = if global.dry_run && !ao_mutant::active("CUR-05/dry-run-folds") {
        ("preview", curator::preview(&worker))
    } else {
        ("applied", curator::compact(&worker))
    };
    let done = done.map_err(|error| failure::of(&error))?;
    let mut text = String::new();
    if let Some(name) = &done.finishes {
        let count = done.finished_entries.len();
        let _ = writeln!(text, "{count} entries of {name} that were still there");
    }
    match &done.compacted {
        Some(name) => {
            let _ =
                writeln!(text, "{} entries into {name}, {} bytes", done.entries.len(), done.bytes);
        }
        None => text.push_str("nothing to fold\n"),
    }
    for (name, why) in &done.left {
        let _ = writeln!(text, "{} {name}: {why}", paint(DOUBT, "leave"));
    }
    let fields = json!({ "status": status, "worker_dir": worker.path(""), "compaction": done });
    printer.answer("overnight curator compact", fields, &text);
    Ok(Exit::Done)
}
