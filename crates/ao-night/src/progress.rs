//! What a run is doing, for whoever watches it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ao_contract::{Extra, RunNow, RunStage, SchemaVersion};
use ao_vault::{out, redactor};

use crate::clock::{Clock, Steady};
use crate::outside::Outside;

/// The file beneath `overnight/` that another terminal reads.
pub const STATUS: &str = "status.json";
/// How often it is written while nothing happens.
const WRITTEN_EVERY: Duration = Duration::from_secs(1);

/// Is told what goes on, as often as it may have changed.
pub trait Watch {
    fn see(&mut self, now: &RunNow);
}

/// Shared by the run and whoever works for it.
#[derive(Debug, Clone)]
pub(crate) struct Progress(Arc<Mutex<Told>>);

/// What is told, and how long each stage took so far.
#[derive(Debug)]
struct Told {
    now: RunNow,
    outside: Arc<Outside>,
    since: Duration,
    spent: Vec<(RunStage, Duration)>,
}

impl Told {
    /// Puts the time since the last look down to the stage that it was spent in.
    fn count(&mut self, what: &str) {
        let uptime = self.outside.reading(what).uptime;
        let took = uptime.saturating_sub(self.since);
        self.since = uptime;
        match self.spent.iter_mut().find(|(stage, _)| *stage == self.now.stage) {
            Some((_, spent)) => *spent += took,
            None => self.spent.push((self.now.stage, took)),
        }
    }
}

impl Progress {
    pub(crate) fn new(
        run_id: &str,
        output_dir: &Path,
        limit: Duration,
        (clock, outside): (Clock, Arc<Outside>),
    ) -> Self {
        let now = clock.rfc3339();
        let now = RunNow {
            schema_version: SchemaVersion,
            run_id: run_id.to_owned(),
            process: std::process::id(),
            output_dir: output_dir.to_string_lossy().into_owned(),
            started_at: now.clone(),
            updated_at: now,
            stage: RunStage::Starting,
            iteration: None,
            doing: String::new(),
            found: Vec::new(),
            seconds_left: limit.as_secs(),
            extra: Extra::new(),
        };
        let since = outside.reading("starting").uptime;
        let told = Told { now, outside, since, spent: Vec::new() };
        Self(Arc::new(Mutex::new(told)))
    }

    fn change(&self, change: impl FnOnce(&mut RunNow)) {
        // Whoever panicked while changing it left a word of progress behind, nothing worse.
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner).now);
    }

    pub(crate) fn stage(&self, stage: RunStage, doing: &str) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.count(stage.name());
        told.now.stage = stage;
        doing.clone_into(&mut told.now.doing);
    }

    /// How long each stage took so far, in the order in which they were first met.
    pub(crate) fn spent(&self) -> Vec<(RunStage, Duration)> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.count("spent");
        told.spent.clone()
    }

    pub(crate) fn doing(&self, what: &str) {
        self.change(|now| what.clone_into(&mut now.doing));
    }

    pub(crate) fn iteration(&self, index: u32) {
        self.change(|now| now.iteration = Some(index));
    }

    pub(crate) fn found(&self, what: String) {
        self.change(|now| now.found.push(what));
    }

    pub(crate) fn now(&self) -> RunNow {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).now.clone()
    }
}

/// Passes progress on: to a watcher at once, to the file at intervals.
pub(crate) struct Teller {
    progress: Progress,
    /// `None` for a dry run, which leaves nothing behind.
    file: Option<PathBuf>,
    written: Option<(Duration, RunNow)>,
    steady: Steady,
}

impl Teller {
    pub(crate) fn new(progress: Progress, file: Option<PathBuf>, clock: Clock) -> Self {
        Self { progress, file, written: None, steady: Steady::new(clock) }
    }

    pub(crate) fn tell(&mut self, clock: Clock, deadline: Duration, watch: &mut dyn Watch) {
        self.steady.look();
        let uptime = (clock.uptime)();
        let mut now = self.progress.now();
        now.seconds_left = deadline.saturating_sub(uptime).as_secs();
        watch.see(&now);
        let is_due = self.written.as_ref().is_none_or(|(at, before)| {
            let is_other =
                (before.stage, &before.doing, &before.found) != (now.stage, &now.doing, &now.found);
            is_other || uptime.saturating_sub(*at) >= WRITTEN_EVERY
        });
        if is_due && let Some(file) = &self.file {
            now.updated_at = clock.rfc3339();
            // Progress that cannot be told is no reason to stop; the report does not need it.
            if let Ok(text) = redactor().json(&now) {
                let _ = out::replace_cache(file, &text);
            }
        }
        if is_due {
            self.written = Some((uptime, now));
        }
    }

    /// Each time that the clock was set while the run went on.
    pub(crate) fn clock_told(&mut self) -> &[String] {
        self.steady.look();
        self.steady.told()
    }

    pub(crate) fn end(&mut self) {
        if let Some(file) = self.file.take() {
            let _ = ao_tree::remove_cache(&file);
        }
    }
}
