//! Checks that are commands: run in a cell when a packet or a report is read, and nowhere else.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::cell::{Cells, User, give_to, is_running};
use crate::repo::{Ran, files, wait_until};

pub(crate) const ID: &str = "dream-0d9fa4d5f2e0d7a1";
const V2: &str = include_str!("../../../ao-contract/tests/samples/summary.v2.json");
const SHELF: &str = "overnight/latest/morning-packets";

fn everywhere() -> [Cells; 3] {
    [Cells::new(User::This), Cells::new(User::Ordinary), Cells::tier_b()]
}

fn checks(commands: &[&str]) -> Value {
    commands.iter().map(|command| json!({ "kind": "shell", "command": command })).collect()
}

fn packet(commands: &[&str]) -> Value {
    json!({
        "id": ID, "rank": 1, "title": "Do it", "type": "bug", "severity": "high",
        "confidence": "high", "why_now": "It is so.", "evidence": [], "target_files": [],
        "likely_tests": [], "morning_command": format!("ao overnight packet {ID}"),
        "still_true": checks(commands),
    })
}

/// A report with one packet, in a folder that is there.
fn report_in(folder: &Path, commands: &[&str]) {
    let mut summary: Value = serde_json::from_str(V2).unwrap();
    summary["morning_packets"] = json!([packet(commands)]);
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("summary.json"), summary.to_string()).unwrap();
}

/// The verdict on the one packet of a report.
fn verdict(ran: &Ran) -> Value {
    ran.json()["summary"]["as_read"]["verdicts"][ID].clone()
}

impl Cells {
    /// What `ao overnight packet` says of each of the commands: the word and the reason.
    pub(crate) fn said(&self, commands: &[&str]) -> Vec<(String, String)> {
        let name = format!("{SHELF}/01-it.json");
        self.repo.write(&name, &packet(commands).to_string());
        self.settle();
        let ran = self.ao(&["--json", "overnight", "packet", ID]).expect(0);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let checks = ran.json()["still_true"].as_array().unwrap().clone();
        checks.iter().map(|check| (text(&check["verdict"]), text(&check["why"]))).collect()
    }

    fn words(&self, commands: &[&str]) -> Vec<String> {
        self.said(commands).into_iter().map(|(word, _)| word).collect()
    }
}

// pitfall 21
#[test]
fn a_command_says_yes_or_no_and_anything_else_is_no_answer() {
    for cells in everywhere() {
        let said = cells.said(&[
            "test -f kept.txt",
            "grep -q nothing kept.txt",
            "exit 125",
            "exit 126",
            "no-such-program",
            "kill -9 $$",
            " ",
            "-x",
        ]);
        let [yes, no, done] = ["true", "done", "not-checked"].map(str::to_owned);
        let words: Vec<_> = said.iter().map(|(word, _)| word.clone()).collect();
        let rest = std::iter::repeat_n(done, 5);
        assert_eq!(words, [yes, no.clone(), no].into_iter().chain(rest).collect::<Vec<_>>());
        assert_eq!(said[1].1, "`grep -q nothing kept.txt` ended with 1");
        let why = &said[4].1;
        assert!(why.starts_with("`no-such-program` ended with 127, which is no answer: "), "{why}");
        assert!(why.ends_with("not found"), "{why}");
        assert_eq!(said[5].1, "`kill -9 $$` was ended by signal 9");
        assert_eq!(said[6].1, "the check names no command");
    }
}

/// The report says the same, in all its forms.
#[test]
fn a_report_runs_the_commands_of_its_packets() {
    let cells = Cells::new(User::Ordinary);
    let latest = cells.repo.state("latest");
    for (command, word, line) in [
        ("test -f kept.txt", "still-true", "Checked again just now: still true"),
        ("test ! -f kept.txt", "done", "Already done: `test ! -f kept.txt` ended with 1"),
        ("exit 200", "not-checked", "Not checked again: `exit 200` ended with 200"),
    ] {
        report_in(&latest, &[command]);
        cells.settle();
        let ran = cells.ao(&["--json", "overnight", "report"]).expect(0);
        assert_eq!(verdict(&ran)["verdict"], word, "{ran}");
        let ran = cells.ao(&["overnight", "report"]).expect(0);
        assert!(ran.stdout.contains(line), "{ran}");
    }
}

