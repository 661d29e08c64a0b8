//! `ao overnight curator event`

use ao_contract::{EventSeverity, Exit};
use ao_night::curator::{self, Raise, Worker, Write};
use serde_json::json;

use super::{failure, settings};
use crate::chance;
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

/// Raise something that needs review
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It is written into worker_dir/events/pending.jsonl, with a line in events/ledger.jsonl. The budget is the \
number of
calls that it may cost; each event of the same source, action and target that still waits, and each call that was
spent on it, counts. Past that it is refused (exit code 4).

Examples:
  ao overnight curator event --source lint --severity warn --action 'look at the dead links' --target council --budget 2"
)]
pub(crate) struct Arguments {
    /// What raises it
    #[arg(long, value_name = "NAME")]
    source: String,
    /// info, warn, high or critical
    #[arg(long, value_parser = severity)]
    severity: EventSeverity,
    /// What should be done
    #[arg(long, value_name = "TEXT")]
    action: String,
    /// Who should do it
    #[arg(long, value_name = "NAME")]
    target: String,
    /// How many runner calls it may cost; at least one
    #[arg(long, value_name = "N")]
    budget: u32,
    /// What else there is to say
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

fn severity(text: &str) -> Result<EventSeverity, String> {
    serde_json::from_value(text.into())
        .map_err(|_| "it must be info, warn, high or critical".to_owned())
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let settings = settings::noted(&repo, printer)?;
    let worker = Worker::open(&settings).map_err(|error| failure::of(&error))?;
    let wanted = Raise {
        source: arguments.source.clone(),
        severity: arguments.severity,
        action: arguments.action.clone(),
        target: arguments.target.clone(),
        budget: arguments.budget,
        note: arguments.note.clone(),
        now: clock::timestamp(),
        chance: chance::bytes()?,
    };
    let write = if global.dry_run { Write::No } else { Write::Yes };
    let event = curator::raise(&worker, &wanted, write).map_err(|error| failure::of(&error))?;
    let (status, word) =
        if global.dry_run { ("preview", "Would raise") } else { ("raised", "Raised") };
    let text = format!("{word} {}\n", event.id);
    let fields = json!({ "status": status, "event": event });
    printer.answer("overnight curator event", fields, &text);
    Ok(Exit::Done)
}
