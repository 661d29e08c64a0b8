//! `flywheel close-loop`: pending learnings. What feedback does is in `feedback.rs`.

use std::fs;

use serde_json::{Value, json};

use crate::night::Noon;
use crate::repo::{Ran, TestRepo, contents, edits_everywhere};

const GOOD: &str = "# Learning: Take the lock first\n\n## What We Learned\n\n\
    Take `run.lock` before reading state: in 7 of 40 runs the report writer lost an entry because \
    crates/ao/src/repo.rs read the generation counter before the lock was held.\n\n\
    ## Source\n\nSession: S-12\n";

fn good(date: &str) -> String {
    format!("---\ndate: {date}\nowner: me # kept\n---\n{GOOD}")
}

fn close(repo: &TestRepo, more: &[&str]) -> Ran {
    let mut arguments = vec!["--json", "flywheel", "close-loop", "--threshold", "0h"];
    arguments.extend(more);
    repo.run(&arguments)
}

/// What became of one pending file.
fn verdict<'a>(report: &'a Value, name: &str) -> &'a Value {
    let path = format!("knowledge/pending/{name}");
    report["pending"].as_array().unwrap().iter().find(|v| v["path"] == path.as_str()).unwrap()
}

// proves: RUN-07, LOOP-24
#[test]
fn a_concrete_pending_learning_is_promoted_with_its_provenance() {
    let repo = TestRepo::new();
    repo.write("knowledge/pending/x.md", &good("2026-04-01"));
    let report = close(&repo, &["--id", "one"]).expect(0).json();
    assert_eq!((report["promoted"].as_u64(), report["id"].as_str()), (Some(1), Some("one")));
    let verdict = verdict(&report, "x.md");
    assert_eq!(verdict["verdict"], "promoted");
    let to = verdict["promoted_to"].as_str().unwrap();
    assert_eq!(to, "learnings/2026-04-01-take-the-lock-first.md");
    let learning = repo.read(to);
    for line in [
        "owner: me # kept\n",
        "maturity: provisional\n",
        "promoted_from: knowledge/pending/x.md\n",
        "promoted_at: ",
        "source_session: S-12\n",
    ] {
        assert!(learning.contains(line), "{line} in {learning}");
    }
    assert!(learning.ends_with(GOOD), "the text is as it was: {learning}");
    assert!(!repo.exists("knowledge/pending/x.md"));
    let processed = repo.read("knowledge/processed/x.md");
    assert!(processed.contains(&format!("promoted_to: {to}\n")) && processed.ends_with(GOOD));
    // The signals add up to the score.
    let sum: f64 =
        verdict["signals"].as_array().unwrap().iter().map(|s| s["amount"].as_f64().unwrap()).sum();
    assert!((sum.min(1.0) - verdict["score"].as_f64().unwrap()).abs() < 1e-9, "{verdict}");
    // What is published is what its schema says.
    let path = repo.root().join("close-loop.json");
    fs::write(&path, report.to_string()).unwrap();
    repo.run(&["schema", "close-loop", "--check", path.to_str().unwrap()]).expect(0);
}

#[test]
fn a_text_without_a_concrete_claim_stays_whatever_it_is_dressed_in() {
    let repo = TestRepo::new();
    let vague = [
        ("careful.md", "Communication matters because teams must always work together."),
        ("praise.md", "We learned a lot today. It went well. We should do better next time."),
        (
            "long.md",
            "We must always remember that good communication and careful planning are important \
             because they help the whole team deliver better quality results together. We had 3 \
             meetings in 2026 and everyone should consider the value of a great process.",
        ),
        ("title.md", ""),
    ];
    for (name, text) in vague {
        let text = format!(
            "---\ndate: 2026-04-01\nconfidence: high\nsource_session: s\n---\n# Learning: x\n\n{text}\n\n## Source\n\nSession: s\n"
        );
        repo.write(&format!("knowledge/pending/{name}"), &text);
    }
    let before = repo.tree();
    let report = close(&repo, &[]).expect(0).json();
    assert_eq!(report["promoted"], 0);
    for (name, _) in vague {
        let verdict = verdict(&report, name);
        assert_eq!(verdict["verdict"], "kept", "{name}");
        assert!(!verdict["reason"].as_str().unwrap().is_empty());
    }
    assert!(verdict(&report, "long.md")["reason"].as_str().unwrap().contains("concrete claim"));
    assert_eq!(repo.tree(), before);
}

