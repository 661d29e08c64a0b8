//! What an index costs and what a question costs, beside `SQLite`'s FTS5 in the same run.
//!
//!     cargo bench --bench search                 5,000, 50,000 and 500,000 files
//!     cargo bench --bench search -- 5000 50000   these sizes only
//!
//! Both read the same files with a warm cache. FTS5 (porter) writes into memory in one transaction;
//! the index uses two threads where there are two cores. Wall time on a shared machine is noise;
//! the ratio of CPU times is what holds. Quality: `ao retrieval-bench --dataset DIR`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark makes its own files, starts the binary and prints"
)]
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

mod cost;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ao_corpus::SEARCHED;
use ao_corpus::index::{Index, Keep, Place, Question, State};
use ao_corpus::search::{Asking, search};
use cost::{Cost, median, used};
use nix::sys::resource::{UsageWho, getrusage};
use rusqlite::Connection;

const SIZES: [usize; 3] = [5_000, 50_000, 500_000];
const ROUNDS: usize = 5;
const ROUNDS_AT_LARGE: usize = 2;
const LARGE: usize = 200_000;
const QUESTIONS: usize = 400;
/// FTS5 needs tens of milliseconds for a question at the largest size.
const QUESTIONS_OF_PEER: usize = 40;
const VOCABULARY: u64 = 40_000;
const BODY_WORDS: u64 = 190;

fn main() {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("--one") {
        return measure(arguments.next().unwrap().parse().unwrap());
    }
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    println!(
        "{:>8} {:<38} {:>11} {:>11} {:>11} {:>9} {:>8}",
        "files", "what", "wall", "CPU", "CPU/file", "wall/FTS5", "CPU/FTS5"
    );
    // Each size in a process of its own: a child starts with the high-water mark of its parent's
    // memory, and that of an earlier size would be told as the peak of `ao`.
    for size in sizes {
        let mut one = Command::new(std::env::current_exe().unwrap());
        assert!(one.args(["--one", &size.to_string()]).status().unwrap().success());
    }
}

fn measure(size: usize) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().to_owned();
    make_corpus(&root, size);
    let rounds = if size > LARGE { ROUNDS_AT_LARGE } else { ROUNDS };
    // First, while this process is small: see above.
    commands(size, &root, rounds);
    // What they kept must not help the cold index.
    fs::remove_dir_all(root.join(".agents/ao")).unwrap();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut both = None;
    for _ in 0..rounds {
        drop(both.take());
        let (database, cost) = timed(UsageWho::RUSAGE_SELF, || fts5(&root));
        theirs.push(cost);
        let (index, cost) = timed(UsageWho::RUSAGE_SELF, || cold(&root));
        ours.push(cost);
        both = Some((database, index));
    }
    let peer = median(theirs);
    print(size, "cold index, FTS5", peer, peer);
    print(size, "cold index, reading included", median(ours), peer);
    let (database, index) = both.unwrap();
    questions(size, &index, &database);
}

/// The kernel counts CPU in ticks that are longer than a question: wall time stands for both.
fn questions(size: usize, index: &Index, database: &Connection) {
    let asked: Vec<String> = (0..QUESTIONS as u64).map(|seed| query(seed, size as u64)).collect();
    let mut ours = Vec::new();
    for text in &asked {
        let question = Question::new(text);
        let since = Instant::now();
        search(index, &question, Asking { limit: 10, as_of: None }).unwrap();
        ours.push(since.elapsed());
    }
    let mut theirs = Vec::new();
    let sql = "SELECT path FROM entries WHERE entries MATCH ?1 ORDER BY bm25(entries) LIMIT 10";
    let mut statement = database.prepare(sql).unwrap();
    for text in asked.iter().take(QUESTIONS_OF_PEER) {
        let text = text.split(' ').collect::<Vec<_>>().join(" OR ");
        let since = Instant::now();
        let rows = statement.query_map([&text], |row| row.get::<_, String>(0)).unwrap();
        let found: Vec<String> = rows.map(Result::unwrap).collect();
        theirs.push(since.elapsed());
        assert!(found.len() <= 10);
    }
    ours.sort_unstable();
    theirs.sort_unstable();
    let at = |times: &[Duration], share: usize| {
        let time = times[times.len() * share / 100];
        Cost { wall: time, cpu: time }
    };
    let peer = at(&theirs, 50);
    print(size, "a question, FTS5 (median)", peer, peer);
    print(size, "a question, loaded index (median)", at(&ours, 50), peer);
    print(size, "a question, loaded index (95 %)", at(&ours, 95), peer);
}

/// The whole command: cold, with a warm cache, and after one file changed.
fn commands(size: usize, root: &Path, rounds: usize) {
    let ask = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ao"));
        command.env_clear().arg("-C").arg(root).args(["search", &query(7, size as u64)]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.success());
    };
    let whole = |what: &str, before: &dyn Fn(usize)| {
        let mut costs = Vec::new();
        for round in 0..rounds {
            before(round);
            costs.push(timed(UsageWho::RUSAGE_CHILDREN, ask).1);
        }
        let cost = median(costs);
        print(size, what, cost, cost);
    };
    whole("ao search, no cache", &|_| {
        let _ = fs::remove_dir_all(root.join(".agents/ao"));
    });
    let peak_kb = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    println!("{size:>8} {:<38} {:>8} MB", "peak memory of ao search, no cache", peak_kb / 1024);
    // What was written a moment ago is looked at again; that is over soon.
    std::thread::sleep(Duration::from_secs(3));
    ask();
    whole("ao search, warm cache", &|_| ());
    whole("ao search, one file changed", &|round| {
        fs::write(path(root, 0), text(round as u64 + 1_000_000, size as u64)).unwrap();
    });
}

