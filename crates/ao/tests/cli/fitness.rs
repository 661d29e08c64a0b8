//! The metrics that a night is judged by.

use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use crate::repo::{TestRepo, delete, write};

const THINGS: [&str; 8] =
    ["lock", "ledger", "parser", "cursor", "journal", "snapshot", "window", "packet"];
const WORDS: [&str; 12] = [
    "rename",
    "flush",
    "retry",
    "digest",
    "replay",
    "truncate",
    "bisect",
    "handshake",
    "vacuum",
    "backoff",
    "sandbox",
    "allowlist",
];

/// A text about one thing that no other number's text is about.
fn body(number: usize) -> String {
    let thing = THINGS[number % THINGS.len()];
    let mut text = format!("# Learning: About the {thing} {number}\n\n## What We Learned\n\n");
    for sentence in 0..6 {
        let word =
            |step: usize| WORDS[(number * 7 + sentence * 5 + step * (number + 3)) % WORDS.len()];
        let _ = write!(
            text,
            "The {thing}{number} {} met {}{sentence} before the {} of section{number}x{sentence}. ",
            word(1),
            word(2),
            word(3)
        );
    }
    text + "\n"
}

fn entry(number: usize, header: &str) -> String {
    format!("---\ndate: 2026-04-{:02}\n{header}---\n{}", number % 28 + 1, body(number))
}

/// Twenty learnings, half of them with a source, of every maturity, with one open finding.
fn repo() -> TestRepo {
    let repo = TestRepo::new();
    fs::remove_dir_all(repo.agents()).unwrap();
    for number in 0..20 {
        let source = if number % 2 == 0 { "source_session: s\n" } else { "" };
        let maturity = ["provisional", "candidate", "established"][number % 3];
        repo.write(
            &format!("learnings/l{number:02}.md"),
            &entry(number, &format!("{source}maturity: {maturity}\n")),
        );
    }
    repo.write("findings/f-2026-04-01-001.md", FIRST_FINDING);
    repo
}

const FIRST_FINDING: &str = "---\ndate: 2026-04-01\nseverity: high\nsource_skill: s\n---\n\
    An empty queue was reported as a finished one by the release gate.\n";

fn finding(severity: &str, more: &str) -> String {
    let text = "The config loader skipped the second file without a word.";
    format!("---\ndate: 2026-04-01\nseverity: {severity}\nsource_skill: s\n{more}---\n{text}\n")
}

fn fitness(repo: &TestRepo) -> Value {
    repo.run(&["--json", "--quiet", "metrics", "health"]).expect(0).json()["fitness"].clone()
}

fn metric(repo: &TestRepo, name: &str) -> f64 {
    fitness(repo)["metrics"][name].as_f64().unwrap()
}

fn change(repo: &TestRepo, number: usize, from: &str, to: &str) {
    let path = format!("learnings/l{number:02}.md");
    let text = repo.read(&path);
    assert!(text.contains(from), "{from} in {text}");
    repo.write(&path, &text.replace(from, to));
}

// proves: LOOP-26
#[test]
fn every_metric_is_from_0_to_1_with_a_weight_and_a_floor() {
    let repo = repo();
    let fitness = fitness(&repo);
    let names = ["findings", "freshness", "maturity", "provenance", "retrieval", "uniqueness"];
    for part in ["metrics", "weights", "floors"] {
        let map = fitness[part].as_object().unwrap();
        assert_eq!(map.keys().collect::<Vec<_>>(), names, "{part}");
        assert!(map.values().all(|value| (0.0..=1.0).contains(&value.as_f64().unwrap())));
    }
    let sum = |part: &str| -> f64 {
        fitness[part].as_object().unwrap().values().map(|value| value.as_f64().unwrap()).sum()
    };
    assert!((sum("weights") - 1.0).abs() < 1e-9);
    let composite: f64 = names
        .iter()
        .map(|name| {
            fitness["metrics"][name].as_f64().unwrap() * fitness["weights"][name].as_f64().unwrap()
        })
        .sum();
    assert!((composite - fitness["composite"].as_f64().unwrap()).abs() < 1e-5);
}

