//! The Responses API as Codex speaks it: an answer is a row of items. Files are written by a patch that
//! is plain text, the shell is called with arguments in JSON.

use serde_json::{Value, json};

use crate::mock::Outcome;
use crate::script::{Act, Step};

/// How Codex begins to say how a command or a patch ended.
const ENDED: [&str; 2] = ["Process exited with code ", "Exit code: "];

/// One answer: a call of a tool, or with no step left the last word.
pub(crate) fn events(count: usize, step: Option<&Step>) -> Vec<Value> {
    match step {
        Some(step) => calling(count, &step.act),
        None => answer(count, "Done."),
    }
}

pub(crate) fn calling(count: usize, act: &Act) -> Vec<Value> {
    response(count, &call(count, act))
}

pub(crate) fn answer(count: usize, text: &str) -> Vec<Value> {
    let item = json!({
        "type": "message", "id": format!("msg_{count}"), "role": "assistant",
        "content": [{ "type": "output_text", "text": text }],
    });
    response(count, &item)
}

fn response(count: usize, item: &Value) -> Vec<Value> {
    let id = format!("resp_{count}");
    let usage = json!({
        "input_tokens": 1, "input_tokens_details": null,
        "output_tokens": 1, "output_tokens_details": null, "total_tokens": 2,
    });
    vec![
        json!({ "type": "response.created", "response": { "id": id } }),
        json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "response": { "id": id, "usage": usage } }),
    ]
}

fn call(count: usize, act: &Act) -> Value {
    let id = format!("call_{count}");
    let patched = |body: String| {
        json!({
            "type": "custom_tool_call", "call_id": id, "name": "apply_patch",
            "input": format!("*** Begin Patch\n{body}*** End Patch\n"),
        })
    };
    let run = |command: &str| {
        json!({
            "type": "function_call", "call_id": id, "name": "exec_command",
            "arguments": json!({ "cmd": command }).to_string(),
        })
    };
    match act {
        Act::Write { path, line } => patched(format!("*** Add File: {path}\n+{line}\n")),
        Act::Edit { path, old, new } => {
            patched(format!("*** Update File: {path}\n@@\n-{old}\n+{new}\n"))
        }
        Act::Look(path) => run(&format!("cat '{path}'")),
        Act::Run(command) => run(command),
    }
}

/// What a request has of earlier calls. One whose end is not told has not worked.
pub(crate) fn results(body: &Value) -> Vec<Outcome> {
    let none = Vec::new();
    let items = body["input"].as_array().unwrap_or(&none).iter();
    items
        .filter(|item| {
            ["function_call_output", "custom_tool_call_output"]
                .map(Value::from)
                .contains(&item["type"])
        })
        .map(|item| {
            let text = item["output"].as_str().map_or(item["output"].to_string(), str::to_owned);
            let code = text
                .lines()
                .find_map(|line| ENDED.iter().find_map(|words| line.strip_prefix(words)));
            Outcome { worked: code == Some("0"), text }
        })
        .collect()
}
