//! Honest programs do their work in a cell.

use std::fs;
use std::path::Path;

use crate::cell::{Cells, User};
use crate::cell_places::folders;

/// What it is, the program that it needs, what it does, and the last line that it says.
type Work = (&'static str, &'static str, &'static str, &'static str);

/// In a copy of the work tree.
const WORK: [Work; 31] = [
    ("git log", "git", "git log --oneline | wc -l", "1"),
    (
        "git status and diff",
        "git",
        "echo more >> a.txt; git status --short; git diff --stat | tail -1 | wc -l",
        "1",
    ),
    (
        "git commit",
        "git",
        "git config user.email a@b; git config user.name a; echo x > n; git add n; git commit -qm n; git log --oneline | wc -l",
        "2",
    ),
    (
        "git branch, stash and worktree",
        "git",
        "git config user.email a@b; git config user.name a; git checkout -qb other; echo y >> a.txt; git stash -q; git worktree add -q ../wt-$$ 2>/dev/null || git worktree add -q ./wt; git branch --show-current",
        "other",
    ),
    ("sed -i", "sed", "sed -i s/one/two/ a.txt; cat a.txt", "two"),
    ("perl -i", "perl", "perl -pi -e s/one/two/ a.txt; cat a.txt", "two"),
    ("ed", "ed", "printf '%s\\n' s/one/two/ w q | ed -s a.txt; cat a.txt", "two"),
    (
        "an editor that renames",
        "vim",
        "vim -es -N -u NONE -c 'set backup writebackup backupcopy=no' -c '%s/one/two/' -c wq a.txt < /dev/null; cat a.txt",
        "two",
    ),
    (
        "write and rename",
        "sh",
        "cp a.txt a.new; echo two > a.new; mv -f a.new a.txt; cat a.txt",
        "two",
    ),
    (
        "patch",
        "patch",
        "printf -- '--- a.txt\\n+++ a.txt\\n@@ -1 +1 @@\\n-one\\n+two\\n' | patch -s; cat a.txt",
        "two",
    ),
    (
        "make",
        "make",
        "printf 'all: out.txt\\nout.txt: a.txt\\n\\tcp a.txt out.txt\\n' > Makefile; make -s -j4; cat out.txt",
        "one",
    ),
    (
        "cmake",
        "cmake",
        "printf 'cmake_minimum_required(VERSION 3.10)\nproject(x C)\nadd_executable(x m.c)\n' > CMakeLists.txt; printf '#include <stdio.h>\nint main(){puts(\"built\");}' > m.c; cmake -S . -B b > /dev/null && cmake --build b > /dev/null && b/x",
        "built",
    ),
    (
        "sqlite3",
        "sqlite3",
        "sqlite3 d.db 'create table t(a); insert into t values(7); select a from t'",
        "7",
    ),
    ("rg", "rg", "rg -o one", "a.txt:one"),
    (
        "a C compiler",
        "cc",
        "printf '#include <stdio.h>\\nint main(){puts(\"built\");}' > m.c; cc -o m m.c; ./m",
        "built",
    ),
    (
        "tar with modes and times",
        "tar",
        "chmod 600 a.txt; tar czf t.tgz a.txt; rm a.txt; tar xzf t.tgz; stat -c %a a.txt",
        "600",
    ),
    (
        "cp -a and links",
        "cp",
        "mkdir d; ln -s ../a.txt d/l; ln a.txt d/h; cp -a d e; readlink e/l",
        "../a.txt",
    ),
    ("sort with temporary files", "sort", "seq 200000 -1 1 > n; sort -n -S 1M n | head -1", "1"),
    ("xargs in parallel", "xargs", "seq 40 | xargs -P 8 -n 1 echo | wc -l", "40"),
    ("gzip and xz", "xz", "xz -k a.txt; gzip -k a.txt; xz -dc a.txt.xz", "one"),
    ("mktemp", "mktemp", "f=$(mktemp); echo made > $f; cat $f", "made"),
    ("flock", "flock", "flock lock.file echo locked", "locked"),
    (
        "bash with substitution of processes",
        "bash",
        "bash -c 'diff <(echo a) <(echo a) && echo same'",
        "same",
    ),
    (
        "a Python virtual environment",
        "python3",
        "python3 -m venv --without-pip env && env/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'",
        "True",
    ),
    (
        "Python tests",
        "python3",
        "printf 'import unittest\\nclass T(unittest.TestCase):\\n  def test(self): self.assertEqual(1,1)\\n' > test_a.py; python3 -m unittest -q 2>&1 | tail -1",
        "OK",
    ),
    (
        "Python with processes",
        "python3",
        "printf 'import multiprocessing as m\\nif __name__==\"__main__\":\\n  with m.get_context(\"fork\").Pool(2) as p: print(sum(p.map(abs,[-1,-2])))\\n' > p.py; python3 p.py",
        "3",
    ),
    (
        "a database",
        "python3",
        "python3 -c 'import sqlite3; d=sqlite3.connect(\"d.db\"); d.execute(\"pragma journal_mode=wal\"); d.execute(\"create table t(a)\"); d.execute(\"insert into t values(7)\"); d.commit(); print(d.execute(\"select a from t\").fetchone()[0])'",
        "7",
    ),
    (
        "a server and a client inside",
        "python3",
        "printf 'import http.server,threading,urllib.request\\ns=http.server.HTTPServer((\"127.0.0.1\",0),http.server.SimpleHTTPRequestHandler)\\nthreading.Thread(target=s.serve_forever,daemon=True).start()\\nprint(urllib.request.urlopen(\"http://127.0.0.1:%%d/a.txt\"%%s.server_port).read().decode().strip())\\n' > s.py; python3 s.py 2>/dev/null",
        "one",
    ),
    (
        "Node",
        "node",
        "node -e 'require(\"fs\").writeFileSync(\"j\",\"1\"); require(\"child_process\").execSync(\"true\"); console.log(\"node\")'",
        "node",
    ),
    (
        "npm install, ci and test",
        "npm",
        "mkdir -p package && printf '{\"name\":\"dep\",\"version\":\"1.0.0\"}' > package/package.json && echo 'module.exports=42' > package/index.js && tar czf dep.tgz package && echo 'console.log(require(\"dep\"))' > t.js && printf '{\"name\":\"a\",\"version\":\"1.0.0\",\"scripts\":{\"test\":\"node t.js\"}}' > package.json && npm install --offline --no-audit --no-fund --loglevel=error ./dep.tgz && rm -rf node_modules && npm ci --offline --no-audit --no-fund --loglevel=error && npm test --silent",
        "42",
    ),
    (
        "cargo build and run",
        "cargo",
        "mkdir -p c/src && printf '[package]\\nname=\"c\"\\nversion=\"0.1.0\"\\nedition=\"2021\"\\n[workspace]\\n' > c/Cargo.toml && echo 'fn main(){println!(\"built\")}' > c/src/main.rs && cd c && cargo build -q --offline && ./target/debug/c",
        "built",
    ),
];

