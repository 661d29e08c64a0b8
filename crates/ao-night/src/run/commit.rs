//! COMMIT: what was judged goes through the door, and is looked at once more after it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ao_contract::{IterationStatus, RunStage};
use ao_corpus::Tree;
use ao_tree::{Error, Outcome, Request, Stop};

use super::background::{Halt, in_background};
use super::rounds::{Begun, Next, TROUBLES_MAX, halted};
use super::{LoopEnd, Run, Stopped};
use crate::iteration::{Ending, Proposal, fault, id_of};

/// Displaced files are left this long to whoever still has them open.
const GRACE: Duration = Duration::from_millis(100);

impl Run<'_> {
    pub(super) fn committed(
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
        proposal.hold_back(&outcome.held_back());
        if let Ok(line) = self.work.door.line(Some(&outcome.id)) {
            self.stored_bytes = self.stored_bytes.saturating_add(line.stored_bytes);
        }
        // Not a failure: a place to wait at, where others strip a field.
        let _ = fault("verify");
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
            at: self.work.outside.reading("commit").rfc3339(),
            why: format!("overnight run {}, iteration {}", self.summary.run_id, begun.index),
            edits: proposal.edits().to_vec(),
            undo_of: Vec::new(),
            by: None,
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
        let apply = move || match fault("commit") {
            Ok(()) => work.door.apply(request),
            Err(doing) => Err(Error::Io { doing, source: std::io::ErrorKind::Other.into() }),
        };
        match in_background(apply, &limits, Some(&stop), &mut tick) {
            Ok(done) => done,
            Err(halt) => Err(Error::Io {
                doing: format!("commit: {halt:?}"),
                source: std::io::ErrorKind::Other.into(),
            }),
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
            }
        }
    }
    stripped
}
