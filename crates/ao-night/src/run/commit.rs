//! COMMIT: what was judged goes through the door, and is looked at once more after it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::{HistoryLine, IterationStatus, RunStage};
use ao_corpus::fitness::regressions;
use ao_corpus::{Corpus, SEARCHED, Tree};
use ao_tree::{Error, Outcome, Request, Stop};

use super::admit::{CommitJudge, JudgeEnd};
use super::background::{Halt, in_background};
use super::records::commit_of;
use super::rounds::{Begun, Next, TROUBLES_MAX, halted};
use super::{LoopEnd, Run, Stopped};
use crate::iteration::{Ending, Proposal, fault, id_of, measure_live};
use crate::judge::Doubt;
use crate::settings::Gate;

/// In the summary of a failed run: a commit of it was decided, and is in the tree once it is finished.
const COMMITTED: &str = "committed";
/// Displaced files are left this long to whoever still has them open.
const GRACE: Duration = Duration::from_millis(100);

impl Run<'_> {
    pub(super) fn committed(
        &mut self,
        begun: &Begun,
        mut proposal: Proposal,
        troubles: &mut u32,
    ) -> Result<Next, Stopped> {
        let count = proposal.edits().len();
        self.stage(RunStage::Commit, &format!("bringing {count} edits through the door"));
        let mut ending = Ending::new(IterationStatus::Done);
        let (committed, judge) = self.commit(begun, &proposal);
        if let Some(mut judge) = judge {
            let is_decided = match &committed {
                Ok(outcome) => outcome.method.is_some(),
                Err(error) => matches!(error, Error::Unfinished { .. }),
            };
            if !is_decided && !ao_mutant::active("LOOP-12/rescues-nothing") {
                // What it was spent on did not come about.
                judge.give_back();
            }
            self.budget = judge.budget;
            proposal.measured = judge.measured;
            match judge.end {
                Some(JudgeEnd::Halt(doubt)) => return self.halt(begun, &proposal, &doubt),
                Some(JudgeEnd::Unmeasured(failed)) => return self.failed(begun, failed, troubles),
                Some(JudgeEnd::Unrecorded(error)) => {
                    let why = format!("a rescue could not be recorded: {error}");
                    return Err(Stopped::Failed(why));
                }
                None => {}
            }
            if let Some(reason) = judge.rescue {
                self.rescued(begun, reason, &mut ending);
            }
        }
        let outcome = match committed {
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
                self.put_failed(begun, &proposal, &error)?;
                return Err(Stopped::Failed(format!("COMMIT failed: {error}")));
            }
        };
        let is_made = outcome.method.is_some();
        let mut late_regression = None;
        if is_made && outcome.fitness.is_none() {
            late_regression = self.measure_late(&mut proposal, &mut ending)?;
        } else if outcome.fitness.is_none() {
            // What was measured is not what is in the tree.
            proposal.measured = None;
        }
        if is_made {
            *troubles = 0;
        }
        proposal.hold_back(&outcome.held_back());
        if let Ok(line) = self.work.door.line(Some(&outcome.id))
            && !ao_mutant::active("LOOP-18/each-counts-alone")
        {
            self.stored_bytes = self.stored_bytes.saturating_add(line.stored_bytes);
        }
        // Not a failure: a place to wait at, where others strip a field.
        let _ = fault("verify");
        let stripped = stripped(&self.work.agents, &proposal, &outcome);
        if !stripped.is_empty() {
            let note =
                format!("post-commit metadata integrity: {} stripped field(s)", stripped.len());
            if !ao_mutant::active("LOOP-05/stays-done") {
                ending.status = IterationStatus::Degraded;
            }
            ending.committed = Some(true);
            ending.degraded.push(note.clone());
            ending.notes.extend(stripped.into_iter().take(20));
            if !ao_mutant::active("LOOP-05/not-in-the-report") {
                self.degraded.push(note);
            }
        }
        if !is_made {
            // Not done: what was measured is not in the tree, and must not count as a gain.
            let why = "others had changed the files meanwhile, and nothing was left to commit";
            ending.status = IterationStatus::RolledBackPreCommit;
            ending.error = Some(why.into());
        }
        self.see(&proposal, Some(&outcome));
        self.put(begun, Some(&proposal), Some(&outcome), ending)?;
        if let Some(reason) = late_regression {
            self.degraded.push(format!("iteration-{}: {reason}", begun.index));
            if self.gate() == Gate::Strict {
                self.summary.regression_reason = Some(reason);
                return Ok(Next::End(LoopEnd::Regression));
            }
        }
        // What others keep from being made would be tried for ever.
        Ok(if is_made { Next::Again } else { self.trouble(troubles) })
    }

    fn put_failed(
        &mut self,
        begun: &Begun,
        proposal: &Proposal,
        error: &Error,
    ) -> Result<(), Stopped> {
        let status = if ao_mutant::active("LOOP-29/failed-commit-is-rolled-back") {
            IterationStatus::RolledBackPreCommit
        } else {
            IterationStatus::Failed
        };
        let mut failed = Ending::new(status).because(error.to_string());
        let decided = self.unfinished(error);
        failed.committed = decided.is_some().then_some(true);
        let mut iteration = self.record(begun, Some(proposal), None, failed);
        if let Some(line) = &decided {
            iteration.extra.insert("commit".into(), commit_of(line));
        }
        self.keep_record(begun, iteration)
    }

    /// The commit that was decided, if that is what an error says: the next start finishes it, and the report counts
    /// it already.
    pub(super) fn unfinished(&mut self, error: &Error) -> Option<HistoryLine> {
        let Error::Unfinished { id, .. } = error else { return None };
        if ao_mutant::active("LOOP-29/decided-is-not-told") {
            return None;
        }
        self.unfinished = Some(id.clone());
        self.summary.extra.insert(COMMITTED.into(), true.into());
        let lines = self.work.door.decided_history().unwrap_or_default();
        lines.into_iter().find(|line| line.id == *id)
    }

    /// Others changed files after the commit was decided, so that what is in the tree was never measured: it is
    /// measured now. Gives the reason if it regressed.
    fn measure_late(
        &mut self,
        proposal: &mut Proposal,
        ending: &mut Ending,
    ) -> Result<Option<String>, Stopped> {
        let before = proposal.measured.take().map(|(before, _)| before);
        let limits = self.limits.clone();
        let measured = self.think(&limits, |work| {
            let all = Corpus::read(&work.agents, &SEARCHED).map_err(|error| error.to_string())?;
            Ok::<_, String>(measure_live(work, &Arc::new(all)))
        });
        let changed = "others changed files while the commit was made";
        let after = match measured {
            Ok(Ok(after)) => after,
            Err(Halt::Signal(signal)) => return Err(Stopped::Signal(signal)),
            Ok(Err(why)) | Err(Halt::Panic(why)) => {
                ending.notes.push(format!("{changed}, and it could not be measured: {why}"));
                return Ok(None);
            }
            Err(Halt::Time) => {
                ending.notes.push(format!("{changed}, and there was no time to measure it"));
                return Ok(None);
            }
        };
        ending
            .notes
            .push(format!("{changed}: it was measured after the commit, with their changes"));
        let Some(before) = before else { return Ok(None) };
        let fallen = regressions(&before.fitness, &after.fitness);
        let reason = (!fallen.is_empty()).then(|| {
            let epsilon = self.work.settings.plateau_epsilon;
            format!("{} ({changed})", Doubt::Regression(fallen).reason(epsilon))
        });
        proposal.measured = Some((before, after));
        Ok(reason)
    }

    fn trouble(&mut self, troubles: &mut u32) -> Next {
        *troubles += 1;
        if *troubles < TROUBLES_MAX {
            return Next::Again;
        }
        self.degraded.push("the loop: others kept changing the files".into());
        Next::End(LoopEnd::Failing)
    }

    /// The judge comes back with what it measured and spent, unless its thread panicked.
    fn commit(
        &mut self,
        begun: &Begun,
        proposal: &Proposal,
    ) -> (Result<Outcome, Error>, Option<CommitJudge>) {
        let settings = &self.work.settings;
        let stop = Arc::new(AtomicBool::new(false));
        // A run that is gone on with may have left conflicts under the id.
        let id = match self.work.door.unique_id(&id_of(&self.summary.run_id, begun.index)) {
            Ok(id) => id,
            Err(error) => return (Err(error), None),
        };
        let request = Request {
            id,
            at: self.work.outside.reading("commit").rfc3339(),
            why: format!("overnight run {}, iteration {}", self.summary.run_id, begun.index),
            edits: proposal.edits().to_vec(),
            undo_of: Vec::new(),
            by: None,
            given: None,
            drop_folders: Vec::new(),
            grace: GRACE,
            max_store_bytes: settings.checkpoint_max_bytes.saturating_sub(self.stored_bytes),
            stop: Stop::when(Arc::clone(&stop)),
        };
        let work = Arc::clone(&self.work);
        let limits = self.loop_limits();
        let deltas = self.deltas();
        let (clock, deadline) = (self.work.clock, self.limits.deadline);
        let (teller, watch) = (&mut self.teller, &mut *self.watch);
        let mut tick = || teller.tell(clock, deadline, watch);
        let places = (Arc::clone(&self.work), self.state.clone(), limits.clone());
        let mut judge =
            CommitJudge::new(places, request.id.clone(), proposal, deltas, self.budget.clone());
        let apply = move || {
            let done = match fault("commit") {
                Ok(()) => work.door.apply_judged(request, &mut |edits| judge.admit(edits)),
                Err(doing) => Err(Error::Io { doing, source: std::io::ErrorKind::Other.into() }),
            };
            (done, judge)
        };
        match in_background(apply, &limits, Some(&stop), &mut tick) {
            Ok((done, judge)) => (done, Some(judge)),
            Err(halt) => {
                let doing = format!("commit: {halt:?}");
                (Err(Error::Io { doing, source: std::io::ErrorKind::Other.into() }), None)
            }
        }
    }
}

/// Fields that files had before the commit and do not have now.
fn stripped(agents: &std::path::Path, proposal: &Proposal, outcome: &Outcome) -> Vec<String> {
    let Ok(live) = Tree::list(agents) else { return Vec::new() };
    let mut stripped = Vec::new();
    for change in &outcome.changes {
        let wanted = proposal.plan.tree.change(&change.path).flatten();
        let (Some(wanted), Some(now)) = (wanted, live.original(&change.path)) else { continue };
        for key in wanted.document.keys() {
            if now.document.get(key).is_none() {
                stripped.push(format!("{}: {key}", change.path));
                if ao_mutant::active("LOOP-05/one-a-file") {
                    break;
                }
            }
        }
    }
    stripped
}
