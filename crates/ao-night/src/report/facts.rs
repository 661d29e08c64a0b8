//! What a report is made from.

use ao_contract::{Iteration, IterationStatus, RunStatus, Step, StepStatus, Summary};
use serde_json::Value;

use crate::verdict::Verdicts;

/// Whether the process that writes the summary is still there. Only the caller can know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    Lives,
    Over,
}

/// Whether what changed the corpus was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    Enforced,
    /// A regression would have been let through.
    WarnOnly,
    /// The summary does not say.
    Unsaid,
}

#[derive(Debug)]
pub(super) struct Facts<'a> {
    pub(super) summary: &'a Summary,
    pub(super) verdicts: &'a Verdicts,
    pub(super) run: Run,
    /// All of it, for what has no field of its own.
    whole: Value,
}

impl<'a> Facts<'a> {
    pub(super) fn new(summary: &'a Summary, verdicts: &'a Verdicts, run: Run) -> Self {
        let whole = serde_json::to_value(summary).unwrap_or_default();
        Self { summary, verdicts, run, whole }
    }

    /// How the run is to be called: one that planned and is gone has failed.
    pub(super) fn status(&self) -> RunStatus {
        match (self.summary.status, self.run) {
            (RunStatus::Planned, Run::Over) => RunStatus::Failed,
            (status, _) => status,
        }
    }

    pub(super) fn is_running(&self) -> bool {
        self.status() == RunStatus::Planned
    }

    /// Anything in the summary, by its JSON pointer.
    pub(super) fn at(&self, pointer: &str) -> Option<&Value> {
        self.whole.pointer(pointer).filter(|value| !value.is_null())
    }

    /// A text, or the texts of a list.
    pub(super) fn texts(&self, pointer: &str) -> Vec<&str> {
        match self.at(pointer) {
            Some(Value::String(text)) => vec![text],
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn iterations(&self) -> &'a [Iteration] {
        self.summary.iterations.as_deref().unwrap_or_default()
    }

    pub(super) fn gate(&self) -> Gate {
        let said = self.at("/warn_only").and_then(Value::as_bool);
        match (said, self.summary.warn_only_remaining) {
            (Some(true), _) => Gate::WarnOnly,
            // Who keeps count of rescues and has some left only warns.
            (None, Some(left)) if left > 0 => Gate::WarnOnly,
            (Some(false), _) | (None, Some(_)) => Gate::Enforced,
            (None, None) => Gate::Unsaid,
        }
    }

    pub(super) fn last_completed(&self) -> Option<&'a Step> {
        self.summary.steps.iter().rev().find(|step| step.status == StepStatus::Done)
    }

    pub(super) fn steps(&self, status: StepStatus) -> impl Iterator<Item = &'a Step> {
        self.summary.steps.iter().filter(move |step| step.status == status)
    }
}

/// Whether the corpus was changed by it.
pub(super) fn is_committed(iteration: &Iteration) -> bool {
    iteration.committed.unwrap_or(matches!(
        iteration.status,
        IterationStatus::Done | IterationStatus::HaltedOnRegressionPostCommit
    ))
}

pub(crate) fn status_name(status: IterationStatus) -> &'static str {
    match status {
        IterationStatus::Done => "done",
        IterationStatus::Degraded => "degraded",
        IterationStatus::RolledBackPreCommit => "rolled back",
        IterationStatus::HaltedOnRegressionPreCommit => "halted, rolled back",
        IterationStatus::HaltedOnRegressionPostCommit => "halted after its commit",
        IterationStatus::Failed => "failed",
        // As older histories spell it: they say no more.
        IterationStatus::RolledBack if ao_mutant::active("LOOP-14/old-status-is-reworded") => {
            "rolled back"
        }
        IterationStatus::RolledBack => "rolled-back",
    }
}

pub(crate) fn step_status_name(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "pending",
        StepStatus::Done => "done",
        StepStatus::SoftFail => "soft-fail",
        StepStatus::Failed => "failed",
        StepStatus::Skipped => "skipped",
    }
}
