//! `ao overnight verify`: whether the receipts are those that were written.

use std::fmt::Write as _;
use std::path::Path;

use ao_contract::Exit;
use ao_night::counted;
use ao_night::receipts::{Finding, Verified, What, verify};
use ao_tree::{Damage, shown};
use serde_json::json;

use super::super::tree;
use super::receipts;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

const UNDO: &str = "overnight/undo";
/// So many findings are listed for people; JSON has all of them.
const LISTED_MAX: usize = 50;

/// Check the receipts of all nights, the files that they wrote, and the commits
#[derive(Debug, Clone, Copy, clap::Args)]
#[command(
    after_help = "Every run leaves a line in .agents/overnight/receipts.jsonl that names the hash of the line before it and has a
seal. The key of the seals, and how many lines there are, lie in ~/.local/state/ao/receipts, outside of the
repository: a line that was removed, changed, put elsewhere or written by hand is found.

Exit codes: 0 everything holds, 1 there are no receipts or not everything could be checked (the seals of another
machine cannot), 5 something was found.

Examples:
  ao overnight verify
  ao overnight verify --json | jq '.findings[]'"
)]
pub(crate) struct Arguments {}

pub(super) fn run(_: Arguments, global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let root = repo.canonical();
    let (custody, trouble) = receipts::custody(&root);
    let mut found = if repo.agents().is_dir() {
        let door = repo.door()?;
        let history = door.decided_history().map_err(|error| error.to_string());
        let mut found = verify(&root, custody.as_ref(), history);
        let cut_off = door.interrupted()?;
        snapshots(&repo, cut_off.is_some(), &mut found)?;
        if let Some(id) = cut_off {
            found.notes.push(format!("commit {id} is decided: the next start finishes it"));
        }
        found
    } else {
        verify(&root, custody.as_ref(), Ok(Vec::new()))
    };
    found.unchecked.extend(trouble.map(|why| format!("the key cannot be used: {why}")));
    let exit = exit(&found);
    let fields = json!({
        "receipts": found.receipts,
        "holds": exit == Exit::Done,
        "findings": found.findings,
        "unchecked": found.unchecked,
        "notes": found.notes,
    });
    printer.answer("overnight verify", fields, &text(&found, exit));
    Ok(exit)
}

/// What undoes the commits of nights, and of everybody else.
fn snapshots(repo: &Repo, is_cut_off: bool, found: &mut Verified) -> Result<(), Failure> {
    let looked = tree::verify::look(repo)?;
    // What a commit under way or cut off has lying about is no sign of a change.
    let is_kept = |damage: &&Damage| {
        let path = Path::new(&damage.path);
        path.starts_with(UNDO) || path.ends_with("generation") && !is_cut_off
    };
    for damage in looked.damage.iter().filter(is_kept) {
        found.findings.push(Finding {
            line: None,
            what: What::SnapshotDamaged,
            why: format!("{}: {}", damage.path, damage.why),
        });
    }
    Ok(())
}

fn exit(found: &Verified) -> Exit {
    if !found.findings.is_empty() {
        Exit::Found
    } else if !found.unchecked.is_empty() || found.receipts == 0 {
        Exit::Failed
    } else {
        Exit::Done
    }
}

fn text(found: &Verified, exit: Exit) -> String {
    let count = found.receipts;
    let receipts = counted(count, "receipt", "receipts");
    let mut text = match exit {
        Exit::Done => {
            format!("{receipts}: the chain, the seals, the files and the commits hold\n")
        }
        Exit::Found => {
            let wrong = counted(found.findings.len(), "thing is", "things are");
            format!("{receipts}: {wrong} wrong\n")
        }
        _ if count == 0 => "There are no receipts: no night has left one here\n".to_owned(),
        _ => format!("{receipts}: nothing wrong was found, but not everything could be checked\n"),
    };
    for one in found.findings.iter().take(LISTED_MAX) {
        let place = one.line.map_or_else(String::new, |line| format!("line {line}: "));
        let what = serde_json::to_value(one.what).unwrap_or_default();
        let what = what.as_str().unwrap_or_default().to_owned();
        let _ = writeln!(text, "  {place}{what}: {}", shown(&one.why));
    }
    if found.findings.len() > LISTED_MAX {
        let more = found.findings.len() - LISTED_MAX;
        let _ = writeln!(text, "  … and {more} more; --json has all of them");
    }
    for why in &found.unchecked {
        let _ = writeln!(text, "not checked: {}", shown(why));
    }
    for note in &found.notes {
        let _ = writeln!(text, "note: {}", shown(note));
    }
    text
}
