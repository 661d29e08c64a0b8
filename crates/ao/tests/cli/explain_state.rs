//! `ao overnight explain`: which entry is meant, over which state, and what it must not do.

use serde_json::{Value, json};

use crate::explain::{COPY, ORIGINAL, explain, rule, sleep};
use crate::night::{Night, learning};
use crate::repo::Ran;

const ENTRY: &str = "learnings/2026-03-01-case-4.md";

/// Where the rules say something else than the record, that is said.
#[test]
fn a_disagreement_with_the_record_is_told() {
    let night = Night::with_copies();
    night.repo.write(
        "knowledge/pending/2026-02-01-p.md",
        &learning(60).replacen("date: 2026-03", "date: 2026-02", 1),
    );
    // A build in which copies are not merged.
    night.run_with("merge", &["--full"]).expect(0);
    let id = night.summary()["iterations"][0]["commit"]["id"].as_str().unwrap().to_owned();
    assert!(night.repo.exists(COPY));
    let told = explain(&night.repo, &[COPY, "--as-of", &id]);
    assert_eq!((&told["decided_by"], &told["agrees_with_record"]), (&json!(id), &json!(false)));
    let why = told["disagreement"].as_str().unwrap();
    assert!(why.contains("left alone") && why.contains("a copy of"), "{why}");
    let text = night.repo.run(&["overnight", "explain", COPY, "--as-of", &id]).expect(0);
    assert!(text.stdout.contains("They do not agree"), "{text}");
    // The run's id means the same, and one that it left alone is agreed upon.
    let run = night.summary()["run_id"].as_str().unwrap().to_owned();
    let other = explain(&night.repo, &["2026-03-01-case-4", "--as-of", &run]);
    assert_eq!((&other["decided_by"], &other["agrees_with_record"]), (&json!(id), &json!(true)));
}

#[test]
fn a_night_that_was_taken_back_is_listed_and_decides_nothing() {
    let night = Night::with_copies();
    sleep(&night);
    night.repo.run(&["overnight", "undo"]).expect(0);
    let told = explain(&night.repo, &[COPY]);
    assert!(told["happened"][0]["taken_back_by"].is_string(), "{told:#}");
    assert_eq!((&told["decided_by"], &told["is_there"]), (&Value::Null, &json!(true)));
    assert_eq!(
        rule(&told, "merge")["verdict"],
        format!("merged into {ORIGINAL}"),
        "it would be again"
    );
}

#[test]
fn explaining_leaves_everything_as_it_was() {
    let night = Night::with_copies();
    night.pending(0);
    sleep(&night);
    let before = night.all_files();
    for entry in [COPY, ORIGINAL, "knowledge/pending/2026-02-01-pending-0.md", "2026-03-01-case-3"]
    {
        night.repo.run(&["overnight", "explain", entry]).expect(0);
        night.repo.run(&["--json", "overnight", "explain", entry, "--as-of", "today"]).expect(0);
    }
    assert_eq!(night.all_files(), before);
}

/// Its successor is named by an id that two entries have; the path is still the one of this entry.
#[test]
fn a_path_that_is_there_is_that_entry() {
    let night = Night::with(6);
    let replaced = learning(40).replacen("utility: 0.7", "superseded_by: learning-3", 1);
    night.repo.write("learnings/2026-02-01-replaced.md", &replaced);
    night.repo.write("knowledge/pending/2026-02-01-again.md", &learning(3));
    for name in ["learnings/2026-02-01-replaced.md", ".agents/learnings/2026-02-01-replaced.md"] {
        let told = explain(&night.repo, &[name]);
        assert_eq!(told["path"], "learnings/2026-02-01-replaced.md", "{told:#}");
    }
}

/// What a night takes from other repositories can be a copy of this entry, or replace it.
#[test]
fn that_a_night_harvests_first_is_said() {
    let night = Night::with(6);
    assert_eq!(explain(&night.repo, &[ENTRY])["doubt"], Value::Null);
    night.harvest_from(1, |_| ("learnings/2026-03-30-theirs.md".into(), learning(1029)));
    let told = explain(&night.repo, &[ENTRY]);
    assert!(told["doubt"].as_str().unwrap().contains("harvests first"), "{told:#}");
    // Of a night that was, it is known.
    night.repo.write(COPY, &learning(1));
    sleep(&night);
    assert_eq!(explain(&night.repo, &[COPY])["doubt"], Value::Null);
}

