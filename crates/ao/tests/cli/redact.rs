//! A known value does not come out, whichever way it would.

use std::fs;
use std::path::Path;

use crate::night_queue::Queue;
use crate::repo::{Ran, TestRepo};

const VALUE: &str = "tr0ub4dor and/3";
/// As `base64`, `xxd -p`, and an address have it.
const FORMS: [&str; 4] =
    [VALUE, "dHIwdWI0ZG9yIGFuZC8z", "747230756234646f7220616e642f33", "tr0ub4dor%20and%2F3"];
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

/// A home with one value in its vault, and a repository.
struct Bed {
    repo: TestRepo,
    home: tempfile::TempDir,
}

impl Bed {
    fn new() -> Self {
        let bed = Self { repo: TestRepo::new(), home: tempfile::tempdir().unwrap() };
        crate::vault::keep_in(bed.home.path(), &[("db", VALUE)]);
        bed
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.repo.command(arguments);
        command.env("HOME", self.home.path()).env("PATH", std::env::var_os("PATH").unwrap());
        Ran::of(command.output().unwrap())
    }
}

/// What is there already may stay, may go and may come back; nothing brings it in.
// proves: SCO-08
#[test]
fn no_command_brings_it_into_the_tree() {
    let bed = Bed::new();
    let old = format!("# Old\n\nIt has been {VALUE} since spring.\n");
    bed.repo.write("learnings/old.md", &old);
    for form in FORMS {
        let edits = bed.repo.edits(&serde_json::json!([
            { "op": "write", "path": "learnings/new.md", "content": format!("It is {form}.\n"),
              "reason": format!("somebody said {VALUE}") },
            { "op": "write", "path": "learnings/clean.md", "content": format!("Clean, not {}.\n", &form[..7]),
              "reason": format!("somebody said {VALUE}"), "sources": [VALUE] },
        ]));
        let ran = bed.run(&["--json", "tree", "apply", &edits]);
        let refused = ran.json()["refused"].to_string();
        assert!(refused.contains("new.md") && refused.contains("value of the vault"), "{ran}");
        assert!(!bed.repo.exists("learnings/new.md") && bed.repo.exists("learnings/clean.md"));
        bed.run(&["tree", "undo"]).expect(0);
    }
    let longer = format!("{old}\nAnd since summer.\n");
    let edits = bed.repo.edits(&serde_json::json!([
        { "op": "write", "path": "learnings/old.md", "content": longer, "reason": "more" },
    ]));
    bed.run(&["tree", "apply", &edits]).expect(0);
    let edits = bed.repo.edits(
        &serde_json::json!([{ "op": "delete", "path": "learnings/old.md", "reason": "gone" }]),
    );
    bed.run(&["tree", "apply", &edits]).expect(0);
    bed.run(&["--dry-run", "tree", "undo"]).expect(0);
    bed.run(&["tree", "undo"]).expect(0);
    assert_eq!(bed.repo.read("learnings/old.md"), longer);
    let mut written = Vec::new();
    files(&bed.repo.state(""), &mut written);
    // What was said of the edits; the undo has the files themselves.
    written.retain(|path| {
        path.extension().is_some_and(|kind| kind.to_string_lossy().starts_with("json"))
    });
    assert!(written.len() > 4, "{written:?}");
    for path in written {
        assert!(!fs::read_to_string(&path).unwrap().contains(VALUE), "{}", path.display());
    }
}

