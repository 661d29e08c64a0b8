//! What a night is asked for, by its arguments and by the configuration.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ao_contract::{format_duration, parse_duration};
use ao_night::settings::{self, Extent, Gate, LongHaul, Mode, Queue, Settings};
use ao_night::{Template, Transcripts, Wish};
use ao_tree::shown;

use super::super::super::{harvest, signals};
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
            full: self.full,
            resume: None,
        };
        resolve(&arguments, night, repo, global, printer)
    }
}

pub(in super::super) fn timeout(text: &str) -> Result<Duration, String> {
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

pub(super) fn epsilon(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "is not a number".to_owned())?;
    checked_epsilon(value)
}

fn checked_epsilon(value: f64) -> Result<f64, String> {
    if value.is_finite() && value > 0.0 { Ok(value) } else { Err("must be over 0".into()) }
}

/// Flags over environment over repository over home over defaults.
pub(super) fn resolve(
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
        promote_after: settings::PROMOTE_AFTER,
        promote_at: config::promote_at(&repo.root)?,
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
