//! `--as-of`: the corpus as it was.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::repo::{Ran, TestRepo, delete, write};
use crate::search::paths;

/// Far in the past, so that no file seems to be newer than a commit.
const OLD: Duration = Duration::from_hours(24 * 365 * 30);

impl TestRepo {
    /// Sets the times of all files back to before every commit.
    pub(crate) fn settle(&self) {
        for path in self.tree().keys() {
            let file = File::options().write(true).open(self.agents().join(path)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + OLD).unwrap();
        }
    }

    /// Changes lines of the history behind the door's back.
    pub(crate) fn edit_history(&self, edit: impl FnOnce(&mut Vec<Value>)) {
        let history = self.read("overnight/history.jsonl");
        let read = |line: &str| serde_json::from_str(line).unwrap();
        let mut lines: Vec<Value> = history.lines().map(read).collect();
        edit(&mut lines);
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        self.write("overnight/history.jsonl", &(lines.join("\n") + "\n"));
    }

    pub(crate) fn night(&self, number: usize, edits: &Value) -> String {
        let id = format!("n{number:02}-iter-1");
        self.apply_as(edits, &["--id", &id]).expect(0);
        id
    }
}

pub(crate) fn told(ran: &Ran) -> Value {
    ran.json()["corpus_as_of"].clone()
}

pub(crate) fn quokka(text: &str) -> String {
    format!("---\ndate: 2026-04-01\n---\n# Quokka\n\n{text}\n")
}

/// Three nights: one adds, one rewords, one deletes.
pub(crate) fn three_nights() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("learnings/first.md", &quokka("The first version is zebra."));
    repo.write("learnings/other.md", &quokka("Another one."));
    repo.settle();
    repo.night(1, &json!([write("learnings/added.md", &quokka("It came by night, a lemur."))]));
    repo.night(2, &json!([write("learnings/first.md", &quokka("The second version is okapi."))]));
    repo.night(3, &json!([delete("learnings/other.md"), delete("learnings/added.md")]));
    repo
}

pub(crate) fn found(repo: &TestRepo, word: &str, as_of: &str) -> Vec<String> {
    let found = repo.search(&[word, "--as-of", as_of]);
    paths(&found).into_iter().map(str::to_owned).collect()
}

#[test]
fn a_search_as_of_an_iteration_sees_what_was_there_after_it() {
    let repo = three_nights();
    for (as_of, zebra, okapi, lemur, another) in [
        ("n01-iter-1", true, false, true, true),
        ("n02-iter-1", false, true, true, true),
        ("n03-iter-1", false, true, false, false),
        // The last commit of the run.
        ("n02", false, true, true, true),
    ] {
        let is = |word: &str| !found(&repo, word, as_of).is_empty();
        assert_eq!(
            (is("zebra"), is("okapi"), is("lemur"), is("another")),
            (zebra, okapi, lemur, another),
            "{as_of}"
        );
    }
    // Before the first of them, by day: its end is earlier than every commit.
    assert_eq!(found(&repo, "zebra", "2020-01-01"), Vec::<String>::new(), "dated later");
    repo.write("learnings/undated.md", "# Quokka\n");
    let then = repo.run(&["--json", "search", "quokka", "--as-of", "2020-01-01"]).expect(0);
    assert_eq!(told(&then)["commit"], Value::Null);
    assert_eq!(told(&then)["later_commits"], 3);
    // The snippet is of that version too.
    let shown = repo.search(&["zebra", "--as-of", "n01-iter-1"]);
    assert!(shown["results"][0]["snippet"].as_str().unwrap().contains("zebra"), "{shown:#}");
    // Every day to come is today.
    assert_eq!(found(&repo, "okapi", "2999-01-01"), ["learnings/first.md"]);
    assert_eq!(
        told(&repo.run(&["--json", "search", "okapi", "--as-of", "2999-01-01"]))["later_commits"],
        0
    );
    for wrong in ["yesterday", "n09-iter-1", "2026-13-01"] {
        let refused = repo.run(&["search", "okapi", "--as-of", wrong]).expect(2);
        assert!(refused.stderr.contains(wrong), "{refused}");
    }
}

/// A moment between two commits is the state after the first.
#[test]
fn a_moment_is_the_state_at_its_end() {
    let repo = three_nights();
    let days = ["2026-05-01", "2026-05-03", "2026-05-05"];
    repo.edit_history(|lines| {
        for (line, at) in lines.iter_mut().zip(days) {
            line["at"] = format!("{at}T02:00:00Z").into();
        }
    });
    for (as_of, commit) in [
        ("2026-04-30", Value::Null),
        ("2026-05-01T01:59:59Z", Value::Null),
        ("2026-05-01T02:00:00Z", "n01-iter-1".into()),
        ("2026-05-01", "n01-iter-1".into()),
        ("2026-05-04", "n02-iter-1".into()),
        ("2026-05-05T04:00:00+02:00", "n03-iter-1".into()),
        ("2026-05-05T04:00:00+02:01", "n02-iter-1".into()),
        // Without a zone it is UTC.
        ("2026-05-05T01:59:59", "n02-iter-1".into()),
        ("2026-05-05 02:00", "n03-iter-1".into()),
        ("0001-01-01", Value::Null),
        ("9999-12-31", "n03-iter-1".into()),
    ] {
        let ran = repo.run(&["--json", "search", "quokka", "--as-of", as_of]).expect(0);
        assert_eq!(told(&ran)["commit"], commit, "{as_of}");
    }
    assert_eq!(found(&repo, "zebra", "2026-05-02"), ["learnings/first.md"]);
    assert_eq!(found(&repo, "zebra", "2026-05-03"), Vec::<String>::new());
}

