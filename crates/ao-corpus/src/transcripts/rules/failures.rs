//! Commands that failed, and what became of them.
//!
//! Two things are worth keeping. A command that failed again and again until a file was changed: what the
//! failure said, and where it was put right. And a command that was called in a wrong way, where another
//! call of it worked.

use std::collections::BTreeSet;

use ao_contract::LessonKind;
use serde::{Deserialize, Serialize};

use super::super::sentence::cut;
use super::super::turn::Outcome;
use super::Said;

/// So many commands that wait for their outcome, and that failed, are remembered.
const OPEN_MAX: usize = 32;
const FAILED_MAX: usize = 12;
const EDITS_MAX: usize = 3;
const COMMAND_CHARS_MAX: usize = 300;
const ERROR_CHARS_MAX: usize = 160;
/// A failure is forgotten when so many other commands have run since.
const SINCE_MAX: u32 = 40;
/// Two calls are of one command if they share this much of their words.
const ALIKE: f64 = 0.4;
/// Repeated is twice.
const REPEATED: u32 = 2;

/// That these fail says nothing: they are asked whether something is there.
#[rustfmt::skip]
const ASKING: [&str; 20] = [
    "grep", "rg", "ls", "cat", "find", "test", "[", "diff", "which", "cd", "echo", "sleep", "head", "tail", "true",
    "false", "pgrep", "kill", "stat", "timeout",
];
/// How programs say that they were called in a wrong way.
#[rustfmt::skip]
const MISUSED: [&str; 22] = [
    "command not found", "not found", "no such", "unknown option", "unknown command", "unknown flag", "unrecognized",
    "unrecognised", "unexpected argument", "invalid option", "invalid argument", "missing script", "usage:",
    "is required", "no module named", "cannot find", "could not find", "did you mean", "permission denied",
    "no rule to make target", "missing required", "not a valid",
];
#[rustfmt::skip]
const ERRORS: [&str; 9] = [
    "error", "failed", "not found", "no such", "cannot", "could not", "denied", "missing", "unknown",
];

/// Commands on their way, and those that failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Failures {
    open: Vec<(String, String)>,
    failed: Vec<Failed>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Failed {
    command: String,
    times: u32,
    error: String,
    edits: Vec<String>,
    since: u32,
}

impl Failures {
    /// Whether this command is waited for.
    pub(in super::super) fn waits_for(&self, id: &str) -> bool {
        self.open.iter().any(|(open, _)| open == id)
    }

    pub(in super::super) fn begun(&mut self, id: &str, command: &str) {
        let command = normal(command);
        if command.is_empty() || command.chars().count() > COMMAND_CHARS_MAX || is_asking(&command)
        {
            return;
        }
        if self.open.len() >= OPEN_MAX {
            self.open.remove(0);
        }
        self.open.push((id.to_owned(), command));
    }

    /// Without what must not be written down.
    pub(in super::super) fn without(&self, is_secret: &dyn Fn(&str) -> bool) -> Self {
        let mut kept = self.clone();
        kept.open.retain(|(_, command)| !is_secret(command));
        kept.failed.retain(|failed| {
            let texts = [&failed.command, &failed.error].into_iter().chain(&failed.edits);
            !texts.into_iter().any(|text| is_secret(text))
        });
        kept
    }

    pub(in super::super) fn edited(&mut self, path: &str) {
        for failed in &mut self.failed {
            if failed.edits.len() < EDITS_MAX && !failed.edits.iter().any(|known| known == path) {
                failed.edits.push(path.to_owned());
            }
        }
    }

    /// What can be learned from the end of a command, if something can.
    pub(in super::super) fn ended(
        &mut self,
        id: &str,
        result: &Outcome,
        is_secret: &dyn Fn(&str) -> bool,
    ) -> Option<(LessonKind, Said)> {
        let at = self.open.iter().position(|(open, _)| open == id)?;
        let (_, command) = self.open.remove(at);
        for failed in &mut self.failed {
            failed.since += 1;
        }
        self.failed.retain(|failed| failed.since <= SINCE_MAX);
        match result {
            Outcome::Unknown => None,
            Outcome::Failed(_) if is_secret(&command) => None,
            Outcome::Failed(output) => {
                let error = if is_secret(output) { String::new() } else { error_of(output) };
                self.fail(command, error);
                None
            }
            // What comes of it is looked through when it becomes a lesson.
            Outcome::Worked => self.work(&command),
        }
    }