#[test]
fn a_claim_that_scores_too_little_stays_and_says_so() {
    let repo = TestRepo::new();
    let text = "---\ndate: 2026-04-01\n---\nThe scheduler unit reads crates/ao/x.rs twice.\n";
    repo.write("knowledge/pending/thin.md", text);
    let report = close(&repo, &[]).expect(0).json();
    let verdict = verdict(&report, "thin.md");
    assert_eq!(verdict["verdict"], "kept");
    assert!(verdict["score"].as_f64().unwrap() < report["promote_at"].as_f64().unwrap());
    assert!(verdict["reason"].as_str().unwrap().contains("0.5 is needed"), "{verdict}");
}

// pitfall 9
#[test]
fn a_second_run_changes_nothing() {
    let repo = TestRepo::new();
    for day in 1..=5 {
        let text = good(&format!("2026-04-0{day}")).replace("7 of 40", &format!("{day} of 40"));
        repo.write(&format!("knowledge/pending/{day}.md"), &text);
    }
    assert_eq!(close(&repo, &[]).expect(0).json()["promoted"], 5);
    let before = repo.tree();
    let second = close(&repo, &[]).expect(0).json();
    assert_eq!((&second["status"], &second["promoted"]), (&"nothing-changed".into(), &0.into()));
    assert_eq!(repo.tree(), before);
    // Somebody puts a promoted text back, under another name and with other line ends: it is known.
    let again = good("2026-04-09").replace("7 of 40", "3 of 40").replace('\n', "\r\n");
    repo.write("knowledge/pending/again.md", &again);
    let third = close(&repo, &[]).expect(0).json();
    assert_eq!((&third["promoted"], &third["known"]), (&0.into(), &1.into()));
    assert_eq!(
        verdict(&third, "again.md")["promoted_to"],
        "learnings/2026-04-03-take-the-lock-first.md"
    );
    let learnings = |tree: &crate::repo::Tree| {
        contents(tree)
            .into_iter()
            .filter(|(path, _)| path.starts_with("learnings/"))
            .collect::<Vec<_>>()
    };
    assert_eq!(learnings(&repo.tree()), learnings(&before));
    assert!(!repo.exists("knowledge/pending/again.md"));
}

#[test]
fn two_pending_files_with_one_text_become_one_learning() {
    let repo = TestRepo::new();
    repo.write("knowledge/pending/a.md", &good("2026-04-01"));
    repo.write("knowledge/pending/b.md", &good("2026-04-02"));
    let report = close(&repo, &[]).expect(0).json();
    assert_eq!((&report["promoted"], &report["known"]), (&1.into(), &1.into()));
    let to = |name| verdict(&report, name)["promoted_to"].clone();
    assert_eq!(to("a.md"), to("b.md"));
}

#[test]
fn names_are_made_unique_and_nothing_is_overwritten() {
    let repo = TestRepo::new();
    repo.write("learnings/2026-04-01-TAKE-the-lock-first.md", "another text\n");
    repo.write("learnings/other.md", "---\nmerged_from: [2026-04-01-take-the-lock-first-2]\n---\n");
    repo.write("knowledge/processed/x.md", "an older one\n");
    repo.write("knowledge/pending/x.md", &good("2026-04-01"));
    let report = close(&repo, &[]).expect(0).json();
    // The first is another file on some file systems, the second is the old name of an entry.
    let to = verdict(&report, "x.md")["promoted_to"].as_str().unwrap();
    assert_eq!(to, "learnings/2026-04-01-take-the-lock-first-3.md");
    assert_eq!(repo.read("learnings/2026-04-01-TAKE-the-lock-first.md"), "another text\n");
    assert_eq!(repo.read("knowledge/processed/x.md"), "an older one\n");
    assert!(repo.read("knowledge/processed/x-2.md").contains("promoted_to"));
}

