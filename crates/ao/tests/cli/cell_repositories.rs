//! What a command leaves in a writable folder and somebody else's program runs: repositories, hooks, tasks.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::cell::{Cells, User};
use crate::repo::wait_until;

/// Repositories in all the ways in which git finds one, made by hand. A configuration with programs would run them
/// at the next prompt; whether git finds it is all that is asked here, and nothing is run.
const PLANT: &str = "
repository() { mkdir -p $1/objects $1/refs; echo 'ref: refs/heads/main' > $1/HEAD
  printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = true\\n\\tworktree = .\\n' > $1/config; }
cd out
repository deep/down/.git; repository bare; repository other/modules/inner; repository .
mkdir gitfile late; echo 'gitdir: ../bare' > gitfile/.git; repository late/.gIt
mkdir -p worktree linked; echo 'ref: refs/heads/x' > linked/HEAD; echo ../bare > linked/commondir
git -C deep/down rev-parse --git-dir; git -C bare rev-parse --git-dir
{ repository .git; rm -rf .git; mv -T deep/down/.git .git; repository .git; } 2>/dev/null
ls .git | wc -l
";

/// The repository that git sees from a folder. Git is asked in a way that runs nothing of it.
fn repository_of(folder: &Path, ceiling: &Path) -> Option<String> {
    let mut git = Command::new("git");
    git.args(["-c", "safe.directory=*", "rev-parse", "--absolute-git-dir"]).current_dir(folder);
    git.env_clear().env("PATH", "/usr/bin:/bin").env("GIT_CEILING_DIRECTORIES", ceiling);
    let output = git.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", "/nowhere").output().unwrap();
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn folders(root: &Path, found: &mut Vec<std::path::PathBuf>) {
    found.push(root.to_owned());
    for entry in fs::read_dir(root).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            folders(&entry.path(), found);
        }
    }
}

fn nothing_is_a_repository(cells: &Cells) {
    let mut all = Vec::new();
    folders(&cells.path("out"), &mut all);
    assert!(all.len() > 8, "{all:?}");
    for folder in all {
        let found = repository_of(&folder, &cells.path(""));
        assert_eq!(found, None, "{}", folder.display());
    }
}

fn set_aside(answer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = answer["set_aside"].as_array().unwrap().iter();
    let mut all: Vec<_> = all
        .map(|one| {
            assert!(Path::new(one["to"].as_str().unwrap()).exists(), "{one}");
            (text(&one["path"]).rsplit("/out").next().unwrap().to_owned(), text(&one["kind"]))
        })
        .collect();
    all.sort();
    all
}

// proves: SCO-03
#[test]
fn a_planted_repository_is_set_aside_and_named() {
    for (cells, is_held) in [
        (Cells::new(User::This), true),
        (Cells::new(User::Ordinary), true),
        (Cells::tier_b(), false),
    ] {
        let ran = cells.sh(&["--rw", "out"], PLANT).expect(0);
        let answer = ran.json();
        let said = answer["stdout"]["text"].as_str().unwrap();
        // The attack is one: git found them while they were there.
        assert!(said.starts_with(".git\n.\n"), "{ran}");
        let names: Vec<_> = set_aside(&answer);
        let names: Vec<_> =
            names.iter().map(|(path, kind)| (path.as_str(), kind.as_str())).collect();
        let mut expected = vec![
            ("", "bare-layout"),
            ("/bare", "bare-layout"),
            ("/gitfile/.git", "git-file"),
            ("/late/.gIt", "bare-layout"),
            ("/late/.gIt", "git-folder"),
            ("/linked", "bare-layout"),
            ("/other/modules/inner", "bare-layout"),
        ];
        // In tier A the name at the top cannot be had, neither by making nor by moving something there.
        let (count, place) = if is_held { ("0", "/deep/down/.git") } else { ("4", "/.git") };
        assert_eq!(said, format!(".git\n.\n{count}\n"), "{ran}");
        expected.extend([(place, "bare-layout"), (place, "git-folder")]);
        expected.sort_unstable();
        assert_eq!(names, expected, "{ran}");
        assert_eq!(answer["unswept"], serde_json::json!([]), "{ran}");
        assert!(!cells.path("out/.git").exists());
        nothing_is_a_repository(&cells);
        // What is told to people names it too, and the folder can be used again.
        let plain = cells
            .ao(&[
                "guard",
                "run",
                "--rw",
                "out",
                "--",
                "/bin/sh",
                "-c",
                "mkdir out/x; echo 'gitdir: /x' > out/x/.git",
            ])
            .expect(0);
        assert!(
            plain.stderr.contains("set aside:") && plain.stderr.contains("out/x/.git"),
            "{plain}"
        );
        nothing_is_a_repository(&cells);
    }
}

