//! Tools that read, of any host: each text by which one could name a file is judged as what is read.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::ToolCall;
use crate::scope::{Policy, Refusal, Rule};
use crate::secret_paths::Wanted;
use crate::shell::{Surety, Word, WordPart};

/// How keys end that name a file, a folder, an address or a glob.
const NAMING: [&str; 13] = [
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "dir",
    "directory",
    "folder",
    "uri",
    "url",
    "glob",
    "include",
    "image",
];
/// Tools that look for a text in every file of a folder.
const SEARCHING: [&str; 6] =
    ["Grep", "grep", "grep_files", "search_file_content", "grep_search", "codebase_search"];
/// Tools whose `pattern` is one of names.
const GLOBBING: [&str; 3] = ["Glob", "glob", "list_files"];
const VALUES_MAX: usize = 10_000;

pub(super) fn judge(call: &ToolCall, policy: &Policy) -> Result<(), Refusal> {
    let mut named = Vec::new();
    let mut open: Vec<(&str, &Value)> =
        call.input.iter().map(|(key, value)| (key.as_str(), value)).collect();
    let mut count = 0;
    while let Some((key, value)) = open.pop() {
        count += 1;
        if count > VALUES_MAX {
            return Err(call.refuse("it has too many values"));
        }
        match value {
            Value::String(text) if is_naming(&call.tool, key) => named.push(text.as_str()),
            Value::Array(values) => open.extend(values.iter().map(|value| (key, value))),
            Value::Object(values) => {
                open.extend(values.iter().map(|(key, value)| (key.as_str(), value)));
            }
            _ => {}
        }
    }
    let text = |key: &str| call.input.get(key).and_then(Value::as_str);
    let folder = ["path", "dir_path", "directory"].iter().find_map(|key| text(key));
    let folder: PathBuf = call.directory().join(folder.unwrap_or_default());
    for text in named {
        let is_glob = text.contains(['*', '?', '[', '{', '~']);
        let part = if is_glob { WordPart::Bare } else { WordPart::Quoted };
        let mut parts = vec![part(text.to_owned())];
        if text.contains(['*', '?', '[']) {
            // What a pattern matches is named, and not read by it.
            parts.push(WordPart::Hole);
        }
        let word = Word { text: text.to_owned(), surety: Surety::Pattern, parts };
        policy.judge_read(&word, &[call.directory(), &folder])?;
    }
    if SEARCHING.contains(&call.tool.as_str()) {
        return search(call, policy, &folder);
    }
    Ok(())
}

fn is_naming(tool: &str, key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    NAMING.iter().any(|end| key.ends_with(end)) || key == "pattern" && GLOBBING.contains(&tool)
}

/// Claude Code looks into hidden files too, and leaves out what git ignores.
fn search(call: &ToolCall, policy: &Policy, folder: &Path) -> Result<(), Refusal> {
    let text = |key: &str| call.input.get(key).and_then(Value::as_str);
    let only: Vec<String> = ["glob", "include"]
        .iter()
        .filter_map(|key| text(key))
        .flat_map(str::split_whitespace)
        .map(|glob| glob.rsplit('/').next().unwrap_or(glob).to_owned())
        .collect();
    let is_typed = text("type").is_some_and(|kind| kind != "all");
    let wanted = Wanted {
        has_ignored_left_out: only.is_empty(),
        only: if is_typed && only.is_empty() { vec!["*.source".to_owned()] } else { only },
        ..Wanted::default()
    };
    policy.judge_read_whole(folder, &wanted).map_err(|refusal| Refusal {
        rule: if refusal.rule == Rule::Doubt { Rule::Doubt } else { Rule::Secret },
        ..refusal
    })
}
