//! The curator's worker from outside: jobs are really worked, once, within the cap, and knowledge stays as it is.

use std::fs;

use serde_json::{Value, json};

use crate::curator::{Curator, killed_everywhere};
use crate::repo::{Ran, files};

const LINT: [&str; 3] = ["enqueue", "--kind", "lint-wiki"];

/// Notes with one fault of each kind, and many things that look like one.
const NOTES: [(&str, &str); 14] = [
    (
        "good.md",
        "---\ntitle: Good\nid: g\naliases: [the good one]\n---\n# Good\n\n## Second part\n\n[[dead]] is below.\n\
         [a](sub/other.md#part-one) [[other]] [[sub/other|words]] [[the good one]] [web](https://x.example/a.md)\n\
         [mail](mailto:a@b.c) [here](#second-part) [[#Second part]] ![p](pics/p%201.png) [dir](sub/)\n\
         `[[no such]]` and\n```\n[no](nowhere.md)\n```\n",
    ),
    ("dead.md", "---\ntitle: Dead\n---\n# Dead\n\ntext\n\n[gone](sub/gone.md) and [[Nobody]]\n"),
    ("heading.md", "---\ntitle: Heading\n---\n\n[[good#Third part]]\n[x](sub/other.md#none)\n"),
    ("outside.md", "---\ntitle: Outside\n---\n[up](../../etc/passwd)\n"),
    ("sub/other.md", "---\r\ntitle: Other\r\n---\r\n# Other\r\n\r\n## Part one\r\n"),
    ("sub/twice.md", "---\ntitle: Twice\n---\nx\n"),
    ("more/twice.md", "---\ntags: a\n---\n\n# twice\n\nx\n"),
    ("ambiguous.md", "---\ntitle: Ambiguous\n---\n[[twice]]\n"),
    ("double.md", "---\nodd: x\nid: G\ntitle: Double\n---\nx\n"),
    ("bare.md", "# Bare\n\nNo header.\n"),
    ("open.md", "---\ntitle: Open\nnever closed\n"),
    ("untitled.md", "---\ntags: b\n---\nno title\n"),
    ("empty.md", ""),
    ("hollow.md", "---\ntitle: Hollow\n---\n"),
];

/// Rule, note and line of every fault that was planted.
const FAULTS: [(&str, &str, u64); 16] = [
    ("ambiguous-link", "ambiguous.md", 4),
    ("missing-header", "bare.md", 1),
    ("unreadable", "binary.md", 1),
    ("dead-link", "dead.md", 8),
    ("dead-link", "dead.md", 8),
    ("double-id", "good.md", 3),
    ("empty-note", "empty.md", 1),
    ("dead-heading", "heading.md", 5),
    ("dead-heading", "heading.md", 6),
    ("empty-note", "hollow.md", 4),
    ("unreadable", "link.md", 1),
    ("broken-header", "open.md", 1),
    ("missing-title", "open.md", 1),
    ("outside-link", "outside.md", 4),
    ("double-title", "sub/twice.md", 2),
    ("missing-title", "untitled.md", 1),
];

fn planted(curator: &Curator) {
    for (name, text) in NOTES {
        curator.write(&format!("vault/{name}"), text);
    }
    curator.write("vault/pics/p 1.png", "p");
    curator.write("vault/.obsidian/hidden.md", "[[nobody]]\n");
    fs::write(curator.path("vault/binary.md"), b"\xff\xfe\x00").unwrap();
    std::os::unix::fs::symlink("good.md", curator.path("vault/link.md")).unwrap();
}

