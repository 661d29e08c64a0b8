//! `ao defrag`: shown, agreed to, made as one commit, explained, taken back.

use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use nix::sys::stat::Mode;

use crate::duplicates::{empty, merged, repo_of};
use crate::generate::{self, Amounts, Dice, Made};
use crate::repo::{TestRepo, contents};

fn made() -> Made {
    generate::corpus(2, Amounts { texts: 60, copies: 8, siblings: 3, contradictions: 3 })
}

fn yes(repo: &TestRepo) -> serde_json::Value {
    repo.run(&["--json", "defrag", "--yes"]).expect(0).json()
}

// proves: LOOP-27
#[test]
fn nothing_is_changed_before_it_is_agreed_to_and_everything_is_told() {
    let repo = repo_of(&made());
    let before = repo.everything();
    let shown = repo.run(&["defrag"]).expect(0);
    assert!(shown.stderr.contains("--yes"), "{shown}");
    assert!(
        shown.stdout.contains("\n+merged_from: ") && shown.stdout.contains("merge "),
        "{shown}"
    );
    repo.run(&["--dry-run", "defrag", "--yes"]).expect(0);
    assert_eq!(repo.everything(), before);
    let report = yes(&repo);
    let changes = report["commit"]["changes"].as_array().unwrap();
    assert!(!changes.is_empty());
    for change in changes {
        assert!(!change["reason"].as_str().unwrap().is_empty(), "{change}");
        assert!(!change["sources"].as_array().unwrap().is_empty(), "{change}");
    }
    let id = report["commit"]["id"].as_str().unwrap();
    let diff = repo.run(&["tree", "diff", id]).expect(0);
    assert!(diff.stdout.contains("+merged_from: "), "{diff}");
    // And taken back, to the byte.
    repo.run(&["tree", "undo"]).expect(0);
    let mut now = contents(&repo.everything());
    now.retain(|path, _| !path.starts_with("overnight/"));
    assert_eq!(now, contents(&before));
}

