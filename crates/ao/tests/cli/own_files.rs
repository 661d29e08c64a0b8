//! A pipe, a device, a folder or a socket in the place of a file of ours: a clone can come with a link to anything, and
//! whoever shares the machine can put the rest there. Nobody is held up by it, and nobody reads it without end.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::stat::{Mode, SFlag, mknod};
use serde_json::json;
use tempfile::TempDir;

use crate::is_sweep;
use crate::night::{Night, learning};
use crate::repo::{Ran, TestRepo, files, write};

/// Longer than any of these commands takes on a busy machine; one that is held up never ends.
const ENDS_WITHIN: Duration = Duration::from_mins(2);
/// What a process may map, in KiB: enough for each, and little beside what `/dev/zero` has.
const MAPPED_KIB: &str = "8000000";

#[derive(Debug, Clone, Copy)]
enum Odd {
    Pipe,
    Zero,
    Terminal,
    Folder,
    Socket,
}

const ODD: [Odd; 5] = [Odd::Pipe, Odd::Zero, Odd::Terminal, Odd::Folder, Odd::Socket];

impl Odd {
    fn put(self, path: &Path) {
        if path.symlink_metadata().is_ok() {
            fs::remove_file(path).unwrap();
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match self {
            Self::Pipe => mknod(path, SFlag::S_IFIFO, Mode::S_IRWXU, 0).unwrap(),
            Self::Socket => mknod(path, SFlag::S_IFSOCK, Mode::S_IRWXU, 0).unwrap(),
            Self::Zero => symlink("/dev/zero", path).unwrap(),
            // Its master's side: whoever reads it waits for what is typed.
            Self::Terminal => symlink("/dev/ptmx", path).unwrap(),
            Self::Folder => fs::create_dir(path).unwrap(),
        }
    }
}

/// Stands for the run that there was.
const RUN: &str = "RUN";

/// Each reads or writes files of ours; the last ones change the tree.
const COMMANDS: [&[&str]; 21] = [
    &["overnight", "report"],
    &["overnight", "last"],
    &["overnight", "status"],
    &["overnight", "verify"],
    &["overnight", "log"],
    &["overnight", "plan"],
    &["overnight", "replay", RUN],
    &["overnight", "setup", "--dry-run"],
    &["overnight", "start", "--dry-run", "--no-keep-awake"],
    &["tree", "verify"],
    &["tree", "log"],
    &["search", "checksum"],
    &["lookup", "checksum"],
    &["knowledge", "brief", "--goal", "checksum"],
    &["metrics", "health"],
    &["rule"],
    &["trust"],
    &["guard", "check", "src/a.rs"],
    &["vault", "refs"],
    &["tree", "recover"],
    &["overnight", "start", "--no-keep-awake"],
];

/// Names that no night of these tests writes, and that are read all the same.
const OTHERS: [&str; 12] = [
    ".agents/overnight/status.json",
    ".agents/overnight/settled.json",
    ".agents/overnight/warn-only-budget.json",
    ".agents/overnight/deferred-runners.json",
    ".agents/overnight/notifications.jsonl",
    ".agents/overnight/latest/briefing.json",
    ".agents/ao/transcripts.json",
    ".agentops/config.yaml",
    ".agentops/sacred-scopes.yaml",
    ".config/ao/identity.txt",
    ".local/share/ao/vault.age",
    ".local/share/ao/vault.lock",
];

/// A repository, its home in it, in which everything has been done once.
fn used() -> Night {
    let night = Night::with_copies();
    night.run(&[]).expect(0);
    for arguments in [&["lookup", "checksum"][..], &["search", "checksum"]] {
        night.repo.run(arguments).expect(0);
    }
    night
}

fn own_files(repo: &TestRepo) -> Vec<PathBuf> {
    let is_own = |path: &String| {
        let folders = [".agents/overnight/", ".agents/ao/", ".agents/rpi/", ".local/"];
        folders.iter().any(|folder| path.starts_with(folder))
    };
    let found = files(repo.root()).into_keys().filter(is_own);
    let mut all: Vec<String> = found.chain(OTHERS.map(str::to_owned)).collect();
    all.sort();
    all.dedup();
    all.into_iter().map(PathBuf::from).collect()
}

fn copy_of(repo: &TestRepo) -> TestRepo {
    let copy = TestRepo { dir: TempDir::new().unwrap() };
    let from = format!("{}/.", repo.root().display());
    let copied = Command::new("cp").args(["-a", &from]).arg(copy.root()).status().unwrap();
    assert!(copied.success());
    copy
}

/// Runs a command that may not take for ever, nor all memory.
#[track_caller]
fn ends(repo: &TestRepo, arguments: &[&str], why: &str) -> Ran {
    let ao = repo.command(arguments);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {MAPPED_KIB}; exec \"$0\" \"$@\"")]);
    shell.arg(ao.get_program()).args(ao.get_args());
    shell.env_clear().envs(ao.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let out = tempfile::tempfile().unwrap();
    let err = tempfile::tempfile().unwrap();
    shell.stdin(std::process::Stdio::null());
    shell.stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap());
    let mut child = shell.spawn().unwrap();
    let since = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if since.elapsed() > ENDS_WITHIN {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("{why}: `ao {}` does not end", arguments.join(" "));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let [stdout, stderr] = [out, err].map(|mut file| {
        use std::io::{Read, Seek};
        let mut text = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    });
    let ran = Ran { code: status.code().unwrap_or(-1), stdout, stderr };
    let is_known = [0, 1, 2, 5, 6, 64, 65, 75].contains(&ran.code);
    assert!(is_known && !ran.stderr.contains("panicked"), "{why}: {arguments:?}: {ran}");
    if ran.code != 0 {
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!told.trim().is_empty(), "{why}: {arguments:?} says nothing: {ran}");
    }
    ran
}

