//! `flywheel close-loop`: citations and feedback.

use std::fs;

use serde_json::{Value, json};

use crate::repo::{TestRepo, contents};

fn cite(entry: &str, kind: &str, minute: usize) -> Value {
    json!({ "artifact_path": format!(".agents/learnings/{entry}"), "session_id": "s", "citation_type": kind,
        "cited_at": format!("2026-04-01T08:{minute:02}:00Z") })
}

fn log(repo: &TestRepo, name: &str, lines: &[Value]) {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    repo.write(&format!("ao/{name}.jsonl"), &(lines.join("\n") + "\n"));
}

fn close(repo: &TestRepo) -> Value {
    repo.run(&["--json", "flywheel", "close-loop"]).expect(0).json()
}

fn entry(repo: &TestRepo, name: &str, header: &str) {
    repo.write(&format!("learnings/{name}"), &format!("---\n{header}---\n# {name}\n"));
}

fn field(repo: &TestRepo, name: &str, key: &str) -> Option<String> {
    let text = repo.read(&format!("learnings/{name}"));
    let line = text.lines().find(|line| line.starts_with(&format!("{key}:")))?;
    Some(line[key.len() + 1..].trim().trim_matches('"').to_owned())
}

fn number(repo: &TestRepo, name: &str, key: &str) -> f64 {
    field(repo, name, key).unwrap().parse().unwrap()
}

// proves: RUN-07
#[test]
fn each_use_is_worth_what_is_published() {
    let repo = TestRepo::new();
    for name in ["applied.md", "reference.md", "bypass.md", "retrieved.md", "skimmed.md"] {
        entry(&repo, name, "odd: 'x'  # kept\nutility: 0.5\n");
    }
    let uses = ["applied", "reference", "bypass", "retrieved", "skimmed"];
    let lines: Vec<Value> = uses.iter().map(|kind| cite(&format!("{kind}.md"), kind, 1)).collect();
    log(&repo, "citations", &lines);
    let report = close(&repo);
    assert_eq!(report["rewards"], 3);
    // 0.5 + 0.3 · (1 − 0.5), 0.5 + 0.3 · (0.7 − 0.5), 0.5 − 0.3 · 0.5
    for (name, utility) in [("applied.md", 0.65), ("reference.md", 0.56), ("bypass.md", 0.35)] {
        assert!((number(&repo, name, "utility") - utility).abs() < 1e-9, "{name}");
        assert_eq!(field(&repo, name, "reward_count").as_deref(), Some("1"));
        assert_eq!(field(&repo, name, "last_reward_at").unwrap(), "2026-04-01T08:01:00Z");
        assert_eq!(field(&repo, name, "odd").unwrap(), "'x'  # kept");
    }
    assert_eq!(field(&repo, "applied.md", "helpful_count").as_deref(), Some("1"));
    assert_eq!(field(&repo, "bypass.md", "harmful_count").as_deref(), Some("1"));
    assert_eq!(field(&repo, "reference.md", "helpful_count"), None);
    assert_eq!(field(&repo, "bypass.md", "last_reward").as_deref(), Some("0.0"));
    for name in ["retrieved.md", "skimmed.md"] {
        assert_eq!(field(&repo, name, "reward_count"), None, "{name}");
    }
    let after = contents(&repo.tree());
    assert!(after["learnings/applied.md"].ends_with("# applied.md\n"));
}

/// Five helpful judgements on a new entry, computed by hand from the published formula.
#[test]
fn utility_and_maturity_move_by_the_published_rules() {
    let repo = TestRepo::new();
    entry(&repo, "x.md", "id: x\n");
    let mut utility = 0.5_f64;
    let mut lines = Vec::new();
    let expected = [None, None, Some("candidate"), Some("candidate"), Some("established")];
    for (rewards, maturity) in expected.into_iter().enumerate() {
        lines.push(cite("x.md", "applied", rewards));
        log(&repo, "citations", &lines);
        assert_eq!(close(&repo)["rewards"], 1);
        let step = (0.3 * (-0.1 * f64::from(u32::try_from(rewards).unwrap())).exp()).max(0.01);
        utility += step * (1.0 - utility);
        assert!((number(&repo, "x.md", "utility") - utility).abs() < 1e-5, "{rewards}");
        assert_eq!(field(&repo, "x.md", "maturity").as_deref(), maturity, "{rewards}");
    }
    let one_by_one = repo.read("learnings/x.md");
    // All five at once come to the same.
    entry(&repo, "x.md", "id: x\n");
    fs::remove_dir_all(repo.agents().join("knowledge/taken")).unwrap();
    assert_eq!(close(&repo)["rewards"], 5);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&repo.read("learnings/x.md")), sorted(&one_by_one));
}

