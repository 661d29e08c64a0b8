//! `tree apply`, `log`, `show`, `diff`, `verify`.

use std::fs;

use serde_json::json;

use crate::repo::{TestRepo, contents, delete, edits_everywhere, write};

// proves: LOOP-06, LOOP-08
#[test]
fn a_commit_changes_what_was_asked_and_nothing_else() {
    let repo = TestRepo::new();
    let before = repo.tree();
    let done = repo.apply_as(&edits_everywhere(), &["--id", "one"]).expect(0).json();
    assert_eq!(
        (done["status"].as_str(), done["method"].as_str()),
        (Some("committed"), Some("file-by-file"))
    );
    let after = repo.tree();
    let mut expected = contents(&before);
    expected.insert("learnings/b.md".into(), "b, better\n".into());
    expected.remove("learnings/c.md");
    expected.insert("learnings/new/one.md".into(), "one\n".into());
    expected.insert("findings/f-2026-04-01-a.md".into(), "# finding a\n**Resolved:** yes\n".into());
    expected.insert("patterns/q.md".into(), "# q\n".into());
    expected.remove("knowledge/pending/k.md");
    expected.insert(
        "rpi/next-work.jsonl".into(),
        "{\"items\":[],\"n\":1}\n{\"items\":[],\"n\":2}\n".into(),
    );
    assert_eq!(contents(&after), expected);
    // Whatever was not edited is the same file: inode, mode, time, and one name only.
    let edited = ["learnings/b.md", "findings/f-2026-04-01-a.md", "rpi/next-work.jsonl"];
    for (path, seen) in after.iter().filter(|(path, _)| before.contains_key(*path)) {
        assert_eq!(seen.mode, before[path].mode, "{path}");
        if !edited.contains(&path.as_str()) {
            assert_eq!(seen, &before[path], "{path}");
        }
    }
    assert_eq!(after["learnings/b.md"].mode, 0o640);
    assert!(repo.everything().values().all(|seen| seen.links == 1));
    repo.run(&["tree", "verify"]).expect(0);
}

// proves: LOOP-06
#[test]
fn an_edit_outside_of_the_five_parts_is_refused_and_the_rest_goes_on() {
    let repo = TestRepo::new();
    let before = repo.tree();
    let outside = [
        "rpi/other.txt",
        "research/r.md",
        "overnight/run.lock",
        "learnings",
        "topics/new.md",
        "learnings/.git/config",
    ];
    let mut edits: Vec<_> = outside.iter().map(|path| write(path, "x")).collect();
    edits.push(write("learnings/a.md", "changed\n"));
    let done = repo.apply(&json!(edits)).expect(0).json();
    let refused: Vec<_> =
        done["refused"].as_array().unwrap().iter().map(|r| r["path"].as_str().unwrap()).collect();
    assert_eq!(refused, outside);
    assert_eq!(done["changes"].as_array().unwrap().len(), 1);
    for (path, seen) in repo.tree() {
        if path != "learnings/a.md" {
            assert_eq!(seen, before[&path], "{path}");
        }
    }
    // Nothing left of a request of which nothing can be done.
    repo.apply(&json!([write("research/r.md", "x")])).expect(4);
    // With --strict-exit a partly refused request says so.
    let edits = json!([write("research/r.md", "x"), write("learnings/a.md", "again\n")]);
    repo.apply_as(&edits, &["--strict-exit"]).expect(3);
}

#[test]
fn nothing_to_do_leaves_no_trace() {
    let repo = TestRepo::new();
    repo.apply(&json!([write("learnings/a.md", "x\n")])).expect(0);
    let before = repo.everything();
    let same = repo.apply(&json!([write("learnings/a.md", "x\n")])).expect(0).json();
    assert_eq!(same["status"], "nothing-changed");
    repo.apply(&json!([])).expect(0);
    let mut after = repo.everything();
    after.insert("overnight/run.lock".into(), before["overnight/run.lock"].clone());
    assert_eq!(after, before);
}

// proves: LOOP-02
#[test]
fn until_the_exchange_the_live_tree_is_untouched() {
    let repo = TestRepo::new();
    let (before, folders) = (repo.tree(), repo.folders());
    let stopped = repo.stopped_before_the_exchange(&edits_everywhere());
    // All that is new stands in staging already.
    let slots = fs::read_dir(repo.state("staging/stopped/slots")).unwrap();
    let staged: Vec<_> =
        slots.filter_map(|slot| fs::read_to_string(slot.unwrap().path()).ok()).collect();
    assert!(staged.iter().any(|text| text == "b, better\n"), "{staged:?}");
    assert_eq!(repo.tree(), before);
    assert_eq!(repo.folders(), folders);
    stopped.go_on().expect(0);
    assert_eq!(repo.read("learnings/b.md"), "b, better\n");
}

