//! Runs that were cut off: what they leave, who may touch it, and how they are gone on with.

use std::fs;
use std::path::PathBuf;

use crate::night::{A_ROUND, Night, json_of, statuses, step};
use crate::repo::{contents, wait_until};

// proves: RUN-24, RUN-16, REP-03
// pitfall 8: a run ended by a signal leaves no report.
#[test]
fn a_signal_ends_a_run_with_a_report() {
    for (signal, place) in [("TERM", "reduce"), ("INT", "ingest"), ("HUP", "knowledge-brief")] {
        let night = Night::with_copies();
        let before = contents(&night.repo.tree());
        let held = night.held_at(place, &["--goal", "calm"]);
        let done = held.signal(signal).expect(1);
        let summary = night.summary();
        assert_eq!(summary["status"], "failed", "{done}");
        assert_eq!(summary["failure_reason"], format!("ended by SIG{signal}"));
        let text = night.markdown();
        let log = night.latest("overnight.log");
        for told in
            ["FAILED", &format!("SIG{signal}"), "Last completed step", log.to_str().unwrap()]
        {
            assert!(text.contains(told), "{told} in {text}");
        }
        let steps = summary["steps"].as_array().unwrap();
        assert!(steps.iter().all(|step| step["status"] != "pending"), "{steps:#?}");
        if place == "knowledge-brief" {
            assert_eq!(statuses(&summary), ["done", "done"]);
            assert_eq!(step(&summary, "metrics-health"), "done");
            assert_eq!(json_of(&night.latest("metrics-health.json"))["schema_version"], 1);
        } else {
            assert_eq!(statuses(&summary), ["rolled-back-pre-commit"]);
            assert_eq!(contents(&night.repo.tree()), before);
        }
        assert!(!night.repo.exists("overnight/staging"));
        // The lock went with it.
        night.run(&[]).expect(0);
    }
}

// proves: RUN-24
#[test]
fn a_panic_ends_a_run_with_a_report() {
    // While it thinks, and while it writes down what came of that.
    for place in ["measure", "write-metrics-health"] {
        let night = Night::with_copies();
        night.run_with(&format!("panic-{place}"), &[]).expect(1);
        let summary = night.summary();
        let reason = summary["failure_reason"].as_str().unwrap();
        let told = format!("in {place}");
        assert!(reason.contains("panicked") && reason.contains(&told), "{reason}");
        assert_eq!(summary["status"], "failed");
        assert!(night.markdown().contains("panicked"), "{}", night.markdown());
    }
}

// proves: RUN-15, RUN-16, RUN-17, LOOP-20
// pitfalls 2, 3 and 5: a refused start recovers; another output directory is another lock; staging
// is left for ever.
#[test]
fn a_second_start_is_refused_and_touches_nothing() {
    let night = Night::with_copies();
    let held = night.held_at("reduce", &[]);
    let staging = night.repo.state("staging/somebody/.agents");
    fs::create_dir_all(&staging).unwrap();
    let told = night.repo.run(&["--json", "overnight", "status"]).expect(0).json();
    assert_eq!(told["is_running"], true);
    assert_eq!(told["run"]["process"], held.id());
    held.freeze();
    let before = night.all_files();
    let elsewhere = night.aside.path().join("elsewhere");
    for more in [&[][..], &["--output-dir", elsewhere.to_str().unwrap()], &["--resume"]] {
        let refused = night.run(more).expect(75);
        let who = format!("process {} since 20", held.id());
        assert!(refused.stderr.contains(&who), "{refused}");
    }
    assert!(staging.exists() && !elsewhere.exists());
    // A dry run holds no lock, but it does not write over the report of a run that lives either.
    let dry = ["--json", "--dry-run", "overnight", "start"];
    let refused = night.repo.run(&dry).expect(75);
    assert!(refused.stderr.contains("another run writes its report there"), "{refused}");
    assert_eq!(night.all_files(), before);
    assert_eq!(night.summary()["status"], "planned");
    let process = held.id();
    held.signal("KILL");
    let told = night.repo.run(&["--json", "overnight", "status"]).expect(0).json();
    assert_eq!(told["is_running"], false);
    night.run(&[]).expect(0);
    assert!(!night.repo.exists("overnight/staging"));
    let recovered = night.summary()["recovered"].to_string();
    assert!(recovered.contains(&format!("process {process}")), "{recovered}");
    assert!(recovered.contains("somebody"), "{recovered}");
}

