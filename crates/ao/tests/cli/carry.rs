//! What others write while a commit is under way.

use std::fs;
use std::io::Write;

use serde_json::json;

use crate::repo::{TestRepo, delete, edits_everywhere, write};

fn append(repo: &TestRepo, path: &str, line: &str) {
    let mut file = fs::File::options().append(true).open(repo.agents().join(path)).unwrap();
    writeln!(file, "{line}").unwrap();
}

fn replace(repo: &TestRepo, path: &str, text: &str) {
    let fresh = repo.agents().join("fresh.tmp");
    fs::write(&fresh, text).unwrap();
    fs::rename(fresh, repo.agents().join(path)).unwrap();
}

// proves: LOOP-07
#[test]
fn files_that_no_edit_names_keep_what_others_did_to_them() {
    let repo = TestRepo::new();
    let stopped = repo.stopped_before_the_exchange(&edits_everywhere());
    repo.write("learnings/added.md", "added\n");
    repo.write("learnings/made/inner/added.md", "added in a new folder\n");
    fs::create_dir(repo.agents().join("patterns/empty")).unwrap();
    append(&repo, "learnings/a.md", "edited in place");
    append(&repo, "learnings/log.jsonl", "{\"n\":2}");
    replace(&repo, "patterns/p.md", "replaced\n");
    fs::remove_file(repo.agents().join("findings/f-2026-04-01-b.md")).unwrap();
    fs::remove_dir_all(repo.agents().join("learnings/sub")).unwrap();
    let done = stopped.go_on().expect(0).json();
    assert_eq!(repo.read("learnings/b.md"), "b, better\n");
    assert_eq!(repo.read("learnings/added.md"), "added\n");
    assert_eq!(repo.read("learnings/made/inner/added.md"), "added in a new folder\n");
    assert!(repo.exists("patterns/empty"));
    assert!(repo.read("learnings/a.md").ends_with("edited in place\n"));
    assert_eq!(repo.read("learnings/log.jsonl"), "{\"n\":1}\n{\"n\":2}\n");
    assert_eq!(repo.read("patterns/p.md"), "replaced\n");
    assert!(!repo.exists("findings/f-2026-04-01-b.md"));
    assert!(!repo.exists("learnings/sub"));
    // No file that no edit names is moved, so there is nothing to carry.
    assert_eq!(done["carried"], json!([]));
    assert_eq!(done["conflicts"], json!([]));
    repo.run(&["tree", "verify"]).expect(0);
    assert!(repo.everything().values().all(|seen| seen.links == 1));
}

// proves: LOOP-07
#[test]
fn of_a_file_that_both_changed_the_live_version_stays_and_ours_is_kept() {
    let repo = TestRepo::new();
    let edits = json!([
        write("learnings/a.md", "ours of a\n"),
        write("learnings/b.md", "ours of b\n"),
        write("learnings/sub/deep.md", "ours of deep\n"),
        write("learnings/new.md", "ours of new\n"),
        delete("learnings/c.md"),
        delete("findings/f-2026-04-01-a.md"),
        write("patterns/p.md", "ours of p\n"),
    ]);
    let stopped = repo.stopped_before_the_exchange(&edits);
    append(&repo, "learnings/a.md", "theirs, in place");
    fs::remove_file(repo.agents().join("learnings/b.md")).unwrap();
    fs::remove_dir_all(repo.agents().join("learnings/sub")).unwrap();
    repo.write("learnings/new.md", "theirs of new\n");
    replace(&repo, "learnings/c.md", "theirs of c\n");
    let done = stopped.go_on().expect(0).json();
    assert!(repo.read("learnings/a.md").ends_with("theirs, in place\n"));
    assert!(!repo.exists("learnings/b.md"));
    assert!(!repo.exists("learnings/sub/deep.md"));
    assert_eq!(repo.read("learnings/new.md"), "theirs of new\n");
    assert_eq!(repo.read("learnings/c.md"), "theirs of c\n");
    // What nobody else touched came to be.
    assert!(!repo.exists("findings/f-2026-04-01-a.md"));
    assert_eq!(repo.read("patterns/p.md"), "ours of p\n");
    for (path, text) in [
        ("a", "ours of a\n"),
        ("b", "ours of b\n"),
        ("sub/deep", "ours of deep\n"),
        ("new", "ours of new\n"),
    ] {
        assert_eq!(repo.read(&format!("overnight/conflicts/stopped/learnings/{path}.md")), text);
    }
    let mut paths: Vec<_> =
        done["conflicts"].as_array().unwrap().iter().map(|c| c["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "learnings/a.md",
            "learnings/b.md",
            "learnings/c.md",
            "learnings/new.md",
            "learnings/sub/deep.md"
        ]
    );
    // The record says what came to be and no more, so that undo touches nothing of theirs.
    let shown = repo.run(&["--json", "tree", "show"]).expect(0).json();
    let changed: Vec<_> = shown["record"]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["path"].as_str().unwrap())
        .collect();
    assert_eq!(changed, ["findings/f-2026-04-01-a.md", "patterns/p.md"]);
    assert!(!repo.exists("overnight/archive/stopped/learnings/c.md"));
    assert!(repo.exists("overnight/archive/stopped/findings/f-2026-04-01-a.md"));
    repo.run(&["tree", "verify"]).expect(0);
    assert!(repo.everything().values().all(|seen| seen.links == 1));
    repo.run(&["tree", "undo"]).expect(0);
    assert_eq!(repo.read("learnings/c.md"), "theirs of c\n");
}

