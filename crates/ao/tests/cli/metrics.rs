//! `metrics health`, as it is defined.

use std::fs;

use serde_json::{Value, json};

use crate::repo::TestRepo;

/// A repository with nothing in it but `.agents/`.
fn empty() -> TestRepo {
    let repo = TestRepo::new();
    fs::remove_dir_all(repo.agents()).unwrap();
    fs::create_dir(repo.agents()).unwrap();
    repo
}

fn health(repo: &TestRepo, more: &[&str]) -> Value {
    let mut arguments = vec!["--json", "metrics", "health"];
    arguments.extend(more);
    repo.run(&arguments).expect(0).json()
}

fn learning(repo: &TestRepo, name: &str, date: &str) {
    let text = format!("---\ndate: {date}\n---\n# {name}\n\nThe {name} of {date} is here.\n");
    repo.write(&format!("learnings/{name}.md"), &text);
}

fn cite(session: usize, name: &str, more: &Value) -> String {
    let day = session % 28 + 1;
    let mut line = json!({ "artifact_path": format!(".agents/learnings/{name}.md"), "session_id": format!("s{session:02}"),
        "cited_at": format!("2026-03-{day:02}T00:00:00Z"), "citation_type": "retrieved" });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    format!("{line}\n")
}

// proves: RUN-07
#[test]
fn the_numbers_are_those_of_the_definition() {
    let repo = empty();
    // Ages of 0, 10, 40, 100 and 200 days: a mean of 70.
    for (name, date) in [
        ("a", "2026-07-20"),
        ("b", "2026-07-10"),
        ("c", "2026-06-10"),
        ("d", "2026-04-11"),
        ("e", "2026-01-01"),
    ] {
        learning(&repo, name, date);
    }
    // Hidden ones are not retrievable, others are no part of it.
    repo.write("learnings/old.md", "---\ndate: 2020-01-01\nsuperseded_by: a\n---\n");
    repo.write("research/r.md", "---\ndate: 2019-01-01\n---\n");
    repo.write("findings/registry.jsonl", "{}\n");
    // Twelve sessions: what the first two cited is not counted as used.
    let mut log = cite(1, "e", &json!({})) + &cite(2, "d", &json!({ "citation_type": "applied" }));
    for session in 3..=10 {
        log += &cite(session, "a", &json!({}));
    }
    log += &cite(11, "b", &json!({ "citation_type": "reference" }));
    log += &cite(12, "c", &json!({ "match_confidence": 0.69, "citation_type": "applied" }));
    log += &cite(12, "nobody", &json!({}));
    repo.write("ao/citations.jsonl", &log);
    let report = health(&repo, &[]);
    assert_eq!(report["as_of"], "2026-07-20");
    assert_eq!(
        (&report["retrievable"], &report["sessions"], &report["cited"]),
        (&json!(5), &json!(12), &json!(3))
    );
    assert_eq!(report["sigma"], json!(0.6), "a, b and c of five");
    assert_eq!(report["rho"], json!(0.333_333), "only b has evidence");
    assert_eq!(report["delta"], json!(70.0));
    assert_eq!(report["escape_velocity"], json!(false), "0.2 is not more than 0.7");
    assert_eq!(report["knowledge_stock"]["learning"], 6);
    assert_eq!(report["knowledge_stock"]["research"], 1);
    assert_eq!(report["knowledge_stock"]["pattern"], 0);
    // a and b are new. d and e are old, and both were cited, if long ago.
    assert_eq!(report["loop_dominance"]["r1"], json!(2.0 / 12.0));
    assert_eq!(report["loop_dominance"]["b1"], json!(0.0));
    assert_eq!(report["loop_dominance"]["dominant"], "r1");
    assert_eq!(report["absent"], json!({}));
    let path = repo.root().join("metrics-health.json");
    fs::write(&path, report.to_string()).unwrap();
    repo.run(&["schema", "metrics-health", "--check", path.to_str().unwrap()]).expect(0);
}

#[test]
fn escape_velocity_is_reached_where_much_is_used() {
    let repo = empty();
    learning(&repo, "a", "2026-07-20");
    learning(&repo, "b", "2026-07-10");
    let log = cite(1, "a", &json!({ "match_confidence": 0.7 }))
        + &cite(2, "b", &json!({ "citation_type": "applied" }));
    repo.write("ao/citations.jsonl", &log);
    let report = health(&repo, &[]);
    assert_eq!(
        (&report["sigma"], &report["rho"], &report["delta"]),
        (&json!(1.0), &json!(1.0), &json!(5.0))
    );
    assert_eq!(report["escape_velocity"], json!(true));
}

#[test]
fn what_is_not_known_is_not_zero() {
    let repo = empty();
    let report = health(&repo, &[]);
    for name in ["sigma", "rho", "delta", "escape_velocity", "as_of"] {
        assert_eq!(report[name], Value::Null, "{name}");
    }
    for name in ["sigma", "rho", "delta", "escape_velocity", "loop_dominance"] {
        assert!(report["absent"][name].is_string(), "{name}");
    }
    learning(&repo, "a", "2026-07-20");
    let report = health(&repo, &[]);
    assert_eq!((&report["sigma"], &report["delta"]), (&Value::Null, &json!(0.0)));
    assert_eq!(report["absent"]["sigma"], "there is no citation log");
    // Sessions that cited nothing of this corpus: that is a zero.
    repo.write("ao/citations.jsonl", &cite(1, "nobody", &json!({})));
    let report = health(&repo, &[]);
    assert_eq!((&report["sigma"], &report["rho"]), (&json!(0.0), &Value::Null));
    assert_eq!(report["escape_velocity"], json!(false));
    // No dates at all.
    repo.write("learnings/a.md", "# a\n");
    let report = health(&repo, &[]);
    assert_eq!((&report["delta"], &report["as_of"]), (&Value::Null, &Value::Null));
}

