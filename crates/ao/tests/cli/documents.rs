//! One parser: however a header is written, every command reads the same in it, and an edit
//! changes only what it means.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::repo::TestRepo;

const HEADER: &str =
    "id: L1\ntitle: Retry budgets\nmaturity: established\nutility: 0.75\ndate: 2026-04-01\n";
const BODY: &str = "# Learning: Retry budgets\n\n## What We Learned\n\nThe zebrafish gateway drops the fourth attempt.\n";

/// The same entry, as different editors and people would save it.
fn spellings() -> Vec<(&'static str, String)> {
    let plain = format!("---\n{HEADER}---\n{BODY}");
    let more = |lines: &str| format!("---\n{HEADER}{lines}---\n{BODY}");
    vec![
        ("plain", plain.clone()),
        ("crlf", plain.replace('\n', "\r\n")),
        ("bom", format!("\u{feff}{plain}")),
        ("bom-crlf", format!("\u{feff}{}", plain.replace('\n', "\r\n"))),
        ("nested", more("x_custom:\n  owner: me\n  list:\n  - a\n")),
        ("fence-in-value", more("note: \"--- not a fence\"\n")),
        ("fence-in-block", more("note: |\n  ---\n  text\n")),
        ("fence-in-body", format!("{plain}\n---\nafter a rule\n")),
        (
            "comments",
            format!("---\n# about\n{}---\n{BODY}", HEADER.replace("0.75", "0.75  # measured")),
        ),
        (
            "quoted",
            format!("---\n{}---\n{BODY}", HEADER.replace("Retry budgets", "'Retry budgets'")),
        ),
        ("spaces-behind-fences", plain.replacen("---\n", "---  \n", 2)),
        ("tab-behind-colon", plain.replace("maturity: ", "maturity:\t")),
    ]
}

// pitfall 16
#[test]
fn a_header_reads_the_same_however_it_is_written() {
    for (name, text) in spellings() {
        let repo = TestRepo::new();
        let path = "learnings/2026-04-01-spelled.md";
        repo.write(path, &text);
        let shown = repo.run(&["--json", "show", "L1"]).expect(0).json();
        assert_eq!(shown["title"], "Retry budgets", "{name}");
        assert_eq!(shown["fields"]["utility"], json!(0.75), "{name}");
        assert_eq!(shown["fields"]["maturity"], "established", "{name}");
        assert!(shown["body"].as_str().unwrap().contains("zebrafish"), "{name}");
        let found =
            repo.run(&["--json", "search", "zebrafish gateway", "--explain"]).expect(0).json();
        let hit = &found["results"][0];
        assert!(hit["path"].as_str().unwrap().ends_with(path), "{name}: {found:#}");
        assert!(hit.to_string().contains("0.03"), "established counts: {name}: {hit:#}");
    }
}

/// Feedback moves four fields; the rest of the file is the same to the byte.
// proves: LOOP-08
#[test]
fn an_edit_changes_only_the_fields_it_means() {
    for (name, text) in spellings() {
        let repo = TestRepo::new();
        let path = "learnings/2026-04-01-spelled.md";
        repo.write(path, &text);
        let line = json!({
            "artifact_path": format!(".agents/{path}"), "session_id": "s1",
            "cited_at": "2026-04-02T00:00:00Z", "citation_type": "applied", "query": "zebrafish"
        });
        repo.write("ao/citations.jsonl", &format!("{line}\n"));
        repo.run(&["--json", "flywheel", "close-loop", "--threshold", "0h"]).expect(0);
        let after = repo.read(path);
        assert_ne!(after, text, "{name}");
        let is_meant = |line: &str| {
            ["utility", "maturity", "reward_count", "helpful_count", "last_reward"]
                .iter()
                .any(|key| line.starts_with(key))
        };
        let rest = |text: &str| -> Vec<String> {
            text.split_inclusive('\n').filter(|line| !is_meant(line)).map(str::to_owned).collect()
        };
        assert_eq!(rest(&after), rest(&text), "{name}");
        let endings = |text: &str| (text.matches("\r\n").count() > 0, text.starts_with('\u{feff}'));
        assert_eq!(endings(&after), endings(&text), "{name}");
        if name == "comments" {
            assert!(after.contains("  # measured"), "{after}");
        }
    }
}

/// What cannot be understood is kept, reported, found by its text, and never touched.
#[test]
fn a_header_in_doubt_is_searched_and_never_touched() {
    let mut bomb = "a0: &a0 [x, x]\n".to_owned();
    for (n, m) in (1..40).zip(0..) {
        let _ = writeln!(bomb, "a{n}: &a{n} [*a{m}, *a{m}]");
    }
    let deep = format!("a: {}\n", "[".repeat(50_000));
    let headers = [
        ("duplicate", "utility: 0.5\nutility: 0.6\n"),
        ("nan", "utility: .nan\n"),
        ("merge-key", "x: &a {k: 1}\ny:\n  <<: *a\n"),
        ("bomb", bomb.as_str()),
        ("deep", deep.as_str()),
        ("not-a-map", "- a\n- b\n"),
    ];
    let repo = TestRepo::new();
    for (name, header) in headers {
        let text = format!(
            "---\n{header}---\n# {name}\n\nThe okapi of {name} is described here at some length.\n"
        );
        repo.write(&format!("learnings/2026-04-01-{name}.md"), &text);
        repo.write(&format!("learnings/2026-04-02-{name}-copy.md"), &text);
        let cited = json!({
            "artifact_path": format!(".agents/learnings/2026-04-01-{name}.md"), "session_id": "s1",
            "cited_at": "2026-04-02T00:00:00Z", "citation_type": "applied"
        });
        ao_append(&repo, &cited);
    }
    let before = repo.tree();
    repo.run(&["--json", "defrag", "--yes"]).expect(0);
    repo.run(&["--json", "flywheel", "close-loop", "--threshold", "0h"]).expect(0);
    let after = repo.tree();
    for (path, seen) in before.iter().filter(|(path, _)| path.starts_with("learnings/2026-04-0")) {
        assert_eq!(after.get(path), Some(seen), "{path}");
    }
    for (name, _) in headers {
        let found = repo.run(&["--json", "search", &format!("okapi {name}")]).expect(0).json();
        assert!(found["results"][0]["path"].as_str().unwrap().contains(name), "{name}: {found:#}");
    }
}

fn ao_append(repo: &TestRepo, line: &Value) {
    let path = "ao/citations.jsonl";
    let before = if repo.exists(path) { repo.read(path) } else { String::new() };
    repo.write(path, &format!("{before}{line}\n"));
}
