//! Bad input to a night: a clear error or a defined behaviour, and nothing lost.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::night::{Night, json_of, ran, statuses};
use crate::repo::{TestRepo, contents};

/// Refused with this code and these words, and the corpus as before.
#[track_caller]
fn refused(night: &Night, more: &[&str], code: i32, words: &[&str]) {
    let before = contents(&night.repo.tree());
    let told = night.run(more).expect(code);
    for word in words {
        assert!(told.stderr.contains(word), "no {word} in {told}");
    }
    assert!(told.stderr.contains("hint") || told.stderr.contains("Usage") || code == 2, "{told}");
    assert_eq!(contents(&night.repo.tree()), before);
}

#[test]
fn where_there_is_no_corpus_nothing_is_begun() {
    let bare = TestRepo { dir: tempfile::tempdir().unwrap() };
    let told = bare.run(&["overnight", "start"]).expect(6);
    assert!(told.stderr.contains("no .agents/"), "{told}");
    assert_eq!(fs::read_dir(bare.root()).unwrap().count(), 0);
    // Not a repository at all, found from the current directory.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ao"));
    command.env_clear().current_dir(bare.root()).args(["overnight", "start"]);
    let told = command.output().unwrap();
    assert_eq!(told.status.code(), Some(6));
    let missing = bare.run(&["-C", "/nowhere/at/all", "overnight", "start"]);
    assert!(missing.code == 2 || missing.code == 6, "{missing}");
}

#[test]
fn an_output_directory_must_be_somewhere_a_run_may_write() {
    let night = Night::with_copies();
    let root = night.repo.root().canonicalize().unwrap();
    let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
    for held in ["learnings", "learnings/deep/er", "findings/x", "patterns", "knowledge/x", "rpi/x"]
    {
        refused(
            &night,
            &["--output-dir", &at(&format!(".agents/{held}"))],
            2,
            &["does not write to"],
        );
    }
    for other in [".agents", ".agents/overnight", ".git/x", ".agents/overnight/staging/x", ""] {
        refused(&night, &["--output-dir", &at(other)], 2, &["the output directory"]);
    }
    refused(&night, &["--output-dir", &at("a/../.agents/learnings")], 2, &["`..`"]);
    fs::write(root.join("file"), "x").unwrap();
    refused(&night, &["--output-dir", &at("file")], 2, &["not a folder"]);
    refused(&night, &["--output-dir", &at("file/below")], 2, &["the output directory"]);
    // Symlinks: to a held folder from anywhere, and any at all in the repository.
    let outside = night.aside.path().join("link");
    symlink(root.join(".agents/learnings"), &outside).unwrap();
    refused(&night, &["--output-dir", outside.to_str().unwrap()], 2, &["does not write to"]);
    let target = night.aside.path().join("target");
    fs::create_dir(&target).unwrap();
    symlink(&target, root.join("link")).unwrap();
    refused(&night, &["--output-dir", &at("link")], 2, &["symlink"]);
    refused(&night, &["--output-dir", &at("link/below")], 2, &["symlink"]);
    assert_eq!(fs::read_dir(&target).unwrap().count(), 0);
    fs::remove_file(root.join("link")).unwrap();
    // Somebody's own files are not taken for an earlier run's.
    fs::create_dir_all(root.join("docs/council")).unwrap();
    refused(&night, &["--output-dir", &at("docs")], 2, &["council", "no run left it there"]);
    assert!(root.join("docs/council").is_dir());
}

// proves: RUN-13
#[test]
fn an_output_directory_outside_the_repository_is_fine() {
    let night = Night::with_copies();
    let outside = night.aside.path().join("one/two");
    night.run(&["--output-dir", outside.to_str().unwrap()]).expect(0);
    let summary = json_of(&outside.join("summary.json"));
    assert_eq!(summary["output_dir"], outside.to_str().unwrap());
    let lock = summary["runtime"]["lock_path"].as_str().unwrap();
    assert!(lock.ends_with(".agents/overnight/run.lock"), "{lock}");
    assert!(!night.repo.exists("overnight/latest"));
    assert!(outside.join("overnight.log").is_file());
}

