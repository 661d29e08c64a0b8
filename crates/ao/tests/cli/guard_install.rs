//! `ao guard install` and `uninstall`: the hosts' settings, there and back.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::repo::TestRepo;

/// A 2 and a reason, whatever became of the hook.
const OTHERWISE: &str = " || { echo 'ao guard did not let it through' >&2; exit 2; }";
const HOSTS: [(&str, &str); 2] =
    [("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json")];

fn settings(repo: &TestRepo, file: &str) -> Option<String> {
    fs::read_to_string(repo.root().join(file)).ok()
}

fn put(repo: &TestRepo, file: &str, text: &str) {
    let path = repo.root().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The command that the host would run.
fn command(repo: &TestRepo, file: &str) -> String {
    let value: Value = serde_json::from_str(&settings(repo, file).unwrap()).unwrap();
    let entries = value["hooks"]["PreToolUse"].as_array().unwrap();
    let last = entries.last().unwrap();
    assert_eq!(last["matcher"], "*");
    last["hooks"][0]["command"].as_str().unwrap().to_owned()
}

#[test]
fn the_change_is_shown_first_made_with_yes_and_taken_back_exactly() {
    let before = "{\n    \"model\": \"x\",   \n    \"hooks\": { \"Stop\": [] }\n}\n";
    for (host, file) in HOSTS {
        let repo = TestRepo::new();
        put(&repo, file, before);
        fs::set_permissions(repo.root().join(file), fs::Permissions::from_mode(0o600)).unwrap();
        let install =
            ["guard", "install", "--harness", host, "--scope", "it's/**", "--scope", "src"];
        let shown = repo.run(&install).expect(0);
        assert!(shown.stdout.contains('+') && shown.stdout.contains("guard hook"), "{shown}");
        assert!(shown.stderr.contains("--yes"), "{shown}");
        assert_eq!(settings(&repo, file).unwrap(), before, "only shown");
        repo.run(&[&install[..], &["--yes", "--dry-run"]].concat()).expect(0);
        assert_eq!(settings(&repo, file).unwrap(), before, "a dry run");
        let made = repo.run(&[&install[..], &["--yes"]].concat()).expect(0);
        assert_eq!(
            made.stderr.contains("/hooks") && made.stderr.contains("trust"),
            host == "codex",
            "{made}"
        );
        let with = settings(&repo, file).unwrap();
        let wanted =
            format!("guard hook --harness {host} --scope 'it'\\''s/**' --scope src{OTHERWISE}");
        assert!(command(&repo, file).ends_with(&wanted), "{with}");
        let again = repo.run(&[&["--json"], &install[..], &["--yes"]].concat()).expect(0).json();
        assert_eq!(again["status"], "nothing-to-do");
        repo.run(&["guard", "uninstall", "--harness", host]).expect(0);
        assert_eq!(settings(&repo, file).unwrap(), with, "only shown");
        repo.run(&["guard", "uninstall", "--harness", host, "--yes"]).expect(0);
        assert_eq!(settings(&repo, file).unwrap(), before);
        let kept = fs::metadata(repo.root().join(file)).unwrap().permissions().mode();
        assert_eq!(kept & 0o777, 0o600);
        let nothing =
            repo.run(&["--json", "guard", "uninstall", "--harness", host, "--yes"]).expect(0);
        assert_eq!(nothing.json()["status"], "nothing-to-do");
    }
}

#[test]
fn a_file_that_was_not_there_goes_again_and_a_persons_edits_stay() {
    for (host, file) in HOSTS {
        let repo = TestRepo::new();
        let folder = repo.root().join(file).parent().unwrap().to_owned();
        repo.run(&["guard", "install", "--harness", host, "--yes"]).expect(0);
        assert!(settings(&repo, file).is_some());
        repo.run(&["guard", "uninstall", "--harness", host, "--yes"]).expect(0);
        assert!(!folder.exists(), "nothing is left");
        repo.run(&["guard", "install", "--harness", host, "--yes"]).expect(0);
        let edited = settings(&repo, file).unwrap().replacen("{\n", "{\n  \"mine\": true,\n", 1);
        put(&repo, file, &edited);
        repo.run(&["guard", "install", "--harness", host, "--scope", "src", "--yes"]).expect(0);
        assert!(command(&repo, file).contains("--scope src"));
        repo.run(&["guard", "uninstall", "--harness", host, "--yes"]).expect(0);
        let left: Value = serde_json::from_str(&settings(&repo, file).unwrap()).unwrap();
        assert_eq!(left, json!({ "mine": true }));
    }
}

#[test]
fn settings_that_cannot_be_read_are_refused_and_untouched() {
    for (host, file) in HOSTS {
        for bad in ["", "{", "// a comment\n{}", "[]", "{\"hooks\": []}", "{\"a\":1,\"a\":2}"] {
            let repo = TestRepo::new();
            put(&repo, file, bad);
            for verb in ["install", "uninstall"] {
                repo.run(&["guard", verb, "--harness", host, "--yes"]).expect(6);
                assert_eq!(settings(&repo, file).unwrap(), bad);
            }
        }
        let repo = TestRepo::new();
        put(&repo, "elsewhere.json", "{}");
        fs::create_dir_all(repo.root().join(file).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("../elsewhere.json", repo.root().join(file)).unwrap();
        repo.run(&["guard", "install", "--harness", host, "--yes"]).expect(6);
        assert_eq!(fs::read_to_string(repo.root().join("elsewhere.json")).unwrap(), "{}");
        repo.run(&["guard", "install", "--harness", host, "--scope", "/etc", "--yes"]).expect(2);
    }
    TestRepo::new().run(&["guard", "install", "--harness", "emacs"]).expect(2);
}

/// Settings that others share name the program, not where it is on one machine.
#[test]
fn the_program_is_named_where_it_is_on_the_path() {
    let repo = TestRepo::new();
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ao"), folder.path().join("ao")).unwrap();
    let install = ["guard", "install", "--harness", "claude", "--yes"];
    let output = repo.command(&install).env("PATH", folder.path()).output().unwrap();
    assert!(output.status.success());
    let named = command(&repo, HOSTS[0].1);
    assert!(named.starts_with("ao -C \"$CLAUDE_PROJECT_DIR\" guard hook"), "{named}");
    // Another program of that name is not this one.
    fs::remove_file(folder.path().join("ao")).unwrap();
    fs::copy("/bin/true", folder.path().join("ao")).unwrap();
    let output = repo.command(&install).env("PATH", folder.path()).output().unwrap();
    assert!(output.status.success());
    assert!(command(&repo, HOSTS[0].1).starts_with('/'), "its path");
}

/// As a host runs it: the command through a shell, the call on its input.
#[test]
fn the_installed_command_works_in_a_shell_and_fails_closed() {
    for (host, file) in HOSTS {
        let repo = TestRepo::new();
        repo.run(&["guard", "install", "--harness", host, "--scope", "my notes", "--yes"])
            .expect(0);
        let command = command(&repo, file);
        let ask = |command: &str, text: &str| {
            let payload = json!({
                "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": repo.root(),
                "tool_input": { "command": text },
            });
            let mut child = Command::new("/bin/sh")
                .args(["-c", command])
                .env("CLAUDE_PROJECT_DIR", repo.root())
                .current_dir("/")
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            // A command that is not there reads nothing.
            let _ = child.stdin.take().unwrap().write_all(payload.to_string().as_bytes());
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.success(), output.stderr.is_empty(), "{command}");
            output.status.code()
        };
        assert_eq!(ask(&command, "ls"), Some(0));
        assert_eq!(ask(&command, "echo x > 'my notes/a.md'"), Some(0));
        assert_eq!(ask(&command, "echo x > other.md"), Some(2));
        let missing = command.replacen(env!("CARGO_BIN_EXE_ao"), "/nonexistent/ao", 1);
        assert_ne!(missing, command);
        assert_eq!(ask(&missing, "ls"), Some(2), "a hook that is missing refuses");
        // It says nothing; `ask` sees that there is a reason all the same.
        let killed = format!("sh -c 'kill -PIPE $$'{OTHERWISE}");
        assert_eq!(ask(&killed, "ls"), Some(2), "a hook that is killed refuses");
    }
}

/// Who installs the hook can give it whatever it takes.
#[test]
fn everything_that_the_hook_takes_can_be_installed() {
    for (host, file) in HOSTS {
        let repo = TestRepo::new();
        let install = ["guard", "install", "--harness", host, "--yes", "--scope", "src"];
        let more = [
            "--grant",
            "dependencies",
            "--destructive",
            "recursive-removal",
            "--tool",
            "mcp__my db__query",
        ];
        let ask = |command: &str, tool: &str, input: &Value| {
            let payload = json!({
                "hook_event_name": "PreToolUse", "tool_name": tool, "cwd": repo.root(),
                "tool_input": input,
            });
            let mut child = Command::new("/bin/sh")
                .args(["-c", command])
                .env("CLAUDE_PROJECT_DIR", repo.root())
                .stdin(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
            child.wait().unwrap().code()
        };
        fs::create_dir_all(repo.root().join("src/old")).unwrap();
        put(&repo, "src/package.json", "{}");
        let asked = [
            ("mcp__my db__query", json!({ "q": 1 })),
            ("Bash", json!({ "command": "rm -r src/old" })),
            ("Bash", json!({ "command": "echo '{}' > src/package.json" })),
        ];
        repo.run(&install).expect(0);
        let plain = command(&repo, file);
        repo.run(&[&install[..], &more[..]].concat()).expect(0);
        let given = command(&repo, file);
        for (tool, input) in &asked {
            assert_eq!(ask(&plain, tool, input), Some(2), "{host}: {input} without a word");
            assert_eq!(ask(&given, tool, input), Some(0), "{host}: {input}: {given}");
        }
        assert_eq!(ask(&given, "mcp__other", &json!({})), Some(2));
        // `--leak` as well: there is no git here that could say what is ignored.
        repo.run(&[&install[..], &more[..], &["--leak"]].concat()).expect(0);
        let leak = command(&repo, file);
        assert_eq!(ask(&leak, "Bash", &json!({ "command": "touch src/a" })), Some(2));
        assert_eq!(ask(&given, "Bash", &json!({ "command": "touch src/a" })), Some(0));
        for bad in [["--grant", "everything"], ["--destructive", "all"], ["--scope", "../x"]] {
            repo.run(&[&install[..], &bad].concat()).expect(2);
            assert_eq!(command(&repo, file), leak, "{bad:?} changed something");
        }
        repo.run(&["guard", "uninstall", "--harness", host, "--yes"]).expect(0);
        assert_eq!(settings(&repo, file), None);
    }
}