// proves: CUR-07
#[test]
fn lint_names_each_planted_fault_and_changes_no_note() {
    let curator = Curator::new();
    planted(&curator);
    let id =
        curator.run(&["--json", "enqueue", "--kind", "lint-wiki"]).expect(0).json()["job"]["id"]
            .as_str()
            .unwrap()
            .to_owned();
    let before = (files(&curator.path("vault")), curator.repo.everything());
    let dry = curator.run(&["--json", "--dry-run", "work"]).expect(0).json();
    assert_eq!(dry["would_take"], json!([id]));
    let worked = curator.run(&["--json", "work"]).expect(0).json();
    assert_eq!((files(&curator.path("vault")), curator.repo.everything()), before);
    assert_eq!(worked["ended"][0]["outcome"]["status"], "done");
    let name = format!("findings/{id}.json");
    assert_eq!(worked["ended"][0]["outcome"]["wrote"], json!([name]));
    curator.is_of("curator-lint", &curator.worker(&name));
    let found = curator.json(&name);
    let mut faults: Vec<(String, String, u64)> = found["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| {
            let text = |key: &str| fault[key].as_str().unwrap().to_owned();
            (text("rule"), text("path"), fault["line"].as_u64().unwrap())
        })
        .collect();
    faults.sort();
    let mut expected: Vec<(String, String, u64)> = FAULTS
        .iter()
        .map(|(rule, path, line)| ((*rule).to_owned(), (*path).to_owned(), *line))
        .collect();
    expected.sort();
    assert_eq!(faults, expected, "{}", serde_json::to_string_pretty(&found).unwrap());
    assert_eq!((&found["notes"], &found["total"]), (&json!(14), &json!(16)));
    assert_eq!(curator.names("done"), [format!("{id}.json")]);
    curator.is_of("curator-job", &curator.worker(&format!("done/{id}.json")));
    curator.is_of("curator-worker", &curator.worker("logs/status.json"));
    assert!(curator.names("queue").is_empty() && curator.names("processing").is_empty());
    assert_eq!(curator.json("logs/status.json")["state"], "ended");
    let entry = fs::read_to_string(curator.worker(&format!("logs/pending-log-entries/{id}.txt")));
    assert!(entry.unwrap().contains("done"));
    assert_eq!(curator.run(&["work"]).expect(0).stdout, "nothing waits\n");
}

// proves: CUR-07
#[test]
fn a_job_that_needs_an_engine_waits_for_one() {
    let curator = Curator::with("    engine: other\n");
    planted(&curator);
    curator.run(&["enqueue", "--kind", "dream-seed"]).expect(0);
    let refused = curator.run(&["--json", "work"]).expect(6);
    assert!(refused.json()["left"][0]["why"].as_str().unwrap().contains("needs an engine"));
    assert!(refused.stderr.contains("diagnose"), "{refused}");
    assert_eq!(curator.names("queue").len(), 1);
    // Others are worked all the same.
    curator.run(&LINT).expect(0);
    curator.run(&["--strict-exit", "work"]).expect(3);
    assert_eq!((curator.names("queue").len(), curator.names("done").len()), (1, 1));
}

// proves: CUR-07
#[test]
fn the_worker_keeps_to_the_cap_and_to_its_orders() {
    let curator = Curator::with("    hourly_cap: 3\n");
    planted(&curator);
    for _ in 0..3 {
        curator.run(&LINT).expect(0);
    }
    curator.run(&["work", "--max", "1"]).expect(0);
    assert_eq!((curator.names("queue").len(), curator.names("done").len()), (2, 1));
    // More than the cap lie in the queue, however they came there.
    curator.configure("    hourly_cap: 2\n");
    let worked = curator.run(&["--json", "work"]).expect(0).json();
    assert_eq!(
        (worked["ended"].as_array().unwrap().len(), &worked["is_capped"]),
        (1, &json!(true))
    );
    curator.run(&["work"]).expect(75);
    curator.later(3700, &["work"]).expect(0);
    assert!(curator.names("queue").is_empty());
    // A kind that is no longer allowed stays where it is.
    curator.later(7400, &LINT).expect(0);
    curator.configure("    allowed_job_kinds: [dream-seed]\n");
    let left = curator.later(7400, &["--json", "work"]).expect(0).json();
    assert!(left["left"][0]["why"].as_str().unwrap().contains("not allowed"), "{left}");
    assert_eq!(curator.names("queue").len(), 1);
}

