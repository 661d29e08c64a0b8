//! What was acknowledged is durable: the order of the system calls, as the kernel sees them.

use std::process::Command;

use crate::night::Night;
use crate::repo::{TestRepo, edits_everywhere};

/// The calls of a command that ends well, a line each, with descriptors as paths.
fn calls(repo: &TestRepo, command: &Command) -> Vec<String> {
    let log = repo.root().join("calls");
    let status = Command::new("strace")
        .args([
            "-f",
            "-y",
            "-s",
            "300",
            "-e",
            "trace=openat,mkdir,syncfs,fsync,rename,renameat,renameat2,unlinkat",
            "-o",
        ])
        .arg(&log)
        .arg(command.get_program())
        .args(command.get_args())
        .env("HOME", repo.root())
        .stdout(std::process::Stdio::null())
        .status()
        .expect("strace is not installed: ./test installs it");
    assert!(status.success());
    std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect()
}

/// The first call at or after `from` that has all these words. strace prints a call that another thread interrupts in
/// two lines. The first one has the words, but no closing parenthesis: no word may have one.
#[track_caller]
fn next(calls: &[String], from: usize, words: &[&str]) -> usize {
    let is_done = |line: &str| line.contains("= 0") || line.ends_with("<unfinished ...>");
    let is_it = |line: &String| words.iter().all(|word| line.contains(word)) && is_done(line);
    let found = calls.iter().enumerate().skip(from).find(|(_, line)| is_it(line));
    let Some((at, _)) = found else {
        // The whole log is thousands of lines.
        let is_near = |line: &&String| words.iter().any(|word| line.contains(word));
        let near: Vec<&str> = calls.iter().filter(is_near).map(String::as_str).collect();
        panic!(
            "no {words:?} after line {from}, which is\n{}\nbut\n{}",
            calls[from],
            near.join("\n")
        );
    };
    at
}

// proves: LOOP-13
#[test]
fn the_record_of_a_commit_is_written_aside_synced_renamed_and_its_directory_synced() {
    let repo = TestRepo::new();
    let file = repo.edits(&edits_everywhere());
    let apply = repo.command(&["tree", "apply", &file, "--id", "one"]);
    let calls = calls(&repo, &apply);
    let is_created = |name: &str| {
        let last = calls.iter().rposition(|line| line.contains("O_CREAT") && line.contains(name));
        last.unwrap_or_else(|| panic!("{name} is never created"))
    };
    let written = is_created("\"record.json\"")
        .max(is_created("\"history.jsonl\""))
        .max(is_created("\"marker\""));
    let synced = next(&calls, written, &["syncfs("]);
    let decided = next(&calls, synced, &["rename", "COMMIT-MARKER.one"]);
    let decision_synced = next(&calls, decided, &["fsync(", "overnight>"]);
    let exchanged = next(&calls, decision_synced, &["renameat2(", "RENAME_EXCHANGE", "\"b.md\""]);
    let exchange_synced = next(&calls, exchanged, &["fsync(", "learnings>"]);
    let came_out_synced = next(&calls, exchange_synced, &["fsync(", "slots>"]);
    let recorded = next(&calls, came_out_synced, &["rename", "\"history.jsonl\""]);
    let record_synced = next(&calls, recorded, &["fsync(", "overnight>"]);
    let undecided = next(&calls, record_synced, &["unlinkat(", "COMMIT-MARKER.one"]);
    next(&calls, undecided, &["fsync(", "overnight>"]);
    // Read back by another process.
    let log = repo.run(&["--json", "tree", "log"]).expect(0).json();
    assert_eq!(log["commits"][0]["id"], "one");
}

// proves: LOOP-13
#[test]
fn the_record_of_an_iteration_is_written_aside_synced_renamed_and_its_folder_synced() {
    let night = Night::with_copies();
    let calls = calls(&night.repo, &night.command(&[]));
    let summary = night.summary();
    let run = summary["run_id"].as_str().unwrap();
    let mut at = 0;
    // The folders that it lies in, each by a name that lasts.
    for (folder, above) in [(run, "latest"), ("iterations", run)] {
        let made = next(&calls, at, &["mkdir(", &format!("/{folder}\"")]);
        at = next(&calls, made, &["fsync(", &format!("/{above}>")]);
    }
    for index in 1..=2 {
        let (aside, name) = (format!("/.iter-{index}.json."), format!("/iter-{index}.json\""));
        let is_created = |line: &String| line.contains("O_CREAT") && line.contains(&aside);
        let created = calls.iter().skip(at).position(is_created).unwrap() + at;
        let synced = next(&calls, created, &["fsync(", &aside]);
        let renamed = next(&calls, synced, &["rename", &aside, &name]);
        at = next(&calls, renamed, &["fsync(", "/iterations>"]);
    }
    // All of that before the report, which tells of them.
    next(&calls, at, &["rename", "/summary.json\""]);
}
