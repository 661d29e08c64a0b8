//! What a night costs: CPU time, peak memory, and where the time goes.
//!
//!     cargo bench --bench night                    500, 5,000 and 50,000 learnings
//!     cargo bench --bench night -- 500 5000        these sizes only
//!     cargo bench --bench night -- --corpus DIR    a repository of your own; a copy of it is used
//!
//! First what `ao overnight plan` says of it, with a warm index (`ao search` has made it).
//! One iteration (`--max-iterations 1`) with its certificates, steps and report; after it nights until
//! nothing is left to do, one that reads everything all the same (`--full`), and one that sees that
//! nothing is new. Last the plan of an evening after a day in which a hundredth of the learnings came in,
//! some of them twice. The corpora are made here: a tenth of the learnings are copies. The figures
//! of the peer are those that were measured of an existing implementation on 500 and 5,000 learnings;
//! at 50,000 it takes days.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the binary and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/cli/generate.rs"]
mod generate;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use cost::{Cost, used};
use generate::Amounts;
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;

const SIZES: [usize; 3] = [500, 5_000, 50_000];
const SEED: u64 = 7;
const ITERATION: &[&str] = &["--max-iterations", "1"];
const PLAN: &[&str] = &["plan"];
/// Which nights this process measures: peak memory is the highest of all children of a process.
const STEP: &str = "AO_BENCH_STEP";
const DAY_LATER: &str = "plan, 1 % new";
const NIGHTS: [&[(&str, &[&str])]; 4] = [
    &[("plan", PLAN)],
    &[("one iteration", ITERATION), ("until it is done", &[]), ("nothing to do", &["--full"])],
    &[("nothing new", &[]), ("plan, nothing new", PLAN)],
    &[(DAY_LATER, PLAN)],
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    if let Ok(step) = std::env::var(STEP) {
        let nights = NIGHTS[step.parse::<usize>().unwrap()];
        return measure(Path::new(&words[0]), &words[1], nights);
    }
    println!(
        "{:>8} {:<18} {:>9} {:>9} {:>8} {:>10}  stages, wall",
        "entries", "what", "wall", "CPU", "memory", "peer, CPU"
    );
    let named = words.iter().position(|word| word == "--corpus").and_then(|at| words.get(at + 1));
    if let Some(corpus) = named {
        let place = tempfile::tempdir().unwrap();
        copy(Path::new(corpus), place.path());
        return apart(place.path(), "own");
    }
    for size in if sizes.is_empty() { SIZES.to_vec() } else { sizes } {
        let place = tempfile::tempdir().unwrap();
        make(place.path(), size);
        apart(place.path(), &size.to_string());
    }
}

/// Measures in processes of their own.
fn apart(root: &Path, name: &str) {
    for step in 0..NIGHTS.len() {
        let mut one = Command::new(std::env::current_exe().unwrap());
        one.arg(root).arg(name).env(STEP, step.to_string());
        assert!(one.status().unwrap().success(), "{name}");
    }
    let is_carried = summary(root)["unchanged_since"].is_object();
    assert!(is_carried, "the last night read the corpus again");
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-r").arg(from.join(".agents")).arg(to).status();
    assert!(status.unwrap().success());
}

fn make(root: &Path, size: usize) {
    let rest = size / 10;
    let texts = size - 2 * rest;
    let amounts = Amounts { texts, copies: rest, siblings: rest / 2, contradictions: rest / 4 };
    std::fs::create_dir_all(root.join(".agents/learnings")).unwrap();
    for (path, text) in generate::corpus(SEED, amounts).files {
        std::fs::write(root.join(".agents").join(path), text).unwrap();
    }
}

/// A hundredth of the learnings comes in.
fn a_day(root: &Path) {
    let folder = root.join(".agents/learnings");
    let texts = std::fs::read_dir(&folder).unwrap().count() / 100;
    let amounts = Amounts { texts, copies: texts.div_ceil(10), siblings: 0, contradictions: 0 };
    for (path, text) in generate::corpus(SEED + 1, amounts).files {
        let name = Path::new(&path).file_name().unwrap().to_string_lossy();
        std::fs::write(folder.join(format!("new-{name}")), text).unwrap();
    }
}

fn measure(root: &Path, name: &str, nights: &[(&str, &[&str])]) {
    for (what, flags) in nights {
        if *what == DAY_LATER {
            a_day(root);
        }
        let cost = night(root, flags);
        let memory = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() / 1024;
        // What an existing implementation takes for one iteration, measured on this generator's kind of
        // corpus.
        let peer = match (name, *flags == ITERATION) {
            ("500", true) => "9.7 s",
            ("5000", true) => "1128 s",
            ("50000", true) => "days",
            _ => "",
        };
        println!(
            "{name:>8} {what:<18} {:>6.2} s {:>6.2} s {memory:>5} MB {peer:>10}  {}",
            cost.wall.as_secs_f64(),
            cost.cpu.as_secs_f64(),
            if *flags == PLAN { String::new() } else { stages(root) }
        );
    }
}

fn night(root: &Path, flags: &[&str]) -> Cost {
    let ao = || {
        let mut ao = Command::new(env!("CARGO_BIN_EXE_ao"));
        ao.args(["--quiet", "--json", "-C"]).arg(root).stdout(Stdio::null());
        ao
    };
    let is_plan = flags == PLAN;
    if is_plan {
        assert!(ao().args(["search", "retry"]).status().unwrap().success());
    }
    let cpu = used(UsageWho::RUSAGE_CHILDREN);
    let since = Instant::now();
    let mut ao = ao();
    if is_plan {
        ao.args(["overnight", "plan"]);
    } else {
        ao.args(["overnight", "start", "--no-keep-awake"]).args(flags);
    }
    let status = ao.status().unwrap();
    assert!(status.success(), "{status}");
    Cost { wall: since.elapsed(), cpu: used(UsageWho::RUSAGE_CHILDREN).saturating_sub(cpu) }
}

/// Where the time of the run went, as its report says.
fn stages(root: &Path) -> String {
    let summary = summary(root);
    let stages = summary["stages"].as_object().unwrap();
    let told = stages.iter().map(|(stage, took)| format!("{stage} {}", took.as_str().unwrap()));
    told.collect::<Vec<_>>().join(", ")
}

fn summary(root: &Path) -> Value {
    let path: PathBuf = root.join(".agents/overnight/latest/summary.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
