//! The end of a run: the report.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use ao_contract::{
    Exit, Fitness, Iteration, IterationStatus, RunStatus, Step, StepName, StepStatus, Summary,
    format_duration,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::left::not_reached;
use super::remember::NOT_REPLAYABLE;
use super::{Ended, LoopEnd, Run, Stopped};
use crate::iteration::{in_milliseconds, rounded};
use crate::output::{SUMMARY_JSON, SUMMARY_MARKDOWN, fit};
use crate::outside::Reading;
use crate::report::{self, Run as Life};
use crate::verdict::Verdicts;

impl Run<'_> {
    pub(super) fn finish(mut self, ended: &Result<LoopEnd, Stopped>) -> Ended {
        self.work.progress.stage(ao_contract::RunStage::Reporting, "writing the report");
        let mut exit = Exit::Done;
        let failure = match ended {
            Err(Stopped::Signal(signal)) => Some(format!("ended by {}", signal_name(*signal))),
            Err(Stopped::Failed(why)) => Some(why.clone()),
            Ok(LoopEnd::Time) if ao_mutant::active("LOOP-30/unfinished-is-done") => None,
            Ok(LoopEnd::Time) if !self.has_finished_one() => {
                Some("the time ended before an iteration was finished".into())
            }
            Ok(_) => None,
        };
        let why_not = match (&failure, ended) {
            (Some(why), _) => why.clone(),
            _ => "the time ended".into(),
        };
        for step in &mut self.summary.steps {
            not_reached(step, &why_not);
        }
        let is_dry = self.is_dry();
        self.summary.status = match failure {
            Some(_) if !ao_mutant::active("REP-03/failed-is-done") => RunStatus::Failed,
            None if is_dry && !ao_mutant::active("REP-03/dry-run-is-done") => RunStatus::DryRun,
            _ => RunStatus::Done,
        };
        let is_failed = self.summary.status == RunStatus::Failed;
        if is_failed && !ao_mutant::active("RUN-43/failure-ends-with-0") {
            exit = Exit::Failed;
        } else if *ended == Ok(LoopEnd::Regression)
            && !ao_mutant::active("RUN-43/regression-ends-with-0")
        {
            exit = Exit::Refused;
        }
        self.summary.failure_reason = failure;
        let is_said = is_failed || !ao_mutant::active("LOOP-10/only-of-a-failed-run");
        if *ended == Ok(LoopEnd::Time) && is_said {
            self.summary.budget_exhausted = Some(true);
        }
        put_iterations(&mut self.summary, self.iterations.clone());
        self.summary.fitness_delta = self.top_delta();
        self.put_rest();
        if exit == Exit::Done && self.summary.degraded.is_some() {
            exit = Exit::Degraded;
        }
        let written = self.write_report();
        let is_told = written.is_ok();
        if let Err(error) = written {
            self.log(&format!("the report could not be written: {error}"));
            self.summary.status = RunStatus::Failed;
            self.summary.failure_reason = Some(format!("the report could not be written: {error}"));
            exit = Exit::Failed;
        }
        self.remember();
        self.log(&format!("run {} ended", self.summary.run_id));
        self.list_files();
        let unreceipted = self.write_receipt(exit, is_told);
        self.teller.end();
        let differences = self.work.outside.differences();
        Ended { summary: self.summary, exit, diff: self.diff, differences, unreceipted }
    }

    /// By the clock that never jumps, unless another process began the run.
    pub(super) fn took(&self, now: Reading) -> Duration {
        let began = self.summary.started_at.parse::<Timestamp>();
        match (self.is_resumed, began) {
            (true, Ok(began)) => Duration::try_from(now.at - began).unwrap_or_default(),
            _ => now.uptime.saturating_sub(self.began),
        }
    }

    fn has_finished_one(&self) -> bool {
        let all = self.iterations.as_slice();
        let from = if ao_mutant::active("LOOP-10/only-the-last-counts") {
            all.len().saturating_sub(1)
        } else {
            0
        };
        all[from..].iter().any(|iteration| iteration.status.is_baseline())
    }

    /// Every metric and the composite, final minus initial.
    pub(super) fn top_delta(&self) -> Option<Fitness> {
        let now = self.fitness_now();
        if self.iterations.iter().any(|one| !one.fitness_before.is_empty() || is_in_corpus(one)) {
            return top_delta(&self.iterations, now.as_ref());
        }
        let known = now?;
        Some(delta(&known, &known))
    }

    fn put_rest(&mut self) {
        let now = self.work.outside.reading("finished");
        self.put_so_far(now);
        let spent = self.work.progress.spent().into_iter().map(|(stage, took)| {
            (stage.name().to_owned(), Value::from(format_duration(in_milliseconds(took))))
        });
        self.summary.extra.insert("stages".into(), Value::Object(spent.collect()));
        let told = self.work.outside.clock_set(|| self.teller.clock_told().to_vec());
        if !told.is_empty() {
            self.summary.extra.insert("clock".into(), json!(told));
        }
        if let Some(why) = self.unkept() {
            self.summary.extra.insert(NOT_REPLAYABLE.into(), why.into());
        }
        let last = self.iterations.iter().rev().find_map(commit_id);
        let mut recommended: Vec<String> = Vec::new();
        if let Some(packet) = self.summary.morning_packets.as_ref().and_then(|all| all.first()) {
            // What an item of the queue names as its command is not recommended: anybody may have written it.
            recommended.push(self.work.settings.morning_command.fill(packet));
            self.summary.next_action = packet.title.clone();
        }
        if let Some(id) = last {
            recommended.push(format!("ao tree diff {id}"));
            recommended.push(format!("ao tree undo {id}"));
        }
        if self.summary.status == RunStatus::Failed {
            self.summary.next_action = "See why the run failed, then start it again".into();
            recommended.insert(0, "ao overnight start".into());
        }
        recommended.push("ao overnight report".into());
        if self.summary.next_action.is_empty() {
            self.summary.next_action = "Nothing needs you this morning".into();
        }
        self.summary.recommended = recommended;
    }

    fn write_report(&mut self) -> io::Result<()> {
        let path = |name: &str| self.output.told_path(name);
        let named = [("summary_json", SUMMARY_JSON), ("summary_markdown", SUMMARY_MARKDOWN)];
        for (key, name) in named {
            self.summary.artifacts.insert(key.into(), path(name));
        }
        let mut told = Cow::Borrowed(&self.summary);
        if ao_mutant::active("REP-01/text-says-less") {
            told.to_mut().recommended.clear();
        }
        // First the text, so that what the summary names is there when it is.
        let text = report::markdown(&told, &Verdicts::new(), Life::Over);
        self.output.write(SUMMARY_MARKDOWN, text.as_bytes())?;
        self.write_summary()
    }

    pub(super) fn write_summary(&mut self) -> io::Result<()> {
        let told = fit(&self.summary)?;
        self.output.write_fit(SUMMARY_JSON, &told)?;
        // Whoever is told of the run is told what the file says.
        if let Ok(summary) = ao_contract::read(&told)
            && !ao_mutant::active("REP-18/answer-keeps-keys")
        {
            self.summary = summary;
        }
        Ok(())
    }
}

