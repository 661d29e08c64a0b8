//! Rulings, words for texts, and what an undo makes of them.

use serde_json::json;

use crate::night::Night;
use crate::rule::{NEW, OLD, disputed, knowledge};

/// A night that merges something, and then a ruling.
fn night_and_ruling() -> (Night, String, String) {
    let night = Night::with_copies();
    let other = disputed();
    for path in [OLD, NEW] {
        night.repo.write(path, &other.repo.read(path));
    }
    night.run(&[]).expect(0);
    let id = night.summary()["run_id"].as_str().unwrap().to_owned();
    assert!(!night.repo.exists("learnings/2026-03-02-copy.md"), "the night merged it");
    let card = night.repo.card();
    night.repo.rule(&[&card, "--keep", "A", "--why", "x", "--id", "r1"]).expect(0);
    (night, id, card)
}

// proves: LOOP-09
#[test]
fn an_undo_of_a_night_leaves_what_people_decided_since() {
    let (night, id, card) = night_and_ruling();
    let repo = &night.repo;
    let ruling = format!("knowledge/rulings/{card}.json");
    let (decided, marked) = (repo.read(&ruling), repo.read(NEW));
    let dry = repo.run(&["--dry-run", "overnight", "undo", &id]).expect(0);
    assert!(dry.stderr.contains("Would leave") && dry.stderr.contains("r1"), "{dry}");
    assert!(!dry.stdout.contains(&ruling), "{dry}");
    let done = repo.run(&["overnight", "undo", &id, "--id", "back"]).expect(0);
    assert!(done.stderr.contains("1 commit: r1"), "{done}");
    assert!(repo.exists("learnings/2026-03-02-copy.md"));
    assert_eq!((repo.read(&ruling), repo.read(NEW)), (decided, marked));
    let history = repo.read("overnight/history.jsonl");
    let line = |id: &str| {
        let mut lines = history.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.find(|line: &serde_json::Value| line["id"] == id).unwrap()
    };
    assert_eq!(line("r1")["by"], "person");
    assert!(line("back").get("by").is_none());
    assert!(!line("back")["undo_of"].as_array().unwrap().contains(&json!("r1")));
}

/// What was decided and then taken back together with a night is not brought back by another undo.
// proves: LOOP-09
#[test]
fn a_decision_and_its_undo_cancel_out() {
    let (night, id, card) = night_and_ruling();
    let repo = &night.repo;
    let ruling = format!("knowledge/rulings/{card}.json");
    repo.write("learnings/2026-03-08-copy.md", &crate::night::learning(2));
    night.run(&[]).expect(0);
    // From the ruling on: the second night goes, too.
    repo.run(&["tree", "undo", "r1", "--id", "u1"]).expect(0);
    assert!(!repo.exists(&ruling));
    repo.run(&["overnight", "undo", &id, "--id", "u2"]).expect(0);
    assert!(!repo.exists(&ruling), "nobody decided it anew");
    assert!(!repo.read(NEW).contains("superseded_by"));
    assert!(repo.exists("learnings/2026-03-02-copy.md"));
}

/// A ruling and its mark are one decision: neither goes without the other.
#[test]
fn a_ruling_is_taken_back_whole_or_not_at_all() {
    for (edited, only) in [(NEW, true), (NEW, false), ("the ruling", true)] {
        let (night, _, card) = night_and_ruling();
        let repo = &night.repo;
        let ruling = format!("knowledge/rulings/{card}.json");
        let edited = if edited == NEW { NEW } else { &ruling };
        repo.write(edited, &(repo.read(edited) + "\n"));
        let before = knowledge(repo);
        let mut arguments = vec!["--json", "tree", "undo", "r1"];
        arguments.extend(only.then_some("--only"));
        let done = repo.run(&arguments).expect(0);
        assert!(done.stderr.contains(&format!("ao rule {card} --withdraw")), "{done}");
        let done = done.json();
        let paths: Vec<&str> = done["conflicts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|conflict| conflict["path"].as_str().unwrap())
            .collect();
        assert!(paths.contains(&NEW) && paths.contains(&ruling.as_str()), "{done:#}");
        let mut after = knowledge(repo);
        after.retain(|path, _| !path.starts_with("overnight/"));
        let mut before = before;
        before.retain(|path, _| !path.starts_with("overnight/"));
        assert_eq!(after, before, "{edited}");
        // A withdrawal knows the mark by what it says.
        if edited == NEW {
            repo.rule(&[&card, "--withdraw"]).expect(0);
            assert!(!repo.read(NEW).contains("superseded_by") && !repo.exists(&ruling));
        }
    }
}

/// Of an untouched ruling nothing stays, and later commits do with `--only`.
#[test]
fn only_the_ruling_is_taken_back() {
    let (night, _, card) = night_and_ruling();
    let repo = &night.repo;
    repo.apply_as(&json!([crate::repo::write("learnings/hand.md", "# By hand\n")]), &[]).expect(0);
    repo.run(&["tree", "undo", "r1", "--only"]).expect(0);
    assert!(repo.exists("learnings/hand.md") && !repo.read(NEW).contains("superseded_by"));
    assert_eq!(repo.card(), card);
}

/// A word for a text is a decision as well.
// proves: LOOP-09
#[test]
fn an_undo_of_a_night_leaves_a_word_for_a_text() {
    let night = Night::with_copies();
    let repo = &night.repo;
    night.run(&[]).expect(0);
    let id = night.summary()["run_id"].as_str().unwrap().to_owned();
    night.pending(3);
    let folder = std::fs::read_dir(repo.agents().join("knowledge/pending")).unwrap();
    let name = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).next().unwrap();
    let path = format!("knowledge/pending/{name}");
    repo.run(&["trust", &path, "--vouch", "--why", "I wrote it"]).expect(0);
    let vouched = || repo.run(&["--json", "trust"]).expect(0).json()["vouched"].clone();
    let before = vouched();
    assert_eq!(before.as_array().unwrap().len(), 1, "{before:#}");
    repo.run(&["overnight", "undo", &id]).expect(0);
    assert!(repo.exists("learnings/2026-03-02-copy.md"));
    assert_eq!(vouched(), before);
}
