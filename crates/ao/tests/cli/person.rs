//! Who decides: at a terminal, through a script, in a cell, under an agent, and what the hook says to an agent.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::cell::{Cells, User};
use crate::night::learning;
use crate::repo::{Ran, TestRepo};

const NAME: &str = "2026-02-01-waits";
const WORD: [&str; 6] = ["--json", "trust", NAME, "--vouch", "--why", "I read it"];

/// A repository with a text that waits, and two learnings that contradict each other.
fn repo() -> TestRepo {
    let repo = TestRepo::new();
    give(&repo);
    repo
}

fn give(repo: &TestRepo) {
    repo.write(&format!("knowledge/pending/{NAME}.md"), &learning(70));
    for (name, seconds) in [("one", 30), ("two", 90)] {
        let text = format!(
            "---\ndate: 2026-03-0{}\nsource_session: s-{name}\n---\n# The relay\n\nThe relay timeout is {seconds} seconds.\n",
            if name == "one" { 1 } else { 2 }
        );
        repo.write(&format!("learnings/relay-{name}.md"), &text);
    }
}

fn card(repo: &TestRepo) -> String {
    let cards = repo.run(&["--json", "rule"]).expect(0).json();
    cards["cards"][0]["id"].as_str().unwrap_or_else(|| panic!("{cards:#}")).to_owned()
}

fn vouched(repo: &TestRepo) -> Value {
    repo.run(&["--json", "trust"]).expect(0).json()["vouched"].clone()
}

fn last_of(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

// proves: GRD-07
#[test]
fn a_word_says_how_it_was_given_and_counts_for_that() {
    for (is_typed, given, trust) in [(true, "terminal", "user"), (false, "script", "code")] {
        let repo = repo();
        let ran = if is_typed { repo.typed(&WORD) } else { repo.run(&WORD) };
        ran.expect(0);
        assert_eq!(vouched(&repo)[0]["given"], given);
        let told = repo.run(&["--json", "trust", NAME]).expect(0).json();
        assert_eq!((&told["trust"], &told["vouched"]), (&trust.into(), &true.into()), "{told:#}");
        let line = last_of(&repo.state("history.jsonl"));
        assert_eq!((&line["by"], &line["given"]), (&"person".into(), &given.into()), "{line:#}");
        let record = repo.state(line["record"].as_str().unwrap());
        let record: Value = serde_json::from_str(&fs::read_to_string(record).unwrap()).unwrap();
        assert_eq!(record["given"], given);
        // What needs a person's own word is not let through by a script.
        let own = repo.root().join(".agentops");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("config.yaml"), "trust:\n  promote_at: user\n").unwrap();
        let told = repo.run(&["--json", "trust", NAME]).expect(0).json();
        assert_eq!(told["waits"], !is_typed, "{told:#}");
        // A ruling, too.
        let card = card(&repo);
        let rule = ["--json", "rule", &card, "--keep", "A", "--why", "measured"];
        let ran = if is_typed { repo.typed(&rule) } else { repo.run(&rule) };
        ran.expect(0);
        let ruling = repo.read(&format!("knowledge/rulings/{card}.json"));
        let ruling: Value = serde_json::from_str(&ruling).unwrap();
        assert_eq!(ruling["given"], given);
        assert_eq!(last_of(&repo.state("history.jsonl"))["given"], given);
    }
}

/// Each command by which something is decided, with the words that come first of all where it needs some.
fn decisions(repo: &TestRepo) -> Vec<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let card = card(repo);
    let vouch = repo.run(&WORD).expect(0).json()["id"].as_str().unwrap().to_owned();
    let forged = json!([{ "op": "write", "path": "knowledge/rulings/c-1.json", "content": "{}", "reason": "x" }]);
    let edits = repo.edits(&forged);
    vec![
        words(&["trust", NAME, "--vouch", "--why", "x"]),
        words(&["trust", NAME, "--withdraw"]),
        words(&["rule", &card, "--keep", "B", "--why", "x"]),
        words(&["overnight", "warn-only", "reset"]),
        words(&["guard", "install", "--harness", "claude", "--scope", "src/**", "--yes"]),
        words(&["tree", "undo", &vouch, "--only"]),
        words(&["tree", "apply", &edits]),
    ]
}

/// All but what the guard writes down of its refusals.
fn state(repo: &TestRepo) -> Vec<(String, Vec<u8>)> {
    let all = crate::repo::files(repo.root()).into_iter();
    let is_noise = |path: &str| path.contains(".lock") || path.starts_with(".agents/ao/");
    all.filter(|(path, _)| !is_noise(path)).map(|(path, seen)| (path, seen.bytes)).collect()
}

fn assert_refused(repo: &TestRepo, ran: &Ran, who: &str) {
    assert_eq!(ran.code, 5, "{who}: {ran}");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("is for a person"), "{who}: {ran}");
    let line = last_of(&repo.agents().join("ao/guard.jsonl"));
    assert_eq!(
        (&line["decision"], &line["rule"], &line["by"]),
        (&"refused".into(), &"decision".into(), &"decision".into()),
        "{who}: {line:#}"
    );
}