// proves: LOOP-07
#[test]
fn lines_that_others_append_to_a_line_file_come_after_ours() {
    let repo = TestRepo::new();
    let stopped = repo.stopped_before_the_exchange(&json!([
        write("rpi/next-work.jsonl", "{\"ours\":1}\n"),
        write("learnings/log.jsonl", "{\"n\":1}\n{\"ours\":2}\n"),
    ]));
    append(&repo, "rpi/next-work.jsonl", "{\"theirs\":1}");
    append(&repo, "rpi/next-work.jsonl", "{\"theirs\":2}");
    append(&repo, "learnings/log.jsonl", "{\"theirs\":3}");
    let done = stopped.go_on().expect(0).json();
    assert_eq!(repo.read("rpi/next-work.jsonl"), "{\"ours\":1}\n{\"theirs\":1}\n{\"theirs\":2}\n");
    assert_eq!(repo.read("learnings/log.jsonl"), "{\"n\":1}\n{\"ours\":2}\n{\"theirs\":3}\n");
    assert_eq!(done["conflicts"], json!([]));
    // Undo knows the merged file, and takes back only what is ours to take.
    repo.run(&["tree", "verify"]).expect(0);
    let undone = repo.run(&["--json", "tree", "undo"]).expect(0).json();
    assert_eq!(undone["status"], "committed");
}

// proves: LOOP-07
#[test]
fn others_may_change_what_a_name_stands_for() {
    let repo = TestRepo::new();
    let stopped = repo.stopped_before_the_exchange(&json!([
        write("learnings/a.md", "ours of a\n"),
        write("learnings/b.md", "ours of b\n"),
        write("rpi/next-work.jsonl", "{\"ours\":1}\n"),
    ]));
    let agents = repo.agents();
    // A file becomes a folder, a folder a file, a file a symlink; the queue becomes a folder.
    fs::remove_file(agents.join("learnings/a.md")).unwrap();
    repo.write("learnings/a.md/inner.md", "inner\n");
    fs::remove_dir_all(agents.join("learnings/sub")).unwrap();
    repo.write("learnings/sub", "a file now\n");
    fs::remove_file(agents.join("learnings/b.md")).unwrap();
    std::os::unix::fs::symlink("c.md", agents.join("learnings/b.md")).unwrap();
    fs::remove_file(agents.join("rpi/next-work.jsonl")).unwrap();
    repo.write("rpi/next-work.jsonl/odd.txt", "odd\n");
    let done = stopped.go_on().expect(0).json();
    assert_eq!(repo.read("learnings/a.md/inner.md"), "inner\n");
    assert_eq!(repo.read("learnings/sub"), "a file now\n");
    assert_eq!(fs::read_link(agents.join("learnings/b.md")).unwrap().to_str(), Some("c.md"));
    assert_eq!(repo.read("rpi/next-work.jsonl/odd.txt"), "odd\n");
    assert_eq!(done["conflicts"].as_array().unwrap().len(), 3, "{done:#}");
    for (path, text) in [
        ("learnings/a.md", "ours of a\n"),
        ("learnings/b.md", "ours of b\n"),
        ("rpi/next-work.jsonl", "{\"ours\":1}\n"),
    ] {
        assert_eq!(repo.read(&format!("overnight/conflicts/stopped/{path}")), text);
    }
    repo.run(&["tree", "verify"]).expect(0);
}
