//! Transcripts that are broken, hostile, or hold secrets.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::repo::{Ran, files};
use crate::signals::{PNPM, Sessions, line, session};
use crate::vault::{VALUE, contains, keep_in};

/// All that lies in the repository afterwards, and what was printed, holds nothing of these.
fn none_has(sessions: &Sessions, ran: &Ran, secrets: &[&str]) {
    for secret in secrets {
        assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{ran}");
        let hash = blake3::hash(secret.as_bytes()).to_hex().to_string();
        for (path, seen) in files(sessions.night.repo.root()) {
            assert!(!contains(&seen.bytes, secret), "{path} has {secret}");
            assert!(!contains(&seen.bytes, &hash[..32]), "{path} has the hash of {secret}");
        }
    }
}

// proves: LOOP-24
#[test]
fn secrets_do_not_come_along() {
    let sessions = Sessions::new();
    let root = sessions.root();
    keep_in(&sessions.home, &[("db", VALUE)]);
    let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
    let said = |secret: &str| format!("no, use {secret} as the key instead of the old one");
    sessions.claude("vault.jsonl", &session(&root, &said(VALUE)));
    sessions.claude("rule.jsonl", &session(&root, &said(&token)));
    // In what the agent did before, in a command that failed, and in what it printed.
    let did = |text: &str| line(&root, "assistant", &json!([{ "type": "text", "text": text }]));
    let before = did(&format!("I exported {VALUE} and {token}"));
    sessions.claude(
        "context.jsonl",
        &(before + &line(&root, "user", &json!("no, use the vault instead of a file"))),
    );
    let ran = |id: &str, command: &str, error: &str| {
        line(
            &root,
            "assistant",
            &json!([{ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }]),
        ) + &line(
            &root,
            "user",
            &json!([{ "type": "tool_result", "tool_use_id": id, "content": error, "is_error": !error.is_empty() }]),
        )
    };
    let failing = format!("curl -H {token} https://x.test/a");
    let commands = ran("t1", &failing, "error: unknown option")
        + &ran("t2", &format!("{failing} -v"), "")
        + &ran("t3", "make login", &format!("error: unknown option for {VALUE}"))
        + &ran("t4", "make login all", "")
        // Only the call that worked has it, and only the lesson would.
        + &ran("t6", "curl --tok https://x.test/b", "error: unknown option")
        + &ran("t7", &format!("curl --token {token} https://x.test/b"), "")
        + &line(
            &root,
            "assistant",
            &json!([{ "type": "tool_use", "id": "t5", "name": "Bash", "input": { "command": failing } }]),
        );
    sessions.claude("commands.jsonl", &commands);
    // The value was cut in two lines of one text.
    let (one, two) = VALUE.split_at(12);
    sessions
        .claude("split.jsonl", &session(&root, &format!("no, use {one}\\\n{two} as the key here")));
    let done = sessions.run(&["--json", "signals"]).expect(0);
    let told = done.json();
    let titles: Vec<&str> = told["taken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["lesson"]["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["Use the vault instead of a file"], "{told:#}");
    assert!(told["sources"][0]["secret"].as_u64().unwrap() >= 3, "{told:#}");
    none_has(&sessions, &done, &[VALUE, &token]);
    let night = sessions.night.command(&[]).env("HOME", &sessions.home).output().unwrap();
    none_has(&sessions, &Ran::of(night), &[VALUE, &token]);
}

/// A value that came into the vault after a lesson was read is not brought in from the cache.
#[test]
fn what_the_vault_learns_later_holds_for_what_was_read_before() {
    let sessions = Sessions::new();
    let value = "correct-horse-battery";
    let first = sessions.claude(
        "a.jsonl",
        &session(&sessions.root(), &format!("no, use {value} for the demo user")),
    );
    let told = sessions.signals(&[]);
    assert_eq!(told["taken"].as_array().unwrap().len(), 1, "{told:#}");
    sessions.run(&["tree", "undo", told["id"].as_str().unwrap()]).expect(0);
    keep_in(&sessions.home, &[("demo", value)]);
    let told = sessions.signals(&[]);
    assert_eq!(told["taken"].as_array().unwrap().len(), 0, "{told:#}");
    assert_eq!(told["sources"][0]["secret"], 1);
    assert!(first.exists());
}