#[test]
fn show_and_health_are_of_that_state() {
    let repo = three_nights();
    let show = |name: &str, as_of: &str| repo.run(&["--json", "show", name, "--as-of", as_of]);
    let then = show("first", "n01-iter-1").expect(0);
    assert!(then.json()["body"].as_str().unwrap().contains("zebra"), "{then}");
    assert_eq!(told(&then)["commit"], "n01-iter-1");
    let then = show("first", "n02-iter-1").expect(0);
    assert!(then.json()["body"].as_str().unwrap().contains("okapi"), "{then}");
    show("added", "n02-iter-1").expect(0);
    show("added", "n03-iter-1").expect(2);
    show("added", "2020-01-01").expect(2);
    let stock = |more: &[&str]| {
        let mut arguments = vec!["--json", "metrics", "health"];
        arguments.extend(more);
        repo.run(&arguments).expect(0).json()
    };
    let learnings = |report: &Value| report["knowledge_stock"]["learning"].as_u64().unwrap();
    let now = learnings(&stock(&[]));
    assert_eq!(learnings(&stock(&["--as-of", "n03-iter-1"])), now);
    let then = stock(&["--as-of", "n02-iter-1"]);
    assert_eq!(learnings(&then), now + 2);
    assert_eq!(then["corpus_as_of"]["later_commits"], 1);
    assert_eq!(learnings(&stock(&["--as-of", "2026-01-01"])), now + 1, "before all of them");
}

/// Citations that came later are not known to an earlier state.
#[test]
fn health_of_an_iteration_leaves_later_citations_out() {
    let repo = three_nights();
    let cite = |at: &str| {
        let path = repo.root().join(".agents/learnings/first.md");
        json!({ "artifact_path": path, "session_id": "s", "cited_at": at, "citation_type": "applied" })
    };
    let sessions = |as_of: &str| {
        let ran = repo.run(&["--json", "metrics", "health", "--as-of", as_of]).expect(0);
        ran.json()["sessions"].clone()
    };
    repo.write("ao/citations.jsonl", &format!("{}\n", cite("2999-01-01T00:00:00Z")));
    assert_eq!(sessions("n02-iter-1"), 0);
    repo.write("ao/citations.jsonl", &format!("{}\n", cite("2026-01-01T00:00:00Z")));
    assert_eq!(sessions("n02-iter-1"), 1);
    // Nor is what was asked later a question that it is measured by.
    let fitness = || {
        let ran = repo.run(&["--json", "metrics", "health", "--as-of", "n02-iter-1"]).expect(0);
        ran.json()["fitness"].clone()
    };
    repo.write("ao/citations.jsonl", "");
    let before = fitness();
    let mut asked = cite("2999-01-01T00:00:00Z");
    asked["query"] = "second version okapi".into();
    repo.write("ao/citations.jsonl", &format!("{asked}\n"));
    assert_eq!(fitness(), before);
    asked["cited_at"] = "2026-01-01T00:00:00Z".into();
    repo.write("ao/citations.jsonl", &format!("{asked}\n"));
    assert_ne!(fitness(), before, "it counts if it was asked before");
}

