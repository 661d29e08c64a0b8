//! `ao overnight start`

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use ao_contract::{Exit, format_duration, parse_duration};
use ao_guard::cell::Around;
use ao_night::replay::{Memory, Retention};
use ao_night::report::{self, Run as Life};
use ao_night::settings::{self, Extent, Gate, LongHaul, Mode, Queue, Settings};
use ao_night::{
    Clock, Ended, Host, Order, Resume, Shell, StartError, System, Template, Unfit, Wish,
};
use ao_tree::{Disk, Door, ReadLock, RunLock, shown};
use serde_json::json;

use super::super::guard::place;
use super::super::harvest;
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
    /// If the first packet's confidence is below high, look for what else speaks for the packets, for
    /// an hour at most
    #[arg(long)]
    long_haul: bool,
    /// Read and measure everything, also what is unchanged since a night that had nothing to do
    #[arg(long)]
    full: bool,
    /// Go on with the last run if it was not finished, or with this one
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "")]
    resume: Option<String>,
}

/// What a plan is told of a night.
pub(super) struct Asked {
    pub(super) goal: String,
    pub(super) run_timeout: Option<Duration>,
    pub(super) runner: Vec<String>,
    pub(super) queue: Option<PathBuf>,
    pub(super) warn_only: Option<bool>,
    pub(super) full: bool,
}

impl Asked {
    /// The settings that a night with these arguments would have.
    pub(super) fn settings(
        self,
        night: &Night,
        repo: &Repo,
        (global, printer): (&Global, &Printer),
    ) -> Result<Settings, Failure> {
        let arguments = Arguments {
            goal: self.goal,
            output_dir: None,
            run_timeout: self.run_timeout,
            keep_awake: false,
            no_keep_awake: true,
            runner: self.runner,
            creative_lane: false,
            queue: self.queue,
            max_iterations: None,
            plateau_epsilon: None,
            plateau_window: None,
            warn_only: self.warn_only,
            checkpoint_max_mb: None,
            long_haul: false,
            full: self.full,
            resume: None,
        };
        resolve(&arguments, night, repo, global, printer)
    }
}

pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    let limit = parse_duration(text).map_err(|error| error.to_string())?;
    checked_timeout(limit)
}

fn checked_timeout(limit: Duration) -> Result<Duration, String> {
    let most = settings::RUN_TIMEOUT_MAX;
    if limit.is_zero() || limit > most {
        return Err(format!("must be over 0 and at most {}", format_duration(most)));
    }
    Ok(limit)
}

fn epsilon(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "is not a number".to_owned())?;
    checked_epsilon(value)
}

fn checked_epsilon(value: f64) -> Result<f64, String> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err("must be over 0".into()) }
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
    let night = Night::read(&Repo::find(global)?.root)?;
    let repo = Repo::find(global)?;
    if !repo.agents().is_dir() {
        let message = format!("no .agents/ in {}", repo.root.display());
        return Err(Failure::new(Exit::Preflight, message)
            .hint("run `mkdir .agents` in the repository, or name another with -C DIR"));
    }
    let settings = resolve(arguments, &night, &repo, global, printer)?;
    let council = council::council(
        &arguments.runner,
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
    let ended = ao_night::start(Order {
        council,
        settings,
        door: held.door,
        root: root.clone(),
        repo: name_of(&root),
        clock: Clock { now: clock::timestamp, uptime: clock::uptime },
        host: host(&root),
        signal,
        watch: &mut watch,
        resume: arguments.resume.as_ref().map(|id| match id.as_str() {
            "" => Resume::Last,
            id => Resume::Run(id.to_owned()),
        }),
        recovered: held.recovered,
        program: program(),
        memory: memory(&root, global)?,
        receipts: receipts::receipts(&root, global),
    });
    drop(held.lock);
    watch.end();
    let ended = ended.map_err(|error| not_begun(&error))?;
    if let Some(why) = &ended.unreceipted {
        printer.note(&format!("warning: {why}"));
    }
    tell(&ended, &repo, printer);
    Ok(exit(&ended, global))
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
        recovered.extend(lock_left_by.map(|who| format!("a lock that nobody held: {who}")));
        Ok(Self { door, recovered, lock: Lock::Run(lock) })
    }
}