// proves: GRD-07
#[test]
fn no_agent_decides_whatever_the_command_and_whoever_made_it() {
    let repo = repo();
    let all = decisions(&repo);
    let before = state(&repo);
    for words in &all {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = Ran::of(repo.command(&words).env("CLAUDECODE", "1").output().unwrap());
        assert_refused(&repo, &ran, &words.join(" "));
        // A dry run decides nothing.
        let mut dry = vec!["--dry-run"];
        dry.extend(&words);
        let ran = Ran::of(repo.command(&dry).env("CLAUDECODE", "1").output().unwrap());
        assert_ne!(ran.code, 5, "{words:?}: {ran}");
    }
    let marks = [
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("CODEX_SANDBOX", "seatbelt"),
        ("CODEX_SANDBOX_NETWORK_DISABLED", "1"),
        ("CODEX_THREAD_ID", "0199"),
        ("GEMINI_CLI", "1"),
        ("OPENCODE", "1"),
        ("CURSOR_AGENT", "1"),
        ("COPILOT_CLI", "1"),
        ("CLAUDE_CODE", "1"),
        ("COPILOT_AGENT", "1"),
        ("PI_CODING_AGENT", "true"),
        ("JUNIE_SHIM_PATH", "/x"),
        ("TRAE_AI_SHELL_ID", "7"),
        ("ROO_ACTIVE", "true"),
        ("AGENT", "amp"),
        ("AI_AGENT", "some-agent@1.2"),
    ];
    let word: Vec<&str> = all[0].iter().map(String::as_str).collect();
    for (name, value) in marks {
        let ran = Ran::of(repo.command(&word).env(name, value).output().unwrap());
        assert_refused(&repo, &ran, name);
        // A terminal makes no person of an agent.
        let ran = repo.typed_with(&word, &[(name, value)]);
        assert_refused(&repo, &ran, name);
    }
    // The mark of a cell, wherever it was set: also where the tree could be written.
    let ran = Ran::of(repo.command(&word).env("AO_CELL", "1").output().unwrap());
    assert_refused(&repo, &ran, "a cell");
    assert!(state(&repo) == before, "something was decided");
    // What a person's shell has as well is no mark of an agent.
    for (name, value) in [("CLAUDECODE", ""), ("AGENT", "0"), ("CURSOR_TRACE_ID", "x")] {
        let withdraw = ["trust", NAME, "--withdraw"];
        let mut command = repo.command(if name == "AGENT" { &withdraw } else { &word });
        let ran = Ran::of(command.env(name, value).output().unwrap());
        assert_ne!(ran.code, 5, "{name}: {ran}");
    }
}

/// The undo of a night takes back nothing that a person decided, and everybody may ask for it.
// proves: GRD-07
#[test]
fn what_nobody_decided_an_agent_may_take_back() {
    let repo = repo();
    let edits =
        json!([{ "op": "write", "path": "learnings/n.md", "content": "# n\n", "reason": "x" }]);
    let file = repo.edits(&edits);
    for words in [&["tree", "apply", &file, "--id", "n1"][..], &["tree", "undo", "n1", "--only"]] {
        let ran = Ran::of(repo.command(words).env("CLAUDECODE", "1").output().unwrap());
        ran.expect(0);
    }
    // Also the undo of an undo: it would give the word again.
    let id = repo.run(&WORD).expect(0).json()["id"].as_str().unwrap().to_owned();
    repo.run(&["tree", "undo", &id, "--only", "--id", "u1"]).expect(0);
    let words = ["tree", "undo", "u1", "--only"];
    let ran = Ran::of(repo.command(&words).env("GEMINI_CLI", "1").output().unwrap());
    assert_refused(&repo, &ran, "undo of an undo");
    assert_eq!(vouched(&repo), json!([]));
    // Nor by another spelling of the folder.
    let path = "knowledge/Vouched/x.json";
    let edits = json!([{ "op": "write", "path": path, "content": "{}", "reason": "x" }]);
    let file = repo.edits(&edits);
    let words = ["tree", "apply", &file];
    let ran = Ran::of(repo.command(&words).env("GEMINI_CLI", "1").output().unwrap());
    assert_refused(&repo, &ran, path);
}

