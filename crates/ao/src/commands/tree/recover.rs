//! `ao tree recover`

use std::fmt::Write as _;

use ao_contract::Exit;
use ao_tree::{Disk, Door};
use serde_json::json;

use super::outcome;
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

/// Finish or remove what a killed run left behind
#[derive(Debug, clap::Args)]
#[command(after_help = "Every command that commits does this first, by itself.
Exit 6 when a marker cannot be trusted; nothing is touched then.")]
pub(crate) struct Arguments {
    /// Move a marker that cannot be trusted, and all staging, to .agents/overnight/quarantine/; the
    /// knowledge itself stays as it is
    #[arg(long)]
    set_aside: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let door = repo.door()?;
    if global.dry_run {
        return look(&door, printer);
    }
    let now = clock::now();
    let _lock = repo.lock(now)?;
    let recovery = if arguments.set_aside { door.set_aside(&now.id())? } else { door.recover()? };
    repo.amend(&door, &recovery, now);
    let notes = outcome::recovery_notes(&recovery);
    let text = if notes.is_empty() {
        "Nothing to recover.\n".to_owned()
    } else {
        format!("{}\n", notes.join("\n"))
    };
    let fields = json!({ "recovered": outcome::recovery_json(&recovery), "notes": notes });
    printer.answer("tree recover", fields, &text);
    Ok(Exit::Done)
}

/// Says what there is to recover, and changes nothing.
fn look(door: &Door<Disk>, printer: &Printer) -> Result<Exit, Failure> {
    let (waiting, finished) = (door.interrupted()?, door.finished_elsewhere()?);
    let mut text = String::new();
    if let Some(id) = &waiting {
        let _ = writeln!(text, "Would deal with the interrupted commit {id}.");
    }
    if finished > 0 {
        let markers = outcome::finished_markers(finished);
        let _ = writeln!(text, "Would clear {markers} of another tool.");
    }
    if text.is_empty() {
        text.push_str("Nothing to finish.\n");
    }
    let fields =
        json!({ "status": "dry-run", "interrupted": waiting, "finished_markers": finished });
    printer.answer("tree recover", fields, &text);
    Ok(Exit::Done)
}
