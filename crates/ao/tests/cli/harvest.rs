//! `harvest`: other repositories' corpora, and never this one's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::repo::{Ran, TestRepo, contents, delete, edits_everywhere, write};

/// Another repository, with one entry of each kind.
struct Other {
    dir: TempDir,
}

impl Other {
    fn new() -> Self {
        let other = Self { dir: tempfile::tempdir().unwrap() };
        other.write(
            "learnings/2026-03-01-flush.md",
            &learning("Flush the journal before the rename."),
        );
        other.write(
            "patterns/probe.md",
            "# Probe first\n\nA probe before each retry saves the window.\n",
        );
        other.write(
            "findings/f-2026-03-02-001.md",
            "---\nseverity: high\n---\nThe cursor skips a line.\n",
        );
        other
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("other")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(".agents").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn tree(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.dir.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = path.symlink_metadata().unwrap();
                if kind.is_dir() {
                    folders.push(path);
                } else if kind.is_file() {
                    found.push((path.clone(), fs::read(&path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }
}

fn learning(text: &str) -> String {
    format!(
        "---\nid: L1\nowner: them # kept\nutility: 0.8\nmaturity: established\nreward_count: 7\nconfidence: high\npinned: true\n---\n# Learning\n\n{text}\n"
    )
}

/// From a repository of the same person: its home is the repository here, so the file is their own.
fn harvest(repo: &TestRepo, from: &Path) -> Ran {
    let config = repo.root().join(".agentops/config.yaml");
    if !config.exists() {
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        let sources = format!("trust:\n  sources: [{:?}]\n", from.display().to_string());
        fs::write(&config, sources).unwrap();
    }
    repo.run(&["--json", "harvest", "--from", from.to_str().unwrap()])
}

fn taken(report: &Value) -> Vec<&str> {
    report["harvested"]
        .as_array()
        .unwrap()
        .iter()
        .map(|h| h["original_path"].as_str().unwrap())
        .collect()
}

/// Why an entry was not taken.
fn skipped<'a>(report: &'a Value, name: &str) -> &'a str {
    let all = report["skipped"].as_array().unwrap();
    let found = all.iter().find(|s| s["path"].as_str().unwrap().contains(name));
    found.unwrap_or_else(|| panic!("{name} in {report}"))["why"].as_str().unwrap()
}

// proves: RUN-07, LOOP-24
#[test]
fn entries_come_with_where_they_come_from() {
    let repo = TestRepo::new();
    let other = Other::new();
    let theirs = other.tree();
    let before = contents(&repo.tree());
    let report = harvest(&repo, &other.root()).expect(0).json();
    assert_eq!(
        taken(&report),
        [
            ".agents/findings/f-2026-03-02-001.md",
            ".agents/learnings/2026-03-01-flush.md",
            ".agents/patterns/probe.md"
        ]
    );
    assert_eq!(report["sources"][0]["repo"], "other");
    let text = repo.read("learnings/2026-03-01-flush.md");
    for line in [
        "owner: them # kept\n",
        "maturity: provisional\n",
        "harvest_maturity: established\n",
        "harvest_utility: 0.8\n",
        "harvest_reward_count: 7\n",
        "harvested_from: other\n",
        "original_path: \".agents/learnings/2026-03-01-flush.md\"\n",
        // (0.9 + 0.8) / 2 + 0.1
        "harvest_confidence: 0.95\n",
        "harvest_hash: ",
        "harvested_at: ",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    // Judgements that others made are not judgements here, nor are their pins.
    assert!(
        !text.contains("\nutility:")
            && !text.contains("\nreward_count:")
            && !text.contains("pinned")
    );
    assert!(text.ends_with("# Learning\n\nFlush the journal before the rename.\n"));
    // Nothing else changed, here or there.
    assert_eq!(other.tree(), theirs);
    let after = contents(&repo.tree());
    assert!(before.iter().all(|(path, text)| after.get(path) == Some(text)));
    let path = repo.root().join("harvest.json");
    fs::write(&path, report.to_string()).unwrap();
    repo.run(&["schema", "harvest", "--check", path.to_str().unwrap()]).expect(0);
}

// proves: LOOP-24
// pitfall 9
#[test]
fn nothing_is_taken_twice_whatever_became_of_it_here() {
    let repo = TestRepo::new();
    let other = Other::new();
    assert_eq!(
        harvest(&repo, &other.root()).expect(0).json()["harvested"].as_array().unwrap().len(),
        3
    );
    let before = repo.tree();
    let second = harvest(&repo, &other.root()).expect(0).json();
    assert_eq!((&second["status"], &second["harvested"]), (&json!("nothing-changed"), &json!([])));
    assert_eq!(repo.tree(), before);
    // Merged here, judged there, and the same text in a third place.
    let survivor = "---\nmerged_from: [2026-03-01-flush]\n---\nAnother text.\n";
    repo.apply(&json!([
        write("learnings/a.md", survivor),
        delete("learnings/2026-03-01-flush.md")
    ]))
    .expect(0);
    other.write(
        "learnings/2026-03-01-flush.md",
        &learning("Flush the journal before the rename.").replace("0.8", "0.9"),
    );
    other.write(
        "learnings/copy.md",
        "---\nx: 1\n---\r\n# Learning\r\n\r\nFlush the journal before the rename.\r\n",
    );
    let third = harvest(&repo, &other.root()).expect(0).json();
    assert_eq!(third["harvested"], json!([]), "{third}");
    assert!(skipped(&third, "2026-03-01-flush.md").contains("taken before"));
    // Without the ledger, what the entries themselves say still holds.
    fs::remove_dir_all(repo.agents().join("knowledge/taken")).unwrap();
    let fourth = harvest(&repo, &other.root()).expect(0).json();
    assert_eq!(
        taken(&fourth),
        [".agents/learnings/2026-03-01-flush.md"],
        "only what left no trace"
    );
}

#[test]
fn a_hash_that_a_merge_kept_is_enough() {
    let repo = TestRepo::new();
    let other = Other::new();
    let report = harvest(&repo, &other.root()).expect(0).json();
    let hash = report["harvested"][1]["hash"].as_str().unwrap();
    let survivor = format!(
        "---\nmerged_fields: {{\"gone\": {{\"harvest_hash\": \"{hash}\"}}}}\n---\nAnother text.\n"
    );
    repo.apply(&json!([
        write("learnings/a.md", &survivor),
        delete("learnings/2026-03-01-flush.md")
    ]))
    .expect(0);
    fs::remove_dir_all(repo.agents().join("knowledge/taken")).unwrap();
    assert_eq!(harvest(&repo, &other.root()).expect(0).json()["harvested"], json!([]));
}

// proves: LOOP-06
#[test]
fn an_undo_makes_it_harvestable_again() {
    let repo = TestRepo::new();
    let other = Other::new();
    let before = contents(&repo.tree());
    let id = harvest(&repo, &other.root()).expect(0).json()["id"].as_str().unwrap().to_owned();
    repo.run(&["tree", "undo", &id]).expect(0);
    assert_eq!(contents(&repo.tree()), before);
    assert_eq!(taken(&harvest(&repo, &other.root()).expect(0).json()).len(), 3);
}

fn git(dir: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(dir).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.args(["-c", "user.name=x", "-c", "user.email=x@example.com"]).args(arguments);
    let output = git.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

// pitfall 10
#[test]
fn this_repository_is_never_harvested_into_itself() {
    let repo = TestRepo::new();
    let root = repo.root().canonicalize().unwrap();
    git(&root, &["init", "-q"]);
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "x"]);
    let beside = tempfile::tempdir().unwrap();
    let link = beside.path().join("link");
    std::os::unix::fs::symlink(&root, &link).unwrap();
    let worktree = beside.path().join("worktree");
    git(&root, &["worktree", "add", "-q", worktree.to_str().unwrap()]);
    fs::write(worktree.join(".agents/learnings/a.md"), "something new in the other checkout\n")
        .unwrap();
    let half = beside.path().join("half");
    fs::create_dir(&half).unwrap();
    std::os::unix::fs::symlink(root.join(".agents"), half.join(".agents")).unwrap();
    let nested = root.join("crates/inner");
    fs::create_dir_all(nested.join(".agents/learnings")).unwrap();
    fs::write(nested.join(".agents/learnings/n.md"), "nested and new\n").unwrap();
    let before = repo.tree();
    let odd = root.join("crates").join("..").join(".").join("crates").join("..");
    let places = [
        root.clone(),
        root.join(".agents"),
        link,
        worktree,
        half,
        nested,
        odd,
        root.join("crates"),
    ];
    for place in &places {
        let report = harvest(&repo, place).expect(0).json();
        assert_eq!(report["harvested"], json!([]), "{}", place.display());
        assert!(report["sources"][0]["refused"].is_string(), "{}: {report}", place.display());
    }
    for place in [&places[0], &places[1], &places[2]] {
        let report = harvest(&repo, place).expect(0).json();
        assert_eq!(report["sources"][0]["refused"], "it is this repository's own corpus");
    }
    // From inside, by a relative path, and as the user's own corpus (HOME is the repository here).
    let mut relative = repo.command(&["--json", "harvest", "--from", ".", "--global"]);
    let output = relative.current_dir(&root).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["harvested"], json!([]));
    let sources = report["sources"].as_array().unwrap();
    assert!(sources.iter().all(|source| source["refused"].is_string()), "{report}");
    assert_eq!(repo.tree(), before);
}

// pitfall 10
#[test]
fn test_fixtures_are_not_harvested() {
    let repo = TestRepo::new();
    let beside = tempfile::tempdir().unwrap();
    for place in [
        "real",
        "real/tests/fixtures/repo",
        "x/testdata/repo",
        "x/node_modules/dep",
        "vendor/repo",
        ".hidden/repo",
    ] {
        let learnings = beside.path().join(place).join(".agents/learnings");
        fs::create_dir_all(&learnings).unwrap();
        fs::write(learnings.join("l.md"), format!("A lesson of {place} and no other.\n")).unwrap();
    }
    let report = harvest(&repo, beside.path()).expect(0).json();
    let repos: Vec<_> = report["sources"].as_array().unwrap().iter().map(|s| &s["repo"]).collect();
    assert_eq!(repos, ["real"]);
    assert_eq!(taken(&report).len(), 1);
    // Named outright it is a fixture all the same, if it lies in a repository.
    git(beside.path(), &["init", "-q"]);
    let named = harvest(&repo, &beside.path().join("real/tests/fixtures/repo")).expect(0).json();
    assert!(named["sources"][0]["refused"].as_str().unwrap().contains("tests"), "{named}");
    // And a folder of fixtures inside of a corpus.
    let other = Other::new();
    other.write("learnings/fixtures/f.md", "A lesson that a test made up.\n");
    let report = harvest(&repo, &other.root()).expect(0).json();
    assert!(skipped(&report, "fixtures/f.md").contains("fixtures"));
}

#[test]
fn what_is_not_to_be_relied_on_is_left() {
    let repo = TestRepo::new();
    let other = Other::new();
    let token = format!("ghp_{}", "a1".repeat(18));
    let entries = [
        ("hidden.md", "---\nsuperseded_by: x\n---\nOld.\n", "took its place"),
        ("experimental.md", "---\nstability: experimental\n---\nMaybe.\n", "experimental"),
        ("anti.md", "---\nmaturity: anti-pattern\n---\nNever.\n", "anti-pattern"),
        ("weak.md", "---\nconfidence: low\nutility: 0.1\n---\nPerhaps.\n", "0.3 is needed"),
        ("secret.md", &format!("Push with {token} to the remote.\n"), "GitHub token"),
        ("doubt.md", "---\na: 1\na: 2\n---\nTwice.\n", "doubt"),
        ("empty.md", "---\na: 1\n---\n", "empty"),
    ];
    for (name, text, _) in &entries {
        other.write(&format!("learnings/{name}"), text);
    }
    other.write("findings/f-2026-03-03-001.md", "---\nresolved: true\n---\nDone.\n");
    other.write("learnings/huge.md", &"x".repeat(5 * 1024 * 1024));
    fs::write(other.root().join(".agents/learnings/binary.md"), b"\0\xff").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", other.root().join(".agents/learnings/link.md"))
        .unwrap();
    let fifo = other.root().join(".agents/learnings/fifo.md");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let report = harvest(&repo, &other.root()).expect(0).json();
    assert_eq!(taken(&report).len(), 3, "{report}");
    for (name, _, why) in &entries {
        assert!(skipped(&report, name).contains(why), "{name}: {}", skipped(&report, name));
    }
    for name in ["f-2026-03-03-001.md", "huge.md", "binary.md", "link.md", "fifo.md"] {
        assert!(!skipped(&report, name).is_empty());
    }
    assert!(!report.to_string().contains(&token));
    let eager = repo.run(&[
        "--json",
        "harvest",
        "--min-confidence",
        "0.2",
        "--from",
        other.root().to_str().unwrap(),
    ]);
    assert_eq!(taken(&eager.expect(0).json()), [".agents/learnings/weak.md"]);
    repo.run(&["harvest", "--min-confidence", "2"]).expect(2);
}

#[test]
fn names_and_ids_stay_their_owners() {
    let repo = TestRepo::new();
    repo.write(
        "learnings/2026-03-01-flush.md",
        "---\nid: L1\n---\nAnother one of the same name.\n",
    );
    let other = Other::new();
    other.write(
        "learnings/j.jsonl",
        "{\"id\":\"j\",\"date\":\"2026-03-04\",\"content\":\"A line of its own.\"}\nrest\n",
    );
    let report = harvest(&repo, &other.root()).expect(0).json();
    let path = |original: &str| {
        let all = report["harvested"].as_array().unwrap();
        all.iter().find(|h| h["original_path"] == original).unwrap()["path"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let flush = path(".agents/learnings/2026-03-01-flush.md");
    assert_eq!(flush, "learnings/2026-03-01-flush-2.md");
    let text = repo.read(&flush);
    assert!(text.contains("id: other-L1\n") && text.contains("harvest_id: L1\n"), "{text}");
    assert!(repo.read("learnings/2026-03-01-flush.md").contains("Another one"));
    let line = path(".agents/learnings/j.jsonl");
    assert_eq!(line, "learnings/2026-03-04-j.jsonl");
    let text = repo.read(&line);
    assert!(text.starts_with("{\"id\":\"j\",") && text.ends_with("}\nrest\n"), "{text}");
    assert!(text.contains("\"harvested_from\":\"other\""));
}

#[test]
fn the_hub_is_read_and_nothing_outside_is_written() {
    let repo = TestRepo::new();
    let home = Other::new();
    fs::rename(home.root().join(".agents"), home.dir.path().join(".agents")).unwrap();
    let theirs = home.tree();
    let mut command = repo.command(&["--json", "harvest", "--global"]);
    let output = command.env("HOME", home.dir.path()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((taken(&report).len(), &report["sources"][0]["repo"]), (3, &json!("global")));
    assert_eq!(home.tree(), theirs);
    let mut homeless = repo.command(&["harvest", "--global"]);
    assert_eq!(homeless.env_remove("HOME").output().unwrap().status.code(), Some(6));
}

#[test]
fn the_configuration_names_the_places() {
    let repo = TestRepo::new();
    let other = Other::new();
    let nowhere = repo.run(&["--json", "harvest"]).expect(0);
    assert!(nowhere.stderr.contains("nowhere to harvest from"), "{nowhere}");
    assert_eq!(nowhere.json()["status"], "nothing-changed");
    fs::create_dir_all(repo.root().join(".agentops")).unwrap();
    let config = format!("dream:\n  harvest_from: [{}, /nowhere/at/all]\n", other.root().display());
    fs::write(repo.root().join(".agentops/config.yaml"), config).unwrap();
    let named = repo.run(&["--json", "harvest"]).expect(0);
    assert_eq!(taken(&named.json()).len(), 3);
    assert!(named.stderr.contains("/nowhere/at/all"), "{named}");
    let failed = repo.run(&["harvest", "--from", "/nowhere/at/all"]).expect(2);
    assert!(failed.stderr.contains("hint:"), "{failed}");
    let file = repo.root().join(".agentops/config.yaml");
    repo.run(&["harvest", "--from", file.to_str().unwrap()]).expect(2);
}

// proves: RUN-07
#[test]
fn a_dry_run_only_tells() {
    let repo = TestRepo::new();
    let other = Other::new();
    let before = repo.everything();
    let from = other.root();
    let told = repo
        .run(&["--json", "--dry-run", "harvest", "--from", from.to_str().unwrap()])
        .expect(0)
        .json();
    assert_eq!((told["status"].as_str(), taken(&told).len()), (Some("dry-run"), 3));
    assert!(told["commit"]["diff"].as_str().unwrap().contains("+harvested_from: other"));
    let shown = repo.run(&["--dry-run", "harvest", "--from", from.to_str().unwrap()]).expect(0);
    assert!(
        shown.stdout.contains("other: 3 of 3 taken") && shown.stdout.contains("Would commit"),
        "{shown}"
    );
    assert_eq!(repo.everything(), before);
}

// proves: RUN-18
#[test]
fn a_run_that_holds_the_lock_defers_it() {
    let repo = TestRepo::new();
    let other = Other::new();
    let run = repo.stopped_before_the_exchange(&edits_everywhere());
    let process = run.child.id();
    let before = repo.everything();
    for arguments in [&["harvest", "--from", other.root().to_str().unwrap()][..], &["harvest"]] {
        let refused = repo.run(arguments).expect(75);
        assert!(refused.stderr.contains(&format!("process {process} since 20")), "{refused}");
    }
    assert_eq!(repo.everything(), before);
    run.go_on().expect(0);
}