// pitfall 15
#[test]
fn ages_are_counted_from_today_and_not_from_the_corpus() {
    let repo = TestRepo::new();
    let aside = tempfile::tempdir().unwrap();
    let noon = Noon::new(aside.path());
    let [today, yesterday, tomorrow] = [0, -1, 1].map(|days| noon.day(days).to_string());
    repo.write("knowledge/pending/new.md", &good(&today));
    repo.write("knowledge/pending/old.md", &good(&yesterday).replace("7 of", "8 of"));
    repo.write("knowledge/pending/undated.md", &GOOD.replace("7 of", "9 of"));
    // Later than all, and it makes no other one old.
    repo.write("learnings/ahead.md", "---\ndate: 2036-04-01\n---\n# Ahead\n");
    let arguments = ["--json", "--dry-run", "flywheel", "close-loop"];
    let report = noon.run(repo.command(&arguments)).expect(0).json();
    assert_eq!((&report["as_of"], &report["min_age"]), (&today.into(), &"24h0m0s".into()));
    assert_eq!(verdict(&report, "new.md")["verdict"], "kept");
    assert_eq!(verdict(&report, "old.md")["verdict"], "promoted");
    assert!(verdict(&report, "undated.md")["reason"].as_str().unwrap().contains("no date"));
    let mut later = arguments.to_vec();
    later.extend(["--as-of", &tomorrow]);
    assert_eq!(verdict(&repo.run(&later).expect(0).json(), "new.md")["verdict"], "promoted");
    let mut elsewhere = repo.command(&arguments);
    elsewhere.env("TZ", "Asia/Tokyo").env("LC_ALL", "tr_TR.UTF-8");
    let other = noon.run(elsewhere).expect(0).json();
    assert_eq!((&other["pending"], &other["as_of"]), (&report["pending"], &report["as_of"]));
    repo.run(&["flywheel", "close-loop", "--threshold", "yesterday"]).expect(2);
    repo.run(&["flywheel", "close-loop", "--as-of", "2026-13-01"]).expect(2);
}

// proves: RUN-07
#[test]
fn a_dry_run_only_tells() {
    let repo = TestRepo::new();
    repo.write("knowledge/pending/x.md", &good("2026-04-01"));
    repo.write("ao/citations.jsonl", "{\"artifact_path\":\"learnings/a.md\",\"session_id\":\"s\",\"cited_at\":\"2026-04-01T00:00:00Z\",\"citation_type\":\"applied\"}\n");
    let before = repo.everything();
    let told = close(&repo, &["--dry-run"]).expect(0).json();
    assert_eq!((&told["status"], &told["promoted"]), (&"dry-run".into(), &1.into()));
    assert!(told["commit"]["diff"].as_str().unwrap().contains("+promoted_from"));
    assert_eq!(told["feedback"][0]["path"], "learnings/a.md");
    assert_eq!(repo.everything(), before);
}

// proves: RUN-18
#[test]
fn a_run_that_holds_the_lock_defers_it() {
    let repo = TestRepo::new();
    let run = repo.stopped_before_the_exchange(&edits_everywhere());
    let process = run.child.id();
    let before = repo.everything();
    let refused = close(&repo, &[]).expect(75);
    assert!(refused.stderr.contains(&format!("process {process} since 20")), "{refused}");
    assert_eq!(repo.everything(), before);
    run.go_on().expect(0);
}

// proves: LOOP-06
#[test]
fn an_undo_takes_back_the_promotion_and_what_was_written_down_about_it() {
    let repo = TestRepo::new();
    repo.write("knowledge/pending/x.md", &good("2026-04-01"));
    repo.write("ao/citations.jsonl", "{\"artifact_path\":\"learnings/a.md\",\"session_id\":\"s\",\"cited_at\":\"2026-04-01T00:00:00Z\",\"citation_type\":\"applied\"}\n");
    let before = contents(&repo.tree());
    let first = close(&repo, &["--id", "one"]).expect(0).json();
    repo.run(&["tree", "undo", "one"]).expect(0);
    assert_eq!(contents(&repo.tree()), before);
    let again = close(&repo, &["--id", "two"]).expect(0).json();
    assert_eq!((&again["promoted"], &again["rewards"]), (&first["promoted"], &first["rewards"]));
    assert_eq!((&again["promoted"], &again["rewards"]), (&1.into(), &1.into()));
}

#[test]
fn line_ends_and_byte_order_marks_survive_and_doubts_stay() {
    let repo = TestRepo::new();
    let windows = format!("\u{feff}{}", good("2026-04-01").replace('\n', "\r\n"));
    repo.write("knowledge/pending/windows.md", &windows);
    repo.write("knowledge/pending/twice.md", &format!("---\na: 1\na: 2\n---\n{GOOD} 2"));
    repo.write("knowledge/pending/open.md", &format!("---\na: 1\n{GOOD} 3"));
    repo.write("knowledge/pending/pinned.md", &format!("---\npinned: true\n---\n{GOOD} 4"));
    let token = format!("ghp_{}", "a1".repeat(18));
    repo.write("knowledge/pending/secret.md", &format!("{GOOD} {token}"));
    fs::write(repo.agents().join("knowledge/pending/binary.md"), b"\0\xff\xfe").unwrap();
    std::os::unix::fs::symlink("twice.md", repo.agents().join("knowledge/pending/link.md"))
        .unwrap();
    let before = contents(&repo.tree());
    let report = close(&repo, &[]).expect(0).json();
    let learning = repo.read(verdict(&report, "windows.md")["promoted_to"].as_str().unwrap());
    assert!(learning.starts_with("\u{feff}---\r\ndate: 2026-04-01\r\nowner: me # kept\r\n"));
    assert!(
        !learning.replace("\r\n", "").contains('\n') && learning.ends_with("Session: S-12\r\n")
    );
    for name in ["twice.md", "open.md", "pinned.md", "secret.md"] {
        assert_eq!(verdict(&report, name)["verdict"], "kept", "{name}");
        let path = format!("knowledge/pending/{name}");
        assert_eq!(repo.read(&path), before[&path], "{name}");
    }
    assert!(verdict(&report, "secret.md")["reason"].as_str().unwrap().contains("GitHub token"));
    assert!(!report.to_string().contains(&token));
    let left = report["left"].to_string();
    for name in ["binary.md", "link.md", "twice.md", "open.md"] {
        assert!(left.contains(name), "{name} in {left}");
    }
}

