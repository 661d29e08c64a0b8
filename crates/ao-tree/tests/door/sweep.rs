//! The sweeps: each engine over the whole history of the door.
//!
//! `cargo test` reaches the numbers that are asked for below. `AO_SWEEP=1` looks further with the
//! same engines.

use crate::explore::{Reach, crashes};
use crate::fates::Breadth;
use crate::fault::{faults, faults_in_recovery};
use crate::person::{ACTS, meetings, meetings_after_crash};
use crate::scenario::{Begun, Method, history, history_with_strangers, one_commit};
use crate::subject::Subject;
use crate::table::{Report, is_full_sweep};

const STATES_MIN: usize = 50_000;
const FAULTS_MIN: usize = 1_500;
const MEETINGS_MIN: usize = 2_000;

/// Two halves of the work, each with a world of its own: nothing is shared between them.
const WORKERS: usize = 2;

fn fan_out(work: impl Fn((usize, usize)) -> Report + Sync) -> Report {
    let mut report = Report::default();
    std::thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> =
            (0..WORKERS).map(|first| scope.spawn(move || work((first, WORKERS)))).collect();
        for worker in workers {
            report.add(worker.join().expect("a worker that panics fails the test"));
        }
    });
    report
}

fn every_step() -> Vec<Begun> {
    let mut steps = history(Method::Exchange);
    steps.extend(history(Method::FileByFile));
    steps.extend(history_with_strangers());
    steps
}

fn breadth() -> (Breadth, &'static [Breadth]) {
    if is_full_sweep() {
        (
            Breadth { exhaustive: 512, telling: 200, samples: 60 },
            &[Breadth { exhaustive: 16, telling: 10, samples: 3 }],
        )
    } else {
        (
            Breadth { exhaustive: 64, telling: 12, samples: 4 },
            &[Breadth { exhaustive: 2, telling: 1, samples: 1 }],
        )
    }
}

// proves: LOOP-21
#[test]
fn every_power_loss_leaves_one_side() {
    let report = fan_out(|share| {
        let (first, inside) = breadth();
        let mut report = Report::default();
        for (step, start) in every_step() {
            report.add(crashes(&step, &start, Reach { first, inside, share }));
        }
        report
    });
    report.conclude("SimFs", STATES_MIN);
}

// proves: LOOP-22
#[test]
fn every_fault_leaves_one_side() {
    let report = fan_out(|(first, stride)| {
        let mut report = Report::default();
        for (step, start) in every_step().into_iter().skip(first).step_by(stride) {
            report.add(faults(&step, &start));
        }
        report
    });
    report.conclude("FaultFs", FAULTS_MIN);
}

// proves: LOOP-22
#[test]
fn every_fault_in_a_recovery_leaves_one_side() {
    let stride = if is_full_sweep() { 1 } else { 9 };
    let report = fan_out(|(first, workers)| {
        let mut report = Report::default();
        for method in [Method::Exchange, Method::FileByFile] {
            let (step, start) = one_commit(method);
            let fs = start.branch();
            fs.record();
            step.run(fs.clone()).expect("an undisturbed run goes through");
            let points = fs.take_tape().points.into_iter().skip(first * stride);
            for point in points.step_by(workers * stride) {
                report.add(faults_in_recovery(&step, &crate::sim::SimFs::on(point)));
            }
        }
        report
    });
    report.conclude("FaultFs in recovery", FAULTS_MIN);
}

// proves: LOOP-21
#[test]
fn nothing_of_anybody_else_is_lost() {
    let crash_stride = if is_full_sweep() { 1 } else { 23 };
    let report = fan_out(|share| {
        let mut report = Report::default();
        for method in [Method::Exchange, Method::FileByFile] {
            let (step, start) = one_commit(method);
            report.add(meetings(&step, &start, ACTS, crash_stride, share));
            report.add(meetings_after_crash(&step, &start, ACTS, share));
        }
        report
    });
    report.conclude("other people", MEETINGS_MIN);
}

#[test]
fn zz_trace() {
    for (step, start) in every_step() {
        let fs = start.branch();
        fs.record();
        let ran = step.run(fs.clone());
        let tape = fs.take_tape();
        println!(
            "== {} {ran:?} {:?} deep {:?} ops {}",
            step.name(),
            step.judge(&fs),
            step.judge(&fs).and_then(|side| step.judge_deeply(&fs, side)),
            tape.steps.len()
        );
        for (k, s) in tape.steps.iter().enumerate() {
            println!("{k:4} {:3} {s}", tape.points[k].open_fates().len());
        }
    }
}