#[test]
fn the_report_is_what_its_schema_says() {
    let repo = repo_of(&made());
    let schema = repo.run(&["schema", "defrag"]).expect(0).stdout;
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for report in [repo.run(&["--json", "defrag"]).expect(0).json(), yes(&repo), yes(&repo)] {
        let errors: Vec<String> = validator.iter_errors(&report).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
}

#[test]
fn a_certificate_goes_with_every_merge_and_is_shown_before_and_after() {
    let repo = repo_of(&made());
    let report = repo.run(&["--json", "defrag"]).expect(0).json();
    let gone = merged(&report);
    let path = gone.keys().next().unwrap();
    let name = path.rsplit_once('/').unwrap().1.strip_suffix(".md").unwrap();
    for merge in report["merges"].as_array().unwrap() {
        for member in merge["members"].as_array().unwrap() {
            let certificate = &member["certificate"];
            assert_eq!(certificate["verdict"], "passed");
            let probes = certificate["probes"].as_array().unwrap();
            assert!(probes.len() >= 8, "{certificate:#}");
            let title = repo.read(member["path"].as_str().unwrap());
            let title =
                title.lines().find(|line| line.starts_with("# ")).unwrap_or("# ").to_lowercase();
            let mut counted = 0;
            for probe in probes {
                if probe["before"].is_u64() {
                    counted += 1;
                    assert!(probe["after"].as_u64().unwrap() <= 10, "{certificate:#}");
                }
                for word in
                    probe["query"].as_str().unwrap().split(' ').filter(|word| word.len() > 3)
                {
                    let mut words = title.split(|c: char| !c.is_alphanumeric());
                    assert!(!words.any(|other| other == word), "{word} is of the title {title}");
                }
            }
            assert!(counted >= 4);
            assert_eq!(certificate["counted"], counted);
        }
    }
    let planned = repo.run(&["defrag", "--explain", name]).expect(0);
    assert!(
        planned.stdout.contains("planned") && planned.stdout.contains("certificate: passed"),
        "{planned}"
    );
    yes(&repo);
    let done = repo.run(&["--json", "defrag", "--explain", path]).expect(0).json();
    let explained = &done["explained"][0];
    assert_eq!(explained["certificate"]["entry"].as_str(), Some(path.as_str()));
    assert_eq!(explained["certificate"]["verdict"], "passed");
    let id = explained["state"].as_str().unwrap();
    let provenance = repo.read(&format!("overnight/archive/{id}/provenance.json"));
    assert!(provenance.contains("certificate:"), "{provenance}");
    let unknown = repo.run(&["defrag", "--explain", "nobody"]).expect(2);
    assert!(unknown.stderr.contains("hint:"), "{unknown}");
}

#[test]
fn a_merge_that_would_lose_something_is_refused() {
    let repo = empty();
    // Texts so short that too few questions can be made of them.
    repo.write("learnings/2026-01-01-a.md", "# Learning: short\n\nPin the compiler version.\n");
    repo.write("learnings/2026-01-02-b.md", "# Learning: short\n\nPin the compiler version.\n");
    let before = contents(&repo.tree());
    let report = yes(&repo);
    assert_eq!(report["status"], "nothing-to-do");
    assert_eq!(report["kept"][0]["certificate"]["verdict"], "refused", "{report:#}");
    assert_eq!(contents(&repo.tree()), before);
}

// proves: RUN-18
#[test]
fn while_a_run_holds_the_lock_nothing_is_made() {
    let repo = repo_of(&made());
    repo.write("patterns/p.md", "# p\n");
    let run = repo.stopped_before_the_exchange(&serde_json::json!([crate::repo::write(
        "patterns/p.md",
        "# q\n"
    )]));
    let process = run.child.id();
    let refused = repo.run(&["defrag", "--yes"]).expect(75);
    assert!(refused.stderr.contains(&format!("process {process} since 20")), "{refused}");
    run.go_on().expect(0);
    repo.run(&["defrag", "--yes"]).expect(0);
}

#[test]
fn an_empty_corpus_and_none_at_all() {
    let repo = empty();
    let report = repo.run(&["--json", "defrag"]).expect(0).json();
    assert_eq!(report["status"], "nothing-to-do");
    fs::remove_dir_all(repo.agents()).unwrap();
    let missing = repo.run(&["defrag"]);
    assert!(missing.code != 0 && missing.stderr.contains("hint:"), "{missing}");
    repo.run(&["defrag", "--as-of", "tomorrow"]).expect(2);
    repo.run(&["defrag", "--explain", "x", "--yes"]).expect(2);
}

/// Threats 10, 11, 15, 16, 20, 22 and 28: what is hostile or broken is left exactly as it is, and
/// the rest is done.
#[test]
fn hostile_and_broken_files_are_left_alone() {
    let repo = repo_of(&made());
    let body = generate::body(&mut Dice::new(77), 1);
    let bomb: Vec<String> =
        (1..40).map(|n| format!("a{n}: &a{n} [*a{}, *a{}]\n", n - 1, n - 1)).collect();
    let bomb = bomb.concat();
    let odd = [
        ("bomb-1", format!("---\na0: &a0 [x]\n{bomb}---\n{body}")),
        ("bomb-2", format!("---\na0: &a0 [x]\n{bomb}---\n{body}")),
        ("deep-1", format!("---\na: {}\n---\n{body}", "[".repeat(50_000))),
        ("nan-1", format!("---\nutility: .nan\n---\n{body}")),
        ("keys-1", format!("---\na: 1\na: 2\n---\n{body}")),
        ("merge-1", format!("---\nx: &x {{a: 1}}\ny:\n  <<: *x\n---\n{body}")),
        ("open-1", format!("---\ntype: learning\n{body}")),
    ];
    for (name, text) in &odd {
        repo.write(&format!("learnings/2026-01-01-{name}.md"), text);
    }
    let learnings = repo.agents().join("learnings");
    fs::write(learnings.join("2026-01-02-latin.md"), b"# caf\xe9\n").unwrap();
    fs::write(learnings.join(std::ffi::OsStr::from_bytes(b"2026-01-03-\xff.md")), "# x\n").unwrap();
    fs::write(learnings.join("-rf\n\u{1b}[31m.md"), &body).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", learnings.join("link.md")).unwrap();
    std::os::unix::fs::symlink("loop.md", learnings.join("loop.md")).unwrap();
    nix::unistd::mkfifo(&learnings.join("pipe.md"), Mode::S_IRWXU).unwrap();
    let before = repo.tree();
    let ran = repo.run(&["defrag", "--yes"]).expect(0);
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "{ran}");
    let after = repo.tree();
    for (path, seen) in &before {
        if path.contains("2026-01-0")
            && !path.contains("note")
            && !path.contains("copy")
            && !path.contains("claim")
            && !path.contains("sibling")
        {
            assert_eq!(after.get(path).map(|now| &now.bytes), Some(&seen.bytes), "{path}");
        }
    }
    for name in ["link.md", "loop.md", "pipe.md", "-rf\n\u{1b}[31m.md"] {
        assert!(learnings.join(name).symlink_metadata().is_ok(), "{name:?}");
    }
    assert!(after.len() < before.len(), "the copies went");
}

