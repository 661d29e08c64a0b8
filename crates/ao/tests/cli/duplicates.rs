//! Which entries are copies, and which only look so.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::generate::{self, Amounts, Made};
use crate::is_sweep;
use crate::repo::{TestRepo, contents};

pub(crate) fn empty() -> TestRepo {
    let repo = TestRepo { dir: tempfile::tempdir().unwrap() };
    std::fs::create_dir_all(repo.agents()).unwrap();
    repo
}

pub(crate) fn repo_of(made: &Made) -> TestRepo {
    let repo = empty();
    for (path, text) in &made.files {
        repo.write(path, text);
    }
    repo
}

/// Everything that is merged away, with the survivor.
pub(crate) fn merged(report: &Value) -> BTreeMap<String, String> {
    let mut gone = BTreeMap::new();
    for merge in report["merges"].as_array().unwrap() {
        for member in merge["members"].as_array().unwrap() {
            let path = member["path"].as_str().unwrap().to_owned();
            gone.insert(path, merge["survivor"].as_str().unwrap().to_owned());
        }
    }
    gone
}

// pitfall 9, pitfall 11
// proves: LOOP-25
#[test]
fn copies_become_one_nothing_else_is_touched_and_the_second_run_finds_nothing() {
    for seed in [3, 11] {
        let amounts = Amounts { texts: 330, copies: 60, siblings: 30, contradictions: 30 };
        let made = generate::corpus(seed, amounts);
        let repo = repo_of(&made);
        let before = contents(&repo.tree());
        let report = repo.run(&["--json", "defrag", "--yes"]).expect(0).json();
        assert_eq!(report["status"], "committed");
        let gone = merged(&report);
        let cluster_of: BTreeMap<&str, usize> = made
            .clusters
            .iter()
            .enumerate()
            .flat_map(|(at, paths)| paths.iter().map(move |path| (path.as_str(), at)))
            .collect();
        for (path, survivor) in &gone {
            let (one, other) = (cluster_of.get(path.as_str()), cluster_of.get(survivor.as_str()));
            assert!(one.is_some() && one == other, "{path} is no copy of {survivor}");
        }
        let copied: Vec<_> = made.clusters.iter().filter(|paths| paths.len() > 1).collect();
        let is_one = |paths: &&&Vec<String>| {
            paths.iter().filter(|path| !gone.contains_key(*path)).count() == 1
        };
        let reduced = copied.iter().filter(is_one).count();
        let left: Vec<_> = copied.iter().filter(|paths| !is_one(paths)).collect();
        let is_left =
            |pair: &&Value| left.iter().any(|paths| paths.iter().any(|path| pair["one"] == *path));
        let why: Vec<_> = report["review"].as_array().unwrap().iter().filter(is_left).collect();
        assert!(
            reduced * 100 >= copied.len() * 99,
            "seed {seed}: {left:?} {why:#?} {:#}",
            report["kept"]
        );
        let survivors: BTreeSet<&String> = gone.values().collect();
        let after = contents(&repo.tree());
        for (path, text) in &before {
            match after.get(path) {
                None => assert!(gone.contains_key(path), "{path} went"),
                Some(now) if survivors.contains(path) => assert_ne!(now, text),
                Some(now) => assert_eq!(now, text, "{path}"),
            }
        }
        assert!(after.keys().all(|path| before.contains_key(path)));
        let again = repo.run(&["--json", "defrag", "--yes"]).expect(0).json();
        assert_eq!(again["status"], "nothing-to-do", "{again:#}");
        assert_eq!(contents(&repo.tree()), after);
    }
}

fn long_text() -> String {
    let mut dice = generate::Dice::new(5);
    generate::body(&mut dice, 7)
}

fn learning(more: &str, body: &str) -> String {
    format!("---\ntype: learning\n{more}---\n\n{body}")
}

fn with(claim: &str) -> String {
    long_text().replacen("## Why It Matters", &format!("{claim}\n\n## Why It Matters"), 1)
}

