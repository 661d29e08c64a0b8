//! The log of what the guard decided.

use std::path::Path;

use ao_contract::{GuardDecision, GuardLine};
use ao_guard::{Effect, Refusal};
use ao_vault::{Ansi, redactor};

use crate::clock;
use crate::repo::AGENTS;

const FILE: &str = "ao/guard.jsonl";
const BYTES_MAX: u64 = 8 * 1024 * 1024;
const SUBJECT_CHARS_MAX: usize = 200;

/// Who decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) by: &'static str,
    pub(crate) harness: Option<&'static str>,
    pub(crate) tool: Option<&'a str>,
}

/// Writes a line, where there is a corpus to keep it beside. What cannot be logged is decided all the
/// same.
pub(crate) fn note(root: &Path, asked: Asked<'_>, decided: &Result<Vec<Effect>, Refusal>) {
    let agents = root.join(AGENTS);
    if !std::fs::symlink_metadata(&agents).is_ok_and(|found| found.is_dir()) {
        return;
    }
    let refusal = decided.as_ref().err();
    let mut line = GuardLine {
        at: clock::now().rfc3339(),
        by: asked.by.into(),
        harness: asked.harness.map(Into::into),
        tool: asked.tool.map(cut),
        decision: match refusal {
            Some(_) => GuardDecision::Refused,
            None => GuardDecision::Allowed,
        },
        rule: refusal.map(|refusal| refusal.rule.name().into()),
        subject: refusal.map(|refusal| cut(&refusal.subject)),
        reads: Vec::new(),
        builds: Vec::new(),
        writes: Vec::new(),
        extra: ao_contract::Extra::new(),
    };
    for effect in decided.iter().flatten() {
        match effect {
            Effect::Reads { program } => line.reads.push(cut(program)),
            Effect::Builds { program } => line.builds.push(cut(program)),
            Effect::Writes { path } => line.writes.push(path.clone()),
        }
    }
    if let Ok(text) = serde_json::to_string(&line)
        && ao_tree::make_folders(&agents, "ao").is_ok()
    {
        let text = redactor().text(&text, Ansi::Keep);
        let _ = ao_vault::out::append_note(&agents.join(FILE), &text, BYTES_MAX);
    }
}

fn cut(text: &str) -> String {
    text.chars().take(SUBJECT_CHARS_MAX).collect()
}