#[test]
fn a_name_that_nobody_has_is_refused_as_by_show_with_names_like_it() {
    let night = Night::with_copies();
    sleep(&night);
    for (name, like) in [("2026-03-01-cast-1", "2026-03-01-case-1"), ("copy", "2026-03-02-copy")] {
        let refused = night.repo.run(&["overnight", "explain", name]).expect(2);
        assert!(refused.stderr.contains(name) && refused.stderr.contains(like), "{refused}");
    }
    night.repo.run(&["show", "2026-03-01-cast-1"]).expect(2);
    let refused =
        night.repo.run(&["overnight", "explain", COPY, "--as-of", "2026-13-iter-1"]).expect(2);
    assert!(refused.stderr.contains("no iteration or run"), "{refused}");
    let odd = night.repo.run(&["overnight", "explain", "a\u{1b}[31mb\u{7}"]).expect(2);
    assert!(!odd.stderr.contains('\u{1b}') && !odd.stderr.contains('\u{7}'), "{odd}");
}

#[test]
fn hostile_names_and_secrets_do_not_come_out() {
    let night = Night::with(6);
    let path = "knowledge/pending/2026-02-01-\u{7}\u{9b}31mred.md";
    let text = "---\ndate: 2026-02-01\n---\n# Red\n\nRun `ev\u{7}il --check` because of 3 ms.\n";
    night.repo.write(path, text);
    let told = night.repo.run(&["overnight", "explain", path]).expect(0);
    let is_odd = |c: char| c.is_control() && c != '\n';
    assert!(told.stdout.contains("red.md") && !told.stdout.contains(is_odd), "{told}");
    assert_eq!(explain(&night.repo, &[path])["path"], path);
    let value = "tr0ub4dor-and-3";
    let path = format!("knowledge/pending/2026-02-01-{value}.md");
    night.repo.write(&path, &text.replace("ev\u{7}il", value));
    let home = tempfile::tempdir().unwrap();
    crate::vault::keep_in(home.path(), &[("db", value)]);
    for more in [&["--json"][..], &[]] {
        let arguments = [more, &["overnight", "explain", &path]].concat();
        let told =
            Ran::of(night.repo.command(&arguments).env("HOME", home.path()).output().unwrap());
        let told = told.expect(0);
        assert!(!told.stdout.contains(value) && told.stdout.contains("REDACTED"), "{told}");
    }
}

/// A night knew what was said before it, also since the night before, and nothing that was said later.
#[test]
fn what_was_said_later_was_not_known_to_the_night() {
    let night = Night::with_copies();
    sleep(&night);
    let line = |day: u32| {
        json!({ "artifact_path": ENTRY, "citation_type": "applied", "session_id": format!("s-{day}"),
                "cited_at": format!("2026-05-{day:02}T00:00:00Z") })
    };
    let first = night.repo.read("overnight/history.jsonl").lines().count();
    night.repo.write("ao/citations.jsonl", &format!("{}\n", line(2)));
    sleep(&night);
    let history = night.repo.read("overnight/history.jsonl");
    let lines = history.lines().enumerate().map(|(at, line)| {
        let day = if at < first { "2026-05-01" } else { "2026-05-03" };
        let mut line: Value = serde_json::from_str(line).unwrap();
        line["at"] = format!("{day}T02:00:00Z").into();
        line.to_string()
    });
    let history = lines.collect::<Vec<_>>().join("\n") + "\n";
    night.repo.write("overnight/history.jsonl", &history);
    night.repo.write("ao/citations.jsonl", &format!("{}\n{}\n", line(2), line(5)));
    let told = explain(&night.repo, &[ENTRY]);
    let feedback = rule(&told, "feedback");
    assert_eq!(
        (feedback["why"].as_str(), &told["agrees_with_record"]),
        (Some("1 judged it"), &json!(true)),
        "{told:#}"
    );
}
