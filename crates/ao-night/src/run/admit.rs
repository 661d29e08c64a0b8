//! What the door asks before it decides: may exactly these edits be committed?
//!
//! MEASURE saw the whole proposal over the corpus as it was then. By the time of the commit people may have
//! changed a file that an edit names, or any other. Then both sides are measured again, with the edits that
//! are left over the corpus as it is, and it is that measurement which is judged and recorded.

use std::path::PathBuf;
use std::sync::Arc;

use ao_contract::{Fitness, LastRescue, RunStage, WarnOnlyBudget};
use ao_tree::{Edit, Error, FinalEdits};

use super::background::{Limits, in_background};
use crate::iteration::{Failed, Measured, Proposal, Stage, Work, measure_again};
use crate::judge::{Doubt, Verdict, judge};
use crate::settled::Print;

/// Why the judge ended a commit.
#[derive(Debug)]
pub(super) enum JudgeEnd {
    Halt(Doubt),
    /// It could not be measured again.
    Unmeasured(Failed),
    /// A rescue could not be recorded.
    Unrecorded(std::io::Error),
}

/// The judge of one commit.
#[derive(Debug)]
pub(super) struct CommitJudge {
    pub(super) work: Arc<Work>,
    /// Of the commit.
    id: String,
    pub(super) state: PathBuf,
    pub(super) limits: Limits,
    /// The corpus as the file system described it before it was read; `None` if that is no proof.
    corpus: Option<Print>,
    /// The lessons, which count as pending before the commit.
    lessons: Vec<Edit>,
    /// The composite deltas of the iterations before this one.
    deltas: Vec<f64>,
    /// What is known of the corpus before and after; after the commit, of what was committed.
    pub(super) measured: Option<(Measured, Measured)>,
    pub(super) budget: WarnOnlyBudget,
    /// Why a rescue was spent.
    pub(super) rescue: Option<String>,
    pub(super) end: Option<JudgeEnd>,
}

impl CommitJudge {
    pub(super) fn new(
        (work, state, limits): (Arc<Work>, PathBuf, Limits),
        id: String,
        proposal: &Proposal,
        deltas: Vec<f64>,
        budget: WarnOnlyBudget,
    ) -> Self {
        Self {
            work,
            id,
            state,
            limits,
            corpus: proposal.corpus.clone(),
            lessons: proposal.ingested.pending().to_vec(),
            deltas,
            measured: proposal.measured.clone(),
            budget,
            rescue: None,
            end: None,
        }
    }

    /// Gives the fitness of the corpus with these edits, or ends the commit.
    pub(super) fn admit(&mut self, edits: FinalEdits<'_>) -> ao_tree::Result<Option<Fitness>> {
        let is_measured = edits.are_as_asked() && self.is_corpus_unchanged();
        if !is_measured && !ao_mutant::active("LOOP-12/judge-the-proposal-only") {
            self.measured = Some(self.measure_again(edits)?);
        }
        let Some((before, after)) = &self.measured else { return Ok(None) };
        let fitness = after.fitness.map();
        let settings = &self.work.settings;
        let plateau = (settings.plateau_epsilon, settings.plateau_window);
        let both = (&before.fitness, &after.fitness);
        let delta = after.fitness.composite - before.fitness.composite;
        let deltas: Vec<f64> = self.deltas.iter().copied().chain([delta]).collect();
        // One that this commit has spent already is there for it.
        let rescues = self.budget.remaining + u32::from(self.rescue.is_some());
        match judge(both, &deltas, plateau, settings.gate, rescues) {
            Verdict::Commit => self.set_rescue(None)?,
            Verdict::Rescue(Doubt::Plateau(_)) if ao_mutant::active("LOOP-11/warns-for-free") => {}
            Verdict::Rescue(Doubt::Regression(_))
                if ao_mutant::active("LOOP-12/warns-for-free") => {}
            Verdict::Rescue(doubt) => self.set_rescue(Some(doubt.reason(plateau.0)))?,
            Verdict::Halt(doubt) => {
                let why = doubt.reason(plateau.0);
                self.end = Some(JudgeEnd::Halt(doubt));
                return Err(Error::NotAdmitted { why });
            }
        }
        Ok(Some(fitness))
    }

    fn is_corpus_unchanged(&self) -> bool {
        let now = Print::take(&self.work.agents);
        self.corpus.as_ref().is_some_and(|then| now.is_ok_and(|now| now.hash == then.hash))
    }

    /// On a thread of its own, so that the time limit and signals count.
    fn measure_again(&mut self, edits: FinalEdits<'_>) -> ao_tree::Result<(Measured, Measured)> {
        let (work, edits, lessons) = (Arc::clone(&self.work), edits.edits(), self.lessons.clone());
        work.progress.stage(RunStage::Measure, "measuring again: others changed files meanwhile");
        let measure = move || measure_again(&work, &edits, &lessons);
        let failed = match in_background(measure, &self.limits, None, &mut || {}) {
            Ok(Ok(measured)) => {
                self.work.progress.stage(RunStage::Commit, "committing what was measured");
                return Ok(measured);
            }
            Ok(Err(failed)) => failed,
            Err(super::Halt::Panic(why)) => Failed::at(Stage::Measure)(format!("panicked: {why}")),
            Err(_) => return Err(Error::Stopped),
        };
        let why = failed.why.clone();
        self.end = Some(JudgeEnd::Unmeasured(failed));
        Err(Error::NotAdmitted { why })
    }

    /// The commit did not come about, and so no rescue was spent on it.
    pub(super) fn give_back(&mut self) {
        if let Err(Error::NotAdmitted { why }) = self.set_rescue(None) {
            self.work.progress.found(format!("a rescue could not be given back: {why}"));
        }
    }

    /// Spends a rescue on this commit before it is decided, or gives it back.
    fn set_rescue(&mut self, reason: Option<String>) -> ao_tree::Result<()> {
        let at = || self.work.outside.reading("rescue").rfc3339();
        let recorded = match (&self.rescue, &reason) {
            (None, Some(reason)) => {
                let rescue = LastRescue { iteration_id: self.id.clone(), reason: reason.clone() };
                crate::budget::spend(&self.state, &mut self.budget, at(), rescue)
            }
            (Some(_), None) => crate::budget::give_back(&self.state, &mut self.budget),
            _ => Ok(()),
        };
        self.rescue = reason;
        recorded.map_err(|error| {
            let why = error.to_string();
            self.end = Some(JudgeEnd::Unrecorded(error));
            Error::NotAdmitted { why }
        })
    }
}
