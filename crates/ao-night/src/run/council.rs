//! The steps of the council.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ao_contract::{
    CouncilPacket, EventReview, Extra, RunStage, RunnerReport, StepName, StepStatus, Yield,
};
use ao_runner::{Answer, Failure, Request, Way, pause};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::background::{Halt, in_background};
use super::steps::object;
use super::{Run, Stopped};
use crate::council::{
    Books, Council, Desk, Hours, Lane, Review, Seat, Tally, question, review, synthesis, word,
};
use crate::curator::{Closing, Verdict};

const UNCHANGED: &str = "unchanged";
const REFINED: &str = "refined";

/// What came of it, for the count of what the night was worth.
#[derive(Debug, Default)]
pub(super) struct Asked {
    completed: u64,
    failed: u64,
    timed_out: u64,
    kind: String,
    /// The first move as it stood when they were asked.
    first_move: String,
    /// What they would do first; empty if they did not agree.
    action: String,
}

impl Asked {
    /// Whether they would do something else first than the night; nothing if nobody was asked.
    pub(super) fn differs(&self) -> Option<bool> {
        let is_other = !self.action.is_empty() && self.action != self.first_move;
        (self.completed + self.failed > 0).then_some(is_other)
    }

    /// `first_move` is the one that the morning is told in the end.
    pub(super) fn count(self, first_move: &str, yields: &mut Yield) {
        yields.council_completed_count = self.completed;
        yields.council_failed_count = self.failed;
        yields.council_timeout_count = self.timed_out;
        yields.council_recommended_kind = self.kind;
        if self.completed > 0 {
            let is_same = first_move.trim() == self.first_move
                && !(ao_mutant::active("REP-09/refined-by-a-word")
                    && self.action != self.first_move);
            let delta = if is_same { UNCHANGED } else { REFINED };
            delta.clone_into(&mut yields.council_action_delta);
        }
    }
}

/// What all questions of a council share.
struct Session {
    council: Council,
    books: Arc<Books>,
}

