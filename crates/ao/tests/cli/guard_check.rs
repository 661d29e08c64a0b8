//! `ao guard check`: paths and commands, each refusal with its rule.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::repo::{Ran, TestRepo};

/// A repository of git's, with something committed.
pub(crate) fn git_repo() -> TestRepo {
    let repo = TestRepo::new();
    put(&repo, ".gitignore", "dreams/\n*.log\n!keep.log\n");
    put(&repo, "src/a.rs", "a\n");
    put(&repo, "migrations/001.sql", "create table a;\n");
    put(&repo, "dreams/tracked.md", "in spite of it\n");
    git(&repo, &["init", "-q", "-b", "main"]);
    git(&repo, &["add", "-f", ".gitignore", "src", "migrations", "dreams/tracked.md"]);
    git(&repo, &["commit", "-q", "-m", "first"]);
    repo
}

pub(crate) fn put(repo: &TestRepo, path: &str, text: &str) {
    let path = repo.root().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn git(repo: &TestRepo, arguments: &[&str]) {
    let mut command = Command::new("git");
    command
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .current_dir(repo.root())
        .args(["-c", "user.name=t", "-c", "user.email=t@example.com"])
        .args(arguments);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn check(repo: &TestRepo, arguments: &[&str]) -> Ran {
    let mut all = vec!["--json", "guard", "check"];
    all.extend(arguments);
    let path = std::env::var_os("PATH").unwrap();
    Ran::of(repo.command(&all).env("PATH", path).output().unwrap())
}

/// The rule that refused, or nothing.
#[track_caller]
fn rule(repo: &TestRepo, arguments: &[&str]) -> Option<String> {
    let ran = check(repo, arguments);
    let result = &ran.json()["results"][0];
    assert_eq!(ran.code, if result["allowed"] == true { 0 } else { 5 }, "{ran}");
    result["rule"].as_str().map(str::to_owned)
}

// proves: EXE-05, EXE-07
#[test]
fn only_what_git_ignores_is_written() {
    let repo = git_repo();
    let index = fs::read(repo.root().join(".git/index")).unwrap();
    assert_eq!(rule(&repo, &["dreams/new.md"]), None);
    assert_eq!(rule(&repo, &["dreams/deep/er/new.md"]), None);
    assert_eq!(rule(&repo, &["some.log"]), None);
    for path in ["src/a.rs", "src/new.rs", "keep.log", "dreams/tracked.md", "new.md"] {
        assert_eq!(rule(&repo, &[path]).as_deref(), Some("leak"), "{path}");
        assert_eq!(rule(&repo, &["--tracked", path]), None, "{path}");
    }
    let told = check(&repo, &["dreams/tracked.md"]).json();
    assert!(told["results"][0]["why"].as_str().unwrap().contains("does not ignore it"), "{told}");
    // A repository of its own would take what is written into it.
    git(&repo, &["init", "-q", "dreams/nested"]);
    assert_eq!(rule(&repo, &["dreams/nested/a.md"]).as_deref(), Some("leak"));
    assert_eq!(fs::read(repo.root().join(".git/index")).unwrap(), index, "the index is untouched");
}

// threat 30
#[test]
fn a_linked_work_tree_and_a_submodule_are_told_apart() {
    let repo = git_repo();
    let outside = tempfile::tempdir().unwrap();
    let tree = outside.path().join("linked");
    git(&repo, &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "linked"]);
    let code = |path: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
        command.arg("-C").arg(&tree).args(["guard", "check", path]);
        command.output().unwrap().status.code()
    };
    assert_eq!(code("dreams/new.md"), Some(0));
    assert_eq!(code("src/a.rs"), Some(5));
    let inner = git_repo();
    let source = inner.root().to_str().unwrap();
    let protocol = "protocol.file.allow=always";
    git(&repo, &["-c", protocol, "submodule", "add", "-q", "--force", source, "dreams/module"]);
    assert_eq!(rule(&repo, &["dreams/module/dreams/x.md"]).as_deref(), Some("leak"));
}

