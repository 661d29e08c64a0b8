//! Sessions of Codex: a JSON object a line, each item inside of a `payload`; in older files the items stand
//! by themselves.

use serde_json::Value;

use super::claude::text_of;
use super::json::{contains, has, strings};
use super::own_words::typed;
use super::turn::{Event, Outcome, Turn};

const CONTEXT: (&str, &str) = ("<environment_context>", "</environment_context>");

/// What the program itself writes down of a session.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Meta {
    pub(super) folder: Option<String>,
    pub(super) session: Option<String>,
    /// Another agent began it, and speaks in a person's place.
    pub(super) is_aside: bool,
}

pub(super) fn meta(line: &[u8]) -> Option<Meta> {
    let has_kind = |kind: &[u8]| has(line, b"\"type\"", kind);
    if !has_kind(b"\"session_meta\"") && !has_kind(b"\"turn_context\"") {
        return None;
    }
    let value: Value = serde_json::from_slice(line).ok()?;
    let (kind, payload) = (value["type"].as_str()?, &value["payload"]);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let is_session = kind == "session_meta";
    if !is_session && kind != "turn_context" {
        return None;
    }
    let is_aside = payload["source"].get("subagent").is_some()
        || payload["source"] == "subagent"
        || payload["thread_source"] == "subagent";
    Some(Meta {
        folder: text(&payload["cwd"]),
        session: text(&payload["id"]).filter(|_| is_session),
        is_aside: is_session && is_aside,
    })
}

/// The folder that the model is told. Older files say it nowhere else; a person who pastes such a block says
/// more than that.
pub(super) fn told_folder(line: &[u8]) -> Option<String> {
    if !contains(line, b"environment_context") {
        return None;
    }
    let value: Value = serde_json::from_slice(line).ok()?;
    let item = value.get("payload").unwrap_or(&value);
    let text = text_of(&item["content"]);
    let text = text.trim().strip_prefix(CONTEXT.0)?.strip_suffix(CONTEXT.1)?;
    let tagged = text.split_once("<cwd>").and_then(|(_, rest)| rest.split_once("</cwd>"));
    let listed = || {
        let (_, rest) = text.split_once("Current working directory:")?;
        Some((rest.lines().next()?, ""))
    };
    tagged.or_else(listed).map(|(folder, _)| folder.trim().to_owned())
}

/// As [`super::claude::turns`].
pub(super) fn turns(
    number: u64,
    line: &[u8],
    waits: impl Fn(&str) -> bool,
) -> Result<Vec<Turn>, ()> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(Vec::new());
    }
    if line.first() != Some(&b'{') || line.last() != Some(&b'}') {
        return Err(());
    }
    let is_output = contains(line, b"call_output\"");
    if is_output {
        let is_waited_for = strings(line, b"\"call_id\"").any(&waits);
        if !is_waited_for {
            return Ok(Vec::new());
        }
    }
    let is_talk = has(line, b"\"type\"", b"\"message\"")
        || contains(line, b"_call\"")
        || has(line, b"\"type\"", b"\"user_message\"")
        || has(line, b"\"type\"", b"\"agent_message\"");
    if !is_output && !is_talk {
        return Ok(Vec::new());
    }
    let value: Value = serde_json::from_slice(line).map_err(drop)?;
    let at = value.get("timestamp").and_then(Value::as_str).map(str::to_owned);
    let item = value.get("payload").unwrap_or(&value);
    let turn = |event| Turn { line: number, at: at.clone(), event };
    Ok(event(item).into_iter().map(turn).collect())
}

fn event(item: &Value) -> Option<Event> {
    let id = || Some(item["call_id"].as_str()?.to_owned());
    match item["type"].as_str()? {
        "message" => match item["role"].as_str()? {
            "user" => Some(Event::Person(typed_in(&item["content"]))),
            "assistant" => Some(Event::Agent(text_of(&item["content"]))),
            _ => None,
        },
        "user_message" => Some(Event::Person(item["message"].as_str()?.to_owned())),
        "agent_message" => Some(Event::Agent(item["message"].as_str()?.to_owned())),
        "function_call" => called(item["name"].as_str()?, item["arguments"].as_str()?, id()?),
        "custom_tool_call" => patched(item["input"].as_str()?),
        "local_shell_call" => {
            Some(Event::Command { id: id()?, text: command(&item["action"]["command"])? })
        }
        "function_call_output" => {
            Some(Event::Outcome { id: id()?, result: outcome(&item["output"]) })
        }
        _ => None,
    }
}

/// What was typed of a message, block by block.
fn typed_in(content: &Value) -> String {
    let blocks = content.as_array().into_iter().flatten();
    let texts = blocks.filter_map(|block| block["text"].as_str()).filter_map(typed);
    content.as_str().map_or_else(|| texts.collect::<Vec<_>>().join("\n"), str::to_owned)
}

fn called(name: &str, arguments: &str, id: String) -> Option<Event> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    if name == "apply_patch" {
        return patched(arguments["input"].as_str()?);
    }
    let text = command(&arguments["command"]).or_else(|| command(&arguments["cmd"]))?;
    if let Some((_, patch)) = text.split_once("*** Begin Patch") {
        return patched(patch);
    }
    Some(Event::Command { id, text })
}

/// A command line, or its words; a shell around it is left out.
fn command(value: &Value) -> Option<String> {
    if let Some(text) = value.as_str() {
        return Some(text.to_owned());
    }
    let words: Vec<&str> = value.as_array()?.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [shell, flag, text] if shell.ends_with("sh") && flag.starts_with('-') => {
            Some((*text).to_owned())
        }
        [] => None,
        words => Some(words.join(" ")),
    }
}

/// The first file that a patch changes.
fn patched(patch: &str) -> Option<Event> {
    let named = |line: &str| {
        let line = line.trim();
        let changed = line.strip_prefix("*** Update File: ");
        changed.or_else(|| line.strip_prefix("*** Add File: ")).map(str::to_owned)
    };
    patch.lines().find_map(named).map(Event::Edit)
}

fn outcome(output: &Value) -> Outcome {
    let text = match output {
        Value::String(text) => text.clone(),
        Value::Object(map) => {
            map.get("content").or_else(|| map.get("output")).map(text_of).unwrap_or_default()
        }
        other => text_of(other),
    };
    if let Ok(inner) = serde_json::from_str::<Value>(&text)
        && let Some(code) = inner["metadata"]["exit_code"].as_i64()
    {
        let said = inner["output"].as_str().unwrap_or_default().to_owned();
        return if code == 0 { Outcome::Worked } else { Outcome::Failed(said) };
    }
    by_code(&text)
}

/// By a line such as `Exit code: 1`.
pub(super) fn by_code(text: &str) -> Outcome {
    const SAID: [&str; 4] =
        ["exit code: ", "exit code ", "exited with code ", "process exited with code "];
    for line in text.lines() {
        let lower = line.trim().to_lowercase();
        let code = SAID.iter().find_map(|said| lower.strip_prefix(said));
        let code = code.map(|rest| rest.trim_end_matches(['.', ')']).trim());
        match code.and_then(|code| code.split_whitespace().next()).map(str::parse::<i64>) {
            Some(Ok(0)) => return Outcome::Worked,
            Some(Ok(_)) => return Outcome::Failed(text.to_owned()),
            _ => {}
        }
    }
    Outcome::Unknown
}
