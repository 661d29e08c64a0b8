//! The last act of the demo: a whole night, the report that it leaves, and the same night once more.

use std::ffi::OsStr;

use ao_guard::{Ended, Keeper, Program};
use ao_tree::own_file;
use ao_vault::{Ansi, redactor};
use serde_json::{Value, json};

use super::{BOUNDS, Stage, broken, week};
use crate::failure::Failure;
use crate::printer::{Printer, STRONG, paint};

/// Where the demo's own Claude Code keeps what was said; the user's is not looked at.
const CLAUDE: &str = "claude";

/// How the night ended.
pub(super) struct Slept {
    pub(super) report: String,
    summary: Value,
    /// Whether the text that is meant for agents still waits for a person.
    is_poison_held: bool,
    /// Whether a replay gave the same summary to the byte.
    is_replayed: bool,
}

impl Slept {
    pub(super) fn json(&self) -> Value {
        json!({
            "status": self.summary["status"],
            "iterations": self.summary["iterations"].as_array().map_or(0, Vec::len),
            "merged": self.merged(),
            "packets": self.summary["morning_packets"].as_array().map_or(0, Vec::len),
            "lessons": self.lessons(),
            "contradictions": self.summary["contradictions"]["open"],
            "poison_held": self.is_poison_held,
            "replayed_to_the_byte": self.is_replayed,
        })
    }

    fn merged(&self) -> u64 {
        let iterations = self.summary["iterations"].as_array();
        let merged = |one: &Value| one["reduce"]["deduped"].as_u64().unwrap_or(0);
        iterations.map_or(0, |all| all.iter().map(merged).sum())
    }

    /// What the night learned from the session.
    fn lessons(&self) -> usize {
        let iterations = self.summary["iterations"].as_array();
        let taken = |one: &Value| one["ingest"]["lessons"].as_array().map_or(0, Vec::len);
        iterations.map_or(0, |all| all.iter().map(taken).sum())
    }

    pub(super) fn is_good(&self) -> bool {
        self.summary["status"] == "done"
            && self.merged() > 0
            && self.lessons() == 1
            && self.is_poison_held
            && self.is_replayed
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
        self.talk()?;
        printer.note(&format!(
            "{} `ao overnight start` over {files} files, some written down twice, one of them poisoned, and a session in \
             which somebody corrected an agent; and in the morning:\n",
            paint(STRONG, "8.")
        ));
        let ended = self.overnight(&["start", "--no-keep-awake", "--run-timeout", "50s"])?;
        if !ended.is_success() {
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            return Err(broken(&format!("the night ended: {:?} {said}", ended.how)));
        }
        let path = self.repo.state().join("latest/summary.json");
        let bytes = own_file::read(&path, super::FILE_BYTES_MAX).map_err(|error| broken(&error))?;
        let summary: Value = serde_json::from_slice(&bytes).map_err(|error| broken(&error))?;
        let again = self.overnight(&["replay", summary["run_id"].as_str().unwrap_or_default()])?;
        let (night, replay) = [&ended, &again].map(said).into();
        let replay = format!(
            "{} Every stage once more over the corpus as it was, with the clock of the night:\n{replay}",
            paint(STRONG, "9.")
        );
        let report = format!("{night}\n{replay}");
        let is_poison_held = agents.join(week::POISON).exists();
        Ok(Slept { report, summary, is_poison_held, is_replayed: again.is_success() })
    }

    /// Leaves the transcript of a session where Claude Code would.
    fn talk(&self) -> Result<(), Failure> {
        let root = self.repo.canonical();
        let folder = format!("{CLAUDE}/projects/demo");
        ao_tree::make_folders(&root, &folder).map_err(|error| broken(&error))?;
        let session = week::session(&root.to_string_lossy());
        let text = redactor().bytes(session.as_bytes(), Ansi::Keep);
        let file = root.join(folder).join("s-demo.jsonl");
        ao_vault::out::replace_file(&file, &text).map_err(|error| broken(&error))
    }

    fn overnight(&self, words: &[&str]) -> Result<Ended, Failure> {
        let program = Program::new(&self.program)
            .arguments(["--quiet", "-C"].map(OsStr::new))
            .arguments([self.repo.root.as_os_str()])
            .arguments(["overnight"].into_iter().chain(words.iter().copied()).map(OsStr::new))
            .variable("CLAUDE_CONFIG_DIR", self.repo.root.join(CLAUDE))
            .directory(&self.repo.root);
        let ended = Keeper::this_binary().run(&program, BOUNDS, &false.into());
        ended.map_err(|error| broken(&error))
    }
}

fn said(ended: &Ended) -> String {
    String::from_utf8_lossy(&ended.stdout).into_owned()
}
