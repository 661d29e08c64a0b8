//! A known value does not come out, whichever way it would.

use std::fs;
use std::path::Path;

use crate::repo::{Ran, TestRepo};

const VALUE: &str = "tr0ub4dor and/3";
const MARK: &str = "***REDACTED***";
/// As `base64`, `xxd -p`, and an address have it.
const FORMS: [&str; 4] =
    [VALUE, "dHIwdWI0ZG9yIGFuZC8z", "747230756234646f7220616e642f33", "tr0ub4dor%20and%2F3"];

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

/// proves: SCO-08
#[test]
fn a_program_in_a_cell_cannot_say_it() {
    let repo = TestRepo::new();
    for form in FORMS {
        let (front, back) = form.split_at(form.len() / 2);
        // In one piece, in two writes, and on two lines.
        let script = format!(
            "printf 'a %s b\\n' '{form}'; printf '%s' '{front}'; sleep 0.2; printf '%s\\n' '{back}'; \
             printf '%s\\n%s\\n' '{front}' '{back}' >&2"
        );
        for json in [false, true] {
            let mut arguments = vec!["guard", "run", "--", "sh", "-c", &script];
            if json {
                arguments.insert(0, "--json");
            }
            let ran = run(&repo, VALUE, &arguments, &[]).expect(0);
            let all = format!("{ran}");
            assert!(all.contains("a ***REDACTED*** b") && !all.contains(form), "{all}");
            assert_eq!(all.matches(MARK).count(), 3, "{all}");
            assert!(!all.contains(back), "{all}");
        }
    }
}

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
