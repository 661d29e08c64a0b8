//! The preflight: this program once more, with what the scheduler gives it and nothing else.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::Exit;
use ao_guard::{Bounds, Keeper, Program};
use ao_night::setup::{Job, Scheduler};
use serde::Deserialize;

use super::probe::{Check, Verdict};
use crate::failure::Failure;
use crate::printer::Printer;

/// Without anybody to be asked for a login.
const TIME: Duration = Duration::from_secs(90);
const TIME_A_RUNNER: Duration = Duration::from_secs(45);
const RUNNERS_COUNTED_MAX: u32 = 16;
const OUTPUT_BYTES: usize = 1024 * 1024;
/// What this evening's shell may say and the night does not hear.
const UNHEARD: [&str; 5] =
    ["AGENTOPS_", "AO_VAULT_", "XDG_CONFIG_HOME", "XDG_DATA_HOME", STATE_HOME];
/// Where the key of the receipts is, for whoever has it.
const STATE_HOME: &str = "XDG_STATE_HOME";

/// What was found.
pub(super) struct Preflight {
    pub(super) checks: Vec<Check>,
}

impl Preflight {
    pub(super) fn is_good(&self) -> bool {
        self.checks.iter().all(|check| check.verdict != Verdict::Bad)
    }
}

#[derive(Deserialize)]
struct Answer {
    checks: Option<Vec<Check>>,
    error: Option<Told>,
}

#[derive(Deserialize)]
struct Told {
    message: String,
    hints: Vec<String>,
}

pub(super) fn look(
    job: &Job,
    runners: &[String],
    started_by: &StartedBy,
    printer: &Printer,
) -> Result<Preflight, Failure> {
    let mut checks = vec![scheduler(job, started_by)];
    checks.extend(unheard());
    checks.extend(inside(job, runners, printer)?);
    Ok(Preflight { checks })
}

/// Who is to start the night here.
pub(super) struct StartedBy {
    pub(super) scheduler: Scheduler,
    /// What is missing for it to start anything.
    pub(super) lacks: Option<&'static str>,
    pub(super) is_of_this_system: bool,
}

fn scheduler(job: &Job, by: &StartedBy) -> Check {
    const NAME: &str = "scheduler";
    let elsewhere =
        "use the files where that scheduler runs, or choose another with --scheduler auto";
    let here = "install or start it, or choose another with --scheduler auto";
    match by.lacks {
        // Somebody wants the files for another machine.
        Some(why) if !by.is_of_this_system => {
            Check::doubt(NAME, format!("nothing here would start the night: {why}"), elsewhere)
        }
        Some(why) => Check::bad(NAME, format!("nothing here would start the night: {why}"), here),
        None if by.scheduler == Scheduler::Manual => {
            Check::good(NAME, "none: you start each night yourself")
        }
        None if by.scheduler == Scheduler::Systemd && !lingers(&job.user) => Check::doubt(
            NAME,
            format!("systemd runs, and this user's own ends with {}'s last login", job.user),
            format!("`loginctl enable-linger {}`, or stay logged in over night", job.user),
        ),
        None => Check::good(NAME, format!("{} is there", by.scheduler.name())),
    }
}

/// Whether a user's systemd runs without a login.
fn lingers(user: &str) -> bool {
    Path::new("/var/lib/systemd/linger").join(user).exists()
}

/// Variables that count now.
fn unheard() -> Option<Check> {
    let mut names: Vec<String> = std::env::vars_os()
        .map(|(name, _)| name.to_string_lossy().into_owned())
        .filter(|name| UNHEARD.iter().any(|start| name.starts_with(start)))
        .map(|name| ao_tree::shown(&name))
        .collect();
    names.sort();
    if names.is_empty() {
        return None;
    }
    let mut remedy = "say it in .agentops/config.yaml instead".to_owned();
    if names.iter().any(|name| name == STATE_HOME) {
        // The shell would hold the night's receipts for those of another key.
        let _ = write!(remedy, ", and run `ao overnight last` and `verify` without {STATE_HOME}");
    }
    remedy.push_str("; what follows was found without them");
    let found = format!("set here and not in the night: {}", names.join(", "));
    Some(Check::doubt("environment", found, remedy))
}

fn inside(job: &Job, runners: &[String], printer: &Printer) -> Result<Vec<Check>, Failure> {
    let mut program = Program::new(&job.program).arguments([
        "-C",
        &job.repository,
        "--json",
        "overnight",
        "setup",
        "--probe",
    ]);
    program = program.arguments(runners.iter().flat_map(|name| ["--runner", name]));
    for (name, value) in job.environment() {
        program = program.variable(name, value);
    }
    program = weakened(program);
    let count = u32::try_from(runners.len()).unwrap_or(u32::MAX).clamp(1, RUNNERS_COUNTED_MAX);
    let bounds = Bounds { time: TIME + TIME_A_RUNNER * count, output_bytes: OUTPUT_BYTES };
    let ended = Keeper::this_binary().run(&program, bounds, &AtomicBool::new(false));
    let ended = ended.map_err(|error| {
        Failure::new(Exit::Preflight, format!("the preflight could not be started: {error}"))
            .hint("nothing was changed; put right what is named, then run the command again")
    })?;
    for line in
        String::from_utf8_lossy(&ended.stderr).lines().filter(|line| line.starts_with("warning:"))
    {
        printer.note(&ao_tree::shown(line));
    }
    let answer: Option<Answer> = serde_json::from_slice(&ended.stdout).ok();
    Ok(match answer {
        Some(Answer { checks: Some(checks), .. }) => checks,
        // It did not come to look: a vault that does not open stops every command.
        Some(Answer { error: Some(told), .. }) => {
            vec![Check::bad("start", told.message, told.hints.join("; "))]
        }
        _ => vec![Check::bad(
            "start",
            format!("{} did not say how it is: {:?}", job.program, ended.how),
            "run the line of the scheduler's file by hand, with `env -i`",
        )],
    })
}

/// Tests build weaker cells in the probe, too. Not in a binary that is released.
#[cfg(debug_assertions)]
fn weakened(mut program: Program) -> Program {
    for name in ["AO_CELL_TEST_TIER", "AO_CELL_TEST_WITHOUT", "AO_CELL_TEST_LANDLOCK"] {
        if let Some(value) = std::env::var_os(name) {
            program = program.variable(name, value);
        }
    }
    program
}

#[cfg(not(debug_assertions))]
fn weakened(program: Program) -> Program {
    program
}