#[test]
fn entries_fall_as_they_rise() {
    let repo = TestRepo::new();
    let header = |utility: f64, rewards: u64, harmful: u64, maturity: &str| {
        format!(
            "utility: {utility}\nreward_count: {rewards}\nhelpful_count: 9\nharmful_count: {harmful}\nmaturity: {maturity}\n"
        )
    };
    // One bypass each: 0.3·e^-0.4 = 0.2011, so 0.6 becomes 0.4794, 0.37 becomes 0.2956, 0.25 becomes 0.1997.
    entry(&repo, "established.md", &header(0.6, 4, 0, "established"));
    entry(&repo, "candidate.md", &header(0.37, 4, 0, "candidate"));
    entry(&repo, "harmful.md", &header(0.25, 4, 2, "established"));
    entry(&repo, "spared.md", &header(0.25, 4, 1, "provisional"));
    let names = ["established.md", "candidate.md", "harmful.md", "spared.md"];
    let lines: Vec<Value> = names.iter().map(|name| cite(name, "bypass", 1)).collect();
    log(&repo, "citations", &lines);
    close(&repo);
    let maturities = names.map(|name| field(&repo, name, "maturity").unwrap());
    assert_eq!(maturities, ["candidate", "provisional", "anti-pattern", "provisional"]);
}

// pitfall 9
#[test]
fn what_was_taken_once_is_not_taken_twice() {
    let repo = TestRepo::new();
    let mut lines =
        vec![cite("a.md", "applied", 1), cite("a.md", "applied", 1), cite("b.md", "reference", 2)];
    log(&repo, "citations", &lines);
    assert_eq!(close(&repo)["rewards"], 2, "the same line twice is one event");
    let before = repo.tree();
    let second = close(&repo);
    assert_eq!((&second["status"], &second["rewards"]), (&"nothing-changed".into(), &0.into()));
    assert_eq!(repo.tree(), before);
    // Others sort the log, add judgements to taken lines, and append.
    lines.reverse();
    lines[0]["feedback_reward"] = json!(0.9);
    lines.push(cite("a.md", "applied", 3));
    log(&repo, "citations", &lines);
    let third = close(&repo);
    assert_eq!(
        (&third["rewards"], &third["feedback"][0]["path"]),
        (&1.into(), &"learnings/a.md".into())
    );
}

#[test]
fn a_judgement_on_the_line_wins_and_one_that_was_spent_is_not_spent_again() {
    let repo = TestRepo::new();
    for name in ["x.md", "y.md", "z.md", "w.md"] {
        entry(&repo, name, "utility: 0.5\n");
    }
    let with = |entry: &str, kind: &str, more: Value| {
        let mut line = cite(entry, kind, 1);
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line
    };
    log(
        &repo,
        "citations",
        &[
            with("x.md", "applied", json!({ "feedback_reward": 0.2, "feedback_given": true })),
            with("y.md", "retrieved", json!({ "feedback_reward": 0.8 })),
            with(
                "z.md",
                "applied",
                json!({ "feedback_given": true, "feedback_reward": 1, "utility_before": 0.3, "utility_after": 0.5 }),
            ),
            with("w.md", "applied", json!({ "feedback_reward": 7 })),
        ],
    );
    log(
        &repo,
        "feedback",
        &[
            json!({ "artifact_path": "learnings/y.md", "session_id": "t", "reward": 0.0, "recorded_at": "2026-04-02T00:00:00Z" }),
            json!({ "artifact_path": "learnings/z.md", "reward": 1.0, "utility_before": 0.3, "utility_after": 0.5 }),
        ],
    );
    let report = close(&repo);
    assert!((number(&repo, "x.md", "utility") - 0.41).abs() < 1e-9, "0.5 + 0.3 · (0.2 − 0.5)");
    // 0.5 + 0.3 · 0.3 = 0.59, then 0.59 − 0.2714512 · 0.59
    assert!((number(&repo, "y.md", "utility") - 0.429_844).abs() < 1e-5);
    assert_eq!(field(&repo, "y.md", "last_reward_at").unwrap(), "2026-04-02T00:00:00Z");
    for name in ["z.md", "w.md"] {
        assert_eq!(field(&repo, name, "reward_count"), None, "{name}");
    }
    assert!(report["unused"].to_string().contains("ao/citations.jsonl:4"), "{}", report["unused"]);
}

