//! What a check says, whatever the repository has become.

use std::fs;

use ao_contract::Check;
use ao_night::{Shell, Verdict, check, overall};
use serde_json::{Value, json};

use crate::ground::Ground;

fn made(value: Value) -> Check {
    serde_json::from_value(value).unwrap()
}

/// `true`, `done` or `not-checked`, with what is said about it.
fn said(ground: &Ground, value: Value) -> (&'static str, String) {
    let verdict = check(&made(value), &ground.place(), Shell::Never("not here"));
    (verdict.word(), verdict.why().unwrap_or_default().to_owned())
}

fn word(ground: &Ground, value: Value) -> &'static str {
    said(ground, value).0
}

#[test]
fn paths_texts_and_hashes() {
    let ground = Ground::new();
    ground.write("src/lib.rs", "fn main() { todo!() }\n");
    let hash = blake3::hash(b"fn main() { todo!() }\n").to_hex().to_string();
    let cases = [
        (json!({ "kind": "path-exists", "path": "src/lib.rs" }), "true"),
        (json!({ "kind": "path-exists", "path": "src" }), "true"),
        (json!({ "kind": "path-exists", "path": "src/lib.rs/inner" }), "done"),
        (json!({ "kind": "path-exists", "path": "no/such" }), "done"),
        (json!({ "kind": "path-absent", "path": "no/such" }), "true"),
        (json!({ "kind": "path-absent", "path": "src/lib.rs" }), "done"),
        (json!({ "kind": "text-in-file", "path": "src/lib.rs", "text": "todo!()" }), "true"),
        (json!({ "kind": "text-in-file", "path": "src/lib.rs", "text": "gone" }), "done"),
        (json!({ "kind": "text-in-file", "path": "src/none.rs", "text": "todo!()" }), "done"),
        (json!({ "kind": "text-in-file", "path": "src", "text": "x" }), "not-checked"),
        (json!({ "kind": "text-in-file", "path": "src/lib.rs", "text": "" }), "not-checked"),
        (json!({ "kind": "text-not-in-file", "path": "src/lib.rs", "text": "gone" }), "true"),
        (json!({ "kind": "text-not-in-file", "path": "src/lib.rs", "text": "todo" }), "done"),
        (json!({ "kind": "text-not-in-file", "path": "src/none.rs", "text": "todo" }), "done"),
        (json!({ "kind": "file-hash", "path": "src/lib.rs", "hash": hash }), "true"),
        (json!({ "kind": "file-hash", "path": "src/lib.rs", "hash": "0".repeat(64) }), "done"),
        (json!({ "kind": "file-hash", "path": "src/lib.rs", "hash": "zz" }), "not-checked"),
        (json!({ "kind": "shell", "command": "touch ran" }), "not-checked"),
        (json!({ "kind": "moon-is-full" }), "not-checked"),
        (json!({ "kind": "path-exists", "path": "src", "unless": "it rains" }), "not-checked"),
        (json!({ "kind": "path-exists" }), "not-checked"),
        (json!({}), "not-checked"),
    ];
    for (check, expected) in cases {
        assert_eq!(word(&ground, check.clone()), expected, "{check}");
    }
    assert!(!ground.path("ran").exists());
    assert_eq!(said(&ground, json!({ "kind": "shell", "command": "x" })).1, "not here");
}

