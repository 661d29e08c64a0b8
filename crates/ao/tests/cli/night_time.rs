//! The time limit holds wherever the run is. What would hang here hangs for a minute, so the bound
//! that is asserted is a wide one: a run that did not look at the clock would miss it by far.

use std::fs::File;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::night::{A_ROUND, Night, ran, statuses, step, timed};
use crate::repo::contents;

/// The limit of these runs, and how much later they are over at the latest, on a machine that has
/// other things to do.
const LIMIT: &str = "5s";
const LONGER_LIMIT: &str = "25s";
const OVER_AFTER: Duration = Duration::from_secs(45);

// proves: LOOP-30, RUN-14
// pitfall 7: the limit is looked at only between stages, and `--run-timeout 1s` runs for 14 s.
#[test]
fn time_that_ends_inside_a_stage_ends_it() {
    for place in ["ingest", "reduce", "measure", "close-loop"] {
        // The reserve is for the steps: a fifth of the limit, which is nothing on a machine that has much to do.
        let is_ready = |summary: &Value| {
            ["metrics-health", "morning-packets"].iter().all(|name| step(summary, name) == "done")
        };
        assert!(
            [LIMIT, LONGER_LIMIT].iter().any(|limit| is_ready(&cut_off_at(place, limit))),
            "{place}"
        );
    }
}

/// The summary of a night that hangs at this place until its time ends.
fn cut_off_at(place: &str, limit: &str) -> Value {
    let night = Night::with_copies();
    let before = night.repo.tree();
    let fault = format!("hang-{place}");
    let (done, took) = timed(|| night.run_with(&fault, &["--run-timeout", limit]));
    let done = done.expect(1);
    assert!(took < OVER_AFTER, "{place}: {took:?}");
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["rolled-back-pre-commit"], "{place}: {done}");
    assert_eq!(summary["status"], "failed");
    assert_eq!(summary["budget_exhausted"], true);
    assert_eq!(summary["runtime"]["effective_timeout"], limit);
    let reason = summary["failure_reason"].as_str().unwrap();
    assert!(reason.contains("before an iteration was finished"), "{reason}");
    let mut after = night.repo.tree();
    after.retain(|path, _| !path.starts_with("rpi/"));
    assert_eq!(after, before, "{place}");
    assert!(night.markdown().contains("The time ended"), "{}", night.markdown());
    summary
}

// proves: LOOP-10, LOOP-30, RUN-43
// pitfall 20: `budget_exhausted` is never set.
#[test]
fn after_a_finished_iteration_the_night_is_done_when_the_time_ends() {
    let night = Night::with(10);
    night.harvest_rounds(3);
    // Enough for one iteration on a busy machine. It stands still after its commit until all of it is spent.
    let limit = Duration::from_secs(20);
    let since = Instant::now();
    let held = night.held_at("verify", &["--run-timeout", "20s"]);
    std::thread::sleep(limit.saturating_sub(since.elapsed()));
    held.go_on().expect(0);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["done"]);
    assert_eq!((&summary["status"], &summary["budget_exhausted"]), (&"done".into(), &true.into()));
    assert!(summary["fitness_delta"].is_object());
    let steps = summary["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step["status"] != "pending"), "{steps:#?}");
}

// proves: LOOP-10, LOOP-30
#[test]
fn an_iteration_that_the_time_cuts_off_leaves_the_one_before_it_done() {
    let night = Night::with(10);
    night.harvest_rounds(2);
    let held = night.held_at("verify", &["--run-timeout", "20s"]);
    // From now on a reader keeps every commit waiting, longer than the run has time.
    let reader = File::open(night.repo.state("commit.lock")).unwrap();
    reader.lock_shared().unwrap();
    held.go_on().expect(0);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["done", "rolled-back-pre-commit"]);
    assert_eq!((&summary["status"], &summary["budget_exhausted"]), (&"done".into(), &true.into()));
    let taken = night.repo.tree().keys().filter(|path| path.contains("-theirs-")).count();
    assert_eq!(taken, A_ROUND);
    // Four of the twenty seconds were left to the steps.
    let at = |told: &Value| told.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let cut_off = at(&summary["iterations"][1]["finished_at"]);
    let spent = cut_off.duration_since(at(&summary["started_at"]));
    assert!(spent.as_secs() < 20, "{spent}");
}