#[test]
fn an_output_directory_that_cannot_be_written_is_said_before_the_night() {
    let night = Night::with_copies();
    let sealed = night.aside.path().join("sealed");
    fs::create_dir(&sealed).unwrap();
    fs::set_permissions(&sealed, fs::Permissions::from_mode(0o555)).unwrap();
    // For root nothing is sealed; then there is nothing to see.
    if fs::write(sealed.join("probe"), "").is_ok() {
        fs::remove_file(sealed.join("probe")).unwrap();
        // Nobody writes there, root neither.
        refused(&night, &["--output-dir", "/proc/self/x"], 2, &["the output directory"]);
        return;
    }
    refused(&night, &["--output-dir", sealed.to_str().unwrap()], 2, &["cannot be written"]);
}

// proves: LOOP-19, RUN-03
#[test]
fn a_queue_that_is_none_is_refused() {
    let night = Night::with_copies();
    let file = night.aside.path().join("queue.md");
    let path = file.to_str().unwrap().to_owned();
    refused(&night, &["--queue", &path], 2, &["queue.md", "No such file"]);
    refused(&night, &["--queue", night.aside.path().to_str().unwrap()], 2, &["not a plain file"]);
    fs::write(&file, [0xff, 0xfe, 0, 1, 2]).unwrap();
    refused(&night, &["--queue", &path], 2, &["queue.md"]);
    fs::write(&file, "- x\n".repeat(3 * 1024 * 1024)).unwrap();
    refused(&night, &["--queue", &path], 2, &["larger than"]);
    assert!(!night.repo.exists("overnight/latest"), "nothing was begun");
}

#[test]
fn a_configuration_of_the_wrong_type_names_its_place() {
    let night = Night::with_copies();
    for (yaml, words) in [
        ("dream:\n  run_timeout: [8]\n", "line 2"),
        ("dream:\n  plateau_window: many\n", "line 2"),
        ("dream:\n  warn_only: 3\n", "line 2"),
        ("dream:\n  harvest_from: yes\n", "line 2"),
        ("dream: [\n", "line 1"),
    ] {
        night.configure(yaml);
        refused(&night, &[], 2, &["config.yaml", words]);
    }
    for (yaml, words) in [
        ("dream:\n  run_timeout: 49h\n", "dream.run_timeout"),
        ("dream:\n  plateau_epsilon: 0\n", "dream.plateau_epsilon"),
        ("dream:\n  plateau_window: 1\n", "dream.plateau_window"),
        ("dream:\n  consensus_policy: loudest\n", "consensus_policy"),
    ] {
        night.configure(yaml);
        refused(&night, &[], 2, &[words]);
    }
    night.configure("dream:\n  run_timeout: 90s\n  max_iterations: 1\n  unknown: 3\n");
    night.run(&[]).expect(0);
    let summary = night.summary();
    assert_eq!(summary["runtime"]["effective_timeout"], "1m30s");
    assert_eq!(statuses(&summary).len(), 1);
    // Environment over file, flag over both.
    let mut command = night.command(&[]);
    ran(command.env("AGENTOPS_DREAM_RUN_TIMEOUT", "80s").spawn().unwrap()).expect(0);
    assert_eq!(night.summary()["runtime"]["effective_timeout"], "1m20s");
    let mut command = night.command(&["--run-timeout", "70s"]);
    ran(command.env("AGENTOPS_DREAM_RUN_TIMEOUT", "80s").spawn().unwrap()).expect(0);
    assert_eq!(night.summary()["runtime"]["effective_timeout"], "1m10s");
    let mut command = night.command(&[]);
    ran(command.env("AGENTOPS_DREAM_RUN_TIMEOUT", "soon").spawn().unwrap()).expect(2);
}

