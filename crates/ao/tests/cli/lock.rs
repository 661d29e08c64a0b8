//! One run at a time, and the kernel decides.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::night::Night;
use crate::repo::{Ran, TestRepo, edits_everywhere, wait_until, write};

// proves: RUN-15, LOOP-20
#[test]
fn a_second_run_is_refused_at_once_and_touches_nothing() {
    let repo = TestRepo::new();
    let first = repo.stopped_before_the_exchange(&edits_everywhere());
    let process = first.child.id();
    let before = repo.everything();
    for arguments in
        [&["tree", "undo"][..], &["tree", "recover"], &["tree", "recover", "--set-aside"]]
    {
        let refused = repo.run(arguments).expect(75);
        assert!(refused.stderr.contains(&format!("process {process} since 20")), "{refused}");
    }
    let file = repo.root().join("second.json");
    fs::write(
        &file,
        json!({"schema_version": 1, "why": "x", "edits": [write("learnings/a.md", "x")]})
            .to_string(),
    )
    .unwrap();
    repo.run(&["tree", "apply", file.to_str().unwrap()]).expect(75);
    // Not even the first one's staging, which a recovery would have removed.
    assert_eq!(repo.everything(), before);
    first.go_on().expect(0);
    repo.run(&["tree", "apply", file.to_str().unwrap(), "--grace", "0s"]).expect(0);
}

// proves: RUN-17
#[test]
fn the_first_line_of_the_lock_is_the_process_alone() {
    let repo = TestRepo::new();
    let run = repo.stopped_before_the_exchange(&edits_everywhere());
    let content = repo.read("overnight/run.lock");
    let lines: Vec<&str> = content.lines().collect();
    assert_eq!(lines[0], run.child.id().to_string());
    assert_eq!(lines.len(), 4, "process, its start, host, since when: {content}");
    assert!(lines[1].parse::<u64>().unwrap() > 0);
    assert!(lines[3].ends_with('Z'));
    run.go_on().expect(0);
}

// proves: RUN-16, RUN-17
#[test]
fn a_killed_run_holds_nothing_and_the_next_one_says_so() {
    let repo = TestRepo::new();
    let killed = repo.stopped_before_the_exchange(&edits_everywhere());
    let process = killed.child.id();
    killed.kill();
    let next = repo.apply(&json!([write("learnings/a.md", "x\n")])).expect(0);
    let notes = next.json()["notes"].to_string();
    assert!(notes.contains(&format!("left behind by process {process}")), "{notes}");
    assert!(notes.contains("removed what was never committed: stopped"), "{notes}");
    assert!(!repo.exists("overnight/staging"));
}

// proves: RUN-17
#[test]
fn a_lock_that_nobody_holds_is_taken_whatever_it_says() {
    let repo = TestRepo::new();
    // A live process, a moment ago: but the kernel knows of no lock.
    let claim = format!("{}\n1\nhost\n2026-04-01T00:00:00Z\n", std::process::id());
    repo.write("overnight/run.lock", &claim);
    repo.apply(&json!([write("learnings/a.md", "x\n")])).expect(0);
    repo.write("overnight/run.lock", "\u{1b}[31mnot a pid");
    let taken = repo.apply(&json!([write("learnings/a.md", "y\n")])).expect(0);
    assert!(!taken.stderr.contains('\u{1b}'), "{taken}");
}

// proves: RUN-17
#[test]
fn a_held_lock_is_not_taken_however_old_it_is() {
    let repo = TestRepo::new();
    let run = repo.stopped_before_the_exchange(&edits_everywhere());
    let day_ago = std::time::SystemTime::now() - std::time::Duration::from_hours(24);
    let lock = fs::File::options().write(true).open(repo.state("run.lock")).unwrap();
    lock.set_modified(day_ago).unwrap();
    repo.run(&["tree", "recover"]).expect(75);
    run.go_on().expect(0);
}

