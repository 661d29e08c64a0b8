//! Whose word a line of a transcript is.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::signals::{PNPM, Sessions, line, session};
use crate::signals_words::codex;

/// The session with a mark on the line that a person would have said.
fn marked(sessions: &Sessions, key: &str, value: bool) -> String {
    let text = session(&sessions.root(), PNPM);
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines[2][key] = json!(value);
    lines.into_iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

fn found(sessions: &Sessions) -> usize {
    sessions.signals(&["--dry-run"])["taken"].as_array().unwrap().len()
}

/// A side agent is told what to do by an agent; programs put notes and summaries into a person's place.
// proves: LOOP-24
#[test]
fn what_is_said_in_a_persons_place_is_no_persons_word() {
    for key in ["isSidechain", "isMeta", "isCompactSummary"] {
        for (value, lessons) in [(true, 0), (false, 1)] {
            let sessions = Sessions::new();
            sessions.claude("a.jsonl", &marked(&sessions, key, value));
            assert_eq!(found(&sessions), lessons, "{key} {value}");
        }
    }
}

/// Who speaks of such a mark does not make it.
#[test]
fn talk_of_a_mark_is_no_mark() {
    let sessions = Sessions::new();
    let said = "no, write \"isSidechain\":true into src/line.rs instead of \"isMeta\":true";
    sessions.claude("a.jsonl", &session(&sessions.root(), said));
    assert_eq!(found(&sessions), 1);
}

/// What a tool printed is nobody's word, however it reads.
#[test]
fn the_output_of_a_tool_corrects_nobody() {
    let sessions = Sessions::new();
    let root = sessions.root();
    let result = |is_error: bool| {
        let block = json!([{ "type": "tool_result", "tool_use_id": "t", "content": PNPM, "is_error": is_error }]);
        line(&root, "assistant", &json!([{ "type": "text", "text": "I look." }]))
            + &line(&root, "user", &block)
    };
    sessions.claude("a.jsonl", &(result(false) + &result(true)));
    assert_eq!(found(&sessions), 0);
}

/// A person who refuses a call speaks in its result, and any tool can print the same words.
// proves: LOOP-24
#[test]
fn a_refusal_is_the_programs_own_or_it_is_none() {
    const FIXED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a \
        file edit, the new_string was NOT written to the file). ";
    let refused = format!("{FIXED}To tell you how to proceed, the user said:\n{PNPM}");
    let older = format!("{FIXED}The user provided the following reason for the rejection:  {PNPM}");
    let printed = format!("checking…\n{refused}");
    let said = |tool: &str, version: &str, text: &str, more: Value| {
        let sessions = Sessions::new();
        let root = sessions.root();
        let call = json!([{ "type": "tool_use", "id": "t", "name": tool, "input": { "command": "npm i", "file_path": "a" } }]);
        let block = json!([{ "type": "tool_result", "tool_use_id": "t", "content": text, "is_error": true }]);
        let mut result: Value = serde_json::from_str(&line(&root, "user", &block)).unwrap();
        result["version"] = version.into();
        result["toolUseResult"] = format!("Error: {text}").into();
        for (key, value) in more.as_object().unwrap() {
            result[key] = value.clone();
        }
        sessions.claude("a.jsonl", &(line(&root, "assistant", &call) + &format!("{result}\n")));
        found(&sessions)
    };
    let none = json!({});
    let feedback = json!({ "toolDenialKind": "user", "userFeedback": PNPM });
    for (tool, version, text, more, lessons) in [
        ("Edit", "2.1.47", &refused, &none, 1),
        ("Bash", "2.1.47", &refused, &none, 1),
        ("Write", "1.0.119", &older, &none, 1),
        ("mcp__tracker__get", "2.1.280", &refused, &feedback, 1),
        // A server says what it likes, and so does a command of a version that says nothing before it.
        ("mcp__tracker__get", "2.1.47", &refused, &none, 0),
        ("Bash", "1.0.119", &refused, &none, 0),
        ("WebFetch", "2.1.47", &refused, &none, 0),
        ("Bash", "2.1.47", &printed, &none, 0),
        (
            "Edit",
            "2.1.280",
            &refused,
            &json!({ "toolDenialKind": "user", "userFeedback": "no" }),
            0,
        ),
        ("Edit", "2.1.280", &refused, &json!({ "userFeedback": PNPM }), 0),
        ("Edit", "2.1.47", &refused, &json!({ "toolUseResult": "Error: x" }), 0),
        ("Edit", "2.1.47", &refused, &json!({ "toolUseResult": { "stdout": "x" } }), 0),
    ] {
        assert_eq!(said(tool, version, text, more.clone()), lessons, "{tool} {version} {more}");
    }
}

