//! `ao overnight replay`: a night run again, and what comes out of it beside what came out then.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ao_contract::Exit;
use ao_night::council::Council;
use ao_night::receipts::Receipts;
use ao_night::replay::{Difference, Kept, Memory, Past, Refused, compare};
use ao_night::{Clock, Order};
use ao_tree::{own_file, shown};
use serde_json::{Value, json};

use super::council;
use super::start::{catch_signals, host, not_begun};
use super::terminal::Terminal;
use crate::cli::Global;
use crate::clock;
use crate::failure::Failure;
use crate::printer::{Printer, excerpt};
use crate::repo::Repo;

/// So many differences are listed for people; JSON has all of them.
const LISTED_MAX: usize = 20;
/// Longest value that is shown, in characters.
const VALUE_CHARS_MAX: usize = 120;
const SUMMARY_BYTES_MAX: u64 = 256 * 1024 * 1024;
const SUMMARY: &str = "overnight/latest/summary.json";

/// Run a night again, over the corpus as it was, and compare
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Every stage runs again in a scratch copy of the corpus as it was before the night. The clock, what \
other files and programs said, and what runners answered come from the record; nothing of this repository is \
written, nobody is asked and no program is started.

What comes out is compared with the summary that the night wrote. The same program gives the same bytes; \
another build of it that judges or merges otherwise does not.

Nights are kept as long as undo (`undo.days`, `undo.max_mb`). One that nothing is kept of, that was cut off, \
or that had nothing to read is refused.

With --swap somebody is asked: this runner, alone, with its own limits and a ledger in the scratch folder. \
With the global --dry-run nobody is.

Exit codes: 0 identical (with --swap also if it differs), 1 it differs, 2 usage, 6 refused.

Examples:
  ao overnight replay 20260415T020000Z
  ao overnight replay 20260415T020000Z --swap ollama
  ao overnight replay 20260415T020000Z --json | jq '.differences[].path'"
)]
pub(crate) struct Arguments {
    /// The id of the run, as its report has it
    #[arg(value_name = "RUN")]
    run: String,
    /// Ask this model or agent in the place of those who were asked, and show what would differ
    #[arg(long, value_name = "RUNNER")]
    swap: Option<String>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let kept = Kept::open(&repo.state(), &arguments.run).map_err(refused)?;
    let council = match (&arguments.swap, kept.asked()) {
        (None, _) => kept.council(&repo.state()).map_err(refused)?,
        (Some(name), Some(told)) => {
            Some(council::swapped(name, (told, kept.desk()), &repo, (global, printer))?)
        }
        (Some(_), None) => {
            return Err(Failure::usage(format!(
                "--swap: nobody was asked in run {}",
                kept.night.run_id
            ))
            .hint("replay it without --swap, or name a night with a council"));
        }
    };
    if let (Some(name), true) = (&arguments.swap, global.dry_run) {
        return Ok(preview(name, &kept, printer));
    }
    let signal = Arc::new(AtomicUsize::new(0));
    catch_signals(&signal)?;
    // It goes with the value, also on the way out of an error.
    let scratch = tempfile::Builder::new().prefix("ao-replay-").tempdir().map_err(|error| {
        Failure::new(Exit::Preflight, format!("no scratch folder can be made: {error}"))
            .hint("make room in the folder for temporary files, or name another with TMPDIR")
    })?;
    let again = again((kept, council), &scratch_path(scratch.path())?, &signal, printer)?;
    scratch.close().map_err(|error| {
        Failure::new(Exit::Failed, format!("the scratch folder could not be removed: {error}"))
    })?;
    Ok(tell(arguments, &again, printer))
}

/// To ask somebody costs something, and a dry run costs nothing.
fn preview(swap: &str, kept: &Kept, printer: &Printer) -> Exit {
    let run = &kept.night.run_id;
    let asked = kept.asked().into_iter().flat_map(|told| &told.seats);
    let asked: Vec<&str> = asked.map(|seat| seat.runner.as_str()).collect();
    let text = format!("Would ask {} in the place of {}\n", shown(swap), shown(&asked.join(", ")));
    let fields = json!({ "status": "preview", "run_id": run, "swap": swap, "asked": asked });
    printer.answer("overnight replay", fields, &text);
    Exit::Done
}

/// What came out of it.
struct Again {
    is_identical: bool,
    differences: Vec<Difference>,
    /// What was not as it was then.
    notes: Vec<String>,
    /// Whether it was made by this very program.
    is_same_program: bool,
}

/// With no symlink on the way: the door opens nothing else.
fn scratch_path(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| {
        Failure::new(Exit::Preflight, format!("{}: {error}", path.display()))
            .hint("name another folder for temporary files with TMPDIR")
    })
}

