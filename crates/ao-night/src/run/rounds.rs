//! The loop: iterations, until there is nothing more to do or something says stop.

use std::time::Duration;

use ao_contract::{Iteration, IterationStatus, RunStage};
use ao_tree::Outcome;

use super::background::Halt;
use super::{LoopEnd, Run, Stopped};
use crate::iteration::{Ending, Failed, Proposal, RESCUE, Stage, propose};
use crate::judge::{Doubt, Verdict, judge};

/// So many in a row that could not be measured, or were kept from their commit by others, end the
/// loop.
pub(super) const TROUBLES_MAX: u32 = 3;
/// What the loop does after an iteration.
pub(super) enum Next {
    Again,
    End(LoopEnd),
}

/// What is known of an iteration while it runs.
pub(super) struct Begun {
    pub(super) index: u32,
    pub(super) started_at: String,
    pub(super) since: Duration,
}

impl Run<'_> {
    pub(super) fn rounds(&mut self) -> Result<LoopEnd, Stopped> {
        let mut troubles = 0;
        loop {
            let done = u32::try_from(self.iterations.len()).unwrap_or(u32::MAX);
            let most = self.work.settings.max_iterations;
            if most > 0 && done >= most {
                return Ok(LoopEnd::Count);
            }
            if let Some(halt) = self.loop_limits().halt() {
                return halted(halt);
            }
            let now = self.work.outside.reading("iteration began");
            let last = self.iterations.last().map_or(0, |last| last.index.get());
            let begun = Begun { index: last + 1, started_at: now.rfc3339(), since: now.uptime };
            if self.iterations.is_empty()
                && let Some(kept) = self.unchanged()
            {
                return self.carry_over(&begun, kept);
            }
            self.keep_corpus();
            match self.round(&begun, &mut troubles)? {
                Next::Again if self.is_dry() => return Ok(LoopEnd::Count),
                Next::Again => {}
                Next::End(end) => return Ok(end),
            }
        }
    }

    fn round(&mut self, begun: &Begun, troubles: &mut u32) -> Result<Next, Stopped> {
        self.work.progress.iteration(begun.index);
        self.stage(RunStage::Ingest, &format!("iteration {}", begun.index));
        let limits = self.loop_limits();
        let proposed = self.think(&limits, propose);
        let proposal = match proposed {
            Ok(Ok(proposal)) => proposal,
            Ok(Err(failed)) => return self.failed(begun, failed, troubles),
            Err(halt) => {
                let (status, why) = match &halt {
                    Halt::Time => {
                        (IterationStatus::RolledBackPreCommit, "the time ended".to_owned())
                    }
                    Halt::Signal(signal) => {
                        let why = format!("ended by signal {signal}");
                        (IterationStatus::RolledBackPreCommit, why)
                    }
                    Halt::Panic(why) => (IterationStatus::Failed, format!("panicked: {why}")),
                };
                self.put(begun, None, None, Ending::new(status).because(why))?;
                return halted(halt).map(Next::End);
            }
        };
        self.held_back = proposal.fixed.len();
        if proposal.edits().is_empty() {
            self.see(&proposal, None);
            self.put(begun, Some(&proposal), None, Ending::new(IterationStatus::Done))?;
            return Ok(Next::End(LoopEnd::Nothing));
        }
        let mut ending = Ending::new(IterationStatus::Done);
        if let Some(end) = self.judged(begun, &proposal, &mut ending)? {
            return Ok(Next::End(end));
        }
        if self.is_dry() {
            return self.shown(begun, &proposal, ending);
        }
        self.committed(begun, proposal, ending, troubles)
    }

    /// Measures against floors and plateau; gives the end of the loop if there is one.
    fn judged(
        &mut self,
        begun: &Begun,
        proposal: &Proposal,
        ending: &mut Ending,
    ) -> Result<Option<LoopEnd>, Stopped> {
        let Some((before, after)) = &proposal.measured else { return Ok(None) };
        let settings = &self.work.settings;
        let epsilon = settings.plateau_epsilon;
        let is_measured = |one: &&Iteration| {
            one.status == IterationStatus::Done && !one.fitness_before.is_empty()
        };
        let earlier = self.iterations.iter().filter(is_measured);
        let mut deltas: Vec<f64> = earlier.map(|one| one.fitness_delta.get()).collect();
        deltas.push(after.fitness.composite - before.fitness.composite);
        let verdict = judge(
            (&before.fitness, &after.fitness),
            &deltas,
            (epsilon, settings.plateau_window),
            self.gate(),
            self.budget.remaining,
        );
        match verdict {
            Verdict::Commit => Ok(None),
            Verdict::Rescue(doubt) => {
                let reason = doubt.reason(epsilon);
                if !self.is_dry() {
                    let at = self.work.outside.reading("rescue").rfc3339();
                    crate::budget::spend(&self.state, &mut self.budget, at).map_err(|error| {
                        Stopped::Failed(format!("a rescue could not be written down: {error}"))
                    })?;
                }
                self.work.progress.found(format!("let through with a warning: {reason}"));
                self.rescues.push(rescued(begun.index, &reason));
                ending.rescue = Some(reason);
                Ok(None)
            }
            Verdict::Halt(doubt) => {
                let mut reason = doubt.reason(epsilon);
                let is_spent = self.gate() == crate::settings::Gate::WarnOnly;
                if is_spent {
                    reason.push_str(" (warn-only budget exhausted)");
                }
                let halted = Ending::new(IterationStatus::HaltedOnRegressionPreCommit);
                self.put(begun, Some(proposal), None, halted.because(&reason))?;
                self.see_uncommitted(proposal);
                Ok(Some(match doubt {
                    Doubt::Regression(_) => {
                        self.summary.regression_reason = Some(reason);
                        LoopEnd::Regression
                    }
                    Doubt::Plateau(_) => {
                        self.summary.plateau_reason = Some(reason);
                        LoopEnd::Plateau
                    }
                }))
            }
        }
    }

    /// A dry run: everything but the commit.
    fn shown(
        &mut self,
        begun: &Begun,
        proposal: &Proposal,
        mut ending: Ending,
    ) -> Result<Next, Stopped> {
        let preview = self.work.door.preview(proposal.edits().to_vec());
        let preview = preview.map_err(|error| Stopped::Failed(error.to_string()))?;
        self.diff = Some(preview.diffs.iter().map(ao_tree::FileDiff::unified).collect());
        self.shown = proposal.edits().to_vec();
        ending.committed = Some(false);
        ending.notes.push("a dry run: nothing was committed".into());
        self.see_uncommitted(proposal);
        self.put(begun, Some(proposal), None, ending)?;
        Ok(Next::Again)
    }

    fn failed(
        &mut self,
        begun: &Begun,
        failed: Failed,
        troubles: &mut u32,
    ) -> Result<Next, Stopped> {
        let why = format!("{} failed: {}", failed.stage.name(), failed.why);
        let (status, is_hard) = match failed.stage {
            Stage::Ingest => (IterationStatus::Failed, true),
            Stage::CloseLoop => (IterationStatus::RolledBackPreCommit, true),
            Stage::Reduce => (IterationStatus::RolledBackPreCommit, false),
            Stage::Measure => (IterationStatus::Degraded, false),
        };
        let mut ending = Ending::new(status).because(&why);
        ending.degraded.push(failed.stage.name().to_lowercase());
        self.put(begun, None, None, ending)?;
        if failed.stage == Stage::CloseLoop {
            let name = ao_contract::StepName::CloseLoop;
            self.end_step(&name, ao_contract::StepStatus::Failed, Some(failed.why));
        }
        if is_hard {
            return Err(Stopped::Failed(why));
        }
        self.degraded.push(format!("iteration-{}", begun.index));
        if failed.stage == Stage::Measure {
            *troubles += 1;
            if *troubles < TROUBLES_MAX {
                return Ok(Next::Again);
            }
            self.summary.measure_failure_halt = Some(true);
        }
        Ok(Next::End(LoopEnd::Failing))
    }

    /// Remembers what an iteration found out about the corpus that is there now.
    pub(super) fn see(&mut self, proposal: &Proposal, outcome: Option<&Outcome>) {
        use ao_contract::ChangeStatus;
        let is_made = outcome.is_some_and(|outcome| outcome.method.is_some());
        let status = if is_made { ChangeStatus::Committed } else { ChangeStatus::NothingChanged };
        let id = outcome.filter(|_| is_made).map(|outcome| outcome.id.clone());
        if is_made || self.closing.is_none() {
            self.closing = Some(proposal.closing.report(status, id));
        }
        let report = &proposal.plan.report;
        if is_made {
            let merged: usize = report.merges.iter().map(|merge| merge.members.len()).sum();
            let pruned = report.prunes.len();
            self.work.progress.found(format!("{merged} copies merged, {pruned} archived"));
        }
        self.defrag = Some(report.clone());
        if self.answered_before.is_none() {
            let before = proposal.measured.as_ref().map(|(before, _)| before);
            self.answered_before = before.and_then(|before| before.answered.clone());
        }
        let is_alone = outcome.is_none_or(|outcome| {
            outcome.carried.is_empty() && outcome.conflicts.is_empty() && outcome.refused.is_empty()
        });
        self.last = match &proposal.measured {
            Some((_, after)) if is_made && is_alone => Some(after.clone()),
            Some(_) => None,
            None => self.last.take(),
        };
    }

    /// As [`Run::see`], of an iteration that was rolled back or only shown.
    fn see_uncommitted(&mut self, proposal: &Proposal) {
        self.see(proposal, None);
        self.last = proposal.measured.as_ref().map(|(before, _)| before.clone());
    }
}

fn rescued(index: u32, reason: &str) -> String {
    format!("iteration {index}: {reason}")
}

/// What iterations of an earlier process were let through with.
pub(super) fn rescues(iterations: &[Iteration]) -> Vec<String> {
    let rescue = |one: &Iteration| Some(rescued(one.index.get(), one.extra.get(RESCUE)?.as_str()?));
    iterations.iter().filter_map(rescue).collect()
}

/// What was degraded in iterations of an earlier process.
pub(super) fn degraded(iterations: &[Iteration]) -> Vec<String> {
    let told = |one: &Iteration| match (one.status, one.committed) {
        (IterationStatus::Degraded, Some(true)) => one.degraded.clone(),
        _ if one.degraded.is_empty() => Vec::new(),
        _ => vec![format!("iteration-{}", one.index)],
    };
    iterations.iter().flat_map(told).collect()
}

/// What becomes of the loop where work was halted.
pub(super) fn halted(halt: Halt) -> Result<LoopEnd, Stopped> {
    match halt {
        Halt::Time => Ok(LoopEnd::Time),
        Halt::Signal(signal) => Err(Stopped::Signal(signal)),
        Halt::Panic(why) => Err(Stopped::Failed(format!("panicked: {why}"))),
    }
}
