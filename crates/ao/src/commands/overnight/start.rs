//! `ao overnight start`

mod machine;
mod resolve;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use ao_contract::Exit;
use ao_guard::cell::Around;
use ao_night::replay::{Memory, Retention};
use ao_night::report::{self, Run as Life};
use ao_night::{Clock, Ended, Order, Resume, Shell, StartError, Unfit};
use ao_tree::{Disk, Door, Left, ReadLock, RunLock};
use serde_json::json;

use super::super::guard::place;
use super::super::tree::outcome;
use super::council;
use super::receipts;
use super::report::{painted, verdicts};
use super::terminal::Terminal;
use crate::cli::Global;
use crate::clock;
use crate::config::{self, Night};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::{Repo, Writer};
pub(super) use machine::{catch_signals, host, name_of, program};
pub(super) use resolve::{Asked, timeout};
use resolve::{epsilon, resolve};

/// So many files that no commit touches are kept by name.
const LEFT_ALONE_MAX: usize = 200;

const COLUMNS: usize = 100;
const MB: u64 = 1024 * 1024;

/// Run one night over this repository's knowledge
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is typed by itself")]
#[command(
    after_help = "A night takes in what is new, merges copies, archives what has had its day, measures before it commits,
and leaves a report with work for the morning in .agents/overnight/latest. What it changed is one commit
an iteration: `ao tree diff ID` shows it, `ao tree undo ID` takes it back.

With the global --dry-run everything is done but the commit, and the diff is shown.

Exit codes: 0 done, 1 failed (the report says why), 4 halted on a regression, 6 not begun, 75 another run
holds the lock; with --strict-exit 3 when something failed softly.

Examples:
  ao overnight start
  ao overnight start --goal 'fewer flaky tests' --run-timeout 90m
  ao --dry-run overnight start --max-iterations 1
  ao overnight start --queue tonight.md --warn-only=false
  ao overnight start --runner claude --runner ollama --creative-lane
  ao overnight start --full
  ao overnight start --long-haul --run-timeout 4h
  ao overnight start --resume"
)]
pub(crate) struct Arguments {
    /// What the night is for; a brief on it goes into the report
    #[arg(long, value_name = "TEXT", default_value = "")]
    goal: String,
    /// The folder of the report (default: `dream.report_dir`, or .agents/overnight/latest)
    #[arg(long, value_name = "PATH")]
    output_dir: Option<PathBuf>,
    /// The time budget, such as 8h, 90m or 1h30m (default: 8h)
    #[arg(long, value_name = "DURATION", value_parser = timeout)]
    run_timeout: Option<Duration>,
    /// Keep the machine awake (default)
    #[arg(long, overrides_with = "no_keep_awake")]
    keep_awake: bool,
    /// Let the machine sleep
    #[arg(long)]
    no_keep_awake: bool,
    /// Ask this model or agent in the end what to do first; can be given more than once (`ao runners`)
    #[arg(long, value_name = "NAME")]
    runner: Vec<String>,
    /// Ask each runner for one unconventional option too, which is kept apart
    #[arg(long)]
    creative_lane: bool,
    /// Put these items ahead of everything that the night itself ranks
    #[arg(long, value_name = "FILE")]
    queue: Option<PathBuf>,
    /// At most N iterations; 0 is no limit (default)
    #[arg(long, value_name = "N")]
    max_iterations: Option<u32>,
    /// A smaller change of fitness is none (default: 0.01)
    #[arg(long, value_name = "F", value_parser = epsilon, allow_negative_numbers = true)]
    plateau_epsilon: Option<f64>,
    /// So many such changes in a row end the run (default: 2)
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(2..))]
    plateau_window: Option<u32>,
    /// Let a regression through with a warning while there are rescues left (default: true)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    warn_only: Option<bool>,
    /// The most that the checkpoints of the run may store, in MB (default: 512)
    #[arg(long, value_name = "N")]
    checkpoint_max_mb: Option<u64>,
    /// If the first packet's confidence is below high, look for what else speaks for the packets
    #[arg(long)]
    long_haul: bool,
    /// How long --long-haul may take (default: 1h); never past the time of the run
    #[arg(long, value_name = "DURATION", requires = "long_haul", value_parser = timeout)]
    long_haul_budget: Option<Duration>,
    /// The old name of --runner, with commas
    #[arg(long, value_name = "NAMES", hide = true)]
    models: Vec<String>,
    /// Read and measure everything, also what is unchanged since a night that had nothing to do
    #[arg(long)]
    full: bool,
    /// Go on with the last run if it was not finished, or with this one
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if place::around() == Around::Cell {
        return Err(Failure::new(
            Exit::Preflight,
            "this is a cell: a night writes in .agents/, and nothing in a cell may",
        )
        .hint("nothing was begun; start the night outside: it makes cells for what it runs"));
    }
    let repo = Repo::find(global)?;
    let night = Night::read(&repo.root)?;
    night.warn(printer);
    if !repo.agents().is_dir() {
        let message = format!("no .agents/ in {}", repo.root.display());
        return Err(Failure::new(Exit::Preflight, message)
            .hint("run `mkdir .agents` in the repository, or name another with -C DIR"));
    }
    let settings = resolve(arguments, &night, &repo, global, printer)?;
    if !arguments.models.is_empty() {
        printer.note("note: --models is the old name of --runner, and still works");
    }
    let council = council::council(
        &[&arguments.runner[..], &arguments.models].concat(),
        arguments.creative_lane,
        &night,
        &repo,
        (global, printer),
    )?;
    let signal = Arc::new(AtomicUsize::new(0));
    catch_signals(&signal)?;
    let root = repo.canonical();
    let held = Held::take(&repo, global)?;
    let mut watch = Terminal::new(printer);
    let left_alone = left_alone(&held.door)?;
    let ended = ao_night::start(Order {
        council,
        settings,
        door: held.door,
        root: root.clone(),
        repo: name_of(&root),
        clock: Clock { now: clock::timestamp, uptime: clock::uptime },
        host: host(&root)?,
        signal,
        watch: &mut watch,
        resume: arguments.resume.as_ref().map(|id| match id.as_str() {
            "" => Resume::Last,
            id => Resume::Run(id.to_owned()),
        }),
        left_alone,
        recovered: held.recovered,
        program: program(),
        memory: memory(&root, global)?,
        receipts: receipts::receipts(&root, global),
        soft_exit: exit(Exit::Degraded, global),
    });
    drop(held.lock);
    watch.end();
    let ended = ended.map_err(|error| not_begun(&error))?;
    if let Some(why) = &ended.unreceipted {
        printer.note(&format!("warning: {why}"));
    }
    tell(&ended, &repo, printer);
    Ok(exit(ended.exit, global))
}

