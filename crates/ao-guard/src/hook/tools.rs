//! The tools of the hosts, and what each of them would write.

use serde_json::Value;

use super::{ToolCall, patch, reads};
use crate::command::Effect;
use crate::scope::{Change, ManifestKind, Policy, ProjectPath, Refusal, Rule, Standing};

/// Whose calls are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harness {
    Claude,
    Codex,
}

impl Harness {
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

/// Tools that write no file. What a subagent does comes to the hook by itself.
const CLAUDE_LOOKING: [&str; 27] = [
    "Agent",
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "NotebookRead",
    "Read",
    "ReadMcpResourceTool",
    "Task",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
];
const CODEX_LOOKING: [&str; 12] = [
    "get_goal",
    "grep_files",
    "list_dir",
    "list_mcp_resource_templates",
    "list_mcp_resources",
    "read_file",
    "read_mcp_resource",
    "request_user_input",
    "tool_search",
    "update_plan",
    "view_image",
    "web_search",
];
const CODEX_SHELLS: [&str; 7] = [
    "Bash",
    "container.exec",
    "exec_command",
    "local_shell",
    "shell",
    "shell_command",
    "unified_exec",
];

type Judged = Result<Vec<Effect>, Refusal>;

pub(super) fn judge(
    call: &ToolCall,
    policy: &Policy,
    harness: Harness,
    let_through: &[String],
) -> Judged {
    let tool = call.tool.as_str();
    if let_through.iter().any(|named| named == tool) {
        return look(call, policy);
    }
    match (harness, tool) {
        (Harness::Claude, "Write") => write(call, policy),
        (Harness::Claude, "Edit" | "MultiEdit") => edit(call, policy),
        (Harness::Claude, "NotebookEdit") => notebook(call, policy),
        (Harness::Claude, "Bash") => policy.judge_shell(call.text("command")?, call.directory()),
        (Harness::Codex, "apply_patch") => apply_patch(call, policy),
        (Harness::Codex, tool) if CODEX_SHELLS.contains(&tool) => codex_shell(call, policy),
        (Harness::Claude, tool) if CLAUDE_LOOKING.contains(&tool) => look(call, policy),
        (Harness::Codex, tool) if CODEX_LOOKING.contains(&tool) => look(call, policy),
        _ => Err(Refusal::new(Rule::Tool, tool, "the tool is not known, and could write anything")),
    }
}

/// A tool that reads: of everything by which it could name a file.
fn look(call: &ToolCall, policy: &Policy) -> Judged {
    reads::judge(call, policy)?;
    Ok(vec![Effect::Reads { program: call.tool.clone() }])
}

/// The one path that a tool writes. A second key that could be one is a doubt.
fn path(call: &ToolCall, policy: &Policy, key: &str) -> Result<ProjectPath, Refusal> {
    let text = call.text(key)?;
    let other = call.input.keys().find(|other| other.as_str() != key && names_a_file(other));
    if let Some(other) = other {
        return Err(call.refuse(&format!("`{other}` could name a second file")));
    }
    policy.project.path_of(text, call.directory())
}

fn names_a_file(key: &str) -> bool {
    ["path", "file", "filename"].iter().any(|end| key.to_ascii_lowercase().ends_with(end))
}

fn written(policy: &Policy, path: &ProjectPath, change: Change<'_>) -> Judged {
    if policy.judge(path, change)? == Standing::Folder {
        return Err(Refusal::new(Rule::Kind, path.as_str(), "it is a folder"));
    }
    Ok(vec![Effect::Writes { path: path.as_str().to_owned() }])
}

fn write(call: &ToolCall, policy: &Policy) -> Judged {
    let path = path(call, policy, "file_path")?;
    written(policy, &path, Change::To(call.text("content")?.as_bytes()))
}

fn notebook(call: &ToolCall, policy: &Policy) -> Judged {
    let path = path(call, policy, "notebook_path")?;
    written(policy, &path, Change::Unknown)
}

/// What an edit makes of a file matters only where part of the file is not to be changed.
fn edit(call: &ToolCall, policy: &Policy) -> Judged {
    let path = path(call, policy, "file_path")?;
    let edits = replacements(call)?;
    if ManifestKind::of(path.name()).is_none() {
        return written(policy, &path, Change::Unknown);
    }
    policy.judge_words(&path)?;
    let before = match policy.project.look(&path)? {
        Standing::Nothing => String::new(),
        _ => String::from_utf8(policy.read(&path)?)
            .map_err(|_| Refusal::new(Rule::Doubt, path.as_str(), "it is not UTF-8"))?,
    };
    let mut text = before;
    for edit in edits {
        let is_found = edit.old.is_empty() && text.is_empty()
            || !edit.old.is_empty() && text.contains(edit.old);
        if !is_found {
            return Err(Refusal::new(
                Rule::Doubt,
                path.as_str(),
                "what would be replaced is not there",
            ));
        }
        text = if edit.is_everywhere {
            text.replace(edit.old, edit.new)
        } else {
            text.replacen(edit.old, edit.new, 1)
        };
    }
    written(policy, &path, Change::To(text.as_bytes()))
}

struct Replacement<'a> {
    old: &'a str,
    new: &'a str,
    is_everywhere: bool,
}

