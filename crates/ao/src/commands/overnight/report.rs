//! `ao overnight report`

use std::fmt::Write as _;
use std::path::PathBuf;

use ao_contract::{Exit, RunStatus, Summary};
use ao_night::report::{self, ALERT, HEADINGS, Run, STRUCK};
use ao_night::{Checker, Place, Shell, Verdict, Verdicts, complete_cut_off, overall};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::provenance::Provenance;
use super::summary_file::SummaryFile;
use crate::cli::Global;
use crate::config;
use crate::failure::Failure;
use crate::printer::{self, BAD, DOUBT, FAINT, Printer, STRONG, Stream, paint};
use crate::repo::{AGENTS, Repo, STATE};

/// Where nobody says how wide it is.
const COLUMNS: usize = 100;
/// What a reader adds to a summary that it prints as JSON.
const AS_READ: &str = "as_read";

/// Show the report of a run
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --from it is the newest run's: of dream.report_dir, or else of .agents/overnight/latest.

`--format json` prints summary.json with its values as they are on disk, and adds `as_read`: where it was read, what its
status says there, whether its run still lives, and what became of the checks of its packets. A run that is still
`planned` and no longer lives was cut off: it has the status `failed`, in every format, and its steps and iterations are
those whose files are there. `--json` prints the same inside the usual envelope.

Examples:
  ao overnight report
  ao overnight report --format md > morning.md
  ao overnight report --from .agents/overnight/latest/20260415T020000Z
  ao overnight report --format json | jq .status"
)]
pub(crate) struct Arguments {
    /// The folder of a run, or its summary.json
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,
    /// How to show it (default: text)
    #[arg(long, value_enum)]
    format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// Markdown, as in summary.md
    Md,
    /// The summary itself
    Json,
    /// For a terminal
    Text,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if global.json && arguments.format.is_some_and(|format| format != Format::Json) {
        return Err(Failure::usage("--json prints JSON, and --format asks for something else")
            .hint("leave one of the two out"));
    }
    let repo = Repo::find(global);
    let (path, repo) = if let Some(path) = &arguments.from {
        // A report can be read without its repository.
        (path.clone(), repo.ok())
    } else {
        let repo = repo?;
        (config::report_dir(&repo.root)?, Some(repo))
    };
    let mut file = SummaryFile::read(&path)?;
    if ao_mutant::active("REP-01/packets-from-their-files")
        && let Some(Ok(shelf)) = file.path.parent().map(ao_night::Shelf::read)
    {
        file.summary.morning_packets = Some(shelf.packets);
    }
    let run = life(&file.summary, repo.as_ref());
    let provenance = Provenance::of(&file.path, repo.as_ref());
    let own = repo.as_ref().filter(|_| provenance.is_own());
    let named = Repo { root: PathBuf::from(&file.summary.repo_root) };
    let is_blind = own.is_none() && ao_mutant::active("RUN-45/reports-elsewhere-know-no-commit");
    let witness = Some(own.unwrap_or(&named)).filter(|_| !is_blind);
    let summary = completed(&file, run, witness);
    let verdicts = verdicts(&summary, repo.as_ref(), provenance.shell());
    let text = match arguments.format.unwrap_or(Format::Text) {
        Format::Md => report::markdown(&summary, &verdicts, run),
        Format::Text => painted(&report::text(&summary, &verdicts, run, columns())),
        Format::Json => faithful(&file, &summary, &as_read(&file, &verdicts, run)),
    };
    let fields = if global.json {
        json!({ "summary": value(&file, &summary, &as_read(&file, &verdicts, run))? })
    } else {
        Value::Null
    };
    printer.answer("overnight report", fields, &text);
    Ok(Exit::Done)
}

/// Whether the run still lives: somebody holds the lock, and held it already when this was written.
fn life(summary: &Summary, repo: Option<&Repo>) -> Run {
    if summary.status != RunStatus::Planned {
        return Run::Over;
    }
    let moment = |text: &str| text.parse::<Timestamp>().ok();
    let written = moment(&summary.started_at).max(moment(&summary.finished_at));
    let named = PathBuf::from(&summary.repo_root).join(AGENTS).join(STATE);
    let states = repo.map(Repo::state).into_iter().chain([named]);
    let is_holder = |state: PathBuf| {
        let held_since = ao_tree::holder(&state).and_then(|holder| moment(&holder.started_at));
        let is_any = ao_mutant::active("REP-19/whoever-holds-the-lock");
        held_since.is_some_and(|since| is_any || written.is_some_and(|written| since <= written))
    };
    if states.into_iter().any(is_holder) { Run::Lives } else { Run::Over }
}

