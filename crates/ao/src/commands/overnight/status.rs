//! `ao overnight status`: what a run is doing, from another terminal.

use std::fmt::Write as _;
use std::time::Duration;

use ao_contract::{Exit, RunNow, format_duration};
use ao_tree::own_file;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{self, FAINT, Printer, STRONG, Stream, paint};
use crate::repo::Repo;

/// How often a run is looked at.
const EVERY: Duration = Duration::from_millis(500);
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Show what a run is doing
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ao overnight status
  ao overnight status --json
  ao overnight status --follow     until the run ends")]
pub(crate) struct Arguments {
    /// Go on telling until the run ends
    #[arg(long, short = 'f')]
    follow: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let mut told: Option<String> = None;
    loop {
        let now = look(&repo);
        let is_over = now.is_none();
        let text = text(now.as_ref());
        if told.as_ref() != Some(&text) {
            let fields = match &now {
                Some(now) => json!({ "is_running": true, "run": now }),
                None => json!({ "is_running": false, "run": Value::Null }),
            };
            printer.answer("overnight status", fields, &text);
            told = Some(text);
        }
        if is_over || !arguments.follow {
            return Ok(Exit::Done);
        }
        std::thread::sleep(EVERY);
    }
}

/// What the run says of itself, if one lives: the lock decides, not the file.
fn look(repo: &Repo) -> Option<RunNow> {
    let holder = ao_tree::holder(&repo.state())?;
    let bytes = own_file::read(&repo.state().join(ao_night::STATUS), FILE_BYTES_MAX).ok()?;
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    let now: RunNow = ao_contract::read(&value).ok()?;
    // A file that a killed run left is not about whoever holds the lock now.
    (now.process == holder.process).then_some(now)
}

fn text(now: Option<&RunNow>) -> String {
    let Some(now) = now else { return "no run is going on\n".to_owned() };
    let iteration = now.iteration.map_or(String::new(), |index| format!(" iteration {index},"));
    let left = format_duration(Duration::from_secs(now.seconds_left));
    let mut text = format!(
        "{} {}:{iteration} {} {}\n",
        paint(STRONG, "run"),
        now.run_id,
        now.stage.name(),
        ao_tree::shown(&now.doing),
    );
    if printer::is_screen(Stream::Data) {
        text.push_str(&paint(FAINT, &format!("  {left} left, process {}\n", now.process)));
    }
    for found in &now.found {
        let _ = writeln!(text, "  {}", ao_tree::shown(found));
    }
    text
}
