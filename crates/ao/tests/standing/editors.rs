//! Editors, each with its own way of saving.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::ledger::Claim;
use crate::whole::program;
use crate::writers::{SHARED, Stage, Turns, outcome, text};

/// vim: it moves the old file away, writes the new one, and removes the old.
pub(crate) fn vim(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    let name = if Path::new("/usr/bin/vim.tiny").exists() { "vim.tiny" } else { "vim" };
    while let Some(turn) = turns.next() {
        let own = format!("patterns/own-vim-{}.md", turn % 3);
        let path = if turn % 2 == 0 { SHARED[0] } else { own.as_str() };
        let text = text("vim", turn);
        let save = format!("%s/.*/{}/", text.trim_end());
        let mut vim = Command::new(name);
        vim.args(["-e", "-s", "-u", "NONE", "-i", "NONE", "-c", &save, "-c", "wq"]);
        vim.arg(stage.world.agents(path)).stdin(Stdio::null());
        let _may = stage.hold.read().unwrap();
        // It refuses to write over what somebody changed since it read the file.
        if program(&mut vim).is_ok() {
            stage.ledger.acknowledge(Claim::Is, path, &text);
        }
    }
}

/// An editor that truncates the file and writes it again, as VS Code does.
pub(crate) fn in_place(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    while let Some(turn) = turns.next() {
        let own = format!("knowledge/own-in-place-{}.md", turn % 3);
        let path = if turn % 2 == 0 { SHARED[1] } else { own.as_str() };
        let text = text("editor", turn);
        let _may = stage.hold.read().unwrap();
        let done = fs::write(stage.world.agents(path), &text).map_err(|error| error.to_string());
        outcome(stage, Claim::Is, path, &text, done);
    }
}

/// An editor that writes beside the file and renames, and syncs.
pub(crate) fn renamed(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    while let Some(turn) = turns.next() {
        let own = format!("knowledge/own-renamed-{}.md", turn % 3);
        let path = if turn % 2 == 0 { SHARED[2] } else { own.as_str() };
        let text = text("atomic editor", turn);
        let beside = stage.world.agents(&format!("{path}.new"));
        let save = || {
            let mut file = File::create(&beside)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, stage.world.agents(path))
        };
        let _may = stage.hold.read().unwrap();
        outcome(stage, Claim::Is, path, &text, save().map_err(|error| error.to_string()));
    }
}
