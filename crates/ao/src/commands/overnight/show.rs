//! `ao overnight show`

use std::fmt::Write as _;

use ao_contract::{Certificate, Change, Exit};
use ao_corpus::certificate::{SOURCE_PREFIX, of_sources};
use ao_tree::{FileDiff, shown};
use serde_json::{Value, json};

use super::nights::{self, End, Night};
use crate::cli::Global;
use crate::commands::tree::{list_changes, outcome};
use crate::failure::Failure;
use crate::printer::{DOUBT, FAINT, Printer, STRONG, paint};
use crate::repo::Repo;

/// Show what an iteration changed: every reason, then the diff
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each change has the reason that the night gave: what it was merged into, which rule pruned it, \
which signals promoted it. A merge or a prune has its certificate: what was asked before and after it, and \
whether it was found.

Examples:
  ao overnight show                                  the newest iteration that is kept
  ao overnight show 20260415T020000Z-iter-1
  ao --json overnight show 20260415T020000Z | jq '.changes[].reason'"
)]
pub(crate) struct Arguments {
    /// The iteration, or a run for its last one
    #[arg(value_name = "ID")]
    id: Option<String>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let (door, _readers) = repo.read()?;
    let night = nights::find(&repo, &door, arguments.id.as_deref(), End::Last)?;
    let record = door.record(&night.line.id)?;
    let (diffs, gone) = door.diff(&night.line.id)?;
    let mut text = String::new();
    write_head(&mut text, &night);
    for change in &record.changes {
        write_change(&mut text, change);
    }
    for path in &record.carried {
        let _ = writeln!(text, "kept   {}  changed by others meanwhile", shown(path));
    }
    for conflict in &record.conflicts {
        let _ = writeln!(text, "conflict {}: {}", shown(&conflict.path), conflict.why);
    }
    for path in &gone {
        let note = paint(DOUBT, "note:");
        printer.note(&format!("{note} {}: one side is no longer kept", shown(path)));
    }
    text.push('\n');
    text.extend(diffs.iter().map(outcome::colored));
    let mut fields = night.json();
    fields["changes"] = record.changes.iter().map(as_json).collect();
    fields["carried_files"] = json!(record.carried);
    fields["conflicting"] = json!(record.conflicts);
    fields["diff"] = diffs.iter().map(FileDiff::unified).collect::<String>().into();
    fields["not_kept"] = json!(gone);
    printer.answer("overnight show", fields, &text);
    Ok(Exit::Done)
}

fn write_head(text: &mut String, night: &Night) {
    let line = &night.line;
    let id = paint(STRONG, &shown(&line.id));
    let _ = writeln!(text, "{id}  {}", paint(FAINT, &shown(&line.at)));
    let _ = writeln!(text, "{}, {}", shown(&line.why), night.fitness());
    if let Some(by) = &night.taken_back_by {
        let _ = writeln!(text, "{}", paint(DOUBT, &format!("taken back by {}", shown(by))));
    }
    text.push('\n');
}

pub(super) fn write_change(text: &mut String, change: &Change) {
    list_changes(text, std::slice::from_ref(change));
    let sources = sources(change);
    if !sources.is_empty() {
        let _ = writeln!(text, "       from {}", shown(&sources.join(", ")));
    }
    if let Some(certificate) = of_sources(&change.sources) {
        let _ = writeln!(text, "       {}", shown(&told(&certificate)));
    }
}

/// A certificate in one line.
pub(super) fn told(certificate: &Certificate) -> String {
    let verdict = json!(certificate.verdict);
    let verdict = verdict.as_str().unwrap_or_default();
    let into = match &certificate.successor {
        Some(path) => format!(", {path} stands for it"),
        None => String::new(),
    };
    let (counted, asked) = (certificate.counted, certificate.probes.len());
    format!(
        "certificate {verdict}: {} ({counted} of {asked} questions count{into})",
        certificate.why
    )
}

fn sources(change: &Change) -> Vec<&str> {
    let all = change.sources.iter().map(String::as_str);
    all.filter(|source| !source.starts_with(SOURCE_PREFIX)).collect()
}

pub(super) fn as_json(change: &Change) -> Value {
    json!({
        "path": change.path,
        "op": change.op,
        "reason": change.reason,
        "sources": sources(change),
        "certificate": of_sources(&change.sources),
    })
}
