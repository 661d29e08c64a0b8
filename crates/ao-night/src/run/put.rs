//! The record of an iteration, written as soon as it ended.

use std::sync::PoisonError;

use ao_contract::{Iteration, StepName};
use ao_tree::Outcome;

use super::rounds::Begun;
use super::{Run, Stopped};
use crate::iteration::{Ending, Proposal, Timed, record};
use crate::output::Output;

impl Run<'_> {
    pub(super) fn put(
        &mut self,
        begun: &Begun,
        proposal: Option<&Proposal>,
        outcome: Option<&Outcome>,
        ending: Ending,
    ) -> Result<(), Stopped> {
        let iteration = self.record(begun, proposal, outcome, ending);
        self.keep_record(begun, iteration)
    }

    pub(super) fn record(
        &self,
        begun: &Begun,
        proposal: Option<&Proposal>,
        outcome: Option<&Outcome>,
        ending: Ending,
    ) -> Iteration {
        let now = self.work.outside.reading("iteration ended");
        let timed = Timed {
            run_id: self.summary.run_id.clone(),
            index: begun.index,
            started_at: begun.started_at.clone(),
            finished_at: now.rfc3339(),
            took: now.uptime.saturating_sub(begun.since),
            day: self.work.today(),
        };
        record(&timed, proposal, outcome, ending)
    }

    /// What was read of the transcripts need not be read again.
    fn keep_memo(&self) {
        let memo = self.work.memo.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(memo) = memo.filter(|_| !self.is_dry()) else { return };
        if let Err(error) = crate::keep_memo(&self.work.agents, &memo) {
            self.log(&format!("what was read of the transcripts could not be kept: {error}"));
        }
    }

    pub(super) fn keep_record(
        &mut self,
        begun: &Begun,
        iteration: Iteration,
    ) -> Result<(), Stopped> {
        let name = Output::iteration(&self.summary.run_id, begun.index);
        let written = if ao_mutant::active("LOOP-13/left-to-the-summary") {
            Ok(name)
        } else {
            self.output.write_json(&name, &iteration)
        };
        let entry = format!(
            "iteration {}: {} {}",
            begun.index,
            crate::report::status_name(iteration.status),
            iteration.error.as_deref().unwrap_or_default()
        );
        self.iterations.push(iteration);
        if let Err(error) = written {
            self.keep_memo();
            let why = format!("the record of iteration {}: {error}", begun.index);
            return Err(Stopped::Failed(why));
        }
        self.ended(&StepName::Iteration(begun.index), &entry);
        self.keep_memo();
        Ok(())
    }
}
