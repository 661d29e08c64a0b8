//! Every crash point of a run, every telling way to crash there, and the same again inside the
//! recovery that follows.
//!
//! An image that was already looked at is not looked at again, so that a case is a distinct state
//! of the disk (or of the living kernel, when only the process died) together with what is
//! required of it.

use std::collections::HashMap;

use crate::fates::{Breadth, choices};
use crate::journal::Fate;
use crate::sim::{SimFs, Tape, Words};
use crate::subject::{Judge, Side, Subject};
use crate::table::Report;

/// How far to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    /// Crashes of the run itself.
    pub(crate) first: Breadth,
    /// Crashes of each recovery, as many levels deep as there are entries.
    pub(crate) inside: &'static [Breadth],
    /// Only each so-manieth crash point, beginning with this one: `(first, stride)`.
    pub(crate) share: (usize, usize),
}

/// Which ways to stop are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ways {
    All,
    KillOnly,
    PowerLossOnly,
}

/// How a process, or the machine, came to stop at a point of a tape.
#[derive(Debug, Clone)]
enum Stop {
    Kill,
    PowerLoss(Vec<Fate>),
}

/// The way to the state at hand, to be told when something is wrong with it.
struct Story<'a> {
    earlier: Option<&'a Story<'a>>,
    tape: &'a Tape,
    at: usize,
    stop: Stop,
}

/// Runs the subject once, then crashes that run at each point.
pub(crate) fn crashes(subject: &impl Subject, start: &SimFs, reach: Reach) -> Report {
    let fs = start.branch();
    fs.record();
    let ran = subject.run(fs.clone());
    let tape = fs.take_tape();
    let mut explorer = Explorer::new(subject, reach);
    explorer.report.case(unharmed(subject, &fs, ran).map_err(|why| plain_story(&tape, &why)));
    explorer.stops_of(&tape, None, Some(Side::After), None);
    explorer.report
}

/// The first thing that is wrong with a run that was recorded elsewhere.
pub(crate) fn first_bad(
    subject: &impl Subject,
    tape: &Tape,
    reach: Reach,
    ways: Ways,
) -> Option<String> {
    let mut explorer = Explorer::new(subject, reach);
    (explorer.ways, explorer.only_first) = (ways, true);
    explorer.stops_of(tape, None, Some(Side::After), None);
    explorer.report.kinds.pop_first().map(|(kind, _)| kind)
}

/// A run that nothing disturbed must go through and leave nothing for recovery to do.
pub(crate) fn unharmed(
    subject: &impl Subject,
    fs: &SimFs,
    ran: Result<(), String>,
) -> Result<(), String> {
    ran.map_err(|why| format!("an undisturbed run failed: {why}"))?;
    match subject.judge(fs)? {
        Side::After => subject.judge_deeply(fs, Side::After),
        Side::Before => Err("an undisturbed run changed nothing".to_owned()),
    }
}

fn plain_story(tape: &Tape, why: &str) -> String {
    format!("{why}\ntrace:\n{}", lines(&tape.steps))
}

struct Explorer<'a, S> {
    subject: &'a S,
    reach: Reach,
    ways: Ways,
    only_first: bool,
    report: Report,
    /// Each image, with what was required of it, and how deep it was met: one that was met inside
    /// a recovery only is looked into once more when the run itself leads to it.
    seen: HashMap<(u64, Option<Side>), usize>,
    judge: Judge<'a, S>,
}

impl<'a, S: Subject> Explorer<'a, S> {
    fn new(subject: &'a S, reach: Reach) -> Self {
        Self {
            subject,
            reach,
            ways: Ways::All,
            only_first: false,
            report: Report::default(),
            seen: HashMap::new(),
            judge: Judge::new(subject),
        }
    }