fn cold(root: &Path) -> Index {
    let place = Place {
        agents: root.join(".agents"),
        folders: SEARCHED.iter().map(ToString::to_string).collect(),
        now_ns: 0,
        keep: Keep::No,
    };
    let opened = place.open().unwrap();
    assert_eq!(opened.state, State::Cold);
    opened.index
}

fn fts5(root: &Path) -> Connection {
    let database = Connection::open_in_memory().unwrap();
    database
        .execute_batch(
            "CREATE VIRTUAL TABLE entries USING fts5(path UNINDEXED, body, tokenize = 'porter'); BEGIN",
        )
        .unwrap();
    let folder = root.join(".agents/learnings");
    {
        let mut insert = database.prepare("INSERT INTO entries VALUES (?1, ?2)").unwrap();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            insert.execute((path.to_str().unwrap(), text)).unwrap();
        }
    }
    database.execute_batch("COMMIT").unwrap();
    database
}

fn make_corpus(root: &Path, size: usize) {
    fs::create_dir_all(root.join(".agents/learnings")).unwrap();
    for index in 0..size {
        fs::write(path(root, index), text(index as u64, size as u64)).unwrap();
    }
}

fn path(root: &Path, index: usize) -> PathBuf {
    root.join(format!(".agents/learnings/2026-04-01-entry-{index:07}.md"))
}

/// A fixed sequence of numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    /// Few words are used often and most seldom, as in real text.
    fn word(&mut self) -> String {
        const COMMON: [&str; 12] =
            ["the", "of", "a", "to", "and", "in", "is", "it", "for", "that", "on", "with"];
        if self.next(10) < 4 {
            let at = self.next(COMMON.len() as u64);
            return COMMON[usize::try_from(at).unwrap()].to_owned();
        }
        let range = 1 + self.next(VOCABULARY);
        spelled(self.next(range))
    }
}

/// A word that can be pronounced, with an ending that a stemmer takes off.
fn spelled(mut number: u64) -> String {
    const SOUNDS: [&str; 16] = [
        "ba", "co", "di", "fu", "ga", "he", "lo", "mi", "na", "po", "ra", "se", "ti", "vu", "ka",
        "to",
    ];
    const ENDINGS: [&str; 4] = ["", "s", "ing", "ed"];
    let ending = ENDINGS[usize::try_from(number % 4).unwrap()];
    number /= 4;
    let mut word = String::new();
    loop {
        word.push_str(SOUNDS[usize::try_from(number % 16).unwrap()]);
        number /= 16;
        if number == 0 {
            break;
        }
    }
    format!("{word}n{ending}")
}

fn text(index: u64, salt: u64) -> String {
    let mut numbers = Numbers(index.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt);
    let words = |numbers: &mut Numbers, count: u64| {
        (0..count).map(|_| numbers.word()).collect::<Vec<_>>().join(" ")
    };
    let title = words(&mut numbers, 6);
    let mut body = String::new();
    for heading in ["What We Learned", "Why It Matters", "How To Apply"] {
        let _ = write!(body, "\n## {heading}\n\n");
        for _ in 0..4 {
            body.push_str(&words(&mut numbers, BODY_WORDS / 12));
            body.push_str(".\n");
        }
    }
    format!(
        "---\nid: learning-{index}\ntype: learning\ndate: 2026-04-01\nmaturity: candidate\n\
         utility: 0.{}\nconfidence: 0.7\ntags: [{}, {}]\n---\n\n# Learning: {title}\n{body}",
        10 + numbers.next(90),
        spelled(numbers.next(50)),
        spelled(numbers.next(50)),
    )
}

/// Three words of some entry.
fn query(seed: u64, salt: u64) -> String {
    let mut numbers = Numbers(seed.wrapping_mul(7919) ^ salt);
    (0..3)
        .map(|_| {
            let range = 1 + numbers.next(VOCABULARY);
            spelled(numbers.next(range))
        })
        .collect::<Vec<_>>()
        .join(" ")
}

fn print(size: usize, what: &str, cost: Cost, peer: Cost) {
    let ratio = |ours: Duration, theirs: Duration| ours.as_secs_f64() / theirs.as_secs_f64();
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    println!(
        "{size:>8} {what:<38} {:>8.3} ms {:>8.3} ms {:>8.2} µs {:>9.3} {:>8.3}",
        ms(cost.wall),
        ms(cost.cpu),
        ms(cost.cpu) * 1000.0 / f64::from(u32::try_from(size).unwrap()),
        ratio(cost.wall, peer.wall),
        ratio(cost.cpu, peer.cpu),
    );
}

fn timed<T>(who: UsageWho, act: impl FnOnce() -> T) -> (T, Cost) {
    let cpu = used(who);
    let since = Instant::now();
    let made = act();
    (made, Cost { wall: since.elapsed(), cpu: used(who).saturating_sub(cpu) })
}