#[test]
fn what_people_changed_since_is_named() {
    let repo = three_nights();
    let clean = repo.run(&["--json", "search", "quokka", "--as-of", "n02-iter-1"]).expect(0);
    assert_eq!(told(&clean)["uncertain"], json!([]), "{clean}");
    // Never touched by a commit; touched before the state; and one that a commit wrote is removed.
    repo.write("patterns/p.md", "# pattern by hand\n");
    repo.write("learnings/first.md", &quokka("By hand."));
    let ran = repo.run(&["--json", "search", "quokka", "--as-of", "n02-iter-1"]).expect(0);
    let uncertain = told(&ran);
    let list = uncertain["uncertain"].as_array().unwrap();
    let named: Vec<&str> = list.iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(named, ["learnings/first.md", "patterns/p.md"], "{ran}");
    assert!(list[0]["why"].as_str().unwrap().contains("n02-iter-1"), "{ran}");
    assert!(ran.stderr.contains("patterns/p.md"), "{ran}");
    // Before the commit that had changed it, its version is known all the same.
    assert_eq!(found(&repo, "zebra", "n01-iter-1"), ["learnings/first.md"]);
    fs::remove_file(repo.agents().join("learnings/first.md")).unwrap();
    let ran = repo.run(&["--json", "search", "quokka", "--as-of", "n02-iter-1"]).expect(0);
    let list = told(&ran);
    assert!(list["uncertain"][0]["why"].as_str().unwrap().contains("removed"), "{list:#}");
    // Between two commits that both touched it.
    repo.write("learnings/first.md", &quokka("By hand, then by night."));
    repo.night(4, &json!([write("learnings/first.md", &quokka("The fourth."))]));
    let ran = repo.run(&["--json", "search", "night", "--as-of", "n03-iter-1"]).expect(0);
    assert_eq!(paths(&ran.json()), ["learnings/first.md"]);
    let list = told(&ran);
    let why = list["uncertain"][0]["why"].as_str().unwrap();
    assert!(why.contains("n02-iter-1") && why.contains("n04-iter-1"), "{list:#}");
}

// proves: LOOP-09
#[test]
fn a_state_that_is_no_longer_kept_is_refused_by_name() {
    let repo = three_nights();
    repo.write("../.agentops/config.yaml", "undo:\n  max_mb: 0\n");
    repo.night(4, &json!([write("learnings/x.md", "# x\n")]));
    // All snapshots went, the newest too; it only added, so what was before it is known.
    repo.run(&["search", "quokka", "--as-of", "n03-iter-1"]).expect(0);
    for as_of in ["n02-iter-1", "n01", "2020-01-01"] {
        for command in [vec!["search", "quokka"], vec!["show", "first"], vec!["metrics", "health"]]
        {
            let mut arguments = command.clone();
            arguments.extend(["--as-of", as_of]);
            let refused = repo.run(&arguments).expect(6);
            assert!(refused.stderr.contains("n03-iter-1"), "{refused}");
            assert!(refused.stderr.contains("no longer kept"), "{refused}");
        }
    }
}

/// A snapshot that went and only added files does not stand in the way.
#[test]
fn what_only_added_files_needs_no_bytes() {
    let repo = three_nights();
    repo.night(4, &json!([write("learnings/x.md", "# Quokka x\n")]));
    repo.edit_history(|lines| lines[3]["at"] = "2020-01-01T00:00:00Z".into());
    repo.night(5, &json!([write("learnings/y.md", "# y\n")]));
    assert!(repo.state("undo/n04-iter-1/expired").is_file(), "older than the days that are kept");
    let then = found(&repo, "quokka", "n03-iter-1");
    assert_eq!(then, ["learnings/first.md"]);
}

#[test]
fn a_kept_version_that_is_damaged_or_missing_is_not_shown() {
    let repo = three_nights();
    let blobs: Vec<_> = fs::read_dir(repo.state("undo/n02-iter-1"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("record.json"))
        .collect();
    assert_eq!(blobs.len(), 1);
    fs::write(&blobs[0], quokka("A zebra that was never there.")).unwrap();
    assert_eq!(found(&repo, "zebra", "n01-iter-1"), Vec::<String>::new());
    repo.run(&["show", "learnings/first.md", "--as-of", "n01-iter-1"]).expect(5);
    fs::remove_file(&blobs[0]).unwrap();
    let refused = repo.run(&["search", "quokka", "--as-of", "n01-iter-1"]).expect(5);
    assert!(refused.stderr.contains("n02-iter-1"), "{refused}");
    // Other states do not need it.
    repo.run(&["search", "quokka", "--as-of", "n02-iter-1"]).expect(0);
}

/// Nothing is known but what lies there; entries from later days are left out all the same.
#[test]
fn a_repository_without_a_commit_is_read_as_it_is() {
    let repo = TestRepo::new();
    repo.write("learnings/q.md", &quokka("A lemur."));
    repo.settle();
    let ran = repo.run(&["--json", "search", "lemur", "--as-of", "2026-04-02"]).expect(0);
    assert_eq!(paths(&ran.json()), ["learnings/q.md"]);
    assert_eq!(
        (&told(&ran)["commit"], &told(&ran)["later_commits"], &told(&ran)["uncertain_in_all"]),
        (&Value::Null, &json!(0), &json!(0))
    );
    assert!(ran.stderr.contains("The corpus as it is now; nothing was ever committed."), "{ran}");
    assert_eq!(found(&repo, "lemur", "2026-03-31"), Vec::<String>::new());
    repo.run(&["search", "lemur", "--as-of", "n01-iter-1"]).expect(2);
    // Made after the day that is asked for.
    repo.write("learnings/q.md", &quokka("A lemur by hand."));
    let ran = repo.run(&["--json", "show", "q", "--as-of", "2026-04-02"]).expect(0);
    assert_eq!(told(&ran)["uncertain"][0]["path"], "learnings/q.md", "{ran}");
}
