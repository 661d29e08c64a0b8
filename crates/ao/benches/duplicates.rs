//! How copies are found: recall, wrong merges, CPU time and memory, beside a loop over all pairs.
//!
//!     cargo bench --bench duplicates                 5,000, 50,000 and 500,000 entries
//!     cargo bench --bench duplicates -- 5000 50000   these sizes only
//!
//! The corpora are made here, with known copies (a tenth), siblings that share half of their text,
//! and contradictions that share nearly all of it. Each size is made in one process
//! and measured in another, so that peak memory is the finder's. The peer compares the same sets of stems and pairs of every two
//! entries of a sample; its time for all of them is worked out from that, and said to be.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts itself and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/cli/generate.rs"]
mod generate;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ao_corpus::Tree;
use ao_corpus::duplicates::{Features, Finder, overlap};
use cost::used;
use generate::{Amounts, Made};
use nix::sys::resource::{UsageWho, getrusage};

const SIZES: [usize; 3] = [5_000, 50_000, 500_000];
const SEED: u64 = 7;
/// Which step of one size this process does.
const STEP: &str = "AO_BENCH_STEP";
const MAKE: &str = "make";
/// Entries of which the peer compares every two.
const SAMPLE: usize = 1_000;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    match std::env::var(STEP).as_deref() {
        Ok(MAKE) => return make(Path::new(&words[0]), sizes[0]),
        Ok(_) => return measure(Path::new(&words[0]), sizes[0]),
        Err(_) => {}
    }
    println!(
        "{:>8} {:>9} {:>6} {:>10} {:>10} {:>9} {:>14}",
        "entries", "reduced", "wrong", "wall", "CPU", "memory", "all pairs, CPU"
    );
    for size in if sizes.is_empty() { SIZES.to_vec() } else { sizes } {
        let place = tempfile::tempdir().unwrap();
        for step in [MAKE, "measure"] {
            let mut one = Command::new(std::env::current_exe().unwrap());
            one.arg(place.path()).arg(size.to_string()).env(STEP, step);
            assert!(one.status().unwrap().success(), "{step} {size}");
        }
    }
}

fn make(root: &Path, size: usize) {
    let rest = size / 10;
    let amounts = Amounts {
        texts: size - 2 * rest,
        copies: rest,
        siblings: rest / 2,
        contradictions: rest / 4,
    };
    let Made { files, clusters, .. } = generate::corpus(SEED, amounts);
    std::fs::create_dir_all(root.join(".agents/learnings")).unwrap();
    for (path, text) in &files {
        std::fs::write(root.join(".agents").join(path), text).unwrap();
    }
    std::fs::write(root.join("truth.json"), serde_json::to_vec(&clusters).unwrap()).unwrap();
}

fn measure(root: &Path, size: usize) {
    let cpu = used(UsageWho::RUSAGE_SELF);
    let since = Instant::now();
    let tree = Tree::list(&root.join(".agents")).unwrap();
    let found = Finder::new(&tree).find(&tree, None);
    let (wall, cpu) = (since.elapsed(), used(UsageWho::RUSAGE_SELF).saturating_sub(cpu));
    let memory = getrusage(UsageWho::RUSAGE_SELF).unwrap().max_rss() / 1024;
    let truth = std::fs::read(root.join("truth.json")).unwrap();
    let (reduced, wrong) = judge(&serde_json::from_slice::<Clusters>(&truth).unwrap(), &found);
    let peer = all_pairs(&tree, size);
    println!(
        "{size:>8} {:>8.2}% {wrong:>6} {:>7.0} ms {:>7.0} ms {memory:>6} MB {:>12.0} s",
        reduced * 100.0,
        wall.as_secs_f64() * 1000.0,
        cpu.as_secs_f64() * 1000.0,
        peer.as_secs_f64(),
    );
}

/// Each is one text and its copies.
type Clusters = Vec<Vec<String>>;

fn judge(clusters: &Clusters, found: &ao_corpus::duplicates::Duplicates) -> (f64, usize) {
    let mut cluster_of: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, paths) in clusters.iter().enumerate() {
        cluster_of.extend(paths.iter().map(|path| (path.as_str(), at)));
    }
    let (mut gone, mut wrong) = (BTreeSet::new(), 0);
    for cluster in &found.clusters {
        let own = cluster_of.get(cluster.survivor.as_str());
        for member in &cluster.members {
            let other = cluster_of.get(member.path.as_str());
            wrong += usize::from(own.is_none() || own != other);
            gone.insert(member.path.as_str());
        }
    }
    let copied: Vec<_> = clusters.iter().filter(|paths| paths.len() > 1).collect();
    let is_one = |paths: &&&Vec<String>| {
        paths.iter().filter(|path| !gone.contains(path.as_str())).count() == 1
    };
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let ratio = copied.iter().filter(is_one).count() as f64 / copied.len().max(1) as f64;
    (ratio, wrong)
}

/// What comparing every two entries would take, reading aside: measured on a sample.
fn all_pairs(tree: &Tree, size: usize) -> Duration {
    let sample: Vec<Features> = tree
        .paths()
        .iter()
        .take(SAMPLE)
        .filter_map(|path| tree.entry(path))
        .map(|entry| Features::of([entry.document.body()]))
        .collect();
    let since = used(UsageWho::RUSAGE_SELF);
    let mut alike = 0_usize;
    for (at, one) in sample.iter().enumerate() {
        for other in &sample[at + 1..] {
            let is_alike = overlap(&one.stems, &other.stems) >= 0.7
                && overlap(&one.pairs, &other.pairs) >= 0.6;
            alike += usize::from(is_alike);
        }
    }
    std::hint::black_box(alike);
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let times = (size as f64 / sample.len() as f64).powi(2);
    used(UsageWho::RUSAGE_SELF).saturating_sub(since).mul_f64(times)
}