// proves: LOOP-26
#[test]
fn an_empty_corpus_has_defined_values() {
    let repo = TestRepo::new();
    fs::remove_dir_all(repo.agents()).unwrap();
    fs::create_dir(repo.agents()).unwrap();
    let empty = fitness(&repo);
    assert_eq!((&empty["composite"], &empty["metrics"]), (&json!(0.0), &json!({})));
    assert_eq!(empty["absent"].as_object().unwrap().len(), 6);
    // Absent is not zero: the other metrics weigh more instead.
    repo.write("patterns/p.md", "# A pattern\n");
    let one = fitness(&repo);
    assert!(one["absent"]["retrieval"].is_string() && one["absent"]["freshness"].is_string());
    assert!(one["composite"].as_f64().unwrap() > 0.5, "{one}");
}

// proves: LOOP-26
#[test]
fn retrieval() {
    let repo = repo();
    let before = metric(&repo, "retrieval");
    assert!(before > 0.5, "{before}");
    let kept: Vec<String> =
        (0..8).map(|number| repo.read(&format!("learnings/l{number:02}.md"))).collect();
    for number in 0..8 {
        let noise = "Zq xv wk jj. ".repeat(20);
        repo.write(
            &format!("learnings/l{number:02}.md"),
            &format!("---\ndate: 2026-04-01\n---\n{noise}\n"),
        );
    }
    let worse = metric(&repo, "retrieval");
    assert!(worse < before - 0.02, "{worse} {before}");
    for (number, text) in kept.iter().enumerate() {
        repo.write(&format!("learnings/l{number:02}.md"), text);
    }
    assert!((metric(&repo, "retrieval") - before).abs() < 1e-12, "restored");
    // A new finding answers no question of the learnings.
    repo.write("findings/f-2026-04-02-001.md", &finding("low", ""));
    assert!((metric(&repo, "retrieval") - before).abs() < 1e-12, "left alone");
}

// proves: LOOP-26
#[test]
fn uniqueness() {
    let repo = repo();
    assert!((metric(&repo, "uniqueness") - 1.0).abs() < 1e-12);
    repo.write("learnings/copy.md", &entry(3, ""));
    let worse = metric(&repo, "uniqueness");
    assert!((worse - 21.0 / 22.0).abs() < 1e-5, "{worse}");
    repo.write("learnings/other.md", &entry(77, ""));
    let left = metric(&repo, "uniqueness");
    assert!((left - 22.0 / 23.0).abs() < 1e-5, "another entry is no copy: {left}");
    fs::remove_file(repo.agents().join("learnings/copy.md")).unwrap();
    assert!((metric(&repo, "uniqueness") - 1.0).abs() < 1e-12);
}

// proves: LOOP-26
#[test]
fn provenance() {
    let repo = repo();
    let before = metric(&repo, "provenance");
    change(&repo, 0, "source_session: s\n", "");
    let worse = metric(&repo, "provenance");
    assert!(worse < before);
    change(&repo, 0, "date:", "source_bead: na-1\ndate:");
    change(&repo, 1, "## What We Learned", "## Source\n\nRun 7.\n\n## What We Learned");
    assert!(metric(&repo, "provenance") > before);
    let better = metric(&repo, "provenance");
    change(&repo, 2, "maturity: established", "maturity: candidate");
    assert!((metric(&repo, "provenance") - better).abs() < 1e-12);
}

// proves: LOOP-26
#[test]
fn freshness() {
    let repo = repo();
    let before = metric(&repo, "freshness");
    change(&repo, 5, "date: 2026-04-06", "date: 2025-04-06");
    let worse = metric(&repo, "freshness");
    assert!(worse < before);
    // Use keeps an entry fresh.
    change(&repo, 5, "date: 2025-04-06", "date: 2025-04-06\nlast_reward_at: 2026-04-20T00:00:00Z");
    assert!(metric(&repo, "freshness") > worse);
    let better = metric(&repo, "freshness");
    change(&repo, 2, "maturity: established", "maturity: candidate");
    assert!((metric(&repo, "freshness") - better).abs() < 1e-12);
}

