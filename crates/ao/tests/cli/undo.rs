//! `tree undo`: of an undo, after a person's edit, of a commit in the middle.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::repo::{TestRepo, contents, delete, edits_everywhere, write};

// proves: LOOP-09
#[test]
fn undo_and_its_undo_are_exact() {
    let repo = TestRepo::new();
    let before = repo.tree();
    repo.apply_as(&edits_everywhere(), &["--id", "one"]).expect(0);
    let after = contents(&repo.tree());
    repo.run(&["tree", "undo"]).expect(0);
    let undone = repo.tree();
    assert_eq!(contents(&undone), contents(&before));
    assert_eq!(undone["learnings/b.md"].mode, 0o640);
    // The folder that the commit had made went with it.
    assert!(!repo.exists("learnings/new"));
    repo.run(&["tree", "undo"]).expect(0);
    assert_eq!(contents(&repo.tree()), after);
    repo.run(&["tree", "undo", "one"]).expect(0);
    assert_eq!(contents(&repo.tree()), contents(&before));
    repo.run(&["tree", "verify"]).expect(0);
}

#[test]
fn a_deleted_file_comes_back_with_its_mode() {
    let repo = TestRepo::new();
    fs::set_permissions(repo.agents().join("learnings/c.md"), fs::Permissions::from_mode(0o600))
        .unwrap();
    repo.apply(&json!([delete("learnings/c.md")])).expect(0);
    repo.run(&["tree", "undo"]).expect(0);
    assert_eq!(repo.tree()["learnings/c.md"].mode, 0o600);
}

