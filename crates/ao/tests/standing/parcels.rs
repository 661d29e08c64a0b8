//! Programs that bring many files at once: they hold the folder that they write into.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::ledger::Claim;
use crate::whole::program;
use crate::writers::{Stage, Turns, text};

const FILES_AN_ARCHIVE: usize = 12;

/// A folder of files outside of the tree, to be brought in.
fn parcel(stage: &Stage<'_>, who: &str, turn: usize) -> (PathBuf, Vec<(String, String)>) {
    let folder = stage.arena.fresh(who);
    fs::create_dir(&folder).unwrap();
    let files = (0..FILES_AN_ARCHIVE).map(|number| {
        let text = text(who, turn * FILES_AN_ARCHIVE + number);
        let name = format!("{who}-{turn}-{number}.md");
        fs::write(folder.join(&name), &text).unwrap();
        (name, text)
    });
    let files = files.collect();
    (folder, files)
}

fn brought(stage: &Stage<'_>, into: &str, files: &[(String, String)], command: &mut Command) {
    match program(command) {
        Ok(_) => {
            for (name, text) in files {
                stage.ledger.acknowledge(Claim::Is, &format!("{into}/{name}"), text);
            }
        }
        Err(why) => stage.ledger.refused(into, &why),
    }
}

/// `tar -x -C`.
pub(crate) fn archive(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    while let Some(turn) = turns.next() {
        let (folder, files) = parcel(stage, "archive", turn);
        let tar = stage.arena.fresh("tar");
        let names = files.iter().map(|(name, _)| name);
        program(Command::new("tar").arg("-C").arg(&folder).arg("-cf").arg(&tar).args(names))
            .unwrap();
        let into = stage.world.agents("learnings");
        brought(
            stage,
            "learnings",
            &files,
            Command::new("tar").arg("-C").arg(into).arg("-xf").arg(&tar),
        );
        fs::remove_file(tar).unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}

/// `cp -r folder/.`.
pub(crate) fn copies(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    while let Some(turn) = turns.next() {
        let (folder, files) = parcel(stage, "copy", turn);
        let into = stage.world.agents("knowledge");
        brought(
            stage,
            "knowledge",
            &files,
            Command::new("cp").arg("-r").arg(folder.join(".")).arg(into),
        );
        fs::remove_dir_all(folder).unwrap();
    }
}

/// `rsync -a folder/`, which writes beside and renames.
pub(crate) fn synced(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    while let Some(turn) = turns.next() {
        let (folder, files) = parcel(stage, "rsync", turn);
        let (from, into) = (format!("{}/", folder.display()), stage.world.agents("patterns"));
        brought(stage, "patterns", &files, Command::new("rsync").arg("-a").arg(from).arg(into));
        fs::remove_dir_all(folder).unwrap();
    }
}
