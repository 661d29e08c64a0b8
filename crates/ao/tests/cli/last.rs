//! Whether last night happened, and why not.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::night::{Night, learning, ran};

fn last(night: &Night, more: &[&str]) -> (i32, Value) {
    let told = night.repo.run(&[&["--json", "overnight", "last"], more].concat());
    (told.code, told.json())
}

#[track_caller]
fn assert_last(night: &Night, more: &[&str], code: i32, outcome: &str) -> Value {
    let (exit, told) = last(night, more);
    assert_eq!((exit, told["outcome"].as_str().unwrap()), (code, outcome), "{told:#}");
    assert_eq!(told["happened"], code == 0);
    told
}

fn what(told: &Value) -> &str {
    told["what"].as_str().unwrap()
}

#[test]
fn a_night_that_never_was_is_told_with_the_schedule() {
    let night = Night::with_copies();
    let told = assert_last(&night, &[], 1, "no-run");
    assert!(what(&told).contains("no schedule is configured"), "{told}");
    night.configure("dream:\n  scheduler_mode: systemd\n  schedule_at: \"02:30\"\n");
    let told = assert_last(&night, &[], 1, "no-run");
    assert!(what(&told).contains("02:30 by systemd"), "{told}");
    let text = night.repo.run(&["overnight", "last"]).expect(1).stdout;
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn a_night_is_last_night_for_a_while() {
    let night = Night::with_copies();
    night.run(&[]).expect(0);
    let told = assert_last(&night, &[], 0, "done");
    assert!(what(&told).starts_with("2 edits in 1 commit: 1 merged"), "{told}");
    let clock = night.aside.path().join("clock");
    fs::write(&clock, (40 * 3600).to_string()).unwrap();
    let later = |more: &[&str]| {
        let arguments = [&["--json", "overnight", "last"], more].concat();
        ran(night.repo.command(&arguments).env("AO_CLOCK", &clock).spawn().unwrap())
    };
    let told = later(&[]).expect(1).json();
    assert_eq!(told["outcome"], "no-run");
    assert!(what(&told).contains("the newest is "), "{told}");
    later(&["--within", "48h"]).expect(0);
    night.repo.run(&["overnight", "last", "--within", "0s"]).expect(2);
    // A night over an unchanged corpus has happened too.
    night.run(&[]).expect(0);
    night.run(&[]).expect(0);
    let told = assert_last(&night, &[], 0, "done");
    assert!(what(&told).contains("nothing had changed since run"), "{told}");
}

#[test]
fn a_night_that_was_killed_or_went_down_with_the_machine_is_told_apart() {
    let night = Night::with_copies();
    night.held_at("reduce", &[]).signal("KILL");
    let told = assert_last(&night, &[], 1, "killed");
    assert!(what(&told).contains("while the machine went on"), "{told}");

    let night = Night::with_copies();
    let uptime = fs::read_to_string("/proc/uptime").unwrap();
    let uptime: f64 = uptime.split(' ').next().unwrap().parse().unwrap();
    let clock = night.aside.path().join("clock");
    #[expect(clippy::cast_possible_truncation, reason = "seconds since the start of a machine")]
    fs::write(&clock, (-(uptime as i64) - 600).to_string()).unwrap();
    // It began before the machine did.
    night.held(night.command(&[]).env("AO_CLOCK", &clock), "reduce").signal("KILL");
    let told = assert_last(&night, &["--within", "87600h"], 1, "restarted");
    assert!(what(&told).contains("the machine was restarted at 20"), "{told}");
}

#[test]
fn a_night_that_failed_says_why() {
    let night = Night::with_copies();
    night.held_at("reduce", &[]).signal("TERM").expect(1);
    let told = assert_last(&night, &[], 1, "signal");
    assert!(what(&told).contains("ended by SIGTERM"), "{told}");
    night.run_with("hang-reduce", &["--run-timeout", "1s"]).expect(1);
    let told = assert_last(&night, &[], 1, "time");
    assert!(what(&told).contains("its time ended"), "{told}");
    night.run_with("ingest", &[]).expect(1);
    let told = assert_last(&night, &[], 1, "failed");
    assert!(what(&told).contains("INGEST failed"), "{told}");
}

#[test]
fn a_night_that_halted_on_a_regression_did_not_do_its_work() {
    let night = Night::with(30);
    night.harvest_regressions(0, 1);
    night.run(&["--warn-only=false"]).expect(4);
    let told = assert_last(&night, &[], 1, "regression");
    assert!(what(&told).contains("freshness dropped"), "{told}");
}

/// The run itself says `done`.
#[test]
fn a_night_that_had_inputs_and_did_no_work_is_not_called_done() {
    let night = Night::with_copies();
    night.pending(1);
    night.run_with("measure", &[]).expect(0);
    assert_eq!(night.summary()["status"], "done");
    let told = assert_last(&night, &[], 1, "no-work");
    assert_eq!(told["unworked"], serde_json::json!(["8 entries", "1 pending learning"]));
    assert!(what(&told).contains("not done: nothing was done with 8 entries"), "{told}");
    // A source that is not there any more is one that nothing was done with, every night.
    let night = Night::with(3);
    night.harvest_from(1, |_| ("learnings/a.md".into(), learning(70)));
    fs::remove_dir_all(night.aside.path().join("other")).unwrap();
    for _ in 0..2 {
        night.run(&[]).expect(0);
        let told = assert_last(&night, &[], 1, "no-work");
        assert_eq!(told["unworked"], serde_json::json!(["1 repository to harvest"]));
    }
    // One that is empty was read.
    fs::create_dir_all(night.aside.path().join("other/.agents/learnings")).unwrap();
    night.run(&[]).expect(0);
    assert_last(&night, &[], 0, "done");
}

/// There was something to read and nothing to do; then nothing had even changed; and a repository that has
/// nothing has nothing to do either. All three happened.
#[test]
fn a_night_with_nothing_to_do_has_happened() {
    let night = Night::with(3);
    night.run(&[]).expect(0);
    let told = assert_last(&night, &[], 0, "done");
    assert!(
        what(&told).starts_with("3 entries were gone through, and nothing was to do"),
        "{told}"
    );
    std::thread::sleep(std::time::Duration::from_millis(50));
    night.run(&[]).expect(0);
    night.run(&[]).expect(0);
    let told = assert_last(&night, &[], 0, "done");
    assert!(what(&told).starts_with("nothing had changed since run"), "{told}");
    let empty = Night::with(0);
    empty.run(&[]).expect(0);
    let told = assert_last(&empty, &[], 0, "done");
    assert!(what(&told).starts_with("0 entries were gone through"), "{told}");
}

#[test]
fn a_lock_that_is_held_is_told() {
    let night = Night::with_copies();
    let held = night.held_at("reduce", &[]);
    let told = assert_last(&night, &[], 1, "at-work");
    assert!(what(&told).contains(&format!("process {}", held.id())), "{told}");
    held.go_on().expect(0);
    assert_last(&night, &[], 0, "done");
}

/// A receipt that nobody here sealed is no proof.
#[test]
fn a_receipt_without_a_seal_of_this_machine_proves_nothing() {
    let night = Night::with_copies();
    night.run(&[]).expect(0);
    let path = night.repo.state("receipts.jsonl");
    let line = fs::read_to_string(&path).unwrap();
    for other in [("seal", Value::Null), ("key", "0123456789abcdef".into())] {
        let mut made_up: Value = serde_json::from_str(&line).unwrap();
        made_up["number"] = 2.into();
        made_up[other.0] = other.1;
        if made_up["seal"].is_null() {
            made_up.as_object_mut().unwrap().remove("seal");
        }
        fs::write(&path, format!("{line}{made_up}\n")).unwrap();
        assert_last(&night, &[], 1, "doubtful");
    }
    fs::write(&path, &line).unwrap();
    assert_last(&night, &[], 0, "done");
}

/// The disk of the repository is filled while the night is at work; the home is on another one.
#[test]
fn a_night_that_found_the_disk_full_says_so() {
    const SCRIPT: &str = r#"
        mount --make-rprivate / && mount -t tmpfs -o size=4m none "$1/.agents" || exit 99
        cp -r "$1/seed/." "$1/.agents/" && cd "$1" && go="$2"; ao="$3"
        AO_NIGHT_FAULT=wait-reduce AO_NIGHT_GO="$go" "$ao" overnight start --no-keep-awake >/dev/null 2>start.err &
        while [ ! -e "${go%.*}.reduce" ]; do sleep 0.02; done
        dd if=/dev/zero of=.agents/filler bs=4096 2>/dev/null
        : >"$go"
        wait $!; echo "start $?"
        "$ao" --json overnight last >full.json; echo "last $?"
        rm .agents/filler "$go"
        "$ao" overnight start --no-keep-awake >/dev/null 2>&1; echo "next $?"
        cp .agents/overnight/receipts.jsonl . && "$ao" overnight verify >verify.txt; echo "verify $?"
    "#;
    let is_root =
        || Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|it| it.success());
    if !is_root() {
        crate::setup_files::skipped("a disk of its own needs root and mount namespaces");
        return;
    }
    let night = Night::with_copies();
    let root = night.repo.root();
    fs::rename(night.repo.agents(), root.join("seed")).unwrap();
    fs::create_dir(night.repo.agents()).unwrap();
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", SCRIPT, "sh"]).arg(root).arg(night.aside.path().join("go.on"));
    command.arg(env!("CARGO_BIN_EXE_ao"));
    let path = "/usr/sbin:/usr/bin:/sbin:/bin";
    let ended = command.env_clear().env("HOME", root).env("PATH", path).output().unwrap();
    let told = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert_eq!(told, "start 1\nlast 1\nnext 0\nverify 0\n", "{ended:?}");
    let full = crate::night::json_of(&root.join("full.json"));
    assert_eq!(full["outcome"], "disk-full", "{full:#}");
    assert!(what(&full).contains("No space left"), "{full:#}");
    let receipts = fs::read_to_string(root.join("receipts.jsonl")).unwrap();
    let first: Value = serde_json::from_str(receipts.lines().next().unwrap()).unwrap();
    assert_eq!((&first["status"], &first["ended_by"]), (&"failed".into(), &"disk-full".into()));
}