#[test]
fn no_path_leads_out_of_the_repository() {
    let ground = Ground::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "s").unwrap();
    std::os::unix::fs::symlink(outside.path(), ground.path("link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), ground.path("file")).unwrap();
    std::os::unix::fs::symlink(outside.path(), ground.agents().join("learnings")).unwrap();
    let absolute = outside.path().join("secret");
    for path in [
        "../secret",
        "a/../../secret",
        absolute.to_str().unwrap(),
        "link/secret",
        "file",
        ".agents/learnings/secret",
        "",
        "./x",
        "a//b",
        "C:\\x",
        "a\u{0}b",
        "a\nb",
        "\u{202e}x",
        &"x".repeat(5000),
        &"d/".repeat(70),
    ] {
        for kind in ["path-exists", "path-absent", "text-in-file", "text-not-in-file", "file-hash"]
        {
            let mut check = json!({ "kind": kind, "path": path });
            match kind {
                "text-in-file" | "text-not-in-file" => check["text"] = json!("s"),
                "file-hash" => check["hash"] = json!("0".repeat(64)),
                _ => {}
            }
            let (said, why) = said(&ground, check);
            assert_eq!(said, "not-checked", "{kind} {path:?}");
            assert!(!why.contains(['\u{0}', '\n', '\u{202e}']), "{why:?}");
        }
    }
}

#[test]
fn a_file_that_cannot_be_read_is_not_checked() {
    let ground = Ground::new();
    let large = fs::File::create(ground.path("large")).unwrap();
    large.set_len(1 << 33).unwrap();
    let fifo = ground.path("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let hash = "0".repeat(64);
    assert_eq!(
        word(&ground, json!({ "kind": "text-in-file", "path": "large", "text": "x" })),
        "not-checked"
    );
    assert_eq!(
        word(&ground, json!({ "kind": "file-hash", "path": "large", "hash": hash })),
        "not-checked"
    );
    assert_eq!(
        word(&ground, json!({ "kind": "file-hash", "path": "fifo", "hash": hash })),
        "not-checked"
    );
    assert_eq!(word(&ground, json!({ "kind": "path-exists", "path": "large" })), "true");
}

#[test]
fn entries_are_known_by_all_their_names() {
    let ground = Ground::new();
    ground.write(".agents/learnings/a.md", "---\nid: L1\nmerged_from: [gone, L7]\n---\n# A\n");
    ground.write(".agents/learnings/old.md", "---\nsuperseded_by: a\n---\n# Old\n");
    ground.write(".agents/learnings/lost.md", "---\nsuperseded_by: nobody\n---\n# Lost\n");
    ground.write(".agents/learnings/hid.md", "---\nsuperseded: true\n---\n# Hidden\n");
    let entry = |name: &str| said(&ground, json!({ "kind": "entry", "entry": name }));
    for name in ["a", "a.md", "learnings/a.md", ".agents/learnings/a.md", "L1", "gone", "L7"] {
        assert_eq!(entry(name), ("true", String::new()), "{name}");
    }
    let (word, why) = entry("old");
    assert!(word == "done" && why.contains("learnings/a.md"), "{why}");
    for name in ["lost", "hid", "learnings/hid.md", "nobody", "", "../a.md"] {
        assert_eq!(entry(name).0, "done", "{name}");
    }
}

#[test]
fn findings_are_open_until_somebody_says_otherwise() {
    let ground = Ground::new();
    ground.write(".agents/findings/f-1.md", "---\nid: F1\nseverity: high\n---\n# One\n");
    ground.write(".agents/findings/f-2.md", "---\nid: F2\nstatus: Resolved\n---\n# Two\n");
    ground.write(".agents/findings/f-3.md", "# Three\n\n**Resolved:** yes\n");
    ground.write(".agents/findings/f-4.md", "---\nsuperseded_by: f-1\n---\n# Four\n");
    ground.write(".agents/learnings/l.md", "# A learning\n");
    let finding = |name: &str| word(&ground, json!({ "kind": "finding-open", "finding": name }));
    for name in ["f-1", "f-1.md", "F1", "findings/f-1.md", ".agents/findings/f-1.md"] {
        assert_eq!(finding(name), "true", "{name}");
    }
    for name in ["f-2", "F2", "f-3", "findings/f-4.md", "l", "learnings/l.md", "none", ""] {
        assert_eq!(finding(name), "done", "{name}");
    }
    ground.write(".agents/findings/f-1.md", "---\nid: F1\nresolved: true\n---\n# One\n");
    assert_eq!(finding("F1"), "done");
}

#[test]
fn items_are_open_until_they_are_consumed() {
    let ground = Ground::new();
    let item = |name: &str| word(&ground, json!({ "kind": "queue-item-open", "item": name }));
    assert_eq!(item("a"), "done", "no queue, no item");
    ground.write(
        ".agents/rpi/next-work.jsonl",
        "{\"items\":[{\"id\":\"a\",\"title\":\"t\"},{\"title\":\"by title\"},{\"id\":\"c\",\"title\":\"x\",\"consumed\":true}]}\n\
         broken\n\
         {\"items\":[{\"id\":\"d\",\"title\":\"x\"}],\"claim_status\":\"in_progress\"}\n\
         {\"items\":[{\"id\":\"a\",\"title\":\"t\"}],\"consumed\":true}\n",
    );
    for (name, expected) in [
        ("a", "true"),
        ("by title", "true"),
        ("d", "true"),
        ("c", "done"),
        ("t", "done"),
        ("e", "done"),
    ] {
        assert_eq!(item(name), expected, "{name}");
    }
}

#[test]
fn one_check_that_is_done_is_enough() {
    let no = || Verdict::NotChecked("n".into());
    let done = || Verdict::Done("d".into());
    assert_eq!(overall(&[Verdict::True, no(), done()]), done());
    assert_eq!(overall(&[Verdict::True, no()]), no());
    assert_eq!(overall(&[Verdict::True]), Verdict::True);
    assert!(matches!(overall(&[]), Verdict::NotChecked(_)));
}

#[test]
fn a_repository_that_is_not_there_is_not_checked() {
    let ground = Ground::new();
    fs::remove_dir(ground.agents()).unwrap();
    for check in [
        json!({ "kind": "entry", "entry": "a" }),
        json!({ "kind": "finding-open", "finding": "a" }),
        json!({ "kind": "queue-item-open", "item": "a" }),
        json!({ "kind": "path-exists", "path": ".agents/x" }),
    ] {
        assert_eq!(word(&ground, check.clone()), "not-checked", "{check}");
    }
}