#[test]
fn a_dry_run_shows_the_diff_and_touches_nothing() {
    let repo = TestRepo::new();
    let before = repo.everything();
    let file = repo.edits(&edits_everywhere());
    let told = repo.run(&["--dry-run", "tree", "apply", &file]).expect(0);
    assert!(told.stdout.contains("-# pending\n"), "{told}");
    assert!(told.stdout.contains("+b, better\n"), "{told}");
    assert!(told.stdout.contains("Would commit 2 added, 3 changed, 2 deleted."), "{told}");
    assert_eq!(repo.everything(), before);
    repo.run(&["--dry-run", "tree", "undo"]).expect(1);
    assert_eq!(repo.everything(), before);
}

#[test]
fn history_says_what_was_changed_and_why() {
    let repo = TestRepo::new();
    repo.apply_as(&edits_everywhere(), &["--id", "one"]).expect(0);
    repo.apply_as(&json!([write("learnings/b.md", "third\n")]), &["--id", "two"]).expect(0);
    let log = repo.run(&["--json", "tree", "log"]).expect(0).json();
    let ids: Vec<_> =
        log["commits"].as_array().unwrap().iter().map(|c| c["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["two", "one"]);
    assert_eq!(log["commits"][1]["deleted"], 2);
    let newest = repo.run(&["--json", "tree", "log", "-n", "1"]).expect(0).json();
    assert_eq!(newest["commits"].as_array().unwrap().len(), 1);
    let shown = repo.run(&["--json", "tree", "show", "one"]).expect(0).json();
    let change = shown["record"]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["path"] == "learnings/c.md")
        .unwrap();
    assert_eq!(
        (change["op"].as_str(), change["reason"].as_str()),
        (Some("delete"), Some("away with learnings/c.md"))
    );
    assert_eq!(change["sources"], json!(["learnings/a.md"]));
    // The middle commit's own version is found although a later one replaced it.
    let diff = repo.run(&["tree", "diff", "one"]).expect(0);
    assert!(diff.stdout.contains("+b, better\n"), "{diff}");
    let diff = repo.run(&["tree", "diff"]).expect(0);
    assert!(diff.stdout.contains("-b, better\n+third\n"), "{diff}");
    repo.run(&["tree", "show", "nobody"]).expect(2);
}

// proves: LOOP-09
#[test]
fn what_is_deleted_is_archived_with_where_it_came_from() {
    let repo = TestRepo::new();
    let text = repo.read("learnings/c.md");
    repo.apply_as(&json!([delete("learnings/c.md")]), &["--id", "one"]).expect(0);
    assert_eq!(repo.read("overnight/archive/one/learnings/c.md"), text);
    let provenance: serde_json::Value =
        serde_json::from_str(&repo.read("overnight/archive/one/provenance.json")).unwrap();
    assert_eq!(provenance["entries"][0]["reason"], "away with learnings/c.md");
    assert_eq!(provenance["entries"][0]["sources"], json!(["learnings/a.md"]));
    // It is a copy, not one more name of something that others may write to.
    repo.run(&["tree", "undo"]).expect(0);
    repo.write("learnings/c.md", "edited after its return\n");
    assert_eq!(repo.read("overnight/archive/one/learnings/c.md"), text);
}

// proves: LOOP-18
#[test]
fn a_commit_over_its_budget_writes_nothing() {
    let repo = TestRepo::new();
    repo.apply(&json!([])).expect(0);
    let before = repo.everything();
    let large = "x".repeat(1024 * 1024);
    let edits = json!([write("learnings/large.md", &large), write("learnings/a.md", "y\n")]);
    let refused = repo.apply_as(&edits, &["--checkpoint-max-mb", "1"]).expect(6);
    assert!(refused.stderr.contains("more than the 1048576 bytes allowed"), "{refused}");
    let mut after = repo.everything();
    after.insert("overnight/run.lock".into(), before["overnight/run.lock"].clone());
    assert_eq!(after, before);
    repo.apply_as(&edits, &["--checkpoint-max-mb", "2"]).expect(0);
}

// proves: LOOP-18
#[test]
fn what_counts_is_what_is_stored() {
    let repo = TestRepo::new();
    let text = "The same in three files.\n".repeat(100);
    for name in ["one", "two", "three"] {
        repo.write(&format!("learnings/{name}.md"), &text);
    }
    let edits = json!([
        write("learnings/one.md", "1\n"),
        write("learnings/two.md", "2\n"),
        delete("learnings/three.md"),
        write("learnings/a.md", "a\n"),
    ]);
    repo.apply_as(&edits, &["--id", "one"]).expect(0);
    let stored = fs::read_dir(repo.state("undo/one")).unwrap().map(|entry| entry.unwrap());
    let stored = stored.filter(|entry| entry.file_name() != "record.json");
    let stored: u64 = stored.map(|entry| entry.metadata().unwrap().len()).sum();
    assert!(stored > text.len() as u64 && stored < 2 * text.len() as u64, "{stored}");
    let line: serde_json::Value =
        serde_json::from_str(&repo.read("overnight/history.jsonl")).unwrap();
    assert_eq!(line["stored_bytes"], stored);
}

#[test]
fn the_budget_comes_from_the_configuration_too() {
    let repo = TestRepo::new();
    fs::create_dir_all(repo.root().join(".agentops")).unwrap();
    fs::write(repo.root().join(".agentops/config.yaml"), "dream:\n  checkpoint_max_mb: 0 # none\n")
        .unwrap();
    let edits = json!([write("learnings/a.md", "y\n")]);
    repo.apply(&edits).expect(6);
    repo.apply_as(&edits, &["--checkpoint-max-mb", "1"]).expect(0);
    fs::write(repo.root().join(".agentops/config.yaml"), "dream:\n  checkpoint_max_mb: [\n")
        .unwrap();
    let broken = repo.apply(&edits).expect(2);
    assert!(
        broken.stderr.contains("config.yaml") && broken.stderr.contains("line 2, column 22"),
        "{broken}"
    );
}

#[test]
fn verify_finds_what_was_damaged() {
    let repo = TestRepo::new();
    repo.apply_as(&edits_everywhere(), &["--id", "one"]).expect(0);
    repo.run(&["tree", "verify"]).expect(0);
    let undo = repo.state("undo/one");
    let is_blob = |name: &str| name != "record.json";
    let blob = fs::read_dir(&undo)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| is_blob(path.file_name().unwrap().to_str().unwrap()))
        .unwrap();
    let bytes = fs::read(&blob).unwrap();
    fs::write(&blob, b"flipped").unwrap();
    let found = repo.run(&["--json", "tree", "verify"]).expect(5).json();
    assert_eq!(found["damage"].as_array().unwrap().len(), 1);
    repo.run(&["tree", "undo"]).expect(5);
    fs::write(&blob, bytes).unwrap();
    repo.run(&["tree", "verify"]).expect(0);
    let record = fs::read_to_string(undo.join("record.json")).unwrap();
    fs::write(
        undo.join("record.json"),
        record.replace("better", "worse!").replace("because", "becausE"),
    )
    .unwrap();
    repo.run(&["tree", "verify"]).expect(5);
}