#[test]
fn the_outcome_of_a_session_is_the_judgement_of_what_it_applied() {
    let repo = TestRepo::new();
    entry(&repo, "x.md", "utility: 0.5\n");
    entry(&repo, "y.md", "utility: 0.5\n");
    let mut other = cite("y.md", "applied", 1);
    other["session_id"] = json!("t");
    log(&repo, "citations", &[cite("x.md", "applied", 1), other]);
    repo.write("ao/last-session-outcome.json", "{\"session_id\":\"s\",\"reward\":0.1}");
    close(&repo);
    assert!((number(&repo, "x.md", "utility") - 0.38).abs() < 1e-9, "0.5 + 0.3 · (0.1 − 0.5)");
    assert!((number(&repo, "y.md", "utility") - 0.65).abs() < 1e-9);
    repo.write("ao/last-session-outcome.json", "nonsense");
    assert!(close(&repo)["unused"].to_string().contains("last-session-outcome.json"));
}

#[test]
fn a_name_that_changed_still_leads_to_its_entry() {
    let repo = TestRepo::new();
    entry(&repo, "survivor.md", "utility: 0.5\nmerged_from: [gone, L7]\n");
    entry(&repo, "old.md", "superseded_by: survivor\n");
    repo.write("knowledge/processed/p.md", "---\npromoted_to: learnings/survivor.md\n---\nx\n");
    let here = repo.root().canonicalize().unwrap();
    let line = |path: &str, minute: usize| {
        let mut line = cite("", "applied", minute);
        line["artifact_path"] = json!(path);
        line
    };
    let absolute = format!("{}/.agents/learnings/survivor.md", here.display());
    let mut moved = line("/old/place/.agents/learnings/survivor.md", 6);
    moved["workspace_path"] = json!("/old/place");
    log(
        &repo,
        "citations",
        &[
            line(".agents/learnings/gone.md", 1),
            line("learnings/old.md", 2),
            line(".agents/knowledge/pending/p.md", 3),
            line("L7", 4),
            line(&absolute, 5),
            moved,
            // Another repository's entry of the same name is not this one.
            line("/elsewhere/.agents/learnings/survivor.md", 7),
            line("learnings/nobody.md", 8),
            line("research/r.md", 9),
        ],
    );
    let report = close(&repo);
    assert_eq!(report["feedback"][0]["path"], "learnings/survivor.md");
    assert_eq!(report["rewards"], 6);
    assert_eq!(field(&repo, "survivor.md", "reward_count").as_deref(), Some("6"));
    assert_eq!(report["unused"].as_array().unwrap().len(), 3, "{}", report["unused"]);
}

