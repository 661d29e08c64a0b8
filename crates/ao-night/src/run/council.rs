//! The steps of the council.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ao_contract::{CouncilPacket, Extra, RunStage, RunnerReport, StepName, StepStatus, Yield};
use ao_runner::Failure;

use super::background::{Halt, in_background};
use super::steps::object;
use super::{Run, Stopped};
use crate::council::{Council, Lane, Seat, question, synthesis, word};

const UNCHANGED: &str = "unchanged";
const REFINED: &str = "refined";

/// What came of it, for the count of what the night was worth.
#[derive(Debug, Default)]
pub(super) struct Asked {
    completed: u64,
    failed: u64,
    timed_out: u64,
    kind: String,
    delta: String,
}

impl Asked {
    /// Whether the first move was refined; nothing if nobody was asked.
    pub(super) fn is_refined(&self) -> Option<bool> {
        (self.completed + self.failed > 0).then(|| self.delta == REFINED)
    }

    pub(super) fn count(self, yields: &mut Yield) {
        yields.council_completed_count = self.completed;
        yields.council_failed_count = self.failed;
        yields.council_timeout_count = self.timed_out;
        yields.council_recommended_kind = self.kind;
        yields.council_action_delta = self.delta;
    }
}

impl Run<'_> {
    /// Asks the council, if there is one. `first_move` is what the night itself would do first.
    pub(super) fn council_steps(&mut self, first_move: &str) -> Result<Asked, Stopped> {
        let Some(council) = self.council.clone() else { return Ok(Asked::default()) };
        let packet = self.council_packet(&council, first_move);
        let file = ("council_packet", "council/packet.json");
        if let Err(why) = self.artifact(&StepName::CouncilPacket, file, &packet, None) {
            self.skip_council(&council, &format!("there is no packet: {why}"));
            return Ok(Asked::default());
        }
        let mut asked = Asked::default();
        let (mut reports, mut failed) = (Vec::new(), Vec::new());
        for seat in &council.seats {
            match self.seat_step(seat, &council, &packet)? {
                Some(Ok(report)) => reports.push(report),
                Some(Err(failure)) => {
                    asked.timed_out += u64::from(matches!(failure, Failure::TimedOut(_)));
                    failed.push(seat.runner.name().to_owned());
                }
                None => failed.push(seat.runner.name().to_owned()),
            }
        }
        asked.completed = reports.len() as u64;
        asked.failed = failed.len() as u64;
        let name = StepName::CouncilSynthesis;
        if reports.is_empty() {
            self.end_step(&name, StepStatus::SoftFail, Some("no runner gave a report".into()));
            return Ok(asked);
        }
        let requested: Vec<String> =
            council.seats.iter().map(|seat| seat.runner.name().to_owned()).collect();
        let put = synthesis(&requested, &failed, reports, council.policy, council.lane);
        asked.kind = put.consensus_kind.map(word).unwrap_or_default();
        let action = put.recommended_first_action.trim();
        let is_refined = !action.is_empty() && action != first_move.trim();
        asked.delta = String::from(if is_refined { REFINED } else { UNCHANGED });
        let note = format!(
            "{} of {} runners, {}",
            asked.completed,
            requested.len(),
            if asked.kind.is_empty() { "no consensus" } else { &asked.kind }
        );
        let file = ("council_synthesis", "council/synthesis.json");
        // A soft step: what went wrong is in the step.
        let _ = self.artifact(&name, file, &put, Some(note));
        self.summary.council = object(&put);
        Ok(asked)
    }

    fn council_packet(&self, council: &Council, first_move: &str) -> CouncilPacket {
        let summary = &self.summary;
        CouncilPacket {
            run_id: summary.run_id.clone(),
            goal: Some(summary.goal.clone()).filter(|goal| !goal.is_empty()),
            repo_root: summary.repo_root.clone(),
            consensus_policy: council.policy,
            creative_lane: council.lane == Lane::Creative,
            close_loop: summary.close_loop.clone().unwrap_or_default(),
            metrics_health: summary.metrics_health.clone().unwrap_or_default(),
            retrieval_live: summary.retrieval_live.clone().unwrap_or_default(),
            briefing: summary.briefing.clone(),
            next_action_hint: first_move.to_owned(),
            extra: Extra::new(),
        }
    }

    /// One runner; nothing if the time ended before it was asked.
    fn seat_step(
        &mut self,
        seat: &Seat,
        council: &Council,
        packet: &CouncilPacket,
    ) -> Result<Option<Result<RunnerReport, Failure>>, Stopped> {
        let name = StepName::CouncilRunner(seat.slug.clone());
        self.stage(RunStage::Steps, &name.to_string());
        if let Some(Halt::Time) = self.limits.halt() {
            self.end_step(&name, StepStatus::Skipped, Some("the time ended".into()));
            return Ok(None);
        }
        let runner = seat.runner.name().to_owned();
        let request = match question(packet, &runner, seat.budget) {
            Ok(request) => request,
            Err(error) => {
                self.end_step(&name, StepStatus::SoftFail, Some(error));
                return Ok(None);
            }
        };
        let stop = Arc::new(AtomicBool::new(false));
        let (asked, told) = (seat.clone(), Arc::clone(&stop));
        let nonce = (council.nonce)();
        let (clock, deadline) = (self.work.clock, self.limits.deadline);
        let (teller, watch) = (&mut self.teller, &mut *self.watch);
        let mut tick = || teller.tell(clock, deadline, watch);
        let work = move || asked.report(&request, &nonce, &told);
        let done = match in_background(work, &self.limits, Some(&stop), &mut tick) {
            Ok(done) => done,
            Err(Halt::Panic(why)) => Err(Failure::Broken(format!("panicked: {why}"))),
            Err(Halt::Time) => Err(Failure::Stopped),
            Err(Halt::Signal(signal)) => return Err(Stopped::Signal(signal)),
        };
        if let Some(Halt::Signal(signal)) = self.limits.halt() {
            return Err(Stopped::Signal(signal));
        }
        match done {
            Ok((report, answer)) => {
                let again = if answer.is_repaired { ", at the second try" } else { "" };
                let note = format!("{}{again}", word(report.recommended_kind));
                let (key, file) =
                    (format!("council_{}", seat.slug), format!("council/{}.json", seat.slug));
                match self.artifact(&name, (&key, &file), &report, Some(note)) {
                    Ok(()) => Ok(Some(Ok(report))),
                    Err(why) => Ok(Some(Err(Failure::Broken(why)))),
                }
            }
            Err(failure) => {
                let note = format!("{}: {failure}", failure.kind());
                self.end_step(&name, StepStatus::SoftFail, Some(note));
                Ok(Some(Err(failure)))
            }
        }
    }

    fn skip_council(&mut self, council: &Council, why: &str) {
        let seats = council.seats.iter().map(|seat| StepName::CouncilRunner(seat.slug.clone()));
        for name in seats.chain([StepName::CouncilSynthesis]).collect::<Vec<_>>() {
            self.end_step(&name, StepStatus::Skipped, Some(why.to_owned()));
        }
    }
}
