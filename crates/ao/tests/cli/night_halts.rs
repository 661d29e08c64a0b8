//! What ends a night early, what is let through with a warning, and what the report says of both.

use std::fs;

use serde_json::Value;

use crate::night::{A_ROUND, Night, learning, statuses, step};
use crate::repo::{contents, wait_until};

/// What is in the corpus, without the work queue that the report's packets go to.
fn corpus(night: &Night) -> std::collections::BTreeMap<String, String> {
    let mut all = contents(&night.repo.tree());
    all.retain(|path, _| !path.starts_with("rpi/"));
    all
}

fn rescues(night: &Night) -> Value {
    night.repo.run(&["--json", "overnight", "warn-only", "show"]).expect(0).json()["budget"]
        ["remaining"]
        .clone()
}

// proves: LOOP-11, LOOP-14, RUN-43, REP-08
#[test]
fn a_plateau_halts_a_strict_night_and_is_rolled_back() {
    let night = Night::with(30);
    night.harvest_rounds(4);
    let done = night.run(&["--warn-only=false", "--plateau-epsilon", "1"]).expect(0);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["done", "halted-on-regression-pre-commit"], "{done}");
    assert_eq!(summary["plateau_reason"], "2 consecutive iterations below epsilon 1");
    assert!(summary.get("regression_reason").is_none());
    assert_eq!(summary["status"], "done");
    let taken = night.repo.tree().keys().filter(|path| path.contains("-theirs-")).count();
    assert_eq!(taken, A_ROUND, "the second round is rolled back");
    assert_eq!(rescues(&night), 3);
    assert!(night.markdown().contains("2 consecutive iterations"), "{}", night.markdown());
    // A wider window waits longer; one of three was seen.
    let wide = Night::with(30);
    wide.harvest_rounds(4);
    wide.run(&["--warn-only=false", "--plateau-epsilon", "1", "--plateau-window", "3"]).expect(0);
    let summary = wide.summary();
    assert_eq!(statuses(&summary), ["done", "done", "halted-on-regression-pre-commit"]);
    // From before the first to after the last that was kept, whatever lies between.
    let at = |nth: usize, when: &str, metric: &str| {
        summary["iterations"][nth][when][metric].as_f64().unwrap()
    };
    let moved = summary["fitness_delta"].as_object().unwrap();
    for (metric, delta) in moved {
        let whole = at(1, "fitness_after", metric) - at(0, "fitness_before", metric);
        assert!((delta.as_f64().unwrap() - whole).abs() < 1e-5, "{metric}: {delta}");
    }
    let first = |metric: &String| at(0, "fitness_after", metric) - at(0, "fitness_before", metric);
    assert!(moved.keys().any(|metric| first(metric).abs() > 1e-3), "{summary:#}");
}

// proves: LOOP-11
#[test]
fn a_plateau_in_warn_only_mode_spends_rescues_and_then_halts() {
    let night = Night::with(30);
    night.harvest_rounds(6);
    night.run(&["--plateau-epsilon", "1"]).expect(0);
    let summary = night.summary();
    assert_eq!(
        statuses(&summary),
        ["done", "done", "done", "done", "halted-on-regression-pre-commit"],
        "the first has no window yet, three are rescued"
    );
    let reason = summary["plateau_reason"].as_str().unwrap();
    assert!(reason.ends_with("(warn-only budget exhausted)"), "{reason}");
    assert_eq!(summary["warn_only_remaining"], 0);
    assert_eq!(rescues(&night), 0);
    let first: String = night.markdown().lines().take(12).collect::<Vec<_>>().join("\n");
    assert!(first.contains("The gate did not enforce"), "{first}");
    assert!(first.contains("iteration 2"), "{first}");
}

fn deltas(summary: &Value) -> Vec<f64> {
    let all = summary["iterations"].as_array().unwrap().iter();
    all.map(|one| one["fitness_delta"].as_f64().unwrap()).collect()
}

// proves: LOOP-11
#[test]
fn small_moves_are_a_plateau_only_in_a_row() {
    let night = Night::with(30);
    night.harvest_rounds(4);
    night.run(&["--warn-only=false", "--plateau-epsilon", "0.01"]).expect(0);
    let summary = night.summary();
    let deltas = deltas(&summary);
    assert!(deltas[0] > 0.01 && deltas[1..].iter().all(|delta| delta.abs() < 0.01), "{deltas:?}");
    assert_eq!(statuses(&summary), ["done", "done", "halted-on-regression-pre-commit"]);
}

