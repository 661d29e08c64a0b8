//! An act of the demo: a program that means harm, in a cell.

use std::sync::atomic::AtomicBool;

use ao_guard::cell::Limits;
use serde_json::{Value, json};

use super::{BOUNDS, Stage, broken};
use crate::commands::guard::place;
use crate::failure::Failure;
use crate::printer::{GOOD, Printer, STRONG, paint};

const SHELL: &str = "/bin/sh";
const OWN: &str = "out";
const WANTED: &str = "out/notes.txt";
const LINK: &str = "out/link";
/// What it does, and what is tried.
const DEEDS: [(&str, &str); 5] = [
    ("writes out/notes.txt, which it may", "echo done > out/notes.txt"),
    ("overwrites all learnings", "for file in .agents/learnings/*; do echo gone > \"$file\"; done"),
    ("removes the knowledge", "rm -rf .agents"),
    ("plants a symlink where it may write", "ln -s /etc out/link"),
    ("leaves a process running", "sleep 1000 &"),
];

/// What came of it, seen from outside.
pub(super) struct Harmless {
    /// Why there was no cell, if there was none.
    missing: Option<String>,
    /// Its own write is there, nothing else is, and nothing runs.
    is_held: bool,
    tier: String,
}

impl Harmless {
    pub(super) fn json(&self) -> Value {
        json!({ "held": self.missing.is_none().then_some(self.is_held), "tier": self.tier,
            "not_shown": self.missing })
    }

    /// Where there is no cell nothing was shown, and nothing is claimed.
    pub(super) fn is_good(&self) -> bool {
        self.is_held || self.missing.is_some()
    }
}

impl Stage {
    pub(super) fn hold(&self, printer: &Printer) -> Result<Harmless, Failure> {
        let root = &self.repo.root;
        ao_tree::make_folders(root, OWN).map_err(|error| broken(&error))?;
        let before = self.read()?;
        let number = paint(STRONG, "6.");
        printer.note(&format!("{number} `ao guard run --rw out`: a program in a cell, which"));
        let cells = place::cells(root);
        let mut cell = cells.cell(SHELL);
        let script: Vec<&str> = DEEDS.iter().map(|(_, deed)| *deed).collect();
        cell.arguments = ["-c", &script.join("\n")].map(Into::into).into();
        cell.writable = vec![cells.own_folder(&root.join(OWN)).map_err(|why| broken(&why))?];
        cell.limits = Limits { time: BOUNDS.time, ..Limits::default() };
        let caught = match cells.run(&cell, &AtomicBool::new(false)) {
            Ok(caught) => caught,
            Err(refusal) => {
                let why = refusal.to_string();
                printer.note(&format!("   cannot be shown on this machine: {why}"));
                return Ok(Harmless { missing: Some(why), is_held: false, tier: "none".into() });
            }
        };
        let is_there = |path: &str| std::fs::symlink_metadata(root.join(path)).is_ok();
        let is_untouched = self.read()? == before;
        let has_ended = caught.report.left_behind > 0 && caught.report.survivors == 0;
        let came = [is_there(WANTED), !is_untouched, !is_untouched, is_there(LINK), !has_ended];
        for ((what, _), came) in DEEDS.iter().zip(came) {
            let seen = if came { "happened" } else { "nothing of it is left" };
            printer.note(&format!("   {what:<37} {seen}"));
        }
        let is_held = came == [true, false, false, false, false];
        let tier = caught.report.tier.to_string();
        let verdict = if is_held { paint(GOOD, "held") } else { "not held".into() };
        let attacks = caught.report.attacks_held;
        printer.note(&format!(
            "   {verdict} by the kernel in tier {tier}; before it began, the cell attacked itself in {attacks} ways"
        ));
        Ok(Harmless { missing: None, is_held, tier })
    }
}
