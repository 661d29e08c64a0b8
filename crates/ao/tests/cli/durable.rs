//! What was acknowledged is durable: the order of the system calls, as the kernel sees them.

use std::process::Command;

use crate::repo::{TestRepo, edits_everywhere};

/// The calls of `ao tree apply`, a line each, with descriptors as paths.
fn calls(repo: &TestRepo) -> Vec<String> {
    let file = repo.edits(&edits_everywhere());
    let log = repo.root().join("calls");
    let status = Command::new("strace")
        .args([
            "-f",
            "-y",
            "-s",
            "300",
            "-e",
            "trace=openat,syncfs,fsync,renameat,renameat2,unlinkat",
            "-o",
        ])
        .arg(&log)
        .arg(env!("CARGO_BIN_EXE_ao"))
        .arg("-C")
        .arg(repo.root())
        .args(["tree", "apply", &file, "--id", "one", "--grace", "0s"])
        .stdout(std::process::Stdio::null())
        .status()
        .expect("strace is not installed: ./test installs it");
    assert!(status.success());
    std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
}

/// The first call at or after `from` that has all these words.
#[track_caller]
fn next(calls: &[String], from: usize, words: &[&str]) -> usize {
    let is_it =
        |line: &String| words.iter().all(|word| line.contains(word)) && line.contains("= 0");
    let found = calls.iter().enumerate().skip(from).find(|(_, line)| is_it(line));
    found.unwrap_or_else(|| panic!("no {words:?} after line {from} of\n{}", calls.join("\n"))).0
}

// proves: LOOP-13
#[test]
fn the_record_of_a_commit_is_written_aside_synced_renamed_and_its_directory_synced() {
    let repo = TestRepo::new();
    let calls = calls(&repo);
    let is_created = |name: &str| {
        let last = calls.iter().rposition(|line| line.contains("O_CREAT") && line.contains(name));
        last.unwrap_or_else(|| panic!("{name} is never created"))
    };
    let written = is_created("\"record.json\"")
        .max(is_created("\"history.jsonl\""))
        .max(is_created("\"marker\""));
    let synced = next(&calls, written, &["syncfs("]);
    let decided = next(&calls, synced, &["rename", "COMMIT-MARKER.one"]);
    let decision_synced = next(&calls, decided, &["fsync(", "overnight>)"]);
    let exchanged =
        next(&calls, decision_synced, &["renameat2(", "RENAME_EXCHANGE", "\"learnings\""]);
    let exchange_synced = next(&calls, exchanged, &["fsync(", ".agents>)"]);
    let recorded = next(&calls, exchange_synced, &["rename", "\"history.jsonl\""]);
    let record_synced = next(&calls, recorded, &["fsync(", "overnight>)"]);
    let undecided = next(&calls, record_synced, &["unlinkat(", "COMMIT-MARKER.one"]);
    next(&calls, undecided, &["fsync(", "overnight>)"]);
    // Read back by another process.
    let log = repo.run(&["--json", "tree", "log"]).expect(0).json();
    assert_eq!(log["commits"][0]["id"], "one");
}
