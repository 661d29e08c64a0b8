//! Sessions of coding agents as they are: most bytes are outputs of tools and files that were written, then
//! come long texts of the agent and what it thought; one turn in forty is a person's.
//!
//! Claude Code writes each block of a message on a line of its own, and the output of a tool twice. Codex
//! writes what is said twice, and what the model thought sealed. Gemini CLI writes one object.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

const FILE_BYTES: usize = 8_000_000;
const PERSON_EVERY: usize = 40;
/// One command in so many fails.
const FAILS_EVERY: usize = 25;
const DAY: &str = "2026-03-01T10:00:00Z";

/// Sessions of about so many bytes in all.
pub(crate) fn make(home: &Path, repo: &Path, bytes: usize) -> Vec<PathBuf> {
    let claude = home.join(".claude/projects/-repo");
    let codex = home.join(".codex/sessions/2026/03/01");
    let gemini = home.join(".gemini/tmp/repo/chats");
    for folder in [&claude, &codex, &gemini] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(gemini.parent().unwrap().join(".project_root"), repo.to_str().unwrap()).unwrap();
    let mut numbers = Numbers(11);
    let session = |number: usize| {
        // Five of eight are Claude Code's, two Codex's, one Gemini CLI's.
        let (path, ends) = match number % 8 {
            5 | 6 => (codex.join(format!("rollout-{number:05}.jsonl")), ("", "", "")),
            7 => (gemini.join(format!("{number:05}.json")), ("{\"messages\":[\n", ",\n", "\n]}\n")),
            _ => (claude.join(format!("{number:05}.jsonl")), ("", "", "")),
        };
        let mut file = BufWriter::new(File::create(&path).unwrap());
        file.write_all(ends.0.as_bytes()).unwrap();
        if number % 8 == 5 || number % 8 == 6 {
            let meta = json!({ "type": "session_meta", "payload": { "id": "c", "cwd": repo } });
            writeln!(file, "{meta}").unwrap();
        }
        let (mut written, mut turn) = (0, 0);
        while written < FILE_BYTES.min(bytes) {
            turn += 1;
            let values = match number % 8 {
                5 | 6 => codex_turn(number, turn, &mut numbers),
                7 => gemini_turn(number, turn, &mut numbers),
                _ => claude_turn(repo, number, turn, &mut numbers),
            };
            for value in values {
                let between = if ends.1.is_empty() || written == 0 { "" } else { ends.1 };
                let after = if ends.1.is_empty() { "\n" } else { "" };
                let text = format!("{between}{value}{after}");
                file.write_all(text.as_bytes()).unwrap();
                written += text.len();
            }
        }
        file.write_all(ends.2.as_bytes()).unwrap();
        file.flush().unwrap();
        path
    };
    (0..bytes.div_ceil(FILE_BYTES)).map(session).collect()
}

/// What a person says: every fourth time it is a correction.
fn said(number: usize, turn: usize) -> String {
    if turn.is_multiple_of(PERSON_EVERY * 4) {
        format!("no, use `task-{number}` in src/part{turn}.rs instead of the old one")
    } else {
        format!("please look at part {turn} of module {number} now. It should be as fast as before")
    }
}

/// A line of Claude Code.
pub(crate) fn claude_line(repo: &Path, kind: &str, content: &Value) -> Value {
    json!({
        "parentUuid": "5f0c8a6e-1111-4222-8333-944445555666", "isSidechain": false, "userType": "external",
        "cwd": repo, "sessionId": "s", "version": "2.1.0", "gitBranch": "main", "type": kind,
        "message": { "role": kind, "content": content },
        "uuid": "0a1b2c3d-1111-4222-8333-944445555666", "timestamp": DAY,
    })
}

fn claude_turn(repo: &Path, number: usize, turn: usize, numbers: &mut Numbers) -> Vec<Value> {
    let line = |kind: &str, content: Value| claude_line(repo, kind, &content);
    if turn.is_multiple_of(PERSON_EVERY) {
        return vec![line("user", json!(said(number, turn)))];
    }
    let mut lines = Vec::new();
    if turn.is_multiple_of(3) {
        let thought = json!([{ "type": "thinking", "thinking": numbers.talk(60), "signature": numbers.sealed(600) }]);
        lines.push(line("assistant", thought));
    }
    if turn.is_multiple_of(2) {
        let talk = numbers.talk(20 + turn % 260);
        lines.push(line("assistant", json!([{ "type": "text", "text": talk }])));
    }
    let id = format!("toolu_{number}_{turn}");
    let (name, input, output) = match turn % 6 {
        0 | 3 => (
            "Read",
            json!({ "file_path": format!("/r/src/part{turn}.rs") }),
            numbers.output(300 + turn % 1500),
        ),
        1 => {
            let text = numbers.output(200 + turn % 900);
            (
                "Write",
                json!({ "file_path": format!("/r/src/part{turn}.rs"), "content": text }),
                "ok".to_owned(),
            )
        }
        4 => {
            let (old, new) = (numbers.output(60), numbers.output(90));
            (
                "Edit",
                json!({ "file_path": "/r/src/a.rs", "old_string": old, "new_string": new }),
                numbers.output(120),
            )
        }
        _ => (
            "Bash",
            json!({ "command": format!("make part{turn}"), "description": "Builds a part" }),
            numbers.output(100 + turn % 1600),
        ),
    };
    lines.push(line(
        "assistant",
        json!([{ "type": "tool_use", "id": id, "name": name, "input": input }]),
    ));
    let is_error = name == "Bash" && turn.is_multiple_of(FAILS_EVERY);
    let mut result = line(
        "user",
        json!([{ "tool_use_id": id, "type": "tool_result", "content": output, "is_error": is_error }]),
    );
    result["toolUseResult"] = json!({ "stdout": output, "stderr": "", "interrupted": false });
    lines.push(result);
    lines
}

