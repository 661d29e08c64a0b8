//! How a change is told: what was done, what was not, and why.

use std::fmt::Write as _;

use ao_contract::{Change, ChangeOp, Conflict, Exit, Method};
use ao_night::counted;
use ao_tree::{FileDiff, Left, Outcome, Preview, Recovery, Refused, shown};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::config::Limits;
use crate::printer::{BAD, DOUBT, FAINT, GOOD, Printer, STRONG, paint};
use crate::repo::Writer;

/// How many lines of one kind are listed for people; JSON has them all.
const LISTED_MAX: usize = 20;

/// Lets go of undo snapshots that are too old or too many. Failing to is no failure of the commit,
/// which is done: it is said, and tried again after the next one.
pub(crate) fn expire(writer: &Writer, limits: Limits, printer: &Printer) -> Vec<String> {
    let is_old = |at: &str| writer.now.is_days_after(at, limits.undo_days);
    let max_bytes = limits.undo_max_mb.saturating_mul(1024 * 1024);
    let expired = writer.door.expire(|line| is_old(&line.at), max_bytes, &writer.now.rfc3339());
    expired.unwrap_or_else(|error| {
        printer.note(&format!(
            "{} old undo snapshots could not be let go: {error}",
            paint(DOUBT, "note:")
        ));
        Vec::new()
    })
}

pub(crate) fn report(
    command: &str,
    writer: &Writer,
    outcome: &Outcome,
    expired: &[String],
    global: &Global,
    printer: &Printer,
) -> Exit {
    let (fields, text) = told(writer, outcome, expired, printer);
    printer.answer(command, fields, &text);
    exit(outcome, global)
}

/// What became of a request, as JSON and for people; notes are said at once.
pub(crate) fn told(
    writer: &Writer,
    outcome: &Outcome,
    expired: &[String],
    printer: &Printer,
) -> (Value, String) {
    let notes = notes(writer, outcome, expired);
    let is_committed = outcome.method.is_some();
    let fields = json!({
        "id": outcome.id,
        "status": if is_committed { "committed" } else { "nothing-changed" },
        "method": outcome.method,
        "changes": outcome.changes,
        "refused": refused_json(&outcome.refused),
        "conflicts": outcome.conflicts,
        "carried": outcome.carried,
        "left": left_json(&outcome.left),
        "recovered": recovery_json(&writer.recovery),
        "expired": expired,
        "notes": notes,
    });
    for note in &notes {
        printer.note(&format!("{} {note}", paint(DOUBT, "note:")));
    }
    let mut text = String::new();
    list_changes(&mut text, &outcome.changes);
    text.push_str(&ending(outcome));
    (fields, text)
}

/// What was not done, and whether the rest was, for people.
pub(crate) fn ending(outcome: &Outcome) -> String {
    let mut text = String::new();
    list_refused(&mut text, &outcome.refused);
    list_conflicts(&mut text, &outcome.conflicts);
    if outcome.method.is_some() {
        let counted = count(&outcome.changes);
        let _ = writeln!(
            text,
            "{} {} as {}",
            paint(GOOD, "Committed"),
            counted,
            paint(STRONG, &shown(&outcome.id))
        );
    } else {
        text.push_str("Nothing changed.\n");
    }
    text
}

pub(crate) fn exit(outcome: &Outcome, global: &Global) -> Exit {
    let is_whole = outcome.refused.is_empty() && outcome.conflicts.is_empty();
    match outcome.method {
        None if !outcome.refused.is_empty() => Exit::Refused,
        _ if !is_whole && global.strict_exit => Exit::Degraded,
        _ => Exit::Done,
    }
}

pub(crate) fn preview(
    command: &str,
    preview: &Preview,
    conflicts: &[&Conflict],
    printer: &Printer,
) -> Exit {
    let fields = previewed(preview, conflicts);
    let mut text = String::new();
    for diff in &preview.diffs {
        text.push_str(&colored(diff));
    }
    list_refused(&mut text, &preview.refused);
    for conflict in conflicts {
        let _ = writeln!(
            text,
            "{} {}: {}",
            paint(DOUBT, "conflict"),
            shown(&conflict.path),
            conflict.why
        );
    }
    let _ = match preview.changes.len() {
        0 => writeln!(text, "Nothing would change."),
        _ => writeln!(text, "Would commit {}.", count(&preview.changes)),
    };
    printer.answer(command, fields, &text);
    if preview.changes.is_empty() && !preview.refused.is_empty() {
        Exit::Refused
    } else {
        Exit::Done
    }
}

/// What would become of edits, as JSON.
pub(crate) fn previewed(preview: &Preview, conflicts: &[&Conflict]) -> Value {
    json!({
        "status": "dry-run",
        "changes": preview.changes,
        "refused": refused_json(&preview.refused),
        "conflicts": conflicts,
        "left": left_json(&preview.left),
        "diff": preview.diffs.iter().map(FileDiff::unified).collect::<String>(),
    })
}

/// A diff for a terminal: coloured, and with nothing in it that could act on the terminal.
pub(crate) fn colored(diff: &FileDiff) -> String {
    let mut text = String::new();
    for line in diff.unified().lines() {
        let safe = line.split('\t').map(shown).collect::<Vec<_>>().join("\t");
        let style = match line.as_bytes().first() {
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            Some(b'@') => FAINT,
            _ => anstyle::Style::new(),
        };
        let _ = writeln!(text, "{}", paint(style, &safe));
    }
    text
}

