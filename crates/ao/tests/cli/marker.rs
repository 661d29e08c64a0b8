//! Markers: ours is followed, another tool's finished one is tidied up, a doubtful one stops us.

use std::fs;

use serde_json::{Value, json};

use crate::repo::{TestRepo, write};

/// A commit that was killed after it was decided, before it was finished.
fn decided(repo: &TestRepo) -> (String, Value) {
    repo.killed_when_decided("cut");
    let name = "overnight/COMMIT-MARKER.cut".to_owned();
    let marker = serde_json::from_str(&repo.read(&name)).unwrap();
    (name, marker)
}

// proves: LOOP-04, LOOP-20
#[test]
fn a_decided_commit_is_finished_by_the_next_start() {
    let repo = TestRepo::new();
    decided(&repo);
    // A reader sees what was decided, and writes nothing.
    let before = repo.everything();
    let log = repo.run(&["--json", "tree", "log"]).expect(0).json();
    assert_eq!(log["commits"][0]["id"], "cut", "{log:#}");
    let shown = repo.run(&["--json", "tree", "diff"]).expect(0).json();
    assert!(shown["diff"].as_str().unwrap().contains("+b, better"), "{shown:#}");
    let undone = repo.run(&["--json", "--dry-run", "tree", "undo"]).expect(0).json();
    assert_eq!(undone["changes"].as_array().unwrap().len(), 7, "{undone:#}");
    repo.run(&["tree", "verify"]).expect(5);
    assert_eq!(repo.everything(), before);
    let told = repo.run(&["--dry-run", "tree", "recover"]).expect(0);
    assert!(told.stdout.contains("cut"), "{told}");
    assert!(repo.exists("overnight/COMMIT-MARKER.cut"));
    let next = repo.apply(&json!([write("learnings/a.md", "x\n")])).expect(0).json();
    assert_eq!(next["recovered"]["finished"], "cut");
    assert_eq!(repo.read("learnings/b.md"), "b, better\n");
    assert_eq!(repo.read("learnings/a.md"), "x\n");
    repo.run(&["tree", "verify"]).expect(0);
    let generation: u64 = repo.read("overnight/generation").trim().parse().unwrap();
    assert_eq!(generation, 4);
}

// proves: LOOP-23
#[test]
fn another_tools_finished_marker_is_removed_with_its_leavings() {
    let repo = TestRepo::new();
    let marker = json!({ "state": "DONE", "iteration_id": "run-1-iter-2", "started_at": "2026-04-01T00:00:00Z" });
    repo.write("overnight/COMMIT-MARKER.run-1-iter-2", &marker.to_string());
    repo.write("overnight/staging/run-1-iter-2/.agents/learnings/a.md", "stale\n");
    repo.write("overnight/prev.run-1-iter-2/learnings/a.md", "older\n");
    let before = repo.tree();
    let done = repo.run(&["--json", "tree", "recover"]).expect(0).json();
    assert_eq!(done["recovered"]["foreign"], json!(["COMMIT-MARKER.run-1-iter-2"]));
    assert_eq!(repo.tree(), before);
    for gone in ["COMMIT-MARKER.run-1-iter-2", "staging", "prev.run-1-iter-2"] {
        assert!(!repo.exists(&format!("overnight/{gone}")), "{gone}");
    }
}

/// Puts a marker down, expects that it stops everything, and that nothing is touched by that.
#[track_caller]
fn stops(repo: &TestRepo, name: &str, marker: &str) {
    repo.write(&format!("overnight/{name}"), marker);
    let mut before = repo.everything();
    before.remove("overnight/run.lock");
    for arguments in [&["tree", "recover"][..], &["tree", "undo"]] {
        let stopped = repo.run(arguments).expect(6);
        assert!(
            stopped.stderr.contains(name) && stopped.stderr.contains("ao tree recover --set-aside"),
            "{stopped}"
        );
    }
    let mut after = repo.everything();
    after.remove("overnight/run.lock");
    assert_eq!(after, before, "{name}");
}

/// Sets a doubtful marker aside, and works again.
fn settle(repo: &TestRepo, name: &str) {
    let tree = repo.tree();
    repo.run(&["tree", "recover", "--set-aside"]).expect(0);
    assert!(!repo.exists(&format!("overnight/{name}")));
    assert_eq!(repo.tree(), tree);
    let kept = fs::read_dir(repo.state("quarantine"))
        .unwrap()
        .any(|place| place.unwrap().path().join(name).exists());
    assert!(kept, "{name} is in quarantine");
    fs::remove_dir_all(repo.state("quarantine")).unwrap();
    repo.run(&["tree", "recover"]).expect(0);
}