// proves: LOOP-09
#[test]
fn what_people_changed_since_stays_and_is_kept_twice() {
    let repo = TestRepo::new();
    let before = contents(&repo.tree());
    repo.apply_as(&edits_everywhere(), &["--id", "one"]).expect(0);
    repo.write("learnings/b.md", "a person's\n");
    repo.write("patterns/q.md", "a person's too\n");
    repo.write("learnings/theirs.md", "new\n");
    let told = repo.run(&["--dry-run", "tree", "undo", "one"]).expect(0);
    assert!(told.stdout.contains("conflict learnings/b.md"), "{told}");
    let undone = repo.run(&["--json", "tree", "undo", "one", "--id", "back"]).expect(0).json();
    let mut expected = before.clone();
    expected.insert("learnings/b.md".into(), "a person's\n".into());
    expected.insert("patterns/q.md".into(), "a person's too\n".into());
    expected.insert("learnings/theirs.md".into(), "new\n".into());
    assert_eq!(contents(&repo.tree()), expected);
    let paths: Vec<_> = undone["conflicts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["learnings/b.md", "patterns/q.md"]);
    assert_eq!(repo.read("overnight/conflicts/back/learnings/b.md"), before["learnings/b.md"]);
}

#[test]
fn a_persons_version_between_two_commits_is_not_undone_over() {
    let repo = TestRepo::new();
    let first = repo.read("learnings/a.md");
    repo.apply_as(&json!([write("learnings/a.md", "one\n")]), &["--id", "one"]).expect(0);
    repo.write("learnings/a.md", "a person's\n");
    repo.apply_as(&json!([write("learnings/a.md", "two\n")]), &["--id", "two"]).expect(0);
    repo.run(&["tree", "undo", "one", "--id", "back"]).expect(0);
    assert_eq!(repo.read("learnings/a.md"), "a person's\n");
    assert_eq!(repo.read("overnight/conflicts/back/learnings/a.md"), first);
}

#[test]
fn a_commit_in_the_middle_goes_with_all_after_it_or_alone() {
    let repo = TestRepo::new();
    let before = contents(&repo.tree());
    repo.apply_as(&json!([write("learnings/a.md", "one\n")]), &["--id", "one"]).expect(0);
    let first = contents(&repo.tree());
    repo.apply_as(
        &json!([write("learnings/b.md", "two\n"), write("learnings/a.md", "two\n")]),
        &["--id", "two"],
    )
    .expect(0);
    repo.apply_as(
        &json!([write("learnings/c.md", "three\n"), write("learnings/a.md", "three\n")]),
        &["--id", "three"],
    )
    .expect(0);
    repo.run(&["tree", "undo", "two", "--only", "--id", "alone"]).expect(0);
    // The later commit's version of a.md stays; only b.md could be taken back.
    assert_eq!(repo.read("learnings/a.md"), "three\n");
    assert_eq!(repo.read("learnings/b.md"), before["learnings/b.md"]);
    assert_eq!(repo.read("overnight/conflicts/alone/learnings/a.md"), "one\n");
    repo.run(&["tree", "undo", "alone"]).expect(0);
    assert_eq!(repo.read("learnings/b.md"), "two\n");
    repo.run(&["tree", "undo", "two"]).expect(0);
    assert_eq!(contents(&repo.tree()), first);
    repo.run(&["tree", "undo", "one"]).expect(0);
    assert_eq!(contents(&repo.tree()), before);
}

// proves: LOOP-09
#[test]
fn snapshots_go_by_size_and_it_is_said() {
    let repo = TestRepo::new();
    fs::create_dir_all(repo.root().join(".agentops")).unwrap();
    fs::write(repo.root().join(".agentops/config.yaml"), "undo:\n  max_mb: 1\n").unwrap();
    let large = |letter: &str| letter.repeat(700 * 1024);
    repo.apply_as(&json!([write("learnings/a.md", &large("a"))]), &["--id", "one"]).expect(0);
    repo.apply_as(&json!([write("learnings/a.md", &large("b"))]), &["--id", "two"]).expect(0);
    let third =
        repo.apply_as(&json!([write("learnings/a.md", &large("c"))]), &["--id", "three"]).expect(0);
    assert_eq!(third.json()["expired"], json!(["one", "two"]));
    assert!(third.stderr.contains("commit two can no longer be undone"), "{third}");
    repo.run(&["tree", "verify"]).expect(0);
    let gone = repo.run(&["tree", "undo", "one"]).expect(1);
    assert!(gone.stderr.contains("can no longer be undone"), "{gone}");
    repo.run(&["tree", "undo", "three"]).expect(0);
    assert_eq!(repo.read("learnings/a.md"), large("b"));
}

// proves: LOOP-09
#[test]
fn snapshots_go_by_age() {
    let repo = TestRepo::new();
    let archived = repo.read("learnings/c.md");
    // As if they had been made a hundred days ago, and ninety less one.
    let mut history = Vec::new();
    for (id, path, days) in [("one", "learnings/c.md", 100), ("two", "learnings/a.md", 89)] {
        repo.apply_as(&json!([delete(path)]), &["--id", id]).expect(0);
        let old = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * days);
        let lines = repo.read("overnight/history.jsonl");
        let mut line: serde_json::Value =
            serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        line["at"] = old.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
        history.push(line.to_string());
    }
    repo.write("overnight/history.jsonl", &format!("{}\n", history.join("\n")));
    let third = repo.apply_as(&json!([write("learnings/b.md", "three\n")]), &["--id", "three"]);
    let third = third.expect(0);
    assert_eq!(third.json()["expired"], json!(["one"]));
    assert!(third.stderr.contains("commit one can no longer be undone"), "{third}");
    // What was archived or recorded stays.
    assert!(repo.exists("overnight/undo/one/record.json"));
    assert_eq!(repo.read("overnight/archive/one/learnings/c.md"), archived);
    repo.run(&["tree", "show", "one"]).expect(0);
    repo.run(&["tree", "undo", "one"]).expect(1);
    repo.run(&["tree", "undo", "two"]).expect(0);
    assert!(repo.exists("learnings/a.md") && !repo.exists("learnings/c.md"));
}

// proves: LOOP-09
#[test]
fn what_was_merged_is_taken_back_whole_or_not_at_all() {
    let repo = TestRepo::new();
    let mut edits = json!([
        write("learnings/b.md", "b, and what c says\n"),
        delete("learnings/c.md"),
        write("patterns/p.md", "apart from them\n"),
    ]);
    for edit in &mut edits.as_array_mut().unwrap()[..2] {
        edit["group"] = "merge".into();
    }
    let before = contents(&repo.tree());
    repo.apply_as(&edits, &["--id", "one"]).expect(0);
    repo.write("learnings/b.md", "a person's\n");
    let undone = repo.run(&["--json", "tree", "undo", "one", "--id", "back"]).expect(0).json();
    assert_eq!(repo.read("learnings/b.md"), "a person's\n");
    assert!(!repo.exists("learnings/c.md"), "what it says is in b, or was taken out by a person");
    assert_eq!(repo.read("patterns/p.md"), before["patterns/p.md"]);
    let paths: Vec<_> =
        undone["conflicts"].as_array().unwrap().iter().map(|one| one["path"].clone()).collect();
    assert_eq!(paths, ["learnings/b.md", "learnings/c.md"], "{undone:#}");
    assert_eq!(repo.read("overnight/conflicts/back/learnings/c.md"), before["learnings/c.md"]);
}
