//! A run over a corpus that is as the last one left it: nothing is read or measured again.
//!
//! What the run before found out is told once more, and said to be from then. What depends on more
//! than the corpus is made as on any other night: packets, their checks, the queue, beads, the brief.

use ao_contract::{Finite, Fitness, IterationStatus, MetricsHealth, Settled};
use serde_json::{Value, json};

use super::rounds::Begun;
use super::{LoopEnd, Run, Stopped};
use crate::iteration::Ending;
use crate::settings::{Extent, Mode};
use crate::settled::{Found, Key, Print, Trust, holding, keep, look};

/// Where the summary says that measures were carried over, and from which run.
pub(super) const UNCHANGED: &str = "unchanged_since";

impl Run<'_> {
    /// Looks whether anything changed since the last night that had nothing to do. What is seen of
    /// the corpus now is remembered, for the end of the run.
    pub(super) fn unchanged(&mut self) -> Option<Settled> {
        let key = Key::of(self.program.as_deref(), &self.work.root, &self.work.settings)?;
        let first = key.clone();
        let state = self.state.clone();
        let limits = self.loop_limits();
        self.work.progress.doing("looking whether anything changed");
        let looked = self.think(&limits, move |work| match work.settings.mode {
            Mode::Real => {
                let looked = look(&work.agents, &state, work.clock)?;
                let kept = holding(&state, &key, &looked.print, work.clock);
                Ok::<_, std::io::Error>((Some(looked), kept))
            }
            // It leaves nothing behind, so there is nothing to remember.
            Mode::DryRun => {
                let print = Print::take(&work.agents)?;
                Ok((None, holding(&state, &key, &print, work.clock)))
            }
        });
        // Whoever cannot look at the files reads them; a halt is met by the loop itself.
        let (looked, kept) = looked.ok()?.ok()?;
        self.looked =
            looked.filter(|looked| looked.trust == Trust::Sure).map(|looked| (looked, first));
        // What was cut off may have left more than a look at the files can tell.
        let is_asked = self.work.settings.extent == Extent::WhatChanged && !self.is_recovered;
        // What runners were asked can be run again, and for that the corpus has to be read.
        let is_asked = is_asked && self.council.is_none();
        kept.filter(|_| is_asked)
    }

    /// The one iteration of such a run.
    pub(super) fn carry_over(&mut self, begun: &Begun, kept: Settled) -> Result<LoopEnd, Stopped> {
        let since = json!({ "run_id": kept.run_id, "looked_at": kept.looked_at });
        let note = format!(
            "the corpus is as run {} found it; what that run found out was carried over",
            kept.run_id
        );
        self.log(&note);
        let mut ending = Ending::new(IterationStatus::Done);
        ending.notes.push(note);
        let mut iteration = self.record(begun, None, None, ending);
        iteration.ingest.clone_from(&kept.ingest);
        iteration.reduce.clone_from(&kept.reduce);
        iteration.extra.insert(UNCHANGED.into(), since.clone());
        self.keep_record(begun, iteration)?;
        self.summary.extra.insert(UNCHANGED.into(), since);
        self.keeping.refuse(&format!(
            "nothing had changed since run {}, and nothing was read: that run is the one to replay",
            kept.run_id
        ));
        self.closing = Some(kept.close_loop.clone());
        self.defrag = Some(kept.defrag.clone());
        self.kept = Some(kept);
        Ok(LoopEnd::Nothing)
    }

    /// Of a step whose result was carried over.
    pub(super) fn carried(&self, note: String) -> String {
        match &self.kept {
            Some(kept) => format!("{note}; carried over from run {}", kept.run_id),
            None => note,
        }
    }

    /// The metrics of the corpus as it is now, as far as they are known.
    pub(super) fn fitness_now(&self) -> Option<Fitness> {
        match (&self.last, &self.kept) {
            (Some(last), _) => Some(last.fitness.map()),
            (None, Some(kept)) => Some(fitness_of(&kept.metrics_health)),
            (None, None) => None,
        }
    }

    /// Keeps what this run found out, if it had nothing to do and nobody changed anything meanwhile.
    pub(super) fn settle(&mut self, end: &LoopEnd) {
        let Some((looked, first)) = self.looked.take() else { return };
        let Some(found) = self.found(end) else { return };
        let Some(key) = Key::of(self.program.as_deref(), &self.work.root, &self.work.settings)
        else {
            return;
        };
        if key != first {
            return self
                .log("transcripts changed while the run looked at them; nothing is kept of it");
        }
        self.work.progress.doing("looking whether anything changed meanwhile");
        let limits = self.limits.clone();
        let again = self.think(&limits, |work| Print::take(&work.agents));
        if !again.is_ok_and(|again| again.is_ok_and(|again| again.hash == looked.print.hash)) {
            return self
                .log("the corpus changed while the run looked at it; nothing is kept of it");
        }
        let settled = key.into_settled(&self.summary.run_id, looked, found);
        if let Err(error) = keep(&self.state, settled) {
            self.log(&format!("what was found out could not be kept: {error}"));
        }
    }

    /// What the run found out, if that is what any other run over the same corpus would: it made no
    /// commit, so its questions are those of the corpus as it is, and nothing was held back.
    fn found(&self, end: &LoopEnd) -> Option<Found> {
        let [iteration] = self.iterations.as_slice() else { return None };
        let is_whole = *end == LoopEnd::Nothing && self.kept.is_none() && self.held_back == 0;
        let measured = self.last.as_ref().filter(|_| is_whole && !self.is_dry())?;
        let read = |part: &Option<ao_contract::Extra>| Some(Value::Object(part.clone()?));
        Some(Found {
            day: self.work.today(),
            changes_on: self.work.began.get()?.next_change,
            ingest: iteration.ingest.clone(),
            reduce: iteration.reduce.clone(),
            close_loop: ao_contract::read(&read(&self.summary.close_loop)?).ok()?,
            defrag: self.defrag.clone()?,
            metrics_health: ao_contract::read(&read(&self.summary.metrics_health)?).ok()?,
            bench: measured.bench.clone(),
            questions: self.settled_questions(),
            contradictions: Some(self.summary.contradictions.clone()?),
            dreamscape: ao_contract::read(&read(&self.summary.dreamscape)?).ok()?,
        })
    }
}

fn fitness_of(health: &MetricsHealth) -> Fitness {
    let metrics = health.fitness.metrics.iter().map(|(name, value)| (name.clone(), value.get()));
    let composite = ("composite".to_owned(), health.fitness.composite.get());
    let known = metrics.chain([composite]);
    known.filter_map(|(name, value)| Some((name, Finite::new(value)?))).collect()
}