/// Puts something where the log belongs that is no file.
fn block(repo: &TestRepo, how: &str) {
    let log = repo.agents().join("ao/citations.jsonl");
    fs::create_dir_all(repo.agents().join("ao")).unwrap();
    match how {
        "folder" => fs::create_dir(log).unwrap(),
        "link" => std::os::unix::fs::symlink(repo.root().join("elsewhere"), log).unwrap(),
        _ => {
            let file = fs::File::create(log).unwrap();
            file.set_len(513 * 1024 * 1024).unwrap();
        }
    }
}

// proves: RUN-07
#[test]
fn a_citation_log_that_cannot_be_read_is_not_one_that_is_missing() {
    let cited = ["sigma", "rho", "escape_velocity", "loop_dominance"];
    for how in ["folder", "link", "large"] {
        let repo = empty();
        learning(&repo, "a", "2026-07-20");
        block(&repo, how);
        let report = health(&repo, &[]);
        for name in cited {
            let why = report["absent"][name].as_str().unwrap();
            let is_said = ["the citation log cannot be read: ", "the citation log is larger than "]
                .iter()
                .any(|start| why.starts_with(start));
            assert!(is_said, "{how}, {name}: {why}");
        }
        // The bench asks without what was asked before, and says so.
        let ran = repo.run(&["--json", "retrieval-bench", "--live"]).expect(0);
        let why = ran.json()["citation_log_unread"].as_str().unwrap_or_default().to_owned();
        assert!(why.starts_with("the citation log "), "{how}: {ran}");
        assert!(ran.stderr.contains(&why), "{ran}");
        // So does the report of a night.
        repo.run(&["overnight", "start", "--no-keep-awake", "--max-iterations", "1"]).expect(0);
        let text = fs::read_to_string(repo.state("latest/summary.md")).unwrap();
        assert!(text.contains("not known: the citation log "), "{text}");
        assert!(text.contains("without past questions: the citation log "), "{text}");
        assert!(!text.contains("there is no citation log"), "{text}");
    }
    // One that is not there is only that.
    let repo = empty();
    learning(&repo, "a", "2026-07-20");
    let bench = repo.run(&["--json", "retrieval-bench", "--live"]).expect(0).json();
    assert_eq!(bench.get("citation_log_unread"), None);
}

// pitfall 15
#[test]
fn the_corpus_says_what_day_it_is() {
    let repo = empty();
    learning(&repo, "a", "2026-07-20");
    learning(&repo, "b", "2026-01-01");
    repo.write("ao/citations.jsonl", &cite(1, "b", &json!({})));
    let report = health(&repo, &[]);
    let mut elsewhere = repo.command(&["--json", "metrics", "health"]);
    let other =
        elsewhere.env("TZ", "Pacific/Kiritimati").env("LC_ALL", "de_DE.UTF-8").output().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&other.stdout).unwrap(), report);
    // File times say nothing.
    let old = std::time::SystemTime::UNIX_EPOCH;
    let file = fs::File::options().write(true).open(repo.agents().join("learnings/a.md")).unwrap();
    file.set_modified(old).unwrap();
    assert_eq!(health(&repo, &[]), report);
    // Seen from an earlier day, what came later is not there.
    let then = health(&repo, &["--as-of", "2026-01-11"]);
    assert_eq!((&then["retrievable"], &then["delta"]), (&json!(1), &json!(10.0)));
    assert_eq!(then["sigma"], Value::Null, "nothing was cited before that day");
    repo.run(&["metrics", "health", "--as-of", "soon"]).expect(2);
}

#[test]
fn a_merged_entry_is_cited_under_its_old_names() {
    let repo = empty();
    repo.write("learnings/new.md", "---\ndate: 2026-04-01\nmerged_from: [gone]\n---\n");
    repo.write("ao/citations.jsonl", &cite(1, "gone", &json!({})));
    assert_eq!(health(&repo, &[])["sigma"], json!(1.0));
}

#[test]
fn odd_files_are_named_and_change_nothing() {
    let repo = empty();
    learning(&repo, "a", "2026-07-20");
    fs::write(repo.agents().join("learnings/binary.md"), b"\0").unwrap();
    repo.write("learnings/twice.md", "---\na: 1\na: 2\n---\n");
    repo.write("ao/citations.jsonl", "nonsense\n");
    let before = repo.everything();
    let report = health(&repo, &[]);
    let left = report["left"].to_string();
    for name in ["binary.md", "twice.md", "citations.jsonl:1"] {
        assert!(left.contains(name), "{name}: {left}");
    }
    assert_eq!(repo.everything(), before);
    let shown = repo.run(&["metrics", "health"]).expect(0);
    assert!(shown.stdout.contains("unknown: no session is in the citation log"), "{shown}");
    fs::remove_dir_all(repo.agents()).unwrap();
    repo.run(&["metrics", "health"]).expect(6);
}

#[test]
fn the_commands_of_the_loop_have_examples() {
    let repo = empty();
    for command in [&["flywheel", "close-loop"][..], &["harvest"], &["metrics", "health"]] {
        let mut arguments = command.to_vec();
        arguments.push("--help");
        let help = repo.run(&arguments).expect(0);
        assert!(help.stdout.contains("Examples:"), "{help}");
        let mut arguments = vec!["--json"];
        arguments.extend(command);
        let answer = repo.run(&arguments).expect(0).json();
        assert_eq!(
            (&answer["schema_version"], &answer["command"]),
            (&json!(1), &json!(command.join(" ")))
        );
    }
}
