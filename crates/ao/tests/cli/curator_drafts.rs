//! Drafts of the curator through a whole night: what INGEST takes of them, with which trust, and what it refuses.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;

use crate::curator::Curator;
use crate::night::{Night, json_of, learning};
use crate::repo::{Ran, Tree};

/// More than an entry may have.
const LARGE: usize = 10 * 1024 * 1024;

/// A draft as the worker leaves one, with more lines in its header.
fn draft(number: usize, more: &str) -> String {
    let body = learning(number).split_once("\n---\n").unwrap().1.to_owned();
    format!(
        "---\ntype: learning\ntitle: Case {number}\ndate: 2026-03-05\nmaturity: provisional\nconfidence: low\n\
         trust: model-inference\ndrafted_by: ollama/small\ncurator_job: j\n{more}---\n{body}"
    )
}

/// A curator in a repository with some knowledge of its own.
fn curator() -> Curator {
    let curator = Curator::new();
    for number in 0..6 {
        curator.repo.write(&format!("learnings/2026-03-01-case-{number}.md"), &learning(number));
    }
    curator
}

fn night(curator: &Curator) -> Value {
    let mut command = curator.repo.command(&["--json", "overnight", "start", "--no-keep-awake"]);
    Ran::of(command.env("HOME", curator.path("home")).output().unwrap()).expect(0);
    json_of(&curator.repo.state("latest/summary.json"))
}

/// What people wrote: a night has no reason to touch it.
fn own(curator: &Curator) -> Tree {
    let mut tree = curator.repo.tree();
    tree.retain(|path, _| path.contains("-case-"));
    assert_eq!(tree.len(), 6, "{:?}", tree.keys());
    tree
}

/// The entries that drafts became.
fn taken(curator: &Curator) -> Vec<(String, String)> {
    let tree = curator.repo.tree();
    // A model's draft waits for a person.
    let all = tree.iter().filter(|(path, _)| path.starts_with("knowledge/pending/"));
    let texts =
        all.map(|(path, seen)| (path.clone(), String::from_utf8(seen.bytes.clone()).unwrap()));
    texts.filter(|(_, text)| text.contains("harvested_from: curator")).collect()
}

/// Why a draft of this name was refused in the first iteration; what it was lowered in.
fn told<'a>(summary: &'a Value, list: &str, name: &str) -> &'a str {
    let all = summary["iterations"][0]["ingest"][list].as_array().map_or(&[][..], Vec::as_slice);
    let found = all.iter().find(|one| one["path"].as_str().unwrap().contains(name));
    found.map_or("", |one| one["why"].as_str().unwrap())
}

// proves: CUR-07
#[test]
fn a_night_takes_a_draft_in_once_and_as_inference() {
    let curator = curator();
    curator.write(
        "worker/drafts/20260305T010000Z-ingest-claude-session-0a0b0c0d-1.md",
        &draft(30, ""),
    );
    let before = own(&curator);
    let summary = night(&curator);
    assert_eq!(summary["iterations"][0]["ingest"]["harvested"], 1, "{summary:#}");
    assert!(summary["iterations"][0]["ingest"]["refused"].is_null());
    let [(path, text)] = &taken(&curator)[..] else { panic!("{:?}", taken(&curator)) };
    assert!(path.starts_with("knowledge/pending/2026-03-05-"), "{path}");
    assert_eq!(summary["iterations"][0]["ingest"]["learnings_added"], 0);
    assert_eq!(summary["close_loop"]["waiting"], 1);
    for line in ["trust: model-inference", "maturity: provisional", "confidence: low"] {
        assert!(text.contains(&format!("\n{line}\n")), "{text}");
    }
    assert!(text.contains("\noriginal_path: drafts/20260305T010000Z-ingest"), "{text}");
    // Nothing of what people wrote was touched for it.
    assert!(own(&curator) == before);
    let after = curator.repo.tree();
    // The same draft is there in the next night, and after somebody took the entry away.
    let again = night(&curator);
    assert_eq!(again["iterations"][0]["ingest"]["harvested"], 0, "{again:#}");
    assert!(curator.repo.tree() == after);
    fs::remove_file(curator.repo.agents().join(path)).unwrap();
    night(&curator);
    assert!(taken(&curator).is_empty());
}

