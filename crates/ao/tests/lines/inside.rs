//! In the throw-away root: the judge is asked, and what it allows is run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::room::Told;

const PROJECT: &str = "/work/1/2/project";
const SCOPE: &str = "/work/1/2/project/dreams";
/// Everything else is the system's, and cannot be written.
const LOOKED_AT: [&str; 4] = ["/work", "/keep", "/home", "/tmp"];
const SHELLS: [(&str, &[&str]); 5] = [
    ("/bin/bash", &["-c"]),
    ("/bin/dash", &["-c"]),
    ("/bin/zsh", &["-c"]),
    ("/bin/busybox", &["ash", "-c"]),
    ("/bin/mksh", &["-c"]),
];
/// Seconds of computing, blocks of a file, kilobytes of memory, processes.
const BOUNDED: &str = "ulimit -t 3 -f 2048 -v 1000000 -n 256; ulimit -u 200; exec \"$@\"";
const PATIENCE: Duration = Duration::from_secs(4);
const HOLES_MAX: usize = 40;

pub(crate) fn run(_: &[String]) {
    reset();
    let mut told = Told { allowed: allowed(), ..Told::default() };
    for text in &told.allowed {
        for (shell, arguments) in SHELLS.iter().filter(|(shell, _)| Path::new(shell).exists()) {
            let before = (outside(), inside());
            start(shell, arguments, text);
            told.runs += 1;
            let after = (outside(), inside());
            if before.0 != after.0 && told.holes.len() < HOLES_MAX {
                told.holes
                    .push(format!("{shell} {text:?} changed {}", changed(&before.0, &after.0)));
            }
            if before.1 != after.1 {
                told.wrote += 1;
            }
            if before != after {
                reset();
            }
        }
    }
    println!("TOLD {}", serde_json::to_string(&told).unwrap());
}

/// What the judge lets through, but for builds, which run the project's own code.
fn allowed() -> Vec<String> {
    let output = Command::new("/ao")
        .args([
            "--json",
            "--dry-run",
            "-C",
            PROJECT,
            "guard",
            "check",
            "--tracked",
            "--scope",
            "dreams",
        ])
        .args(["--commands", "/texts"])
        .env_clear()
        .env("HOME", "/home/u")
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let results = answer["results"].as_array().unwrap();
    let is_run = |result: &&Value| {
        let effects = result["effects"].as_array();
        result["allowed"] == true
            && effects.is_some_and(|effects| effects.iter().all(|one| one.get("builds").is_none()))
    };
    results.iter().filter(is_run).map(|one| one["subject"].as_str().unwrap().to_owned()).collect()
}

/// Runs a line with bounds, and ends all that it left behind.
fn start(shell: &str, arguments: &[&str], text: &str) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", BOUNDED, "sh", shell]).args(arguments).arg(text).arg("line");
    command
        .env_clear()
        .env("HOME", "/home/u")
        .env("PATH", "/usr/bin:/bin")
        .env("T", "m")
        .env("LC_ALL", "C.UTF-8");
    command.current_dir(PROJECT).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return };
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if since.elapsed() > PATIENCE {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let others = || {
        let listed = fs::read_dir("/proc").unwrap().flatten();
        let mut names = listed.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.any(|name| name != "1" && name.bytes().all(|byte| byte.is_ascii_digit()))
    };
    // What is in the background may still write: it gets a moment, and is ended then.
    let since = Instant::now();
    while others() && since.elapsed() < Duration::from_millis(30) {
        std::thread::sleep(Duration::from_millis(2));
        let _ = child.try_wait();
    }
    if others() {
        let end = Command::new("/bin/sh").args(["-c", "kill -9 -1"]).stderr(Stdio::null()).status();
        drop(end);
    }
    let _ = child.wait();
}

fn reset() {
    for folder in LOOKED_AT {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let _ = if is_folder { remove_all(&path) } else { fs::remove_file(&path) };
        }
        fs::create_dir_all(folder).unwrap();
    }
    let project = Path::new(PROJECT);
    for folder in ["dreams/sub", "other", ".agents"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    fs::create_dir_all("/keep/d/e").unwrap();
    fs::create_dir_all("/home/u").unwrap();
    for file in ["a.md", "m.txt", "dreams/a.md", "dreams/b.md", "dreams/sub/b", "other/o"] {
        fs::write(project.join(file), "one\ntwo\n").unwrap();
    }
    for file in ["/keep/a", "/keep/d/b", "/home/u/c", "/tmp/t"] {
        fs::write(file, "kept\n").unwrap();
    }
    std::os::unix::fs::symlink("../other", project.join("dreams/link")).unwrap();
}

/// Also where a line took the right to enter a folder away.
fn remove_all(path: &Path) -> std::io::Result<()> {
    fs::remove_dir_all(path).or_else(|_| {
        let open = Command::new("/bin/chmod").args(["-R", "u+rwx"]).arg(path).status();
        drop(open);
        fs::remove_dir_all(path)
    })
}

type Seen = BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)>;

fn outside() -> Seen {
    let mut seen = Seen::new();
    for folder in LOOKED_AT {
        look(Path::new(folder), Some(Path::new(SCOPE)), &mut seen);
    }
    for entry in fs::read_dir("/").unwrap().flatten() {
        seen.insert(entry.path(), (0, 0, 0, Vec::new()));
    }
    seen
}

fn inside() -> Seen {
    let mut seen = Seen::new();
    look(Path::new(SCOPE), None, &mut seen);
    seen
}

fn look(path: &Path, skipped: Option<&Path>, seen: &mut Seen) {
    const BYTES_MAX: u64 = 64 * 1024;
    if Some(path) == skipped {
        return;
    }
    let Ok(stat) = path.symlink_metadata() else { return };
    let is_file = stat.is_file();
    // When something was written in a folder shows in what is there.
    let time = if is_file { (stat.mtime(), stat.mtime_nsec()) } else { (0, 0) };
    let bytes = match () {
        () if is_file && stat.len() <= BYTES_MAX => fs::read(path).unwrap_or_default(),
        () => Vec::new(),
    };
    seen.insert(path.to_owned(), (stat.mode(), time.0, time.1, bytes));
    if stat.is_dir() {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            look(&entry.path(), skipped, seen);
        }
    }
}

fn changed(before: &Seen, after: &Seen) -> String {
    let paths = before.keys().chain(after.keys());
    let mut found: Vec<String> = paths
        .filter(|path| before.get(*path) != after.get(*path))
        .map(|path| path.display().to_string())
        .collect();
    found.sort();
    found.dedup();
    found.join(" ")
}
