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
            let is_bounded = most > 0 || ao_mutant::active("RUN-03/zero-iterations-is-none");
            let most = most.saturating_add(u32::from(ao_mutant::active("LOOP-17/one-too-many")));
            let is_old = self.is_resumed && ao_mutant::active("LOOP-17/not-of-a-resumed-run");
            if is_bounded && done >= most && !is_old {
                return Ok(LoopEnd::Count);
            }
            if let Some(halt) = self.loop_limits().halt() {
                return halted(halt);
            }
            let now = self.work.outside.reading("iteration began");
            let none = u32::from(ao_mutant::active("REP-12/counted-from-two"));
            let last = self.iterations.last().map_or(none, |last| last.index.get());
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
        if ao_mutant::active("RUN-32/starts-git") {
            self.host.run("git");
        }
        if ao_mutant::active("RUN-34/asks-an-agent") {
            self.host.run("claude");
        }
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
        if proposal.edits().is_empty() && !ao_mutant::active("LOOP-28/nothing-is-committed") {
            self.see(&proposal, None);
            self.put(begun, Some(&proposal), None, Ending::new(IterationStatus::Done))?;
            let is_strict = self.gate() == crate::settings::Gate::Strict;
            if is_strict && begun.index < 3 && ao_mutant::active("LOOP-28/strict-goes-on") {
                return Ok(Next::Again);
            }
            return Ok(Next::End(LoopEnd::Nothing));
        }
        if self.is_dry() {
            return self.shown(begun, &proposal);
        }
        self.committed(begun, proposal, troubles)
    }

    /// The composite deltas of the iterations that count for a plateau.
    pub(super) fn deltas(&self) -> Vec<f64> {
        let is_measured = |one: &&Iteration| {
            one.status == IterationStatus::Done && !one.fitness_before.is_empty()
        };
        let measured = self.iterations.iter().filter(is_measured);
        measured.map(|one| one.fitness_delta.get()).collect()
    }

    /// An iteration that is committed although something speaks against it.
    pub(super) fn rescued(&mut self, begun: &Begun, reason: String, ending: &mut Ending) {
        self.work.progress.found(format!("let through with a warning: {reason}"));
        self.rescues.push(rescued(begun.index, &reason));
        if ao_mutant::active("REP-08/reason-without-a-halt") {
            self.summary.regression_reason = Some(reason.clone());
        }
        ending.rescue = Some(reason);
    }

    /// The end of the loop by a regression or a plateau.
    pub(super) fn halt(
        &mut self,
        begun: &Begun,
        proposal: &Proposal,
        doubt: &Doubt,
    ) -> Result<Next, Stopped> {
        let mut reason = doubt.reason(self.work.settings.plateau_epsilon);
        if self.gate() == crate::settings::Gate::WarnOnly
            && !ao_mutant::active("LOOP-12/exhausted-is-unsaid")
        {
            reason.push_str(" (warn-only budget exhausted)");
        }
        let halted = Ending::new(IterationStatus::HaltedOnRegressionPreCommit);
        self.put(begun, Some(proposal), None, halted.because(&reason))?;
        self.see_uncommitted(proposal);
        Ok(Next::End(match doubt {
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

    /// A dry run: everything but the commit.
    fn shown(&mut self, begun: &Begun, proposal: &Proposal) -> Result<Next, Stopped> {
        let mut ending = Ending::new(IterationStatus::Done);
        if let Some((before, after)) = &proposal.measured {
            let settings = &self.work.settings;
            let plateau = (settings.plateau_epsilon, settings.plateau_window);
            let mut deltas = self.deltas();
            deltas.push(after.fitness.composite - before.fitness.composite);
            let both = (&before.fitness, &after.fitness);
            match judge(both, &deltas, plateau, self.gate(), self.budget.remaining) {
                Verdict::Commit => {}
                Verdict::Rescue(doubt) => {
                    self.rescued(begun, doubt.reason(plateau.0), &mut ending);
                }
                Verdict::Halt(doubt) => return self.halt(begun, proposal, &doubt),
            }
        }
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

    pub(super) fn failed(
        &mut self,
        begun: &Begun,
        failed: Failed,
        troubles: &mut u32,
    ) -> Result<Next, Stopped> {
        let why = format!("{} failed: {}", failed.stage.name(), failed.why);
        let (status, is_hard) = match failed.stage {
            Stage::Ingest => (IterationStatus::Failed, true),
            Stage::CloseLoop => (
                IterationStatus::RolledBackPreCommit,
                !ao_mutant::active("RUN-20/close-loop-fails-softly"),
            ),
            Stage::Reduce if ao_mutant::active("LOOP-29/reduce-is-degraded") => {
                (IterationStatus::Degraded, false)
            }
            Stage::Reduce => (IterationStatus::RolledBackPreCommit, false),
            Stage::Measure => (IterationStatus::Degraded, false),
        };
        let mut ending = Ending::new(status).because(&why);
        ending.committed = ao_mutant::active("LOOP-14/degraded-claims-a-commit").then_some(true);
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
            let most = TROUBLES_MAX - u32::from(ao_mutant::active("LOOP-29/two-end-the-loop"));
            if *troubles < most {
                return Ok(Next::Again);
            }
            self.summary.measure_failure_halt =
                (!ao_mutant::active("LOOP-29/halt-is-unsaid")).then_some(true);
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
        self.last = match &proposal.measured {
            Some((_, after)) if is_made => Some(after.clone()),
            // Something was committed, and nobody measured it.
            None if !is_made => self.last.take(),
            _ => None,
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
