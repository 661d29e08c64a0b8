//! The door at the root of a repository: whatever is named may be edited, but for what is git's or another door's.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use ao_tree::{Disk, Door, Holder, Layout, RunLock, UndoScope};

use crate::scenario::{delete, request, undo, write};

const STATE: &str = ".orchestrator/door";
const LOCK: &str = ".orchestrator/door.lock";

fn layout() -> Layout {
    Layout::all_but("repo", STATE, &["dist"]).locked_by(LOCK)
}

fn door(root: &Path) -> Door<Disk> {
    Door::open_root(root, layout()).unwrap()
}

fn git(at: &Path, words: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(at).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        git.env(format!("GIT_{role}_NAME"), "t")
            .env(format!("GIT_{role}_EMAIL"), "t@example.invalid");
    }
    git.args(["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"]).args(words);
    let ran = git.output().unwrap();
    assert!(ran.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A repository with a file, a submodule, a repository inside that it does not know, and the knowledge of a night.
fn repository(place: &Path) -> std::path::PathBuf {
    let other = place.join("other");
    put(&other, "lib.txt", "theirs\n");
    git(&other, &["init", "-q"]);
    git(&other, &["add", "."]);
    git(&other, &["commit", "-qm", "one"]);
    let root = place.join("repo");
    put(&root, "src/main.txt", "main\n");
    git(&root, &["init", "-q"]);
    git(&root, &["submodule", "add", "-q", other.to_str().unwrap(), "sub"]);
    git(&root, &["add", "."]);
    git(&root, &["commit", "-qm", "one"]);
    put(&root, ".agents/learnings/a.md", "a learning\n");
    put(&root, "nested/inner.txt", "inner\n");
    git(&root.join("nested"), &["init", "-q"]);
    put(&root, "dist/made.txt", "made\n");
    put(&root, ".orchestrator/ours.txt", "not the door's\n");
    root
}

/// All files but the door's own.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.symlink_metadata().unwrap().is_dir() {
                if name != STATE {
                    left.push(path);
                }
            } else if name != LOCK {
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

fn edits() -> Vec<ao_tree::Edit> {
    vec![
        write("src/main.txt", "main, better\n"),
        write("src/new/deep.txt", "deep\n"),
        write("top.txt", "top\n"),
        write("sub/lib.txt", "changed in the submodule\n"),
        write("nested/inner.txt", "changed in the repository inside\n"),
        write(".orchestrator/ours.txt", "held like any other\n"),
        delete("src/../src/main.txt"),
        write(".git/config", "no\n"),
        write("sub/.git", "no\n"),
        write("nested/.git/config", "no\n"),
        write("nested/.GIT/hooks/x", "no\n"),
        write(".agents/learnings/a.md", "no\n"),
        write("nested/.agents/learnings/b.md", "no\n"),
        write("dist/made.txt", "no\n"),
        write(".orchestrator/door/history.jsonl", "no\n"),
        write(".orchestrator/door.lock", "no\n"),
    ]
}

const MADE: usize = 6;

// proves: LOOP-06
#[test]
fn at_a_repository_whatever_is_named_changes_and_nothing_of_git() {
    let place = tempfile::tempdir().unwrap();
    let root = repository(place.path());
    let worktree = place.path().join("worktree");
    git(&root, &["worktree", "add", "-q", worktree.to_str().unwrap()]);
    put(&worktree, "nested/inner.txt", "inner\n");
    git(&worktree.join("nested"), &["init", "-q"]);
    put(&worktree, "dist/made.txt", "made\n");
    put(&worktree, ".agents/learnings/a.md", "a learning\n");
    put(&worktree, "sub/lib.txt", "theirs\n");
    for (root, submodule) in [(&root, "sub/.git"), (&worktree, ".git")] {
        let before = files(root);
        assert!(before.contains_key(submodule), "{:?}", before.keys());
        put(root, ".orchestrator/ours.txt", "not the door's\n");
        let before = files(root);
        let door = door(root);
        let outcome = door.apply(request("one", edits())).unwrap();
        assert_eq!(outcome.changes.len(), MADE, "{outcome:#?}");
        assert_eq!(outcome.refused.len(), edits().len() - MADE);
        let mut wanted = before.clone();
        for edit in edits().into_iter().take(MADE) {
            let ao_tree::Action::Write(bytes) = edit.action else { panic!("all of these write") };
            wanted.insert(edit.path, bytes);
        }
        assert_eq!(files(root), wanted);
        undo(&door, None, UndoScope::FromHereOn, "two").unwrap();
        assert_eq!(files(root), before);
        assert!(!root.join("src/new").exists());
        assert!(door.verify().unwrap().damage.is_empty());
        assert_eq!(door.displaced().unwrap(), ao_tree::Displaced::default());
    }
    git(&root, &["status", "--porcelain"]);
}

/// Two doors of one repository that share a lock never work at once.
#[test]
fn doors_that_share_a_lock_keep_each_other_out() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    put(root, ".orchestrator/x", "");
    let holder = Holder {
        process: std::process::id(),
        process_start: ao_tree::process_start(),
        host: "here".to_owned(),
        started_at: "2026-01-02T03:04:05Z".to_owned(),
    };
    let first = layout();
    let second = Layout::all_but("repo", "dreams", &[]).locked_by(&first.lock);
    let held = RunLock::take_file(&root.join(&first.lock), &holder).unwrap();
    assert!(RunLock::take_file(&root.join(&second.lock), &holder).is_err());
    drop(held);
    RunLock::take_file(&root.join(&second.lock), &holder).unwrap();
}
