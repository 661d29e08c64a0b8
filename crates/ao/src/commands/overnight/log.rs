//! `ao overnight log`

use std::fmt::Write as _;

use ao_contract::Exit;
use ao_tree::shown;
use serde_json::{Value, json};

use super::nights::{self, Night};
use crate::cli::Global;
use crate::failure::Failure;
use crate::printer::{DOUBT, FAINT, Printer, STRONG, paint};
use crate::repo::Repo;

const SHOWN_DEFAULT: usize = 20;

/// List the iterations that nights kept, newest first
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A line has the id, when it was committed, files added (+), changed (~) and deleted (-), what \
became of entries, and the fitness before and after. `ao tree log` lists all commits, also those that no night made.

Examples:
  ao overnight log -n 5
  ao --json overnight log | jq '.iterations[0].id'"
)]
pub(crate) struct Arguments {
    /// Only the newest N
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = SHOWN_DEFAULT)]
    limit: usize,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let (door, _readers) = repo.read()?;
    let nights = nights::kept(&repo, &door)?;
    let shown: Vec<&Night> = nights.iter().rev().take(arguments.limit).collect();
    let mut text = String::new();
    for night in &shown {
        write_one(&mut text, night);
    }
    if nights.is_empty() {
        printer.note("No iteration of a night was kept yet.");
    } else if shown.len() < nights.len() {
        printer.note(&format!("{} of {}; -n shows more.", shown.len(), nights.len()));
    }
    let list: Vec<Value> = shown.iter().map(|night| night.json()).collect();
    printer.answer("overnight log", json!({ "iterations": list, "in_all": nights.len() }), &text);
    Ok(Exit::Done)
}

fn write_one(text: &mut String, night: &Night) {
    let line = &night.line;
    let files = format!("+{} ~{} -{}", line.added, line.changed, line.deleted);
    let words = [
        ("deduped", "merged"),
        ("pruned", "pruned"),
        ("promoted", "promoted"),
        ("compiled", "patterns compiled"),
    ];
    let entries: Vec<String> = words
        .iter()
        .filter_map(|(key, word)| Some((night.reduced(key).filter(|count| *count > 0)?, word)))
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let _ = write!(
        text,
        "{}  {}  {files:<12} {}",
        paint(STRONG, &shown(&line.id)),
        paint(FAINT, &shown(&line.at)),
        night.fitness()
    );
    if !entries.is_empty() {
        let _ = write!(text, "  {}", entries.join(", "));
    }
    if let Some(by) = &night.taken_back_by {
        let _ = write!(text, "  {}", paint(DOUBT, &format!("taken back by {}", shown(by))));
    }
    text.push('\n');
}
