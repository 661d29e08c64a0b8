//! The last act of the demo: a whole night, and the report that it leaves.

use ao_guard::{Keeper, Program};
use ao_vault::{Ansi, redactor};
use serde_json::{Value, json};

use super::{BOUNDS, Stage, broken, week};
use crate::failure::Failure;
use crate::printer::{Printer, STRONG, paint};

/// How the night ended.
pub(super) struct Slept {
    pub(super) report: String,
    summary: Value,
}

impl Slept {
    pub(super) fn json(&self) -> Value {
        json!({
            "status": self.summary["status"],
            "iterations": self.summary["iterations"].as_array().map_or(0, Vec::len),
            "merged": self.merged(),
            "packets": self.summary["morning_packets"].as_array().map_or(0, Vec::len),
        })
    }

    fn merged(&self) -> u64 {
        let iterations = self.summary["iterations"].as_array();
        let merged = |one: &Value| one["reduce"]["deduped"].as_u64().unwrap_or(0);
        iterations.map_or(0, |all| all.iter().map(merged).sum())
    }

    pub(super) fn is_good(&self) -> bool {
        self.summary["status"] == "done" && self.merged() > 0
    }
}

impl Stage {
    pub(super) fn sleep(&self, printer: &Printer) -> Result<Slept, Failure> {
        let files = self.make("weeks", week::corpus())?.len();
        let agents = self.repo.agents();
        ao_tree::make_folders(&agents, "ao").map_err(|error| broken(&error))?;
        let log = agents.join("ao/citations.jsonl");
        let text = redactor().bytes(week::citations().as_bytes(), Ansi::Keep);
        ao_vault::out::replace_file(&log, &text).map_err(|error| broken(&error))?;
        printer.note(&format!(
            "{} `ao overnight start` over {files} files, some written down twice, and in the morning:\n",
            paint(STRONG, "8.")
        ));
        let root = self.repo.root.as_os_str();
        let words = ["--quiet", "-C"].map(std::ffi::OsStr::new);
        let more = ["overnight", "start", "--no-keep-awake", "--run-timeout", "50s"];
        let more = more.map(std::ffi::OsStr::new);
        let program = Program::new(&self.program)
            .arguments(words)
            .arguments([root])
            .arguments(more)
            .directory(&self.repo.root);
        let ended = Keeper::this_binary().run(&program, BOUNDS, &false.into());
        let ended = ended.map_err(|error| broken(&error))?;
        if !ended.is_success() {
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            return Err(broken(&format!("the night ended: {:?} {said}", ended.how)));
        }
        let path = self.repo.state().join("latest/summary.json");
        let bytes = std::fs::read(path).map_err(|error| broken(&error))?;
        let summary = serde_json::from_slice(&bytes).map_err(|error| broken(&error))?;
        Ok(Slept { report: String::from_utf8_lossy(&ended.stdout).into_owned(), summary })
    }
}