// proves: REP-03, REP-07, REP-19
#[test]
fn a_killed_run_reads_as_failed() {
    let night = Night::with_copies();
    night.held_at("verify", &[]).signal("KILL");
    let planned = night.summary();
    assert_eq!(planned["status"], "planned");
    // Nothing of version 2 is in it yet.
    assert_eq!(planned["schema_version"], 1);
    for later in ["iterations", "fitness_delta", "yield", "long_haul", "morning_packets"] {
        assert!(planned.get(later).is_none(), "{later}");
    }
    let shown = night.repo.run(&["--json", "overnight", "report"]).expect(0).json();
    assert_eq!(shown["summary"]["status"], "failed");
    let text = night.repo.run(&["overnight", "report"]).expect(0).stdout;
    assert!(text.contains("FAILED"), "{text}");
}

// proves: RUN-41, RUN-42
#[test]
fn the_start_after_a_killed_run_writes_its_report() {
    let night = Night::with(10);
    night.harvest_rounds(2);
    let held = night.held_at("verify", &["--goal", "first"]);
    // The first iteration is committed and has no record yet.
    held.signal("KILL");
    let planned = night.summary();
    night.run(&["--goal", "second"]).expect(0);
    let id = planned["run_id"].as_str().unwrap();
    let report = json_of(&night.latest(&format!("{id}/summary.json")));
    assert_eq!((&report["status"], &report["goal"]), (&"failed".into(), &"first".into()));
    let reason = report["failure_reason"].as_str().unwrap();
    assert!(reason.contains("cut off"), "{reason}");
    // The history of commits knew the iteration; what is told of it is what was committed.
    assert_eq!(statuses(&report), ["done"]);
    assert_eq!(report["iterations"][0]["commit"]["added"], A_ROUND + 1);
    assert_eq!(step(&report, "iteration-1"), "done");
    assert_eq!(step(&report, "metrics-health"), "skipped");
    let from = night.latest(id);
    let from = from.to_str().unwrap();
    let shown = night.repo.run(&["overnight", "report", "--from", from]).expect(0).stdout;
    assert!(shown.contains("first") && shown.contains("FAILED"), "{shown}");
    let now = night.summary();
    assert_eq!(now["goal"], "second");
    assert_ne!(now["run_id"], planned["run_id"]);
    let recovered = now["recovered"].to_string();
    assert!(recovered.contains(id), "{recovered}");
}

