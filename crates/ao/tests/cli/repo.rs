//! A repository to test in, and the binary at work in it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Longer than anything here takes, so that a test that waits in vain ends.
const PATIENCE: Duration = Duration::from_mins(5);

pub(crate) struct TestRepo {
    pub(crate) dir: TempDir,
}

/// How a run of the binary ended.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|_| panic!("no JSON: {self}"))
    }

    /// The run, if it ended with this code; its output else.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\nstdout:\n{}\nstderr:\n{}", self.code, self.stdout, self.stderr)
    }
}

/// Everything that can be seen of one file from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) inode: u64,
    pub(crate) links: u64,
    pub(crate) modified: (i64, i64),
}

pub(crate) type Tree = BTreeMap<String, Seen>;

/// Only paths and bytes.
pub(crate) fn contents(tree: &Tree) -> BTreeMap<String, String> {
    tree.iter()
        .map(|(path, seen)| (path.clone(), String::from_utf8_lossy(&seen.bytes).into_owned()))
        .collect()
}

impl TestRepo {
    /// With all five parts, a few files each.
    pub(crate) fn new() -> Self {
        Self::at(tempfile::tempdir().unwrap())
    }

    /// In a folder that is there for it.
    pub(crate) fn at(dir: TempDir) -> Self {
        let repo = Self { dir };
        for name in ["a", "b", "c"] {
            repo.write(
                &format!("learnings/{name}.md"),
                &format!("---\nid: {name}\nodd_key: x # kept\n---\n# {name}\r\n"),
            );
            repo.write(&format!("findings/f-2026-04-01-{name}.md"), &format!("# finding {name}\n"));
        }
        repo.write("learnings/sub/deep.md", "deep\n");
        repo.write("learnings/log.jsonl", "{\"n\":1}\n");
        repo.write("patterns/p.md", "# pattern\n");
        repo.write("knowledge/pending/k.md", "# pending\n");
        repo.write("rpi/next-work.jsonl", "{\"items\":[],\"n\":1}\n");
        repo.write("rpi/other.txt", "not held\n");
        repo.write("research/r.md", "not held either\n");
        fs::set_permissions(
            repo.agents().join("learnings/b.md"),
            fs::Permissions::from_mode(0o640),
        )
        .unwrap();
        let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_mins(25_000_000);
        for path in ["learnings/a.md", "learnings/sub/deep.md", "patterns/p.md"] {
            File::options()
                .write(true)
                .open(repo.agents().join(path))
                .unwrap()
                .set_modified(old)
                .unwrap();
        }
        repo
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn agents(&self) -> PathBuf {
        self.root().join(".agents")
    }

    pub(crate) fn state(&self, path: &str) -> PathBuf {
        self.agents().join("overnight").join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.agents().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.agents().join(path))
            .unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.agents().join(path).symlink_metadata().is_ok()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
        command.env_clear().env("HOME", self.root());
        // Whoever runs the tests may be an agent.
        command.env("AO_TEST_ANCESTORS", "").arg("-C").arg(self.root()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// As [`TestRepo::run`], at a terminal: both streams come as one.
    pub(crate) fn typed(&self, arguments: &[&str]) -> Ran {
        self.typed_with(arguments, &[])
    }

    /// The same, with these variables.
    pub(crate) fn typed_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut python = Command::new("python3");
        let spawn =
            "import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
        python.env_clear().env("HOME", self.root()).env("AO_TEST_ANCESTORS", "");
        python.env("PATH", "/usr/bin:/bin").args(["-c", spawn, env!("CARGO_BIN_EXE_ao"), "-C"]);
        python.arg(self.root()).args(arguments).envs(variables.iter().copied());
        let mut ran = Ran::of(python.stdin(Stdio::null()).output().unwrap());
        ran.stdout = ran.stdout.replace("\r\n", "\n");
        ran
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// Writes an edits file and gives its path.
    pub(crate) fn edits(&self, edits: &Value) -> String {
        let path = self.root().join("edits.json");
        let file = json!({ "schema_version": 1, "why": "a test", "edits": edits });
        fs::write(&path, file.to_string()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn apply(&self, edits: &Value) -> Ran {
        self.apply_as(edits, &[])
    }

    pub(crate) fn apply_as(&self, edits: &Value, more: &[&str]) -> Ran {
        let file = self.edits(edits);
        let mut arguments = vec!["--json", "tree", "apply", &file, "--grace", "0s"];
        arguments.extend(more);
        self.run(&arguments)
    }

    /// All files beneath `.agents/`, the door's own state left out.
    pub(crate) fn tree(&self) -> Tree {
        let mut tree = self.everything();
        tree.retain(|path, _| !path.starts_with("overnight/"));
        tree
    }

    /// All folders beneath `.agents/`, the door's own state left out.
    pub(crate) fn folders(&self) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut left = vec![self.agents()];
        while let Some(folder) = left.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.symlink_metadata().unwrap().is_dir() && path != self.state("") {
                    found.insert(path.clone());
                    left.push(path);
                }
            }
        }
        found
    }

    /// All files beneath `.agents/`, but for two that whoever takes the lock of a run leaves in the state folder.
    pub(crate) fn everything(&self) -> Tree {
        let mut all = files(&self.agents());
        all.retain(|path, _| !["overnight/run.alive", "overnight/.gitignore"].contains(&&**path));
        all
    }

    /// Starts `tree apply` and lets it come as far as it can while a reader holds `commit.lock`:
    /// everything is staged, and nothing is exchanged.
    pub(crate) fn stopped_before_the_exchange(&self, edits: &Value) -> Stopped {
        let file = self.edits(edits);
        let arguments = ["--json", "tree", "apply", &file, "--id", "stopped", "--grace", "0s"];
        self.stopped_before(&arguments, "stopped")
    }

    /// The same for any command that commits under this id.
    pub(crate) fn stopped_before(&self, arguments: &[&str], id: &str) -> Stopped {
        fs::create_dir_all(self.state("")).unwrap();
        let reader = File::create(self.state("commit.lock")).unwrap();
        reader.lock_shared().unwrap();
        let child = self.command(arguments).spawn().unwrap();
        // The marker is the last file that is staged.
        let staged = format!("staging/{id}/carry");
        wait_until("everything is staged", || self.state(&staged).exists());
        Stopped { child, reader }
    }
}

/// Runs a command of a report as a person would: in a shell, in the repository, with `ao` on the way.
pub(crate) fn in_shell(repo: &TestRepo, command: &str) -> Ran {
    let bin = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ao"), bin.path().join("ao")).unwrap();
    let mut shell = Command::new("sh");
    shell.env_clear().env("HOME", repo.root()).env("AO_TEST_ANCESTORS", "");
    shell.current_dir(repo.root());
    shell.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", bin.path().display()));
    Ran::of(shell.args(["-c", command]).stdin(Stdio::null()).output().unwrap())
}

pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A commit that waits for a reader.
pub(crate) struct Stopped {
    pub(crate) child: Child,
    pub(crate) reader: File,
}

impl Stopped {
    /// Lets the reader go, and the commit with it.
    pub(crate) fn go_on(self) -> Ran {
        self.reader.unlock().unwrap();
        Ran::of(self.child.wait_with_output().unwrap())
    }

