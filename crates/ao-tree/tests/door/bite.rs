//! The engines bite: a protocol that is right passes all of them, and one with a step left out is
//! caught by the engine that is there for it.

use crate::explore::{Reach, crashes};
use crate::fates::Breadth;
use crate::fault::faults;
use crate::mutant::{Engine, Mutation, caught_by};
use crate::toy::Toy;

const ALL: Breadth = Breadth { exhaustive: 4096, telling: 100, samples: 10 };
const REACH: Reach = Reach { first: ALL, inside: &[ALL], share: (0, 1) };

#[test]
fn a_whole_protocol_passes() {
    let crashed = crashes(&Toy::Whole, &Toy::start(), REACH);
    assert_eq!(crashed.bad, 0, "{:?}", crashed.kinds);
    assert!(crashed.cases > 10, "{} cases", crashed.cases);
    let failed = faults(&Toy::Whole, &Toy::start(), (0, 1));
    assert_eq!(failed.bad, 0, "{:?}", failed.kinds);
    assert!(failed.cases > 30, "{} cases", failed.cases);
}

#[test]
fn power_loss_catches_a_missing_sync_and_a_gap() {
    for toy in [Toy::NoFileSync, Toy::NoDirSync, Toy::RemoveFirst, Toy::NoCleanUp] {
        let report = crashes(&toy, &Toy::start(), REACH);
        assert!(report.bad > 0, "{toy:?} was not caught");
    }
}

#[test]
fn faults_catch_a_gap_and_a_second_sync() {
    for toy in [Toy::RemoveFirst, Toy::NoCleanUp, Toy::RetriesSync] {
        let report = faults(&toy, &Toy::start(), (0, 1));
        assert!(report.bad > 0, "{toy:?} was not caught");
    }
    // What only a power loss can show, faults cannot.
    assert_eq!(faults(&Toy::NoFileSync, &Toy::start(), (0, 1)).bad, 0);
}

/// The toy's steps: 0 create, 1 sync the file, 2 rename, 3 sync the directory.
#[test]
fn every_mutant_of_the_toy_is_caught() {
    let caught = |mutation| caught_by(&Toy::Whole, &Toy::start(), mutation, REACH);
    assert_eq!(caught(Mutation::Omit(1)), Some(Engine::PowerLoss));
    assert_eq!(caught(Mutation::Omit(2)), Some(Engine::PlainRun));
    assert_eq!(caught(Mutation::Omit(3)), Some(Engine::PowerLoss));
    assert_eq!(caught(Mutation::Delay(1, 2)), Some(Engine::PowerLoss));
    assert_eq!(caught(Mutation::Delay(1, 3)), Some(Engine::PowerLoss));
    assert_eq!(caught(Mutation::Delay(2, 3)), Some(Engine::PowerLoss));
    // A mutation that never strikes is the protocol itself.
    assert_eq!(caught(Mutation::Omit(99)), None);
}