// proves: LOOP-23
#[test]
fn a_doubtful_marker_stops_the_run_and_nothing_is_touched() {
    let repo = TestRepo::new();
    repo.write("overnight/staging/x/.agents/learnings/a.md", "evidence\n");
    let ready =
        json!({ "state": "READY", "iteration_id": "x", "started_at": "2026-04-01T00:00:00Z" });
    let newer = json!({ "format": "ao-tree/3", "state": "roll-forward", "iteration_id": "x" });
    let cut = &newer.to_string()[..20];
    for marker in [
        &ready.to_string(),
        &newer.to_string(),
        cut,
        "",
        "[]",
        "\u{0}\u{1}",
        "{\"state\":\"DONE\",\"iteration_id\":\"../..\"}",
    ] {
        stops(&repo, "COMMIT-MARKER.x", marker);
    }
    settle(&repo, "COMMIT-MARKER.x");
}

/// The marker with another path in it, and the checksum that belongs to that.
fn forged(marker: &Value, path: &str) -> String {
    let mut forged = marker.clone();
    forged["slots"][0]["path"] = path.into();
    assert_eq!(marker["checksum"], checksum(marker), "this is how it is made");
    forged["checksum"] = checksum(&forged).into();
    forged.to_string()
}

fn checksum(marker: &Value) -> String {
    let mut bare = marker.clone();
    bare["checksum"] = "".into();
    blake3::hash(format!("{bare}\n").as_bytes()).to_hex().to_string()
}

// proves: LOOP-23
#[test]
fn a_marker_of_ours_that_was_changed_is_not_followed() {
    let repo = TestRepo::new();
    let (name, marker) = decided(&repo);
    let name = name.trim_start_matches("overnight/");
    let whole = marker.to_string();
    let mut outside = marker.clone();
    outside["slots"][0]["path"] = "../outside".into();
    let mut elsewhere = marker.clone();
    elsewhere["slots"][0]["path"] = "research".into();
    let mut later = marker.clone();
    later["started_at"] = "2026-04-01T00:00:00Z".into();
    for changed in [
        outside.to_string(),
        elsewhere.to_string(),
        later.to_string(),
        // By somebody who knows the form, so that only the path is wrong.
        forged(&marker, "research"),
        forged(&marker, "rpi/other.txt"),
        whole.replace("cut", "cot"),
        whole[..whole.len() - 9].to_owned(),
    ] {
        stops(&repo, name, &changed);
    }
    // Two markers at once.
    repo.write(&format!("overnight/{name}"), &format!("{whole}\n"));
    repo.write("overnight/COMMIT-MARKER.other", &format!("{whole}\n"));
    repo.run(&["tree", "recover"]).expect(6);
    fs::remove_file(repo.state("COMMIT-MARKER.other")).unwrap();
    // Its staging was tampered with.
    let script = repo.read("overnight/staging/cut/slots/script.json");
    repo.write("overnight/staging/cut/slots/script.json", &script.replace("better", "bitter"));
    repo.write("overnight/staging/cut/slots/script.json", &format!("{script} "));
    repo.run(&["tree", "recover"]).expect(6);
    repo.write("overnight/staging/cut/slots/script.json", &script);
    // A file that is to come is another one.
    let slots = repo.state("staging/cut/slots");
    let staged = || fs::read_dir(&slots).unwrap().map(|slot| slot.unwrap().path());
    let is_queue = |path: &std::path::PathBuf| {
        fs::read_to_string(path)
            .is_ok_and(|text| text.contains("\"n\":2") && text.starts_with("{\"items"))
    };
    let queue = staged().find(is_queue).unwrap();
    let text = fs::read(&queue).unwrap();
    fs::write(&queue, "not what was decided\n").unwrap();
    let before = repo.tree();
    let stopped = repo.run(&["tree", "recover"]).expect(6);
    assert!(stopped.stderr.contains("rpi/next-work.jsonl"), "{stopped}");
    assert_eq!(repo.tree(), before);
    fs::write(&queue, text).unwrap();
    // Whole again, it is followed.
    repo.run(&["tree", "recover"]).expect(0);
    assert_eq!(repo.read("learnings/b.md"), "b, better\n");
    repo.run(&["tree", "verify"]).expect(0);
}

// proves: LOOP-20
#[test]
fn leftover_staging_without_a_marker_is_removed() {
    let repo = TestRepo::new();
    for id in ["one", "two", "three"] {
        repo.write(&format!("overnight/staging/{id}/.agents/learnings/a.md"), "stale\n");
    }
    let done = repo.run(&["--json", "tree", "recover"]).expect(0).json();
    assert_eq!(done["recovered"]["removed"], json!(["one", "three", "two"]));
    assert!(!repo.exists("overnight/staging"));
}
