//! `ao guard run`: what a command in a cell can do, and what it cannot.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::repo::{Ran, TestRepo};

/// Nobody on this machine; files of the test are given to it.
const ORDINARY: u32 = 1000;

/// Who runs the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum User {
    /// Whoever runs the tests, root or not.
    This,
    Ordinary,
}

/// A repository whose commands run in cells.
pub(crate) struct Cells {
    pub(crate) repo: TestRepo,
    user: User,
    tier: Option<&'static str>,
    variables: Vec<(String, String)>,
}

impl Cells {
    pub(crate) fn new(user: User) -> Self {
        Self::of(TestRepo::new(), user)
    }

    /// In a folder that every user can reach.
    pub(crate) fn within(folder: &Path, user: User) -> Self {
        let dir = tempfile::Builder::new().prefix("cells-").tempdir_in(folder).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self::of(TestRepo::at(dir), user)
    }

    fn of(repo: TestRepo, user: User) -> Self {
        let cells = Self { repo, user, tier: None, variables: Vec::new() };
        fs::create_dir(cells.path("out")).unwrap();
        fs::write(cells.path("kept.txt"), "kept\n").unwrap();
        fs::create_dir_all(cells.repo.state("")).unwrap();
        fs::write(cells.repo.state("run.lock"), "locked\n").unwrap();
        fs::create_dir(cells.path(".ssh")).unwrap();
        fs::write(cells.path(".ssh/id"), "secret\n").unwrap();
        cells.settle();
        cells
    }

    /// The weaker tier, which is only built for an ordinary user.
    pub(crate) fn tier_b() -> Self {
        Self::new(User::Ordinary).in_tier_b()
    }

    #[must_use]
    pub(crate) fn in_tier_b(self) -> Self {
        Self { tier: Some("B"), ..self }
    }

    #[must_use]
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Whether root runs the commands.
    pub(crate) fn is_root(&self) -> bool {
        self.user == User::This && is_root()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.repo.root().join(name)
    }

    /// Gives everything to whoever runs the commands.
    pub(crate) fn settle(&self) {
        give_if_root(self.user, self.repo.root());
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = as_user(self.user);
        command
            .env_clear()
            .env("HOME", self.repo.root())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir(self.repo.root())
            .args(arguments)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        if let Some(tier) = self.tier {
            command.env("AO_CELL_TEST_TIER", tier);
        }
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    pub(crate) fn ao(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).output().unwrap())
    }

    /// `ao --json guard run OPTIONS -- sh -c SCRIPT`.
    pub(crate) fn sh(&self, options: &[&str], script: &str) -> Ran {
        let mut arguments = vec!["--json", "guard", "run"];
        arguments.extend(options);
        arguments.extend(["--", "/bin/sh", "-c", script]);
        self.ao(&arguments)
    }
}

fn give_if_root(user: User, path: &Path) {
    if user == User::Ordinary && is_root() {
        give(path);
    }
}

pub(crate) fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Gives a folder that is not the repository's to whoever runs the commands.
pub(crate) fn give_to(cells: &Cells, path: &Path) {
    give_if_root(cells.user, path);
}

/// Whether a process has this word on its command line.
pub(crate) fn is_running(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    processes.into_iter().any(|process| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|found| found == word.as_bytes())
    })
}

pub(crate) fn give(path: &Path) {
    std::os::unix::fs::lchown(path, Some(ORDINARY), Some(ORDINARY)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path());
        }
    }
}

pub(crate) fn as_user(user: User) -> Command {
    let is_given = user == User::Ordinary && is_root();
    let built = Path::new(env!("CARGO_BIN_EXE_ao"));
    as_user_with(user, if is_given { binary_for_all() } else { built })
}

pub(crate) fn as_user_with(user: User, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if user == User::Ordinary && is_root() {
        use std::os::unix::process::CommandExt;
        command.uid(ORDINARY).gid(ORDINARY);
    }
    command
}

pub(crate) fn is_for_all(path: &Path) -> bool {
    let is_open = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o5 == 0o5;
    path.ancestors().all(is_open)
}