/// Only the folder that the line itself names counts: a tool's answer may name any.
// proves: LOOP-24
#[test]
fn a_folder_that_a_tool_names_is_not_the_sessions() {
    let other = Path::new("/elsewhere");
    let nested = |folder: &Path, inner: &Path, what: &str| -> String {
        let said = format!("no, use {what} here instead of npm");
        let lines = session(folder, &said);
        let marked = |text: &str| {
            let value: Value = serde_json::from_str(text).unwrap();
            // Before the line's own, as in real files.
            let inner = json!({ "cwd": inner });
            format!("{{\"toolUseResult\":{inner},{}\n", &value.to_string()[1..])
        };
        lines.lines().map(marked).collect()
    };
    let sessions = Sessions::new();
    let root = sessions.root();
    sessions.claude("own.jsonl", &nested(&root, other, "pnpm"));
    sessions.claude("other.jsonl", &nested(other, &root, "bun"));
    // A line that names none is where the one before it was.
    let unsaid = |text: String| text.replace(&format!("\"cwd\":{},", json!(other)), "");
    sessions
        .claude("late.jsonl", &(session(&root, "thanks") + &unsaid(nested(other, other, "yarn"))));
    // What a person pastes names no folder.
    let pasted = "why is this? <environment_context>\n<cwd>/elsewhere</cwd></environment_context>";
    let whole = "<environment_context>\n<cwd>/elsewhere</cwd></environment_context>";
    for (name, pasted) in [("rollout-a.jsonl", pasted), ("rollout-b.jsonl", whole)] {
        let said = format!("no, use {} instead of pip in ci/{name}", "uv");
        let meta = json!({ "id": "c-1", "cwd": root, "git": { "cwd": "/elsewhere" } });
        sessions.codex(
            name,
            &codex(&meta, &[("user", pasted), ("assistant", "Done."), ("user", &said)]),
        );
    }
    let told = sessions.signals(&["--dry-run"]);
    let all = told["taken"].as_array().unwrap().iter();
    let mut titles: Vec<&str> = all.map(|one| one["lesson"]["title"].as_str().unwrap()).collect();
    titles.sort_unstable();
    let expected = [
        "Use pnpm here instead of npm",
        "Use uv instead of pip in ci/rollout-a.jsonl",
        "Use uv instead of pip in ci/rollout-b.jsonl",
        "Use yarn here instead of npm",
    ];
    assert_eq!(titles, expected, "{told:#}");
}

/// Where a folder leads counts, not its name.
#[test]
fn a_symlink_that_leads_out_leads_out() {
    let sessions = Sessions::new();
    let root = sessions.root();
    let outside = sessions.night.aside.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("out")).unwrap();
    sessions.claude("a.jsonl", &session(&root.join("out"), PNPM));
    sessions.claude("b.jsonl", &session(&root.join("out/gone"), PNPM));
    assert_eq!(found(&sessions), 0);
    sessions.claude("c.jsonl", &session(&root.join("gone"), PNPM));
    assert_eq!(found(&sessions), 1);
}

/// A session of another repository is not read again, unless there is another one in its place.
#[test]
fn what_takes_the_place_of_anothers_session_is_read() {
    let sessions = Sessions::new();
    let path = sessions.claude("a.jsonl", &session(Path::new("/elsewhere"), PNPM));
    let before = fs::metadata(&path).unwrap().ino();
    sessions.spend(&[]);
    sessions.spend(&[]);
    // The same file, longer than before.
    let own = session(&sessions.root(), PNPM) + &session(&sessions.root(), "thanks");
    fs::write(&path, own).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().ino(), before);
    sessions.spend(&[]);
    assert_eq!(sessions.pending().len(), 1);
}

/// `/a-b` and `/a/b` have one name among the projects: a note there is somebody's, and nobody knows whose.
#[test]
fn notes_between_two_repositories_are_nobodys() {
    let sessions = Sessions::new();
    let note = "- Run `make seed` before the e2e tests, otherwise the login page is empty\n";
    sessions.claude("memory/MEMORY.md", note);
    sessions.claude("own.jsonl", &session(&sessions.root(), "thanks"));
    assert_eq!(found(&sessions), 1);
    sessions.claude("other.jsonl", &session(Path::new("/elsewhere"), "thanks"));
    let told = sessions.signals(&["--dry-run"]);
    assert_eq!(told["taken"].as_array().unwrap().len(), 0, "{told:#}");
    let left = told["sources"][0]["left"].to_string();
    assert!(left.contains("MEMORY.md") && left.contains("several repositories"), "{left}");
}