/// The summary as it is shown: that of a run which was cut off is completed by what else it left. `repo` is
/// the one that it lies in, or else the one that it names: of that, nothing but the history is read.
fn completed(file: &SummaryFile, run: Run, repo: Option<&Repo>) -> Summary {
    let mut summary = file.summary.clone();
    let is_cut_off = summary.status == RunStatus::Planned && run == Run::Over;
    if is_cut_off && !ao_mutant::active("RUN-45/report-waits-for-the-next-start") {
        let dir = file.path.parent().unwrap_or(&file.path);
        let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        // What cannot be read is told by the next start.
        let history = repo.and_then(|repo| repo.door().ok()?.history().ok());
        let budget = repo.and_then(|repo| ao_night::budget::read(&repo.state()).ok());
        complete_cut_off(&mut summary, &dir, &history.unwrap_or_default(), budget.as_ref());
    }
    summary
}

/// Makes the packets' checks again, here and now.
pub(super) fn verdicts(summary: &Summary, repo: Option<&Repo>, shell: Shell<'_>) -> Verdicts {
    let root = repo.map_or_else(|| PathBuf::from(&summary.repo_root), Repo::canonical);
    let agents = root.join(AGENTS);
    let checker = Checker::new(Place { root: &root, agents: &agents, outside: None }, shell);
    let packets = summary.morning_packets.iter().flatten();
    let with_checks = packets.filter(|packet| !packet.still_true.is_empty());
    with_checks
        .map(|packet| (packet.id.clone(), overall(&checker.check_all(&packet.still_true))))
        .collect()
}

fn as_read(file: &SummaryFile, verdicts: &Verdicts, run: Run) -> Value {
    let told = |verdict: &Verdict| match verdict {
        Verdict::True => json!({ "verdict": "still-true" }),
        Verdict::Done(why) => json!({ "verdict": "done", "why": why }),
        Verdict::NotChecked(why) => json!({ "verdict": "not-checked", "why": why }),
    };
    let verdicts: Map<String, Value> =
        verdicts.iter().map(|(id, verdict)| (id.clone(), told(verdict))).collect();
    json!({
        "path": file.path,
        "status_on_disk": file.summary.status,
        "run_lives": run == Run::Lives,
        "verdicts": verdicts,
    })
}

/// The fields that are shown with another value than the file has.
fn changed(file: &SummaryFile, summary: &Summary) -> Map<String, Value> {
    let fields = |summary: &Summary| match serde_json::to_value(summary) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let (before, mut after) = (fields(&file.summary), fields(summary));
    after.retain(|name, value| before.get(name) != Some(value));
    after
}

/// The file's own letters, but for what is shown of a run that was cut off.
fn faithful(file: &SummaryFile, summary: &Summary, as_read: &Value) -> String {
    let mut text = "{\n".to_owned();
    let mut changed = changed(file, summary);
    let indented = |value: &Value| format!("{value:#}").replace('\n', "\n  ");
    for (name, written) in file.fields().iter().filter(|(name, _)| name != AS_READ) {
        let is_shown = name != "status" || !ao_mutant::active("REP-19/json-is-as-on-disk");
        let value = changed.remove(name).filter(|_| is_shown);
        let value = value.map_or((*written).to_owned(), |value| indented(&value));
        let _ = writeln!(text, "  {}: {value},", Value::from(name.as_str()));
    }
    for (name, value) in &changed {
        let _ = writeln!(text, "  {}: {},", Value::from(name.as_str()), indented(value));
    }
    let _ = writeln!(text, "  \"{AS_READ}\": {}\n}}", indented(as_read));
    text
}

fn value(file: &SummaryFile, summary: &Summary, as_read: &Value) -> Result<Value, Failure> {
    let mut value: Value = serde_json::from_str(&file.text)
        .map_err(|error| Failure::new(Exit::Failed, error.to_string()))?;
    for (name, changed) in changed(file, summary) {
        value[name] = changed;
    }
    value[AS_READ] = as_read.clone();
    Ok(value)
}

fn columns() -> usize {
    let is_seen = printer::is_screen(Stream::Data);
    let size = is_seen.then(terminal_size::terminal_size).flatten();
    size.map_or(COLUMNS, |(width, _)| usize::from(width.0))
}

pub(super) fn painted(text: &str) -> String {
    let mut painted = String::new();
    for (at, line) in text.lines().enumerate() {
        let style = if at == 0 && line.ends_with("FAILED") {
            Some(BAD.bold())
        } else if at == 0 || HEADINGS.contains(&line) {
            Some(STRONG)
        } else if line.starts_with(ALERT) {
            Some(DOUBT)
        } else if line.contains(STRUCK) {
            Some(FAINT)
        } else {
            None
        };
        match style {
            Some(style) => painted.push_str(&paint(style, line)),
            None => painted.push_str(line),
        }
        painted.push('\n');
    }
    painted
}