/// It is refused with everything in it, so that nothing of it can be changed.
#[test]
fn a_repository_that_was_there_is_neither_written_nor_moved() {
    for cells in [Cells::new(User::This), Cells::tier_b()] {
        for plant in ["a/.git", "b/.GIT", "bare"] {
            let at = cells.path("out").join(plant);
            for folder in ["objects", "refs"] {
                fs::create_dir_all(at.join(folder)).unwrap();
            }
            fs::write(at.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            cells.settle();
            cells.sh(&["--rw", "out"], "touch out/started").expect(2);
            assert!(!cells.path("out/started").exists());
            assert!(at.join("HEAD").exists());
            fs::remove_dir_all(at).unwrap();
        }
    }
}

/// The name that a killed run had taken is given back by the next one.
#[test]
fn a_run_that_was_killed_leaves_nothing_that_stops_the_next() {
    let cells = Cells::new(User::This);
    let script = "touch out/started; exec sleep 600";
    let mut child = cells
        .command(&["guard", "run", "--rw", "out", "--", "/bin/sh", "-c", script])
        .spawn()
        .unwrap();
    wait_until("it runs", || cells.path("out/started").exists());
    let held = cells.path("out/.git");
    assert_eq!(fs::read_dir(&held).unwrap().count(), 0);
    // Git outside does not take it for anything.
    assert_eq!(repository_of(&cells.path("out"), &cells.path("")), None);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(held.exists());
    let answer = cells.sh(&["--rw", "out"], "touch out/again").expect(0).json();
    assert_eq!(answer["set_aside"], serde_json::json!([]), "{answer}");
    assert!(!held.exists() && cells.path("out/again").exists());
}

#[test]
fn files_that_run_by_themselves_are_named() {
    const SCRIPT: &str = "
mkdir -p .vscode hooks plain .claude; echo x > .envrc; echo '{}' > .vscode/tasks.json; echo x > hooks/pre-commit
echo '{\"scripts\":{\"postinstall\":\"x\"}}' > package.json; echo '{\"scripts\":{\"test\":\"x\"}}' > plain/package.json
echo '* filter=x' > .gitattributes; echo '* text' > plain/.gitattributes; echo x > plain/notes.md; echo '{}' > .claude/settings.json";
    const KINDS: [(&str, &str); 6] = [
        (".claude/settings.json", "agent-settings"),
        (".envrc", "folder-environment"),
        (".gitattributes", "git-filter"),
        (".vscode/tasks.json", "editor-task"),
        ("hooks/pre-commit", "git-hook"),
        ("package.json", "package-script"),
    ];
    for (cells, option, folder) in [
        (Cells::new(User::This), "--rw", "out"),
        (Cells::new(User::Ordinary), "--cow", "."),
        (Cells::tier_b(), "--rw", "out"),
    ] {
        let script = format!("cd out; {SCRIPT}");
        let answer = cells.sh(&[option, folder], &script).expect(0).json();
        let found: Vec<_> = answer["runs_by_itself"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                assert!(!one["when"].as_str().unwrap().is_empty());
                let path = one["path"].as_str().unwrap().rsplit("/out/").next().unwrap();
                (path, one["kind"].as_str().unwrap())
            })
            .collect();
        assert_eq!(found, KINDS, "{answer}");
        if option == "--rw" {
            let script = "cd out; echo y > .envrc";
            let plain =
                cells.ao(&["guard", "run", "--rw", "out", "--", "/bin/sh", "-c", script]).expect(0);
            assert!(
                plain.stderr.contains(".envrc runs by itself when you enter the folder"),
                "{plain}"
            );
        }
    }
}

/// Other repositories than those of git are asked by a prompt, too, and editors, agents, hosts and builds have
/// files of many names.
#[test]
fn files_of_many_programs_that_run_by_themselves_are_named() {
    const KINDS: [(&str, &str); 16] = [
        (".circleci/config.yml", "workflow"),
        (".cursorrules", "agent-instructions"),
        (".eslintrc.js", "editor-task"),
        (".github/copilot-instructions.md", "agent-instructions"),
        (".gitlab-ci.yml", "workflow"),
        (".hg/hgrc", "folder-environment"),
        (".jj/repo/config.toml", "folder-environment"),
        (".lefthook.yml", "git-hook"),
        (".mvn/jvm.config", "build-settings"),
        (".npmrc", "build-settings"),
        ("Jenkinsfile", "workflow"),
        ("app.code-workspace", "editor-task"),
        ("eslint.config.mjs", "editor-task"),
        ("lib/python3.12/site-packages/x.pth", "test-setup"),
        ("mise.toml", "folder-environment"),
        ("opencode.json", "agent-settings"),
    ];
    let cells = Cells::new(User::Ordinary);
    let write = |(path, _): (&str, &str)| format!("mkdir -p $(dirname {path}); echo x > {path}\n");
    let script = format!("cd out\n{}echo x > plain.js", KINDS.map(write).concat());
    let answer = cells.sh(&["--rw", "out"], &script).expect(0).json();
    let named = answer["runs_by_itself"].as_array().unwrap().iter().map(|one| {
        let path = one["path"].as_str().unwrap().rsplit("/out/").next().unwrap();
        (path, one["kind"].as_str().unwrap())
    });
    let mut named: Vec<_> = named.collect();
    named.sort_unstable();
    assert_eq!(named, KINDS, "{answer}");
}