/// The binary at a place that every user can reach.
pub(crate) fn binary_for_all() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let built = PathBuf::from(env!("CARGO_BIN_EXE_ao"));
        if is_for_all(&built) {
            return built;
        }
        // The same binary is copied once.
        let found = fs::metadata(&built).unwrap();
        let name = format!("ao-for-all-{}-{}", found.ino(), found.mtime());
        let copy = std::env::temp_dir().join(name);
        if !copy.exists() {
            let fresh = std::env::temp_dir().join(format!("ao-fresh-{}", std::process::id()));
            fs::copy(&built, &fresh).unwrap();
            fs::rename(&fresh, &copy).unwrap();
        }
        copy
    })
}

/// Paths of the writes of an answer, with what happened to each.
pub(crate) fn writes(answer: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut found: Vec<_> = answer["writes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|write| (text(&write["path"]), text(&write["change"])))
        .collect();
    found.sort();
    found
}

fn everywhere() -> [Cells; 3] {
    [Cells::new(User::This), Cells::new(User::Ordinary), Cells::tier_b()]
}

// proves: EXE-07
#[test]
fn the_exit_code_of_the_command_is_ours() {
    for cells in everywhere() {
        for (script, code) in [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137)]
        {
            let ran = cells.sh(&[], script).expect(code);
            assert_eq!(ran.json()["exit"], code);
        }
        let ran = cells.ao(&["guard", "run", "--", "/bin/echo", "said"]).expect(0);
        assert_eq!(ran.stdout, "said\n", "{ran}");
        assert!(ran.stderr.contains("cell: tier"), "{ran}");
        let ran = cells.ao(&["--quiet", "guard", "run", "--", "echo", "said"]).expect(0);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("said\n", ""), "{ran}");
    }
}

// proves: GRD-01, EXE-04
#[test]
fn a_command_writes_where_it_may_and_nowhere_else() {
    let script = "
        echo in > out/new.txt; echo more >> out/new.txt; mkdir out/sub; echo x > out/sub/x
        echo bad > kept.txt; echo bad > bad.txt; rm kept.txt; mv kept.txt out/moved
        ln kept.txt out/linked; ln -s ../kept.txt out/away; echo bad > out/away
        echo bad > .agents/learnings/a.md; rm -rf .agents; touch $TMPDIR/mine && echo mine > $HOME/mine
        (cd out && echo bad > ../bad.txt); echo bad > /proc/self/cwd/bad.txt; true";
    for cells in everywhere() {
        let before = cells.repo.everything();
        let answer = cells.sh(&["--rw", "out"], script).expect(0).json();
        assert_eq!(cells.repo.everything(), before);
        assert_eq!(fs::read_to_string(cells.path("kept.txt")).unwrap(), "kept\n");
        assert!(!cells.path("bad.txt").exists());
        assert_eq!(fs::read_to_string(cells.path("out/new.txt")).unwrap(), "in\nmore\n");
        // Moving out of what cannot be changed is copying, where the two are apart for the kernel.
        let names: Vec<_> = writes(&answer)
            .into_iter()
            .filter(|(path, _)| !path.ends_with("out/moved"))
            .map(|(path, change)| {
                let path = Path::new(&path).strip_prefix(cells.repo.root().canonicalize().unwrap());
                (path.unwrap().to_str().unwrap().to_owned(), change)
            })
            .collect();
        // A symlink is not made; what is written there instead is a file.
        assert!(fs::symlink_metadata(cells.path("out/away")).unwrap().is_file());
        let created = ["out/away", "out/new.txt", "out/sub", "out/sub/x"];
        assert_eq!(names, created.map(|name| (name.to_owned(), "created".to_owned())), "{answer}");
    }
}

