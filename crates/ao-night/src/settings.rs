//! What a run is told to do, with every default and every source of settings resolved.

use std::path::PathBuf;
use std::time::Duration;

use ao_contract::{ConfigWarning, Trust};
use ao_corpus::harvest::Source;

use crate::queue::QueueItem;
use crate::{Commits, Template, Transcripts, Wish};

pub const RUN_TIMEOUT: Duration = Duration::from_hours(8);
/// A longer run is no night any more.
pub const RUN_TIMEOUT_MAX: Duration = Duration::from_hours(48);
pub const PLATEAU_EPSILON: f64 = 0.01;
pub const PLATEAU_WINDOW: u32 = 2;
/// A long haul ends after this time, and with the run before it.
pub const LONG_HAUL_LIMIT: Duration = Duration::from_hours(1);
/// How old a pending learning must be before a night promotes it: trust decides, not waiting.
pub const PROMOTE_AFTER: Duration = Duration::ZERO;

/// Whether a regression halts the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It does.
    Strict,
    /// It does not while the repository has rescues left.
    WarnOnly,
}

/// Whether anything is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Real,
    /// Everything is done but the commit.
    DryRun,
}

/// Whether a night that is not sure of its first packet looks further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongHaul {
    Off,
    /// For so long at most, and never past the time of the run.
    On {
        limit: Duration,
    },
}

/// How much is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What an earlier run found out about a corpus that is unchanged holds.
    WhatChanged,
    Everything,
}

/// The operator's own priorities.
#[derive(Debug, Clone)]
pub struct Queue {
    pub items: Vec<QueueItem>,
    /// The file, relative to the repository; `None` if it lies elsewhere.
    pub file: Option<String>,
}

#[derive(Debug)]
pub struct Settings {
    pub goal: String,
    /// Absolute.
    pub output_dir: PathBuf,
    pub run_timeout: Duration,
    /// As it was asked for.
    pub requested_timeout: String,
    pub keep_awake: Wish,
    pub queue: Option<Queue>,
    /// 0 is no limit.
    pub max_iterations: u32,
    pub plateau_epsilon: f64,
    pub plateau_window: u32,
    pub gate: Gate,
    pub checkpoint_max_bytes: u64,
    pub morning_command: Template,
    pub harvest: Vec<Source>,
    /// `None` if no transcript is to be read.
    pub transcripts: Option<Transcripts>,
    /// How old a pending learning must be to be promoted, in whole days of 24 hours.
    pub promote_after: Duration,
    /// What is trusted less is not promoted without a person.
    pub promote_at: Trust,
    /// Where is asked what of the pending texts is in a commit.
    pub commits: Commits,
    pub mode: Mode,
    pub extent: Extent,
    pub long_haul: LongHaul,
    /// What the configuration says without effect; the report names it.
    pub config_warnings: Vec<ConfigWarning>,
}