// proves: RUN-31, RUN-32, RUN-33
#[test]
fn a_command_cannot_write_in_the_repository_or_elsewhere() {
    for cells in everywhere() {
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join("old"), "old\n").unwrap();
        give_to(&cells, elsewhere.path());
        assert!(
            Command::new("git")
                .args(["init", "-q"])
                .arg(cells.repo.root())
                .status()
                .unwrap()
                .success()
        );
        // The first reader makes the file of the lock.
        cells.said(&["true"]);
        let script = format!(
            "echo bad > bad.txt; echo bad >> kept.txt; rm -f kept.txt; mv kept.txt moved; mkdir folder
             ln -s kept.txt link; ln kept.txt linked; chmod 777 kept.txt; touch -d 2001-01-01 kept.txt
             echo bad > .git/hooks/pre-commit; git add . ; git config core.hooksPath /x; rm -f .git/HEAD
             echo bad > .agents/learnings/a.md; rm -rf .agents
             echo bad > {0}/bad; echo bad >> {0}/old; rm -f {0}/old; true",
            elsewhere.path().display()
        );
        cells.repo.write(&format!("{SHELF}/01-it.json"), &packet(&[&script]).to_string());
        cells.settle();
        let before = (files(cells.repo.root()), files(elsewhere.path()));
        assert_eq!(cells.words(&[&script]), ["true"]);
        let after = (files(cells.repo.root()), files(elsewhere.path()));
        let shelf = format!(".agents/{SHELF}/01-it.json");
        for (path, seen) in &before.0 {
            // The test itself has written it once more.
            if *path != shelf {
                assert_eq!(after.0.get(path), Some(seen), "{path}");
            }
        }
        assert_eq!(after.0.len(), before.0.len(), "{:?}", after.0.keys());
        assert_eq!(after.1, before.1);
    }
}

#[test]
fn a_command_reaches_nobody_and_sees_no_secret() {
    for cells in everywhere() {
        let cells = cells.variable("API_TOKEN", "hunter2");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let connect =
            format!("import socket; socket.create_connection((\"127.0.0.1\", {port}), 2)");
        let words = cells.words(&[
            &format!("python3 -c '{connect}'"),
            "cat .ssh/id",
            "ls -A .agents/overnight | grep .",
            "test -n \"$API_TOKEN\"",
            "test \"$HOME\" = \"$(pwd)\"",
            "cat kept.txt && command -v python3 && test -n \"$AO_CELL\"",
        ]);
        assert_eq!(words, ["done", "done", "done", "done", "done", "true"]);
        let nobody = listener.accept().unwrap_err();
        assert_eq!(nobody.kind(), std::io::ErrorKind::WouldBlock);
        // Where there is no cell, somebody comes.
        assert!(Command::new("python3").args(["-c", &connect]).status().unwrap().success());
        listener.accept().unwrap();
    }
}

/// What a command complains about is text from anywhere.
#[test]
fn a_complaint_is_one_line_without_secrets_and_colours() {
    let cells = Cells::new(User::This);
    let key = format!("ghp_{}", "a1B2".repeat(9));
    let said = cells.said(&[
        "printf '\\n\\033[31mred\\033[0m\\nmore\\n' >&2; exit 4",
        &format!("k=$(echo {}_{}); echo \"token $k\" >&2; exit 5", &key[..3], &key[4..]),
    ]);
    let [(_, red), (_, secret)] = &said[..] else { panic!("{said:?}") };
    assert!(red.ends_with("ended with 4: \\u{1b}[31mred\\u{1b}[0m"), "{red}");
    assert!(!red.contains('\u{1b}'), "{red}");
    assert!(secret.contains("ended with 5: (left out: ") && !secret.contains(&key), "{secret}");
}

#[test]
fn a_command_that_says_too_much_or_starts_too_many_is_ended() {
    for cells in everywhere() {
        let said = cells.said(&[
            "head -c 100000000 /dev/zero",
            "head -c 1000 /dev/zero",
            "i=0; while test $i -lt 600; do sleep 4 & i=$((i+1)); done; wait",
            "python3 -c 'bytearray(3 * 2 ** 30)'",
            "python3 -c 'bytearray(2 ** 20)'",
        ]);
        assert_eq!(said[0].0, "not-checked", "{said:?}");
        assert!(said[0].1.ends_with("said too much and was ended"), "{said:?}");
        assert_eq!(said[1].0, "true", "{said:?}");
        // The kernel's own bound is an error to the command, which says so.
        assert!(said[2].1.contains("too many processes") || said[2].1.contains("fork"), "{said:?}");
        assert!(said[3].0 != "true" && said[4].0 == "true", "{said:?}");
    }
}