// proves: EXE-05
#[test]
fn without_a_repository_nothing_is_ignored() {
    let repo = TestRepo::new();
    let told = check(&repo, &["dreams/new.md"]).expect(5).json();
    assert_eq!(told["results"][0]["rule"], "leak");
    assert!(told["results"][0]["why"].as_str().unwrap().contains("128"), "{told}");
    // Nor where git is not to be found.
    let git_repo = git_repo();
    let told = git_repo.run(&["--json", "guard", "check", "dreams/new.md"]).expect(5).json();
    assert_eq!(told["results"][0]["rule"], "leak");
}

// pitfall 32
#[test]
fn git_is_asked_without_a_workers_configuration() {
    let repo = git_repo();
    let proof = repo.root().join("ran");
    let script = repo.root().join("evil.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch {}\n", proof.display())).unwrap();
    let mut mode = fs::metadata(&script).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(&script, mode).unwrap();
    let evil = script.to_str().unwrap();
    for key in ["core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "core.editor"] {
        git(&repo, &["config", key, evil]);
    }
    fs::create_dir_all(repo.root().join(".git/hooks")).unwrap();
    for hook in ["post-index-change", "fsmonitor-watchman", "pre-commit"] {
        fs::copy(&script, repo.root().join(".git/hooks").join(hook)).unwrap();
    }
    assert_eq!(rule(&repo, &["dreams/new.md"]), None);
    assert_eq!(rule(&repo, &["--tracked", "migrations/001.sql"]).as_deref(), Some("migration"));
    assert!(!proof.exists(), "a program of the repository was started");
    // The same settings do start it where git is asked plainly.
    let plain = Command::new("git").current_dir(repo.root()).args(["status"]).output().unwrap();
    assert!(plain.status.success() && proof.exists());
}

