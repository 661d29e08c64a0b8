//! A disk that fails: the commit fails with it, says so, and leaves a whole tree.

use std::process::{Command, Output};

use crate::repo::{Ran, TestRepo, contents, edits_everywhere};

/// Calls of which each one fails once, and how. A commit needs all that it makes of them: none may fail unseen.
const FAILING: [(&str, &str, &str); 6] = [
    ("fsync", "EIO", "Input/output error"),
    ("fdatasync", "EIO", "Input/output error"),
    ("syncfs", "EIO", "Input/output error"),
    ("renameat", "EIO", "Input/output error"),
    ("renameat2", "ENOSPC", "No space left on device"),
    ("linkat", "EROFS", "Read-only file system"),
];
/// Fewer of them are no commit that lasts.
const FAILED_MIN: usize = 10;

/// A commit of which this call fails; `None` if there are not so many of them.
fn commit(repo: &TestRepo, call: &str, error: &str, number: usize) -> Option<Output> {
    let file = repo.edits(&edits_everywhere());
    let apply = repo.command(&["tree", "apply", &file, "--id", "one"]);
    let log = repo.root().join("calls");
    let output = Command::new("strace")
        .args(["-f", "-qq", "-e", &format!("trace={call}"), "-e"])
        .arg(format!("inject={call}:error={error}:when={number}"))
        .arg("-o")
        .arg(&log)
        .arg(apply.get_program())
        .args(apply.get_args())
        .env("HOME", repo.root())
        .output()
        .expect("strace is not installed: ./test installs it");
    std::fs::read_to_string(log).unwrap().contains("(INJECTED)").then_some(output)
}

// proves: LOOP-22
#[test]
fn a_call_that_the_disk_fails_fails_the_commit_and_the_tree_is_whole() {
    let after = {
        let repo = TestRepo::new();
        repo.apply(&edits_everywhere()).expect(0);
        contents(&repo.tree())
    };
    let mut failed = 0;
    for (call, error, told) in FAILING {
        for number in 1.. {
            let repo = TestRepo::new();
            let before = contents(&repo.tree());
            let Some(output) = commit(&repo, call, error, number) else { break };
            let ran = Ran::of(output);
            let case = format!("{call} {number}: {ran}");
            // What only tidies up after the commit is told, and no failure of it.
            let is_done = ran.code == 0 && ran.stderr.contains("the commit is done");
            assert!([1, 6].contains(&ran.code) || is_done, "{case}");
            assert!(ran.stderr.contains(told), "{case}");
            repo.run(&["tree", "recover"]).expect(0);
            let now = contents(&repo.tree());
            assert!(now == before || now == after, "{case}");
            assert!(!repo.exists("overnight/staging"), "{case}");
            repo.run(&["tree", "verify"]).expect(0);
            failed += 1;
        }
    }
    assert!(failed >= FAILED_MIN, "{failed}");
}