// proves: CUR-07
// proves: EXE-06
#[test]
fn a_draft_is_worth_what_a_draft_is_whatever_it_says() {
    let curator = curator();
    let before = own(&curator);
    curator.write(
        "worker/drafts/proud.md",
        &draft(
            31,
            "trust_level: verified\nutility: 1.0\npinned: true\nid: learning-2\nmerged_from: [learning-1]\n\
             aliases: [case-3]\nreward_count: 99\nharvest_hash: 0000\nsource_session: s-1\n",
        )
        .replace("trust: model-inference", "trust: verified")
        .replace("maturity: provisional", "maturity: established")
        .replace("confidence: low", "confidence: 0.99"),
    );
    // A day that has not come would make everything else old.
    curator.write(
        "worker/drafts/2999-01-01-ahead.md",
        &draft(32, "").replace("date: 2026-03-05", "date: 2999-01-01"),
    );
    let summary = night(&curator);
    let all = taken(&curator);
    assert_eq!(all.len(), 2, "{summary:#}");
    let (_, proud) = all.iter().find(|(path, _)| path.contains("proud")).unwrap();
    for line in ["trust: model-inference", "maturity: provisional", "confidence: low"] {
        assert!(proud.contains(&format!("\n{line}\n")), "{proud}");
    }
    for word in [
        "verified",
        "established",
        "0.99",
        "1.0",
        "pinned",
        "learning-2",
        "learning-1",
        "case-3",
        "99",
        "0000",
        "s-1",
    ] {
        let header = proud.split_once("\n---\n").unwrap().0;
        let is_there = header
            .lines()
            .any(|line| line.split_once(": ").is_some_and(|(_, value)| value == word));
        assert!(!is_there && !header.contains(&format!("[{word}]")), "{word}: {proud}");
    }
    let why = told(&summary, "lowered", "proud");
    for key in [
        "trust",
        "maturity",
        "confidence",
        "trust_level",
        "utility",
        "pinned",
        "id",
        "merged_from",
        "aliases",
    ] {
        assert!(why.contains(key), "{key}: {why}");
    }
    let (path, ahead) = all.iter().find(|(path, _)| path.contains("ahead")).unwrap();
    assert!(!path.contains("2999") && !ahead.contains("date: 2999"), "{path}: {ahead}");
    assert!(told(&summary, "lowered", "ahead").contains("date"));
    assert!(own(&curator) == before);
    let report = fs::read_to_string(curator.repo.state("latest/summary.md")).unwrap();
    assert!(report.contains("lowered"), "{report}");
}

// proves: CUR-07
// proves: EXE-06
#[test]
fn what_is_no_draft_is_refused_and_said() {
    let curator = curator();
    let folder = curator.worker("drafts");
    curator.write("worker/drafts/good.md", &draft(40, ""));
    curator
        .write("worker/drafts/key.md", &draft(41, "").replace("because", "AKIAIOSFODNN7EXAMPL1"));
    curator.write("worker/drafts/large.md", &(draft(42, "") + &"more\n".repeat(LARGE / 5)));
    curator.write(
        "worker/drafts/seed.md",
        &draft(43, "").replace("type: learning", "type: dream-seed"),
    );
    curator.write("worker/drafts/bare.md", &draft(44, "").replace("type: learning\n", ""));
    curator.write("worker/drafts/twice.md", &draft(45, "trust: verified\n"));
    curator.write("worker/drafts/line.jsonl", "{\"type\":\"learning\",\"content\":\"Run `x`.\"}\n");
    curator.write("elsewhere.md", &draft(46, ""));
    symlink(curator.path("elsewhere.md"), folder.join("link.md")).unwrap();
    symlink("..", folder.join("loop")).unwrap();
    let made = Command::new("mkfifo").arg(folder.join("pipe.md")).status().unwrap();
    assert!(made.success());
    fs::write(folder.join(OsStr::from_bytes(b"\xff.md")), draft(47, "")).unwrap();
    fs::write(folder.join("-rf \u{1b}[31m$(id)\n..md"), draft(48, "")).unwrap();
    let before = own(&curator);
    let summary = night(&curator);
    for (name, why) in [
        ("key.md", "seems to hold"),
        ("large.md", "larger than"),
        ("seed.md", "dream-seed"),
        ("bare.md", "of what kind"),
        ("twice.md", "beyond doubt"),
        ("line.jsonl", "not Markdown"),
        ("link.md", "symlink"),
        ("loop", "symlink"),
        ("pipe.md", "FIFO"),
        ("\u{fffd}.md", "not UTF-8"),
    ] {
        let said = told(&summary, "refused", name);
        assert!(said.contains(why), "{name}: {said:?}: {:#}", summary["iterations"][0]["ingest"]);
    }
    let all = taken(&curator);
    let paths: Vec<&str> = all.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths.len(), 2, "{paths:?}");
    for path in &paths {
        // A name of somebody else's is made plain.
        let plain = |c: char| c.is_ascii_alphanumeric() || "/-.".contains(c);
        let is_placed = path.starts_with("knowledge/pending/2026-03-05-");
        assert!(path.chars().all(plain) && is_placed, "{path}");
    }
    assert!(own(&curator) == before);
    let everything = format!(
        "{summary}{}",
        fs::read_to_string(curator.repo.state("latest/summary.md")).unwrap()
    );
    assert!(!everything.contains("AKIA") && !everything.contains('\u{1b}'));
    // The drafts are nobody's to change.
    assert_eq!(fs::read_to_string(folder.join("good.md")).unwrap(), draft(40, ""));
}

// proves: CUR-07
#[test]
fn a_folder_of_drafts_that_leads_elsewhere_is_not_followed() {
    let curator = curator();
    curator.write("elsewhere/a.md", &draft(50, ""));
    symlink(curator.path("elsewhere"), curator.worker("drafts")).unwrap();
    let before = own(&curator);
    let summary = night(&curator);
    let source = &summary["iterations"][0]["ingest"]["sources"][0];
    assert!(source["refused"].as_str().unwrap().contains("followed"), "{source}");
    assert!(taken(&curator).is_empty() && own(&curator) == before);
}

#[test]
fn a_repository_without_a_curator_has_no_word_of_drafts() {
    let night = Night::with(3);
    night.run(&[]).expect(0);
    assert!(night.summary()["iterations"][0]["ingest"]["sources"].is_null());
}
