//! What a night is asked for, by its arguments and by the configuration.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ao_contract::{format_duration, parse_duration};
use ao_night::settings::{self, Extent, Gate, LongHaul, Mode, Queue, Settings};
use ao_night::{Template, Transcripts, Wish};
use ao_tree::{own_file, shown};

use super::super::super::{harvest, signals, trust};
use super::{Arguments, MB};
use crate::cli::Global;
use crate::config::{self, Night};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::repo::Repo;

/// What a plan is told of a night.
pub(in super::super) struct Asked {
    pub(in super::super) goal: String,
    pub(in super::super) run_timeout: Option<Duration>,
    pub(in super::super) runner: Vec<String>,
    pub(in super::super) queue: Option<PathBuf>,
    pub(in super::super) warn_only: Option<bool>,
    pub(in super::super) full: bool,
}

impl Asked {
    /// The settings that a night with these arguments would have.
    pub(in super::super) fn settings(
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
            long_haul_budget: None,
            models: Vec::new(),
            full: self.full,
            resume: None,
        };
        resolve(&arguments, night, repo, global, printer)
    }
}

pub(in super::super) fn timeout(text: &str) -> Result<Duration, String> {
    let limit = parse_duration(text).map_err(|error| error.to_string())?;
    config::unfit_timeout(limit).map_or(Ok(limit), Err)
}

pub(super) fn epsilon(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "is not a number".to_owned())?;
    config::unfit_epsilon(value).map_or(Ok(value), |why| Err(why.to_owned()))
}

/// Flags over environment over repository over home over defaults.
pub(super) fn resolve(
    arguments: &Arguments,
    night: &Night,
    repo: &Repo,
    global: &Global,
    printer: &Printer,
) -> Result<Settings, Failure> {
    let asked = arguments.run_timeout.filter(|_| !ao_mutant::active("RUN-14/flag-is-ignored"));
    let usual = if ao_mutant::active("RUN-14/an-hour-by-default") {
        Duration::from_hours(1)
    } else {
        settings::RUN_TIMEOUT
    };
    let run_timeout = asked.or(night.run_timeout).unwrap_or(usual);
    let epsilon = arguments.plateau_epsilon.or(night.plateau_epsilon);
    let plateau_epsilon = epsilon.unwrap_or(settings::PLATEAU_EPSILON);
    let plateau_window =
        arguments.plateau_window.or(night.plateau_window).unwrap_or(settings::PLATEAU_WINDOW);
    let output_dir = match &arguments.output_dir {
        Some(named) if !ao_mutant::active("RUN-02/output-dir-is-ignored") => absolute(named)?,
        _ => absolute(&config::report_dir(&repo.canonical())?)?,
    };
    let is_there =
        |file: &&Path| !ao_mutant::active("LOOP-19/missing-file-is-no-error") || file.exists();
    let queue = arguments.queue.as_deref().filter(is_there);
    let queue = queue.map(|file| read_queue(file, repo, printer)).transpose()?;
    let template = night
        .morning_command
        .as_deref()
        .filter(|_| !ao_mutant::active("REP-11/template-is-ignored"));
    let template = template.map(Template::parse).transpose();
    let template = template
        .map_err(|error| Failure::usage(format!("dream.morning_command: {error}")))?
        .unwrap_or_default();
    let is_strict = arguments.warn_only.or(night.warn_only) == Some(false);
    let is_awake = if arguments.no_keep_awake {
        false
    } else {
        let said =
            night.keep_awake.filter(|_| !ao_mutant::active("RUN-25/configuration-is-ignored"));
        arguments.keep_awake && !ao_mutant::active("RUN-02/configuration-beats-keep-awake")
            || said.unwrap_or(!ao_mutant::active("RUN-25/off-by-default"))
    };
    let asked_mb = arguments
        .checkpoint_max_mb
        .filter(|_| !ao_mutant::active("RUN-03/checkpoint-limit-is-ignored"));
    let max_mb = asked_mb.unwrap_or(night.checkpoint_max_mb);
    let harvest = harvest::configured(repo, printer)?;
    let is_read = config::transcripts(&repo.root)?;
    let transcripts = is_read.then(|| Transcripts { roots: signals::roots() });
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
        transcripts,
        promote_after: config::promote_after(&repo.root)?,
        promote_at: config::promote_at(&repo.root)?,
        commits: trust::commits(repo),
        mode: if global.dry_run { Mode::DryRun } else { Mode::Real },
        extent: if arguments.full { Extent::Everything } else { Extent::WhatChanged },
        long_haul: if arguments.long_haul || ao_mutant::active("REP-10/on-by-default") {
            let limit = arguments.long_haul_budget.unwrap_or(settings::LONG_HAUL_LIMIT);
            LongHaul::On { limit }
        } else {
            LongHaul::Off
        },
        config_warnings: night.warnings.clone(),
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
    let bytes = own_file::read_named(file, ao_night::queue::QUEUE_BYTES_MAX as u64);
    let bytes = bytes.map_err(|error| refuse(error.to_string()))?;
    let read = ao_night::queue::read(&bytes).map_err(|error| refuse(error.to_string()))?;
    for line in &read.unheard {
        printer.note(&format!("note: --queue, line {line} is no item"));
    }
    let whole = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let inside = whole.strip_prefix(repo.canonical()).ok().and_then(Path::to_str);
    Ok(Queue { items: read.items, file: inside.map(str::to_owned) })
}
