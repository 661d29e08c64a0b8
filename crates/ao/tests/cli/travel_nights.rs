//! `ao overnight log`, `show` and `undo`, over made-up nights and a real one.

use serde_json::{Value, json};

use crate::night::{Night, learning};
use crate::repo::{contents, write};
use crate::travel::{found, quokka, three_nights};

// proves: LOOP-27
#[test]
fn the_log_and_an_iteration_are_told_with_reasons_and_diff() {
    let repo = three_nights();
    repo.apply_as(&json!([write("learnings/hand.md", "# By hand\n")]), &["--id", "hand"]).expect(0);
    let log = repo.run(&["--json", "overnight", "log"]).expect(0).json();
    let ids: Vec<&str> = log["iterations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["n03-iter-1", "n02-iter-1", "n01-iter-1"]);
    assert_eq!(log["iterations"][0]["deleted"], 2);
    let one = repo.run(&["--json", "overnight", "log", "-n", "1"]).expect(0).json();
    assert_eq!((one["iterations"].as_array().unwrap().len(), &one["in_all"]), (1, &json!(3)));
    let shown = repo.run(&["--json", "overnight", "show", "n02-iter-1"]).expect(0).json();
    assert_eq!(shown["changes"][0]["reason"], "because of learnings/first.md");
    let diff = shown["diff"].as_str().unwrap();
    assert!(diff.contains("-The first version is zebra.\n+The second version is okapi."), "{diff}");
    // What the first wrote was deleted since: it is in the snapshot of the third.
    let shown = repo.run(&["--json", "overnight", "show", "n01"]).expect(0).json();
    assert!(shown["diff"].as_str().unwrap().contains("+It came by night, a lemur."), "{shown:#}");
    assert_eq!(shown["not_kept"], json!([]));
    let text = repo.run(&["overnight", "show", "n03"]).expect(0).stdout;
    assert!(
        text.contains("away with learnings/other.md") && text.contains("-Another one."),
        "{text}"
    );
    assert!(text.contains("from learnings/a.md"), "{text}");
    // A commit that no night made is not a night's.
    let refused = repo.run(&["overnight", "show", "hand"]).expect(2);
    assert!(refused.stderr.contains("ao tree show"), "{refused}");
    repo.run(&["overnight", "show", "n09"]).expect(2);
}

// proves: LOOP-09
#[test]
fn an_undo_takes_back_the_newest_iteration_or_one_and_all_after_it() {
    let repo = three_nights();
    let before = contents(&repo.tree());
    let dry = repo.run(&["--dry-run", "overnight", "undo"]).expect(0);
    assert!(dry.stderr.contains("Would take back 1 commit: n03-iter-1"), "{dry}");
    assert_eq!(contents(&repo.tree()), before);
    let done = repo.run(&["overnight", "undo", "--id", "back"]).expect(0);
    assert!(done.stderr.contains("n03-iter-1"), "{done}");
    assert!(repo.exists("learnings/other.md") && repo.exists("learnings/added.md"));
    let log = repo.run(&["--json", "overnight", "log"]).expect(0).json();
    assert_eq!(log["iterations"][0]["taken_back_by"], "back");
    assert_eq!(log["iterations"][1]["taken_back_by"], Value::Null);
    // An undo of the undo makes it kept again; then the next undo is of it once more.
    repo.run(&["tree", "undo", "back", "--id", "forth"]).expect(0);
    assert_eq!(contents(&repo.tree()), before);
    let log = repo.run(&["--json", "overnight", "log"]).expect(0).json();
    assert_eq!(log["iterations"][0]["taken_back_by"], Value::Null);
    // With a file that a person changed since: theirs stays, and what was to come back is kept.
    repo.write("learnings/first.md", "a person's\n");
    let undone = repo.run(&["--json", "overnight", "undo", "n02", "--id", "all"]).expect(0);
    let conflicts = undone.json()["conflicts"].clone();
    assert_eq!(conflicts[0]["path"], "learnings/first.md", "{undone}");
    assert_eq!(repo.read("learnings/first.md"), "a person's\n");
    assert_eq!(
        repo.read("overnight/conflicts/all/learnings/first.md"),
        quokka("The first version is zebra.")
    );
    assert!(repo.exists("learnings/other.md") && repo.exists("learnings/added.md"));
    // Now the newest that is kept is the first one.
    repo.run(&["overnight", "undo"]).expect(0);
    assert!(!repo.exists("learnings/added.md"));
    let none = repo.run(&["overnight", "undo"]).expect(1);
    assert!(none.stderr.contains("no iteration"), "{none}");
    repo.run(&["overnight", "undo", "all"]).expect(2);
}

/// A night of two iterations: its id is the last of them, and for an undo both.
// proves: LOOP-09
#[test]
fn the_id_of_a_run_means_all_of_it() {
    let repo = three_nights();
    for (number, text) in [(1, "One okapi."), (2, "Two okapi, a tapir.")] {
        let edits = json!([write("learnings/first.md", &quokka(text))]);
        repo.apply_as(&edits, &["--id", &format!("n04-iter-{number}")]).expect(0);
    }
    assert_eq!(found(&repo, "tapir", "n04"), ["learnings/first.md"]);
    assert_eq!(found(&repo, "tapir", "n04-iter-1"), Vec::<String>::new());
    let shown = repo.run(&["--json", "overnight", "show", "n04"]).expect(0).json();
    assert_eq!(shown["id"], "n04-iter-2");
    let undone = repo.run(&["overnight", "undo", "n04"]).expect(0);
    assert!(undone.stderr.contains("2 commits: n04-iter-2, n04-iter-1"), "{undone}");
    assert_eq!(repo.read("learnings/first.md"), quokka("The second version is okapi."));
}

/// What cannot be given back whole is not given back at all.
// proves: LOOP-09
#[test]
fn an_undo_without_its_snapshot_changes_nothing() {
    let repo = three_nights();
    let before = contents(&repo.tree());
    let blobs = std::fs::read_dir(repo.state("undo/n02-iter-1")).unwrap();
    let blob = blobs.map(|entry| entry.unwrap().path()).find(|path| !path.ends_with("record.json"));
    let blob = blob.unwrap();
    std::fs::write(&blob, "never there\n").unwrap();
    let refused = repo.run(&["overnight", "undo", "n02"]).expect(5);
    assert!(refused.stderr.contains("n02-iter-1"), "{refused}");
    std::fs::remove_file(&blob).unwrap();
    let refused = repo.run(&["overnight", "undo", "n02"]).expect(1);
    assert!(refused.stderr.contains("learnings/first.md"), "{refused}");
    assert_eq!(contents(&repo.tree()), before);
    // The third does not need it.
    repo.run(&["overnight", "undo"]).expect(0);
}

/// A real night: two copies become one, the pending one is promoted, and one was judged.
fn real() -> (Night, String) {
    let night = Night::with_copies();
    night.pending(1);
    let judged = json!({
        "artifact_path": ".agents/learnings/2026-03-01-case-3.md", "session_id": "s", "reward": 0.9,
        "recorded_at": "2026-03-02T00:00:00Z",
    });
    night.repo.write("ao/feedback.jsonl", &format!("{judged}\n"));
    night.run(&[]).expect(0);
    let log = night.repo.run(&["--json", "overnight", "log"]).expect(0).json();
    let first = log["iterations"].as_array().unwrap().last().unwrap();
    let id = first["id"].as_str().unwrap().to_owned();
    (night, id)
}

fn array<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key}: {value:#}"))
}

