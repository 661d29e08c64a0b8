//! Runs that an older program, another tool or another clock left behind.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::night::{Night, json_of, statuses};

/// A run of an older program that was cut off after these iterations.
pub(crate) fn old_run(night: &Night, iterations: &[Value]) -> PathBuf {
    night.run(&["--goal", "old"]).expect(0);
    let mut summary = night.summary();
    let run = summary["run_id"].as_str().unwrap().to_owned();
    let folder = night.latest(&format!("{run}/iterations"));
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir_all(&folder).unwrap();
    for one in iterations {
        let mut record = json!({
            "id": format!("{run}-iter-{}", one["index"]),
            "started_at": "2026-03-01T02:00:00Z",
            "finished_at": "2026-03-01T02:01:00Z",
            "duration": "1m0s",
            "made_by": "another tool",
        });
        record.as_object_mut().unwrap().extend(one.as_object().unwrap().clone());
        let name = format!("iter-{}.json", one["index"]);
        fs::write(folder.join(name), record.to_string()).unwrap();
    }
    summary["status"] = "planned".into();
    fs::write(night.latest("summary.json"), summary.to_string()).unwrap();
    // Its commits are not of this run's iterations.
    folder
}

fn fit(composite: f64) -> Value {
    json!({ "composite": composite, "retrieval": composite })
}

// proves: LOOP-15, LOOP-16, LOOP-14
#[test]
fn only_what_is_in_the_corpus_is_a_baseline() {
    let night = Night::with(6);
    let folder = old_run(
        &night,
        &[
            json!({ "index": 1, "status": "done", "fitness_before": fit(0.5), "fitness_after": fit(0.6), "fitness_delta": 0.1 }),
            json!({ "index": 2, "status": "halted-on-regression-post-commit", "fitness_before": fit(0.6), "fitness_after": fit(0.55), "fitness_delta": -0.05 }),
            json!({ "index": 3, "status": "degraded", "fitness_after": fit(0.9) }),
            json!({ "index": 4, "status": "rolled-back-pre-commit", "fitness_after": fit(0.91) }),
            json!({ "index": 5, "status": "halted-on-regression-pre-commit", "fitness_after": fit(0.92) }),
            json!({ "index": 6, "status": "failed", "fitness_after": fit(0.93), "error": "no space" }),
        ],
    );
    night.run(&["--resume"]).expect(0);
    let summary = night.summary();
    assert_eq!(
        statuses(&summary),
        [
            "done",
            "halted-on-regression-post-commit",
            "degraded",
            "rolled-back-pre-commit",
            "halted-on-regression-pre-commit",
            "failed",
            "done"
        ]
    );
    assert_eq!(summary["iterations"][6]["index"], 7);
    assert_eq!(summary["iterations"][0]["made_by"], "another tool");
    // From before the first to the last that is in the corpus: 0.5 to 0.55, past the others.
    let moved = summary["fitness_delta"]["composite"].as_f64().unwrap();
    assert!((moved - 0.05).abs() < 1e-9, "{moved}");
    assert!(folder.join("committed-but-flagged.iter-2.marker").is_file());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 8);
    let text = night.markdown();
    assert!(text.contains("committed-but-flagged.iter-2.marker"), "{text}");
}

// proves: LOOP-14
#[test]
fn a_status_that_nobody_knows_is_refused_and_nothing_is_overwritten() {
    let night = Night::with(6);
    let folder = old_run(
        &night,
        &[
            json!({ "index": 1, "status": "done" }),
            json!({ "index": 2, "status": "rolled-sideways" }),
            json!({ "index": 3, "status": "done" }),
        ],
    );
    let before = night.all_files();
    let refused = night.run(&["--resume"]).expect(6);
    assert!(
        refused.stderr.contains("iter-2.json") && refused.stderr.contains("rolled-sideways"),
        "{refused}"
    );
    let mut after = night.all_files();
    let lock = ".agents/overnight/run.lock";
    after.insert(lock.into(), before[lock].clone());
    assert_eq!(after, before);
    // Without it the night goes on, and the old run's report names the file.
    night.run(&[]).expect(0);
    let report = json_of(&folder.parent().unwrap().join("summary.json"));
    assert_eq!(statuses(&report), ["done", "done"]);
    assert!(report["degraded"].to_string().contains("iter-2.json"), "{report:#}");
    assert!(folder.join("iter-2.json").is_file());
}

// proves: RUN-41
// A clock that was set back: what began tomorrow by it ends today.
#[test]
fn a_run_that_began_tomorrow_is_gone_on_with() {
    let night = Night::with(6);
    old_run(&night, &[]);
    let mut summary = night.summary();
    for key in ["started_at", "finished_at"] {
        summary[key] = "2199-01-01T00:00:00Z".into();
    }
    fs::write(night.latest("summary.json"), summary.to_string()).unwrap();
    night.run(&["--resume"]).expect(0);
    let resumed = night.summary();
    assert_eq!((&resumed["status"], &resumed["duration"]), (&"done".into(), &"0s".into()));
    assert_eq!(resumed["run_id"], summary["run_id"]);
    // A reader that cannot tell by the times goes by the lock alone.
    summary["status"] = "planned".into();
    fs::write(night.latest("summary.json"), summary.to_string()).unwrap();
    let shown = night.repo.run(&["--json", "overnight", "report"]).expect(0).json();
    assert_eq!(shown["summary"]["status"], "failed");
    night.run(&[]).expect(0);
}