// pitfall 34
#[test]
fn a_copied_tree_takes_every_write_and_the_real_one_none() {
    for user in [User::This, User::Ordinary] {
        let cells = Cells::new(user);
        fs::create_dir(cells.path("old")).unwrap();
        fs::write(cells.path("old/a"), "a\n").unwrap();
        fs::write(cells.path("old/b"), "b\n").unwrap();
        fs::write(cells.path("mode"), "m\n").unwrap();
        fs::write(cells.path("edited"), "one\n").unwrap();
        cells.settle();
        let before = cells.repo.everything();
        let script = "
            set -e
            echo new > new.txt; sed -i s/one/two/ edited; rm kept.txt; chmod 600 mode
            rm -r old; mkdir old; echo c > old/c; ln -s new.txt link; mkdir -p deep/er; echo x > deep/er/x
            echo hook > .git-like; cat edited";
        let answer = cells.sh(&["--cow", "."], script).expect(0).json();
        assert_eq!(answer["stdout"]["text"], "two\n");
        assert_eq!(cells.repo.everything(), before);
        assert_eq!(fs::read_to_string(cells.path("edited")).unwrap(), "one\n");
        assert!(cells.path("kept.txt").exists() && !cells.path("new.txt").exists());
        let root = cells.repo.root().canonicalize().unwrap();
        let names: Vec<_> = writes(&answer)
            .into_iter()
            .map(|(path, change)| {
                let path = Path::new(&path).strip_prefix(&root).unwrap().to_owned();
                (path.to_str().unwrap().to_owned(), change)
            })
            .collect();
        let expected = [
            (".git-like", "created"),
            ("deep", "created"),
            ("deep/er", "created"),
            ("deep/er/x", "created"),
            ("edited", "changed"),
            ("kept.txt", "deleted"),
            ("link", "created"),
            ("mode", "changed"),
            ("new.txt", "created"),
            ("old", "replaced"),
            ("old/c", "created"),
        ];
        let expected = expected.map(|(name, change)| (name.to_owned(), change.to_owned()));
        assert_eq!(names, expected, "{answer}");
        let find = |name: &str| {
            let all = answer["writes"].as_array().unwrap();
            all.iter().find(|write| write["path"] == root.join(name).to_str().unwrap()).unwrap()
        };
        assert_eq!(find("link")["target"], "new.txt");
        assert_eq!(find("mode")["mode"], "0600");
        assert_eq!(find("kept.txt")["mode"], Value::Null);
    }
}

// proves: GRD-05
#[test]
fn the_environment_is_a_list_of_what_was_granted() {
    for cells in everywhere() {
        let cells = cells.variable("API_TOKEN", "hunter2").variable("GRANTED", "yes");
        let ran = cells.sh(&["--env", "GRANTED"], "env").expect(0);
        assert!(!ran.stdout.contains("hunter2"), "{ran}");
        let answer = ran.json();
        let text = answer["stdout"]["text"].as_str().unwrap();
        let mut names: Vec<_> = text.lines().filter_map(|line| line.split('=').next()).collect();
        names.retain(|name| *name != "_");
        names.sort_unstable();
        assert_eq!(names, ["AO_CELL", "GRANTED", "HOME", "PATH", "PWD", "TMPDIR"], "{text}");
        // Not in the holder or in any other process that can be seen either.
        let script = "cat /proc/*/environ /proc/*/cmdline 2>/dev/null; true";
        let ran = cells.sh(&[], script).expect(0);
        assert!(!ran.stdout.contains("hunter2"), "{ran}");
    }
}

#[test]
fn locks_and_secrets_are_not_there() {
    for cells in everywhere() {
        let script = "cat .agents/overnight/run.lock .ssh/id; ls -A .agents/overnight .ssh; true";
        let answer = cells.sh(&[], script).expect(0).json();
        let text = answer["stdout"]["text"].as_str().unwrap();
        assert!(!text.contains("locked") && !text.contains("secret"), "{answer}");
        let script = "flock -n .agents/overnight/run.lock true && echo held";
        let answer = cells.sh(&["--cow", "."], script).json();
        assert_ne!(answer["stdout"]["text"], "held\n", "{answer}");
    }
}

#[test]
fn files_that_lend_rights_cannot_be_made() {
    for cells in everywhere() {
        let script = "cp /bin/true out/t; chmod 4755 out/t; chmod u+s out/t; chmod g+s out/t; true";
        cells.sh(&["--rw", "out"], script).expect(0);
        let mode = fs::metadata(cells.path("out/t")).unwrap().mode();
        assert_eq!(mode & 0o6000, 0, "{mode:o}");
    }
}

