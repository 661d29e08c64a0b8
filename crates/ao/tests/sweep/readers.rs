//! Readers that never stop, while one commit follows another.
//!
//! Each commit writes its number into some files of every subpath, so that what a reader saw
//! tells which commits it saw. Three kinds of reader, each with the promise that holds for it,
//! and `ao` itself as a fourth.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::tally::{Tally, is_full, say};
use crate::tree::Tree;
use crate::world::{Arena, Edit, World, corpus, edited_tree, shown, write};

const COMMITS_FULL: u64 = 100;
const COMMITS_SAMPLE: u64 = 12;
/// Reads that counted, of all kinds together.
const READS_MIN: usize = 20_000;
/// Readers come and go; ones that never let go of the lock would keep every commit out.
const BETWEEN_LOCKS: Duration = Duration::from_micros(300);

const DIRS: [&str; 4] = ["learnings", "findings", "patterns", "knowledge"];
/// In every directory; one of them a level deeper.
const NUMBERED: [&str; 3] = ["number.md", "z-number.md", "number/deep.md"];
const HELD_FILE: &str = "rpi/next-work.jsonl";

/// The edits of commit `number`.
fn numbered(number: u64) -> Vec<Edit> {
    let text = format!("{{\"number\":{number}}}\n");
    let paths =
        DIRS.iter().flat_map(|dir| NUMBERED.iter().map(move |name| format!("{dir}/{name}")));
    let mut edits: Vec<_> = paths.map(|path| write(&path, &text)).collect();
    edits.push(write(HELD_FILE, &text));
    edits
}

fn number_in(path: &Path) -> io::Result<u64> {
    let text = std::fs::read_to_string(path)?;
    let number = text.strip_prefix("{\"number\":").and_then(|rest| rest.strip_suffix("}\n"));
    number
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| io::Error::other(format!("{} is part-written: {text:?}", path.display())))
}

/// The numbers in a directory's files.
fn numbers_in_dir(dir: &Path) -> io::Result<BTreeSet<u64>> {
    NUMBERED.iter().map(|name| number_in(&dir.join(name))).collect()
}

/// The numbers in all five subpaths.
fn numbers(world: &World) -> io::Result<BTreeSet<u64>> {
    let mut numbers = BTreeSet::from([number_in(&world.agents(HELD_FILE))?]);
    for dir in DIRS {
        numbers.extend(numbers_in_dir(&world.agents(dir))?);
    }
    Ok(numbers)
}

/// What a reader made of one look: a number that counts, or nothing that was promised.
type Look = Result<Option<u64>, String>;

fn one(numbers: io::Result<BTreeSet<u64>>) -> Look {
    let numbers = numbers.map_err(|error| error.to_string())?;
    match numbers.first() {
        Some(number) if numbers.len() == 1 => Ok(Some(*number)),
        _ => Err(format!("several commits at once: {numbers:?}")),
    }
}

/// Opens one subpath and reads all of it through the open directory, which stays the tree's own: every file is
/// whole, and may be of either of two commits.
fn look_raw(world: &World, turn: u64) -> Look {
    let dir = DIRS[usize::try_from(turn % 4).unwrap()];
    let open = File::open(world.agents(dir)).map_err(|error| error.to_string())?;
    let found = numbers_in_dir(Path::new(&format!("/proc/self/fd/{}", open.as_raw_fd())));
    let found = found.map_err(|why| format!("{dir}: {why}"))?;
    Ok(found.first().copied())
}

/// Shares the lock and reads all five.
fn look_locked(world: &World, _turn: u64) -> Look {
    std::thread::sleep(BETWEEN_LOCKS);
    let lock = File::open(world.state("commit.lock")).map_err(|error| error.to_string())?;
    lock.lock_shared().map_err(|error| error.to_string())?;
    let found = one(numbers(world));
    lock.unlock().map_err(|error| error.to_string())?;
    found
}

/// Reads all five between two equal and even looks at the counter.
fn look_counted(world: &World, _turn: u64) -> Look {
    let generation = || std::fs::read_to_string(world.state("generation"));
    let before = generation().map_err(|error| error.to_string())?;
    let number: u64 = before.trim().parse().map_err(|_| format!("generation: {before:?}"))?;
    if number % 2 == 1 {
        return Ok(None);
    }
    let found = numbers(world);
    if generation().map_err(|error| error.to_string())? != before {
        return Ok(None);
    }
    one(found).map_err(|why| format!("generation {number}: {why}"))
}

/// Asks `ao` whether all is well, and what came last.
fn look_through_ao(world: &World, _turn: u64) -> Look {
    let output = world.run(&["tree", "verify"]);
    if output.status.success() {
        return Ok(Some(0));
    }
    Err(format!("`ao tree verify` during commits: {}", shown(&output)))
}

type Reader = (&'static str, fn(&World, u64) -> Look);
const READERS: [Reader; 4] = [
    ("raw", look_raw),
    ("locked", look_locked),
    ("counted", look_counted),
    ("through ao", look_through_ao),
];

// proves: LOOP-04
#[test]
fn readers_see_one_generation() {
    let arena = Arena::new();
    let world = arena.world(&start());
    let commits = if is_full() { COMMITS_FULL } else { COMMITS_SAMPLE };
    commit(&arena, &world, 1);
    let is_over = AtomicBool::new(false);
    let counts = [const { AtomicU64::new(0) }; READERS.len()];
    let bad = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        // Also when a commit panics: the readers must end.
        let _over = SetOnDrop(&is_over);
        for ((name, look), count) in READERS.iter().zip(&counts) {
            let (world, is_over, bad) = (&world, &is_over, &bad);
            scope.spawn(move || {
                let mut newest = 0;
                for turn in 0.. {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    let seen = look(world, turn);
                    count.fetch_add(u64::from(matches!(seen, Ok(Some(_)))), Ordering::Relaxed);
                    match seen {
                        // Never back in time, within what one reader looks at.
                        Ok(Some(number)) if *name != "raw" && number < newest => {
                            bad.lock().unwrap().push(format!("{name}: {number} after {newest}"));
                            break;
                        }
                        Ok(Some(number)) => newest = number,
                        Ok(None) => {}
                        Err(why) => {
                            bad.lock().unwrap().push(format!("{name}: {why}"));
                            break;
                        }
                    }
                }
            });
        }
        for number in 2..=commits {
            commit(&arena, &world, number);
        }
    });
    let mut tally = Tally::new("readers", "readers_see_one_generation", READS_MIN);
    for ((name, _), count) in READERS.iter().zip(&counts) {
        let count = count.load(Ordering::Relaxed);
        assert!(count > 0, "the reader `{name}` never had a look that counts");
        say(&format!("sweep: readers {name}: {count} reads over {commits} commits"));
        tally.add(usize::try_from(count).unwrap());
    }
    for why in bad.into_inner().unwrap() {
        tally.record(&"readers", Err(why));
    }
    tally.finish();
}

fn start() -> Tree {
    edited_tree(&corpus(), &numbered(0))
}

fn commit(arena: &Arena, world: &World, number: u64) {
    let file = arena.edits_file(&numbered(number));
    let id = format!("n{number}");
    world.must(&["tree", "apply", &file, "--id", &id]).unwrap();
}

/// Ends the threads of a scope, also when their starter panics.
pub(crate) struct SetOnDrop<'a>(pub(crate) &'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
