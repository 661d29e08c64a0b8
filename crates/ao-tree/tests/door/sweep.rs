//! The sweeps: each engine over the whole history of the door.
//!
//! `cargo test` reaches the numbers that are asked for below. `AO_SWEEP=1` looks further with the
//! same engines.

use std::thread::ScopedJoinHandle;

use crate::explore::{Reach, crashes};
use crate::fates::Breadth;
use crate::fault::{faults, faults_in_recovery};
use crate::meeting::Meetings;
use crate::person::{ACTS, Deed};
use crate::scenario::{Begun, history, history_with_strangers, one_commit};
use crate::sim::SimFs;
use crate::subject::Subject;
use crate::table::{Report, is_full_sweep};

const STATES_MIN: usize = 50_000;
const FAULTS_MIN: usize = 1_500;
const MEETINGS_MIN: usize = 5_000;

/// Parts of the work, each with a world of its own: nothing is shared between them.
const WORKERS: usize = 2;

pub(crate) fn fan_out<T: Send>(work: impl Fn((usize, usize)) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> =
            (0..WORKERS).map(|first| scope.spawn(move || work((first, WORKERS)))).collect();
        let join = |worker: ScopedJoinHandle<'_, T>| {
            worker.join().expect("a worker that panics fails the test")
        };
        workers.into_iter().map(join).collect()
    })
}

fn sum(reports: Vec<Report>) -> Report {
    reports.into_iter().fold(Report::default(), |mut sum, report| {
        sum.add(report);
        sum
    })
}

fn every_step() -> Vec<Begun> {
    let mut steps = history();
    steps.extend(history_with_strangers());
    steps
}

fn reach(share: (usize, usize)) -> Reach {
    if is_full_sweep() {
        return Reach {
            first: Breadth { exhaustive: 1024, telling: 200, samples: 60 },
            inside: &[Breadth { exhaustive: 32, telling: 16, samples: 4 }],
            inside_every: 1,
            share,
        };
    }
    Reach {
        first: Breadth { exhaustive: 64, telling: 24, samples: 8 },
        inside: &[Breadth { exhaustive: 4, telling: 2, samples: 0 }],
        inside_every: 2,
        share,
    }
}

// proves: LOOP-21
#[test]
fn every_power_loss_leaves_one_side() {
    let reports = fan_out(|share| {
        let mut report = Report::default();
        for (step, start) in every_step() {
            report.add(crashes(&step, &start, reach(share)));
        }
        report
    });
    sum(reports).conclude("SimFs", STATES_MIN);
}

// proves: LOOP-22
#[test]
fn every_fault_leaves_one_side() {
    let stride = if is_full_sweep() { 1 } else { 2 };
    let reports = fan_out(|(first, workers)| {
        let mut report = Report::default();
        for (turn, (step, start)) in every_step().into_iter().enumerate() {
            // Other calls in each step, so that together they are all tried.
            let first = (first * stride + turn) % (workers * stride);
            report.add(faults(&step, &start, (first, workers * stride)));
        }
        report
    });
    sum(reports).conclude("FaultFs", FAULTS_MIN);
}

// proves: LOOP-22
#[test]
fn every_fault_in_a_recovery_leaves_one_side() {
    let stride = if is_full_sweep() { 1 } else { 6 };
    let reports = fan_out(|(first, workers)| {
        let mut report = Report::default();
        let (step, start) = one_commit();
        let fs = start.branch();
        fs.record();
        step.run(fs.clone()).expect("an undisturbed run goes through");
        let points = fs.take_tape().points.into_iter().skip(first * stride);
        for point in points.step_by(workers * stride) {
            report.add(faults_in_recovery(&step, &SimFs::on(point)));
        }
        report
    });
    sum(reports).conclude("FaultFs in recovery", FAULTS_MIN);
}

/// Two people, or one twice, at one file.
const PAIRS: &[(Deed, Deed, &str)] = &[
    (Deed::Put, Deed::Put, "learnings/a.md"),
    (Deed::Put, Deed::Put, "learnings/b.md"),
    (Deed::Put, Deed::Put, "learnings/keep.md"),
    (Deed::Put, Deed::Put, "learnings/person.md"),
    (Deed::Put, Deed::Put, "knowledge/k.md"),
    (Deed::Put, Deed::EditInPlace, "learnings/a.md"),
    (Deed::Put, Deed::EditInPlace, "learnings/keep.md"),
    (Deed::EditInPlace, Deed::Put, "learnings/a.md"),
    (Deed::Put, Deed::Delete, "learnings/a.md"),
    (Deed::Put, Deed::Delete, "learnings/keep.md"),
    (Deed::Delete, Deed::Put, "learnings/a.md"),
    (Deed::Delete, Deed::Put, "learnings/keep.md"),
    (Deed::Append, Deed::Append, "rpi/next-work.jsonl"),
    (Deed::Append, Deed::Append, "learnings/log.jsonl"),
];

// proves: LOOP-21
#[test]
fn nothing_of_anybody_else_is_lost() {
    let (stride, crash_stride, rolls, kills) =
        if is_full_sweep() { (1, 4, 100_000, 2) } else { (6, 30, 600, 40) };
    let reports = fan_out(|(first, workers)| {
        let mut report = Report::default();
        let (step, start) = one_commit();
        let mut meetings = Meetings::new(&step, &start);
        let share = |stride| (first * stride, workers * stride);
        meetings.in_run(ACTS, share(stride), crash_stride);
        meetings.in_run_twice(PAIRS, rolls, first as u64);
        meetings.after_crash(ACTS, share(stride));
        meetings.in_recovery(ACTS, share(kills));
        report.add(meetings.report);
        report
    });
    sum(reports).conclude("other people", MEETINGS_MIN);
}