/// In titles, texts and names of a corpus, with nothing in the vault but one of them.
// proves: REP-18
#[test]
fn no_secret_of_the_corpus_is_in_a_report() {
    let bed = Bed::new();
    let key = |prefix: &str, rest: &str| format!("{prefix}{rest}");
    let secrets = [
        VALUE.to_owned(),
        key("ghp_", "1Ab2Cd3Ef4Gh5Ij6Kl7Mn8Op9Qr0St1Uv2Wx"),
        key("glpat-", "a1B2c3D4e5F6g7H8i9J0"),
        key("dop_v1_", &"3f9c8a71e5d204b6".repeat(4)),
        key("hf_", "qWcRtYuPaSfGhJkLzXvBnMqErTyUoPdAsK"),
        key("sk_live_", &"a1B2c3D4".repeat(3)),
        format!(
            "-----BEGIN RSA {}-----\n{}\n-----END RSA {0}-----",
            "PRIVATE KEY",
            "MIIEaB3x".repeat(12)
        ),
    ];
    for (nth, secret) in secrets.iter().enumerate() {
        for copy in ["a", "b"] {
            let text = format!(
                "---\nid: s{nth}{copy}\ncreated: 2026-03-01\nutility: 0.9\n---\n# Use {secret} \u{1b}[31mfor {nth}\n\n\
                 The worker {nth} needs {secret} at port 54{nth}2, or the pool of {nth} runs dry.\n"
            );
            bed.repo.write(&format!("learnings/2026-03-0{}-s{nth}{copy}.md", nth + 1), &text);
        }
        let finding = format!(
            "---\nseverity: high\nstatus: open\n---\n# Leak of {secret}\n\nSee {secret}.\n"
        );
        bed.repo.write(&format!("findings/f-2026-03-01-00{nth}.md"), &finding);
    }
    bed.repo.write(
        "findings/f-2026-03-02-001.md",
        "---\nseverity: critical\n---\n# A \u{1b}[31mred\u{1b}[0m one\n\n\u{1b}]0;title\u{7}It is red.\n",
    );
    // As a person may say it, too.
    let goal = format!("find {} and {VALUE}", secrets[3]);
    let ran = bed.run(&["overnight", "start", "--max-iterations", "2", "--goal", &goal]);
    assert!(ran.code == 0 || ran.code == 3, "{ran}");
    let said = bed.run(&["overnight", "report"]);
    let mut written = Vec::new();
    files(&bed.repo.state("latest"), &mut written);
    assert!(written.len() > 5, "{written:?}");
    let texts =
        written.iter().map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
    for text in texts.chain([format!("{ran}"), format!("{said}")]) {
        for secret in &secrets {
            // A key is as good as told if most of it is.
            let part = secret.get(secret.len() - 12..).unwrap();
            assert!(!text.contains(part), "{part} in {text}");
            // As it would be in the name of a file.
            let part = part.to_lowercase().replace([' ', '/', '_'], "-");
            assert!(!text.contains(&part), "{part} in {text}");
        }
        assert!(!has_escape(&text), "{text}");
    }
    assert!(said.stdout.contains("Resolve: A") && said.stdout.contains("red"), "{said}");
}

/// As it is, or as JSON spells it.
fn has_escape(text: &str) -> bool {
    text.contains('\u{1b}') || text.contains("\\u001b")
}

