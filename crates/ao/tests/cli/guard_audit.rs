//! `ao guard audit`: what changed, by the engine's own eyes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use crate::guard_check::{git, git_repo, put};
use crate::repo::{Ran, TestRepo};

struct Audit {
    repo: TestRepo,
    kept: TempDir,
}

impl Audit {
    fn begin() -> Self {
        let audit = Self { repo: git_repo(), kept: tempfile::tempdir().unwrap() };
        put(&audit.repo, "ignored.log", "old\n");
        put(&audit.repo, "untracked.txt", "old\n");
        git(&audit.repo, &["update-index", "--assume-unchanged", "src/a.rs"]);
        audit.run(&["--begin"]).expect(0);
        audit
    }

    fn file(&self) -> PathBuf {
        self.kept.path().join("before.json")
    }

    fn run(&self, more: &[&str]) -> Ran {
        let file = self.file();
        let mut arguments = vec!["--json", "guard", "audit", "--file", file.to_str().unwrap()];
        arguments.extend(more);
        self.repo.run(&arguments)
    }
}

fn verdict(told: &Value, path: &str) -> Option<String> {
    let findings = told["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["path"] == path)?;
    Some(format!("{} {}", found["verdict"].as_str()?, found["what"].as_str()?))
}

// pitfall 31
#[test]
fn everything_that_changed_is_seen_and_only_what_is_owned_is_fine() {
    let audit = Audit::begin();
    let repo = &audit.repo;
    let same = audit.run(&["--owned", "nothing"]).expect(0).json();
    assert_eq!(same["changed"], 0, "{same}");
    put(repo, "src/new/mine.rs", "mine\n");
    put(repo, "src/a.rs", "assumed to be unchanged\n");
    put(repo, "ignored.log", "new\n");
    put(repo, "untracked.txt", "new\n");
    put(repo, ".git/hooks/post-checkout", "#!/bin/sh\n");
    put(repo, ".env", "KEY=1\n");
    put(repo, "src/AGENTS.md", "do as I say\n");
    fs::remove_file(repo.root().join("migrations/001.sql")).unwrap();
    fs::set_permissions(repo.root().join(".gitignore"), fs::Permissions::from_mode(0o777)).unwrap();
    std::os::unix::fs::symlink("/etc", repo.root().join("src/etc")).unwrap();
    git(repo, &["config", "core.fsmonitor", "evil"]);
    git(repo, &["branch", "other"]);
    let told = audit.run(&["--owned", "src/**"]).expect(5).json();
    let cases = [
        ("src/new", "owned added"),
        ("src/new/mine.rs", "owned added"),
        ("src/a.rs", "owned changed"),
        ("src/AGENTS.md", "runs-by-itself added"),
        ("src/etc", "unfit added"),
        ("ignored.log", "not-owned changed"),
        ("untracked.txt", "not-owned changed"),
        (".gitignore", "not-owned changed"),
        ("migrations/001.sql", "not-owned removed"),
        (".env", "sacred added"),
        (".git/hooks/post-checkout", "sacred added"),
        (".git/config", "sacred changed"),
        (".git/refs/heads/other", "sacred added"),
    ];
    for (path, wanted) in cases {
        assert_eq!(verdict(&told, path).as_deref(), Some(wanted), "{path}: {told:#}");
    }
    let everything = audit.run(&["--owned", "**"]).expect(5).json();
    assert_eq!(verdict(&everything, ".env").as_deref(), Some("sacred added"));
    assert_eq!(verdict(&everything, "untracked.txt").as_deref(), Some("owned changed"));
}

#[test]
fn owned_changes_alone_are_fine_and_so_is_the_guards_own_log() {
    let audit = Audit::begin();
    put(&audit.repo, "dreams/deep/note.md", "mine\n");
    audit.repo.run(&["guard", "check", "--tracked", "x"]).expect(0);
    audit.repo.run(&["guard", "check", "--tracked", ".env"]).expect(5);
    let told = audit.run(&["--owned", "dreams/deep/note.md"]).expect(0).json();
    assert_eq!(told["violations"], 0, "{told:#}");
    audit.run(&["--begin"]).expect(0);
    audit.repo.run(&["guard", "check", "--tracked", "x"]).expect(0);
    assert_eq!(audit.run(&[]).expect(0).json()["changed"], 0);
    // One that was rewritten has not only grown.
    let log = audit.repo.read("ao/guard.jsonl").replace("refused", "allowed");
    audit.repo.write("ao/guard.jsonl", &log);
    let told = audit.run(&[]).expect(5).json();
    assert_eq!(verdict(&told, ".agents/ao/guard.jsonl").as_deref(), Some("not-owned changed"));
}

#[test]
fn attributes_kinds_and_second_names_are_seen() {
    let audit = Audit::begin();
    let root = audit.repo.root().to_owned();
    fs::hard_link(root.join("src/a.rs"), root.join("src/b.rs")).unwrap();
    fs::remove_file(root.join("untracked.txt")).unwrap();
    nix::unistd::mkfifo(&root.join("untracked.txt"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let told = audit.run(&["--owned", "src/**"]).expect(5).json();
    assert_eq!(verdict(&told, "src/a.rs").as_deref(), Some("unfit changed"), "{told:#}");
    assert_eq!(verdict(&told, "src/b.rs").as_deref(), Some("unfit added"));
    let findings = told["findings"].as_array().unwrap();
    let pipe = findings.iter().find(|finding| finding["path"] == "untracked.txt").unwrap();
    assert!(pipe["fields"].as_array().unwrap().contains(&"kind".into()), "{pipe}");
}

#[test]
fn a_linked_work_tree_is_audited_with_what_git_keeps_elsewhere() {
    let repo = git_repo();
    let outside = tempfile::tempdir().unwrap();
    let tree = outside.path().join("linked");
    git(&repo, &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "linked"]);
    let file = outside.path().join("before.json");
    let run = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ao"));
        command.env_clear().arg("-C").arg(&tree).args(["--json", "guard", "audit", "--file"]);
        Ran::of(command.arg(&file).args(more).output().unwrap())
    };
    run(&["--begin"]).expect(0);
    put(&repo, ".git/hooks/pre-commit", "#!/bin/sh\n");
    let told = run(&["--owned", "**"]).expect(5).json();
    let paths: Vec<_> =
        told["findings"].as_array().unwrap().iter().map(|f| f["path"].clone()).collect();
    assert!(paths.contains(&".git/@common/hooks/pre-commit".into()), "{told:#}");
}

#[test]
fn the_state_is_kept_outside_and_a_bad_one_is_refused() {
    let audit = Audit::begin();
    let schema =
        ["schema", "guard-manifest", "--check", audit.file().to_str().unwrap()].map(str::to_owned);
    audit.repo.run(&schema.iter().map(String::as_str).collect::<Vec<_>>()).expect(0);
    let inside = audit.repo.root().join("state.json");
    let inside = inside.to_str().unwrap();
    audit.repo.run(&["guard", "audit", "--begin", "--file", inside]).expect(2);
    assert!(!audit.repo.root().join("state.json").exists());
    audit.repo.run(&["guard", "audit", "--file", "/nonexistent/x.json"]).expect(6);
    fs::write(audit.file(), "{}").unwrap();
    audit.run(&[]).expect(6);
    audit.run(&["--begin", "--owned", "x"]).expect(2);
    audit.run(&["--owned", "../x"]).expect(6);
    // A dry run keeps nothing, and without a file there is a usual one.
    let home = tempfile::tempdir().unwrap();
    let begin = |arguments: &[&str]| {
        let mut command = audit.repo.command(arguments);
        Ran::of(command.env("HOME", home.path()).output().unwrap())
    };
    begin(&["--dry-run", "guard", "audit", "--begin"]).expect(0);
    begin(&["guard", "audit"]).expect(6);
    begin(&["guard", "audit", "--begin"]).expect(0);
    begin(&["guard", "audit"]).expect(0);
}

#[test]
fn the_upper_directory_of_an_overlay_is_the_whole_truth() {
    let repo = git_repo();
    put(&repo, ".agentops/sacred-scopes.yaml", "sacred: [infra]\n");
    put(&repo, "old/a/b.txt", "b\n");
    let upper = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = upper.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("src/a.rs", "changed\n");
    write("src/new.rs", "new\n");
    write("other.txt", "new\n");
    write("infra/x.tf", "x\n");
    write(".git/config", "[core]\n\tfsmonitor = evil\n");
    // As the kernel writes down that something is gone.
    let gone = |path: &str| {
        use nix::sys::stat::{Mode, SFlag, mknod};
        mknod(&upper.path().join(path), SFlag::S_IFCHR, Mode::empty(), 0).unwrap();
    };
    gone("old");
    fs::create_dir(upper.path().join("migrations")).unwrap();
    gone("migrations/001.sql");
    let directory = upper.path().to_str().unwrap();
    let arguments = ["--json", "guard", "audit", "--owned", "src/**", "--upper", directory];
    let told = repo.run(&arguments).expect(5).json();
    for (path, wanted) in [
        ("src/a.rs", "owned changed"),
        ("src/new.rs", "owned added"),
        ("other.txt", "not-owned added"),
        ("infra/x.tf", "sacred added"),
        (".git/config", "sacred changed"),
        ("old", "not-owned removed"),
        ("old/a/b.txt", "not-owned removed"),
        ("migrations/001.sql", "not-owned removed"),
    ] {
        assert_eq!(verdict(&told, path).as_deref(), Some(wanted), "{path}: {told:#}");
    }
    for path in ["src", "migrations"] {
        assert_eq!(verdict(&told, path), None, "a folder that is only on the way: {told:#}");
    }
    repo.run(&["guard", "audit", "--upper", "/nonexistent/upper"]).expect(1);
}

/// Names need not be text, and a backslash is a letter like any other.
#[test]
fn a_project_and_files_with_odd_names_are_audited_like_others() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::Builder::new().prefix("back\\slash\\x41-").tempdir().unwrap();
    let (repo, kept) = (TestRepo::at(folder), tempfile::tempdir().unwrap());
    let odd = std::ffi::OsStr::from_bytes(b"odd\\\xff");
    fs::write(repo.root().join(odd), "old\n").unwrap();
    fs::write(repo.root().join("gone\\x"), "old\n").unwrap();
    let audit = Audit { repo, kept };
    audit.run(&["--begin"]).expect(0);
    audit.repo.run(&["guard", "check", "--tracked", "x"]);
    let same = audit.run(&["--owned", "nothing"]).expect(0).json();
    assert_eq!(same["changed"], 0, "{same:#}");
    fs::write(audit.repo.root().join(odd), "new\n").unwrap();
    let told = audit.run(&["--owned", "nothing"]).expect(5).json();
    assert_eq!(verdict(&told, "odd\\\\\\xff").as_deref(), Some("not-owned changed"), "{told:#}");
    let upper = tempfile::tempdir().unwrap();
    fs::write(upper.path().join(odd), "newer\n").unwrap();
    // As the kernel writes down that something is gone.
    let gone = upper.path().join("gone\\x");
    nix::sys::stat::mknod(&gone, nix::sys::stat::SFlag::S_IFCHR, nix::sys::stat::Mode::empty(), 0)
        .unwrap();
    let directory = upper.path().to_str().unwrap();
    let told = audit.repo.run(&["--json", "guard", "audit", "--upper", directory]).expect(5).json();
    assert_eq!(verdict(&told, "odd\\\\\\xff").as_deref(), Some("not-owned changed"), "{told:#}");
    assert_eq!(verdict(&told, "gone\\\\x").as_deref(), Some("not-owned removed"), "{told:#}");
}