/// Flags over environment over repository over home over defaults.
fn resolve(
    arguments: &Arguments,
    night: &Night,
    repo: &Repo,
    global: &Global,
    printer: &Printer,
) -> Result<Settings, Failure> {
    let run_timeout = match (arguments.run_timeout, night.run_timeout) {
        (Some(asked), _) => asked,
        (None, Some(said)) => checked_timeout(said)
            .map_err(|why| Failure::usage(format!("dream.run_timeout {why}")))?,
        (None, None) => settings::RUN_TIMEOUT,
    };
    let plateau_epsilon = match (arguments.plateau_epsilon, night.plateau_epsilon) {
        (Some(asked), _) => asked,
        (None, Some(said)) => checked_epsilon(said)
            .map_err(|why| Failure::usage(format!("dream.plateau_epsilon {why}")))?,
        (None, None) => settings::PLATEAU_EPSILON,
    };
    let plateau_window =
        arguments.plateau_window.or(night.plateau_window).unwrap_or(settings::PLATEAU_WINDOW);
    if plateau_window < settings::PLATEAU_WINDOW {
        return Err(Failure::usage("dream.plateau_window must be at least 2"));
    }
    let output_dir = match &arguments.output_dir {
        Some(named) => absolute(named)?,
        None => absolute(&config::report_dir(&repo.canonical())?)?,
    };
    let queue =
        arguments.queue.as_deref().map(|file| read_queue(file, repo, printer)).transpose()?;
    let template = night.morning_command.as_deref().map(Template::parse).transpose();
    let template = template
        .map_err(|error| Failure::usage(format!("dream.morning_command: {error}")))?
        .unwrap_or_default();
    let is_strict = arguments.warn_only.or(night.warn_only) == Some(false);
    let is_awake = if arguments.no_keep_awake {
        false
    } else {
        arguments.keep_awake || night.keep_awake.unwrap_or(true)
    };
    let max_mb = arguments.checkpoint_max_mb.unwrap_or(night.checkpoint_max_mb);
    let harvest = harvest::configured(repo, printer)?;
    let max_iterations = arguments.max_iterations.or(night.max_iterations).unwrap_or(0);
    Ok(Settings {
        goal: arguments.goal.trim().to_owned(),
        output_dir,
        run_timeout,
        requested_timeout: format_duration(run_timeout),
        keep_awake: if is_awake && !global.dry_run { Wish::On } else { Wish::Off },
        queue,
        max_iterations,
        plateau_epsilon,
        plateau_window,
        gate: if is_strict { Gate::Strict } else { Gate::WarnOnly },
        checkpoint_max_bytes: max_mb.saturating_mul(MB),
        morning_command: template,
        harvest,
        promote_after: settings::PROMOTE_AFTER,
        mode: if global.dry_run { Mode::DryRun } else { Mode::Real },
        extent: if arguments.full { Extent::Everything } else { Extent::WhatChanged },
        long_haul: if arguments.long_haul {
            LongHaul::On { limit: settings::LONG_HAUL_LIMIT }
        } else {
            LongHaul::Off
        },
    })
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

fn read_queue(file: &Path, repo: &Repo, printer: &Printer) -> Result<Queue, Failure> {
    let refuse = |why: String| {
        Failure::usage(format!("--queue {}: {why}", shown(&file.to_string_lossy())))
            .hint("one item a line, each beginning with `- ` or a number")
    };
    let found = std::fs::metadata(file).map_err(|error| refuse(error.to_string()))?;
    if !found.is_file() {
        return Err(refuse("is not a file".into()));
    }
    if found.len() > ao_night::queue::QUEUE_BYTES_MAX as u64 {
        return Err(refuse(format!("is larger than {} bytes", ao_night::queue::QUEUE_BYTES_MAX)));
    }
    let bytes = std::fs::read(file).map_err(|error| refuse(error.to_string()))?;
    let read = ao_night::queue::read(&bytes).map_err(|error| refuse(error.to_string()))?;
    for line in &read.unheard {
        printer.note(&format!("note: --queue, line {line} is no item"));
    }
    let whole = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let inside = whole.strip_prefix(repo.canonical()).ok().and_then(Path::to_str);
    Ok(Queue { items: read.items, file: inside.map(str::to_owned) })
}

pub(super) fn name_of(root: &Path) -> String {
    root.file_name().map_or_else(|| "repository".into(), |name| name.to_string_lossy().into_owned())
}

pub(super) fn host(root: &Path) -> Host {
    let system = match std::env::consts::OS {
        "linux" => System::Linux,
        "macos" => System::MacOs,
        _ => System::Other,
    };
    Host {
        keeper: ao_guard::Keeper::this_binary(),
        cells: place::cells(root),
        system,
        process: std::process::id(),
        environment: std::env::vars_os().collect(),
        repository: root.to_owned(),
    }
}

/// This program, as its file and who runs it tell it from any other.
pub(super) fn program() -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let file = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    Some(format!(
        "{}, {} bytes, inode {} on {}, {}.{:09}, user {}",
        env!("CARGO_PKG_VERSION"),
        file.len(),
        file.ino(),
        file.dev(),
        file.mtime(),
        file.mtime_nsec(),
        rustix::process::geteuid().as_raw()
    ))
}

/// The three that end a run with a report; a second one ends the process at once.
pub(super) fn catch_signals(signal: &Arc<AtomicUsize>) -> Result<(), Failure> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    let fail = |error: std::io::Error| {
        Failure::new(Exit::Preflight, format!("signals cannot be caught: {error}"))
            .hint("nothing was begun; run the command again")
    };
    let is_second = Arc::new(AtomicBool::new(false));
    for number in [SIGHUP, SIGINT, SIGTERM] {
        let value = usize::try_from(number).unwrap_or(usize::MAX);
        let exit = i32::from(Exit::Failed.code());
        flag::register_conditional_shutdown(number, exit, Arc::clone(&is_second))
            .and_then(|_| flag::register(number, Arc::clone(&is_second)))
            .and_then(|_| flag::register_usize(number, Arc::clone(signal), value))
            .map_err(fail)?;
    }
    Ok(())
}

pub(super) fn not_begun(error: &StartError) -> Failure {
    let exit = match error {
        StartError::Output(bad) if bad.kind == Unfit::Busy => Exit::Deferred,
        StartError::Output(_) | StartError::NothingToResume(_) => Exit::Usage,
        StartError::Budget(_) | StartError::Record(_) | StartError::Io { .. } => Exit::Preflight,
    };
    let hint = match error {
        StartError::Output(bad) if bad.kind == Unfit::Busy => {
            "wait until it ends, or name another folder with --output-dir"
        }
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

fn exit(ended: &Ended, global: &Global) -> Exit {
    match ended.exit {
        Exit::Degraded if !global.strict_exit => Exit::Done,
        exit => exit,
    }
}