// proves: LOOP-11, LOOP-26
#[test]
fn moves_downwards_are_no_plateau_either() {
    let night = Night::with(86);
    for number in 86..100 {
        let text = learning(number).replacen("---\n", "---\nmaturity: established\n", 1);
        night.repo.write(&format!("learnings/2026-03-01-case-{number}.md"), &text);
    }
    // Each round makes the corpus a little less mature, and none by more than its floor.
    night.harvest_from(2 * A_ROUND, |number| {
        let old = learning(1000 + number).replacen("date: 2026-03", "date: 2026-02", 1);
        (format!("learnings/2026-02-03-theirs-{number}.md"), old)
    });
    night.run(&["--warn-only=false", "--plateau-epsilon", "0.00001"]).expect(0);
    let summary = night.summary();
    let deltas = deltas(&summary);
    assert!(deltas[..2].iter().all(|delta| *delta < -0.00001), "{deltas:?}");
    // By more than the floor of another metric, and by less than its own.
    let maturity = |when: &str| summary["iterations"][0][when]["maturity"].as_f64().unwrap();
    let drop = maturity("fitness_before") - maturity("fitness_after");
    assert!((0.02..0.05).contains(&drop), "{drop}");
    assert_eq!(statuses(&summary), ["done", "done", "done"]);
}

// proves: LOOP-12, RUN-43, RUN-03, REP-08
#[test]
fn a_regression_halts_a_strict_night_before_anybody_sees_it() {
    let night = Night::with(30);
    night.harvest_regressions(0, 1);
    let before = corpus(&night);
    let done = night.run(&["--warn-only=false"]).expect(4);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["halted-on-regression-pre-commit"], "{done}");
    assert_eq!(summary["status"], "done");
    let reason = summary["regression_reason"].as_str().unwrap();
    // metric, drop and floor
    assert!(
        reason.contains("freshness dropped 0.") && reason.contains("below floor 0.05"),
        "{reason}"
    );
    assert!(!reason.contains("exhausted"), "{reason}");
    assert_eq!(summary["iterations"][0]["error"].as_str(), Some(reason));
    assert!(summary.get("plateau_reason").is_none());
    assert_eq!(corpus(&night), before);
    let text = night.markdown();
    assert!(text.contains("Halted on a regression") && text.contains("strict"), "{text}");
    assert!(text.contains("mixes of old and new subpaths were not checked"), "{text}");
    assert_eq!(summary["subpath_mixes_checked"], false);
    // Nothing moved in the end.
    let moved = summary["fitness_delta"].as_object().unwrap();
    assert!(
        moved.len() > 4 && moved.values().all(|value| value.as_f64() == Some(0.0)),
        "{moved:?}"
    );
}

// proves: LOOP-12, RUN-03, REP-08
#[test]
fn a_regression_is_let_through_three_times_and_no_more() {
    let night = Night::with(30);
    for nights in 0..3 {
        night.harvest_regressions(nights, 1);
        night.run(&["--max-iterations", "1"]).expect(0);
        let summary = night.summary();
        assert_eq!(statuses(&summary), ["done"]);
        assert_eq!(rescues(&night), 2 - nights);
        assert_eq!(summary["warn_only_budget_initial"], 3);
        assert_eq!(summary["warn_only_remaining"], 2 - nights);
        // It went on: there is no reason for a halt.
        assert!(summary.get("regression_reason").is_none(), "{summary:#}");
        assert!(summary.get("plateau_reason").is_none(), "{summary:#}");
        let first: String = night.markdown().lines().take(8).collect::<Vec<_>>().join("\n");
        assert!(first.contains("The gate did not enforce"), "{first}");
        assert!(first.contains("Let through: iteration 1: freshness dropped"), "{first}");
        night.forget_theirs();
    }
    night.harvest_regressions(3, 1);
    let before = corpus(&night);
    night.run(&[]).expect(4);
    let summary = night.summary();
    let reason = summary["regression_reason"].as_str().unwrap();
    assert!(reason.ends_with("(warn-only budget exhausted)"), "{reason}");
    assert_eq!(statuses(&summary), ["halted-on-regression-pre-commit"]);
    assert_eq!(corpus(&night), before);
    night.repo.run(&["overnight", "warn-only", "reset"]).expect(0);
    assert_eq!(rescues(&night), 3);
    night.run(&["--max-iterations", "1"]).expect(0);
    assert_eq!(statuses(&night.summary()), ["done"]);
}

