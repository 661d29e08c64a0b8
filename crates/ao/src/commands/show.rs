//! `ao show`

use std::fmt::Write as _;

use ao_contract::Exit;
use ao_corpus::Entry;
use ao_corpus::lineage::{Found, Lineage};
use ao_corpus::patterns::is_unsaid;
use ao_tree::shown;
use serde_json::{Value, json};

use super::library::Library;
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{FAINT, Printer, STRONG, paint};
use crate::repo::AGENTS;

const NAMES_SHOWN_MAX: usize = 10;

/// Show an entry, by its path, its name or its id, also by one that it no longer has
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ao show .agents/learnings/2026-04-01-marker.md
  ao show 2026-04-01-marker
  ao --json show learning-2026-04-01-000017
  ao show 2026-04-01-marker --as-of 2026-06-30

An entry that was merged, superseded or promoted is followed to what replaced it.")]
pub(crate) struct Arguments {
    /// A path, a file's name with or without its ending, or an id
    #[arg(value_name = "ENTRY")]
    entry: String,
    /// The entry as it was at the end of this day or moment, or after this iteration, run or commit
    #[arg(long, value_name = "DATE|ITERATION")]
    as_of: Option<String>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let library = Library::open_as_of(global, arguments.as_of.as_deref())?;
    let name = &arguments.entry;
    let (found, told) = library.ask_told(printer, |index| Ok(Lineage::of(index)?.find(name)))?;
    let (path, over) = match found {
        Found::Entry { path, over } => (path, over),
        Found::Orphan { path, over, missing } => {
            printer.note(&format!(
                "{} was replaced by {}, which is not there.",
                shown(&path),
                shown(&missing)
            ));
            (path, over)
        }
        Found::Several(paths) => return Err(several(name, &paths)),
        Found::Nothing => return Err(nothing(name)),
    };
    let entry = library.entry(&path)?;
    if let Some(first) = over.first() {
        printer.note(&format!("{} was replaced by {}.", shown(first), shown(&path)));
    } else if is_other_name(name, &entry) {
        printer.note(&format!("{} is now in {}.", shown(name), shown(&path)));
    }
    answer(&entry, (name, &over), told, printer);
    Ok(Exit::Done)
}

/// The name is none that the entry has: it was merged into it.
pub(crate) fn is_other_name(name: &str, entry: &Entry) -> bool {
    let id = entry.document.text("id");
    let own = [entry.path.as_str(), entry.name(), entry.stem(), id.as_deref().unwrap_or_default()];
    !own.iter()
        .any(|own| !own.is_empty() && (name.ends_with(own) || format!("{name}.md").ends_with(own)))
}

fn answer(entry: &Entry, (name, over): (&str, &[String]), told: Option<Value>, printer: &Printer) {
    let document = &entry.document;
    let body = document.body();
    let mut text = String::new();
    let _ = writeln!(text, "{}", paint(STRONG, &shown(&entry.title())));
    let _ = writeln!(text, "{}", paint(FAINT, &shown(&format!("{AGENTS}/{}", entry.path))));
    for (key, value) in document.fields().as_ref() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(text, "{} {}", paint(FAINT, &format!("{}:", shown(key))), shown(&value));
    }
    text.push('\n');
    for line in body.lines() {
        let _ = writeln!(text, "{}", shown(line));
    }
    let replaced: Vec<String> = over.iter().map(|path| format!("{AGENTS}/{path}")).collect();
    let mut fields = json!({
        "asked": name,
        "path": format!("{AGENTS}/{}", entry.path),
        "kind": entry.kind.name(),
        "title": entry.title(),
        "date": entry.date().map(|day| day.to_string()),
        "hidden": document.is_hidden() || is_unsaid(entry),
        "replaced": replaced,
        "fields": document.fields(),
        "body": body,
    });
    if let Some(told) = told {
        fields["corpus_as_of"] = told;
    }
    printer.answer("show", fields, &text);
}

pub(crate) fn several(name: &str, paths: &[String]) -> Failure {
    let some: Vec<String> = paths.iter().take(NAMES_SHOWN_MAX).map(|path| shown(path)).collect();
    Failure::usage(format!("`{}` names {} entries", shown(name), paths.len()))
        .hint(format!("give the path of one: {}", some.join(", ")))
}

fn nothing(name: &str) -> Failure {
    Failure::usage(format!("there is no entry `{}`", shown(name)))
        .hint("`ao search` finds entries by what they say")
}
