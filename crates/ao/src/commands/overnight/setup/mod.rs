//! `ao overnight setup`: what a scheduler is told, and what would fail at its time.

mod around;
mod edit;
mod places;
mod preflight;
mod probe;
mod tell;

use std::path::{Path, PathBuf};

use ao_contract::{Exit, SchedulerMode};
use ao_guard::cell::Around;
use ao_night::setup::yaml::Value;
use ao_night::setup::{self, At, Commands, FOLDER, File, Job, Scheduler};
use ao_tree::own_file;
use ao_vault::{Ansi, out, redactor};

use super::super::guard::place;
use super::council;
use crate::cli::Global;
use crate::config;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;
use edit::Edited;
use preflight::{Preflight, StartedBy};

const USUAL_TIME: &str = "03:00";

/// Prepare the nights: the configuration, files for a scheduler, and a look at what would fail
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is typed by itself")]
#[command(
    after_help = "Without --apply everything is shown and nothing is changed. With it `dream.*` in the repository's
.agentops/config.yaml is set and the scheduler's files are written to .agentops/generated/dream/. Nothing is ever registered,
enabled or started: the exact command for that is shown, for you to run, and how to take it back.

The preflight starts ao once more with nothing but the PATH, HOME and USER that the files set, and says what would
fail in the night.

Exit codes: 0, or 6 if something would fail in the night (with --apply everything is written all the same).

Examples:
  ao overnight setup --scheduler auto
  ao overnight setup --scheduler systemd --at 02:30 --apply
  ao overnight setup --scheduler cron --runner claude --runner ollama --apply
  ao --json overnight setup --scheduler launchd"
)]
pub(crate) struct Arguments {
    /// Write the configuration and the files
    #[arg(long)]
    apply: bool,
    /// Who starts the night; auto takes what this machine has (default: `dream.scheduler_mode`, or manual)
    #[arg(long, value_name = "WHO")]
    scheduler: Option<Wanted>,
    /// When it starts, in local time (default: `dream.schedule_at`, or 03:00)
    #[arg(long, value_name = "HH:MM")]
    at: Option<At>,
    /// A runner of the council, for `dream.runners`; can be given more than once (`ao runners`)
    #[arg(long, value_name = "NAME")]
    runner: Vec<String>,
    /// Have the machine kept awake for the night, in `dream.keep_awake`
    #[arg(long, overrides_with = "no_keep_awake")]
    keep_awake: bool,
    /// Let the machine sleep, in `dream.keep_awake`
    #[arg(long)]
    no_keep_awake: bool,
    /// Look around in this very environment; the preflight starts it
    #[arg(long, hide = true, conflicts_with_all = ["apply", "scheduler", "at"])]
    probe: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Wanted {
    Manual,
    Launchd,
    Cron,
    Systemd,
    TaskScheduler,
    Auto,
}

/// A scheduler and how it came to be.
struct Choice {
    scheduler: Scheduler,
    why: String,
    /// What is missing for it to start anything on this machine.
    lacks: Option<&'static str>,
}

impl Choice {
    fn started_by(&self, machine: setup::Machine) -> StartedBy {
        let is_of_this_system = machine.is_of_this_system(self.scheduler);
        StartedBy { scheduler: self.scheduler, lacks: self.lacks, is_of_this_system }
    }
}

/// A file, and whether it is there already.
struct Planned {
    file: File,
    status: Status,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    New,
    Changed,
    Same,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "unchanged",
        }
    }
}

/// Everything that was thought out.
struct Setup {
    choice: Choice,
    job: Job,
    edited: Edited,
    files: Vec<Planned>,
    /// Files of other schedulers that an earlier setup wrote.
    left_over: Vec<&'static str>,
    commands: Commands,
    /// Entries of PATH that the night does not get.
    dropped: Vec<String>,
    preflight: Preflight,
    is_applied: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    global: &Global,
    printer: &Printer,
) -> Result<Exit, Failure> {
    if arguments.probe {
        return probe::run(&arguments.runner, global, printer);
    }
    if place::around() == Around::Cell {
        return Err(Failure::new(
            Exit::Preflight,
            "this is a cell: nights are not set up from one",
        )
        .hint("nothing was begun; run the command outside"));
    }
    let root = Repo::find(global)?.canonical();
    // What has no effect is among the checks.
    match arguments.at {
        Some(_) => config::vet_at_any_time(&root)?,
        None => config::vet(&root)?,
    };
    let said = said(&root)?;
    let machine = around::machine(&root);
    let choice = choose(arguments.scheduler, said.0, machine);
    let at = match (arguments.at, &said.1) {
        (Some(at), _) => at,
        (None, Some(text)) => text.parse().map_err(|why| {
            Failure::usage(format!("dream.schedule_at: {why}")).hint("name another with --at HH:MM")
        })?,
        (None, None) => USUAL_TIME.parse().map_err(Failure::usage)?,
    };
    let (job, dropped) = around::job(&root, at, choice.scheduler, machine)?;
    let files = setup::files(choice.scheduler, &job)
        .map_err(|unfit| Failure::new(Exit::Preflight, unfit.why).hint(unfit.remedy))?;
    let edited = edit::edit(&root, &keys(arguments, &choice, at)?)?;
    let folder = root.join(FOLDER);
    let files: Vec<Planned> = files.into_iter().map(|file| planned(&folder, file)).collect();
    let runners = council::names(&arguments.runner);
    let preflight = preflight::look(&job, &runners, &choice.started_by(machine), printer)?;
    let is_wanted = arguments.apply || ao_mutant::active("RUN-08/preview-writes");
    let is_applied = is_wanted && !global.dry_run;
    if is_applied {
        write(&root, &edited, &files)?;
    }
    let others = Scheduler::ALL.into_iter().filter(|other| *other != choice.scheduler);
    let left_over = others
        .flat_map(|other| other.files().iter().copied())
        .filter(|name| folder.join(name).exists())
        .collect();
    let commands = setup::commands(choice.scheduler, &job);
    let setup =
        Setup { choice, job, edited, files, left_over, commands, dropped, preflight, is_applied };
    tell::tell(&setup, printer);
    Ok(if setup.preflight.is_good() { Exit::Done } else { Exit::Preflight })
}