#[test]
fn broken_and_hostile_files_are_told_and_hurt_nobody() {
    let sessions = Sessions::new();
    let root = sessions.root();
    let good = session(&root, PNPM);
    let deep = format!(
        "{{\"type\":\"user\",\"cwd\":{root:?},\"message\":{{\"content\":{}",
        "[".repeat(100_000)
    );
    let huge = line(&root, "user", &json!("no, use tabs. ".repeat(500_000)));
    let odd = [
        "not json at all",
        "{\"type\":\"user\"",
        "[]",
        "{\"type\":\"user\",\"message\":7}",
        "{\"type\":\"user\",\"message\":{\"content\":[7,{\"type\":\"text\"},null]}}",
        "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":[]}]}}",
        "\u{0}\u{1}\u{7f}",
    ];
    let mut text = good.clone().into_bytes();
    text.extend_from_slice(format!("{}\n{deep}\n{huge}", odd.join("\n")).as_bytes());
    text.extend_from_slice(b"\xff\xfe\n");
    text.extend_from_slice(
        line(&root, "user", &json!("no, never use spaces in Makefiles, use tabs")).as_bytes(),
    );
    let path = sessions.claude("odd.jsonl", "");
    fs::write(&path, &text).unwrap();
    let folder = path.parent().unwrap();
    std::os::unix::fs::symlink(&path, folder.join("link.jsonl")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.join("pipe.jsonl")).status().unwrap().success());
    fs::create_dir(folder.join("folder.jsonl")).unwrap();
    std::os::unix::fs::symlink(folder, folder.parent().unwrap().join("-linked")).unwrap();
    sessions.codex("rollout-odd.jsonl", "{\"type\":\"session_meta\"}\n{\"payload\":[]}\n");
    sessions.gemini("deep.json", &"[".repeat(100_000));
    sessions.gemini(
        "odd.json",
        "{\"messages\":[7,{\"type\":\"user\"},{\"type\":\"gemini\",\"toolCalls\":[7]}]}",
    );
    let done = sessions.run(&["--json", "signals"]).expect(0);
    let told = done.json();
    let taken = told["taken"].as_array().unwrap();
    assert_eq!(taken.len(), 2, "{told:#}");
    // The lines are counted as an editor counts them.
    let lines: Vec<u64> = taken.iter().map(|one| one["lesson"]["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [3, 14], "{told:#}");
    let claude = &told["sources"][0];
    assert!(claude["bad_lines"].as_u64().unwrap() >= 5, "{claude:#}");
    let left = claude["left"].to_string();
    for what in ["link.jsonl", "pipe.jsonl", "folder.jsonl", "symlink"] {
        assert!(left.contains(what), "{what}: {left}");
    }
    let gemini =
        told["sources"].as_array().unwrap().iter().find(|one| one["maker"] == "gemini").unwrap();
    assert!(gemini["left"].to_string().contains("deep.json"), "{gemini:#}");
    // What is told of a name does nothing to a terminal.
    sessions.claude("\u{1b}[31mred.jsonl", &session(&root, "no, use vitest instead of jest here"));
    let text = sessions.run(&["signals"]).expect(0);
    assert!(!text.stdout.contains('\u{1b}'), "{text}");
}

/// Neither the cache nor a lesson holds what an agent says or runs at great length.
#[test]
fn what_an_agent_says_at_length_is_not_remembered() {
    let sessions = Sessions::new();
    let root = sessions.root();
    let long = "The lockfile is old. ".repeat(10_000);
    let said = line(&root, "assistant", &json!([{ "type": "text", "text": long }]));
    let ran = json!([{ "type": "tool_use", "id": "t", "name": "Bash", "input": { "command": format!("echo {long}") } }]);
    let person = |text: &str| line(&root, "user", &json!(text));
    let text = said.clone()
        + &person(PNPM)
        + &line(&root, "assistant", &ran)
        + &person("no, never push to main, open a pull request");
    sessions.claude("a.jsonl", &(text + &said));
    let told = sessions.signals(&[]);
    let taken = told["taken"].as_array().unwrap();
    assert_eq!(taken.len(), 2, "{told:#}");
    assert!(taken.iter().all(|one| one["lesson"]["context"].is_null()), "{told:#}");
    let cache = sessions.night.repo.agents().join("ao/index/transcripts.json");
    assert!(fs::metadata(cache).unwrap().len() < 10_000);
}

/// A file gives so many lessons, and says that it had more.
#[test]
fn what_one_file_has_too_much_of_is_told() {
    let sessions = Sessions::new();
    let root = sessions.root();
    let mut text = line(&root, "assistant", &json!([{ "type": "text", "text": "Done." }]));
    for number in 0..503 {
        let said = format!("no, use port {number} in conf/{number}.toml instead of the default");
        text += &line(&root, "user", &json!(said));
    }
    sessions.claude("a.jsonl", &text);
    let told = sessions.signals(&["--dry-run"]);
    assert_eq!(told["sources"][0]["lessons"], 500, "{}", told["sources"]);
    let left = told["sources"][0]["left"].to_string();
    assert!(left.contains("a.jsonl") && left.contains("3 more were not kept"), "{left}");
}

#[test]
fn a_cache_that_is_damaged_is_read_over() {
    let sessions = Sessions::new();
    sessions.claude("a.jsonl", &session(&sessions.root(), PNPM));
    sessions.signals(&[]);
    let cache = sessions.night.repo.agents().join("ao/index/transcripts.json");
    let whole = fs::read(&cache).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for bytes in [&b""[..], b"{}", &whole[..whole.len() / 2], &flipped] {
        fs::write(&cache, bytes).unwrap();
        let told = sessions.signals(&[]);
        assert_eq!(told["sources"][0]["read"], 1);
        assert_eq!(fs::read(&cache).unwrap(), whole);
    }
    fs::remove_file(&cache).unwrap();
    assert!(Command::new("mkfifo").arg(&cache).status().unwrap().success());
    sessions.signals(&["--dry-run"]);
}
