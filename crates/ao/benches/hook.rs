//! What the hook costs: a host asks it before each tool call, and waits.
//!
//!     cargo bench --bench hook
//!
//! Each call is a process of `ao guard hook` with a payload as the host writes it, from the start to the end. Beside it,
//! in turn, so that what else the machine does hits all of them: `true`, which is what starting a process costs,
//! and Python reading the same payload as JSON and deciding nothing, which is the least that a script would do instead.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the binary and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use cost::{Cost, median, used};
use nix::sys::resource::UsageWho;
use serde_json::{Value, json};

const CALLS: usize = 200;
const PYTHON: &str = "import json,sys; json.load(sys.stdin)";

/// A program with what it reads, and how it has to end.
struct Case {
    name: String,
    program: Vec<String>,
    payload: String,
    code: i32,
}

fn main() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    for folder in [".agents", ".git", "src", "canonical"] {
        fs::create_dir(root.join(folder)).unwrap();
    }
    fs::write(root.join("src/main.rs"), "fn main() {}\n").unwrap();
    let cases = cases(&root);
    let mut costs: Vec<Vec<Cost>> = cases.iter().map(|_| Vec::new()).collect();
    for _ in 0..CALLS {
        for (case, costs) in cases.iter().zip(&mut costs) {
            costs.push(measure(case, &root));
        }
    }
    println!("median of {CALLS} calls{:>36} {:>10}", "wall", "CPU");
    for (case, costs) in cases.iter().zip(costs) {
        let Cost { wall, cpu } = median(costs);
        let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1000.0;
        println!("{:<48} {:>6.2} ms {:>7.2} ms", case.name, milliseconds(wall), milliseconds(cpu));
    }
}

fn cases(root: &Path) -> Vec<Case> {
    let long = "git log --oneline | head -50 | grep -v merge | sort | uniq -c | sort -rn | head -20 && \
                find src -name '*.rs' -print0 | xargs -0 wc -l | tail -1 && cargo test 2>&1 | tail -20";
    let at = |path: &str| root.join(path).to_str().unwrap().to_owned();
    let line = "let value = compute(input).unwrap_or_default();\n".repeat(100);
    let shell = |text: &str| ("Bash", json!({ "command": text }));
    let write = |path: &str| ("Write", json!({ "file_path": at(path), "content": line }));
    let patch = |path: &str| {
        let lines: String = line.lines().flat_map(|line| ["+", line, "\n"]).collect();
        let path = at(path);
        let text = format!("*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n");
        ("apply_patch", json!({ "command": text }))
    };
    let refused = format!("{long} > canonical/out.txt");
    let hooks = [
        ("claude", "a write in the scope", write("src/new.rs"), 0),
        ("claude", "a write outside", write("canonical/new.md"), 2),
        ("claude", "a long pipeline", shell(long), 0),
        ("claude", "the same into a file outside", shell(&refused), 2),
        ("codex", "a patch in the scope", patch("src/new.rs"), 0),
        ("codex", "a patch outside", patch("canonical/new.md"), 2),
        ("codex", "a long pipeline", shell(long), 0),
        ("codex", "the same into a file outside", shell(&refused), 2),
    ];
    let payload = |(tool, input): &(&str, Value)| {
        json!({
            "session_id": "s-1", "transcript_path": null, "cwd": root, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input,
            "tool_use_id": "t-1",
        })
        .to_string()
    };
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let sample = payload(&write("src/new.rs"));
    let mut cases = vec![
        Case {
            name: "true".into(),
            program: words(&["/bin/true"]),
            payload: String::new(),
            code: 0,
        },
        Case {
            name: "python3, reading JSON and no more".into(),
            program: words(&["python3", "-c", PYTHON]),
            payload: sample,
            code: 0,
        },
    ];
    let ao = env!("CARGO_BIN_EXE_ao");
    cases.extend(hooks.iter().map(|(host, name, call, code)| Case {
        name: format!("{host}: {name}"),
        program: words(&[ao, "guard", "hook", "--harness", host, "--scope", "src/**"]),
        payload: payload(call),
        code: *code,
    }));
    cases
}

fn measure(case: &Case, root: &Path) -> Cost {
    let mut command = Command::new(&case.program[0]);
    command.args(&case.program[1..]).current_dir(root);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let (since, before) = (Instant::now(), used(UsageWho::RUSAGE_CHILDREN));
    let mut child = command.spawn().unwrap();
    // `true` may have ended before it is written to.
    let _ = child.stdin.take().unwrap().write_all(case.payload.as_bytes());
    let status = child.wait().unwrap();
    let cpu = used(UsageWho::RUSAGE_CHILDREN).saturating_sub(before);
    let cost = Cost { wall: since.elapsed(), cpu };
    assert_eq!(status.code(), Some(case.code), "{}", case.name);
    cost
}
