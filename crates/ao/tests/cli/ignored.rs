//! Git and the state folder: what belongs to this moment is left alone by it, and reports are not.

use std::fs;
use std::process::Command;

use crate::night::Night;
use crate::repo::{Ran, TestRepo, edits_everywhere};

fn git(repo: &TestRepo, arguments: &[&str]) -> Ran {
    let mut git = Command::new("git");
    git.arg("-C").arg(repo.root()).args(["-c", "user.name=a", "-c", "user.email=a@b.c"]);
    git.env_clear().env("HOME", repo.root()).env("PATH", "/usr/bin:/bin");
    Ran::of(git.args(arguments).output().unwrap()).expect(0)
}

fn begin(repo: &TestRepo) {
    git(repo, &["init", "-q"]);
    git(repo, &["add", "-A"]);
    git(repo, &["commit", "-qm", "as it was"]);
}

/// What git says of each file of the state folder.
fn status(repo: &TestRepo, mark: &str) -> Vec<String> {
    let told = git(repo, &["status", "--porcelain", "--ignored", "-uall"]).stdout;
    let of_mark = told.lines().filter_map(|line| line.strip_prefix(mark)?.trim().to_owned().into());
    of_mark.filter(|path: &String| path.starts_with(".agents/overnight/")).collect()
}

// proves: RUN-31
#[test]
fn what_is_of_this_moment_is_ignored_and_reports_are_not() {
    let night = Night::with_copies();
    begin(&night.repo);
    night.run(&[]).expect(0);
    let ignored = status(&night.repo, "!!");
    for name in ["run.lock", "run.alive", "commit.lock", "generation", ".gitignore"] {
        let path = format!(".agents/overnight/{name}");
        assert!(ignored.contains(&path), "{path} in {ignored:?}");
    }
    let open = status(&night.repo, "??");
    for name in ["history.jsonl", "receipts.jsonl", "latest/summary.json", "latest/summary.md"] {
        let path = format!(".agents/overnight/{name}");
        assert!(open.contains(&path), "{path} in {open:?}");
    }
    // One that somebody wrote over is put right.
    fs::write(night.repo.state(".gitignore"), "").unwrap();
    night.run(&["--full"]).expect(0);
    assert!(night.repo.read("overnight/.gitignore").contains("/staging/"));
}

#[test]
fn a_stash_in_the_middle_of_a_commit_takes_nothing_of_it_along() {
    let repo = TestRepo::new();
    begin(&repo);
    let commit = repo.stopped_before_the_exchange(&edits_everywhere());
    fs::write(repo.root().join("edits.json"), "").unwrap();
    let before: Vec<String> = crate::repo::files(&repo.state("")).into_keys().collect();
    let staged = before.iter().filter(|name| name.starts_with("staging/")).count();
    assert!(staged > 5, "{before:?}");
    git(&repo, &["stash", "-u", "-q"]);
    let after: Vec<String> = crate::repo::files(&repo.state("")).into_keys().collect();
    assert_eq!(after, before);
    commit.go_on().expect(0);
    repo.run(&["tree", "verify"]).expect(0);
    assert_eq!(repo.read("learnings/b.md"), "b, better\n");
}
