//! `ao overnight curator work`

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ao_contract::{Exit, JobStatus};
use ao_night::curator::{self, Engine, Hands, Process, Worked};
use ao_tree::shown;
use serde_json::json;

use super::{engine, failure, settings};
use crate::chance;
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::{BAD, DOUBT, GOOD, Printer, paint};

/// Work the jobs of the queue, one at a time
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Drafts are left in worker_dir/drafts/, lint findings in findings/, a log entry a job in \
logs/pending-log-entries/.
A job that fails, or whose worker is killed, is tried once more, then set aside in failed/.

Exit code: 6 if nothing could be done for want of an engine, 75 if another worker is at work or the hourly cap is
reached before anything was done; with --strict-exit 3 if something is left or failed.

Examples:
  ao overnight curator work
  ao overnight curator work --max 1 --json
  ao --dry-run overnight curator work     what waits, and whether it could be worked"
)]
pub(crate) struct Arguments {
    /// Take no more than so many jobs
    #[arg(long, value_name = "N", default_value_t = u32::MAX, hide_default_value = true)]
    max: u32,
}

pub(super) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let (settings, worker) = settings::open(global, printer)?;
    let runner = engine::engine(&settings);
    let stop = Arc::new(AtomicBool::new(false));
    for signal in
        [signal_hook::consts::SIGHUP, signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM]
    {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|error| {
            Failure::new(Exit::Preflight, format!("signals cannot be waited for: {error}"))
        })?;
    }
    // A nonce is for one question alone.
    let nonce = || chance::nonce().ok();
    let hands = Hands {
        engine: match &runner {
            Ok(runner) => Engine::Ready(runner.as_ref()),
            Err(why) => Engine::None(why.clone()),
        },
        now: &clock::timestamp,
        nonce: &nonce,
        stop: &stop,
        process: Process { id: std::process::id(), start: ao_tree::process_start() },
    };
    let act = if global.dry_run { curator::waiting } else { curator::work };
    let done =
        act(&worker, &settings, arguments.max, &hands).map_err(|error| failure::of(&error))?;
    tell(&done, global, printer);
    Ok(ending(&done, global, printer))
}

fn tell(worked: &Worked, global: &Global, printer: &Printer) {
    let mut text = String::new();
    for job in &worked.ended {
        let outcome = job.outcome.as_ref();
        let is_done = outcome.is_some_and(|outcome| outcome.status == JobStatus::Done);
        let word = if is_done { paint(GOOD, "done") } else { paint(BAD, "failed") };
        let _ = write!(text, "{word} {}", job.id);
        if let Some(outcome) = outcome {
            let faults = outcome.faults.map(|count| format!(", {count} faults"));
            let why = outcome.why.as_ref().map(|why| format!(": {}", shown(why)));
            let _ = write!(text, "{}{}", faults.unwrap_or_default(), why.unwrap_or_default());
            for path in &outcome.wrote {
                let _ = write!(text, "\n  {}", shown(path));
            }
        }
        text.push('\n');
    }
    for id in &worked.would_take {
        let _ = writeln!(text, "would take {id}");
    }
    for (id, why) in &worked.put_back {
        let _ = writeln!(text, "{} {id}: {}", paint(DOUBT, "put back"), shown(why));
    }
    for (id, why) in &worked.left {
        let _ = writeln!(text, "{} {id}: {}", paint(DOUBT, "leave"), shown(why));
    }
    if worked.is_capped {
        text.push_str("the hourly cap is reached\n");
    }
    if text.is_empty() {
        text.push_str("nothing waits\n");
    }
    let named = |pairs: &[(String, String)]| {
        pairs.iter().map(|(id, why)| json!({ "id": id, "why": why })).collect::<Vec<_>>()
    };
    let fields = json!({
        "status": if global.dry_run { "preview" } else { "worked" },
        "ended": worked.ended,
        "would_take": worked.would_take,
        "put_back": named(&worked.put_back),
        "left": named(&worked.left),
        "is_capped": worked.is_capped,
        "is_stopped": worked.is_stopped,
    });
    printer.answer("overnight curator work", fields, &text);
}

fn ending(worked: &Worked, global: &Global, printer: &Printer) -> Exit {
    let is_idle = worked.ended.is_empty() && worked.would_take.is_empty();
    if worked.is_stopped {
        printer.note("stopped; nothing is lost, the job is in the queue again");
        return Exit::Failed;
    }
    if worked.lacks_engine {
        printer.note("hint: `ao overnight curator diagnose` says what the engine lacks");
    }
    if is_idle && worked.lacks_engine {
        return Exit::Preflight;
    }
    if is_idle && worked.is_capped {
        return Exit::Deferred;
    }
    let is_failed = |outcome: &ao_contract::JobOutcome| outcome.status == JobStatus::Failed;
    let has_failed = worked.ended.iter().any(|job| job.outcome.as_ref().is_some_and(is_failed));
    let is_degraded =
        has_failed || worked.is_capped || !worked.left.is_empty() || !worked.put_back.is_empty();
    if is_degraded && global.strict_exit { Exit::Degraded } else { Exit::Done }
}
