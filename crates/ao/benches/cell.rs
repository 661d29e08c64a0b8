//! What a cell costs: to start a program in it, and to work in it.
//!
//!     cargo bench --bench cell               both
//!     cargo bench --bench cell -- spawn      only starting
//!     cargo bench --bench cell -- build      only working
//!
//! Starting is `ao guard run -- true` beside `true`, from outside and with everything: the process of
//! `ao`, the holder, the walls, the attack of the cell on itself, and the end. Working is the processor time
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
    fs::create_dir(place.path().join("out")).unwrap();
    for number in 0..FILES {
        let text = format!(
            "#include <stdio.h>\n#include <stdlib.h>\nint f{number}(int a){{return printf(\"%d\",a*{number});}}\n"
        );
        fs::write(place.path().join(format!("f{number}.c")), text).unwrap();
    }
    if wants("spawn") {
        spawn(place.path());
    }
    if wants("build") {
        build(place.path());
    }
}

/// What is run, and how.
#[derive(Debug, Clone, Copy)]
enum Cell {
    None,
    Pass,
    Worker,
}

fn command(place: &Path, cell: Cell, what: &[&str]) -> Command {
    let ao = env!("CARGO_BIN_EXE_ao");
    let mut words: Vec<&str> = match cell {
        Cell::None => Vec::new(),
        Cell::Pass => vec![ao, "-q", "guard", "run", "--rw", "out", "--"],
        Cell::Worker => vec![ao, "-q", "guard", "run", "--cow", ".", "--"],
    };
    words.extend(what);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(place).stdin(Stdio::null()).stdout(Stdio::null());
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
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..STARTS {
        for (cell, times) in [Cell::None, Cell::Pass, Cell::Worker].into_iter().zip(&mut times) {
            times.push(measure(place, cell, &["/bin/true"]).0);
        }
    }
    let [plain, pass, worker] = times.map(median);
    println!("start, median of {STARTS}: plain {:.2} ms", milliseconds(plain));
    println!("  pass cell    +{:.2} ms (goal: under 15)", milliseconds(pass.saturating_sub(plain)));
    println!(
        "  worker cell  +{:.2} ms (goal: under 45)",
        milliseconds(worker.saturating_sub(plain))
    );
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
