//! What becomes of a run that was cut off, and of the report of the run before.

use std::fs;
use std::io::Read;

use serde_json::Value;

use crate::night::Night;
use crate::repo::{TestRepo, wait_until};

const LEARNING: &str = "---\ndate: 2026-03-01\nsource_session: s1\n---\n# Learning: bounded retries\n\n\
    The client in `src/client.rs` failed in 7 of 40 runs because it retried without a bound.\n";

/// A repository with something to promote, after one night.
fn after_a_night() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("knowledge/pending/2026-03-01-retries.md", LEARNING);
    repo.run(&["overnight", "start"]).expect(0);
    repo
}

fn summary(repo: &TestRepo, folder: &str) -> Value {
    serde_json::from_str(&repo.read(&format!("overnight/latest/{folder}summary.json"))).unwrap()
}

fn run_id(summary: &Value) -> String {
    summary["run_id"].as_str().unwrap().to_owned()
}

/// As it is when a run is killed between its first commit and the record of it.
fn cut_off_after_the_commit(repo: &TestRepo) -> String {
    let mut summary = summary(repo, "");
    let id = run_id(&summary);
    assert!(summary["iterations"][0]["commit"]["id"].is_string(), "{summary:#}");
    summary["status"] = "planned".into();
    for key in ["iterations", "fitness_delta", "morning_packets", "yield", "long_haul"] {
        summary.as_object_mut().unwrap().remove(key);
    }
    summary["schema_version"] = 1.into();
    repo.write("overnight/latest/summary.json", &summary.to_string());
    fs::remove_dir_all(repo.state(&format!("latest/{id}/iterations"))).unwrap();
    id
}

/// Every file that a report names is there, and a whole report names many.
fn assert_named_files(report: &Value) {
    assert!(named_files(report) > 10, "{report}");
}

/// How many files a report names, of which each must be there.
fn named_files(report: &Value) -> usize {
    let mut values = vec![report];
    let mut named = 0;
    while let Some(value) = values.pop() {
        match value {
            Value::String(text) if text.starts_with('/') && text.contains("/.agents/") => {
                assert!(fs::exists(text).unwrap() && !text.contains("//"), "{text}");
                named += 1;
            }
            Value::Array(items) => values.extend(items),
            Value::Object(map) => values.extend(map.values()),
            _ => {}
        }
    }
    named
}

// proves: REP-02
#[test]
fn the_report_of_the_run_before_names_its_files_where_they_are() {
    let repo = after_a_night();
    let first = summary(&repo, "");
    assert_named_files(&first);
    repo.run(&["overnight", "start"]).expect(0);
    let moved = summary(&repo, &format!("{}/", run_id(&first)));
    assert_named_files(&moved);
    assert_named_files(&summary(&repo, ""));
    let folder = moved["output_dir"].as_str().unwrap();
    assert!(folder.ends_with(&format!("/latest/{}", run_id(&first))), "{folder}");
    let index =
        repo.read(&format!("overnight/latest/{}/morning-packets/index.json", run_id(&first)));
    for packet in serde_json::from_str::<Value>(&index).unwrap()["packets"].as_array().unwrap() {
        // The next night has packets of the same names: that they are there says nothing.
        let path = packet["artifact_path"].as_str().unwrap();
        assert!(path.starts_with(&format!("{folder}/")) && fs::exists(path).unwrap(), "{packet}");
    }
}

/// A report without any of its optional parts is a report to the next run, too.
// proves: REP-06
#[test]
fn a_report_without_its_optional_parts_is_moved_like_any_other() {
    let repo = after_a_night();
    let mut bare = summary(&repo, "");
    let fields = [
        "close_loop",
        "metrics_health",
        "retrieval_live",
        "briefing",
        "yield",
        "long_haul",
        "morning_packets",
        "council",
        "dreamscape",
        "degraded",
        "iterations",
        "fitness_delta",
    ];
    for field in fields {
        bare.as_object_mut().unwrap().remove(field);
    }
    bare["schema_version"] = 1.into();
    repo.write("overnight/latest/summary.json", &bare.to_string());
    repo.run(&["overnight", "start"]).expect(0);
    assert!(!repo.exists("overnight/latest/unreadable"));
    let moved = summary(&repo, &format!("{}/", run_id(&bare)));
    for kept in ["status", "started_at", "recommended", "next_action"] {
        assert_eq!(moved[kept], bare[kept], "{kept}");
    }
    assert!(fields.iter().all(|field| moved.get(field).is_none()), "{moved:#}");
}

#[test]
fn a_move_that_was_cut_off_is_gone_on_with() {
    let repo = after_a_night();
    let id = run_id(&summary(&repo, ""));
    for name in ["overnight.log", "close-loop.json"] {
        fs::rename(
            repo.state(&format!("latest/{name}")),
            repo.state(&format!("latest/{id}/{name}")),
        )
        .unwrap();
    }
    repo.run(&["overnight", "start"]).expect(0);
    assert_named_files(&summary(&repo, &format!("{id}/")));
    assert!(!repo.exists("overnight/latest/unreadable"), "it was taken for another run's");
}

