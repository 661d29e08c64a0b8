//! Sessions of Gemini CLI: one JSON object with all messages, or in newer files a message a line.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::claude::text_of;
use super::codex::by_code;
use super::turn::{Event, Outcome, Turn};

#[derive(Deserialize)]
struct Session<'a> {
    #[serde(rename = "sessionId", default)]
    session: Option<String>,
    #[serde(borrow, default)]
    messages: Vec<&'a RawValue>,
}

/// What a whole session tells, in order, and its name. The error says why it cannot be read.
pub(super) fn session(bytes: &[u8]) -> Result<(Option<String>, Vec<Turn>), String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    let told: Session<'_> =
        serde_json::from_str(text).map_err(|error| format!("is no session: {error}"))?;
    let mut turns = Vec::new();
    // Where a message begins is where its line begins: raw values are parts of the text itself.
    let (mut line, mut counted) = (1_u64, 0_usize);
    for message in &told.messages {
        let at = message.get().as_ptr().addr().saturating_sub(text.as_ptr().addr()).min(text.len());
        line += memchr::memchr_iter(b'\n', &bytes[counted.min(at)..at]).count() as u64;
        counted = at;
        if let Ok(value) = serde_json::from_str::<Value>(message.get()) {
            turns.extend(message_turns(line, &value));
        }
    }
    Ok((told.session, turns))
}

/// What one message tells.
pub(super) fn message_turns(line: u64, message: &Value) -> Vec<Turn> {
    let at = message.get("timestamp").and_then(Value::as_str).map(str::to_owned);
    let turn = |event| Turn { line, at: at.clone(), event };
    let text = text_of(&message["content"]);
    match message["type"].as_str() {
        Some("user") => vec![turn(Event::Person(text))],
        Some("gemini") => {
            let mut turns = vec![turn(Event::Agent(text))];
            let calls = message["toolCalls"].as_array().into_iter().flatten();
            turns.extend(calls.flat_map(called).map(turn));
            turns
        }
        _ => Vec::new(),
    }
}

fn called(call: &Value) -> Vec<Event> {
    let args = &call["args"];
    match call["name"].as_str() {
        Some("run_shell_command") => {
            let (Some(id), Some(text)) = (call["id"].as_str(), args["command"].as_str()) else {
                return Vec::new();
            };
            let begun = Event::Command { id: id.to_owned(), text: text.to_owned() };
            vec![begun, Event::Outcome { id: id.to_owned(), result: outcome(call) }]
        }
        Some("replace" | "write_file") => args["file_path"]
            .as_str()
            .map(|path| Event::Edit(path.to_owned()))
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

fn outcome(call: &Value) -> Outcome {
    let results = call["result"].as_array().into_iter().flatten();
    let said: Vec<&str> =
        results.filter_map(|one| one["functionResponse"]["response"]["output"].as_str()).collect();
    let said = said.join("\n");
    match call["status"].as_str() {
        Some("error") => Outcome::Failed(said),
        Some("success") => match by_code(&said) {
            Outcome::Unknown => Outcome::Worked,
            known => known,
        },
        _ => Outcome::Unknown,
    }
}
