//! `ao tree verify`

use std::fmt::Write as _;

use ao_contract::Exit;
use ao_tree::Verification;
use serde_json::json;

use super::outcome;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{BAD, DOUBT, GOOD, Printer, paint};
use crate::repo::Repo;

/// Where a commit is staged, as damage there is named.
const STAGING: &str = "overnight/staging";
/// How often to look again: a run that was staging at the first look may be gone at the next.
const LOOKS_MAX: usize = 3;

/// Check that history and undo snapshots are whole and nothing is left half done
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit 0 when all is whole, 5 when something is damaged.")]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let found = look(&repo)?;
    if let Some(who) = ao_tree::at_work(&repo.state()) {
        printer.note(&format!(
            "{} a run is at work ({who}); what it stages was not looked at",
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

/// Looks for damage beside whatever is at work. A run that stages a commit has a staging directory
/// and links to every file, and neither is left over or damaged.
pub(crate) fn look(repo: &Repo) -> Result<Verification, Failure> {
    let door = repo.door()?;
    // Not refused as other readers are: a commit that was cut off is one of the things to be found.
    let _readers = ao_tree::share(&repo.state())?;
    let is_at_work = || ao_tree::at_work(&repo.state()).is_some();
    let mut looks = 0;
    loop {
        let was_at_work = is_at_work();
        let mut found = door.verify()?;
        if was_at_work || is_at_work() {
            found.damage.retain(|damage| damage.path != STAGING);
            found.left.clear();
        }
        looks += 1;
        if found.damage.is_empty() || looks == LOOKS_MAX {
            return Ok(found);
        }
    }
}
