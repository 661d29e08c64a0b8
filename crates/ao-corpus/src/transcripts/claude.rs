//! Sessions of Claude Code: a JSON object a line.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::json::{contains, has, strings, values};
use super::turn::{Event, Outcome, Turn};

/// What Claude Code puts before the words of a person who refused.
const REFUSED: &str = "the user said:";
/// What it says where the person said nothing.
const REFUSED_PLAIN: &str = "doesn't want to proceed";

/// Whether the line can say anything at all; looked at before it is parsed.
fn is_talk(line: &[u8]) -> bool {
    let is_user = has(line, b"\"type\"", b"\"user\"");
    let is_agent = !is_user && has(line, b"\"type\"", b"\"assistant\"");
    if !is_user && !is_agent {
        return is_queued(line);
    }
    // Side agents are told what to do by the agent, not by a person.
    let is_aside = has(line, b"\"isSidechain\"", b"true")
        || has(line, b"\"isMeta\"", b"true")
        || has(line, b"\"isCompactSummary\"", b"true");
    let is_thought =
        is_agent && !contains(line, b"\"tool_use\"") && !has(line, b"\"type\"", b"\"text\"");
    !is_aside && !is_thought
}

/// What a person types while the agent works waits in a queue.
fn is_queued(line: &[u8]) -> bool {
    has(line, b"\"type\"", b"\"queue-operation\"") && has(line, b"\"operation\"", b"\"enqueue\"")
}

/// Whether a message has words of its own beside what tools gave back, in which there may be texts, too.
fn has_words(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Line<'a> {
        #[serde(borrow)]
        message: Message<'a>,
    }
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        content: Vec<Block<'a>>,
    }
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
    }
    // Of a file that was read it is said that it is a text.
    let is_block =
        |rest: &[u8]| rest.starts_with(b"\"text\"") && !rest.starts_with(b"\"text\",\"file\"");
    if !values(line, b"\"type\"").any(is_block) {
        return false;
    }
    let parsed = serde_json::from_slice::<Line<'_>>(line);
    parsed.is_ok_and(|line| line.message.content.iter().any(|block| block.kind == "text"))
}

/// What a line tells. `waits` knows which commands somebody waits for. The error says that the line is no
/// JSON.
pub(super) fn turns(
    number: u64,
    line: &[u8],
    waits: impl Fn(&str) -> bool,
    session: &mut Option<String>,
) -> Result<Vec<Turn>, ()> {
    if !is_talk(line) {
        // A line that is cut or broken is told; whether others are whole does not matter.
        let is_object =
            line.trim_ascii().first() == Some(&b'{') && line.trim_ascii().last() == Some(&b'}');
        return if is_object || line.trim_ascii().is_empty() { Ok(Vec::new()) } else { Err(()) };
    }
    let is_result = contains(line, b"\"tool_result\"") && !has(line, b"\"is_error\"", b"true");
    if is_result && !has_words(line) {
        let worked = |id: &str| Turn {
            line: number,
            at: timestamp(line),
            event: Event::Outcome { id: id.to_owned(), result: Outcome::Worked },
        };
        let ids = strings(line, b"\"tool_use_id\"").filter(|id| waits(id));
        return Ok(ids.map(worked).collect());
    }
    let value: Value = serde_json::from_slice(line).map_err(drop)?;
    if let Some(id) = value.get("sessionId").and_then(Value::as_str) {
        *session = Some(id.to_owned());
    }
    let is_queued = value["type"] == "queue-operation";
    let is_person = value["type"] == "user" || is_queued;
    let at = value.get("timestamp").and_then(Value::as_str).map(str::to_owned);
    let turn = |event| Turn { line: number, at: at.clone(), event };
    let content = if is_queued { &value["content"] } else { &value["message"]["content"] };
    if let Some(text) = content.as_str() {
        let text = text.to_owned();
        return Ok(vec![turn(if is_person { Event::Person(text) } else { Event::Agent(text) })]);
    }
    let mut events = Vec::new();
    let mut said = String::new();
    for block in content.as_array().into_iter().flatten() {
        if let Some(text) = block.as_str() {
            said.push_str(text);
            said.push('\n');
        }
        match block["type"].as_str() {
            Some("text") => {
                said.push_str(block["text"].as_str().unwrap_or_default());
                said.push('\n');
            }
            Some("tool_use") => events.extend(used(block)),
            Some("tool_result") => events.extend(result(block)),
            _ => {}
        }
    }
    let mut turns: Vec<Turn> = events.into_iter().map(turn).collect();
    if !said.trim().is_empty() {
        // An agent says what it does next; a person speaks when tools have given something back.
        let at = if is_person { turns.len() } else { 0 };
        turns.insert(at, turn(if is_person { Event::Person(said) } else { Event::Agent(said) }));
    }
    Ok(turns)
}

/// When a line was written, with nothing else of it kept: what a tool printed may have such a key, too.
fn timestamp(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Stamped {
        timestamp: Option<String>,
    }
    serde_json::from_slice::<Stamped>(line).ok()?.timestamp
}

fn used(block: &Value) -> Option<Event> {
    let input = &block["input"];
    match block["name"].as_str()? {
        "Bash" => Some(Event::Command {
            id: block["id"].as_str()?.to_owned(),
            text: input["command"].as_str()?.to_owned(),
        }),
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => {
            let path = input["file_path"].as_str().or_else(|| input["notebook_path"].as_str())?;
            Some(Event::Edit(path.to_owned()))
        }
        _ => None,
    }
}

fn result(block: &Value) -> Option<Event> {
    let text = text_of(&block["content"]);
    let is_error = block["is_error"].as_bool().unwrap_or(false);
    if is_error && text.contains(REFUSED_PLAIN) {
        let (_, said) = text.split_once(REFUSED)?;
        return Some(Event::Refusal(said.trim().to_owned()));
    }
    let id = block["tool_use_id"].as_str()?.to_owned();
    let result = if is_error { Outcome::Failed(text) } else { Outcome::Worked };
    Some(Event::Outcome { id, result })
}

/// A string, or blocks of text.
pub(super) fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    texts.join("\n")
}