/// Wherever the move of the run before is cut off, every report that lies there names files that are
/// there, and the next start ends the move.
// proves: RUN-30
#[test]
fn at_every_moment_of_the_move_each_named_file_is_there() {
    let mut steps = 0;
    loop {
        let repo = after_a_night();
        let first = summary(&repo, "");
        let id = run_id(&first);
        steps += 1;
        let mut command = repo.command(&["overnight", "start"]);
        let ran = command.env("AO_NIGHT_FAULT", format!("move-{steps}")).output().unwrap();
        if ran.status.success() {
            break;
        }
        assert_eq!(ran.status.code(), Some(6));
        for folder in [String::new(), format!("{id}/")] {
            if repo.exists(&format!("overnight/latest/{folder}summary.json")) {
                assert_named_files(&summary(&repo, &folder));
            }
        }
        repo.run(&["overnight", "start"]).expect(0);
        let moved = summary(&repo, &format!("{id}/"));
        assert_named_files(&moved);
        assert_named_files(&summary(&repo, ""));
        assert_eq!(moved["artifacts"].as_object().unwrap().len(), {
            first["artifacts"].as_object().unwrap().len()
        });
        // The next run may have this name, but nothing of the first one goes there.
        let other = format!("{id}-2/");
        if repo.exists(&format!("overnight/latest/{other}summary.json")) {
            assert_ne!(run_id(&summary(&repo, &other)), id, "{steps}");
        }
        assert!(!repo.exists("overnight/latest/unreadable"), "{steps}");
    }
    // One a file, and four more.
    assert!(steps > 10, "{steps}");
}

/// Whoever has an artifact open reads it to its end, also while a run writes it anew.
// proves: RUN-30
#[test]
fn an_artifact_is_replaced_whole() {
    let night = Night::with_copies();
    let held = night.held_at("reduce", &[]);
    let mut old = fs::File::open(night.latest("summary.json")).unwrap();
    let before = fs::read_to_string(night.latest("summary.json")).unwrap();
    held.go_on().expect(0);
    let mut read = String::new();
    old.read_to_string(&mut read).unwrap();
    assert_eq!(read, before);
    assert_eq!(night.summary()["status"], "done");
}

/// A run that is gone on with: as long as its old report is there, so are the files of it.
#[test]
fn what_is_set_aside_is_named_no_longer() {
    let repo = after_a_night();
    let path = repo.state("latest/summary.json");
    let mut failed = summary(&repo, "");
    failed["status"] = "failed".into();
    fs::write(&path, failed.to_string()).unwrap();
    let mut command = repo.command(&["overnight", "start", "--resume"]);
    let ran = command.env("AO_NIGHT_FAULT", "set-aside").output().unwrap();
    assert_eq!(ran.status.code(), Some(6));
    named_files(&summary(&repo, ""));
    repo.run(&["overnight", "start", "--resume"]).expect(0);
    assert_named_files(&summary(&repo, ""));
    assert!(repo.exists(&format!("overnight/latest/{}/before-resume", run_id(&failed))));
}

// proves: LOOP-13
#[test]
fn a_commit_that_was_not_told_of_is_told_by_the_next_start() {
    let repo = after_a_night();
    let told = summary(&repo, "")["iterations"][0]["commit"].clone();
    let id = cut_off_after_the_commit(&repo);
    // It may not even have come to its first line.
    fs::remove_file(repo.state("latest/overnight.log")).unwrap();
    repo.run(&["overnight", "start"]).expect(0);
    let report = summary(&repo, &format!("{id}/"));
    assert_named_files(&report);
    assert_eq!(report["status"], "failed");
    let iteration = &report["iterations"][0];
    assert_eq!(iteration["status"], "done", "{report}");
    for key in ["id", "added", "changed", "deleted"] {
        assert_eq!(iteration["commit"][key], told[key], "{key}");
    }
    assert!(iteration["notes"][0].as_str().unwrap().contains("cut off"), "{iteration}");
    let file = repo.state(&format!("latest/{id}/iterations/iter-1.json"));
    repo.run(&["schema", "iteration", "--check", file.to_str().unwrap()]).expect(0);
    let file = repo.state(&format!("latest/{id}/summary.json"));
    repo.run(&["schema", "summary", "--check", file.to_str().unwrap()]).expect(0);
}

// proves: LOOP-13
#[test]
fn a_resumed_run_counts_what_it_committed() {
    let repo = after_a_night();
    let id = cut_off_after_the_commit(&repo);
    let other = LEARNING.replace("client", "importer").replace("7 of 40", "9 of 30");
    repo.write("knowledge/pending/2026-03-02-importer.md", &other);
    // It is brought to the queue once more, under a name of its own.
    repo.write("findings/f-2026-05-01-009.md", "---\nseverity: high\n---\n# Another finding\n");
    repo.run(&["overnight", "start", "--resume"]).expect(0);
    let report = summary(&repo, "");
    assert_eq!((run_id(&report), &report["status"]), (id.clone(), &"done".into()));
    let iterations = report["iterations"].as_array().unwrap();
    let commits: Vec<_> =
        iterations.iter().filter_map(|one| one["commit"]["id"].as_str()).collect();
    assert_eq!(commits, [format!("{id}-iter-1"), format!("{id}-iter-2")]);
    let degraded = report["degraded"].to_string();
    assert!(!degraded.contains("work queue"), "{degraded}");
    repo.run(&["tree", "show", &format!("{id}-packets-2")]).expect(0);
}

#[test]
fn a_dry_run_leaves_a_run_at_work_alone() {
    let repo = TestRepo::new();
    let mut command = repo.command(&["overnight", "start"]);
    let mut at_work = command.env("AO_NIGHT_FAULT", "hang-reduce").spawn().unwrap();
    wait_until("the run is planned", || repo.exists("overnight/latest/summary.json"));
    let before = summary(&repo, "");
    let ran = repo.run(&["--dry-run", "overnight", "start"]).expect(75);
    assert!(ran.stderr.contains("--output-dir") && ran.stderr.contains("hint:"), "{ran}");
    assert_eq!(summary(&repo, ""), before);
    let elsewhere = repo.root().join("elsewhere");
    repo.run(&["--dry-run", "overnight", "start", "--output-dir", elsewhere.to_str().unwrap()])
        .expect(0);
    assert_eq!(summary(&repo, ""), before);
    at_work.kill().unwrap();
    at_work.wait().unwrap();
}
