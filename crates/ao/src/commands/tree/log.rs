//! `ao tree log`

use std::fmt::Write as _;

use ao_contract::{Exit, HistoryLine};
use ao_tree::shown;
use serde_json::json;

use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{FAINT, Printer, STRONG, paint};
use crate::repo::Repo;

/// List the commits, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ao tree log -n 5
  ao --json tree log")]
pub(crate) struct Arguments {
    /// Only the newest N
    #[arg(short = 'n', value_name = "N")]
    newest: Option<usize>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let (door, _readers) = Repo::find(global)?.read()?;
    let lines: Vec<HistoryLine> =
        door.history()?.into_iter().rev().take(arguments.newest.unwrap_or(usize::MAX)).collect();
    let mut text = String::new();
    for line in &lines {
        let counts = format!("+{} ~{} -{}", line.added, line.changed, line.deleted);
        let _ = writeln!(
            text,
            "{}  {}  {counts:<12} {}",
            paint(STRONG, &shown(&line.id)),
            paint(FAINT, &shown(&line.at)),
            shown(&line.why)
        );
    }
    if lines.is_empty() {
        printer.note("No commits yet.");
    }
    printer.answer("tree log", json!({ "commits": lines }), &text);
    Ok(Exit::Done)
}