#[test]
fn without_a_corpus_there_is_nothing_to_do() {
    let repo = TestRepo::new();
    fs::remove_dir_all(repo.agents()).unwrap();
    close(&repo, &[]).expect(6);
    fs::create_dir(repo.agents()).unwrap();
    let report = close(&repo, &[]).expect(0).json();
    assert_eq!((&report["status"], &report["pending"]), (&"nothing-changed".into(), &json!([])));
    assert!(!repo.exists("knowledge"));
    repo.write("knowledge/pending/x.md", "x");
    assert_eq!(close(&repo, &[]).expect(0).json()["kept"], 1);
}

/// The corpus can be read where the door does not write: a name that is not the same everywhere.
#[test]
fn what_the_door_refuses_waits_as_a_whole() {
    let repo = TestRepo::new();
    repo.write("knowledge/pending/odd\u{200b}.md", &good("2026-04-01"));
    repo.write("knowledge/pending/plain.md", &good("2026-04-01").replace("7 of", "8 of"));
    repo.write("learnings/odd\u{200b}.md", "# odd\n");
    let cite = |name: &str| {
        format!(
            "{{\"artifact_path\":\"learnings/{name}\",\"session_id\":\"s\",\"cited_at\":\"2026-04-01T00:00:00Z\",\"citation_type\":\"applied\"}}\n"
        )
    };
    repo.write("ao/citations.jsonl", &(cite("odd\u{200b}.md") + &cite("a.md")));
    let report = close(&repo, &[]).expect(0).json();
    assert_eq!(verdict(&report, "plain.md")["verdict"], "promoted");
    assert_eq!(verdict(&report, "odd\u{200b}.md")["verdict"], "kept");
    assert_eq!(report["commit"]["refused"], serde_json::json!([]), "nothing by halves");
    let learnings =
        contents(&repo.tree()).into_keys().filter(|path| path.contains("take-the-lock"));
    assert_eq!(learnings.count(), 1);
    assert_eq!(report["rewards"], 1);
    assert!(!repo.read("knowledge/taken/citations-2026-04.jsonl").contains("odd"));
}

/// Somebody edits a judged entry while the commit waits for its readers: their edit stays, no
/// judgement is written down as taken, and none is told of.
#[test]
fn what_somebody_edits_meanwhile_is_judged_next_time() {
    let repo = TestRepo::new();
    repo.write("knowledge/pending/x.md", &good("2026-04-01"));
    let cite = |name: &str| {
        format!(
            "{{\"artifact_path\":\"learnings/{name}\",\"session_id\":\"s\",\"cited_at\":\"2026-04-01T00:00:00Z\",\"citation_type\":\"applied\"}}\n"
        )
    };
    repo.write("ao/citations.jsonl", &(cite("a.md") + &cite("b.md")));
    let arguments = ["--json", "flywheel", "close-loop", "--threshold", "0h", "--id", "stopped"];
    let stopped = repo.stopped_before(&arguments, "stopped");
    repo.write("learnings/a.md", "somebody's own words\n");
    let report = stopped.go_on().expect(0).json();
    assert_eq!(repo.read("learnings/a.md"), "somebody's own words\n");
    assert!(!repo.read("learnings/b.md").contains("reward_count"), "one group");
    assert!(!repo.exists("knowledge/taken/citations-2026-04.jsonl"));
    assert_eq!((&report["rewards"], &report["feedback"]), (&0.into(), &serde_json::json!([])));
    assert_eq!(report["promoted"], 1, "the promotion is a group of its own");
    let next = close(&repo, &[]).expect(0).json();
    assert_eq!(next["rewards"], 2);
    assert!(repo.read("learnings/a.md").ends_with("somebody's own words\n"));
}
