//! What a cell costs: to start a program in it, and to work in it.
//!
//!     cargo bench --bench cell               both
//!     cargo bench --bench cell -- spawn      only starting
//!     cargo bench --bench cell -- build      only working
//!
//! Starting is `ao guard run -- true` beside `true`, from outside and with everything: the process of
//! `ao`, the holder, the walls, the attack of the cell on itself, and the end. It is run in a project with a
//! home that has toolchains in it, and beside bubblewrap where there is one (`BWRAP` names it, or `PATH` does), with a
//! comparable set of walls: no system call filter, no Landlock, no door and no attack. Working is the processor time
//! of a build of forty C files, inside and outside in turn, so that what else the machine does hits both.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the binary and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

const STARTS: usize = 60;
const PAIRS: usize = 20;
const FILES: usize = 40;

fn main() {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wants = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let place = tempfile::tempdir().unwrap();
    let project = place.path().join("project");
    for folder in ["out", ".git", ".agents"] {
        fs::create_dir_all(project.join(folder)).unwrap();
    }
    for number in 0..FOLDERS {
        fs::create_dir_all(project.join(format!("src/part-{number}"))).unwrap();
    }
    for folder in TOOLCHAINS {
        fs::create_dir_all(place.path().join("home").join(folder)).unwrap();
    }
    for number in 0..FILES {
        let text = format!(
            "#include <stdio.h>\n#include <stdlib.h>\nint f{number}(int a){{return printf(\"%d\",a*{number});}}\n"
        );
        fs::write(project.join(format!("f{number}.c")), text).unwrap();
    }
    if wants("spawn") {
        spawn(place.path());
    }
    if wants("build") {
        build(place.path());
    }
}

/// What is run, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    None,
    Pass,
    Worker,
    /// Somebody else's: bubblewrap with every namespace, everything read-only, an empty home, and the same
    /// toolchains and project.
    Peer,
}

/// Folders of toolchains that the home of the benchmark has.
const TOOLCHAINS: [&str; 8] = [
    ".rustup",
    ".cargo/bin",
    ".cargo/registry",
    ".npm/_cacache",
    ".cache/pip",
    ".cache/uv",
    "go/pkg/mod",
    ".cache/go-build",
];
/// Folders of the project.
const FOLDERS: usize = 40;

fn peer() -> Option<String> {
    let named = std::env::var("BWRAP").unwrap_or_else(|_| "bwrap".to_owned());
    let is_there = Command::new(&named).arg("--version").stdout(Stdio::null()).status();
    is_there.is_ok_and(|status| status.success()).then_some(named)
}

fn walls_of_peer(place: &Path) -> Vec<String> {
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let (project, home) = (path(&place.join("project")), place.join("home"));
    let mut words: Vec<String> = ["--unshare-all", "--die-with-parent", "--new-session"]
        .iter()
        .chain(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"])
        .chain(&["--tmpfs", "/var/tmp", "--tmpfs"])
        .map(|word| (*word).to_owned())
        .collect();
    words.push(path(&home));
    for folder in TOOLCHAINS {
        let folder = path(&home.join(folder));
        words.extend(["--ro-bind".to_owned(), folder.clone(), folder]);
    }
    words.extend(["--ro-bind".to_owned(), project.clone(), project.clone()]);
    let out = format!("{project}/out");
    words.extend(["--bind".to_owned(), out.clone(), out, "--chdir".to_owned(), project]);
    words
}

fn command(place: &Path, cell: Cell, what: &[&str]) -> Command {
    let ao = env!("CARGO_BIN_EXE_ao");
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut words: Vec<String> = match cell {
        Cell::None => Vec::new(),
        Cell::Pass => owned(&[ao, "-q", "guard", "run", "--rw", "out", "--"]),
        Cell::Worker => owned(&[ao, "-q", "guard", "run", "--cow", ".", "--"]),
        Cell::Peer => {
            [peer().unwrap_or_default()].into_iter().chain(walls_of_peer(place)).collect()
        }
    };
    words.extend(owned(what));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(place.join("project")).env("HOME", place.join("home"));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// Wall time and processor time of one run, all its descendants included.
fn measure(place: &Path, cell: Cell, what: &[&str]) -> (Duration, Duration) {
    let used = || {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
        let micros = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000 + time.tv_usec();
        Duration::from_micros(
            (micros(usage.user_time()) + micros(usage.system_time())).unsigned_abs(),
        )
    };
    let (since, before) = (Instant::now(), used());
    let status = command(place, cell, what).status().unwrap();
    assert!(status.success(), "{cell:?} {what:?}: {status}");
    (since.elapsed(), used().saturating_sub(before))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn spawn(place: &Path) {
    let mut cells = vec![Cell::None, Cell::Pass, Cell::Worker];
    cells.extend(peer().map(|_| Cell::Peer));
    let mut times: Vec<Vec<(Duration, Duration)>> = vec![Vec::new(); cells.len()];
    for _ in 0..STARTS {
        for (cell, times) in cells.iter().zip(&mut times) {
            times.push(measure(place, *cell, &["/bin/true"]));
        }
    }
    let times = times.into_iter().map(|all| {
        let (wall, used) = all.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        (median(wall), median(used))
    });
    let times: Vec<(Duration, Duration)> = times.collect();
    let plain = times[0];
    println!(
        "start, median of {STARTS}, in a project of {FOLDERS} folders, with {} toolchains: plain {:.2} ms, of processor time {:.2} ms",
        TOOLCHAINS.len(),
        milliseconds(plain.0),
        milliseconds(plain.1)
    );
    for (cell, (wall, used)) in cells.iter().zip(&times).skip(1) {
        println!(
            "  {:12} +{:.2} ms, of processor time +{:.2} ms",
            format!("{cell:?}"),
            milliseconds(wall.saturating_sub(plain.0)),
            milliseconds(used.saturating_sub(plain.1))
        );
    }
    if !cells.contains(&Cell::Peer) {
        println!("  left out: there is no bubblewrap (name one with BWRAP)");
    }
}

fn build(place: &Path) {
    let script = "for f in *.c; do cc -O1 -c $f -o out/$f.o || exit 1; done; cc -shared -o out/all out/*.o; rm out/*";
    for (cell, goal) in [(Cell::Pass, 5), (Cell::Worker, 15)] {
        let mut ratios = Vec::new();
        for _ in 0..PAIRS {
            let outside = measure(place, Cell::None, &["/bin/sh", "-c", script]).1;
            let inside = measure(place, cell, &["/bin/sh", "-c", script]).1;
            ratios.push(inside.as_secs_f64() / outside.as_secs_f64());
        }
        ratios.sort_by(f64::total_cmp);
        let more = (ratios[ratios.len() / 2] - 1.0) * 100.0;
        println!(
            "build, processor time, median of {PAIRS} pairs: {cell:?} {more:+.1} % (goal: within {goal} %)"
        );
    }
}
