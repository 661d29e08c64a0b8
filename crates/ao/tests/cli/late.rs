//! Who holds a file open over a commit, and who reads when one was cut off or a pager stands open.

use std::fs::{self, File};
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::repo::{Ran, TestRepo, contents, delete, write};

const QUEUE: &str = "rpi/next-work.jsonl";

fn open(repo: &TestRepo, path: &str) -> File {
    File::options().append(true).open(repo.agents().join(path)).unwrap()
}

fn kept(repo: &TestRepo) -> Value {
    repo.run(&["--json", "overnight", "status"]).expect(0).json()["displaced"].clone()
}

fn recovered(repo: &TestRepo) -> Value {
    repo.run(&["--json", "tree", "recover"]).expect(0).json()["recovered"].clone()
}

// proves: LOOP-07
#[test]
fn what_is_written_into_a_file_after_it_was_replaced_is_kept() {
    let repo = TestRepo::new();
    repo.write(QUEUE, "{\"theirs\":0}\n");
    let (mut queue, mut page) = (open(&repo, QUEUE), open(&repo, "learnings/b.md"));
    let was = repo.read("learnings/b.md");
    let edits = json!([write(QUEUE, "{\"ours\":1}\n"), write("learnings/b.md", "ours\n")]);
    let done = repo.apply_as(&edits, &["--id", "one"]).expect(0).json();
    assert_eq!(done["conflicts"], json!([]));
    assert_eq!(kept(&repo)["files"], 2);
    repo.run(&["tree", "verify"]).expect(0);
    // Nothing was written yet, and both are still open.
    assert_eq!(recovered(&repo), Value::Null);
    assert_eq!(kept(&repo)["files"], 2);
    queue.write_all(b"{\"theirs\":1}\n{\"thei").unwrap();
    page.write_all(b"and more\n").unwrap();
    drop(page);
    let found = recovered(&repo);
    assert_eq!(found["carried"], json!([QUEUE]), "{found:#}");
    assert_eq!(found["conflicts"][0]["path"], "learnings/b.md", "{found:#}");
    // A whole line is in the tree, half of one waits; another version stands beside the tree.
    assert_eq!(repo.read(QUEUE), "{\"ours\":1}\n{\"theirs\":1}\n");
    assert_eq!(repo.read("learnings/b.md"), "ours\n");
    let place = format!("overnight/{}", found["conflicts"][0]["kept"].as_str().unwrap());
    assert_eq!(repo.read(&place), format!("{was}and more\n"));
    let listed: Value =
        serde_json::from_str(&repo.read("overnight/conflicts/one/conflicts.json")).unwrap();
    assert_eq!(listed["conflicts"][0]["kept"], found["conflicts"][0]["kept"]);
    queue.write_all(b"rs\":2}\n{\"theirs\":3}").unwrap();
    drop(queue);
    // Any writer looks again. Nobody can go on with the last line now.
    let next = repo.apply(&json!([write("learnings/c.md", "x\n")])).expect(0).json();
    assert_eq!(next["recovered"]["carried"], json!([QUEUE]), "{next:#}");
    let lines = "{\"ours\":1}\n{\"theirs\":1}\n{\"theirs\":2}\n{\"theirs\":3}";
    assert_eq!(repo.read(QUEUE), lines);
    assert_eq!(kept(&repo)["files"], 0);
    assert!(!repo.exists("overnight/displaced"));
    repo.run(&["tree", "verify"]).expect(0);
}

/// A shell that stands in a folder, an editor that has it open: folders stay the same folders.
// proves: LOOP-04, LOOP-07
#[test]
fn who_stands_in_a_folder_is_not_thrown_out() {
    let repo = TestRepo::new();
    let agents = repo.agents();
    let folder = rustix::fs::open(
        agents.join("learnings"),
        rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )
    .unwrap();
    let edits = json!([write("learnings/b.md", "ours\n"), write("learnings/new.md", "new\n")]);
    repo.apply(&edits).expect(0);
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    let file = rustix::fs::openat(&folder, "theirs.md", flags, 0o644.into()).unwrap();
    File::from(file).write_all(b"theirs\n").unwrap();
    assert_eq!(repo.read("learnings/theirs.md"), "theirs\n");
    let seen = rustix::fs::openat(&folder, "b.md", rustix::fs::OFlags::RDONLY, 0.into()).unwrap();
    assert_eq!(std::io::read_to_string(File::from(seen)).unwrap(), "ours\n");
}

