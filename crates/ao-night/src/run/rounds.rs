//! The loop: iterations, until there is nothing more to do or something says stop.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::{Iteration, IterationStatus, RunStage};
use ao_corpus::Tree;
use ao_tree::{Error, Outcome, Request, Stop};

use super::background::{Halt, in_background};
use super::{LoopEnd, Run, Stopped};
use crate::held::held_back;
use crate::iteration::{Ending, Failed, Proposal, Stage, Timed, fault, id_of, propose, record};
use crate::judge::{Doubt, Verdict, judge};
use crate::output::Output;

/// So many in a row that could not be measured, or were kept from their commit by others, end the
/// loop.
const TROUBLES_MAX: u32 = 3;
/// Displaced files are left this long to whoever still has them open.
const GRACE: Duration = Duration::from_millis(100);

/// What the loop does after an iteration.
enum Next {
    Again,
    End(LoopEnd),
}

/// What is known of an iteration while it runs.
struct Begun {
    index: u32,
    started_at: String,
    since: Duration,
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
            let clock = self.work.clock;
            let begun =
                Begun { index: done + 1, started_at: clock.rfc3339(), since: (clock.uptime)() };
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
                    let at = self.work.clock.rfc3339();
                    crate::budget::spend(&self.state, &mut self.budget, at).map_err(|error| {
                        Stopped::Failed(format!("a rescue could not be written down: {error}"))
                    })?;
                }
                let told = format!("iteration {}: {reason}", begun.index);
                self.work.progress.found(format!("let through with a warning: {reason}"));
                self.rescues.push(told);
                ending.notes.push(format!("warn-only: {reason}; a rescue was spent"));
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
        ending.committed = Some(false);
        ending.notes.push("a dry run: nothing was committed".into());
        self.see_uncommitted(proposal);
        self.put(begun, Some(proposal), None, ending)?;
        Ok(Next::Again)
    }

    fn committed(
        &mut self,
        begun: &Begun,
        mut proposal: Proposal,
        mut ending: Ending,
        troubles: &mut u32,
    ) -> Result<Next, Stopped> {
        let count = proposal.edits().len();
        self.stage(RunStage::Commit, &format!("bringing {count} edits through the door"));
        let outcome = match self.commit(begun, &proposal) {
            Ok(outcome) => outcome,
            Err(Error::Stopped) => {
                let why = "the time ended, or a signal came, before the commit was decided";
                let rolled_back = Ending::new(IterationStatus::RolledBackPreCommit);
                self.put(begun, Some(&proposal), None, rolled_back.because(why))?;
                let halt = self.limits.halt().unwrap_or(Halt::Time);
                return halted(halt).map(Next::End);
            }
            Err(error @ (Error::Contended { .. } | Error::ReadersStay { .. })) => {
                let rolled_back = Ending::new(IterationStatus::RolledBackPreCommit);
                let rolled_back = rolled_back.because(error.to_string());
                self.put(begun, Some(&proposal), None, rolled_back)?;
                return Ok(self.trouble(troubles));
            }
            Err(error) => {
                let failed = Ending::new(IterationStatus::Failed).because(error.to_string());
                self.put(begun, Some(&proposal), None, failed)?;
                return Err(Stopped::Failed(format!("COMMIT failed: {error}")));
            }
        };
        *troubles = 0;
        proposal.hold_back(&held_back(&outcome));
        if let Ok(line) = self.work.door.line(Some(&outcome.id)) {
            self.stored_bytes = self.stored_bytes.saturating_add(line.stored_bytes);
        }
        let stripped = stripped(&self.work.agents, &proposal, &outcome);
        if !stripped.is_empty() {
            let note =
                format!("post-commit metadata integrity: {} stripped field(s)", stripped.len());
            ending.status = IterationStatus::Degraded;
            ending.committed = Some(true);
            ending.degraded.push(note.clone());
            ending.notes.extend(stripped.into_iter().take(20));
            self.degraded.push(note);
        }
        let is_made = outcome.method.is_some();
        if !is_made {
            // Not done: what was measured is not in the tree, and must not count as a gain.
            let why = "others had changed the files meanwhile, and nothing was left to commit";
            ending.status = IterationStatus::RolledBackPreCommit;
            ending.error = Some(why.into());
        }
        self.see(&proposal, Some(&outcome));
        self.put(begun, Some(&proposal), Some(&outcome), ending)?;
        // What others keep from being made would be tried for ever.
        Ok(if is_made { Next::Again } else { self.trouble(troubles) })
    }

    fn trouble(&mut self, troubles: &mut u32) -> Next {
        *troubles += 1;
        if *troubles < TROUBLES_MAX {
            return Next::Again;
        }
        self.degraded.push("the loop: others kept changing the files".into());
        Next::End(LoopEnd::Failing)
    }

    fn commit(&mut self, begun: &Begun, proposal: &Proposal) -> Result<Outcome, Error> {
        let settings = &self.work.settings;
        let stop = Arc::new(AtomicBool::new(false));
        // A run that is gone on with may have left conflicts under the id.
        let id = self.work.door.unique_id(&id_of(&self.summary.run_id, begun.index))?;
        let request = Request {
            id,
            at: self.work.clock.rfc3339(),
            why: format!("overnight run {}, iteration {}", self.summary.run_id, begun.index),
            edits: proposal.edits().to_vec(),
            undo_of: Vec::new(),
            drop_folders: Vec::new(),
            grace: GRACE,
            max_store_bytes: settings.checkpoint_max_bytes.saturating_sub(self.stored_bytes),
            fitness: proposal.measured.as_ref().map(|(_, after)| after.fitness.map()),
            stop: Stop::when(Arc::clone(&stop)),
        };
        let work = Arc::clone(&self.work);
        let limits = self.loop_limits();
        let (clock, deadline) = (self.work.clock, self.limits.deadline);
        let (teller, watch) = (&mut self.teller, &mut *self.watch);
        let mut tick = || teller.tell(clock, deadline, watch);
        let apply = move || match fault(Stage::Commit) {
            Ok(()) => work.door.apply(request),
            Err(failed) => {
                Err(Error::Io { doing: failed.why, source: std::io::ErrorKind::Other.into() })
            }
        };
        match in_background(apply, &limits, Some(&stop), &mut tick) {
            Ok(done) => done,
            Err(halt) => Err(Error::Io {
                doing: format!("commit: {halt:?}"),
                source: std::io::ErrorKind::Other.into(),
            }),
        }
    }

    fn failed(
        &mut self,
        begun: &Begun,
        failed: Failed,
        troubles: &mut u32,
    ) -> Result<Next, Stopped> {
        let why = format!("{} failed: {}", failed.stage.name(), failed.why);
        let (status, is_hard) = match failed.stage {
            Stage::Ingest | Stage::Commit => (IterationStatus::Failed, true),
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
    fn see(&mut self, proposal: &Proposal, outcome: Option<&Outcome>) {
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

    /// Writes the record of an iteration, as soon as it ended.
    fn put(
        &mut self,
        begun: &Begun,
        proposal: Option<&Proposal>,
        outcome: Option<&Outcome>,
        ending: Ending,
    ) -> Result<(), Stopped> {
        let clock = self.work.clock;
        let run_id = self.summary.run_id.clone();
        let timed = Timed {
            run_id: run_id.clone(),
            index: begun.index,
            started_at: begun.started_at.clone(),
            finished_at: clock.rfc3339(),
            took: (clock.uptime)().saturating_sub(begun.since),
        };
        let iteration = record(&timed, proposal, outcome, ending);
        let name = Output::iteration(&run_id, begun.index);
        let written = self.output.write_json(&name, &iteration);
        self.log(&format!(
            "iteration {}: {} {}",
            begun.index,
            crate::report::status_name(iteration.status),
            iteration.error.as_deref().unwrap_or_default()
        ));
        self.iterations.push(iteration);
        written.map(drop).map_err(|error| {
            Stopped::Failed(format!("the record of iteration {}: {error}", begun.index))
        })
    }
}

/// What becomes of the loop where work was halted.
fn halted(halt: Halt) -> Result<LoopEnd, Stopped> {
    match halt {
        Halt::Time => Ok(LoopEnd::Time),
        Halt::Signal(signal) => Err(Stopped::Signal(signal)),
        Halt::Panic(why) => Err(Stopped::Failed(format!("panicked: {why}"))),
    }
}

/// Fields that files had before the commit and do not have now.
fn stripped(agents: &std::path::Path, proposal: &Proposal, outcome: &Outcome) -> Vec<String> {
    let Ok(live) = Tree::list(agents) else { return Vec::new() };
    let mut stripped = Vec::new();
    for change in &outcome.changes {
        let wanted = proposal.plan.tree.change(&change.path).flatten();
        let (Some(wanted), Some(now)) = (wanted, live.original(&change.path)) else { continue };
        for key in wanted.document.fields().keys() {
            if !now.document.fields().contains_key(key) {
                stripped.push(format!("{}: {key}", change.path));
            }
        }
    }
    stripped
}