// proves: LOOP-29, LOOP-14, REP-12
#[test]
fn each_stage_that_fails_has_its_own_status_and_leaves_the_tree() {
    for (fault, status, code) in [
        ("ingest", "failed", 1),
        ("close-loop", "rolled-back-pre-commit", 1),
        ("reduce", "rolled-back-pre-commit", 0),
        ("commit", "failed", 1),
        ("panic-ingest", "failed", 1),
        ("panic-reduce", "failed", 1),
    ] {
        let night = Night::with_copies();
        let before = corpus(&night);
        let done = night.run_with(fault, &[]).expect(code);
        let summary = night.summary();
        assert_eq!(statuses(&summary), [status], "{fault}: {done}");
        let error = summary["iterations"][0]["error"].as_str().unwrap();
        assert!(error.contains("asked for"), "{fault}: {error}");
        assert_eq!(summary["status"], if code == 1 { "failed" } else { "done" }, "{fault}");
        assert_eq!(corpus(&night), before, "{fault}");
        assert!(!night.repo.exists("overnight/staging"), "{fault}");
    }
}

// proves: LOOP-29, LOOP-14
#[test]
fn three_measures_that_fail_in_a_row_end_the_loop() {
    let night = Night::with_copies();
    let before = corpus(&night);
    night.run_with("measure", &[]).expect(0);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["degraded", "degraded", "degraded"]);
    assert_eq!(summary["measure_failure_halt"], true);
    assert!(summary["iterations"][0].get("committed").is_none());
    assert_eq!(corpus(&night), before);
    assert!(night.markdown().contains("three times in a row"), "{}", night.markdown());
    night.run_with("measure", &["--max-iterations", "2"]).expect(0);
    assert_eq!(night.summary().get("measure_failure_halt"), None);
}

/// What others keep from its commit three times in a row is not tried for ever.
#[test]
fn somebody_who_changes_a_file_before_every_commit_ends_the_loop() {
    let night = Night::with_copies();
    let go = night.aside.path().join("go");
    let here = go.with_extension("commit");
    let mut command = night.command(&["--run-timeout", "10m"]);
    command.env("AO_NIGHT_FAULT", "each-commit").env("AO_NIGHT_GO", &go);
    let child = command.spawn().unwrap();
    for nth in 1..=3 {
        wait_until("it is about to commit", || here.exists());
        fs::remove_file(&here).unwrap();
        let seen = format!("---\nseen: {nth}\n");
        let copy = learning(1).replacen("---\n", &seen, 1);
        night.repo.write("learnings/2026-03-02-copy.md", &copy);
        fs::write(&go, "").unwrap();
    }
    crate::night::ran(child).expect(0);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["rolled-back-pre-commit"; 3], "{summary:#}");
    let degraded = summary["degraded"].to_string();
    assert!(degraded.contains("others kept changing the files"), "{degraded}");
}