/// Puts iterations into a summary: each as it is, and as a step.
pub(super) fn put_iterations(summary: &mut Summary, iterations: Vec<Iteration>) {
    // Those that a summary of another tool already has.
    summary.steps.retain(|step| !matches!(step.name, StepName::Iteration(_)));
    let is_first = |step: &Step| step.name == StepName::CloseLoop;
    if let Some(first) = summary.steps.iter().position(is_first) {
        let steps: Vec<_> = iterations.iter().map(step_of).collect();
        summary.steps.splice(first + 1..=first, steps);
    }
    summary.iterations = (!iterations.is_empty()).then_some(iterations);
}

/// What iterations were let through with.
pub(super) fn put_rescues(summary: &mut Summary, rescues: &[String]) {
    if !rescues.is_empty() {
        summary.extra.insert("rescues".into(), json!(rescues));
    }
}

/// From before the first iteration to after the last that is in the corpus. `now` is the corpus as it is, where
/// that is known. `None` if one of both ends was not measured: a part of a night is not the night.
pub(super) fn top_delta(iterations: &[Iteration], now: Option<&Fitness>) -> Option<Fitness> {
    let is_first = |one: &&Iteration| !one.fitness_before.is_empty() || is_in_corpus(one);
    let first = if ao_mutant::active("REP-08/delta-of-the-last-iteration") {
        iterations.iter().rfind(is_first)
    } else {
        iterations.iter().find(is_first)
    }?;
    if first.fitness_before.is_empty() {
        return None;
    }
    let is_kept = |one: &Iteration| {
        is_in_corpus(one)
            || !one.fitness_after.is_empty()
                && (one.status.is_baseline()
                    || ao_mutant::active("REP-08/counts-what-was-rolled-back"))
    };
    let after = match iterations.iter().rev().find(|one| is_kept(one)) {
        None => &first.fitness_before,
        Some(last) if last.fitness_after.is_empty() => now?,
        Some(last) => &last.fitness_after,
    };
    Some(delta(&first.fitness_before, after))
}

/// Whether what an iteration committed is in the corpus.
fn is_in_corpus(iteration: &Iteration) -> bool {
    commit_id(iteration).is_some()
}

/// What an iteration committed.
pub(super) fn commit_id(iteration: &Iteration) -> Option<String> {
    iteration.extra.get("commit")?.get("id")?.as_str().map(str::to_owned)
}

fn step_of(iteration: &Iteration) -> Step {
    let status = match iteration.status {
        IterationStatus::Done | IterationStatus::HaltedOnRegressionPostCommit => StepStatus::Done,
        IterationStatus::Failed => StepStatus::Failed,
        _ => StepStatus::SoftFail,
    };
    let edits = iteration.reduce.get("edits").and_then(serde_json::Value::as_u64).unwrap_or(0);
    let note = match (&iteration.error, commit_id(iteration)) {
        (Some(why), _) => why.clone(),
        (None, Some(id)) => format!("{edits} edits, commit {id}"),
        (None, None) if edits > 0 => format!("{edits} edits, nothing was committed"),
        (None, None) => "nothing to do".into(),
    };
    Step {
        name: StepName::Iteration(iteration.index.get()),
        status,
        command: None,
        artifact: None,
        note: Some(note),
        extra: ao_contract::Extra::new(),
    }
}

fn delta(first: &Fitness, last: &Fitness) -> Fitness {
    let moved = |(name, value): (String, f64)| {
        let before = first.get(&name).unwrap_or(value);
        Some((name, ao_contract::Finite::new(rounded(value - before))?))
    };
    let is_told = |name: &str| name == "composite" || !ao_mutant::active("REP-08/composite-alone");
    let all = last.iter().filter(|(name, _)| is_told(name));
    all.map(|(name, value)| (name.to_owned(), value)).filter_map(moved).collect()
}

fn signal_name(signal: usize) -> String {
    match signal {
        1 => "SIGHUP".into(),
        2 => "SIGINT".into(),
        15 => "SIGTERM".into(),
        other => format!("signal {other}"),
    }
}