// proves: LOOP-30
#[test]
fn a_reader_that_stays_does_not_keep_a_night_beyond_its_time() {
    let night = Night::with_copies();
    std::fs::create_dir_all(night.repo.state("")).unwrap();
    let reader = File::create(night.repo.state("commit.lock")).unwrap();
    reader.lock_shared().unwrap();
    let before = contents(&night.repo.tree());
    let (done, took) = timed(|| night.run(&["--run-timeout", LIMIT]));
    let done = done.expect(1);
    assert!(took < OVER_AFTER, "{took:?}");
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["rolled-back-pre-commit"], "{done}");
    assert_eq!(summary["budget_exhausted"], true);
    assert_eq!(contents(&night.repo.tree()), before);
    assert!(!night.repo.exists("overnight/staging"));
    drop(reader);
    night.run(&[]).expect(0);
    assert!(!night.repo.exists("learnings/2026-03-02-copy.md"));
}

#[test]
fn a_step_that_hangs_is_left_when_the_time_ends() {
    for place in ["metrics-health", "knowledge-brief", "morning-packets"] {
        let hung = |limit: &str| {
            let night = Night::with_copies();
            let mut command = night.command(&["--run-timeout", limit, "--goal", "calm"]);
            command.env("AO_NIGHT_FAULT", format!("hang-{place}"));
            let (done, took) = timed(|| ran(command.spawn().unwrap()));
            assert!(took < OVER_AFTER, "{place}: {took:?}");
            let summary = night.summary();
            assert_eq!(step(&summary, place), "skipped", "{place}: {done}");
            (done.code, statuses(&summary).join(" "))
        };
        // The corpus was consolidated before, if there was time for it.
        let is_whole = |limit: &&str| hung(limit) == (0, "done done".to_owned());
        assert!([LIMIT, LONGER_LIMIT].iter().any(is_whole), "{place}");
    }
}

// proves: LOOP-30
/// A clock that is set while the run goes on, either way: the limit is not met by it, no duration
/// is negative, and the report says so.
#[test]
fn a_clock_that_is_set_meanwhile_moves_no_limit_and_is_told_of() {
    for (seconds, told) in [("-36000", "set back by 10h"), ("36000", "set forward by 10h")] {
        let night = Night::with_copies();
        let clock = night.aside.path().join("clock");
        let mut command = night.command(&["--run-timeout", "1h"]);
        let held = night.held(command.env("AO_CLOCK", &clock), "reduce");
        std::fs::write(&clock, seconds).unwrap();
        held.go_on().expect(0);
        let summary = night.summary();
        assert_eq!(summary["status"], "done", "{summary:#}");
        assert!(summary["budget_exhausted"].is_null(), "{summary:#}");
        assert_eq!(statuses(&summary), ["done", "done"]);
        let all = summary["clock"].as_array().unwrap();
        assert_eq!(all.len(), 1, "{all:?}");
        assert!(all[0].as_str().unwrap().starts_with(told), "{all:?}");
        let text = night.markdown();
        assert!(text.contains("The clock was") && text.contains(told), "{text}");
        let iterations = summary["iterations"].as_array().unwrap();
        let durations = iterations.iter().map(|one| &one["duration"]).chain([&summary["duration"]]);
        let stages = summary["stages"].as_object().unwrap().values();
        for duration in durations.chain(stages) {
            let duration = duration.as_str().unwrap();
            assert!(!duration.starts_with('-') && !duration.contains('h'), "{duration}");
        }
        // The run that comes after it, on the clock as it was, is a run like any other.
        night.run(&[]).expect(0);
        assert!(night.summary()["clock"].is_null());
    }
}