// proves: RUN-20, RUN-24, RUN-43
// pitfall 19: a failed run's report says all steps pending, no reason, weather "steady".
#[test]
fn a_hard_step_that_fails_ends_the_run_with_a_report() {
    for (fault, failed, last) in [
        ("close-loop", "close-loop", "none"),
        ("write-close-loop", "close-loop", "iteration-2"),
        ("metrics-health", "metrics-health", "defrag-preview"),
        ("panic-metrics-health", "metrics-health", "defrag-preview"),
        ("write-metrics-health", "metrics-health", "defrag-preview"),
    ] {
        let night = Night::with_copies();
        let done = night.run_with(fault, &[]).expect(1);
        let summary = night.summary();
        assert_eq!(summary["status"], "failed", "{fault}: {done}");
        assert_eq!(step(&summary, failed), "failed", "{fault}");
        assert_eq!(step(&summary, "morning-packets"), "skipped", "{fault}");
        let steps = summary["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["status"] != "pending"), "{fault}");
        let reason = summary["failure_reason"].as_str().unwrap();
        assert!(reason.contains("asked for"), "{fault}: {reason}");
        let text = night.markdown();
        let log = night.latest("overnight.log");
        for told in ["FAILED", "asked for", log.to_str().unwrap(), failed] {
            assert!(text.contains(told), "{fault}: no {told} in {text}");
        }
        let line = text.lines().find(|line| line.contains("Last completed step")).unwrap();
        assert!(line.contains(last), "{fault}: {line}");
        assert!(!text.to_lowercase().contains("steady"), "{fault}: {text}");
    }
}

// proves: RUN-21, RUN-27, RUN-43
#[test]
fn a_soft_step_that_fails_loses_nothing_of_the_rest() {
    let goal = ["--goal", "calm"];
    for (fault, failed, artifact) in [
        ("write-defrag-preview", "defrag-preview", "defrag/latest.json"),
        ("write-retrieval-live", "retrieval-live", "retrieval-bench.json"),
        ("knowledge-brief", "knowledge-brief", "briefing.json"),
        ("panic-knowledge-brief", "knowledge-brief", "briefing.json"),
        ("bead-sync", "bead-sync", ""),
    ] {
        let night = Night::with_copies();
        night.run_with(fault, &goal).expect(0);
        let summary = night.summary();
        assert_eq!(
            (&summary["status"], step(&summary, failed)),
            (&"done".into(), "soft-fail"),
            "{fault}"
        );
        let degraded = summary["degraded"].as_array().unwrap();
        assert!(degraded.contains(&failed.into()), "{fault}: {degraded:?}");
        assert!(artifact.is_empty() || !night.latest(artifact).exists(), "{fault}");
        for other in ["close-loop", "metrics-health", "morning-packets"] {
            assert_eq!(step(&summary, other), "done", "{fault}");
        }
        assert!(summary["dreamscape"].is_object(), "{fault}");
        // There is no `bd` here.
        assert_eq!(step(&summary, "bead-sync"), "soft-fail", "{fault}");
        assert!(degraded.contains(&"bead-sync".into()), "{fault}: {degraded:?}");
        assert!(night.markdown().contains("## Degraded"), "{fault}");
    }
    let night = Night::with_copies();
    let strict = ["--json", "--strict-exit", "overnight", "start", "--no-keep-awake"];
    let mut command = night.repo.command(&[&strict[..], &goal].concat());
    crate::night::ran(command.env("AO_NIGHT_FAULT", "knowledge-brief").spawn().unwrap()).expect(3);
}

// pitfall 13: promoting is punished, and one new finding is a regression by itself.
// proves: LOOP-26
#[test]
fn one_finding_and_a_promotion_are_no_regression() {
    let night = Night::with(30);
    night.pending(1);
    night.repo.write(
        "findings/f-2026-03-01-001.md",
        &format!("---\nid: f\nseverity: critical\nstatus: open\n---\n{}", crate::night::text(800)),
    );
    night.run(&["--warn-only=false"]).expect(0);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["done", "done"], "{summary:#}");
    let first = &summary["iterations"][0];
    assert_eq!(first["ingest"]["learnings_added"], 1);
    let delta = |name: &str| summary["fitness_delta"][name].as_f64().unwrap();
    assert!(first["fitness_after"]["retrieval"].as_f64().unwrap() > 0.5, "not zero for ever");
    assert!(delta("maturity") > 0.0, "what was pending counted for less");
    // The day before it there was no finding: that alone is under the floor of the metric.
    let one = 1.0 - first["fitness_before"]["findings"].as_f64().unwrap();
    assert!(one > 0.0 && one < 0.1, "{one}");
}

// proves: LOOP-18, RUN-03
#[test]
fn the_checkpoints_of_a_run_are_counted_together() {
    let night = Night::with(3);
    // Two copies, of which one goes, and then two rounds; the second one is large.
    let large = format!("{}{}", learning(900), "The same line once more.\n".repeat(8000));
    for name in ["one", "two"] {
        night.repo.write(&format!("learnings/2026-03-01-large-{name}.md"), &large);
    }
    night.harvest_from(2 * A_ROUND, |number| {
        let filler = crate::night::text(number).repeat(if number < A_ROUND { 1 } else { 12 });
        let text = format!("---\nid: theirs-{number}\n---\n# Theirs\n\n{filler}");
        (format!("learnings/2026-03-03-theirs-{number:03}.md"), text)
    });
    let before = corpus(&night);
    let done = night.run(&["--checkpoint-max-mb", "0"]).expect(1);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["failed"], "{done}");
    let reason = summary["failure_reason"].as_str().unwrap();
    assert!(reason.contains("bytes allowed"), "{reason}");
    assert_eq!(corpus(&night), before);
    assert!(!night.repo.exists("overnight/staging") && !night.repo.exists("overnight/undo"));
    // One round fits; both together do not, also not for the process that goes on with the run.
    for more in [&["--checkpoint-max-mb", "1"][..], &["--checkpoint-max-mb", "1", "--resume"]] {
        night.run(more).expect(1);
        let told = night.summary()["failure_reason"].as_str().unwrap().to_owned();
        assert!(told.contains("bytes allowed"), "{told}");
        let taken = night.repo.tree().keys().filter(|path| path.contains("-theirs-")).count();
        assert_eq!(taken, A_ROUND);
    }
    assert_eq!(statuses(&night.summary()), ["done", "failed", "failed"]);
    night.run(&["--checkpoint-max-mb", "64", "--resume"]).expect(0);
    assert_eq!(statuses(&night.summary()), ["done", "failed", "failed", "done", "done"]);
}