fn codex_turn(number: usize, turn: usize, numbers: &mut Numbers) -> Vec<Value> {
    let line =
        |kind: &str, payload: Value| json!({ "timestamp": DAY, "type": kind, "payload": payload });
    let item = |payload: Value| line("response_item", payload);
    if turn.is_multiple_of(PERSON_EVERY) {
        let text = said(number, turn);
        let content = [json!({ "type": "input_text", "text": text })];
        return vec![
            item(json!({ "type": "message", "role": "user", "content": content })),
            line("event_msg", json!({ "type": "user_message", "message": text })),
        ];
    }
    let mut lines = vec![item(
        json!({ "type": "reasoning", "summary": [], "encrypted_content": numbers.sealed(1200) }),
    )];
    if turn.is_multiple_of(2) {
        let talk = numbers.talk(20 + turn % 260);
        let content = [json!({ "type": "output_text", "text": talk })];
        lines.push(line("event_msg", json!({ "type": "agent_message", "message": talk })));
        lines.push(item(json!({ "type": "message", "role": "assistant", "content": content })));
    }
    let arguments = json!({ "command": ["bash", "-lc", format!("make part{turn}")] }).to_string();
    let code = u8::from(turn.is_multiple_of(FAILS_EVERY));
    let output = numbers.output(200 + turn % 1600);
    let output = json!({ "output": output, "metadata": { "exit_code": code } }).to_string();
    let id = format!("call_{turn}");
    lines.push(item(
        json!({ "type": "function_call", "name": "shell", "call_id": id, "arguments": arguments }),
    ));
    lines.push(item(json!({ "type": "function_call_output", "call_id": id, "output": output })));
    lines.push(line("event_msg", json!({ "type": "token_count", "info": { "total": turn } })));
    lines
}

fn gemini_turn(number: usize, turn: usize, numbers: &mut Numbers) -> Vec<Value> {
    if turn.is_multiple_of(PERSON_EVERY) {
        return vec![json!({ "type": "user", "timestamp": DAY, "content": said(number, turn) })];
    }
    let output = numbers.output(200 + turn % 1600);
    let status = if turn.is_multiple_of(FAILS_EVERY) { "error" } else { "success" };
    let call = json!({
        "id": format!("run-{turn}"), "name": "run_shell_command", "status": status,
        "args": { "command": format!("make part{turn}") },
        "result": [{ "functionResponse": { "response": { "output": output } } }],
    });
    let talk = numbers.talk(20 + turn % 160);
    vec![json!({ "type": "gemini", "timestamp": DAY, "content": talk, "toolCalls": [call] })]
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below
    }

    fn words(&mut self, words: &[&str], count: usize) -> String {
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(words[self.next(words.len())]);
            text.push(' ');
        }
        text
    }

    /// What a program prints, or what a file has in it: short lines with quotes.
    #[rustfmt::skip]
    fn output(&mut self, count: usize) -> String {
        self.words(&[
            "compiling", "crate", "warning:", "unused", "src/lib.rs:42:7", "\"quoted\"", "error", "ok", "test", "passed",
            "0.31s\n", "the", "let", "value\n", "node", "--flag", "{\n", "\t}\n", "fn", "\"type\": \"user\"",
        ], count)
    }

    /// What an agent says: sentences, and every twentieth time a decision.
    #[rustfmt::skip]
    fn talk(&mut self, count: usize) -> String {
        let talk = self.words(&[
            "I", "looked", "at", "the", "parser", "and", "it", "reads", "each", "line.", "Now", "the", "tests", "pass.",
            "Next", "I", "will", "change", "`src/lib.rs`", "so", "that", "it", "does", "not", "use", "the", "old",
            "client.", "There", "is", "an", "error", "in", "the", "build:", "we", "never", "close", "the", "file.\n\n",
            "-", "don't", "instead", "of", "that", "should", "always", "work,", "because", "the", "cache", "is", "kept.",
            "let's", "see", "which", "one", "wins.", "You", "can", "run", "`make", "check`",
        ], count);
        match self.next(20) {
            0 => format!("{talk}. I decided to use `pool-{}` for all, because each of them waits.", self.next(1000)),
            _ => talk,
        }
    }

    /// What nobody can read.
    fn sealed(&mut self, count: usize) -> String {
        const LETTERS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        (0..count).map(|_| char::from(LETTERS[self.next(64)])).collect()
    }
}
