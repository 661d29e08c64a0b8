//! `ao tree show`

use std::fmt::Write as _;

use ao_contract::Exit;
use ao_tree::shown;
use serde_json::json;

use super::outcome;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{FAINT, Printer, STRONG, paint};
use crate::repo::Repo;

/// Show what a commit changed and why
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
    let line = door.line(arguments.id.as_deref())?;
    let record = door.record(&line.id)?;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}  {}",
        paint(STRONG, &shown(&record.id)),
        paint(FAINT, &shown(&record.at))
    );
    let _ = writeln!(text, "{}", shown(&record.why));
    if !record.undo_of.is_empty() {
        let _ = writeln!(text, "takes back {}", shown(&record.undo_of.join(", ")));
    }
    text.push('\n');
    for change in &record.changes {
        outcome::list_changes(&mut text, std::slice::from_ref(change));
        if !change.sources.is_empty() {
            let _ = writeln!(text, "       from {}", shown(&change.sources.join(", ")));
        }
    }
    for path in &record.carried {
        let _ = writeln!(text, "kept   {}  changed by others meanwhile", shown(path));
    }
    for conflict in &record.conflicts {
        let _ = writeln!(text, "conflict {}: {}", shown(&conflict.path), conflict.why);
    }
    printer.answer("tree show", json!({ "line": line, "record": record }), &text);
    Ok(Exit::Done)
}
