//! `ao overnight last`: did last night really happen.

use std::path::Path;
use std::time::Duration;

use ao_contract::{Exit, parse_duration};
use ao_night::receipts::{Around, last};
use serde_json::json;

use super::receipts;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;
use crate::{clock, config};

/// Say whether last night really happened
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Goes by the receipt that each run leaves, not by the report: the report can be edited, and one of an
earlier night looks like any other. The second line says what it did, or why it did not happen, as far as that
can be seen. A run that had something to work on and did not is not called done.

Exit codes: 0 it happened, 1 it did not.

Examples:
  ao overnight last
  ao overnight last --within 12h
  ao overnight last || ao notify 'the night did not run'"
)]
pub(crate) struct Arguments {
    /// How far back a night is last night
    #[arg(long, value_name = "DURATION", default_value = "36h", value_parser = within)]
    within: Duration,
}

fn within(text: &str) -> Result<Duration, String> {
    let limit = parse_duration(text).map_err(|error| error.to_string())?;
    if limit.is_zero() { Err("must be over 0".into()) } else { Ok(limit) }
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let root = repo.canonical();
    let (custody, trouble) = receipts::custody(&root);
    if let Some(why) = trouble {
        printer.note(&format!("warning: the key of the receipts cannot be used: {why}"));
    }
    let at_work = ao_tree::holder(&repo.state()).map(|holder| {
        format!("process {} since {}", holder.process, ao_tree::shown(&holder.started_at))
    });
    let around = Around {
        now: clock::timestamp(),
        uptime: clock::uptime(),
        within: arguments.within,
        at_work,
        schedule: schedule(&root)?,
    };
    let told = last(&repo.state(), custody.as_ref(), &around);
    let fields = json!({
        "happened": told.outcome.has_happened(),
        "outcome": told.outcome,
        "when": told.when,
        "what": told.what,
        "unworked": told.unworked,
        "receipt": told.receipt,
    });
    printer.answer("overnight last", fields, &format!("{}\n{}\n", told.when, told.what));
    Ok(if told.outcome.has_happened() { Exit::Done } else { Exit::Failed })
}

/// What the configuration says of when a night should run.
fn schedule(root: &Path) -> Result<String, Failure> {
    let (mut mode, mut at) = (None, None);
    for layer in config::layers(root)? {
        mode = layer.config.dream.scheduler_mode.or(mode);
        at = layer.config.dream.schedule_at.or(at);
    }
    let mode = mode.and_then(|mode| serde_json::to_value(mode).ok());
    let mode = mode.as_ref().and_then(serde_json::Value::as_str);
    Ok(match (mode, at) {
        (None | Some("manual"), None) => "no schedule is configured, so nothing starts one".into(),
        (None | Some("manual"), Some(at)) => {
            format!("the configuration says {}, but to start it by hand", ao_tree::shown(&at))
        }
        (Some(mode), None) => format!("the configuration names {mode}, but no time"),
        (Some(mode), Some(at)) => {
            let at = ao_tree::shown(&at);
            format!(
                "the configuration says {at} by {mode}: look whether its job is installed and ran"
            )
        }
    })
}