impl Run<'_> {
    /// Asks the council, if there is one. `first_move` is what the night itself would do first.
    pub(super) fn council_steps(&mut self, first_move: &str) -> Result<Asked, Stopped> {
        let Some(council) = self.council.clone() else { return Ok(Asked::default()) };
        let mut packet = self.council_packet(&council, first_move);
        if let Err(why) = self.artifact(&StepName::CouncilPacket, &packet, None) {
            self.skip_council(&council, &format!("there is no packet: {why}"));
            return Ok(Asked::default());
        }
        if self.is_dry() {
            self.skip_council(&council, "a dry run: nobody is asked");
            return Ok(Asked::default());
        }
        let books = match self.books(&council) {
            Ok(books) => Arc::new(books),
            Err(why) => {
                self.skip_council(&council, &format!("nobody is asked without books: {why}"));
                self.degraded.push(StepName::CouncilSynthesis.to_string());
                return Ok(Asked::default());
            }
        };
        let session = Session { council, books };
        let council = &session.council;
        let mut asked = Asked { first_move: first_move.trim().to_owned(), ..Asked::default() };
        let (mut reports, mut failed) = (Vec::new(), Vec::new());
        let mut present = Vec::new();
        for seat in &council.seats {
            match self.seat_step(seat, &session, &packet)? {
                Ok(report) => {
                    if ao_mutant::active("RUN-37/hears-the-one-before") {
                        packet.next_action_hint.clone_from(&report.recommended_first_action);
                    }
                    reports.push(report);
                    present.push(seat);
                }
                Err(failure) => {
                    let is_late = matches!(failure, Failure::TimedOut(_));
                    asked.timed_out +=
                        u64::from(is_late && !ao_mutant::active("REP-09/timeouts-are-not-counted"));
                    failed.push(seat.runner.name().to_owned());
                }
            }
        }
        asked.completed = reports.len() as u64;
        asked.failed = failed.len() as u64;
        let name = StepName::CouncilSynthesis;
        let requested: Vec<String> =
            council.seats.iter().map(|seat| seat.runner.name().to_owned()).collect();
        let mut put = synthesis(&requested, &failed, reports, council.policy, council.lane);
        if put.reports.is_empty() {
            // There is no synthesis, but who failed is told.
            self.summary.council =
                object(&put).filter(|_| !ao_mutant::active("RUN-36/forgets-who-failed"));
            self.end_step(&name, StepStatus::SoftFail, Some("no runner gave a report".into()));
            return Ok(asked);
        }
        asked.kind = put.consensus_kind.map(word).unwrap_or_default();
        put.recommended_first_action.trim().clone_into(&mut asked.action);
        let events = self.review_events(&session, &present)?;
        if !events.is_empty() {
            put.extra.insert("events".into(), events.into());
        }
        let note = format!(
            "{} of {} runners, {}",
            asked.completed,
            requested.len(),
            if asked.kind.is_empty() { "no consensus" } else { &asked.kind }
        );
        self.summary.council = object(&put);
        // A soft step: what went wrong is in the step.
        let _ = self.artifact(&name, &put, Some(note));
        Ok(asked)
    }

    fn books(&self, council: &Council) -> Result<Books, String> {
        let run_id = &self.summary.run_id;
        ao_tree::make_folders(&self.output.dir, run_id).map_err(|error| error.to_string())?;
        let own = self.output.path(run_id);
        Books::open(&own, (&self.state, run_id), &council.seats, &self.runner_clock())
    }

    fn runner_clock(&self) -> ao_runner::Clock {
        ao_runner::Clock::new(self.work.clock.now)
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

    /// One runner.
    fn seat_step(
        &mut self,
        seat: &Seat,
        session: &Session,
        packet: &CouncilPacket,
    ) -> Result<Result<RunnerReport, Failure>, Stopped> {
        let name = StepName::CouncilRunner(seat.slug.clone());
        self.stage(RunStage::Steps, &name.to_string());
        if let Some(Halt::Time) = self.limits.halt() {
            self.end_step(&name, StepStatus::Skipped, Some("the time ended".into()));
            return Ok(Err(Failure::Stopped));
        }
        let runner = seat.runner.name().to_owned();
        let asked = match self.may_ask(&runner) {
            Ok(()) => match question(packet, &runner, seat.budget) {
                Ok(request) => self.put_to(seat, session, request)?,
                Err(why) => Err(Failure::Broken(why)),
            },
            Err(failure) => Err(failure),
        };
        let done = asked.and_then(|answer| Ok((seat.report(&answer)?, answer)));
        let mut note = match &done {
            Ok((report, answer)) => {
                let again = if answer.is_repaired { ", at the second try" } else { "" };
                format!("{}{again}", word(report.recommended_kind))
            }
            Err(failure) => format!("{failure} ({})", failure.kind()),
        };
        note.push_str(match seat.login {
            Way::None => "",
            Way::ApiKey => "; with an API key that only ao holds",
            Way::Subscription => "; with the token of a subscription",
        });
        let (spent, fields) = session.books.spent(&runner);
        if fields["calls"] != 0 {
            let _ = write!(note, "; {spent}");
        }
        let refused = seat.runner.refused();
        let is_reported = !ao_mutant::active("RUN-35/refusal-is-not-reported");
        if let Some(first) = refused.first().filter(|_| is_reported) {
            let (count, what) = (refused.len(), ao_tree::shown(&first.what));
            let _ = write!(note, "; its cell refused {count}, the first: {} ({what})", first.rule);
        }
        if let Some(step) = self.step(&name) {
            step.extra.insert("login".into(), json!(seat.login));
            step.extra.insert("spent".into(), fields);
        }
        match done {
            Ok((report, _)) => match self.artifact(&name, &report, Some(note)) {
                Ok(()) => Ok(Ok(report)),
                Err(why) => Ok(Err(Failure::Broken(why))),
            },
            Err(failure) => {
                let note = self
                    .deferred(&runner, &failure)
                    .map_or(note.clone(), |told| format!("{note}; {told}"));
                self.end_step(&name, StepStatus::SoftFail, Some(note));
                Ok(Err(failure))
            }
        }
    }

    /// Whether an earlier night left a runner alone until a time that has not come yet.
    fn may_ask(&self, runner: &str) -> Result<(), Failure> {
        let look = || {
            let all = pause::read_deferred(&self.state.join(pause::FILE))
                .map_err(|error| format!("{}: {error}", pause::FILE))?;
            let until = pause::deferred_until(&all, runner, (self.work.clock.now)());
            until.map_or(Ok(()), |until| {
                Err(format!("it is deferred until {until}, since its limit was reached"))
            })
        };
        self.work.outside.deferred(runner, look).map_err(Failure::NotStarted)
    }

    /// Writes down until when a runner is left alone; says what came of that.
    fn deferred(&self, runner: &str, failure: &Failure) -> Option<String> {
        let Failure::RateLimited { until: Some(until), .. } = failure else { return None };
        let (run_id, now) = (self.summary.run_id.as_str(), (self.work.clock.now)());
        let path = self.state.join(pause::FILE);
        Some(match pause::defer(&path, runner, *until, failure, (run_id, now)) {
            Ok(()) => format!("deferred until {until}"),
            Err(error) => format!("that could not be written down: {error}"),
        })
    }

    /// Asks, however long it may take. An answer that is late is none.
    fn put_to(
        &mut self,
        seat: &Seat,
        session: &Session,
        request: Request,
    ) -> Result<Result<Answer, Failure>, Stopped> {
        let nonce = match session.council.nonces.next(seat.runner.name()) {
            Ok(nonce) => nonce,
            Err(failure) => return Ok(Err(failure)),
        };
        let asked = self.work.outside.reading("a question");
        let left = (self.began + self.work.settings.run_timeout).saturating_sub(asked.uptime);
        let is_replay = self.work.outside.is_playing();
        let hours = Hours {
            ends: asked.at.checked_add(left).unwrap_or(Timestamp::MAX),
            // Whether a limit is waited for goes by the time that it was then.
            clock: if is_replay {
                ao_runner::Clock::new(move || asked.at)
            } else {
                self.runner_clock()
            },
            patience: session.council.patience,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let (asked, books, told) = (seat.clone(), Arc::clone(&session.books), Arc::clone(&stop));
        let (clock, deadline) = (self.work.clock, self.limits.deadline);
        let (teller, watch) = (&mut self.teller, &mut *self.watch);
        let mut tick = || teller.tell(clock, deadline, watch);
        let work = move || asked.ask(&request, &books, &nonce, &hours, &told);
        let done = match in_background(work, &self.limits, Some(&stop), &mut tick) {
            Ok(done) => done,
            Err(Halt::Panic(why)) => Err(Failure::Broken(format!("panicked: {why}"))),
            Err(Halt::Time) => Err(Failure::Stopped),
            Err(Halt::Signal(signal)) => return Err(Stopped::Signal(signal)),
        };
        match self.limits.halt() {
            Some(Halt::Signal(signal)) => Err(Stopped::Signal(signal)),
            _ => Ok(done),
        }
    }

    /// Puts the curator's events to those who gave a report, one after another.
    fn review_events(
        &mut self,
        session: &Session,
        present: &[&Seat],
    ) -> Result<Vec<Value>, Stopped> {
        let Some(desk) = session.council.desk.clone() else { return Ok(Vec::new()) };
        let mut review = match desk.pending() {
            Ok(events) => Review::new(events),
            Err(error) => {
                self.keeping.refuse("the curator's events could not be read");
                self.log(&format!("the curator's events: {error}"));
                self.degraded.push("curator events".into());
                return Ok(Vec::new());
            }
        };
        self.work.outside.events(&review.events);
        for seat in present {
            if matches!(self.limits.halt(), Some(Halt::Time)) {
                break;
            }
            let name = seat.runner.name().to_owned();
            let now = (self.work.clock.now)();
            // A call is spent before it is made, so that a kill gives nobody one more.
            let mut asked = review.open();
            asked.retain(|open| desk.spend(&open.event.id, &name, now));
            for open in &mut review.events {
                let is_asked = asked.iter().any(|one| one.event.id == open.event.id);
                open.calls_left = open.calls_left.saturating_sub(u32::from(is_asked));
            }
            if asked.is_empty() {
                continue;
            }
            self.work.progress.doing(&format!("{name} looks at {} events", asked.len()));
            let answer = match review::question(&asked, &name, seat.budget) {
                Ok(request) => self.put_to(seat, session, request)?,
                Err(why) => Err(Failure::Broken(why)),
            };
            let said = answer.and_then(|answer| {
                ao_contract::read::<EventReview>(&answer.value)
                    .map_err(|error| Failure::NotOfTheForm(error.to_string()))
            });
            match said {
                Ok(said) => review.count(&asked, &said),
                Err(failure) => {
                    let deferred = self.deferred(&name, &failure).unwrap_or_default();
                    self.log(&format!("{name}, asked about events: {failure} {deferred}"));
                    self.degraded.push(format!("curator events ({name})"));
                }
            }
        }
        Ok(review
            .said
            .into_iter()
            .map(|(id, tally)| self.settle_event(&desk, &id, tally))
            .collect())
    }

    /// Writes down what was said of an event.
    fn settle_event(&self, desk: &Desk, id: &str, tally: Tally) -> Value {
        let (verdict, word, said) = match tally.keep {
            Some(kept) if ao_mutant::active("CUR-09/kept-events-are-closed") => {
                (Verdict::Closed, "close", vec![kept])
            }
            Some(kept) => (Verdict::Kept, "keep", vec![kept]),
            None => (Verdict::Closed, "close", tally.close),
        };
        let by = said.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
        let reason = said.first().map(|(_, reason)| reason.clone()).unwrap_or_default();
        let now = (self.work.clock.now)();
        let closing = Closing { verdict, by: &by, note: Some(&reason), now };
        let mut told = json!({ "id": id, "verdict": word, "by": by, "reason": reason });
        if let Err(error) = desk.close(id, &closing) {
            told["not_written"] = error.to_string().into();
        }
        told
    }

    pub(super) fn skip_council(&mut self, council: &Council, why: &str) {
        let seats = council.seats.iter().map(|seat| StepName::CouncilRunner(seat.slug.clone()));
        for name in seats.chain([StepName::CouncilSynthesis]).collect::<Vec<_>>() {
            self.end_step(&name, StepStatus::Skipped, Some(why.to_owned()));
        }
    }
}
