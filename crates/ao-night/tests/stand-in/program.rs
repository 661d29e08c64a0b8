//! A keeper of programs, and, when it is called `bd`, a stand-in for that.
//!
//! It keeps its beads in `.beads/` of the current directory. `mode.json` there says which shape its
//! answers have, and what goes wrong with which call:
//! `{"shape": "plain", "trouble": {"verb": "create", "after": 1, "kind": "hang"}}`.

#![expect(clippy::disallowed_methods, reason = "a stand-in keeps its own files")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its answers are what it is for")]
#![allow(clippy::unwrap_used, reason = "a stand-in that cannot go on fails its test")]

use std::fs;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Map, Value, json};

fn main() -> ExitCode {
    let called = std::env::args().next().unwrap_or_default();
    if called.ends_with("/bd") {
        return bd(&std::env::args().skip(1).collect::<Vec<_>>());
    }
    ao_guard::serve(std::env::args_os()).unwrap_or(ExitCode::FAILURE)
}

fn read(name: &str) -> Value {
    let text = fs::read_to_string(format!(".beads/{name}")).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

fn bd(words: &[String]) -> ExitCode {
    let log = fs::File::options().create(true).append(true).open(".beads/calls.jsonl");
    let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
    writeln!(log.unwrap(), "{}", json!({ "words": words, "environment": names })).unwrap();
    let mode = read("mode.json");
    let verb = words[0].clone();
    let calls = fs::read_to_string(".beads/calls.jsonl").unwrap();
    let start = format!("{{\"words\":[\"{verb}\"");
    let before = calls.lines().filter(|line| line.starts_with(&start)).count() - 1;
    let trouble = Some(&mode["trouble"]).filter(|trouble| {
        trouble["verb"] == *verb && trouble["after"].as_u64().unwrap_or(0) <= before as u64
    });
    let kind = trouble.and_then(|trouble| trouble["kind"].as_str()).unwrap_or("none");
    match kind {
        "hang" => hang(),
        "fail" => {
            eprintln!("Error: the \u{1b}[31mdatabase\u{1b}[0m is locked\nmore about it");
            return ExitCode::from(3);
        }
        "fail-in-json" => {
            eprintln!("{}", json!({ "schema_version": 1, "error": "no beads here", "code": "x" }));
            return ExitCode::FAILURE;
        }
        "flood" => loop {
            println!("{}", "[".repeat(4096));
        },
        _ => {}
    }
    let Some(answer) = act(&verb, &words[1..]) else {
        eprintln!("Error: unknown word in {words:?}");
        return ExitCode::from(2);
    };
    let text = wrap(answer, mode["shape"].as_str().unwrap_or("plain")).to_string();
    match kind {
        "hang-after" => hang(),
        "fail-after" => return ExitCode::FAILURE,
        "half" => println!("{}", &text[..text.len() / 2]),
        _ => println!("{text}"),
    }
    ExitCode::SUCCESS
}

fn hang() {
    std::thread::sleep(Duration::from_mins(10));
}

fn wrap(answer: Value, shape: &str) -> Value {
    match (shape, answer) {
        ("wrapped", answer) => json!({ "schema_version": 1, "data": answer }),
        ("items", Value::Array(rows)) => json!({ "schema_version": 1, "items": rows }),
        ("items", Value::Object(mut fields)) => {
            fields.insert("schema_version".into(), 1.into());
            Value::Object(fields)
        }
        (_, answer) => answer,
    }
}

/// Does what the real one does with these words, or knows one of them not.
fn act(verb: &str, words: &[String]) -> Option<Value> {
    let mut beads = match read("beads.json") {
        Value::Array(beads) => beads,
        _ => Vec::new(),
    };
    let answer = match verb {
        "list" => {
            let ["--metadata-field", field, "--all", "--json"] =
                words.iter().map(String::as_str).collect::<Vec<_>>()[..]
            else {
                return None;
            };
            let (key, value) = field.split_once('=')?;
            let found: Vec<Value> =
                beads.iter().filter(|bead| bead["metadata"][key] == value).cloned().collect();
            // An empty list of Go.
            return Some(if found.is_empty() { Value::Null } else { found.into() });
        }
        "show" => {
            let [id, json] = words else { return None };
            let found: Vec<Value> =
                beads.iter().filter(|bead| bead["id"] == **id).cloned().collect();
            return (json == "--json" && !found.is_empty()).then(|| found.into());
        }
        "create" => {
            let mut bead = Map::new();
            bead.insert("id".into(), format!("na-{}", beads.len() + 1).into());
            bead.insert("status".into(), "open".into());
            for word in words {
                set(&mut bead, word)?;
            }
            beads.push(Value::Object(bead.clone()));
            Value::Object(bead)
        }
        "update" => {
            let (id, words) = words.split_last()?;
            let (dashes, words) = words.split_last()?;
            let bead = beads.iter_mut().find(|bead| bead["id"] == **id)?;
            let fields = bead.as_object_mut().filter(|_| dashes == "--")?;
            for word in words {
                set(fields, word)?;
            }
            json!([fields])
        }
        _ => return None,
    };
    fs::write(".beads/beads.json", format!("{:#}", Value::Array(beads))).unwrap();
    Some(answer)
}

fn set(bead: &mut Map<String, Value>, word: &str) -> Option<()> {
    if word == "--json" {
        return Some(());
    }
    let (name, value) = word.split_once('=')?;
    match name {
        "--title" => bead.insert("title".into(), value.trim().into()),
        "--description" => bead.insert("description".into(), value.into()),
        "--type" => bead.insert("issue_type".into(), value.into()),
        "--priority" => bead.insert("priority".into(), value.parse::<u8>().ok()?.into()),
        "--metadata" => bead.insert("metadata".into(), serde_json::from_str(value).ok()?),
        "--set-metadata" => {
            let (key, value) = value.split_once('=')?;
            let metadata = bead.entry("metadata").or_insert_with(|| json!({}));
            metadata.as_object_mut()?.insert(key.into(), value.into())
        }
        _ => return None,
    };
    Some(())
}