// proves: LOOP-07
#[test]
fn edits_of_one_group_are_made_together_and_only_against_what_was_seen() {
    let repo = TestRepo::new();
    let mut survivor = write("learnings/b.md", "b and c\n");
    let mut loser = delete("learnings/c.md");
    for edit in [&mut survivor, &mut loser] {
        edit["group"] = json!("merge");
    }
    // Somebody edited it after the author of the edit had read it.
    loser["seen"] = json!("0000000000000000000000000000000000000000000000000000000000000000");
    let before = contents(&repo.tree());
    let edits = json!([survivor, loser, write("learnings/a.md", "alone\n")]);
    let done = repo.apply_as(&edits, &["--id", "one"]).expect(0).json();
    assert_eq!(done["conflicts"][0]["path"], "learnings/c.md");
    assert_eq!(done["refused"][0]["path"], "learnings/b.md");
    let why = done["refused"][0]["why"].as_str().unwrap();
    assert!(why.contains("belongs together") && why.contains("learnings/c.md"), "{why}");
    let mut expected = before.clone();
    expected.insert("learnings/a.md".into(), "alone\n".into());
    assert_eq!(contents(&repo.tree()), expected);

    let hash = done["changes"][0]["after"]["hash"].as_str().unwrap();
    let mut again = write("learnings/a.md", "seen\n");
    again["seen"] = json!(hash);
    let mut fresh = write("learnings/fresh.md", "new\n");
    fresh["seen"] = json!("nothing");
    let done = repo.apply(&json!([again, fresh])).expect(0).json();
    assert_eq!(done["changes"].as_array().unwrap().len(), 2);
    let mut late = write("learnings/fresh.md", "newer\n");
    late["seen"] = json!("nothing");
    let done = repo.apply(&json!([late])).expect(0).json();
    assert_eq!(done["conflicts"][0]["path"], "learnings/fresh.md");
    assert_eq!(repo.read("learnings/fresh.md"), "new\n");
}
