//! Linting the notes: every fault with its file and line, without a model, and nothing is changed.

mod link;
mod target;

use std::collections::HashMap;
use std::path::Path;

use ao_contract::{CuratorLint, Extra, LintFault, LintRule, SchemaVersion};
use ao_tree::shown;
use jiff::Timestamp;

use super::error::Result;
use super::queue::at;
use super::vault::{Note, Vault};
use link::{headings, links};
use target::Targets;

/// More faults are counted, not listed.
const FAULTS_LISTED_MAX: usize = 5000;

/// Looks through the notes beneath a folder.
pub fn lint(folder: &Path, job: &str, now: Timestamp) -> Result<CuratorLint> {
    let vault = Vault::read(folder)?;
    let mut faults: Vec<LintFault> = Vec::new();
    for left in &vault.left {
        faults.push(fault(LintRule::Unreadable, &left.path, 1, left.why.clone()));
    }
    let targets = Targets::of(&vault);
    for note in &vault.notes {
        shape(note, &mut faults);
        for link in links(&note.document) {
            if let Some((rule, message)) = targets.fault(note, &link) {
                faults.push(fault(rule, &note.path, note.body_line() + link.line, message));
            }
        }
    }
    doubles(&vault.notes, LintRule::DoubleTitle, "title", title, &mut faults);
    doubles(&vault.notes, LintRule::DoubleId, "id", id, &mut faults);
    faults.sort_by(|a, b| (&a.path, a.line, a.rule).cmp(&(&b.path, b.line, b.rule)));
    let total = faults.len() as u64;
    faults.truncate(FAULTS_LISTED_MAX);
    Ok(CuratorLint {
        schema_version: SchemaVersion,
        job: job.to_owned(),
        at: at(now),
        vault_dir: shown(&folder.to_string_lossy()),
        notes: vault.notes.len() as u64,
        total,
        faults,
        extra: Extra::new(),
    })
}

fn fault(rule: LintRule, path: &str, line: u64, message: String) -> LintFault {
    LintFault { rule, path: shown(path), line, message, extra: Extra::new() }
}

/// What a note has to have, whatever it says.
fn shape(note: &Note, faults: &mut Vec<LintFault>) {
    let document = &note.document;
    let mut add = |rule, line, message: &str| {
        faults.push(fault(rule, &note.path, line, message.to_owned()));
    };
    if note.text().trim().is_empty() {
        add(LintRule::EmptyNote, 1, "the file is empty");
        return;
    }
    if let Some(doubt) = document.doubt() {
        add(LintRule::BrokenHeader, 1, doubt);
    } else if !note.has_header() {
        add(LintRule::MissingHeader, 1, "it has no header between `---` lines");
    }
    if document.body().trim().is_empty() {
        add(LintRule::EmptyNote, note.body_line(), "it says nothing beneath its header");
    }
    if document.title().is_none() {
        add(LintRule::MissingTitle, 1, "it has no title: neither in its header nor as a heading");
    }
}

/// Every note but the first that has a key that another one has, in the order of their paths.
fn doubles(
    notes: &[Note],
    rule: LintRule,
    what: &str,
    key: impl Fn(&Note) -> Option<(String, u64)>,
    faults: &mut Vec<LintFault>,
) {
    let mut first: HashMap<String, &Note> = HashMap::new();
    for note in notes {
        let Some((key, line)) = key(note) else { continue };
        match first.entry(key.trim().to_lowercase()) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(note);
            }
            std::collections::hash_map::Entry::Occupied(entry) => {
                let other = shown(&entry.get().path);
                let message = format!("its {what} {:?} is that of {other} too", shown(&key));
                faults.push(fault(rule, &note.path, line, message));
            }
        }
    }
}

fn title(note: &Note) -> Option<(String, u64)> {
    let title = note.document.title()?.into_owned();
    let line = if note.document.has("title") {
        header_line(note, "title")
    } else {
        let heading = headings(note.document.body()).first().map(|(line, _)| *line);
        note.body_line() + heading.unwrap_or(0)
    };
    Some((title, line))
}

fn id(note: &Note) -> Option<(String, u64)> {
    let id = note.document.text("id")?.into_owned();
    let line = header_line(note, "id");
    (!id.trim().is_empty()).then_some((id, line))
}

/// The line of a key of the header, from 1.
fn header_line(note: &Note, key: &str) -> u64 {
    let is_key = |line: &str| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    let lines = (1..note.body_line()).zip(note.text().lines());
    lines.into_iter().find(|(_, line)| is_key(line)).map_or(1, |(number, _)| number)
}
