//! `ao tree apply`

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use ao_contract::{Edits, Exit};
use ao_corpus::contradictions::RULINGS;
use ao_corpus::trust::VOUCHED;
use ao_guard::Decision;
use ao_tree::{Action, Edit, Request, Seen, own_file};
use ao_vault::{Ansi, redactor};

use super::outcome;
use crate::cli::Global;
use crate::config::Limits;
use crate::failure::Failure;
use crate::person;
use crate::printer::Printer;
use crate::repo::{Repo, Writer};

/// More than this is not a list of edits.
const EDITS_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Make edits to the knowledge, all as one commit that no crash can tear
#[derive(Debug, clap::Args)]
#[command(after_help = "The edits are JSON (`ao schema edits`), with paths relative to .agents/:
  {\"schema_version\": 1, \"why\": \"two copies of one learning\", \"edits\": [
    {\"op\": \"write\", \"path\": \"learnings/a.md\", \"content\": \"…\", \"reason\": \"merged\"},
    {\"op\": \"delete\", \"path\": \"learnings/b.md\", \"reason\": \"copy of a.md\"}]}

An edit that cannot be made is refused and named; the others are made (exit 4 when all are refused).

Examples:
  ao --dry-run tree apply edits.json     see the diff first
  ao tree apply edits.json
  generate-edits | ao tree apply -")]
pub(crate) struct Arguments {
    /// The file with the edits, or - for standard input
    file: String,
    #[command(flatten)]
    commit: CommitArguments,
}

/// Taken by every command that commits.
#[derive(Debug, clap::Args)]
pub(crate) struct CommitArguments {
    /// The id of the commit (default: the time)
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// How long replaced files are left to readers and writers that still have them open
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = ao_contract::parse_duration)]
    pub(crate) grace: Duration,
    /// The most that the commit may store, in MB (default: 512, or `dream.checkpoint_max_mb`)
    #[arg(long, value_name = "N")]
    pub(crate) checkpoint_max_mb: Option<u64>,
}

impl CommitArguments {
    /// A request with no edits yet.
    pub(crate) fn request(
        &self,
        writer: &Writer,
        limits: Limits,
        why: String,
    ) -> Result<Request, Failure> {
        let id = match &self.id {
            Some(id) => id.clone(),
            None => writer.door.unique_id(&writer.now.id())?,
        };
        let max_mb = self.checkpoint_max_mb.unwrap_or(limits.checkpoint_max_mb);
        Ok(Request {
            id,
            at: writer.now.rfc3339(),
            why,
            edits: Vec::new(),
            undo_of: Vec::new(),
            by: None,
            given: None,
            drop_folders: Vec::new(),
            grace: self.grace,
            max_store_bytes: max_mb.saturating_mul(1024 * 1024),
            stop: ao_tree::Stop::default(),
        })
    }
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let asked = read(&arguments.file)?;
    let repo = Repo::find(global)?;
    let edits: Vec<Edit> = asked.edits.into_iter().map(edit).collect();
    if global.dry_run {
        let (door, _readers) = repo.read()?;
        let preview = door.preview(edits)?;
        return Ok(outcome::preview("tree apply", &preview, &[], printer));
    }
    // Whoever may write a word or a ruling may give one.
    let given = if edits_a_decision(&edits) {
        Some(person::decides(Decision::ApplyEdits, &repo.root)?)
    } else {
        None
    };
    let limits = Limits::read(&repo.root)?;
    let writer = Writer::open(&repo)?;
    let request = arguments.commit.request(&writer, limits, without_secrets(&asked.why))?;
    let done = writer.door.apply(Request { edits, given, ..request })?;
    let expired = outcome::expire(&writer, limits, printer);
    Ok(outcome::report("tree apply", &writer, &done, &expired, global, printer))
}

/// Whether these edits change what a person decided: words for texts, and rulings.
pub(crate) fn edits_a_decision(edits: &[Edit]) -> bool {
    let is_beneath = |path: &str, folder: &str| {
        path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    let is_decision = |edit: &Edit| {
        let path = edit.path.to_lowercase();
        [VOUCHED, RULINGS].iter().any(|folder| is_beneath(&path, folder))
    };
    edits.iter().any(is_decision) && !ao_mutant::active("GRD-07/an-undo-decides")
}

fn edit(asked: ao_contract::Edit) -> Edit {
    use ao_contract::Edit::{Delete, Write};
    let (path, action, reason, sources, group, seen) = match asked {
        Write { path, content, reason, sources, group, seen } => {
            (path, Action::Write(content.into_bytes()), reason, sources, group, seen)
        }
        Delete { path, reason, sources, group, seen } => {
            (path, Action::Delete, reason, sources, group, seen)
        }
    };
    let reason = without_secrets(&reason);
    let sources = sources.iter().map(|source| without_secrets(source)).collect();
    let seen = seen.map(|seen| if seen == "nothing" { Seen::Nothing } else { Seen::Hash(seen) });
    Edit { path, action, mode: None, reason, sources, group, seen }
}

/// What is said of an edit stands in the history; what it writes is the door's to look at.
fn without_secrets(text: &str) -> String {
    redactor().text(text, Ansi::Keep).into_inner()
}

fn read(file: &str) -> Result<Edits, Failure> {
    let name = if file == "-" { "standard input".to_owned() } else { ao_tree::shown(file) };
    let refuse = |why: String| {
        Failure::usage(format!("{name}: {why}")).hint("`ao schema edits` says what it must hold")
    };
    let read = if file == "-" {
        let mut bytes = Vec::new();
        let stdin = std::io::stdin().lock().take(EDITS_BYTES_MAX + 1).read_to_end(&mut bytes);
        stdin.map(|_| bytes)
    } else {
        own_file::read_named(Path::new(file), EDITS_BYTES_MAX)
    };
    let bytes = read.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    if bytes.len() as u64 > EDITS_BYTES_MAX {
        return Err(refuse(format!("larger than {EDITS_BYTES_MAX} bytes")));
    }
    let mut reader = serde_json::Deserializer::from_slice(&bytes);
    let edits: Edits =
        serde_path_to_error::deserialize(&mut reader).map_err(|error| refuse(error.to_string()))?;
    reader.end().map_err(|error| refuse(error.to_string()))?;
    Ok(edits)
}