fn notes(writer: &Writer, outcome: &Outcome, expired: &[String]) -> Vec<String> {
    let mut notes = recovery_notes(&writer.recovery);
    if let Some(who) = &writer.lock_left_by {
        notes.insert(0, format!("the lock was left behind by {who}; it was taken"));
    }
    if outcome.method == Some(Method::FileByFile) {
        notes.push(
            "this file system does not exchange directories: files were exchanged one by one, \
             so a reader that does not share commit.lock may have seen some before others"
                .into(),
        );
    }
    if !outcome.carried.is_empty() {
        let few: Vec<String> = outcome.carried.iter().take(3).map(|path| shown(path)).collect();
        notes.push(format!(
            "{} changed by others meanwhile and kept: {}",
            outcome.carried.len(),
            few.join(", ")
        ));
    }
    if !outcome.left.is_empty() {
        let first = &outcome.left[0];
        notes.push(format!(
            "{} left as they are; the first: {} {}",
            outcome.left.len(),
            first.path,
            first.why
        ));
    }
    if let Some(why) = &outcome.untidy {
        notes.push(format!("the commit is done, but {why}; the next start tidies up"));
    }
    notes.extend(
        expired
            .iter()
            .filter(|_| !ao_mutant::active("LOOP-09/expiry-is-unsaid"))
            .map(|id| format!("commit {id} can no longer be undone: its snapshot was let go")),
    );
    notes
}

pub(crate) fn recovery_notes(recovery: &Recovery) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(id) = &recovery.finished {
        notes.push(format!("commit {id} had been cut off and was finished"));
    }
    let removed = never_committed(recovery);
    if !removed.is_empty() {
        notes.push(format!("removed what was never committed: {}", removed.join(", ")));
    }
    if !recovery.foreign.is_empty() {
        let note = format!(
            "cleared {} of another tool, with the folders that belonged to them",
            finished_markers(recovery.foreign.len())
        );
        let each = if ao_mutant::active("RUN-47/a-line-each") { recovery.foreign.len() } else { 1 };
        notes.extend(std::iter::repeat_n(note, each));
    }
    notes.extend(recovery.set_aside.iter().map(|what| format!("set aside: {what}")));
    notes
}

/// What is left of a commit that was finished goes with the rest of staging, and was committed all the same.
fn never_committed(recovery: &Recovery) -> Vec<&str> {
    let is_finished = |id: &&String| recovery.finished.as_ref() == Some(*id);
    recovery.removed.iter().filter(|id| !is_finished(id)).map(String::as_str).collect()
}

pub(crate) fn finished_markers(count: usize) -> String {
    counted(count, "finished marker", "finished markers")
}

pub(crate) fn recovery_json(recovery: &Recovery) -> Value {
    if recovery.is_empty() {
        return Value::Null;
    }
    json!({
        "finished": recovery.finished,
        "removed": never_committed(recovery),
        "foreign": recovery.foreign,
        "set_aside": recovery.set_aside,
    })
}

pub(crate) fn refused_json(refused: &[Refused]) -> Vec<Value> {
    refused.iter().map(|refused| json!({ "path": refused.path, "why": refused.why })).collect()
}

pub(crate) fn left_json(left: &[Left]) -> Vec<Value> {
    left.iter().map(|left| json!({ "path": left.path, "why": left.why })).collect()
}

pub(crate) fn list_changes(text: &mut String, changes: &[Change]) {
    for change in changes.iter().take(LISTED_MAX) {
        let (style, word) = match change.op {
            ChangeOp::Add => (GOOD, "add"),
            ChangeOp::Change => (DOUBT, "change"),
            ChangeOp::Delete => (BAD, "delete"),
        };
        let word = paint(style, &format!("{word:<6}"));
        let _ = writeln!(
            text,
            "{word} {}  {}",
            shown(&change.path),
            paint(FAINT, &shown(&change.reason))
        );
    }
    more(text, changes.len());
}

pub(crate) fn list_refused(text: &mut String, refused: &[Refused]) {
    for refused in refused.iter().take(LISTED_MAX) {
        let _ = writeln!(
            text,
            "{} {}: {}",
            paint(BAD, "refused"),
            shown(&refused.path),
            shown(&refused.why)
        );
    }
    more(text, refused.len());
}

fn list_conflicts(text: &mut String, conflicts: &[Conflict]) {
    for conflict in conflicts.iter().take(LISTED_MAX) {
        let kept = conflict
            .kept
            .as_ref()
            .map_or(String::new(), |kept| format!("; ours is in {}", shown(kept)));
        let _ = writeln!(
            text,
            "{} {}: {}{kept}",
            paint(DOUBT, "conflict"),
            shown(&conflict.path),
            conflict.why
        );
    }
    more(text, conflicts.len());
}

fn more(text: &mut String, total: usize) {
    if total > LISTED_MAX {
        let _ = writeln!(text, "… and {} more", total - LISTED_MAX);
    }
}

pub(crate) fn count(changes: &[Change]) -> String {
    let of = |op: ChangeOp| changes.iter().filter(|change| change.op == op).count();
    let parts = [
        (of(ChangeOp::Add), "added"),
        (of(ChangeOp::Change), "changed"),
        (of(ChangeOp::Delete), "deleted"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    parts.join(", ")
}