fn replacements(call: &ToolCall) -> Result<Vec<Replacement<'_>>, Refusal> {
    if call.tool == "Edit" {
        return Ok(vec![replacement(call, &call.input)?]);
    }
    let Some(Value::Array(edits)) = call.input.get("edits") else {
        return Err(call.refuse("`edits` is no list"));
    };
    edits
        .iter()
        .map(|edit| match edit {
            Value::Object(edit) if edit.keys().any(|key| names_a_file(key)) => {
                Err(call.refuse("an edit names a file of its own"))
            }
            Value::Object(edit) => replacement(call, edit),
            _ => Err(call.refuse("an edit is no object")),
        })
        .collect()
}

fn replacement<'a>(
    call: &ToolCall,
    edit: &'a serde_json::Map<String, Value>,
) -> Result<Replacement<'a>, Refusal> {
    let text = |key: &str| {
        let found = edit.get(key).and_then(Value::as_str);
        found.ok_or_else(|| call.refuse(&format!("`{key}` is no text")))
    };
    let is_everywhere = match edit.get("replace_all") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(is_everywhere)) => *is_everywhere,
        Some(_) => return Err(call.refuse("`replace_all` is neither true nor false")),
    };
    Ok(Replacement { old: text("old_string")?, new: text("new_string")?, is_everywhere })
}

fn apply_patch(call: &ToolCall, policy: &Policy) -> Judged {
    let said: Vec<&str> = ["command", "input", "patch"]
        .iter()
        .filter_map(|key| call.input.get(*key))
        .filter_map(Value::as_str)
        .collect();
    match said.as_slice() {
        [text] => patch::judge(policy, text, call.directory()),
        _ => Err(call.refuse("it has no patch, or more than one")),
    }
}

fn is_plain_shell(shell: &str) -> bool {
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|folder| shell.strip_prefix(folder));
    matches!(name.unwrap_or(shell), "bash" | "zsh" | "sh")
}

/// A text for a shell, or a program with its arguments.
fn codex_shell(call: &ToolCall, policy: &Policy) -> Judged {
    // A shell of the agent's own making could do anything with the text.
    match call.input.get("shell") {
        None | Some(Value::Null) => {}
        Some(Value::String(shell)) if is_plain_shell(shell) => {}
        Some(_) => return Err(call.refuse("`shell` is none that is known")),
    }
    if call.input.contains_key("workdir") && call.input.contains_key("cwd") {
        return Err(call.refuse("it has two folders"));
    }
    let directory = match call.input.get("workdir").or(call.input.get("cwd")) {
        None | Some(Value::Null) => call.directory.clone(),
        Some(Value::String(folder)) => call.directory.join(folder),
        Some(_) => return Err(call.refuse("`workdir` is no text")),
    };
    match (call.input.get("command"), call.input.get("cmd")) {
        (Some(Value::String(text)), None) | (None, Some(Value::String(text))) => {
            policy.judge_shell(text, &directory)
        }
        (Some(Value::Array(words)), None) => {
            let argv: Option<Vec<String>> =
                words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            let argv = argv.ok_or_else(|| call.refuse("a word of the command is no text"))?;
            policy.judge_argv(&argv, &directory)
        }
        _ => Err(call.refuse("it has no command, or more than one")),
    }
}