/// What another program says of its failure is told, and neither its colours nor a key that it repeats.
// proves: REP-18
#[test]
fn a_complaint_is_told_without_its_colours_and_keys() {
    let queue = Queue::with("", &serde_json::json!([]));
    let key = format!("ghp_{}", "1Ab2Cd3Ef4Gh5Ij6Kl7Mn8Op9Qr0St1Uv2Wx");
    let said = format!("\\033[31mno access\\033[0m with {key} to it\\n");
    queue.bd(&format!("#!/bin/sh\nprintf '{said}' >&2\nexit 3\n"));
    let summary = queue.night().to_string();
    let mut written = Vec::new();
    files(&queue.cells.repo.state("latest"), &mut written);
    let texts =
        written.iter().map(|path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
    let texts: Vec<String> = texts.chain([summary]).collect();
    for text in &texts {
        assert!(!text.contains(&key[8..]) && !has_escape(text), "{text}");
    }
    let told = texts.iter().filter(|text| text.contains("no access") && text.contains("REDACTED"));
    // The answer, the summary, its text and the log.
    assert_eq!(told.count(), 4, "{texts:#?}");
}

/// A value that a file has in two lines, or with a colour in its middle, is found however that is told.
///
/// proves: SCO-08
#[test]
fn what_tears_a_value_does_not_hide_it_where_it_is_spelt_out() {
    let repo = TestRepo::new();
    // Wrapped as `base64` does, and coloured as `grep` does.
    for (front, tear, back) in [
        ("dHIwdWI0ZG", "\n", "9yIGFuZC8z"),
        ("tr0ub4dor ", "\n", "and/3"),
        ("tr0ub", "\u{1b}[01;31m\u{1b}[K", "4dor and/3"),
    ] {
        let text = format!("{front}{tear}{back}");
        repo.write(
            "learnings/k.md",
            &format!("---\nid: keyring\n---\n# A key\n\nIt is {text} here.\n"),
        );
        for arguments in [
            ["show", "keyring"].as_slice(),
            &["--json", "show", "keyring"],
            &["--json", "lookup", "key"],
            &["--json", "show", &text],
            &["show", &text],
        ] {
            let ran = run(&repo, VALUE, arguments, &[]);
            let all = format!("{}{}", ran.stdout, ran.stderr);
            assert!(!all.contains(back) && all.contains(MARK), "{arguments:?}: {ran}");
        }
    }
}

/// Where there is no terminal, what only a terminal would act upon is left out of what is printed.
#[test]
fn what_is_left_out_of_an_answer_does_not_hide_a_value() {
    let repo = TestRepo::new();
    let title = format!("\u{1b}]0;{}\u{7}", "x".repeat(5000));
    let long = format!("\u{1b}[{}m", "1;".repeat(50));
    for tear in ["\u{1}", "\u{7f}", "\u{1b}[3\u{1}1m", &title, &long] {
        let text = format!("tr0ub{tear}4dor and/3");
        for arguments in
            [[text.as_str()].as_slice(), &["overnight", "start", "--max-iterations", &text]]
        {
            let ran = run(&repo, VALUE, arguments, &[]).expect(2);
            assert!(
                !format!("{ran}").contains(VALUE) && ran.stderr.contains(MARK),
                "{tear:?}: {ran}"
            );
        }
    }
}

/// Both files can be named, and then no home is needed.
#[test]
fn a_vault_that_is_named_is_known_without_a_home() {
    let (repo, home) = (TestRepo::new(), tempfile::tempdir().unwrap());
    crate::vault::keep_in(home.path(), &[("db", VALUE)]);
    let place = |name: &str| home.path().join(name);
    let command = |arguments: &[&str]| {
        let mut command = repo.command(arguments);
        command.env_remove("HOME").env("PATH", std::env::var_os("PATH").unwrap());
        command.env("AO_VAULT_FILE", place(".local/share/ao/vault.age"));
        command
    };
    let said = ["guard", "run", "--", "echo", VALUE];
    let known = command(&said).env("AO_VAULT_IDENTITY", place(".config/ao/identity.txt")).output();
    let known = Ran::of(known.unwrap()).expect(0);
    assert_eq!(known.stdout, format!("{MARK}\n"), "{known}");
    // One that is named by half cannot be opened, and so nothing is run.
    let half = Ran::of(command(&said).output().unwrap()).expect(6);
    assert!(half.stdout.is_empty() && !format!("{half}").contains(VALUE), "{half}");
}

/// In a cell the vault is not opened. To say that this is one does not make it one.
#[test]
fn a_variable_does_not_switch_it_off() {
    let repo = TestRepo::new();
    repo.write("learnings/k.md", &format!("---\nid: keyring\n---\n# A key\n\nIt is {VALUE}.\n"));
    let ran = run(&repo, VALUE, &["show", "keyring"], &[("AO_CELL", "1")]).expect(0);
    assert!(!format!("{ran}").contains(VALUE) && ran.stdout.contains(MARK), "{ran}");
}
