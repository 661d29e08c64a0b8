//! `ao overnight curator event`

use ao_contract::{EventSeverity, Exit};
use ao_night::curator::{self, Closing, Raise, Verdict, Worker, Write};
use serde_json::json;

use super::{failure, settings};
use crate::chance;
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::Printer;

/// Whoever closes an event here is no runner.
const PERSON: &str = "person";

/// Raise something that needs review, or close it
#[derive(Debug, clap::Args)]
#[command(
    after_help = "It is written into worker_dir/events/pending.jsonl, with a line in events/ledger.jsonl. The budget is the \
number of
calls that it may cost; each event of the same source, action and target that still waits, and each call that was
spent on it, counts. Past that it is refused (exit code 4). With --close an event that waits is pending no more,
whatever is left of its budget; what was said of it stays in the ledger.

Examples:
  ao overnight curator event --source lint --severity warn --action 'look at the dead links' --target council --budget 2
  ao overnight curator event --close ev-20260415T020000Z-0a1b2c3d --note 'they are repaired'"
)]
pub(crate) struct Arguments {
    /// What raises it
    #[arg(long, value_name = "NAME", required_unless_present = "close")]
    source: Option<String>,
    /// info, warn, high or critical
    #[arg(long, value_parser = severity, required_unless_present = "close")]
    severity: Option<EventSeverity>,
    /// What should be done
    #[arg(long, alias = "desired-action", value_name = "TEXT", required_unless_present = "close")]
    action: Option<String>,
    /// Who should do it
    #[arg(long, value_name = "NAME", required_unless_present = "close")]
    target: Option<String>,
    /// How many runner calls it may cost; at least one
    #[arg(long, value_name = "N", required_unless_present = "close")]
    budget: Option<u32>,
    /// What else there is to say
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Close the event of this id instead of raising one; events/pending.jsonl has those that wait
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["source", "severity", "action", "target", "budget"]
    )]
    close: Option<String>,
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
    let (_, worker) = settings::open(global, printer)?;
    if let Some(id) = &arguments.close {
        return close(id, arguments.note.as_deref(), &worker, global, printer);
    }
    let Arguments { source: Some(source), severity: Some(severity), .. } = arguments else {
        return Err(Failure::usage("an event needs a source and a severity"));
    };
    let (Some(action), Some(target), Some(budget)) =
        (&arguments.action, &arguments.target, arguments.budget)
    else {
        return Err(Failure::usage("an event needs an action, a target and a budget"));
    };
    let wanted = Raise {
        source: source.clone(),
        severity: *severity,
        action: action.clone(),
        target: target.clone(),
        budget,
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

fn close(
    id: &str,
    note: Option<&str>,
    worker: &Worker,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let open = curator::pending_events(worker).map_err(|error| failure::of(&error))?;
    let Some(open) = open.into_iter().find(|open| open.event.id == id) else {
        return Err(failure::of(&curator::Error::NoSuchEvent(ao_tree::shown(id))));
    };
    if !global.dry_run {
        let closing =
            Closing { verdict: Verdict::Closed, by: PERSON, note, now: clock::timestamp() };
        curator::close_event(worker, id, &closing).map_err(|error| failure::of(&error))?;
    }
    let (status, word) =
        if global.dry_run { ("preview", "Would close") } else { ("closed", "Closed") };
    let fields = json!({ "status": status, "event": open.event });
    printer.answer("overnight curator event", fields, &format!("{word} {}\n", open.event.id));
    Ok(Exit::Done)
}