// proves: CUR-07
#[test]
fn what_a_killed_worker_left_is_taken_again_once() {
    let curator = Curator::new();
    planted(&curator);
    curator.run(&LINT).expect(0);
    let name = curator.names("queue").remove(0);
    let to_processing = |job: &Value| {
        fs::create_dir_all(curator.worker("processing")).unwrap();
        fs::write(curator.worker("processing").join(&name), job.to_string()).unwrap();
    };
    let mut job = curator.json(&format!("queue/{name}"));
    fs::remove_file(curator.worker("queue").join(&name)).unwrap();
    job["odd"] = json!("kept");
    // Another worker lives: its job is not touched.
    to_processing(&job);
    let alive = json!({ "pid": std::process::id() });
    curator.write("worker/logs/status.json", &alive.to_string());
    let refused = curator.run(&["work"]).expect(75);
    assert!(refused.stderr.contains("another worker"), "{refused}");
    assert_eq!(curator.names("processing").len(), 1);
    fs::remove_file(curator.worker("logs/status.json")).unwrap();
    // Killed the first time: it is worked.
    curator.run(&["work"]).expect(0);
    let done = curator.json(&format!("done/{name}"));
    assert_eq!((&done["attempts"], &done["odd"]), (&json!(2), &json!("kept")));
    // Killed the second time: it is not.
    fs::remove_file(curator.worker("done").join(&name)).unwrap();
    job["attempts"] = json!(2);
    to_processing(&job);
    let worked = curator.run(&["--json", "work"]).expect(0).json();
    assert_eq!(worked["ended"][0]["outcome"]["status"], "failed");
    assert_eq!(curator.names("failed"), std::slice::from_ref(&name));
    assert!(curator.names("queue").is_empty() && curator.names("processing").is_empty());
    // A file that is no job is set aside, and stops nobody.
    curator.write("worker/queue/00-bad.json", "{\"id\":\"../x\"}");
    curator.run(&LINT).expect(0);
    let worked = curator.run(&["--json", "work"]).expect(0).json();
    assert_eq!(
        (worked["left"][0]["id"].as_str(), worked["ended"].as_array().unwrap().len()),
        (Some("00-bad.json"), 1)
    );
    assert!(curator.worker("failed/00-bad.json").exists());
}

// proves: CUR-07
#[test]
fn killed_at_any_moment_a_job_is_in_one_place_and_ends() {
    let curator = Curator::with("    hourly_cap: 100000\n");
    curator.write("vault/a.md", "# A\n");
    curator.run(&LINT).expect(0);
    let everywhere = || -> Vec<String> {
        ["queue", "processing", "done", "failed"]
            .iter()
            .flat_map(|folder| curator.names(folder))
            .filter(|name| !name.starts_with('.'))
            .collect()
    };
    killed_everywhere(&curator, &["work"], || {
        assert_eq!(everywhere().len(), 1, "{:?}", everywhere());
        curator.run(&["work"]).expect(0);
        let done = curator.names("done");
        assert_eq!((everywhere().len(), done.len()), (1, 1), "{:?}", everywhere());
        assert_eq!(curator.names("logs/pending-log-entries").len(), 1);
        assert_eq!(curator.names("findings").len(), 1);
        for folder in ["done", "findings", "logs/pending-log-entries"] {
            fs::remove_dir_all(curator.worker(folder)).unwrap();
        }
        curator.run(&LINT).expect(0);
    });
}

/// A draft as the worker leaves one.
fn draft(kind: &str, trust: &str, text: &str) -> String {
    format!(
        "---\ntype: {kind}\ntitle: Locks\ndate: 2026-04-15\nmaturity: provisional\nconfidence: low\n{trust}curator_job: j\n---\n\
         # Learning: Locks\n\n## What We Learned\n\n{text}\n"
    )
}

// proves: CUR-07
#[test]
fn drafts_reach_the_corpus_through_ingest_alone_and_stay_inference() {
    let curator = Curator::new();
    let before = curator.repo.tree();
    curator.write(
        "worker/drafts/j-1.md",
        &draft("learning", "", "A lock of `flock` goes with its process."),
    );
    curator.write(
        "worker/drafts/j-2.md",
        &draft("learning", "trust: human\n", "Run `sync` before the power goes."),
    );
    curator.write("worker/drafts/j.md", &draft("dream-seed", "", "Why are there two locks?"));
    curator.run(&["work"]).expect(0);
    assert_eq!(curator.repo.tree(), before);
    let harvest = || {
        let mut command = curator.repo.command(&["--json", "harvest"]);
        Ran::of(command.env("HOME", curator.path("home")).output().unwrap()).expect(0).json()
    };
    let taken = harvest();
    let paths: Vec<&str> = taken["harvested"]
        .as_array()
        .unwrap()
        .iter()
        .map(|taken| taken["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths.len(), 2, "{taken}");
    assert!(taken["skipped"].to_string().contains("dream-seed"), "{taken}");
    for path in paths {
        let text = curator.repo.read(path);
        assert!(
            text.contains("trust: model-inference") && text.contains("maturity: provisional"),
            "{text}"
        );
        assert!(
            text.contains("original_path: drafts/j-") && text.contains("harvested_from: curator"),
            "{text}"
        );
    }
    // A second time there is nothing to take.
    assert_eq!(harvest()["harvested"], json!([]));
}
