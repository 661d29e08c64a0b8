//! `ao tree verify`

use std::fmt::Write as _;

use ao_contract::Exit;
use serde_json::json;

use super::outcome;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{BAD, DOUBT, GOOD, Printer, paint};
use crate::repo::Repo;

/// Check that history and undo snapshots are whole and nothing is left half done
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit 0 when all is whole, 5 when something is damaged.")]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let door = repo.door()?;
    // Not refused as other readers are: a commit that was cut off is one of the things to be found.
    let _readers = ao_tree::share(&repo.state())?;
    let found = door.verify()?;
    if let Some(who) = ao_tree::at_work(&repo.state()) {
        printer.note(&format!(
            "{} a run is at work ({who}); what it stages is named here too",
            paint(DOUBT, "note:")
        ));
    }
    let mut text = String::new();
    for left in &found.left {
        let _ = writeln!(text, "left    {} {}", left.path, left.why);
    }
    for damage in &found.damage {
        let _ = writeln!(
            text,
            "{} {}: {}; {}",
            paint(BAD, "damage"),
            damage.path,
            damage.why,
            damage.remedy
        );
    }
    let checked = format!("{} commits and {} snapshots", found.commits, found.blobs);
    let _ = match found.damage.len() {
        0 => writeln!(text, "{} {checked}", paint(GOOD, "whole:")),
        count => writeln!(text, "{count} damaged, of {checked}"),
    };
    let damage: Vec<_> = found
        .damage
        .iter()
        .map(|damage| json!({ "path": damage.path, "why": damage.why, "remedy": damage.remedy }))
        .collect();
    let fields = json!({
        "commits": found.commits,
        "snapshots": found.blobs,
        "damage": damage,
        "left": outcome::left_json(&found.left),
    });
    printer.answer("tree verify", fields, &text);
    Ok(if found.damage.is_empty() { Exit::Done } else { Exit::Found })
}