/// Root owns these outside. What is tried is to write what is there already.
#[test]
fn the_settings_of_the_machine_cannot_be_written() {
    for user in [User::This, User::Ordinary] {
        let cells = Cells::new(user);
        let script = "
            for f in /proc/sys/kernel/hostname /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness \
                /proc/sys/net/ipv4/ip_forward /proc/self/oom_score_adj /sys/kernel/mm/ksm/run /etc/hostname; do
                test -e $f && v=$(cat $f) && (echo \"$v\" > $f) 2>/dev/null && echo wrote $f
            done
            true";
        let answer = cells.sh(&[], script).expect(0).json();
        assert_eq!(answer["stdout"]["text"], "", "{answer}");
    }
}

/// A folder for temporary files may be the work itself.
#[test]
fn what_was_named_is_not_hidden() {
    for user in [User::This, User::Ordinary] {
        let cells = Cells::new(user);
        for folder in ["", "out", ".."] {
            let folder = cells.path(folder).to_str().unwrap().to_owned();
            let cells =
                Cells { variables: vec![("TMPDIR".to_owned(), folder)], ..Cells::new(user) };
            cells.sh(&["--rw", "out"], "cat kept.txt && echo x > out/x").expect(0);
            cells.sh(&["--cow", "."], "cat kept.txt && echo x > out/x").expect(0);
        }
    }
}

/// The program itself may lie where everything else is hidden.
#[test]
fn a_program_is_found_in_a_hidden_folder() {
    for user in [User::This, User::Ordinary] {
        let cells = Cells::new(user);
        let built = Path::new(env!("CARGO_TARGET_TMPDIR"));
        if user == User::Ordinary && !is_for_all(built) {
            println!("left out: an ordinary user cannot reach {}", built.display());
            continue;
        }
        let folder = built.join(format!("hidden-{user:?}"));
        fs::create_dir_all(&folder).unwrap();
        fs::copy("/bin/echo", folder.join("say")).unwrap();
        fs::write(folder.join("beside"), "secret").unwrap();
        give_if_root(user, &folder);
        let cells = cells.variable("TMPDIR", folder.to_str().unwrap());
        let say = folder.join("say");
        let ran = cells.ao(&["-q", "guard", "run", "--", say.to_str().unwrap(), "here"]).expect(0);
        assert_eq!(ran.stdout, "here\n");
        // If all of it lies in a hidden folder, not even its name is there.
        let look = format!("ls -A {} 2>/dev/null || true", folder.display());
        let answer = cells.sh(&[], &look).expect(0).json();
        assert_eq!(answer["stdout"]["text"], "", "{answer}");
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// One who was killed cannot clean up; the next one does.
#[test]
fn a_folder_that_was_left_is_removed_by_the_next() {
    let cells = Cells::new(User::This);
    let folder = tempfile::tempdir().unwrap();
    let (left, used) = (folder.path().join("ao-cell-1-1"), folder.path().join("ao-cell-2-2"));
    for one in [&left, &used] {
        fs::create_dir_all(one.join("upper/closed")).unwrap();
        fs::write(one.join("in-use"), "").unwrap();
    }
    let lock = fs::File::open(used.join("in-use")).unwrap();
    lock.lock().unwrap();
    let cells = cells.variable("TMPDIR", folder.path().to_str().unwrap());
    cells.sh(&[], "true").expect(0);
    assert!(!left.exists() && used.exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_dry_run_starts_nothing() {
    let cells = Cells::new(User::This);
    let answer = cells.ao(&[
        "--json",
        "--dry-run",
        "guard",
        "run",
        "--rw",
        "out",
        "--",
        "/bin/sh",
        "-c",
        "touch out/x",
    ]);
    let answer = answer.expect(0).json();
    assert_eq!(answer["program"], "/bin/sh");
    assert_eq!(answer["floor"], "B");
    assert!(!cells.path("out/x").exists());
}

#[test]
fn a_terminal_sequence_in_a_pipe_goes_through_as_it_is() {
    let cells = Cells::new(User::This);
    let ran = cells.ao(&["-q", "guard", "run", "--", "printf", "a\\033[31mb\\n"]).expect(0);
    assert_eq!(ran.stdout, "a\u{1b}[31mb\n");
}