/// What is left out is said, and nothing of what hung is left.
#[test]
fn commands_that_hang_are_ended_and_have_a_time_together() {
    let cells = Cells::new(User::Ordinary);
    let naps: Vec<String> =
        (0..3).map(|nth| format!("sleep 86{}{nth}", std::process::id())).collect();
    let mut commands: Vec<&str> = naps.iter().map(String::as_str).collect();
    commands.push("true");
    let said = cells.said(&commands);
    assert_eq!(said[0].0, "not-checked", "{said:?}");
    assert_eq!(said[0].1, format!("`{}` did not end within 5 s", naps[0]));
    assert!(said[2].1.contains("did not end within"), "{said:?}");
    assert_eq!(
        said[3],
        ("not-checked".into(), "the commands before it took all the 15 s that there are".into())
    );
    for nap in &naps {
        assert!(!is_running(nap.trim_start_matches("sleep ")), "{nap}");
    }
}

#[test]
fn so_many_commands_are_run_and_no_more() {
    let cells = Cells::new(User::This);
    let some: Vec<String> = (0..13).map(|nth| format!("test {nth} -ge 0")).collect();
    let mut commands: Vec<&str> = some.iter().map(String::as_str).collect();
    // The same command is one.
    commands.extend([some[0].as_str(); 5]);
    let said = cells.said(&commands);
    let no = said.iter().position(|(word, _)| word != "true");
    assert_eq!(no, Some(12), "{said:?}");
    assert_eq!(said[12].1, "no more than 12 commands are run for one report");
    assert!(said[13..].iter().all(|(word, _)| word == "true"), "{said:?}");
    let long = format!("true {}", "x".repeat(4096));
    assert_eq!(cells.words(&[&long, "true \0"]), ["not-checked", "not-checked"]);
}

/// A file from anywhere may say anything.
#[test]
fn a_report_from_elsewhere_runs_nothing() {
    let cells = Cells::new(User::This);
    let aside = tempfile::tempdir().unwrap();
    report_in(aside.path(), &["test -f kept.txt"]);
    report_in(&cells.path("inside"), &["test -f kept.txt"]);
    std::os::unix::fs::symlink(aside.path(), cells.path("led-away")).unwrap();
    let report = |from: &Path| {
        verdict(
            &cells
                .ao(&["--json", "overnight", "report", "--from", from.to_str().unwrap()])
                .expect(0),
        )
    };
    let outside = "its command is not run: the report lies outside of this repository and of its report folder";
    assert_eq!(report(Path::new("inside"))["verdict"], "still-true");
    for from in [aside.path(), Path::new("led-away")] {
        assert_eq!(report(from), json!({ "verdict": "not-checked", "why": outside }));
    }
    // The folder that is configured is this repository's, wherever it lies.
    fs::create_dir(cells.path(".agentops")).unwrap();
    let config = format!("dream:\n  report_dir: {}\n", aside.path().display());
    fs::write(cells.path(".agentops/config.yaml"), config).unwrap();
    assert_eq!(report(aside.path())["verdict"], "still-true");

    let mut alone = cells.command(&["--json", "overnight", "report", "--from"]);
    let ran =
        Ran::of(alone.arg(aside.path()).current_dir(aside.path()).output().unwrap()).expect(0);
    let why = "its command is not run: the report is read without its repository";
    assert_eq!(verdict(&ran), json!({ "verdict": "not-checked", "why": why }));

    fs::remove_dir_all(cells.path(".agentops")).unwrap();
    fs::create_dir(aside.path().join("morning-packets")).unwrap();
    fs::write(aside.path().join("morning-packets/01.json"), packet(&["true"]).to_string()).unwrap();
    let named =
        ["--json", "overnight", "packet", ID, "--output-dir", aside.path().to_str().unwrap()];
    let ran = cells.ao(&named).expect(0);
    assert_eq!(
        (&ran.json()["verdict"], &ran.json()["why"]),
        (&json!("not-checked"), &json!(outside))
    );
}

