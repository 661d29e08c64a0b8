//! What it costs to read transcripts: a gigabyte the first time, the same again, and after one session went
//! on; beside a peer that parses every line.
//!
//!     cargo bench --bench transcripts             1,000 MB
//!     cargo bench --bench transcripts -- 200      so many MB
//!     cargo bench --bench transcripts -- 200 /tmp/x   kept there, for a profiler
//!
//! The sessions are made by `sessions/`. Wall time on a shared machine is noise; CPU time is what holds.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the binary and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;
mod sessions;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use cost::used;
use nix::sys::resource::UsageWho;
use serde_json::{Value, json};
use sessions::{claude_line, make};

const MEGABYTES: usize = 1000;
/// More is not made, whatever is asked for.
const MEGABYTES_MAX: usize = 4000;

fn main() {
    let asked = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let megabytes: usize = asked.unwrap_or(MEGABYTES).min(MEGABYTES_MAX);
    // Removed again when it is dropped.
    let scratch = tempfile::tempdir().unwrap();
    let kept = std::env::args().skip(1).find(|word| word.starts_with('/')).map(PathBuf::from);
    let place = kept.as_deref().unwrap_or(scratch.path());
    let (repo, home) = (place.join("repo"), place.join("home"));
    fs::create_dir_all(repo.join(".agents/learnings")).unwrap();
    let files = make(&home, &repo, megabytes * 1_000_000);
    let bytes: u64 = files.iter().map(|path| path.metadata().unwrap().len()).sum();
    println!("{} transcripts, {} MB", files.len(), bytes / 1_000_000);
    run("first time", &home, &repo);
    run("nothing new", &home, &repo);
    let mut grown = File::options().append(true).open(&files[0]).unwrap();
    let correction = json!("no, use `make again` here instead of make");
    writeln!(grown, "{}", claude_line(&repo, "user", &correction)).unwrap();
    run("one went on", &home, &repo);
    let (since, before) = (Instant::now(), used(UsageWho::RUSAGE_SELF));
    let mut lines = 0_u64;
    for path in &files {
        // A session of Gemini CLI is one object.
        let is_object = path.extension().is_some_and(|ending| ending == "json");
        let end = if is_object { 0 } else { b'\n' };
        for line in BufReader::new(File::open(path).unwrap()).split(end) {
            let value: Value = serde_json::from_slice(&line.unwrap()).unwrap();
            lines += u64::from(value.is_object());
        }
    }
    let cpu = used(UsageWho::RUSAGE_SELF).saturating_sub(before);
    println!(
        "{:<24} {:>8.2?} of CPU, {:>8.2?} of wall time, {lines} lines",
        "serde_json, every line",
        cpu,
        since.elapsed()
    );
}

fn run(what: &str, home: &Path, repo: &Path) {
    let (since, before) = (Instant::now(), used(UsageWho::RUSAGE_CHILDREN));
    let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
    command.env_clear().env("HOME", home).arg("-C").arg(repo).args(["--json", "signals"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let cpu = used(UsageWho::RUSAGE_CHILDREN).saturating_sub(before);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sum = |key: &str| -> u64 {
        told["sources"].as_array().unwrap().iter().filter_map(|source| source[key].as_u64()).sum()
    };
    println!(
        "{what:<24} {cpu:>8.2?} of CPU, {:>8.2?} of wall time, {} MB read, {} taken",
        since.elapsed(),
        sum("bytes") / 1_000_000,
        told["taken"].as_array().unwrap().len()
    );
}
