//! `ao tree diff`

use ao_contract::Exit;
use ao_tree::{FileDiff, shown};
use serde_json::json;

use super::outcome;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{DOUBT, Printer, paint};
use crate::repo::Repo;

/// Show a commit as a diff
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The commit (default: the newest)
    id: Option<String>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let (door, _readers) = Repo::find(global)?.read()?;
    let id = door.line(arguments.id.as_deref())?.id;
    let (diffs, gone) = door.diff(&id)?;
    for path in &gone {
        printer.note(&format!(
            "{} {}: one side is no longer kept",
            paint(DOUBT, "note:"),
            shown(path)
        ));
    }
    let text: String = diffs.iter().map(outcome::colored).collect();
    let diff: String = diffs.iter().map(FileDiff::unified).collect();
    printer.answer("tree diff", json!({ "id": id, "diff": diff, "not_kept": gone }), &text);
    Ok(Exit::Done)
}