#[test]
fn texts_that_claim_different_things_are_never_merged_however_alike() {
    for (one, other) in [
        ("Set the lease to 30 seconds.", "Set the lease to 120 seconds."),
        ("Set the lease to 30 seconds.", "Set the lease to 30 minutes."),
        ("Set the lease to 30s.", "Set the lease to 45s."),
        ("Retry two times.", "Retry three times."),
        ("Always enable the fence.", "Never enable the fence."),
        ("It is safe to retry.", "It is not safe to retry."),
        ("It is safe to retry.", "It isn't safe to retry."),
        ("The write is atomic.", "The write is hardly atomic."),
        ("Enable the fence first.", "Disable the fence first."),
        ("Run it with the lock.", "Run it without the lock."),
        ("Take it before the lock.", "Take it after the lock."),
        ("Prefer the journal over the snapshot.", "Prefer the snapshot over the journal."),
        ("Run `cargo test --workspace` there.", "Run `cargo test --lib` there."),
        ("Use JSON for the report.", "Use YAML for the report."),
        ("Indent the file with tabs.", "Indent the file with spaces."),
        ("Keep it if x < 5 holds.", "Keep it if x > 5 holds."),
        ("The call is blocking.", "The call is non-blocking."),
        ("The cache holds.", "The cache holds. This turned out to be wrong."),
        ("The cache holds.", "The cache holds. Do not rely on it in tests."),
    ] {
        let repo = empty();
        repo.write("learnings/2026-01-01-one.md", &learning("", &with(one)));
        repo.write("learnings/2026-01-02-other.md", &learning("", &with(other)));
        let report = repo.run(&["--json", "defrag", "--dedup"]).expect(0).json();
        assert_eq!(report["merges"].as_array().unwrap().len(), 0, "{one} / {other}");
        assert_eq!(report["review"].as_array().unwrap().len(), 1, "{one} / {other}");
    }
}

#[test]
fn another_wording_of_one_claim_is_merged() {
    for (one, other) in [
        ("Set the lease to 30 seconds.", "Set the lease to 30 secs."),
        ("The lease is often lost.", "The lease is usually lost."),
        ("The lease is lost.", "The lease is lost now and then."),
        ("The lease was lost 37 times.", "The lease was lost sometimes times."),
        ("It recieved the lease.", "It received the lease."),
        ("It is not safe to retry.", "It isn't safe to retry."),
        ("The lease is lost.", "The lease is lost. It was seen again in spring."),
    ] {
        let repo = empty();
        repo.write("learnings/2026-01-01-one.md", &learning("", &with(one)));
        repo.write("learnings/2026-01-02-other.md", &learning("", &with(other)));
        for number in 0..12 {
            let mut dice = generate::Dice::new(100 + number);
            let body = generate::body(&mut dice, 100 + usize::try_from(number).unwrap());
            repo.write(&format!("learnings/2026-02-01-else-{number}.md"), &learning("", &body));
        }
        let report = repo.run(&["--json", "defrag", "--dedup"]).expect(0).json();
        let gone = merged(&report);
        assert_eq!(gone.len(), 1, "{one} / {other}: {:#}", report["kept"]);
    }
}

// pitfall 11
#[test]
fn a_copy_of_a_copy_that_is_no_copy_of_the_best_one_stays() {
    let repo = empty();
    let mut dice = generate::Dice::new(9);
    let sentences: Vec<String> = (0..14)
        .map(|n| format!("Case {n}: {}", generate::body(&mut dice, n).lines().nth(4).unwrap()))
        .collect();
    let text =
        |from: usize| format!("# Learning: a chain\n\n{}\n", sentences[from..from + 10].join(" "));
    // Each shares nine of ten sentences with the next; the ends share too little.
    for (at, from) in [0, 2, 4].into_iter().enumerate() {
        let maturity = ["established", "provisional", "provisional"][at];
        let path = format!("learnings/2026-01-0{}-chain.md", at + 1);
        repo.write(&path, &learning(&format!("maturity: {maturity}\n"), &text(from)));
    }
    let report = repo.run(&["--json", "defrag", "--dedup"]).expect(0).json();
    let gone = merged(&report);
    assert!(!gone.contains_key("learnings/2026-01-01-chain.md"), "{gone:?}");
    assert!(!gone.contains_key("learnings/2026-01-03-chain.md"), "{gone:?}");
}