/// Somebody edits a copy in the moment before it goes: it stays, its survivor is as it was, and the
/// report does not claim the merge.
// proves: LOOP-07
#[test]
fn a_merge_that_somebody_else_broke_is_not_claimed() {
    let repo = repo_of(&made());
    let before = contents(&repo.tree());
    let planned = repo.run(&["--json", "--dry-run", "defrag", "--dedup"]).expect(0).json();
    let merge = &planned["merges"][0];
    let survivor = merge["survivor"].as_str().unwrap();
    let copy = merge["members"][0]["path"].as_str().unwrap();
    let arguments = ["--json", "defrag", "--dedup", "--yes", "--id", "broken"];
    let stopped = repo.stopped_before(&arguments, "broken");
    repo.write(copy, "what a person wrote meanwhile\n");
    let report = stopped.go_on().expect(0).json();
    let after = contents(&repo.tree());
    assert_eq!(after[copy], "what a person wrote meanwhile\n");
    assert_eq!(after[survivor], before[survivor], "the merge is not half made");
    assert!(merged(&report).keys().all(|path| path != copy), "{report:#}");
    assert!(!merged(&report).is_empty(), "the others are made");
    let kept = report["kept"].as_array().unwrap();
    assert!(kept.iter().any(|kept| kept["path"] == *copy), "{report:#}");
}

/// A copy that the door cannot hold stays where it is, and keeps no other from being merged.
#[test]
fn a_copy_that_cannot_be_changed_keeps_no_other_from_its_merge() {
    let text = |name: &str| {
        format!(
            "---\nid: {name}\n---\n# Learning: Retry budget of the payment client\n\nThe payment \
             client retries a charge 7 times with a backoff of 250 ms, because the gateway of \
             Lisbon drops idle sockets after 40 s.\n\nSet `payment.retry.budget` in \
             `deploy/values.yaml`, then run `make smoke-payments`; the dashboard Grebe shows the \
             rate. Found in run 4711 of the nightly pipeline by the on-call engineer.\n"
        )
    };
    let repo = TestRepo::new();
    for name in ["a", "b", "c"] {
        repo.write(&format!("learnings/{name}.md"), &text(name));
    }
    let linked = repo.agents().join("learnings/b.md");
    std::fs::hard_link(&linked, repo.root().join("outside.md")).unwrap();
    let before = contents(&repo.tree()).len();
    let told = repo.run(&["--json", "defrag", "--dedup", "--yes"]).expect(0).json();
    assert_eq!(told["merges"].as_array().unwrap().len(), 1, "{told:#}");
    assert!(linked.exists());
    assert_eq!(contents(&repo.tree()).len(), before - 1, "one of the other two went");
    let kept = told["kept"].as_array().unwrap();
    assert!(kept.iter().any(|kept| kept["path"] == "learnings/b.md"), "{told:#}");
    let again = repo.run(&["--json", "defrag", "--dedup", "--yes"]).expect(0).json();
    assert_eq!(again["merges"].as_array().unwrap().len(), 0, "{again:#}");
}

/// On a terminal the changes are shown, and made only after a yes.
#[test]
fn a_terminal_is_asked_and_only_yes_is_yes() {
    let made = made();
    for (typed, is_made) in [("n\n", false), ("\n", false), ("yes\n", true)] {
        let repo = repo_of(&made);
        let before = contents(&repo.tree());
        let program = env!("CARGO_BIN_EXE_ao");
        let command = format!("'{program}' -C '{}' --no-color defrag", repo.root().display());
        let mut child = Command::new("script")
            .args(["--quiet", "--return", "--command", &command, "/dev/null"])
            .env("HOME", repo.root())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(typed.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        let screen = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{screen}");
        assert!(screen.contains("+merged_from: ") && screen.contains("[y/N]"), "{screen}");
        assert_eq!(contents(&repo.tree()) != before, is_made, "{typed:?}: {screen}");
    }
}