    /// Every stop of what the tape recorded, with the side that was settled before it began, and
    /// the one that is settled at its end.
    fn stops_of(
        &mut self,
        tape: &Tape,
        settled: Option<Side>,
        settled_at_end: Option<Side>,
        earlier: Option<&Story>,
    ) {
        let depth = earlier.map_or(0, |story| story.depth() + 1);
        let (breadth, share) = match depth {
            0 => (self.reach.first, self.reach.share),
            _ => match self.reach.inside.get(depth - 1) {
                Some(breadth) => (*breadth, (0, 1)),
                None => return,
            },
        };
        for (at, point) in tape.points.iter().enumerate().skip(share.0).step_by(share.1) {
            let is_end = at + 1 == tape.points.len();
            let required = if is_end { settled_at_end } else { settled };
            // Of a recovery only power loss is tried: a kill in it is a prefix of the same changes.
            if depth == 0 && self.ways != Ways::PowerLossOnly {
                let story = Story { earlier, tape, at, stop: Stop::Kill };
                self.recover(&SimFs::on(point.clone()), required, &story);
            }
            if self.ways == Ways::KillOnly {
                continue;
            }
            let seed = (depth as u64) << 32 | at as u64;
            for fates in choices(&point.open_fates(), breadth, seed) {
                let image = SimFs::on(point.crash(&fates));
                if self.is_new(&image, required, depth) {
                    let stop = Stop::PowerLoss(fates);
                    self.recover(&image, required, &Story { earlier, tape, at, stop });
                }
            }
        }
    }

    fn is_new(&mut self, image: &SimFs, required: Option<Side>, depth: usize) -> bool {
        let met = self.seen.entry((image.fingerprint(), required)).or_insert(usize::MAX);
        let is_new = depth < *met;
        *met = depth.min(*met);
        is_new
    }

    fn recover(&mut self, image: &SimFs, required: Option<Side>, story: &Story) {
        if self.only_first && self.report.bad > 0 {
            return;
        }
        let looks_inside = self.reach.inside.len() > story.depth();
        if looks_inside {
            image.record_with(Words::Silent);
        }
        let glimpsed = self.judge.glimpse(&image.journal());
        let recovered = self.subject.recover(image.clone());
        let tape = looks_inside.then(|| image.take_tape());
        let verdict = glimpsed
            .and(recovered.map_err(|why| format!("recovery failed: {why}")))
            .and_then(|()| self.glimpses(tape.as_ref()))
            .and_then(|()| self.judge.side_is(image, required));
        let side = verdict.as_ref().ok().copied();
        self.report.case(verdict.map(drop).map_err(|why| story.tell(&why, self.subject)));
        if let (Some(_), Some(tape)) = (side, tape) {
            self.stops_of(&tape, required, side, Some(story));
        }
    }
}

impl<S: Subject> Explorer<'_, S> {
    /// Whoever reads while the recovery runs sees only whole states too.
    fn glimpses(&mut self, tape: Option<&Tape>) -> Result<(), String> {
        let points = tape.into_iter().flat_map(|tape| &tape.points).enumerate();
        for (at, point) in points {
            let seen = self.judge.glimpse(point);
            seen.map_err(|why| format!("{why}\nbefore operation {at} of the recovery"))?;
        }
        Ok(())
    }
}

impl Story<'_> {
    fn depth(&self) -> usize {
        std::iter::successors(self.earlier, |story| story.earlier).count()
    }

    /// The file system as it was found by whoever came next.
    fn found(&self) -> SimFs {
        let point = &self.tape.points[self.at];
        match &self.stop {
            Stop::Kill => SimFs::on(point.clone()),
            Stop::PowerLoss(fates) => SimFs::on(point.crash(fates)),
        }
    }

    fn tell(&self, why: &str, subject: &impl Subject) -> String {
        let mut told = format!("{why}\n{}\n", subject.name());
        let mut chain: Vec<_> = std::iter::successors(Some(self), |story| story.earlier).collect();
        chain.reverse();
        let mut steps = self.first_steps();
        for story in chain {
            told +=
                &format!("{}\nstopped before operation {}\n", lines(&steps[..story.at]), story.at);
            told += &match &story.stop {
                Stop::Kill => "killed; the kernel lives\n".to_owned(),
                Stop::PowerLoss(fates) => story.tell_fates(fates),
            };
            told += "then recovery:\n";
            // Silent until now; done again, it says what it does.
            let again = story.found();
            again.record();
            let _ = subject.recover(again.clone());
            steps = again.take_tape().steps;
        }
        told + &lines(&steps)
    }

    fn first_steps(&self) -> Vec<String> {
        let first = std::iter::successors(Some(self), |story| story.earlier).last();
        first.map(|story| story.tape.steps.clone()).unwrap_or_default()
    }

    fn tell_fates(&self, fates: &[Fate]) -> String {
        let pending = self.tape.points[self.at].spell_open();
        let told = pending.iter().zip(fates).map(|(change, fate)| format!("{fate:?}: {change}"));
        format!("power lost; of what was pending:\n{}\n", lines(&told.collect::<Vec<_>>()))
    }
}

fn lines(steps: &[String]) -> String {
    format!("  {}", steps.join("\n  "))
}