// proves: RUN-42
#[test]
fn a_summary_that_was_cut_in_half_is_kept_aside() {
    let night = Night::with_copies();
    night.run(&[]).expect(0);
    let text = fs::read_to_string(night.latest("summary.json")).unwrap();
    let half = &text[..text.len() / 2];
    fs::write(night.latest("summary.json"), half).unwrap();
    let told = night.repo.run(&["overnight", "report"]).expect(1);
    assert!(told.stderr.contains("cut off"), "{told}");
    let refused = night.run(&["--resume"]).expect(2);
    assert!(refused.stderr.contains("cannot be read"), "{refused}");
    for _ in 0..2 {
        night.run(&[]).expect(0);
    }
    assert_eq!(fs::read_to_string(night.latest("unreadable/summary.json")).unwrap(), half);
    assert!(night.latest("unreadable/close-loop.json").is_file());
    // Hostile ids lead nowhere.
    let mut summary = night.summary();
    summary["run_id"] = "../../../x".into();
    summary["status"] = "planned".into();
    fs::write(night.latest("summary.json"), summary.to_string()).unwrap();
    night.run(&["--resume"]).expect(6);
    night.run(&[]).expect(0);
    assert!(!night.repo.exists("x") && !night.repo.root().join("x").exists());
    assert!(night.latest("unreadable-2/summary.json").is_file());
}

#[test]
fn rescues_that_cannot_be_read_stop_the_night_and_a_reset_helps() {
    let night = Night::with_copies();
    night.repo.write("overnight/warn-only-budget.json", "{\"remaining\": ");
    refused(&night, &[], 6, &["warn-only-budget.json", "warn-only reset"]);
    night.repo.run(&["overnight", "warn-only", "reset"]).expect(0);
    night.run(&[]).expect(0);
}

// proves: LOOP-23
#[test]
fn a_marker_in_doubt_stops_the_night() {
    let night = Night::with_copies();
    night.repo.write("overnight/COMMIT-MARKER.x", "{\"state\":\"READY\"}");
    let before = night.repo.everything();
    refused(&night, &[], 6, &["COMMIT-MARKER.x"]);
    let mut after = night.repo.everything();
    after.retain(|path, _| path != "overnight/run.lock");
    assert_eq!(after, before);
}

// proves: RUN-42
#[test]
fn two_starts_in_one_second_are_two_runs() {
    let night = Night::with(1);
    let ids: Vec<String> = (0..4)
        .map(|_| {
            night.run(&["--run-timeout", "30s"]).expect(0);
            night.summary()["run_id"].as_str().unwrap().to_owned()
        })
        .collect();
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    for id in &ids[..3] {
        assert!(night.latest(&format!("{id}/summary.json")).is_file(), "{id}");
    }
}

/// `..` is the parent of what the path before it really is, and the place that comes of it is
/// judged as any other.
#[test]
fn an_output_directory_with_a_way_back_is_the_one_it_leads_to() {
    let night = Night::with(3);
    let root = night.repo.root();
    let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
    refused(&night, &["--output-dir", &at("a/../.agents/overnight/other")], 2, &["`..`", "/a"]);
    fs::write(root.join("file"), "").unwrap();
    refused(&night, &["--output-dir", &at("file/../out")], 2, &["`..`", "not a folder"]);
    fs::create_dir(root.join("a")).unwrap();
    refused(&night, &["--output-dir", &at("a/../.agents/learnings")], 2, &["does not write to"]);
    refused(&night, &["--output-dir", &at("a/..")], 2, &["holds the repository"]);
    night.run(&["--output-dir", &at("a/../.agents/overnight/other")]).expect(0);
    let summary = json_of(&night.repo.state("other/summary.json"));
    assert_eq!(summary["output_dir"], night.repo.state("other").to_str().unwrap());
    // By its letters it would be a folder of the repository.
    let far = night.aside.path().join("far/away");
    fs::create_dir_all(&far).unwrap();
    symlink(&far, root.join("link")).unwrap();
    night.run(&["--output-dir", &at("link/../out")]).expect(0);
    assert!(night.aside.path().join("far/out/summary.json").exists());
    assert!(!root.join("out").exists());
}