    /// SIGKILL, with everything staged and nothing decided.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// All files beneath a folder.
pub(crate) fn files(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    walk(folder, "", &mut tree);
    tree
}

fn walk(dir: &Path, prefix: &str, tree: &mut Tree) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let stat = entry.path().symlink_metadata().unwrap();
        if stat.is_dir() {
            walk(&entry.path(), &format!("{path}/"), tree);
            continue;
        }
        let bytes = if stat.is_symlink() {
            fs::read_link(entry.path()).unwrap().into_os_string().into_encoded_bytes()
        } else if stat.is_file() {
            fs::read(entry.path()).unwrap()
        } else {
            Vec::new()
        };
        let seen = Seen {
            bytes,
            mode: stat.mode() & 0o7777,
            inode: stat.ino(),
            links: stat.nlink(),
            modified: (stat.mtime(), stat.mtime_nsec()),
        };
        tree.insert(path, seen);
    }
}

pub(crate) fn write(path: &str, content: &str) -> Value {
    json!({ "op": "write", "path": path, "content": content, "reason": format!("because of {path}") })
}

pub(crate) fn delete(path: &str) -> Value {
    json!({ "op": "delete", "path": path, "reason": format!("away with {path}"), "sources": ["learnings/a.md"] })
}

/// An edit in each of the five parts: add, change, delete, a new folder.
pub(crate) fn edits_everywhere() -> Value {
    json!([
        write("learnings/b.md", "b, better\n"),
        delete("learnings/c.md"),
        write("learnings/new/one.md", "one\n"),
        write("findings/f-2026-04-01-a.md", "# finding a\n**Resolved:** yes\n"),
        write("patterns/q.md", "# q\n"),
        delete("knowledge/pending/k.md"),
        write("rpi/next-work.jsonl", "{\"items\":[],\"n\":1}\n{\"items\":[],\"n\":2}\n"),
    ])
}