/// Those that also work where modes and times cannot be changed.
const IN_TIER_B: [&str; 9] = [
    "git log",
    "sed -i",
    "write and rename",
    "make",
    "sort with temporary files",
    "xargs in parallel",
    "mktemp",
    "bash with substitution of processes",
    "Python tests",
];

fn path() -> String {
    let toolchain = Path::new(env!("CARGO")).parent().unwrap();
    format!("{}:/usr/local/bin:/usr/bin:/bin", toolchain.display())
}

fn furnish(cells: &Cells, folder: &str) {
    let at = |name: &str| cells.path(folder).join(name);
    fs::create_dir_all(at("")).unwrap();
    fs::write(at("a.txt"), "one\n").unwrap();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.current_dir(at("")).env("GIT_CONFIG_GLOBAL", "/dev/null").args(arguments);
        assert!(command.output().unwrap().status.success());
    };
    git(&["init", "-q"]);
    git(&["add", "a.txt"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]);
    cells.settle();
}

/// Runs one, or says why it is left out.
#[expect(clippy::print_stdout, reason = "what was not tried is said")]
fn works(cells: &Cells, options: &[&str], folder: &str, work: &Work) {
    let (name, needs, script, says) = work;
    let mut there =
        cells.command(&["guard", "run", "--", "/bin/sh", "-c", &format!("{needs} --version")]);
    there.env("PATH", path());
    let there = there.output().unwrap();
    if [Some(126), Some(127)].contains(&there.status.code()) {
        println!("left out: {name}: {needs} is not installed for this user");
        return;
    }
    let mut arguments = vec!["--json", "guard", "run"];
    arguments.extend(options);
    let script = format!("cd {folder} && {script}");
    arguments.extend(["--", "/bin/sh", "-c", &script]);
    let output = cells.command(&arguments).env("PATH", path()).output().unwrap();
    let ran = crate::repo::Ran::of(output);
    let answer = ran.json();
    let text = answer["stdout"]["text"].as_str().unwrap_or_default();
    assert_eq!(text.lines().last(), Some(*says), "{name}: {ran}");
    assert_eq!(ran.code, 0, "{name}: {ran}");
}

#[test]
fn twenty_honest_programs_work() {
    const { assert!(WORK.len() >= 20) };
    let folders = folders();
    let places =
        folders.iter().flat_map(|folder| [User::This, User::Ordinary].map(|user| (folder, user)));
    for (folder, user) in places {
        let cells = Cells::within(folder, user);
        furnish(&cells, "project");
        let before = fs::read_to_string(cells.path("project/a.txt")).unwrap();
        for work in &WORK {
            works(&cells, &["--cow", "project"], "project", work);
        }
        assert_eq!(fs::read_to_string(cells.path("project/a.txt")).unwrap(), before);
        assert_eq!(fs::read_dir(cells.path("project")).unwrap().count(), 2);
    }
}

#[test]
fn some_work_in_the_weaker_tier() {
    for work in WORK.iter().filter(|work| IN_TIER_B.contains(&work.0)) {
        let cells = Cells::tier_b();
        furnish(&cells, "out/project");
        // A repository is not written for real; what is left is a folder.
        if work.1 == "git" {
            works(&cells, &[], "out/project", work);
        } else {
            fs::remove_dir_all(cells.path("out/project/.git")).unwrap();
            works(&cells, &["--rw", "out"], "out/project", work);
        }
    }
}