/// The scheduler and the time that the files name, the repository's own over the user's.
fn said(root: &Path) -> Result<(Option<SchedulerMode>, Option<String>), Failure> {
    let mut said = (None, None);
    for layer in config::layers(root)? {
        said.0 = layer.config.dream.scheduler_mode.or(said.0);
        said.1 = layer.config.dream.schedule_at.or(said.1);
    }
    Ok(said)
}

fn choose(asked: Option<Wanted>, said: Option<SchedulerMode>, machine: setup::Machine) -> Choice {
    let why = match (asked, said) {
        (Some(_), _) => "it was asked for",
        (None, Some(_)) => "the configuration says so",
        (None, None) => "nothing else was asked for",
    };
    let wanted = asked.or_else(|| {
        said.map(|mode| match mode {
            SchedulerMode::Manual => Wanted::Manual,
            SchedulerMode::Launchd => Wanted::Launchd,
            SchedulerMode::Cron => Wanted::Cron,
            SchedulerMode::Systemd => Wanted::Systemd,
            SchedulerMode::TaskScheduler => Wanted::TaskScheduler,
            SchedulerMode::Auto => Wanted::Auto,
        })
    });
    let (scheduler, why) = match wanted {
        None | Some(Wanted::Manual) => (Scheduler::Manual, why),
        Some(Wanted::Launchd) => (Scheduler::Launchd, why),
        Some(Wanted::Cron) => (Scheduler::Cron, why),
        Some(Wanted::Systemd) => (Scheduler::Systemd, why),
        Some(Wanted::TaskScheduler) => (Scheduler::TaskScheduler, why),
        Some(Wanted::Auto) => {
            let picked = setup::pick(&machine);
            (picked.scheduler, picked.why)
        }
    };
    Choice { scheduler, why: why.to_owned(), lacks: machine.lacks(scheduler) }
}

/// What is to stand in the configuration.
fn keys(
    arguments: &Arguments,
    choice: &Choice,
    at: At,
) -> Result<Vec<(&'static str, Value)>, Failure> {
    let mut keys = vec![("scheduler_mode", Value::Word(choice.scheduler.name().to_owned()))];
    if choice.scheduler != Scheduler::Manual || arguments.at.is_some() {
        keys.push(("schedule_at", Value::Word(at.to_string())));
    }
    if arguments.keep_awake || arguments.no_keep_awake {
        keys.push(("keep_awake", Value::Flag(!arguments.no_keep_awake)));
    }
    let mut runners = council::names(&arguments.runner);
    for name in &runners {
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(Failure::usage("--runner: not a name").hint("`ao runners` lists them"));
        }
        if redactor().is_in(name.as_bytes()) {
            return Err(Failure::usage("--runner: it holds a value of the vault")
                .hint("name a runner; its secret is named in your own configuration"));
        }
    }
    if !runners.is_empty() {
        if ao_mutant::active("RUN-04/only-the-first-runner") {
            runners.truncate(1);
        }
        keys.push(("runners", Value::List(runners)));
    }
    Ok(keys)
}

fn planned(folder: &Path, file: File) -> Planned {
    let path = folder.join(file.name);
    let status = match own_file::read_if_any(&path, file.text.len() as u64) {
        Ok(None) => Status::New,
        Ok(Some(bytes)) if bytes == file.text.as_bytes() => Status::Same,
        _ => Status::Changed,
    };
    Planned { file, status }
}

fn write(root: &Path, edited: &Edited, files: &[Planned]) -> Result<(), Failure> {
    let fail = |path: PathBuf| {
        move |error: std::io::Error| {
            let path = ao_tree::shown(&path.to_string_lossy());
            Failure::new(Exit::Failed, format!("{path}: {error}"))
                .hint("put right what is named, then run the command again")
        }
    };
    // What would not be written as it was shown is not written.
    let mut redacted = Vec::new();
    for Planned { file, .. } in files.iter().filter(|planned| planned.status != Status::Same) {
        let bytes = redactor().bytes(file.text.as_bytes(), Ansi::Keep);
        if bytes.get() != file.text.as_bytes() {
            return Err(Failure::new(
                Exit::Preflight,
                format!("{}: a path in it holds a value of the vault", file.name),
            )
            .hint("nothing was written; give the folder another name"));
        }
        redacted.push((file.name, bytes));
    }
    let folder = match std::env::var_os("HOME") {
        Some(home) if ao_mutant::active("RUN-09/installs-the-files") => home.into(),
        _ => root.join(FOLDER),
    };
    if !redacted.is_empty() {
        ao_tree::make_folders(root, FOLDER).map_err(fail(folder.clone()))?;
    }
    for (name, bytes) in redacted {
        out::replace_file(&folder.join(name), &bytes).map_err(fail(folder.join(name)))?;
    }
    if ao_mutant::active("RUN-08/configuration-is-not-kept") {
        return Ok(());
    }
    edited.write(root)
}
