//! What a machine does to a program: a full disk under its output, a clock beyond all years, names that cannot be held,
//! files that a killed process left.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::night::{Night, learning};
use crate::receipts::nights;
use crate::repo::{Ran, TestRepo, edits_everywhere};

/// Commands that answer on standard output.
const ANSWERS: [&[&str]; 15] = [
    &["--help"],
    &["--version"],
    &["search", "checksum"],
    &["lookup", "checksum"],
    &["show", "learning-1"],
    &["knowledge", "brief", "--goal", "checksum"],
    &["metrics", "health"],
    &["overnight", "report"],
    &["overnight", "last"],
    &["overnight", "status"],
    &["overnight", "verify"],
    &["overnight", "log"],
    &["tree", "log"],
    &["tree", "verify"],
    &["schema"],
];

#[test]
fn an_answer_that_could_not_be_written_is_no_success() {
    let night = nights(1);
    for arguments in ANSWERS {
        for more in [&[][..], &["--json"]] {
            if !more.is_empty() && arguments[0].starts_with("--") {
                continue;
            }
            let all = [more, arguments].concat();
            night.repo.run(&all).expect(0);
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            let mut command = night.repo.command(&all);
            let output = command.stdout(full).output().unwrap();
            let ran = Ran::of(output);
            assert_eq!(ran.code, 1, "{all:?}: {ran}");
            assert!(ran.stderr.contains("No space left"), "{all:?}: {ran}");
        }
    }
    // Whoever has read enough closes the pipe.
    let mut command = night.repo.command(&["schema", "summary"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(Ran::of(command.stdout(writer).output().unwrap()).code, 0);
}

/// What cannot be written is not what was asked for wrongly.
#[test]
fn an_output_folder_without_room_is_a_failure_and_no_usage_error() {
    const SCRIPT: &str = r#"
        mount --make-rprivate / && mount -t tmpfs -o "$4" none "$1" || exit 99
        dd if=/dev/zero of="$1/filler" bs=4096 2>/dev/null
        exec "$2" -C "$3" overnight start --no-keep-awake --output-dir "$1/report"
    "#;
    let has_mounts = Command::new("unshare").args(["-m", "true"]).status();
    if !has_mounts.is_ok_and(|ended| ended.success()) {
        crate::setup_files::skipped("a disk of its own needs root and mount namespaces");
        return;
    }
    // No room for a folder, and none for what is in the first file.
    for (room, code) in [("size=64k,nr_inodes=2", 1), ("size=16k", 6)] {
        let night = Night::with_copies();
        let out = night.aside.path().join("out");
        fs::create_dir(&out).unwrap();
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", SCRIPT, "sh"]).arg(&out);
        command.arg(env!("CARGO_BIN_EXE_ao")).arg(night.repo.root()).arg(room);
        command.env_clear().env("HOME", night.repo.root()).env("PATH", "/usr/sbin:/usr/bin:/bin");
        let ran = Ran::of(command.output().unwrap());
        assert_eq!(ran.code, code, "{room}: {ran}");
        assert!(ran.stderr.contains("No space left") && ran.stderr.contains("hint:"), "{ran}");
    }
}

/// A library that moves the clock of a program to a second of its own.
fn clock_library(folder: &Path) -> std::path::PathBuf {
    const SOURCE: &str = "
        #include <stdlib.h>
        #include <sys/syscall.h>
        #include <time.h>
        #include <unistd.h>
        int clock_gettime(clockid_t id, struct timespec *at) {
            int done = syscall(SYS_clock_gettime, id, at);
            if (done == 0 && id == CLOCK_REALTIME) at->tv_sec = atoll(getenv(\"SECOND\"));
            return done;
        }";
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    fs::write(&source, SOURCE).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source);
    assert!(compiler.status().expect("cc is not installed: ./test installs it").success());
    library
}

#[test]
fn a_clock_beyond_the_year_9999_stops_nothing() {
    let night = Night::with_copies();
    let library = clock_library(night.aside.path());
    // The last second of 9999, the first after it, and ones that are far from all years.
    for second in ["253402300799", "253402300800", "9000000000000", "-400000000000"] {
        for arguments in [
            &["overnight", "start", "--no-keep-awake", "--full"][..],
            &["overnight", "last"],
            &["overnight", "plan"],
            &["search", "checksum"],
            &["lookup", "checksum"],
            &["defrag", "--dry-run"],
            &["tree", "log"],
        ] {
            let mut command = night.repo.command(arguments);
            command.env("LD_PRELOAD", &library).env("SECOND", second);
            let ran = Ran::of(command.output().unwrap());
            assert!(!ran.stderr.contains("panicked"), "{second} {arguments:?}: {ran}");
            assert!([0, 1].contains(&ran.code), "{second} {arguments:?}: {ran}");
        }
    }
}

// proves: RUN-30
#[test]
fn what_killed_processes_left_of_files_goes_with_the_next_start() {
    let night = Night::with_copies();
    night.run(&[]).expect(0);
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let (dead, living) = (child.id(), std::process::id());
    let state = |name: &str| night.repo.state(name);
    let gone = [
        state(&format!(".status.json.{dead}.new")),
        state(&format!("latest/.summary.json.{dead}.new")),
        state(&format!("docs/.run.md.{dead}.new")),
        state(&format!("cassettes/.a.night.json.{dead}.new")),
    ];
    let stay = [
        state(&format!(".status.json.{living}.new")),
        state(&format!("latest/notes.{dead}.new")),
        state(".notes.new"),
        state(&format!(".held.{dead}.new")),
    ];
    for path in gone.iter().chain(&stay) {
        fs::write(path, "half of").unwrap();
    }
    // A process that is alive in a container of its own holds the lock of its file.
    let held = fs::File::open(&stay[3]).unwrap();
    held.lock().unwrap();
    night.run(&["--full"]).expect(0);
    for path in &gone {
        assert!(!path.exists(), "{}", path.display());
    }
    for path in &stay {
        assert!(path.exists(), "{}", path.display());
    }
}

/// What no commit touches is named by the night that left it.
#[test]
fn twins_and_hard_links_are_named_in_the_report() {
    let night = Night::with_copies();
    let learnings = night.repo.agents().join("learnings");
    fs::write(learnings.join("Twin.md"), learning(30)).unwrap();
    fs::write(learnings.join("twin.md"), learning(31)).unwrap();
    fs::hard_link(learnings.join("2026-03-01-case-3.md"), learnings.join("linked.md")).unwrap();
    let summary = night.run(&[]).expect(0).json()["summary"].clone();
    let told = summary["left_alone"].to_string();
    for name in ["Twin.md", "twin.md", "linked.md", "case-3.md"] {
        assert!(told.contains(name), "{name} in {told}");
        assert!(night.markdown().contains(name), "{name} in {}", night.markdown());
    }
}

/// One commit is one thing: finished, or never committed.
#[test]
fn recovery_says_one_thing_of_one_commit() {
    let mut finished = 0;
    for number in 1..20 {
        let repo = TestRepo::new();
        let file = repo.edits(&edits_everywhere());
        let apply = repo.command(&["tree", "apply", &file, "--id", "one", "--grace", "0s"]);
        let mut strace = Command::new("strace");
        strace.args(["-f", "-qq", "-e", "trace=renameat2,renameat", "-e"]);
        strace.arg(format!("inject=renameat2,renameat:signal=KILL:when={number}"));
        strace.args(["-o", "/dev/null"]).arg(apply.get_program()).args(apply.get_args());
        let ended = strace.env("HOME", repo.root()).output().unwrap();
        if ended.status.success() {
            break;
        }
        let told = repo.run(&["--json", "tree", "recover"]).expect(0).json();
        let (done, removed) = (&told["recovered"]["finished"], &told["recovered"]["removed"]);
        let notes = told["notes"].to_string();
        if done == "one" {
            finished += 1;
            assert!(!removed.to_string().contains("one"), "{told:#}");
            assert!(!notes.contains("never committed"), "{notes}");
        }
    }
    assert!(finished > 0);
}
