//! Whose word a line of a transcript is.

use serde_json::{Value, json};

use crate::signals::{PNPM, Sessions, line, session};

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
    // A person who refuses a call speaks in its result.
    let refused = format!(
        "The user doesn't want to proceed with this tool use. To tell you how, the user said:\n{PNPM}"
    );
    sessions.claude(
        "b.jsonl",
        &result(true).replace(&json!(PNPM).to_string(), &json!(refused).to_string()),
    );
    assert_eq!(found(&sessions), 1);
}
