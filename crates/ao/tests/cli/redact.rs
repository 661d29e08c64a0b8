//! A known value does not come out, whichever way it would.

use std::fs;
use std::path::Path;

use crate::repo::{Ran, TestRepo};

const VALUE: &str = "tr0ub4dor and/3";
const MARK: &str = "***REDACTED***";

fn run(repo: &TestRepo, value: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let home = tempfile::tempdir().unwrap();
    crate::vault::keep_in(home.path(), &[("db", value)]);
    let mut command = repo.command(arguments);
    command.env("HOME", home.path()).env("PATH", std::env::var_os("PATH").unwrap());
    command.envs(variables.iter().copied());
    Ran::of(command.output().unwrap())
}

fn files(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// The largest value that there is, in pieces, by a program to which it was not granted.
// proves: SCO-08
#[test]
fn a_megabyte_is_found_in_pieces() {
    const BYTES: usize = 1024 * 1024 - 1;
    let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 /";
    let mut seed = 7_u32;
    let value: String = (0..BYTES)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(letters[seed as usize >> 26])
        })
        .collect();
    let repo = TestRepo::new();
    // Backwards, so that no file here has it.
    fs::write(repo.root().join("backwards"), value.chars().rev().collect::<String>()).unwrap();
    let script = "
import base64,sys
value=open('backwards','rb').read()[::-1]
for form in value,value.hex().encode(),base64.b64encode(value): sys.stdout.buffer.write(b'a '+form+b' b\\n')";
    let ran = run(&repo, &value, &["guard", "run", "--", "python3", "-c", script], &[]).expect(0);
    let marks = format!("a {MARK} b\n").repeat(3);
    assert!(ran.stdout == marks, "{} bytes", ran.stdout.len());
}

// proves: SCO-08
#[test]
fn a_panic_and_a_night_do_not_say_it() {
    let repo = TestRepo::new();
    let arguments = ["overnight", "start", "--max-iterations", "1"];
    let value = "panic was asked for";
    let ran = run(&repo, value, &arguments, &[("AO_NIGHT_FAULT", "panic-ingest")]);
    assert!(ran.code != 0 && ran.stderr.contains(&format!("a {MARK} in ingest")), "{ran}");
    let mut written = Vec::new();
    files(&repo.state(""), &mut written);
    let texts = written
        .iter()
        .map(|path| (path, String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()));
    let texts: Vec<_> = texts.collect();
    for (path, text) in &texts {
        assert!(!text.contains(value), "{}", path.display());
    }
    let has =
        |name: &str| texts.iter().any(|(path, text)| path.ends_with(name) && text.contains(MARK));
    assert!(has("latest/summary.json") && has("latest/summary.md") && has("latest/overnight.log"));
    let summary = fs::read(repo.state("latest/summary.json")).unwrap();
    ao_contract::check("summary", &serde_json::from_slice(&summary).unwrap()).unwrap();
}

// proves: SCO-08
#[test]
fn neither_answers_nor_usage_errors_nor_logs_say_it() {
    let repo = TestRepo::new();
    repo.write(
        "learnings/k.md",
        &format!("---\nid: keyring\n---\n# The key is {VALUE}\n\nIt is {VALUE}.\n"),
    );
    for arguments in [
        ["show", "keyring"].as_slice(),
        &["--json", "show", "keyring"],
        &["search", "key"],
        &["lookup", "key"],
        &["tree", "undo", VALUE],
        &[VALUE],
        &["guard", "check", "--scope", "src", VALUE],
    ] {
        let ran = run(&repo, VALUE, arguments, &[]);
        assert!(!format!("{ran}").contains(VALUE), "{arguments:?}: {ran}");
        assert!(format!("{ran}").contains(MARK), "{arguments:?}: {ran}");
    }
    let mut written = Vec::new();
    files(&repo.agents().join("ao"), &mut written);
    for path in written.iter().filter(|path| path.extension().is_some_and(|kind| kind == "jsonl")) {
        assert!(!fs::read_to_string(path).unwrap().contains(VALUE), "{}", path.display());
    }
}
