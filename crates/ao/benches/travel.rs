//! What time travel costs: the undo store after 90 nights, and a search as of the first of them beside
//! a plain one, in the same run.
//!
//!     cargo bench --bench travel              5,000 learnings
//!     cargo bench --bench travel -- 2000      this many
//!
//! A night changes one entry in a hundred: eight of ten are written anew, one goes with the
//! certificate of a merge, one is added. Wall time on a shared machine is noise; the ratio of CPU
//! times is what holds.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the binary and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cost::{Cost, median, used};
use nix::sys::resource::UsageWho;
use serde_json::{Value, json};

const SIZE: usize = 5_000;
const NIGHTS: usize = 90;
const ROUNDS: usize = 15;
const BODY_WORDS: usize = 190;
const PROBES: usize = 8;

fn main() {
    let size = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(SIZE);
    let place = tempfile::tempdir().unwrap();
    let root = place.path();
    let learnings = root.join(".agents/learnings");
    fs::create_dir_all(&learnings).unwrap();
    for index in 0..size {
        fs::write(learnings.join(name(index)), text(index, 0)).unwrap();
    }
    let corpus = weigh(&learnings);
    let mut numbers = Numbers(7);
    for night in 1..=NIGHTS {
        apply(root, night, &edits(&learnings, night, size, &mut numbers));
    }
    let state = root.join(".agents/overnight");
    let undo = weigh(&state.join("undo"));
    let history = weigh(&state.join("history.jsonl"));
    println!("{size} learnings, {NIGHTS} nights of 1 % each");
    tell("corpus", corpus, corpus);
    tell("undo store", (undo.0 + history.0, undo.1 + history.1), corpus);
    tell("archive (until a person empties it)", weigh(&state.join("archive")), corpus);
    searches(root);
}

/// Bytes in files, and bytes on the disk.
fn weigh(path: &Path) -> (u64, u64) {
    let Ok(found) = path.symlink_metadata() else { return (0, 0) };
    let mut sum = (if found.is_dir() { 0 } else { found.len() }, found.blocks() * 512);
    if found.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            let inner = weigh(&entry.unwrap().path());
            sum = (sum.0 + inner.0, sum.1 + inner.1);
        }
    }
    sum
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn tell(what: &str, weight: (u64, u64), corpus: (u64, u64)) {
    println!(
        "{what:<38} {:>10} bytes ({:.2} of the corpus) {:>10} on disk ({:.2})",
        weight.0,
        weight.0 as f64 / corpus.0 as f64,
        weight.1,
        weight.1 as f64 / corpus.1 as f64,
    );
}

fn edits(learnings: &Path, night: usize, size: usize, numbers: &mut Numbers) -> Vec<Value> {
    let mut there: Vec<String> = fs::read_dir(learnings)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    (0..size.div_ceil(100))
        .map(|turn| {
            let file = there.swap_remove(numbers.below(there.len()));
            let path = format!("learnings/{file}");
            match turn % 10 {
                0 => {
                    let path = format!("learnings/{}", name(size * night + turn));
                    let content = text(size * night + turn, night);
                    json!({ "op": "write", "path": path, "content": content, "reason": "promoted" })
                }
                1 => json!({
                    "op": "delete", "path": path, "reason": "merged",
                    "sources": [certificate(&path, numbers)],
                }),
                _ => {
                    let content = text(turn, night);
                    json!({ "op": "write", "path": path, "content": content, "reason": "utility moved by feedback" })
                }
            }
        })
        .collect()
}

/// As long as that of a real merge.
fn certificate(path: &str, numbers: &mut Numbers) -> String {
    let probes: Vec<Value> = (0..PROBES)
        .map(|_| json!({ "kind": "rare", "query": numbers.words(8), "before": 1, "after": 1 }))
        .collect();
    let certificate = json!({
        "schema_version": 1, "entry": path, "successor": path, "basis": "found", "verdict": "passed",
        "why": "every question that found it finds its successor", "counted": PROBES, "probes": probes,
    });
    format!("certificate:{certificate}")
}

fn apply(root: &Path, night: usize, edits: &[Value]) {
    let file = root.join("edits.json");
    fs::write(&file, json!({ "schema_version": 1, "why": "a night", "edits": edits }).to_string())
        .unwrap();
    let id = format!("n{night:02}-iter-1");
    let made = ao(root, &["tree", "apply", file.to_str().unwrap(), "--id", &id]);
    assert!(made, "night {night}");
}

fn ao(root: &Path, arguments: &[&str]) -> bool {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
    command.env_clear().env("HOME", root).arg("-C").arg(root).args(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

/// As of the first night, where most of what it had is kept versions; and of one in the middle, where
/// there are as many commits before it that doubts rest on as after it.
fn searches(root: &Path) {
    let query = Numbers(3).words(3);
    let middle = format!("n{:02}-iter-1", NIGHTS / 2);
    let plain = ["search", &query];
    let oldest = ["search", &query, "--as-of", "n01-iter-1"];
    let between = ["search", &query, "--as-of", &middle];
    let first = timed(|| ao(root, &oldest));
    assert!(ao(root, &between));
    // What was written a moment ago is looked at again; that is over soon.
    std::thread::sleep(Duration::from_secs(3));
    assert!(ao(root, &plain) && ao(root, &oldest) && ao(root, &between));
    let mut costs = [const { Vec::new() }; 3];
    for _ in 0..ROUNDS {
        for (arguments, costs) in [&plain[..], &oldest, &between].iter().zip(&mut costs) {
            costs.push(timed(|| ao(root, arguments)));
        }
    }
    let [today, oldest, between] = costs.map(median);
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    for (what, cost) in [
        ("ao search", today),
        ("ao search as of 89 nights ago", oldest),
        ("ao search as of 45 nights ago", between),
        ("ao search as of it, the first time", first),
    ] {
        println!(
            "{what:<38} {:>8.1} ms wall ({:.2}) {:>8.1} ms CPU ({:.2})",
            ms(cost.wall),
            ms(cost.wall) / ms(today.wall),
            ms(cost.cpu),
            ms(cost.cpu) / ms(today.cpu),
        );
    }
}

fn timed(act: impl FnOnce() -> bool) -> Cost {
    let cpu = used(UsageWho::RUSAGE_CHILDREN);
    let since = Instant::now();
    assert!(act());
    let wall = since.elapsed();
    Cost { wall, cpu: used(UsageWho::RUSAGE_CHILDREN).saturating_sub(cpu) }
}

fn name(index: usize) -> String {
    format!("2026-04-01-entry-{index:07}.md")
}

/// A fixed sequence of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn words(&mut self, count: usize) -> String {
        const SOUNDS: [&str; 8] = ["ba", "co", "di", "fu", "ga", "he", "lo", "mi"];
        let mut text = String::new();
        for _ in 0..count {
            for _ in 0..2 + self.below(3) {
                text.push_str(SOUNDS[self.below(SOUNDS.len())]);
            }
            text.push(' ');
        }
        text.trim_end().to_owned()
    }
}

fn text(index: usize, night: usize) -> String {
    let mut numbers = Numbers((index * 1000 + night) as u64);
    let mut text = format!("---\nid: learning-{index}\ndate: 2026-04-01\nutility: 0.5\n---\n\n");
    let _ = writeln!(text, "# Learning: {}\n", numbers.words(6));
    for _ in 0..12 {
        let _ = writeln!(text, "{}.", numbers.words(BODY_WORDS / 12));
    }
    text
}