// pitfall 11
#[test]
fn the_better_one_stays_and_some_are_never_touched() {
    let body = long_text();
    let repo = empty();
    repo.write(
        "learnings/2026-01-01-a.md",
        &learning("maturity: provisional\nutility: 0.9\n", &body),
    );
    repo.write(
        "learnings/2026-01-02-b.md",
        &learning("maturity: established\nutility: 0.6\n", &body),
    );
    repo.write(
        "learnings/2026-01-03-c.md",
        &learning("maturity: established\nutility: 0.7\n", &body),
    );
    repo.write("learnings/2026-01-04-pinned.md", &learning("pinned: true\nutility: 1\n", &body));
    repo.write("learnings/2026-01-05-hidden.md", &learning("promoted_to: x\n", &body));
    repo.write("learnings/2026-01-06-twice.md", &learning("a: 1\na: 2\n", &body));
    repo.write("learnings/2026-01-07-open.md", &format!("---\ntype: learning\n{body}"));
    // Of another kind.
    repo.write("patterns/p.md", &body);
    let before = contents(&repo.tree());
    let report = repo.run(&["--json", "defrag", "--dedup", "--yes"]).expect(0).json();
    let gone = merged(&report);
    let survivor = "learnings/2026-01-03-c.md".to_owned();
    let expected: BTreeMap<String, String> = ["a", "b"]
        .iter()
        .zip(1..)
        .map(|(name, day)| (format!("learnings/2026-01-0{day}-{name}.md"), survivor.clone()))
        .collect();
    assert_eq!(gone, expected);
    let after = contents(&repo.tree());
    for (path, text) in
        before.iter().filter(|(path, _)| !gone.contains_key(*path) && **path != survivor)
    {
        assert_eq!(after.get(path), Some(text), "{path}");
    }
}

/// A word that stands for many others excuses a copy. What is merged takes such pairs away, so another run may see the
/// words that are left in another light: the plan itself goes on until it would not.
// proves: LOOP-25
#[test]
fn what_a_second_run_would_merge_the_first_one_merges() {
    let repo = empty();
    let mut number = 0;
    let mut pair = |one: &str, other: &str| {
        number += 1;
        let text = generate::body(&mut generate::Dice::new(700 + number), 40);
        for (name, word) in [("one", one), ("other", other)] {
            let body = text.replacen(
                "\n\n## Why It Matters",
                &format!(" The {word} holds the lease.\n\n## Why It Matters"),
                1,
            );
            repo.write(&format!("learnings/2026-01-{number:02}-{name}.md"), &learning("", &body));
        }
    };
    let things = ["kettle", "ladder", "marble", "pencil"];
    for thing in things {
        pair(thing, "zigzag");
        pair(thing, "quartz");
    }
    pair("lantern", "quartz");
    pair("walnut", "quartz");
    let run = || repo.run(&["--json", "defrag", "--dedup", "--yes"]).expect(0).json();
    let first = run();
    let again = run();
    assert_eq!(
        again["status"], "nothing-to-do",
        "{:#} then {:#}",
        first["review"], again["merges"]
    );
    assert_eq!(merged(&first).len(), 10, "{:#}", first["review"]);
}

/// What a certificate refuses among many copies it may allow when those are one, and so on.
#[test]
fn a_second_run_finds_nothing_at_any_size() {
    let (seeds, texts) = if is_sweep() { (1..5, 48_000) } else { (1..2, 500) };
    for seed in seeds {
        let amounts =
            Amounts { texts, copies: texts / 8, siblings: texts / 25, contradictions: texts / 25 };
        let repo = repo_of(&generate::corpus(seed, amounts));
        let run = || repo.run(&["--json", "defrag", "--dedup", "--yes"]).expect(0).json();
        let first = run();
        assert!(merged(&first).len() * 10 >= texts, "seed {seed}: {}", merged(&first).len());
        let again = run();
        assert_eq!(again["status"], "nothing-to-do", "seed {seed}: {:#}", again["merges"]);
    }
}