// proves: LOOP-27
#[test]
fn a_real_night_is_listed_with_counts_and_fitness() {
    let (night, id) = real();
    let log = night.repo.run(&["--json", "overnight", "log"]).expect(0).json();
    let first = array(&log, "iterations").last().unwrap();
    let record = &night.summary()["iterations"][0];
    assert_eq!(first["merged"], record["reduce"]["deduped"]);
    assert_eq!(first["promoted"], record["reduce"]["promoted"]);
    assert_eq!((&first["merged"], &first["promoted"]), (&json!(1), &json!(1)), "{first:#}");
    for key in ["added", "changed", "deleted"] {
        assert_eq!(first[key], record["commit"][key], "{key}");
    }
    for key in ["fitness_before", "fitness_after"] {
        let there = first[key].as_f64().unwrap() - record[key]["composite"].as_f64().unwrap();
        assert!(there.abs() < 1e-5, "{key}: {first:#}");
    }
    let text = night.repo.run(&["overnight", "log"]).expect(0).stdout;
    let line = text.lines().find(|line| line.starts_with(&id)).unwrap();
    assert!(line.contains("1 merged, 1 promoted") && line.contains("fitness 0."), "{line}");
    // The record of another commit, and none at all: what only it knew is not made up.
    let run = id.rsplit_once("-iter-").unwrap().0;
    let file = night.latest(&format!("{run}/iterations/iter-1.json"));
    let text = std::fs::read_to_string(&file).unwrap();
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["commit"]["id"] = "another".into();
    std::fs::write(&file, other.to_string()).unwrap();
    let log = night.repo.run(&["--json", "overnight", "log"]).expect(0).json();
    assert_eq!(array(&log, "iterations").last().unwrap()["merged"], Value::Null);
    std::fs::remove_dir_all(night.latest(run)).unwrap();
    let log = night.repo.run(&["--json", "overnight", "log"]).expect(0).json();
    let first = array(&log, "iterations").last().unwrap();
    assert_eq!((&first["merged"], &first["fitness_before"]), (&Value::Null, &Value::Null));
    assert_eq!(first["deleted"], record["commit"]["deleted"]);
}