// proves: LOOP-04
#[test]
fn an_open_pager_stops_no_commit() {
    let repo = TestRepo::new();
    let long = "A line of a long page that nobody reads to its end.\n".repeat(8_000);
    repo.write(
        "learnings/2026-03-01-long.md",
        &format!("---\ndate: 2026-03-01\n---\n# Long\n\n{long}"),
    );
    let mut show = repo.command(&["show", "2026-03-01-long"]);
    let mut show = show.stdout(Stdio::piped()).spawn().unwrap();
    // It is blocked for as long as nobody reads, and the commit is not.
    repo.apply(&json!([write("learnings/b.md", "ours\n")])).expect(0);
    assert!(show.try_wait().unwrap().is_none(), "it wrote more than a pipe holds");
    let shown = Ran::of(show.wait_with_output().unwrap());
    assert!(shown.expect(0).stdout.contains("nobody reads to its end"));
}

// proves: LOOP-04
#[test]
fn a_reader_sees_what_was_decided_before_it_is_finished() {
    let repo = TestRepo::new();
    repo.write("learnings/b.md", "# Learning: ponds\n\nWhat stands in ponds is water.\n");
    repo.write("learnings/c.md", "# Learning: gravel\n\nGravel is not water.\n");
    let found = |query: &str| {
        let found = repo.run(&["--json", "search", query]).expect(0).json();
        found["results"].as_array().unwrap().len()
    };
    assert_eq!((found("ponds"), found("gravel")), (1, 1));
    repo.killed_when_decided("cut");
    assert!(repo.read("learnings/c.md").contains("gravel"));
    // Beside its caches and its log of questions.
    let written = || {
        let mut all = contents(&repo.everything());
        all.retain(|path, _| !path.starts_with("ao/"));
        all
    };
    let before = written();
    assert_eq!((found("ponds"), found("gravel")), (0, 0), "b is another text, and c is gone");
    repo.run(&["show", "learnings/c.md"]).expect(2);
    assert_eq!(written(), before, "a reader writes nothing");
}

/// What one file takes over from another is at every moment in one of the two.
// proves: LOOP-07
#[test]
fn a_merged_text_is_always_somewhere() {
    for exchange in 2..4 {
        let repo = TestRepo::new();
        repo.write("learnings/c.md", "what c says\n");
        let edits =
            json!([delete("learnings/c.md"), write("patterns/p.md", "p, and what c says\n")]);
        repo.killed_at_exchange(&edits, "cut", exchange);
        let says = |path: &str| repo.exists(path) && repo.read(path).contains("what c says");
        assert!(says("learnings/c.md") || says("patterns/p.md"), "killed at {exchange}");
        repo.run(&["tree", "recover"]).expect(0);
        assert!(!repo.exists("learnings/c.md") && says("patterns/p.md"), "killed at {exchange}");
    }
}

/// What cannot be held is left, named, and stops nobody else.
// proves: LOOP-07
#[test]
fn one_file_that_cannot_be_held_stops_no_commit() {
    let repo = TestRepo::new();
    let deep = (0..70).map(|_| "d/").collect::<String>();
    repo.write(&format!("learnings/{deep}x.md"), "deep\n");
    let fixed = repo.agents().join("learnings/c.md");
    let set = |flag: &str| {
        let ran = std::process::Command::new("chattr").arg(flag).arg(&fixed).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    // Only on some file systems, and only by root.
    let is_fixed = set("+i");
    let edits = json!([write("learnings/b.md", "ours\n"), write("learnings/c.md", "ours\n")]);
    let done = repo.apply(&edits).expect(0).json();
    set("-i");
    assert_eq!(repo.read("learnings/b.md"), "ours\n");
    let left = done["left"].as_array().unwrap();
    assert!(left.iter().any(|left| left["why"].as_str().unwrap().contains("too deep")), "{done:#}");
    if is_fixed {
        assert_eq!(done["refused"][0]["path"], "learnings/c.md", "{done:#}");
        assert_ne!(repo.read("learnings/c.md"), "ours\n");
    }
    fs::remove_dir_all(repo.agents().join("learnings/d")).unwrap();
}