/// A night is kept as long as what it takes to undo one. A dry run is no night.
fn memory(root: &Path, global: &Global) -> Result<Memory, Failure> {
    if global.dry_run {
        return Ok(Memory::Nothing);
    }
    let limits = config::Limits::read(root)?;
    let bytes_max = limits.undo_max_mb.saturating_mul(MB);
    Ok(Memory::Keep(Retention { days: limits.undo_days, bytes_max }))
}

/// What no commit touches, as the report names it.
fn left_alone(door: &Door<Disk>) -> Result<Vec<String>, Failure> {
    let left = door.left_alone()?;
    let line = |one: &Left| format!("{} {}", one.path, one.why);
    Ok(left.iter().take(LEFT_ALONE_MAX).map(line).collect())
}

/// The door, and the lock that the run holds meanwhile.
struct Held {
    door: Door<Disk>,
    recovered: Vec<String>,
    lock: Lock,
}

/// Held, not read.
#[expect(dead_code, reason = "a lock is there to be held")]
enum Lock {
    Run(RunLock),
    /// A dry run changes nothing; a commit of somebody else waits for it as for any reader.
    Readers(ReadLock),
}

impl Held {
    fn take(repo: &Repo, global: &Global) -> Result<Self, Failure> {
        if global.dry_run {
            let (door, lock) = repo.read()?;
            return Ok(Self { door, recovered: Vec::new(), lock: Lock::Readers(lock) });
        }
        let Writer { door, recovery, lock_left_by, lock, .. } = Writer::open(repo)?;
        let mut recovered = outcome::recovery_notes(&recovery);
        if ao_mutant::active("LOOP-20/not-in-the-report") {
            recovered.clear();
        }
        recovered.extend(lock_left_by.map(|who| format!("a lock that nobody held: {who}")));
        Ok(Self { door, recovered, lock: Lock::Run(lock) })
    }
}

pub(super) fn not_begun(error: &StartError) -> Failure {
    let exit = match error {
        StartError::Output(bad) if bad.kind == Unfit::Busy => Exit::Deferred,
        StartError::Output(bad) if bad.kind == Unfit::Full => Exit::Failed,
        StartError::Output(_) | StartError::NothingToResume(_) => Exit::Usage,
        StartError::Budget(_) | StartError::Record(_) | StartError::Io { .. } => Exit::Preflight,
    };
    let hint = match error {
        StartError::Output(bad) if bad.kind == Unfit::Busy => {
            "wait until it ends, or name another folder with --output-dir"
        }
        StartError::Output(bad) if bad.kind == Unfit::Full => "make room, then start again",
        StartError::Record(_) => {
            "start a new run without --resume, or move the file away to go on without it"
        }
        StartError::Output(_) => {
            "name another folder with --output-dir, outside of what a run changes"
        }
        StartError::NothingToResume(_) => "start a new run without --resume",
        StartError::Budget(_) => "`ao overnight warn-only reset` writes the rescues anew",
        StartError::Io { .. } => "nothing was changed; put right what is named, then start again",
    };
    Failure::new(exit, error.to_string()).hint(hint)
}

fn tell(ended: &Ended, repo: &Repo, printer: &Printer) {
    let Ended { summary, diff, .. } = ended;
    // A run that ends at its time does not wait for them once more.
    let shell = Shell::Never(
        "its command is run when the packet is made and when it is read, not in between",
    );
    let verdicts = verdicts(summary, Some(repo), shell);
    let mut text = painted(&report::text(summary, &verdicts, Life::Over, COLUMNS));
    if let Some(diff) = diff {
        text.push_str(diff);
    }
    let fields = json!({ "summary": summary, "diff": diff });
    printer.answer("overnight start", fields, &text);
}

fn exit(ended: Exit, global: &Global) -> Exit {
    match ended {
        Exit::Degraded if !global.strict_exit || ao_mutant::active("RUN-43/never-strict") => {
            Exit::Done
        }
        exit => exit,
    }
}
