//! How contradictions are found: recall, false cards and CPU time, beside reading the corpus and a loop over all pairs.
//!
//!     cargo bench --bench contradictions                 three corpora of 5,000 entries, 100 planted in each
//!     cargo bench --bench contradictions -- DIR…         these: each with .agents/ and ground_truth.json
//!
//! `ground_truth.json` names the planted pairs under `contradictions`, by their files' names. The peer compares the words of
//! every two statements of a sample; its time for all of them is worked out from that, and said to be.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/cli/generate.rs"]
mod generate;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ao_corpus::contradictions::{Cards, Rulings, every_statement};
use ao_corpus::duplicates::{Features, overlap};
use ao_corpus::trust::Vouches;
use ao_corpus::{Corpus, SEARCHED};
use cost::used;
use generate::{Dice, body, header};
use nix::sys::resource::UsageWho;
use serde_json::json;

const SEEDS: [u64; 3] = [7, 11, 23];
const ENTRIES: usize = 5_000;
const PLANTED: usize = 100;
/// Statements of which the peer compares every two.
const SAMPLE: usize = 1_000;
/// Each is measured so often, and the middle one is told.
const ROUNDS: usize = 5;

fn main() {
    let folders: Vec<PathBuf> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).map(PathBuf::from).collect();
    println!(
        "{:>8} {:>10} {:>8} {:>6} {:>11} {:>11} {:>11} {:>14}",
        "entries",
        "statements",
        "found",
        "false",
        "reading",
        "statements",
        "finding",
        "all pairs, CPU"
    );
    for folder in &folders {
        measure(folder);
    }
    for seed in SEEDS.into_iter().filter(|_| folders.is_empty()) {
        let place = tempfile::tempdir().unwrap();
        make(place.path(), seed);
        measure(place.path());
    }
}

fn make(root: &Path, seed: u64) {
    let mut dice = Dice::new(seed);
    let agents = root.join(".agents/learnings");
    std::fs::create_dir_all(&agents).unwrap();
    let mut planted = Vec::new();
    for number in 0..ENTRIES - 2 * PLANTED {
        let text =
            header(&mut dice, &format!("l-{number}"), "2026-03-01") + &body(&mut dice, number);
        std::fs::write(agents.join(format!("note-{number:05}.md")), text).unwrap();
    }
    for number in 0..PLANTED {
        let what =
            format!("the {} of ward {number}", dice.pick(&["pump", "scanner", "pager", "lift"]));
        let n = 2 + dice.below(50);
        let claims = match dice.below(6) {
            0 => {
                (format!("Set {what} to {n} minutes."), format!("Set {what} to {} minutes.", 3 * n))
            }
            1 => (format!("Always drain {what} at noon."), format!("Never drain {what} at noon.")),
            2 => (format!("A reset of {what} is safe."), format!("A reset of {what} is not safe.")),
            3 => (format!("Use Kafka for {what}."), format!("Use RabbitMQ for {what}.")),
            4 => (format!("Enable alarms on {what}."), format!("Disable alarms on {what}.")),
            _ => (
                format!("Check {what} before the rounds."),
                format!("Check {what} after the rounds."),
            ),
        };
        let mut pair = Vec::new();
        for (side, claim) in [("a", claims.0), ("b", claims.1)] {
            let name = format!("planted-{number:03}-{side}.md");
            let rest = body(&mut dice, 50_000 + number);
            let text = format!(
                "---\ndate: 2026-03-02\n---\n# Learning: ward {number}\n\n{claim}\n\n{rest}"
            );
            std::fs::write(agents.join(&name), text).unwrap();
            pair.push(name);
        }
        planted.push(pair);
    }
    let truth = json!({ "contradictions": planted });
    std::fs::write(root.join("ground_truth.json"), truth.to_string()).unwrap();
}

fn measure(root: &Path) {
    let agents = root.join(".agents");
    let (corpus, reading) = timed(|| Corpus::read(&agents, &SEARCHED).unwrap());
    let today = jiff::civil::date(2026, 4, 1);
    let (statements, cutting) = timed(|| every_statement(&corpus, today));
    let (cards, finding) =
        timed(|| Cards::of(&corpus, &Rulings::default(), &Vouches::default(), today));
    let truth: serde_json::Value =
        serde_json::from_slice(&std::fs::read(root.join("ground_truth.json")).unwrap()).unwrap();
    let planted: BTreeSet<[String; 2]> =
        serde_json::from_value(truth["contradictions"].clone()).unwrap();
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let found: BTreeSet<[String; 2]> = cards
        .open
        .iter()
        .map(|card| {
            let mut pair = [name(&card.a.path), name(&card.b.path)];
            pair.sort();
            pair
        })
        .collect();
    let hits = planted.intersection(&found).count();
    let ms = |time: Duration| format!("{:.0} ms", time.as_secs_f64() * 1000.0);
    println!(
        "{:>8} {:>10} {:>8} {:>6} {:>11} {:>11} {:>11} {:>12.0} s",
        corpus.entries.len(),
        statements.len(),
        format!("{hits}/{}", planted.len()),
        found.difference(&planted).count(),
        ms(reading),
        ms(cutting),
        ms(finding),
        all_pairs(&statements).as_secs_f64(),
    );
}

/// What it gives, and the CPU time of the middle round.
fn timed<T>(work: impl Fn() -> T) -> (T, Duration) {
    let mut times = Vec::new();
    loop {
        let since = used(UsageWho::RUSAGE_SELF);
        let made = work();
        times.push(used(UsageWho::RUSAGE_SELF).saturating_sub(since));
        if times.len() == ROUNDS {
            times.sort_unstable();
            return (made, times[ROUNDS / 2]);
        }
    }
}

/// What comparing every two statements by their words would take: measured on a sample.
fn all_pairs(statements: &[String]) -> Duration {
    let sample: Vec<Features> =
        statements.iter().take(SAMPLE).map(|text| Features::of([text.as_str()])).collect();
    let since = used(UsageWho::RUSAGE_SELF);
    let mut alike = 0_usize;
    for (at, one) in sample.iter().enumerate() {
        alike += sample[at + 1..]
            .iter()
            .filter(|other| overlap(&one.stems, &other.stems) >= 0.8)
            .count();
    }
    std::hint::black_box(alike);
    let took = used(UsageWho::RUSAGE_SELF).saturating_sub(since);
    let pairs = |count: usize| {
        u32::try_from(count * count.saturating_sub(1) / 2 / 1_000).unwrap_or(u32::MAX)
    };
    took * pairs(statements.len()) / pairs(sample.len()).max(1)
}
