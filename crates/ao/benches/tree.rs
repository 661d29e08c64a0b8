//! What a commit costs, beside `cp -r` of the same tree in the same run.
//!
//!     cargo bench --bench tree                 5,000, 50,000 and 500,000 files
//!     cargo bench --bench tree -- 5000 50000   these sizes only
//!
//! Warm cache, `sync` before each, alternating pairs, medians. Wall time on a shared machine is
//! noise; the ratio of CPU times is what holds.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the binary and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cost::{Cost, median, used};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::json;

const FILE_BYTES: usize = 1500;
/// One file in this many is changed.
const CHANGED_EVERY: usize = 100;
const PARTS: [&str; 4] = ["learnings", "findings", "patterns", "knowledge"];
const SIZES: [usize; 3] = [5_000, 50_000, 500_000];
/// A pair at half a million files takes a minute.
const PAIRS_MAX: usize = 5;
const PAIRS_AT_LARGE: usize = 3;
const LARGE: usize = 200_000;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    println!(
        "{:>8} {:<44} {:>10} {:>10} {:>8} {:>8}",
        "files", "what", "wall", "CPU", "wall/cp", "CPU/cp"
    );
    // Copies stay until the end: ext4 steps around inodes that were deleted in the last minutes,
    // and the next copy would pay for the removal of this one. For the same reason a second run of
    // the benchmark right after the first one flatters.
    let places: Vec<_> = sizes.into_iter().map(measure).collect();
    // The children's high-water mark; `cp` and `sync` need a few MB.
    let peak_kb = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    println!("peak memory of any process: {} MB", peak_kb / 1024);
    drop(places);
}

fn measure(size: usize) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let repo = place.path().join("repo");
    make_corpus(&repo, size);
    let pairs = if size > LARGE { PAIRS_AT_LARGE } else { PAIRS_MAX };
    let none = place.path().join("none.json");
    write_edits(&none, size, None);
    // Nothing is cached beside the tree: the first look costs what every look costs.
    let first = timed(&repo, apply(&repo, &none));
    let (mut copies, mut commits, mut looks) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..pairs {
        let edits = place.path().join("edits.json");
        write_edits(&edits, size, Some(pair));
        let copy = place.path().join(format!("copy-{pair}"));
        let mut cp = Command::new("cp");
        cp.arg("-r").arg(repo.join(".agents")).arg(&copy);
        copies.push(timed(&repo, cp));
        commits.push(timed(&repo, apply(&repo, &edits)));
        looks.push(timed(&repo, apply(&repo, &none)));
    }
    let peer = median(copies);
    print(size, "cp -r", peer, peer);
    print(size, "snapshot, stage, commit: 1 % changed", median(commits), peer);
    print(size, "snapshot: nothing changed", median(looks), peer);
    print(size, "the first snapshot (no cache to be cold)", first, peer);
    place
}

fn print(size: usize, what: &str, cost: Cost, peer: Cost) {
    let ratio = |ours: Duration, theirs: Duration| ours.as_secs_f64() / theirs.as_secs_f64();
    println!(
        "{size:>8} {what:<44} {:>7.0} ms {:>7.0} ms {:>8.3} {:>8.3}",
        cost.wall.as_secs_f64() * 1000.0,
        cost.cpu.as_secs_f64() * 1000.0,
        ratio(cost.wall, peer.wall),
        ratio(cost.cpu, peer.cpu),
    );
}

fn make_corpus(repo: &Path, size: usize) {
    for part in PARTS {
        fs::create_dir_all(repo.join(".agents").join(part)).unwrap();
    }
    for index in 0..size {
        fs::write(repo.join(".agents").join(path(index)), text(index, "first")).unwrap();
    }
}

/// Most knowledge is in learnings, as in real corpora; every part changes.
fn path(index: usize) -> String {
    let part = match index % 10 {
        0 | 1 => "findings",
        2 => "patterns",
        3 => "knowledge",
        _ => "learnings",
    };
    format!("{part}/2026-04-01-entry-{index:07}.md")
}

fn text(index: usize, generation: &str) -> String {
    let mut text = format!("---\nid: entry-{index}\n---\n# {generation}\n\n");
    while text.len() < FILE_BYTES {
        text.push_str("What was learned is written down where the next one looks for it. ");
    }
    text.truncate(FILE_BYTES);
    text
}

fn write_edits(file: &Path, size: usize, generation: Option<usize>) {
    let edits: Vec<_> = match generation {
        None => Vec::new(),
        // Not a multiple of ten, so that the changes fall on every part.
        Some(generation) => (0..size / CHANGED_EVERY)
            .map(|step| (step * CHANGED_EVERY + step % 10) % size)
            .map(|index| json!({ "op": "write", "path": path(index), "content": text(index, &format!("generation {generation}")), "reason": "bench" }))
            .collect(),
    };
    fs::write(file, json!({ "schema_version": 1, "why": "bench", "edits": edits }).to_string())
        .unwrap();
}

/// As a user runs it, the grace for readers included.
fn apply(repo: &Path, edits: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
    command.env_clear().arg("--quiet").arg("-C").arg(repo).args(["tree", "apply"]).arg(edits);
    command
}

fn timed(warm: &Path, mut command: Command) -> Cost {
    let settle = Command::new("sync").status().unwrap();
    assert!(settle.success());
    // Warm cache: every file has just been looked at.
    for entry in fs::read_dir(warm.join(".agents/learnings")).unwrap() {
        entry.unwrap().metadata().unwrap();
    }
    let cpu = used(UsageWho::RUSAGE_CHILDREN);
    let since = Instant::now();
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
    Cost { wall: since.elapsed(), cpu: used(UsageWho::RUSAGE_CHILDREN).saturating_sub(cpu) }
}