// proves: LOOP-27
#[test]
fn a_real_night_is_shown_with_reason_certificate_and_diff() {
    let (night, id) = real();
    let shown = night.repo.run(&["--json", "overnight", "show", &id]).expect(0).json();
    let record = &night.summary()["iterations"][0];
    let changes = array(&shown, "changes");
    assert_eq!(changes.len(), array(&record["reduce"], "changes").len(), "{shown:#}");
    let diff = shown["diff"].as_str().unwrap();
    for change in changes {
        assert!(change["reason"].as_str().unwrap().len() > 10, "{change:#}");
        assert!(!array(change, "sources").is_empty(), "{change:#}");
        assert!(diff.contains(change["path"].as_str().unwrap()), "{change:#}");
    }
    let of = |path: &str| changes.iter().find(|one| one["path"] == path).unwrap();
    assert_eq!(of("learnings/2026-03-01-case-3.md")["sources"], json!(["ao/feedback.jsonl"]));
    assert_eq!(
        of("knowledge/taken/feedback-2026-03.jsonl")["sources"],
        json!(["ao/feedback.jsonl"])
    );
    let merged = of("learnings/2026-03-02-copy.md");
    assert_eq!(
        (&merged["op"], &merged["certificate"]["verdict"]),
        (&json!("delete"), &json!("passed"))
    );
    assert_eq!(merged["certificate"]["successor"], "learnings/2026-03-01-case-1.md");
    let text = night.repo.run(&["overnight", "show", &id]).expect(0).stdout;
    assert!(text.contains("certificate passed") && text.contains("-# "), "{text}");
    assert!(text.contains(merged["reason"].as_str().unwrap()), "{text}");
    // Every line that is gone is in the diff.
    for line in learning(1).lines().filter(|line| !line.is_empty()) {
        assert!(diff.contains(&format!("-{line}\n")), "{line} in {diff}");
    }
}

