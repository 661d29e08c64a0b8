//! The summary of a run that is at work. It stays `planned`, and is rewritten whenever a step or an iteration ends.
//!
//! A step leaves three things, each whole or not at all, always in this order: its artifact, its place in
//! `summary.json`, its entry in the log. A kill can come
//!
//! - before the artifact is there: no trace of the step, and no reader calls it done;
//! - between the artifact and the summary: the readers ([`super::left`]) look for the files of the steps
//!   that the summary still calls pending;
//! - between the summary and the log, or later: the summary has the step. A log entry is never there without
//!   it, so that nobody has to read the log. A step without an artifact is done from here on.
//!
//! The artifact of an iteration is its record. What lay in the folder before the run began was moved away by
//! then, so that a file there is this run's.

use std::io;

use ao_contract::{StepName, StepStatus, format_duration};

use super::Run;
use super::end::put_rescues;
use crate::iteration::{fault, in_milliseconds};
use crate::output::SUMMARY_JSON;
use crate::outside::Reading;

impl Run<'_> {
    pub(super) fn end_step(&mut self, name: &StepName, status: StepStatus, note: Option<String>) {
        let told = note.as_deref().unwrap_or_default().to_owned();
        if let Some(step) = self.step(name) {
            step.status = status;
            step.note = note;
        }
        let is_reported = !ao_mutant::active("RUN-21/degraded-is-not-reported");
        if status == StepStatus::SoftFail && is_reported {
            self.degraded.push(name.to_string());
        }
        let status = crate::report::step_status_name(status);
        self.ended(name, &format!("step {name}: {status} {told}"));
    }

    /// Records the end of a step or an iteration, and then says so in the log.
    pub(super) fn ended(&mut self, name: &StepName, entry: &str) {
        let is_early = ao_mutant::active("RUN-45/log-before-the-summary");
        if is_early {
            self.log(entry);
        }
        // Not failures: places to wait at, where a test kills the run.
        let _ = fault(&format!("record-{name}"));
        let written = self.write_so_far();
        let _ = fault(&format!("log-{name}"));
        match written {
            Ok(()) if is_early => {}
            Ok(()) => self.log(entry),
            // The summary at the end will have it, and until then the log must not have more than the summary.
            Err(error) => {
                self.log(&format!(
                    "{name} ended, and {SUMMARY_JSON} could not be written: {error}"
                ));
            }
        }
    }

    fn write_so_far(&mut self) -> io::Result<()> {
        if ao_mutant::active("RUN-45/steps-are-not-recorded") {
            return Ok(());
        }
        let clock = self.work.clock;
        // Not a reading that a replay would have to repeat: none of it is in the report of a run that ends.
        self.put_so_far(Reading { at: (clock.now)(), uptime: (clock.uptime)() });
        self.write_summary()
    }

    /// Puts in what is kept elsewhere while the run goes on.
    pub(super) fn put_so_far(&mut self, now: Reading) {
        self.summary.finished_at = now.rfc3339();
        let took = in_milliseconds(self.took(now));
        self.summary.duration = if ao_mutant::active("REP-02/duration-is-a-number") {
            took.as_millis().to_string()
        } else {
            format_duration(took)
        };
        self.summary.warn_only_remaining = Some(self.budget.remaining);
        put_rescues(&mut self.summary, &self.rescues);
        let mut degraded = self.degraded.clone();
        degraded.dedup();
        self.summary.degraded = (!degraded.is_empty()).then_some(degraded);
        self.summary.schema_version = self.summary.expected_version();
    }
}
