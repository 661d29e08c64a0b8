//! What asking a program costs beside the program.
//!
//!     cargo bench --bench runner
//!
//! The program reads the question and prints an answer. It is run by itself, in a cell (`ao guard run`), and asked
//! (`ao runners ask`), in turn, so that what else the machine does hits all three. What asking takes beyond the cell is
//! the engine's own: the vault, the configuration, the wrapped question, the reader of the answer. Then a night asks three
//! that hang, beside one that asks nobody.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the binary and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const CALLS: usize = 60;
const SECRETS: usize = 20;
const AO: &str = env!("CARGO_BIN_EXE_ao");
const HANGING: [&str; 3] = ["one", "two", "three"];
const LIMIT: Duration = Duration::from_secs(2);
const QUESTION: &str = "What should be done first?";
/// Of the size of a packet of the council.
const MATERIAL_BYTES: usize = 64 * 1024;

fn main() {
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("judge");
    let name = format!("command:{}", program.display());
    let answer = format!(
        r#"{{"runner":"{name}","headline":"h","recommended_kind":"repair","recommended_first_action":"a","risks":[],"opportunities":[],"confidence":"low","wildcard_idea":""}}"#
    );
    fs::write(&program, format!("#!/bin/sh\ncat > /dev/null\ncat <<'END'\n{answer}\nEND\n"))
        .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(place.path().join("note.md"), "word ".repeat(MATERIAL_BYTES / 5)).unwrap();
    run(place.path(), &[AO, "vault", "init"], "");
    for number in 0..SECRETS {
        let value = format!("tok_live_9fQ2xVbR7mKpW4zL{number}");
        run(place.path(), &[AO, "vault", "write", &format!("K{number}")], &value);
    }
    let program = program.to_str().unwrap();
    let ask = [AO, "runners", "ask", &name, "--schema", "runner-report", "--material", "note.md"];
    let cases: [(&str, &[&str]); 3] = [
        ("the program alone", &[program]),
        ("in a cell", &[AO, "-q", "guard", "run", "--", program]),
        ("asked", &ask),
    ];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..CALLS {
        for ((_, words), times) in cases.iter().zip(&mut times) {
            times.push(run(place.path(), words, QUESTION));
        }
    }
    let medians = times.map(|mut times| {
        times.sort();
        times[times.len() / 2]
    });
    for ((what, _), median) in cases.iter().zip(medians) {
        println!("{what:<20} {:>7.1} ms", milliseconds(median));
    }
    let beyond = medians[2].saturating_sub(medians[1]);
    println!("{:<20} {:>7.1} ms", "beyond the cell", milliseconds(beyond));
    hanging(place.path());
}

/// A night with runners that never answer ends with their limits.
fn hanging(home: &Path) {
    let program = home.join("hangs");
    fs::write(&program, "#!/bin/sh\nexec sleep 600\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut config = String::from("runners:\n");
    for name in HANGING {
        let _ = writeln!(
            config,
            "  {name}: {{ kind: command, command: [{}], timeout: {}s }}",
            program.display(),
            LIMIT.as_secs()
        );
    }
    for folder in [".agentops", "repo/.git", "repo/.agents/learnings"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    fs::write(home.join(".agentops/config.yaml"), config).unwrap();
    fs::write(home.join("repo/.agents/learnings/a.md"), "# A\n\nOne thing.\n").unwrap();
    let night = [AO, "-C", "repo", "overnight", "start", "--full", "--no-keep-awake"];
    let alone = run(home, &night, "");
    let named = HANGING.iter().flat_map(|name| ["--runner", name]);
    let with: Vec<&str> = night.into_iter().chain(named).collect();
    let took = run(home, &with, "");
    let limits = LIMIT * u32::try_from(HANGING.len()).unwrap();
    println!("a night alone        {:>7.1} ms", milliseconds(alone));
    println!("with three that hang {:>7.1} ms", milliseconds(took));
    let beyond = took.saturating_sub(limits + alone);
    println!("beyond their limits  {:>7.1} ms", milliseconds(beyond));
}

fn run(home: &Path, words: &[&str], input: &str) -> Duration {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(home).env("HOME", home);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let since = Instant::now();
    let mut child = command.spawn().unwrap();
    // In a cell of its own a command has no input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let status = child.wait().unwrap();
    assert!(status.success(), "{words:?}: {status}");
    since.elapsed()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