// proves: RUN-41, LOOP-13, LOOP-17
#[test]
fn a_killed_run_is_gone_on_with_under_its_id() {
    let night = Night::with(10);
    night.harvest_rounds(3);
    let held = night.held_at("verify", &["--goal", "calm"]);
    held.signal("KILL");
    let planned = night.summary();
    night.run(&["--resume", "--plateau-epsilon", "0.000001"]).expect(0);
    let summary = night.summary();
    for kept in ["run_id", "goal", "started_at"] {
        assert_eq!(summary[kept], planned[kept], "{kept}");
    }
    assert_eq!(step(&summary, "knowledge-brief"), "done");
    assert_eq!(statuses(&summary), ["done", "done", "done", "done"]);
    let run = summary["run_id"].as_str().unwrap();
    let log = night.repo.run(&["--json", "tree", "log"]).expect(0).json();
    let ids: Vec<&str> =
        log["commits"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    let expected: Vec<String> =
        ["-packets", "-iter-3", "-iter-2", "-iter-1"].map(|end| format!("{run}{end}")).into();
    assert_eq!(ids, expected, "none is made twice");
    let again = night.run(&["--resume"]).expect(2);
    assert!(again.stderr.contains("was finished"), "{again}");
    let other = night.run(&["--resume", "20200101T000000Z"]).expect(2);
    assert!(other.stderr.contains("no run 20200101T000000Z"), "{other}");
}

// proves: LOOP-13
#[test]
fn what_an_iteration_recorded_is_in_the_report_of_whoever_goes_on() {
    let night = Night::with_copies();
    // After the loop, before the report.
    let held = night.held_at("knowledge-brief", &["--goal", "calm"]);
    let planned = night.summary();
    assert_eq!((&planned["status"], planned.get("iterations")), (&"planned".into(), None));
    let run = planned["run_id"].as_str().unwrap();
    let recorded =
        [1, 2].map(|nth| json_of(&night.latest(&format!("{run}/iterations/iter-{nth}.json"))));
    held.signal("KILL");
    night.run(&["--resume"]).expect(0);
    let summary = night.summary();
    assert_eq!(summary["iterations"].as_array().unwrap()[..2], recorded, "{summary:#}");
}

// proves: LOOP-17
#[test]
fn iterations_before_the_kill_count() {
    let night = Night::with(10);
    night.harvest_rounds(3);
    let held = night.held_at("verify", &["--max-iterations", "2"]);
    held.signal("KILL");
    let more = ["--resume", "--max-iterations", "2", "--plateau-epsilon", "0.000001"];
    night.run(&more).expect(0);
    assert_eq!(statuses(&night.summary()), ["done", "done"]);
    let taken = night.repo.tree().keys().filter(|path| path.contains("-theirs-")).count();
    assert_eq!(taken, 2 * A_ROUND);
}

// proves: RUN-41
#[test]
fn a_run_that_was_killed_in_another_folder_gets_its_report_too() {
    let night = Night::with_copies();
    let elsewhere = night.aside.path().join("elsewhere");
    let held = night.held_at("reduce", &["--output-dir", elsewhere.to_str().unwrap()]);
    held.signal("KILL");
    assert_eq!(json_of(&elsewhere.join("summary.json"))["status"], "planned");
    night.run(&[]).expect(0);
    assert_eq!(json_of(&elsewhere.join("summary.json"))["status"], "failed");
    assert!(fs::read_to_string(elsewhere.join("summary.md")).unwrap().contains("FAILED"));
}

// proves: RUN-41, RUN-03
#[test]
fn rescues_that_were_spent_before_are_told_after_a_resume() {
    let night = Night::with(30);
    night.harvest_regressions(0, 1);
    let held = night.held_at("knowledge-brief", &["--goal", "calm", "--max-iterations", "1"]);
    held.signal("TERM").expect(1);
    night.run(&["--resume", "--max-iterations", "1", "--warn-only=false"]).expect(0);
    let text = night.markdown();
    let first: String = text.lines().take(10).collect::<Vec<_>>().join("\n");
    assert!(first.contains("The gate did not enforce"), "{first}");
    assert!(first.contains("iteration 1: ") && first.contains("freshness dropped"), "{first}");
}

// proves: RUN-42
#[test]
fn each_run_keeps_its_artifacts_under_its_own_id() {
    let night = Night::with_copies();
    night.run(&["--goal", "one"]).expect(0);
    let one = night.summary();
    let kept = fs::read(night.latest("retrieval-bench.json")).unwrap();
    night.run(&[]).expect(0);
    let two = night.summary();
    // Two starts in one second are two runs.
    assert_ne!(one["run_id"], two["run_id"]);
    night.run(&[]).expect(0);
    let id = one["run_id"].as_str().unwrap();
    assert_eq!(fs::read(night.latest(&format!("{id}/retrieval-bench.json"))).unwrap(), kept);
    let moved = json_of(&night.latest(&format!("{id}/summary.json")));
    for path in moved["artifacts"].as_object().unwrap().values() {
        assert!(path.as_str().unwrap().contains(&format!("latest/{id}/")), "{path}");
        assert!(PathBuf::from(path.as_str().unwrap()).is_file(), "{path}");
    }
    let from = night.latest(id);
    let shown =
        night.repo.run(&["overnight", "report", "--from", from.to_str().unwrap()]).expect(0);
    assert!(shown.stdout.contains("one"), "{shown}");
    assert!(night.latest(two["run_id"].as_str().unwrap()).join("summary.md").is_file());
}

// proves: RUN-41
#[test]
fn what_a_step_wrote_before_the_kill_is_not_taken_for_this_time() {
    let night = Night::with_copies();
    let held = night.held_at("morning-packets", &["--goal", "calm"]);
    assert!(night.latest("briefing.json").exists());
    held.signal("KILL");
    let mut resumed = night.command(&["--resume"]);
    resumed.env("AO_NIGHT_FAULT", "knowledge-brief");
    crate::night::ran(resumed.spawn().unwrap()).expect(0);
    assert_eq!(step(&night.summary(), "knowledge-brief"), "soft-fail");
    assert!(!night.latest("briefing.json").exists());
    let run = night.summary()["run_id"].as_str().unwrap().to_owned();
    assert!(night.latest(&format!("{run}/before-resume/briefing.json")).is_file());
    wait_until("nothing is left", || !night.repo.exists("overnight/status.json"));
}