// proves: LOOP-26
#[test]
fn maturity() {
    let repo = repo();
    let before = metric(&repo, "maturity");
    change(&repo, 2, "maturity: established", "maturity: provisional");
    assert!(metric(&repo, "maturity") < before);
    change(&repo, 2, "maturity: provisional", "maturity: established");
    change(&repo, 0, "maturity: provisional", "maturity: candidate");
    assert!(metric(&repo, "maturity") > before);
    let better = metric(&repo, "maturity");
    change(&repo, 0, "source_session: s", "source_session: t");
    assert!((metric(&repo, "maturity") - better).abs() < 1e-12);
}

// proves: LOOP-26
// pitfall 13, pitfall 18
#[test]
fn findings() {
    let repo = repo();
    let before = fitness(&repo);
    let floor = before["floors"]["findings"].as_f64().unwrap();
    let before = before["metrics"]["findings"].as_f64().unwrap();
    // The graver, the more; and none alone is a regression.
    let mut drops = Vec::new();
    for severity in ["low", "medium", "high", "critical"] {
        repo.write("findings/f-2026-04-02-001.md", &finding(severity, ""));
        drops.push(before - metric(&repo, "findings"));
    }
    assert!(drops[0] > 0.0 && drops.is_sorted_by(|a, b| a < b), "{drops:?}");
    assert!(drops[3] < floor, "{drops:?}");
    repo.write("findings/f-2026-04-02-001.md", &finding("significant", ""));
    assert!(
        (before - metric(&repo, "findings") - drops[1]).abs() < 1e-9,
        "an unknown word is medium"
    );
    // Resolved ones do not count, by key or by text.
    repo.write("findings/f-2026-04-02-001.md", &finding("critical", "resolved: true\n"));
    assert!((metric(&repo, "findings") - before).abs() < 1e-12, "left alone");
    repo.write("findings/f-2026-04-01-001.md", &format!("{FIRST_FINDING}**Resolved:** yes\n"));
    assert!((metric(&repo, "findings") - 1.0).abs() < 1e-12, "better");
    // Even in a corpus that had none.
    repo.write("findings/f-2026-04-02-001.md", &finding("critical", ""));
    assert!(1.0 - metric(&repo, "findings") < floor);
}

// pitfall 13
#[test]
fn promoting_an_entry_never_lowers_it() {
    let repo = repo();
    for (number, date) in [(50, "2026-04-20"), (51, "2024-01-01"), (52, "")] {
        let date = if date.is_empty() { String::new() } else { format!("date: {date}\n") };
        let text = format!(
            "---\n{date}x: 1\n---\n{}\nRun `cargo test` because src/a{number}.rs must build in 40 ms.\n\n## Source\n\nHere.\n",
            body(number)
        );
        repo.write(&format!("knowledge/pending/p{number}.md"), &text);
    }
    let before = fitness(&repo);
    let report =
        repo.run(&["--json", "flywheel", "close-loop", "--threshold", "0h"]).expect(0).json();
    assert_eq!(report["promoted"], 3, "{report}");
    let after = fitness(&repo);
    assert!(after["composite"].as_f64() >= before["composite"].as_f64(), "{before}\n{after}");
    for name in ["uniqueness", "provenance", "freshness", "maturity", "findings"] {
        let of = |fitness: &Value| fitness["metrics"][name].as_f64().unwrap();
        assert!(of(&after) >= of(&before), "{name}: {before}\n{after}");
    }
}

// pitfall 13
#[test]
fn a_merge_of_copies_never_lowers_it() {
    // Good copies in a middling corpus: to count them twice would flatter the mean.
    let repo = repo();
    let header = "maturity: established\nsource_session: s\n";
    repo.write("learnings/copy.md", &entry(8, header));
    repo.write("learnings/l08.md", &entry(8, header));
    let before = fitness(&repo);
    let survivor = entry(8, &format!("{header}merged_from: [copy]\n"));
    repo.apply(&json!([write("learnings/l08.md", &survivor), delete("learnings/copy.md")]))
        .expect(0);
    let after = fitness(&repo);
    for name in ["uniqueness", "provenance", "freshness", "maturity", "findings"] {
        let of = |fitness: &Value| fitness["metrics"][name].as_f64().unwrap();
        assert!(of(&after) >= of(&before), "{name}: {before}\n{after}");
    }
    assert!(after["composite"].as_f64() > before["composite"].as_f64(), "{before}\n{after}");
}
