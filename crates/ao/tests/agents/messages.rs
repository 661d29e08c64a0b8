//! The Messages API as Claude Code speaks it: a message is a row of blocks, each begun, added to and
//! ended by events of its own.

use serde_json::{Value, json};

use crate::mock::Outcome;
use crate::script::{Act, Step};

/// One message: a call of a tool, or with no step left the last word.
pub(crate) fn events(count: usize, step: Option<&Step>) -> Vec<Value> {
    match step {
        Some(step) => calling(count, &step.act),
        None => text(count, "Done."),
    }
}

pub(crate) fn calling(count: usize, act: &Act) -> Vec<Value> {
    message(count, call(count, act))
}

fn text(count: usize, text: &str) -> Vec<Value> {
    let delta = json!({ "type": "text_delta", "text": text });
    message(count, (json!({ "type": "text", "text": "" }), vec![delta], "end_turn"))
}

/// Through the tool for it, if there is one and JSON is to be said.
pub(crate) fn answer(count: usize, answer: &str, body: &Value) -> Vec<Value> {
    const TOOL: &str = "StructuredOutput";
    let is_offered =
        body["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == TOOL));
    // Some versions want a last word after it.
    if results(body).last().is_some_and(|result| result.worked) {
        return text(count, "Done.");
    }
    if !is_offered || serde_json::from_str::<Value>(answer).is_err() {
        return text(count, answer);
    }
    let block =
        json!({ "type": "tool_use", "id": format!("toolu_{count}"), "name": TOOL, "input": {} });
    let delta = json!({ "type": "input_json_delta", "partial_json": answer });
    message(count, (block, vec![delta], "tool_use"))
}

fn message(count: usize, (block, deltas, reason): (Value, Vec<Value>, &str)) -> Vec<Value> {
    let message = json!({
        "id": format!("msg_{count}"), "type": "message", "role": "assistant", "model": "mock",
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    let mut events = vec![
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
    ];
    events.extend(
        deltas
            .into_iter()
            .map(|delta| json!({ "type": "content_block_delta", "index": 0, "delta": delta })),
    );
    events.extend([
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({
            "type": "message_delta",
            "delta": { "stop_reason": reason, "stop_sequence": null },
            "usage": { "output_tokens": 1 },
        }),
        json!({ "type": "message_stop" }),
    ]);
    events
}

/// The input of a tool comes as pieces of its JSON.
fn call(count: usize, act: &Act) -> (Value, Vec<Value>, &'static str) {
    let (name, input) = match act {
        Act::Write { path, line } => {
            ("Write", json!({ "file_path": path, "content": format!("{line}\n") }))
        }
        Act::Edit { path, old, new } => {
            ("Edit", json!({ "file_path": path, "old_string": old, "new_string": new }))
        }
        Act::Look(path) => ("Read", json!({ "file_path": path })),
        Act::Run(command) => ("Bash", json!({ "command": command, "description": "A step" })),
    };
    let input = input.to_string();
    let (start, end) = input.split_at(input.find(':').unwrap_or(0));
    let piece = |text: &str| json!({ "type": "input_json_delta", "partial_json": text });
    let block =
        json!({ "type": "tool_use", "id": format!("toolu_{count}"), "name": name, "input": {} });
    (block, vec![piece(start), piece(end)], "tool_use")
}

/// What a request has of earlier calls.
pub(crate) fn results(body: &Value) -> Vec<Outcome> {
    let none = Vec::new();
    let messages = body["messages"].as_array().unwrap_or(&none).iter();
    messages
        .flat_map(|message| message["content"].as_array().unwrap_or(&none))
        .filter(|block| block["type"] == "tool_result")
        .map(|block| Outcome {
            worked: block["is_error"] != true,
            text: block["content"].to_string(),
        })
        .collect()
}