#[test]
fn where_there_is_no_cell_a_command_is_not_run() {
    let nothing = Cells::new(User::Ordinary).variable("AO_CELL_TEST_TIER", "D");
    let said = nothing.said(&["true", "false"]);
    for (word, why) in said {
        assert_eq!(word, "not-checked");
        assert!(why.starts_with("there is no cell for its command: this machine"), "{why}");
    }
    let broken = Cells::new(User::This).variable("AO_CELL_TEST_WITHOUT", "read-only");
    let (word, why) = broken.said(&["true"]).remove(0);
    assert!(word == "not-checked" && why.contains("the cell does not hold"), "{why}");
}

/// `ao` in a cell holds no other program, and says so.
#[test]
fn in_a_cell_there_is_no_cell() {
    for cells in everywhere() {
        report_in(&cells.path("inside"), &["true"]);
        cells.settle();
        let ao = crate::cell::binary_for_all().to_str().unwrap();
        let inner =
            ["-q", "guard", "run", "--", ao, "--json", "overnight", "report", "--from", "inside"];
        let ran = cells.ao(&inner).expect(0);
        let why =
            "there is no cell for its command: this is a cell already, and a cell has none in it";
        assert_eq!(verdict(&ran), json!({ "verdict": "not-checked", "why": why }));
        // A night would have to write.
        let before = cells.repo.everything();
        let ran =
            cells.ao(&["-q", "guard", "run", "--", ao, "overnight", "start", "--no-keep-awake"]);
        assert_eq!(ran.code, 6, "{ran}");
        assert!(ran.stderr.contains("this is a cell: a night writes in .agents/"), "{ran}");
        assert_eq!(cells.repo.everything(), before);
    }
}

/// The night itself drops what a command says is done, and tells what could not be asked.
#[test]
fn a_night_asks_before_it_makes_a_packet() {
    let cells = Cells::new(User::Ordinary);
    let item = |title: &str, command: &str| {
        json!({ "title": title, "type": "bug", "severity": "high", "target_repo": "*",
            "still_true": [{ "kind": "shell", "command": command }] })
    };
    let items = [
        item("Still there", "test -f kept.txt"),
        item("Was done", "test ! -f kept.txt; exit 3"),
        item("Nobody knows", "no-such-program"),
    ];
    cells.repo.write("rpi/next-work.jsonl", &format!("{}\n", json!({ "items": items })));
    cells.settle();
    let start = ["--json", "overnight", "start", "--no-keep-awake", "--max-iterations", "1"];
    let ran = cells.ao(&start).expect(0);
    let summary = &ran.json()["summary"];
    let packets = summary["morning_packets"].as_array().unwrap().clone();
    let titles: Vec<_> = packets.iter().map(|packet| packet["title"].as_str().unwrap()).collect();
    assert!(titles.contains(&"Still there") && titles.contains(&"Nobody knows"), "{ran}");
    assert!(!titles.contains(&"Was done"), "{ran}");
    let index = fs::read_to_string(cells.repo.state("latest/morning-packets/index.json")).unwrap();
    assert!(index.contains("`test ! -f kept.txt; exit 3` ended with 3"), "{index}");
    let steps = summary["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == "morning-packets").unwrap();
    let note = step["note"].as_str().unwrap();
    assert!(
        note.contains("shell checks without an answer: 1, the first since `no-such-program`"),
        "{note}"
    );
}

/// A run that is ended does not wait for a command, and takes it along.
#[test]
fn a_night_that_is_ended_takes_its_commands_along() {
    for cells in everywhere() {
        let nap = format!("88{}", cells.repo.root().metadata().unwrap().ino());
        let item = json!({ "title": "Hangs", "type": "bug", "severity": "high", "target_repo": "*",
            "still_true": checks(&[&format!("sleep {nap}")]) });
        cells.repo.write("rpi/next-work.jsonl", &format!("{}\n", json!({ "items": [item] })));
        cells.settle();
        let night =
            cells.command(&["--json", "overnight", "start", "--no-keep-awake"]).spawn().unwrap();
        wait_until("the command runs", || is_running(&nap));
        let id = nix::unistd::Pid::from_raw(night.id().cast_signed());
        nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
        let ran = Ran::of(night.wait_with_output().unwrap());
        assert_eq!(ran.json()["summary"]["status"], "failed", "{ran}");
        wait_until("the command is gone", || !is_running(&nap));
    }
}