fn again(
    (kept, council): (Kept, Option<Council>),
    scratch: &Path,
    signal: &Arc<AtomicUsize>,
    printer: &Printer,
) -> Result<Again, Failure> {
    let past = kept.unpack(scratch).map_err(refused)?;
    stopped(signal)?;
    let then = past.night.clone();
    let summary = past.agents().join(SUMMARY);
    let ended = start((past, council), signal, printer)?;
    stopped(signal)?;
    let unread = |why: String| {
        Failure::new(Exit::Failed, format!("the replay left no summary: {why}"))
            .hint("run the command again")
    };
    let bytes = own_file::read(&summary, SUMMARY_BYTES_MAX);
    let bytes = bytes.map_err(|error| unread(error.to_string()))?;
    let now: Value = serde_json::from_slice(&bytes).map_err(|error| unread(error.to_string()))?;
    Ok(Again {
        is_identical: ao_night::replay::hash(&bytes) == then.summary_hash,
        differences: compare(&Value::Object(then.summary), &now),
        notes: ended.differences,
        is_same_program: then.program == super::start::program(),
    })
}

fn start(
    (past, council): (Past, Option<Council>),
    signal: &Arc<AtomicUsize>,
    printer: &Printer,
) -> Result<ao_night::Ended, Failure> {
    let scratch = past.agents().parent().unwrap_or(past.agents()).to_owned();
    // As the night had it: texts of the corpus may name it.
    let root = PathBuf::from(&past.night.repo_root);
    let mut watch = Terminal::new(printer);
    let ended = ao_night::start(Order {
        settings: past.settings().map_err(refused)?,
        door: Repo { root: scratch }.door()?,
        host: host(&root)?,
        root,
        repo: past.night.repo.clone(),
        clock: Clock { now: clock::timestamp, uptime: clock::uptime },
        signal: Arc::clone(signal),
        watch: &mut watch,
        council,
        resume: None,
        recovered: past.night.recovered.clone(),
        left_alone: past.night.left_alone.clone(),
        // What was settled then is none of its business.
        program: None,
        memory: Memory::Replay(Box::new(past)),
        receipts: Receipts::Off,
        soft_exit: Exit::Done,
    });
    watch.end();
    ended.map_err(|error| not_begun(&error))
}

fn stopped(signal: &AtomicUsize) -> Result<(), Failure> {
    match signal.load(Ordering::Relaxed) {
        0 => Ok(()),
        number => Err(Failure::new(
            Exit::Failed,
            format!("ended by signal {number}; nothing was compared, and the scratch is removed"),
        )
        .hint("run the command again")),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
fn refused(error: Refused) -> Failure {
    let exit = match error {
        Refused::NoId(_) => Exit::Usage,
        _ => Exit::Preflight,
    };
    let hint = match &error {
        Refused::NoId(_) => "name a run as its report does, such as 20260415T020000Z",
        Refused::NotKept(_) => {
            "`undo.days` and `undo.max_mb` say how long nights are kept; a dry run is not, nor is a run \
             that was killed or that another program made"
        }
        Refused::CorpusGone(_) => "`undo.days` and `undo.max_mb` say how long it is kept",
        Refused::NotReplayable { .. } => "its report and `ao tree diff` say what it did",
        Refused::Damaged { .. } => "nothing was run; its report and `ao tree diff` say what it did",
        Refused::Io { .. } => "put right what is named, then run the command again",
    };
    Failure::new(exit, error.to_string()).hint(hint)
}

fn tell(arguments: &Arguments, again: &Again, printer: &Printer) -> Exit {
    let run = &arguments.run;
    let mut text = match (again.is_identical, again.differences.len()) {
        (true, _) => format!("run {run}: identical, byte for byte\n"),
        (false, 0) => format!("run {run}: the same values, written otherwise\n"),
        (false, 1) => format!("run {run}: one value differs\n"),
        (false, count) => format!("run {run}: {count} values differ\n"),
    };
    for one in again.differences.iter().take(LISTED_MAX) {
        let _ = writeln!(text, "{}", shown(&one.path));
        let _ = writeln!(text, "  then {}", excerpt(&one.then, VALUE_CHARS_MAX));
        let _ = writeln!(text, "  now  {}", excerpt(&one.now, VALUE_CHARS_MAX));
    }
    if again.differences.len() > LISTED_MAX {
        let more = again.differences.len() - LISTED_MAX;
        let _ = writeln!(text, "… and {more} more; --json has all of them");
    }
    for note in &again.notes {
        let _ = writeln!(text, "note: {note}");
    }
    if !again.is_identical && !again.is_same_program {
        text.push_str("note: another build of ao, or another user, ran it then\n");
    }
    let fields = json!({
        "run_id": run,
        "identical": again.is_identical,
        "differences": again.differences,
        "notes": again.notes,
        "same_program": again.is_same_program,
        "swap": arguments.swap,
    });
    printer.answer("overnight replay", fields, &text);
    // Another runner is asked to see what differs: that it does is no failure.
    if again.is_identical || arguments.swap.is_some() { Exit::Done } else { Exit::Failed }
}