// pitfall 17
#[test]
fn malformed_lines_survive_and_are_named() {
    let repo = TestRepo::new();
    let bad = format!(
        "not json\n\n{}\n{{\"session_id\":\"s\"}}\n[1,2]\n{{\"artifact_path\":\"learnings/a.md\"",
        cite("a.md", "applied", 1)
    );
    repo.write("ao/citations.jsonl", &bad);
    let report = close(&repo);
    assert_eq!(report["rewards"], 1);
    let unused: Vec<&str> =
        report["unused"].as_array().unwrap().iter().map(|u| u["path"].as_str().unwrap()).collect();
    let expected = [1, 4, 5, 6].map(|line| format!("ao/citations.jsonl:{line}"));
    assert_eq!(unused, expected);
    assert_eq!(repo.read("ao/citations.jsonl"), bad, "the log is somebody else's");
    // The ledger is JSON lines and nothing else.
    let path = "knowledge/taken/citations-2026-04.jsonl";
    let ledger = repo.read(path);
    assert!(ledger.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{ledger}");
    repo.run(&["schema", "taken", "--check", repo.agents().join(path).to_str().unwrap()]).expect(0);
}

/// What a line that cannot be read says was taken would be taken again.
// proves: LOOP-24
#[test]
fn a_ledger_line_that_cannot_be_read_stops_everything() {
    let repo = TestRepo::new();
    log(&repo, "citations", &[cite("a.md", "applied", 1)]);
    close(&repo);
    let path = "knowledge/taken/citations-2026-04.jsonl";
    let ledger = repo.read(path);
    log(&repo, "citations", &[cite("a.md", "applied", 1), cite("b.md", "applied", 2)]);
    let damaged = [format!("{ledger}odd line"), ledger.replace("\"key\"", "\"kex\"")];
    for (text, line) in damaged.iter().zip([2, 1]) {
        repo.write(path, text);
        for command in [&["flywheel", "close-loop"][..], &["signals"]] {
            let failed = repo.run(command).expect(6);
            assert!(failed.stderr.contains(&format!("{path}:{line} cannot be read")), "{failed}");
            let stderr = &failed.stderr;
            assert!(stderr.contains("take it out") && !stderr.contains("column"), "{failed}");
        }
        assert_eq!(&repo.read(path), text);
    }
    // Fields that nobody knows, and empty lines, can be read.
    repo.write(path, &format!("\n{}", ledger.replacen('{', "{\"later\":1,", 1)));
    assert_eq!(close(&repo)["rewards"], 1);
    assert!(repo.read(path).starts_with("\n{\"later\":1,"));
}

#[test]
fn what_must_not_be_touched_waits() {
    let repo = TestRepo::new();
    entry(&repo, "pinned.md", "pinned: true\n");
    entry(&repo, "doubt.md", "a: 1\na: 2\n");
    let before = contents(&repo.tree());
    log(&repo, "citations", &[cite("pinned.md", "applied", 1), cite("doubt.md", "applied", 1)]);
    let report = close(&repo);
    assert_eq!(report["status"], "nothing-changed");
    assert_eq!(report["unused"].as_array().unwrap().len(), 2);
    for name in ["learnings/pinned.md", "learnings/doubt.md"] {
        assert_eq!(repo.read(name), before[name]);
    }
    // As soon as it may be changed, the judgement is taken.
    entry(&repo, "pinned.md", "pinned: false\n");
    assert_eq!(close(&repo)["rewards"], 1);
}

#[test]
fn a_ledger_that_cannot_be_read_stops_everything() {
    let repo = TestRepo::new();
    log(&repo, "citations", &[cite("a.md", "applied", 1)]);
    close(&repo);
    let path = repo.agents().join("knowledge/taken/citations-2026-04.jsonl");
    let moved = repo.root().join("moved");
    fs::rename(&path, &moved).unwrap();
    std::os::unix::fs::symlink(&moved, &path).unwrap();
    let before = repo.everything();
    let failed = repo.run(&["flywheel", "close-loop"]).expect(6);
    assert!(failed.stderr.contains("the ledger knowledge/taken/"), "{failed}");
    let mut after = repo.everything();
    after.insert("overnight/run.lock".into(), before["overnight/run.lock"].clone());
    assert_eq!(after, before);
}

#[test]
fn a_learning_in_json_keeps_its_line() {
    let repo = TestRepo::new();
    repo.write(
        "learnings/j.jsonl",
        "{\"id\":\"j\",\"utility\":0.50,\"x\":[1,  2],\"content\":\"c\"}\nsecond\n",
    );
    log(&repo, "citations", &[cite("j.jsonl", "applied", 1)]);
    close(&repo);
    let text = repo.read("learnings/j.jsonl");
    assert!(text.starts_with("{\"id\":\"j\",\"utility\":0.65,\"x\":[1,  2],"), "{text}");
    assert!(text.ends_with("}\nsecond\n"));
}

#[test]
fn what_was_said_later_is_not_yet_known() {
    let repo = TestRepo::new();
    log(&repo, "citations", &[cite("a.md", "applied", 1)]);
    let early = repo.run(&["--json", "flywheel", "close-loop", "--as-of", "2026-03-31"]).expect(0);
    assert_eq!(early.json()["rewards"], 0);
    assert_eq!(close(&repo)["rewards"], 1, "the corpus's newest day hides no citation");
}
