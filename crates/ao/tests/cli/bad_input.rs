//! What the door cannot hold is left; a tree that it cannot work on is refused.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use serde_json::json;

use crate::repo::{TestRepo, edits_everywhere, write};

#[test]
fn entries_that_cannot_be_held_stay_and_are_reported() {
    let repo = TestRepo::new();
    let learnings = repo.agents().join("learnings");
    symlink("a.md", learnings.join("link.md")).unwrap();
    symlink("nowhere", learnings.join("dangling.md")).unwrap();
    symlink("sub", learnings.join("linked-folder")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(learnings.join("fifo")).status().unwrap();
    assert!(made.success());
    let _socket = UnixListener::bind(learnings.join("socket")).unwrap();
    fs::hard_link(learnings.join("c.md"), repo.root().join("other-name")).unwrap();
    fs::write(learnings.join(OsStr::from_bytes(b"odd-\xff.md")), "not UTF-8\n").unwrap();
    fs::write(learnings.join("Case.md"), "1\n").unwrap();
    fs::write(learnings.join("case.md"), "2\n").unwrap();
    fs::write(learnings.join("caf\u{e9}.md"), "composed\n").unwrap();
    fs::write(learnings.join("cafe\u{301}.md"), "decomposed\n").unwrap();
    let before = repo.tree();
    let edits = json!([
        write("learnings/link.md", "x"),
        write("learnings/linked-folder/deep.md", "x"),
        write("learnings/fifo", "x"),
        write("learnings/socket", "x"),
        write("learnings/c.md", "x"),
        write("learnings/Case.md", "x"),
        write("learnings/cafe\u{301}.md", "x"),
        write("learnings/A.md", "meets a.md where names fold case"),
        write("learnings/b.md", "this one can be made\n"),
    ]);
    let done = repo.apply(&edits).expect(0).json();
    assert_eq!(done["refused"].as_array().unwrap().len(), 8, "{done:#}");
    assert_eq!(done["changes"].as_array().unwrap().len(), 1);
    assert_eq!(done["left"].as_array().unwrap().len(), 11, "{done:#}");
    let mut after = repo.tree();
    assert_eq!(after["learnings/b.md"].bytes, b"this one can be made\n");
    after.insert("learnings/b.md".into(), before["learnings/b.md"].clone());
    assert_eq!(after, before);
    repo.run(&["tree", "verify"]).expect(0);
}

#[test]
fn paths_that_are_not_plain_are_refused() {
    let repo = TestRepo::new();
    let long = format!("learnings/{}", "x".repeat(300));
    let deep = format!("learnings/{}x.md", "d/".repeat(100));
    let paths = [
        "",
        "/etc/passwd",
        "learnings/../../x",
        "learnings/./x.md",
        "learnings//x.md",
        "learnings/x/",
        "learnings/x\u{0}y",
        "learnings/x\ny",
        "learnings/\u{1b}[31mred",
        "learnings/x.",
        "learnings/x ",
        "learnings/C:\\x",
        "C:/x",
        "learnings/a::$DATA",
        "learnings/\u{202e}cod.md",
        "learnings/a.md/inner.md",
        "learnings/sub",
        &long,
        &deep,
    ];
    let edits: Vec<_> = paths.iter().map(|path| write(path, "x")).collect();
    let before = repo.tree();
    let refused = repo.apply(&json!(edits)).expect(4).json();
    assert_eq!(refused["refused"].as_array().unwrap().len(), paths.len(), "{refused:#}");
    assert_eq!(repo.tree(), before);
    let shown = repo
        .run(&["tree", "apply", &repo.edits(&json!([write("learnings/\u{1b}[31mred", "x")]))])
        .expect(4);
    assert!(!shown.stdout.contains('\u{1b}'), "{shown}");
}

#[test]
fn two_edits_that_cannot_both_be_made_are_not_both_made() {
    let repo = TestRepo::new();
    let edits = json!([
        write("learnings/x.md", "1"),
        write("learnings/x.md", "2"),
        write("learnings/X.md", "3"),
        write("learnings/y", "4"),
        write("learnings/y/z.md", "5"),
        write("learnings/v/w.md", "6"),
        write("learnings/v", "7"),
    ]);
    let done = repo.apply(&edits).expect(0).json();
    let refused: Vec<_> =
        done["refused"].as_array().unwrap().iter().map(|r| r["path"].as_str().unwrap()).collect();
    assert_eq!(refused, ["learnings/x.md", "learnings/X.md", "learnings/y/z.md", "learnings/v"]);
    assert_eq!(repo.read("learnings/x.md"), "1");
}

#[test]
fn edits_that_are_not_edits_are_a_usage_error() {
    let repo = TestRepo::new();
    let before = repo.everything();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let texts = [
        "",
        "{",
        "[]",
        "null",
        "{} {}",
        "\u{feff}{}",
        &deep,
        r#"{"schema_version":2,"why":"x","edits":[]}"#,
        r#"{"schema_version":1,"edits":[]}"#,
        r#"{"schema_version":1,"why":"x","why":"y","edits":[]}"#,
        r#"{"schema_version":1,"why":"x","edits":[{"op":"write","path":"learnings/a.md","reason":"r"}]}"#,
        r#"{"schema_version":1,"why":"x","edits":[{"op":"move","path":"learnings/a.md","reason":"r"}]}"#,
        r#"{"schema_version":1,"why":"x","edits":[{"op":"delete","path":"learnings/a.md"}]}"#,
        r#"{"schema_version":1,"why":"x","edits":[{"op":"delete","path":"learnings/a.md","reason":"r","raeson":"t"}]}"#,
        r#"{"schema_version":1,"why":"x","edits":[{"op":"delete","path":"learnings/a.md","path":"learnings/b.md","reason":"r"}]}"#,
        r#"{"schema_version":1,"why":"x","edits":[]} trailing"#,
    ];
    for text in texts {
        let path = repo.root().join("bad.json");
        fs::write(&path, text).unwrap();
        let refused = repo.run(&["tree", "apply", path.to_str().unwrap()]);
        assert_eq!(refused.code, 2, "{text:.80}\n{refused}");
        assert!(refused.stderr.contains("ao schema edits"), "{text:.80}\n{refused}");
    }
    repo.run(&["tree", "apply", "missing.json"]).expect(2);
    assert_eq!(repo.everything(), before);
}

#[test]
fn ids_that_cannot_name_a_file_or_are_taken_are_refused() {
    let repo = TestRepo::new();
    let edits = json!([write("learnings/a.md", "x\n")]);
    for id in ["a/b", "a\\b", "..", "a b", "a\tb", "", ".hidden", &"x".repeat(200)] {
        repo.apply_as(&edits, &["--id", id]).expect(2);
    }
    repo.apply_as(&edits, &["--id", "once"]).expect(0);
    repo.apply_as(&json!([write("learnings/a.md", "y\n")]), &["--id", "once"]).expect(2);
}

#[test]
fn a_root_that_is_no_plain_directory_of_ours_is_refused() {
    let refuse = |prepare: &dyn Fn(&TestRepo), word: &str| {
        let repo = TestRepo::new();
        prepare(&repo);
        let refused = repo.apply(&edits_everywhere()).expect(6);
        assert!(
            refused.stderr.contains(word) && refused.stderr.contains("hint:"),
            "{word}: {refused}"
        );
        assert!(!repo.root().join(".agents/overnight").exists(), "{word}");
    };
    let away = |repo: &TestRepo| fs::rename(repo.agents(), repo.root().join("real")).unwrap();
    refuse(&|repo| away(repo), "no such directory");
    refuse(
        &|repo| {
            away(repo);
            fs::write(repo.agents(), "a file").unwrap();
        },
        "not a directory",
    );
    refuse(
        &|repo| {
            away(repo);
            symlink("real", repo.agents()).unwrap();
        },
        "is a symlink",
    );
    refuse(&|repo| repo.write(".git", "gitdir: ../.git/modules/agents\n"), "submodule");
    if std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0 {
        refuse(
            &|repo| std::os::unix::fs::chown(repo.agents(), Some(1000), None).unwrap(),
            "belongs to user 1000",
        );
    }
}

#[test]
fn a_part_that_is_something_else_is_left_and_its_edits_refused() {
    let repo = TestRepo::new();
    fs::remove_dir_all(repo.agents().join("patterns")).unwrap();
    symlink("learnings", repo.agents().join("patterns")).unwrap();
    fs::remove_dir_all(repo.agents().join("findings")).unwrap();
    repo.write("findings", "a file\n");
    fs::remove_file(repo.agents().join("rpi/next-work.jsonl")).unwrap();
    fs::create_dir(repo.agents().join("rpi/next-work.jsonl")).unwrap();
    let done = repo.apply(&edits_everywhere()).expect(0).json();
    let refused: Vec<_> =
        done["refused"].as_array().unwrap().iter().map(|r| r["path"].as_str().unwrap()).collect();
    assert_eq!(refused, ["findings/f-2026-04-01-a.md", "patterns/q.md", "rpi/next-work.jsonl"]);
    assert!(!repo.exists("learnings/q.md"));
}

#[test]
fn parts_that_are_missing_are_made_and_unmade() {
    let repo = TestRepo::new();
    for part in ["findings", "patterns", "rpi"] {
        fs::remove_dir_all(repo.agents().join(part)).unwrap();
    }
    let edits = json!([
        write("findings/f.md", "f\n"),
        write("rpi/next-work.jsonl", "{}\n"),
        write("patterns/x/y.md", "y\n")
    ]);
    repo.apply(&edits).expect(0);
    assert_eq!(repo.read("patterns/x/y.md"), "y\n");
    repo.run(&["tree", "undo"]).expect(0);
    for part in ["findings", "patterns", "rpi"] {
        assert!(!repo.exists(part), "{part}");
    }
}

#[test]
fn a_directory_that_may_not_be_read_stops_the_commit_before_it_begins() {
    // Root reads everything.
    if std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").unwrap()) == 0 {
        return;
    }
    let repo = TestRepo::new();
    let closed = repo.agents().join("learnings/sub");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let before = fs::read(repo.agents().join("learnings/b.md")).unwrap();
    repo.apply(&edits_everywhere()).expect(1);
    assert_eq!(fs::read(repo.agents().join("learnings/b.md")).unwrap(), before);
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_state_directory_that_is_none_is_refused() {
    let repo = TestRepo::new();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), repo.agents().join("overnight")).unwrap();
    let before = repo.tree();
    repo.apply(&edits_everywhere()).expect(6);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "nothing is written elsewhere");
    fs::remove_file(repo.agents().join("overnight")).unwrap();
    assert_eq!(repo.tree().len() + 1, before.len());
}