#[test]
fn nobody_is_held_up_by_what_stands_in_the_place_of_a_file_of_ours() {
    let used = used();
    let run = used.summary()["run_id"].as_str().unwrap().to_owned();
    let run = run.as_str();
    let files = own_files(&used.repo);
    assert!(files.len() > 30, "{files:?}");
    let mut cases: Vec<(&PathBuf, Odd)> = Vec::new();
    for (nth, file) in files.iter().enumerate() {
        let some = [ODD[nth % ODD.len()]];
        let kinds = if is_sweep() { &ODD[..] } else { &some };
        cases.extend(kinds.iter().map(|kind| (file, *kind)));
    }
    for (file, odd) in cases {
        let repo = copy_of(&used.repo);
        odd.put(&repo.root().join(file));
        for arguments in COMMANDS {
            let arguments = arguments.iter().map(|word| if *word == RUN { &run } else { word });
            let arguments: Vec<&str> = arguments.copied().collect();
            ends(&repo, &arguments, &format!("{odd:?} at {}", file.display()));
        }
    }
}

/// The places that once hung a command or ate memory, each with the command that did, and what is said now.
#[test]
fn what_is_no_plain_file_is_named() {
    let night = Night::with_copies();
    let start = ["overnight", "start", "--no-keep-awake"];
    let apply = night.repo.edits(&json!([write("learnings/n.md", &learning(9))]));
    let told: [(&str, Odd, &[&str], i32, &str); 7] = [
        ("run.lock", Odd::Pipe, &start, 6, "run.lock"),
        ("run.alive", Odd::Zero, &start, 6, "run.alive"),
        ("commit.lock", Odd::Pipe, &["tree", "apply", &apply], 6, "commit.lock"),
        ("warn-only-budget.json", Odd::Zero, &start, 6, "not a plain file"),
        ("warn-only-budget.json", Odd::Pipe, &start, 6, "not a plain file"),
        ("history.jsonl", Odd::Zero, &["tree", "log"], 1, "history.jsonl"),
        ("receipts.jsonl", Odd::Pipe, &["overnight", "verify"], 5, "not a plain file"),
    ];
    for (name, odd, arguments, code, words) in told {
        let repo = copy_of(&night.repo);
        odd.put(&repo.state(name));
        let ran = ends(&repo, arguments, name);
        assert_eq!(ran.code, code, "{name} {arguments:?}: {ran}");
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(words), "{name}: {ran}");
    }
    // What can be made again is put right, and what a document says is what it said.
    let repo = copy_of(&night.repo);
    Odd::Zero.put(&repo.state("docs/run.md"));
    Odd::Pipe.put(&repo.state("docs/report.md"));
    ends(&repo, &start, "documents");
    for name in ["docs/run.md", "docs/report.md"] {
        assert!(repo.state(name).symlink_metadata().unwrap().is_file(), "{name}");
    }
}

/// A temporary name of ours that was put there before is not followed.
#[test]
fn nothing_is_written_through_a_link() {
    let night = Night::with_copies();
    let victim = night.aside.path().join("victim");
    fs::write(&victim, "theirs\n").unwrap();
    for name in ["latest/overnight.log", "receipts.jsonl", "run.lock", "run.alive", "commit.lock"] {
        let repo = copy_of(&night.repo);
        fs::create_dir_all(repo.state("latest")).unwrap();
        symlink(&victim, repo.state(name)).unwrap();
        ends(&repo, &["overnight", "start", "--no-keep-awake"], name);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "theirs\n", "{name}");
    }
}