// proves: SCO-01, SCO-03
#[test]
fn each_refusal_says_its_rule() {
    let repo = git_repo();
    std::os::unix::fs::symlink("/etc", repo.root().join("src/etc")).unwrap();
    std::os::unix::fs::symlink("nowhere", repo.root().join("src/dangling")).unwrap();
    fs::hard_link(repo.root().join("src/a.rs"), repo.root().join("src/twice.rs")).unwrap();
    nix::unistd::mkfifo(&repo.root().join("src/pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    put(&repo, "src/Caf\u{e9}.md", "composed\n");
    put(&repo, "migrations/002.sql", "not committed\n");
    let cases = [
        ("src/new.rs", None),
        ("src/new/deep.rs", None),
        ("other.rs", Some("scope")),
        ("../x", Some("outside")),
        ("src/../x", Some("outside")),
        ("/etc/passwd", Some("outside")),
        ("~/x", Some("outside")),
        ("src//a.rs", Some("path")),
        ("src/", Some("path")),
        ("src/./a.rs", Some("path")),
        ("src/a.rs:x::$DATA", Some("path")),
        ("src/C:\\x", Some("path")),
        ("src/a\u{200b}.rs", Some("path")),
        ("src/etc/passwd", Some("kind")),
        ("src/dangling", Some("kind")),
        ("src/twice.rs", Some("kind")),
        ("src/pipe", Some("kind")),
        ("src/a.rs/b", Some("kind")),
        ("src/A.rs", Some("collision")),
        ("src/Cafe\u{301}.md", Some("collision")),
        ("src/CAF\u{c9}.md", Some("collision")),
        ("src/.env.local", Some("sacred")),
        ("src/auth/a.ts", Some("authentication")),
        ("src/billing/a.ts", Some("billing")),
        ("src/package.json", Some("dependencies")),
        ("migrations/001.sql", Some("migration")),
        ("migrations/002.sql", None),
        ("migrations/003.sql", None),
    ];
    for (path, wanted) in cases {
        let scopes = ["--tracked", "--scope", "src/**", "--scope", "migrations/**", "--", path];
        assert_eq!(rule(&repo, &scopes).as_deref(), wanted, "{path}");
    }
    let grants =
        ["--tracked", "--grant", "authentication", "--grant", "billing", "--grant", "dependencies"];
    for path in ["src/auth/a.ts", "src/billing/a.ts", "src/package.json"] {
        assert_eq!(rule(&repo, &[&grants[..], &[path]].concat()), None, "{path}");
    }
    assert_eq!(rule(&repo, &[&grants[..], &[".env"]].concat()).as_deref(), Some("sacred"));
    // Absolute paths beneath the project are what hosts send.
    let inside = repo.root().join("src/new.rs");
    assert_eq!(rule(&repo, &["--tracked", "--scope", "src", inside.to_str().unwrap()]), None);
}

// proves: SCO-04
#[test]
fn a_projects_own_sacred_scopes_hold_and_a_bad_file_closes_everything() {
    let repo = git_repo();
    let file = ".agentops/sacred-scopes.yaml";
    put(&repo, file, "sacred:\n  - infra/prod  # what pays the bills\n  - '**/*.tfstate'\n");
    for path in ["infra/prod/a.tf", "x/y.tfstate", "Infra/PROD/b"] {
        assert_eq!(rule(&repo, &["--tracked", path]).as_deref(), Some("sacred-project"), "{path}");
    }
    assert_eq!(rule(&repo, &["--tracked", "infra/dev/a.tf"]), None);
    assert_eq!(rule(&repo, &["--tracked", ".env"]).as_deref(), Some("sacred"), "built in");
    for bad in ["sacred: [", "sacred: infra", "other: []", "sacred:\n  - a{b\n", "- a", ""] {
        put(&repo, file, bad);
        let told = check(&repo, &["--tracked", "infra/dev/a.tf"]).expect(5).json();
        assert_eq!(told["results"][0]["rule"], "sacred-unreadable", "{bad}");
        // What is owned by name is still written, as the contract has it.
        assert_eq!(rule(&repo, &["--tracked", "--scope", "src", "src/a.rs"]), None, "{bad}");
        let other = rule(&repo, &["--tracked", "--scope", "src", "x"]);
        assert_eq!(other.as_deref(), Some("sacred-unreadable"), "{bad}");
    }
    fs::remove_file(repo.root().join(file)).unwrap();
    std::os::unix::fs::symlink("/dev/zero", repo.root().join(file)).unwrap();
    assert_eq!(rule(&repo, &["--tracked", "a"]).as_deref(), Some("sacred-unreadable"));
}

// proves: SCO-06, SCO-07
#[test]
fn destructive_classes_are_recognised_in_text_and_argv() {
    let repo = git_repo();
    let cases = [
        ("recursive-removal", "rm -rf build"),
        ("recursive-removal", "sudo rm -fr /"),
        ("recursive-removal", "find . -name x -delete"),
        ("recursive-removal", "git clean -fdx"),
        ("recursive-removal", "ls | xargs rm -r"),
        ("forced-push", "git push -f origin main"),
        ("forced-push", "git push --force-with-lease"),
        ("forced-push", "git push origin +main"),
        ("hard-reset", "git reset --hard HEAD~3"),
        ("hard-reset", "git -C sub checkout -f"),
        ("branch-deletion", "git branch -D old"),
        ("branch-deletion", "git branch --delete old"),
        ("branch-deletion", "git push origin :old"),
        ("branch-deletion", "git push origin --delete old"),
        ("data-deletion", "psql -c 'DROP TABLE users'"),
        ("data-deletion", "mysql -e \"delete from t where a = 1\""),
        ("data-deletion", "sqlite3 a.db 'DELETE FROM t'"),
        ("data-deletion", "psql <<'EOF'\nDELETE FROM t WHERE id IN (SELECT 1) LIMIT 3;\nEOF"),
        ("data-deletion", "echo 'truncate t' | psql"),
        ("data-deletion", "dropdb prod"),
        ("data-deletion", "redis-cli FLUSHALL"),
        ("killed-process", "kill -9 1234"),
        ("killed-process", "pkill -f node"),
        ("killed-process", "killall ruby"),
        ("killed-process", "docker kill db"),
        ("real-sending", "mail -s hi a@example.com"),
        ("real-sending", "curl -X POST https://api.stripe.com/v1/charges -d amount=1"),
        ("real-sending", "curl --json '{}' https://api.sendgrid.com/v3/mail/send"),
        ("real-sending", "aws ses send-email --to x"),
        ("disabled-protection", "systemctl disable backup.timer"),
        ("disabled-protection", "auditctl -e 0"),
        ("disabled-protection", "aws rds modify-db-instance --backup-retention-period 0"),
        ("disabled-protection", "restic forget --prune"),
        ("disabled-protection", "if true; then crontab -r; fi"),
    ];
    for (class, text) in cases {
        let told =
            check(&repo, &["--tracked", "--scope", "**", "--command", text]).expect(5).json();
        let result = &told["results"][0];
        assert_eq!(result["rule"], "destructive", "{text}: {result}");
        assert!(result["why"].as_str().unwrap().starts_with(class), "{text}: {result}");
    }
    let told = check(&repo, &["--argv", "--", "git", "push", "--force"]).expect(5).json();
    assert_eq!(told["results"][0]["rule"], "destructive");
    // Listed beforehand, a class is judged by the other rules.
    put(&repo, "build/x", "x\n");
    let listed = ["--tracked", "--scope", "build", "--destructive", "recursive-removal"];
    let judge = |text: &str| rule(&repo, &[&listed[..], &["--command", text]].concat());
    assert_eq!(judge("rm -r build/x"), None);
    assert_eq!(judge("rm -r src").as_deref(), Some("scope"));
    for text in
        ["kill -0 1", "kill %1", "git push", "git branch -a", "psql -c 'select 1'", "rm build/x"]
    {
        let rule = rule(&repo, &["--tracked", "--scope", "build", "--command", text]);
        assert_ne!(rule.as_deref(), Some("destructive"), "{text}");
    }
}

#[test]
fn what_is_told_is_data_and_is_logged() {
    let repo = git_repo();
    let told = check(&repo, &["--tracked", "--scope", "src", "src/a.rs", "x\u{1b}[31m"]).expect(5);
    let results = told.json()["results"].as_array().unwrap().clone();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["allowed"], true);
    let plain = repo.run(&["guard", "check", "--tracked", "x\u{1b}[31m"]).expect(5);
    assert!(!plain.stdout.contains('\u{1b}'), "{plain}");
    let log = repo.read("ao/guard.jsonl");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|line| line["by"] == "check"));
    let before = log.len();
    repo.run(&["--dry-run", "guard", "check", "--tracked", "x"]).expect(0);
    assert_eq!(repo.read("ao/guard.jsonl").len(), before, "a dry run leaves no trace");
    let content = repo.root().join("new.json");
    fs::write(&content, "{\"name\":\"y\"}").unwrap();
    let content = content.to_str().unwrap();
    assert_eq!(rule(&repo, &["--tracked", "--content", content, "package.json"]), None);
    fs::write(content, "{\"dependencies\":{\"a\":\"1\"}}").unwrap();
    let told = rule(&repo, &["--tracked", "--content", content, "package.json"]);
    assert_eq!(told.as_deref(), Some("dependencies"));
    repo.run(&["guard", "check"]).expect(2);
    repo.run(&["guard", "check", "--grant", "everything", "x"]).expect(2);
    let help = repo.run(&["guard", "check", "--help"]).expect(0);
    assert!(help.stdout.contains("Examples:"), "{help}");
}