// proves: LOOP-09
#[test]
fn a_real_night_is_taken_back_but_for_what_people_changed_since() {
    let night = Night::with_copies();
    night.pending(1);
    let repo = &night.repo;
    let before = contents(&repo.tree());
    night.run(&[]).expect(0);
    let changed = contents(&repo.tree());
    let log = repo.run(&["--json", "overnight", "log"]).expect(0).json();
    let id = array(&log, "iterations").last().unwrap()["id"].as_str().unwrap().to_owned();
    // One that the night wrote, and one that it did not.
    let survivor = "learnings/2026-03-01-case-1.md";
    assert_ne!(before[survivor], changed[survivor], "the night wrote it");
    let theirs = format!("{}\nA line of mine.\n", changed[survivor]);
    repo.write(survivor, &theirs);
    repo.write("learnings/2026-03-01-case-2.md", "# Mine\n");
    let undone = repo.run(&["--json", "overnight", "undo", &id, "--id", "u"]).expect(0);
    assert_eq!(undone.json()["conflicts"][0]["path"], survivor, "{undone}");
    let mut expected = before.clone();
    expected.insert(survivor.into(), theirs);
    expected.insert("learnings/2026-03-01-case-2.md".into(), "# Mine\n".into());
    let is_entry = |path: &String| path.starts_with("learnings/") || path.starts_with("knowledge/");
    let entries = |tree: std::collections::BTreeMap<String, String>| {
        tree.into_iter().filter(|(path, _)| is_entry(path)).collect::<Vec<_>>()
    };
    assert_eq!(entries(contents(&repo.tree())), entries(expected));
    assert_eq!(repo.read(&format!("overnight/conflicts/u/{survivor}")), before[survivor]);
    let log = repo.run(&["--json", "overnight", "log"]).expect(0).json();
    assert_eq!(array(&log, "iterations").last().unwrap()["taken_back_by"], "u");
}

#[test]
fn a_search_as_of_before_a_real_night_finds_what_it_merged_and_after_it_what_stands_for_it() {
    let (night, id) = real();
    let repo = &night.repo;
    let title = learning(1).lines().find_map(|line| line.strip_prefix("# ").map(str::to_owned));
    let title = title.unwrap();
    let copy = "learnings/2026-03-02-copy.md".to_owned();
    let then = found(repo, &title, "2026-03-31");
    assert!(then.contains(&copy), "{then:?}");
    let after = found(repo, &title, &id);
    assert!(!after.contains(&copy) && after[0] == "learnings/2026-03-01-case-1.md", "{after:?}");
    let shown = repo.run(&["--json", "show", &copy, "--as-of", "2026-03-31"]).expect(0).json();
    assert_eq!(shown["path"], format!(".agents/{copy}"));
    let shown = repo.run(&["--json", "show", &copy, "--as-of", &id]).expect(0).json();
    assert_eq!(shown["path"], ".agents/learnings/2026-03-01-case-1.md");
    // The promoted one was pending.
    let health =
        |as_of: &str| repo.run(&["--json", "metrics", "health", "--as-of", as_of]).expect(0).json();
    let (then, after) = (health("2026-03-31"), health(&id));
    assert_ne!(then["knowledge_stock"], after["knowledge_stock"]);
    assert_eq!(then["corpus_as_of"]["commit"], Value::Null);
}

/// An id that is only begun, or is nobody's.
#[test]
fn an_id_that_is_not_whole_is_refused_with_those_that_begin_so() {
    let repo = three_nights();
    for command in [
        vec!["overnight", "show", "n0"],
        vec!["overnight", "undo", "n0"],
        vec!["search", "quokka", "--as-of", "n0"],
    ] {
        let refused = repo.run(&command).expect(2);
        assert!(
            refused.stderr.contains("3 ids begin so: n03-iter-1, n02-iter-1, n01-iter-1"),
            "{refused}"
        );
    }
    let before = contents(&repo.tree());
    let refused = repo.run(&["overnight", "undo", "n03-iter"]).expect(2);
    assert!(refused.stderr.contains("1 id begins so: n03-iter-1"), "{refused}");
    assert_eq!(contents(&repo.tree()), before);
}