/// Runs `tree apply` where the kernel answers every lock with "not here".
fn without_kernel_locks(repo: &TestRepo) -> i32 {
    let file = repo.edits(&json!([write("learnings/a.md", "no locks here\n")]));
    let status = std::process::Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-e",
            "trace=flock",
            "-e",
            "inject=flock:error=ENOLCK",
            "-o",
            "/dev/null",
        ])
        .arg(env!("CARGO_BIN_EXE_ao"))
        .arg("-C")
        .arg(repo.root())
        .args(["tree", "apply", &file, "--grace", "0s"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .expect("strace is not installed: ./test installs it");
    status.code().unwrap()
}

// proves: RUN-17
#[test]
fn without_kernel_locks_the_process_and_twelve_hours_decide() {
    let repo = TestRepo::new();
    let claim = |process: &str, hours: u64| {
        repo.write("overnight/run.lock", &format!("{process}\n1\nhost\n2026-04-01T00:00:00Z\n"));
        let lock = fs::File::options().write(true).open(repo.state("run.lock")).unwrap();
        lock.set_modified(std::time::SystemTime::now() - std::time::Duration::from_hours(hours))
            .unwrap();
    };
    let living = std::process::id().to_string();
    let mut child = std::process::Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let dead = child.id().to_string();
    claim(&living, 1);
    assert_eq!(without_kernel_locks(&repo), 75);
    claim(&living, 13);
    assert_eq!(without_kernel_locks(&repo), 75);
    claim(&dead, 1);
    assert_eq!(without_kernel_locks(&repo), 75);
    claim(&dead, 13);
    assert_eq!(without_kernel_locks(&repo), 0);
    assert_eq!(repo.read("learnings/a.md"), "no locks here\n");
    // Given back at the end, so the next one does not wait twelve hours.
    repo.write("learnings/a.md", "before\n");
    assert_eq!(without_kernel_locks(&repo), 0);
}

/// A run that has process ids of its own, as in a container: whether it lives is the kernel's word and no id's.
// proves: RUN-16
#[test]
fn a_run_in_another_pid_namespace_lives_until_it_ends() {
    let night = Night::with_copies();
    let start = night.command(&[]);
    let mut command = Command::new("unshare");
    command.args(["-r", "--pid", "--fork", "--mount-proc", "--kill-child"]);
    command.arg(start.get_program()).args(start.get_args());
    command.env_clear().envs(start.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let has_namespaces = Command::new("unshare").args(["-r", "--pid", "--fork", "true"]).status();
    if !has_namespaces.is_ok_and(|ended| ended.success()) {
        crate::setup_files::skipped("a run with process ids of its own needs namespaces");
        return;
    }
    let held = night.held(&mut command, "reduce");
    let inside: u32 =
        night.repo.read("overnight/run.lock").lines().next().unwrap().parse().unwrap();
    assert_ne!(inside, held.id());
    let status = night.repo.run(&["--json", "overnight", "status"]).expect(0).json();
    assert_eq!(status["is_running"], true, "{status:#}");
    let verified = night.repo.run(&["tree", "verify"]).expect(0);
    assert!(verified.stderr.contains(&format!("process {inside}")), "{verified}");
    assert_eq!(night.repo.run(&["--json", "overnight", "last"]).json()["outcome"], "at-work");
    night.repo.run(&["tree", "recover"]).expect(75);
    held.signal("KILL");
    let status = night.repo.run(&["--json", "overnight", "status"]).expect(0).json();
    assert_eq!(status["is_running"], false, "{status:#}");
    night.run(&[]).expect(0);
}

/// To ask whether a run lives takes nothing from one that starts.
#[test]
fn who_asks_whether_a_run_lives_refuses_none() {
    let repo = TestRepo::new();
    repo.apply(&json!([write("learnings/a.md", "x\n")])).expect(0);
    let asking = fs::File::open(repo.state("run.alive")).unwrap();
    asking.lock_shared().unwrap();
    let file = repo.edits(&json!([write("learnings/a.md", "y\n")]));
    let child = repo.command(&["tree", "apply", &file, "--grace", "0s"]).spawn().unwrap();
    let id = child.id().to_string();
    wait_until("the run has its lock", || {
        repo.read("overnight/run.lock").lines().next() == Some(id.as_str())
    });
    drop(asking);
    Ran::of(child.wait_with_output().unwrap()).expect(0);
    assert_eq!(repo.read("learnings/a.md"), "y\n");
}