/// A shell that goes by the name of an agent, as the kernel tells it.
fn shell_called(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    fs::copy("/bin/sh", &path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

// proves: GRD-07
#[test]
fn an_agent_that_clears_its_environment_is_known_by_its_name() {
    let repo = repo();
    let aside = tempfile::tempdir().unwrap();
    let script = format!(
        "env -i HOME='{}' '{}' -C '{}' trust {NAME} --vouch --why x; echo $?",
        repo.root().display(),
        env!("CARGO_BIN_EXE_ao"),
        repo.root().display()
    );
    for name in ["claude", "codex", "opencode", "cursor-agent", "aider"] {
        let mut shell = Command::new(shell_called(aside.path(), name));
        shell.env_clear().env("PATH", "/usr/bin:/bin").args(["-c", &script]);
        let ran = Ran::of(shell.stdin(Stdio::null()).output().unwrap());
        assert!(ran.stdout.ends_with("5\n"), "{name}: {ran}");
        assert!(ran.stderr.contains(&format!("the program `{name}`")), "{name}: {ran}");
    }
    assert_eq!(vouched(&repo), json!([]));
    // Of an interpreter the script is the agent.
    let python = aside.path().join("gemini.py");
    fs::write(&python, format!("import os\nos.system({script:?})\n")).unwrap();
    let mut interpreter = Command::new("python3");
    interpreter.env_clear().env("PATH", "/usr/bin:/bin").arg(&python);
    let ran = Ran::of(interpreter.stdin(Stdio::null()).output().unwrap());
    assert!(ran.stdout.ends_with("5\n") && ran.stderr.contains("Gemini CLI"), "{ran}");
}

// proves: GRD-07
#[test]
fn nobody_decides_in_a_cell() {
    for cells in [Cells::new(User::This), Cells::new(User::Ordinary), Cells::tier_b()] {
        give(&cells.repo);
        cells.settle();
        let ao = crate::cell::binary_for_all();
        let run = |script: &str| {
            let mut command = cells.command(&["-q", "guard", "run", "--", "/bin/sh", "-c", script]);
            // In tier B a program is found only where programs are.
            let programs = ao.parent().unwrap().display();
            command.env("PATH", format!("/usr/bin:/bin:{programs}"));
            Ran::of(command.output().unwrap())
        };
        // A program in a folder for temporary files is not there in a cell.
        if run(&format!("'{}' --version", ao.display())).code != 0 {
            eprintln!("left out: the program cannot be seen in a cell");
            continue;
        }
        let word = format!("'{}' trust {NAME} --vouch --why x; echo $?", ao.display());
        // Also when the cell's own mark is taken off: the program that holds the cell stands above it.
        for script in [word.clone(), format!("unset AO_CELL; {word}")] {
            let ran = run(&script);
            assert!(ran.stdout.ends_with("5\n") && ran.stderr.contains("in a cell"), "{ran}");
        }
        let told = cells.ao(&["--json", "trust"]).expect(0).json();
        assert_eq!(told["vouched"], json!([]));
    }
}

// proves: GRD-07
#[test]
fn the_hook_denies_agents_the_same_commands_in_every_spelling() {
    let repo = repo();
    let judged = |text: &str| {
        let ran = repo.run(&["--json", "guard", "check", "--scope", "**", "--command", text]);
        let told = ran.json();
        (ran.code, told["results"][0]["rule"].as_str().unwrap_or_default().to_owned())
    };
    let plain = [
        "ao trust x --vouch --why y",
        "ao trust x --withdraw",
        "ao rule c-1 --keep A --why y",
        "ao rule c-1 --withdraw",
        "ao overnight warn-only reset",
        "ao guard install --harness claude",
        "ao guard uninstall --harness claude",
        "ao tree undo",
        "ao tree apply edits.json",
        "ao overnight undo",
    ];
    for text in plain {
        assert_eq!(judged(text), (5, "decision".into()), "{text}");
    }
    let word = "trust x --vouch --why y";
    for text in [
        format!("/usr/bin/ao {word}"),
        format!("/home/me/.cargo/bin/ao {word}"),
        format!("./ao {word}"),
        format!("../target/release/ao {word}"),
        format!("ao -C /repo --json {word}"),
        format!("ao --repo=/repo {word}"),
        "ao trust --why y --vouch x".into(),
        format!("env -i ao {word}"),
        format!("env -u CLAUDECODE ao {word}"),
        format!("CLAUDECODE= ao {word}"),
        format!("sh -c 'ao {word}'"),
        format!("bash -c \"ao {word}\""),
        format!("timeout 5 ao {word}"),
        format!("nohup ao {word}"),
        format!("setsid ao {word}"),
        format!("true && ao {word}"),
        format!("echo x | xargs ao {word}"),
        format!("a''o {word}"),
        format!("\\ao {word}"),
    ] {
        let (code, rule) = judged(&text);
        assert!(code == 5 && (rule == "decision" || rule == "doubt"), "{text}: {code} {rule}");
    }
    // Those that hide the word are refused for what they hide; a question about it is none.
    for text in ["ao $X x --vouch", "script -qc 'ao trust x --vouch --why y' /dev/null"] {
        assert_eq!(judged(text).0, 5, "{text}");
    }
    for text in ["ao search trust --json", "ao search tree undo", "ao lookup rule keep"] {
        assert_eq!(judged(text).0, 0, "{text}: {:?}", judged(text));
    }
}
