//! Sessions of Gemini CLI: one JSON object with all messages, or in newer files a message a line.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::claude::text_of;
use super::codex::by_code;
use super::own_words::typed;
use super::turn::{Event, Outcome, Turn};

/// The kind of a session that an agent began: it speaks in a person's place.
pub(super) const ASIDE: &str = "subagent";

#[derive(Deserialize)]
struct Session<'a> {
    #[serde(rename = "sessionId", default)]
    name: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(borrow, default)]
    messages: Vec<&'a RawValue>,
}

/// What a whole session tells.
pub(super) struct Told {
    /// Its name.
    pub(super) session: Option<String>,
    pub(super) is_aside: bool,
    /// In order.
    pub(super) turns: Vec<Turn>,
}

/// The error says why a session cannot be read.
pub(super) fn session(bytes: &[u8]) -> Result<Told, String> {
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
    let is_aside = told.kind.as_deref() == Some(ASIDE);
    Ok(Told { session: told.name, is_aside, turns })
}

/// What one message tells.
pub(super) fn message_turns(line: u64, message: &Value) -> Vec<Turn> {
    let at = message.get("timestamp").and_then(Value::as_str).map(str::to_owned);
    let turn = |event| Turn { line, at: at.clone(), event };
    match message["type"].as_str() {
        Some("user") => vec![turn(Event::Person(typed_in(message)))],
        Some("gemini") => {
            let mut turns = vec![turn(Event::Agent(text_of(&message["content"])))];
            let calls = message["toolCalls"].as_array().into_iter().flatten();
            turns.extend(calls.flat_map(called).map(turn));
            turns
        }
        _ => Vec::new(),
    }
}

/// What was typed of a message. What is shown in its place was typed instead of it: `/triage`, and not the text that
/// the command stands for.
fn typed_in(message: &Value) -> String {
    let shown = message.get("displayContent");
    let content = shown.unwrap_or(&message["content"]);
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let mut all = String::new();
    for text in content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()) {
        let own = typed(text).unwrap_or_default();
        all.push_str(own);
        all.push('\n');
        // Behind what the program appends nothing was typed.
        if own.len() < text.len() {
            break;
        }
    }
    all
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
