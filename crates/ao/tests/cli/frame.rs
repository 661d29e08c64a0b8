//! What holds for every command: help, JSON, exit codes, colours, quiet.

use serde_json::json;

use crate::repo::{TestRepo, edits_everywhere, write};

#[test]
fn help_has_examples_and_the_exit_codes() {
    let repo = TestRepo::new();
    let help = repo.run(&["--help"]).expect(0);
    for code in ["0 ", "1 ", "2 ", "3 ", "4 ", "5 ", "6 ", "75 "] {
        assert!(
            help.stdout.lines().any(|line| line.trim_start().starts_with(code)),
            "{code}: {help}"
        );
    }
    for command in ["apply", "log", "undo"] {
        let help = repo.run(&["tree", command, "--help"]).expect(0);
        assert!(help.stdout.contains("Examples:"), "{help}");
    }
    for command in ["check", "hook", "install", "uninstall", "audit"] {
        let help = repo.run(&["guard", command, "--help"]).expect(0);
        assert!(help.stdout.contains("Examples:"), "{help}");
    }
    for command in ["init", "write", "read", "refs", "rm", "rotate", "run"] {
        let help = repo.run(&["vault", command, "--help"]).expect(0);
        assert!(help.stdout.contains("Examples:"), "{help}");
    }
    repo.run(&["tree", "nonsense"]).expect(2);
    // A word that only a keeper of programs is started with means nothing to anybody else.
    repo.run(&["keep-program", "/bin/true"]).expect(2);
    repo.run(&[]).expect(2);
}

#[test]
fn json_is_one_object_with_a_version_on_every_command() {
    let repo = TestRepo::new();
    let file = repo.edits(&edits_everywhere());
    let commands = [
        &["tree", "apply", &file, "--id", "one"][..],
        &["tree", "log"],
        &["tree", "show"],
        &["tree", "diff"],
        &["tree", "undo"],
        &["tree", "verify"],
        &["tree", "recover"],
        &["--dry-run", "tree", "undo", "one"],
        &["--dry-run", "tree", "apply", &file],
        &["--dry-run", "tree", "recover"],
        &["schema"],
        &["schema", "summary"],
        &["guard", "check", "--tracked", "x"],
        &["guard", "install", "--harness", "claude"],
        &["guard", "uninstall", "--harness", "codex"],
    ];
    for command in commands {
        let mut arguments = vec!["--json"];
        arguments.extend(command);
        let answer = repo.run(&arguments).expect(0).json();
        assert_eq!(answer["schema_version"], 1, "{command:?}");
        let name = answer["command"].as_str().unwrap().to_owned();
        assert!(command.join(" ").contains(&name), "{command:?}: {name}");
    }
    let failed = repo.run(&["--json", "tree", "show", "nobody"]).expect(2);
    assert_eq!(failed.json()["error"]["exit"], 2);
    assert!(failed.stderr.contains("error:") && failed.stderr.contains("hint:"), "{failed}");
}

#[test]
fn data_goes_to_stdout_and_the_rest_to_stderr() {
    let repo = TestRepo::new();
    std::os::unix::fs::symlink("a.md", repo.agents().join("learnings/link.md")).unwrap();
    let file = repo.edits(&json!([write("learnings/a.md", "x\n")]));
    let loud = repo.run(&["tree", "apply", &file]).expect(0);
    assert!(loud.stderr.contains("note:") && !loud.stdout.contains("note:"), "{loud}");
    let file = repo.edits(&json!([write("learnings/a.md", "y\n")]));
    let quiet = repo.run(&["--quiet", "tree", "apply", &file]).expect(0);
    assert_eq!(quiet.stderr, "", "{quiet}");
    assert!(quiet.stdout.contains("Committed 1 changed"), "{quiet}");
}

#[test]
fn there_are_no_colours_where_none_are_wanted() {
    let repo = TestRepo::new();
    repo.apply(&edits_everywhere()).expect(0);
    let colored = |arguments: &[&str], name: &str, value: &str| {
        let output = repo.command(arguments).env(name, value).output().unwrap();
        String::from_utf8(output.stdout).unwrap().contains('\u{1b}')
    };
    assert!(colored(&["tree", "diff"], "CLICOLOR_FORCE", "1"));
    assert!(!colored(&["tree", "diff"], "UNRELATED", "1"), "a pipe is no terminal");
    assert!(!colored(&["--no-color", "tree", "diff"], "CLICOLOR_FORCE", "1"));
    assert!(!colored(&["tree", "diff"], "NO_COLOR", "1"));
}

#[test]
fn edits_come_from_standard_input_too() {
    let repo = TestRepo::new();
    let file = std::fs::File::open(repo.edits(&json!([write("learnings/a.md", "x\n")]))).unwrap();
    let output = repo.command(&["tree", "apply", "-"]).stdin(file).output().unwrap();
    assert!(output.status.success());
    assert_eq!(repo.read("learnings/a.md"), "x\n");
}

#[test]
fn the_repository_is_found_from_below() {
    let repo = TestRepo::new();
    repo.apply_as(&edits_everywhere(), &["--id", "one"]).expect(0);
    let mut below = std::process::Command::new(env!("CARGO_BIN_EXE_ao"));
    let output = below
        .env_clear()
        .current_dir(repo.agents().join("learnings"))
        .args(["tree", "log"])
        .output()
        .unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("one"));
    let nowhere = tempfile::tempdir().unwrap();
    let mut outside = std::process::Command::new(env!("CARGO_BIN_EXE_ao"));
    let output =
        outside.env_clear().current_dir(nowhere.path()).args(["tree", "log"]).output().unwrap();
    assert_eq!(output.status.code(), Some(6));
}
