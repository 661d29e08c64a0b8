//! Sessions of Claude Code: a JSON object a line.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::calls::Calls;
use super::json::{contains, has, strings, values};
use super::own_words::typed;
use super::turn::{Event, Outcome, Turn};

/// What Claude Code writes to the agent where a person refused a call: this, one of the next, and the person's words.
const REFUSED: &str = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a \
    file edit, the new_string was NOT written to the file). ";
const REASONS: [&str; 2] = [
    "To tell you how to proceed, the user said:\n",
    "The user provided the following reason for the rejection:  ",
];
/// It may say more behind them.
const NOTE: &str = "\n\nNote: The user's next message may contain a correction or preference.";
/// How it begins the same text in its own record of the result.
const AS_ERROR: &str = "Error: ";
/// Tools of its own, whose errors say first what went wrong. What another tool says is that tool's.
#[rustfmt::skip]
const OWN_TOOLS: [&str; 10] = [
    "Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "ExitPlanMode", "Read", "Glob", "Grep", "TodoWrite",
];
/// Of the first major version a failed command says nothing before its own output.
const COMMANDS_FROM: u64 = 2;

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
        || has(line, b"\"isCompactSummary\"", b"true")
        || has(line, b"\"isVisibleInTranscriptOnly\"", b"true");
    let is_thought =
        is_agent && !contains(line, b"\"tool_use\"") && !has(line, b"\"type\"", b"\"text\"");
    !is_aside && !is_thought
}

/// What a person types while the agent works is handed over with the next result of a tool. It waits in a queue until then, in
/// which programs put theirs, too: what only the queue has is nobody's.
fn is_queued(line: &[u8]) -> bool {
    has(line, b"\"type\"", b"\"attachment\"") && has(line, b"\"type\"", b"\"queued_command\"")
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
    calls: &mut Calls,
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
    let queued = &value["attachment"];
    let is_queued = value["type"] == "attachment" && queued["type"] == "queued_command";
    let is_person = value["type"] == "user" || is_queued && queued["commandMode"] == "prompt";
    if !is_person && value["type"] != "assistant" {
        return Ok(Vec::new());
    }
    let at = value.get("timestamp").and_then(Value::as_str).map(str::to_owned);
    let turn = |event| Turn { line: number, at: at.clone(), event };
    let content = if is_queued { &queued["prompt"] } else { &value["message"]["content"] };
    let is_nobodys = is_person && is_programs(&value);
    if let Some(text) = content.as_str() {
        let text = text.to_owned();
        if is_nobodys {
            return Ok(Vec::new());
        }
        return Ok(vec![turn(if is_person { Event::Person(text) } else { Event::Agent(text) })]);
    }
    let mut events = Vec::new();
    let mut said = String::new();
    for block in content.as_array().into_iter().flatten() {
        let text = match block["type"].as_str() {
            Some("text") => block["text"].as_str(),
            Some("tool_use") => {
                calls.begun(block);
                events.extend(used(block));
                None
            }
            Some("tool_result") => {
                events.extend(result(&value, block, calls));
                None
            }
            _ => block.as_str(),
        };
        // Each block is one that the program put there: what it marks in one says nothing of the next.
        let text = text.filter(|_| !is_nobodys);
        let text = if is_person { text.and_then(typed) } else { text };
        if let Some(text) = text {
            said.push_str(text);
            said.push('\n');
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

fn result(line: &Value, block: &Value, calls: &Calls) -> Option<Event> {
    if let Some(said) = refusal(line, block, calls) {
        return Some(Event::Refusal(said));
    }
    let text = text_of(&block["content"]);
    let is_error = block["is_error"].as_bool().unwrap_or(false);
    if is_error && text.starts_with(REFUSED) {
        return None;
    }
    let id = block["tool_use_id"].as_str()?.to_owned();
    let result = if is_error { Outcome::Failed(text) } else { Outcome::Worked };
    Some(Event::Outcome { id, result })
}

/// The words of a person who refused a call, if it is beyond doubt that the program wrote them down: in a field of
/// its own beside the result, or, before there was one, as the whole of an error that the called tool could not have
/// given.
fn refusal(line: &Value, block: &Value, calls: &Calls) -> Option<String> {
    let content = block["content"].as_str()?;
    let rest = content.strip_prefix(REFUSED)?;
    let is_alone = line["message"]["content"].as_array().is_some_and(|blocks| blocks.len() == 1);
    let as_error = line["toolUseResult"].as_str()?.strip_prefix(AS_ERROR);
    if block["is_error"] != true || !is_alone || as_error != Some(content) {
        return None;
    }
    let said = REASONS.iter().find_map(|reason| rest.strip_prefix(reason))?;
    let said = said.split(NOTE).next().unwrap_or_default().trim();
    if let Some(feedback) = line["userFeedback"].as_str() {
        let is_said = line.get("toolDenialKind").is_some() && feedback.trim() == said;
        return is_said.then(|| said.to_owned());
    }
    let tool = calls.tool(block["tool_use_id"].as_str()?)?;
    let major = line["version"].as_str()?.split('.').next()?.parse::<u64>().ok()?;
    let is_own = OWN_TOOLS.contains(&tool) && (tool != "Bash" || major >= COMMANDS_FROM);
    is_own.then(|| said.to_owned())
}

/// Whether the program itself says that nobody typed this.
fn is_programs(line: &Value) -> bool {
    let is_other =
        |value: &Value, human: &[&str]| value.as_str().is_some_and(|kind| !human.contains(&kind));
    is_other(&line["origin"]["kind"], &["human"])
        || is_other(&line["attachment"]["origin"]["kind"], &["human"])
        || is_other(&line["promptSource"], &["typed", "queued", "suggestion"])
        || line.get("sourceToolUseID").is_some()
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
