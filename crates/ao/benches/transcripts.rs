//! What it costs to read transcripts: a gigabyte the first time, the same again, and after one session went
//! on; beside a peer that parses every line.
//!
//!     cargo bench --bench transcripts             1,000 MB
//!     cargo bench --bench transcripts -- 200      so many MB
//!
//! Three of four sessions are Claude Code's, the others Codex's. Most bytes are outputs of tools, as in real
//! ones: a turn of the agent has an output of some kilobytes, and one in forty is a person's. Wall time on a
//! shared machine is noise; CPU time is what holds.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the binary and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use cost::used;
use nix::sys::resource::UsageWho;
use serde_json::{Value, json};

const MEGABYTES: usize = 1000;
/// More is not made, whatever is asked for.
const MEGABYTES_MAX: usize = 4000;
const FILE_BYTES: usize = 8_000_000;
const PERSON_EVERY: usize = 40;

fn main() {
    let asked = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let megabytes: usize = asked.unwrap_or(MEGABYTES).min(MEGABYTES_MAX);
    // Removed again when it is dropped.
    let place = tempfile::tempdir().unwrap();
    let (repo, home) = (place.path().join("repo"), place.path().join("home"));
    fs::create_dir_all(repo.join(".agents/learnings")).unwrap();
    let files = make(&home, &repo, megabytes * 1_000_000);
    let bytes: u64 = files.iter().map(|path| path.metadata().unwrap().len()).sum();
    println!("{} transcripts, {} MB", files.len(), bytes / 1_000_000);
    run("first time", &home, &repo);
    run("nothing new", &home, &repo);
    let mut grown = File::options().append(true).open(&files[0]).unwrap();
    grown.write_all(person(&repo, "no, use `make again` here instead of make").as_bytes()).unwrap();
    run("one went on", &home, &repo);
    let (since, before) = (Instant::now(), used(UsageWho::RUSAGE_SELF));
    let mut lines = 0_u64;
    for path in &files {
        for line in BufReader::new(File::open(path).unwrap()).split(b'\n') {
            let value: Value = serde_json::from_slice(&line.unwrap()).unwrap();
            lines += u64::from(value.is_object());
        }
    }
    let cpu = used(UsageWho::RUSAGE_SELF).saturating_sub(before);
    println!(
        "{:<24} {:>8.2?} of CPU, {:>8.2?} of wall time, {lines} lines",
        "serde_json, every line",
        cpu,
        since.elapsed()
    );
}

fn run(what: &str, home: &Path, repo: &Path) {
    let (since, before) = (Instant::now(), used(UsageWho::RUSAGE_CHILDREN));
    let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
    command.env_clear().env("HOME", home).arg("-C").arg(repo).args(["--json", "signals"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let cpu = used(UsageWho::RUSAGE_CHILDREN).saturating_sub(before);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sum = |key: &str| -> u64 {
        told["sources"].as_array().unwrap().iter().filter_map(|source| source[key].as_u64()).sum()
    };
    println!(
        "{what:<24} {cpu:>8.2?} of CPU, {:>8.2?} of wall time, {} MB read, {} taken",
        since.elapsed(),
        sum("bytes") / 1_000_000,
        told["taken"].as_array().unwrap().len()
    );
}

/// Sessions of about so many bytes in all.
fn make(home: &Path, repo: &Path, bytes: usize) -> Vec<PathBuf> {
    let count = bytes.div_ceil(FILE_BYTES);
    let claude = home.join(".claude/projects/-repo");
    let codex = home.join(".codex/sessions/2026/03/01");
    fs::create_dir_all(&claude).unwrap();
    fs::create_dir_all(&codex).unwrap();
    let mut numbers = Numbers(11);
    (0..count)
        .map(|number| {
            let is_claude = number % 4 != 3;
            let path = if is_claude {
                claude.join(format!("{number:05}.jsonl"))
            } else {
                codex.join(format!("rollout-{number:05}.jsonl"))
            };
            let mut file = BufWriter::new(File::create(&path).unwrap());
            let mut written = 0;
            if !is_claude {
                let meta = json!({ "type": "session_meta", "payload": { "id": "c", "cwd": repo } });
                writeln!(file, "{meta}").unwrap();
            }
            let mut turn = 0;
            while written < FILE_BYTES.min(bytes) {
                turn += 1;
                let text = if is_claude {
                    claude_turn(repo, number, turn, &mut numbers)
                } else {
                    codex_turn(number, turn, &mut numbers)
                };
                file.write_all(text.as_bytes()).unwrap();
                written += text.len();
            }
            file.flush().unwrap();
            path
        })
        .collect()
}

fn said(number: usize, turn: usize) -> String {
    if turn.is_multiple_of(PERSON_EVERY * 4) {
        format!("no, use `task-{number}` in src/part{turn}.rs instead of the old one")
    } else {
        format!("please look at part {turn} of module {number} now")
    }
}

fn person(repo: &Path, text: &str) -> String {
    claude_line(repo, "user", &json!(text))
}

fn claude_line(repo: &Path, kind: &str, content: &Value) -> String {
    let line = json!({
        "parentUuid": "0", "isSidechain": false, "cwd": repo, "sessionId": "s", "version": "2.1.0", "type": kind,
        "message": { "role": kind, "content": content }, "timestamp": "2026-03-01T10:00:00Z",
    });
    format!("{line}\n")
}

fn claude_turn(repo: &Path, number: usize, turn: usize, numbers: &mut Numbers) -> String {
    if turn.is_multiple_of(PERSON_EVERY) {
        return person(repo, &said(number, turn));
    }
    let id = format!("toolu_{number}_{turn}");
    let used = json!([
        { "type": "text", "text": numbers.words(30) },
        { "type": "tool_use", "id": id, "name": "Bash", "input": { "command": format!("make part{turn}") } },
    ]);
    let output = numbers.words(400 + turn % 1200);
    let result = json!([{ "type": "tool_result", "tool_use_id": id, "content": output, "is_error": turn.is_multiple_of(50) }]);
    claude_line(repo, "assistant", &used) + &claude_line(repo, "user", &result)
}

fn codex_turn(number: usize, turn: usize, numbers: &mut Numbers) -> String {
    let item = |payload: Value| {
        let line = json!({ "timestamp": "2026-03-01T10:00:00Z", "type": "response_item", "payload": payload });
        format!("{line}\n")
    };
    if turn.is_multiple_of(PERSON_EVERY) {
        let text = [json!({ "type": "input_text", "text": said(number, turn) })];
        return item(json!({ "type": "message", "role": "user", "content": text }));
    }
    let arguments = json!({ "command": ["bash", "-lc", format!("make part{turn}")] }).to_string();
    let output =
        json!({ "output": numbers.words(400 + turn % 1200), "metadata": { "exit_code": 0 } })
            .to_string();
    let id = format!("call_{turn}");
    item(
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": numbers.words(30) }] }),
    ) + &item(
        json!({ "type": "function_call", "name": "shell", "call_id": id, "arguments": arguments }),
    ) + &item(json!({ "type": "function_call_output", "call_id": id, "output": output }))
}

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn words(&mut self, count: usize) -> String {
        const WORDS: [&str; 16] = [
            "compiling",
            "crate",
            "warning:",
            "unused",
            "src/lib.rs:42:7",
            "\"quoted\"",
            "error",
            "ok",
            "test",
            "passed",
            "0.31s",
            "the",
            "of",
            "value\n",
            "node",
            "--flag",
        ];
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(WORDS[usize::try_from(self.next() % 16).unwrap()]);
            text.push(' ');
        }
        text
    }
}
