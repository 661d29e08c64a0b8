//! Rescues are spent on what is committed, and on nothing else, however a run ends.

use std::process::{Child, Command};

use serde_json::Value;

use crate::night::{Night, json_of, ran};
use crate::repo::{Stopped, wait_until};

fn remaining(night: &Night) -> u64 {
    json_of(&night.repo.state("warn-only-budget.json"))["remaining"].as_u64().unwrap()
}

/// A run that has spent a rescue on what it is about to commit, and waits for a reader.
fn about_to_commit(night: &Night) -> Stopped {
    std::fs::create_dir_all(night.repo.state("")).unwrap();
    let reader = std::fs::File::create(night.repo.state("commit.lock")).unwrap();
    reader.lock_shared().unwrap();
    let child = night.command(&["--max-iterations", "1"]).spawn().unwrap();
    let budget = night.repo.state("warn-only-budget.json");
    wait_until("the rescue is spent", || budget.exists() && remaining(night) == 2);
    let staging = night.repo.state("staging");
    wait_until("everything is staged", || {
        let rooms = std::fs::read_dir(&staging).into_iter().flatten().flatten();
        rooms.map(|room| room.path().join("carry")).any(|carry| carry.exists())
    });
    Stopped { child, reader }
}

fn regressing() -> Night {
    let night = Night::with(20);
    night.harvest_regressions(0, 1);
    night
}

fn terminate(child: &Child) {
    let killed = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
}

fn report(night: &Night) -> Value {
    night.repo.run(&["overnight", "report", "--format", "json"]).expect(0).json()
}

// proves: LOOP-12
#[test]
fn a_commit_that_does_not_come_about_costs_no_rescue() {
    let night = regressing();
    let Stopped { child, reader } = about_to_commit(&night);
    terminate(&child);
    ran(child).expect(1);
    drop(reader);
    assert_eq!(remaining(&night), 3);
    let summary = night.summary();
    assert_eq!(summary["iterations"][0]["status"], "rolled-back-pre-commit");
    assert_eq!(summary["warn_only_remaining"], 3);
    assert!(summary.get("rescues").is_none(), "{:#}", summary["rescues"]);
    assert!(!night.markdown().contains("Let through"));
}

// proves: LOOP-12
#[test]
fn a_run_that_was_killed_before_its_commit_gets_its_rescue_back() {
    let night = regressing();
    about_to_commit(&night).kill();
    assert_eq!(remaining(&night), 2);
    night.run(&["--max-iterations", "1"]).expect(0);
    let summary = night.summary();
    assert_eq!(summary["warn_only_remaining"], 2, "given back, and spent on this commit");
    assert!(summary["iterations"][0]["rescue"].is_string());
    assert!(night.markdown().contains("was given back"), "{}", night.markdown());
}

// proves: RUN-45
#[test]
fn a_killed_run_says_which_rescue_it_spent() {
    // Before and after the iteration has its record.
    for place in ["verify", "log-iteration-1"] {
        let night = regressing();
        let held = night.held_at(place, &["--max-iterations", "1"]);
        held.signal("KILL");
        let told = |summary: &Value| {
            assert_eq!(summary["warn_only_remaining"], 2, "{place}");
            let rescues = summary["rescues"].as_array().unwrap();
            assert_eq!(rescues.len(), 1, "{place}");
            let rescue = rescues[0].as_str().unwrap();
            assert!(rescue.starts_with("iteration 1: freshness dropped"), "{place}: {rescue}");
        };
        told(&report(&night));
        night.run(&["--resume", "--max-iterations", "1"]).expect(0);
        told(&night.summary());
    }
}