    fn fail(&mut self, command: String, error: String) {
        if let Some(known) = self.failed.iter_mut().find(|known| known.command == command) {
            known.times += 1;
            known.since = 0;
            if !error.is_empty() {
                known.error = error;
            }
            return;
        }
        if self.failed.len() >= FAILED_MAX {
            self.failed.remove(0);
        }
        self.failed.push(Failed { command, times: 1, error, edits: Vec::new(), since: 0 });
    }

    fn work(&mut self, command: &str) -> Option<(LessonKind, Said)> {
        if let Some(at) = self.failed.iter().position(|failed| failed.command == command) {
            let failed = self.failed.remove(at);
            return fixed(&failed).map(|said| (LessonKind::Fix, said));
        }
        let is_variant =
            |failed: &Failed| is_misuse(&failed.error) && alike(&failed.command, command) >= ALIKE;
        let at = self.failed.iter().rposition(is_variant)?;
        let failed = self.failed.remove(at);
        let title = cut(
            &format!("`{command}` works, `{}` does not", failed.command),
            super::TITLE_CHARS_MAX * 2,
        );
        let claim = format!(
            "Run `{command}`: `{}` fails with \u{201c}{}\u{201d}.",
            failed.command, failed.error
        );
        Some((LessonKind::Command, Said { claim, title, question: None }))
    }
}

fn fixed(failed: &Failed) -> Option<Said> {
    if failed.times < REPEATED || failed.edits.is_empty() || failed.error.is_empty() {
        return None;
    }
    let edits: Vec<String> = failed.edits.iter().map(|path| format!("`{path}`")).collect();
    let (command, error, times) = (&failed.command, &failed.error, failed.times);
    let edits = edits.join(", ");
    let title =
        cut(&format!("`{command}` fails with \u{201c}{error}\u{201d}"), super::TITLE_CHARS_MAX * 2);
    let claim = format!(
        "`{command}` failed {times} times with \u{201c}{error}\u{201d}; it worked after a change to {edits}."
    );
    Some(Said { claim, title, question: None })
}

/// On one line, without the way to the folder.
fn normal(command: &str) -> String {
    let mut command = command.trim();
    while let Some(rest) = command.strip_prefix("cd ") {
        match rest.split_once("&&") {
            Some((_, rest)) => command = rest.trim_start(),
            None => break,
        }
    }
    if command.contains('\n') || command.contains("<<") {
        return String::new();
    }
    command.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_asking(command: &str) -> bool {
    let is_setting = |word: &&str| word.contains('=') && !word.starts_with('-');
    let first = command.split_whitespace().find(|word| !is_setting(word)).unwrap_or("");
    ASKING.contains(&first)
}

fn is_misuse(error: &str) -> bool {
    let lower = error.to_lowercase();
    MISUSED.iter().any(|word| lower.contains(word))
}

/// The line that says what was wrong.
fn error_of(output: &str) -> String {
    let is_code = |line: &str| {
        let lower = line.to_lowercase();
        lower.starts_with("exit code")
            || lower.starts_with("process exited")
            || lower.starts_with("wall time")
    };
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty() && !is_code(line));
    let has_error = |line: &&str| {
        let lower = line.to_lowercase();
        ERRORS.iter().any(|word| lower.contains(word))
    };
    let line = lines().find(has_error).or_else(|| lines().next_back()).unwrap_or("");
    let plain: String =
        line.chars().filter(|c| !c.is_control()).map(|c| if c == '`' { '\'' } else { c }).collect();
    cut(&plain, ERROR_CHARS_MAX)
}

/// The share of words that two commands have in common.
fn alike(one: &str, other: &str) -> f64 {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<_>>();
    let (one, other) = (words(one), words(other));
    let both = u32::try_from(one.intersection(&other).count()).unwrap_or(0);
    let all = u32::try_from(one.union(&other).count()).unwrap_or(1);
    f64::from(both) / f64::from(all.max(1))
}
