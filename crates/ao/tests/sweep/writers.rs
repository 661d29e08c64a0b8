//! Others write all the time while one commit follows another: files are added, edited in place,
//! replaced, deleted and appended to, some of them files that `ao` edits too.
//!
//! Each writer remembers its own last acknowledged word on each file. In the end that word must
//! be in the tree, or, on a file that `ao` edits too, where a person finds it.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::check::check_quiet;
use crate::tally::{Tally, is_full, say};
use crate::tree::{Kind, Tree};
use crate::world::{Arena, Edit, RECOVER, World, corpus, delete, edited_tree, shown, write};

const COMMITS_FULL: usize = 100;
const COMMITS_SAMPLE: usize = 12;
const WRITES_MIN: usize = 5_000;
/// Between two writes of one writer: people and agents are not busy loops, and three comparisons
/// in a row that find an edited file changed would roll every commit back.
const BETWEEN_WRITES: Duration = Duration::from_millis(2);
const BETWEEN_SHARED_WRITES: Duration = Duration::from_millis(23);

/// What a writer wants to be true in the end.
enum Word {
    Is(&'static str, String),
    /// On a file that `ao` edits too: there, or kept where it can be found.
    IsOrKept(&'static str, String),
    Added(String, String),
    Gone(String),
    /// These lines, each once.
    Has(&'static str, Vec<String>),
    HasOrKept(&'static str, Vec<String>),
}

/// One writer: what it does in its turn, and what it claims of all that was acknowledged.
struct Writer {
    name: &'static str,
    pause: Duration,
    turn: fn(&World, usize) -> io::Result<()>,
    claim: fn(&[usize]) -> Vec<Word>,
}

const WRITERS: [Writer; 8] = [
    Writer {
        name: "adds files",
        pause: BETWEEN_WRITES,
        turn: |world, turn| {
            let file = File::create_new(world.agents(&added_name(turn)));
            file?.write_all(text(turn).as_bytes())
        },
        claim: |turns| {
            turns.iter().map(|turn| Word::Added(added_name(*turn), text(*turn))).collect()
        },
    },
    Writer {
        name: "adds and deletes files",
        pause: BETWEEN_WRITES,
        turn: |world, turn| {
            let path = world.agents(&deleted_name(turn));
            fs::write(&path, text(turn))?;
            std::thread::sleep(BETWEEN_WRITES);
            fs::remove_file(path)
        },
        claim: |turns| turns.iter().map(|turn| Word::Gone(deleted_name(*turn))).collect(),
    },
    Writer {
        name: "edits a file of its own in place",
        pause: BETWEEN_WRITES,
        turn: |world, turn| edit(world, "patterns/edited.md", turn),
        claim: |turns| last(turns, |turn| Word::Is("patterns/edited.md", text(turn))),
    },
    Writer {
        name: "replaces a file of its own",
        pause: BETWEEN_WRITES,
        turn: |world, turn| replace(world, "knowledge/replaced.md", turn),
        claim: |turns| last(turns, |turn| Word::Is("knowledge/replaced.md", text(turn))),
    },
    Writer {
        name: "edits a file of ao's in place",
        pause: BETWEEN_SHARED_WRITES,
        turn: |world, turn| edit(world, "patterns/shared.md", turn),
        claim: |turns| last(turns, |turn| Word::IsOrKept("patterns/shared.md", text(turn))),
    },
    Writer {
        name: "replaces a file of ao's",
        pause: BETWEEN_SHARED_WRITES,
        turn: |world, turn| replace(world, "knowledge/shared.md", turn),
        claim: |turns| last(turns, |turn| Word::IsOrKept("knowledge/shared.md", text(turn))),
    },
    Writer {
        name: "appends to a log",
        pause: BETWEEN_WRITES,
        turn: |world, turn| append(world, "learnings/log.jsonl", turn),
        claim: |turns| {
            vec![Word::Has("learnings/log.jsonl", turns.iter().map(|turn| line(*turn)).collect())]
        },
    },
    Writer {
        name: "appends to the queue of work, which ao rewrites",
        pause: BETWEEN_SHARED_WRITES,
        turn: |world, turn| append(world, "rpi/next-work.jsonl", turn),
        claim: |turns| {
            vec![Word::HasOrKept(
                "rpi/next-work.jsonl",
                turns.iter().map(|turn| line(*turn)).collect(),
            )]
        },
    },
];

fn added_name(turn: usize) -> String {
    format!("learnings/added-{turn}.md")
}

fn deleted_name(turn: usize) -> String {
    format!("findings/deleted-{turn}.md")
}

/// Always of one length, so that an edit in place leaves nothing of the one before.
fn text(turn: usize) -> String {
    format!("Theirs, {turn:08}.\n")
}

fn line(turn: usize) -> String {
    format!("{{\"theirs\":{turn}}}\n")
}

fn edit(world: &World, path: &str, turn: usize) -> io::Result<()> {
    let file = File::options().write(true).open(world.agents(path))?;
    file.write_all_at(text(turn).as_bytes(), 0)?;
    // What `ao` wrote there may have been longer.
    file.set_len(u64::try_from(text(turn).len()).unwrap())
}

fn replace(world: &World, path: &str, turn: usize) -> io::Result<()> {
    // Beside the file, as editors do: the temporary file may be carried over too.
    let fresh = world.agents(&format!("{path}.tmp"));
    fs::write(&fresh, text(turn))?;
    fs::rename(fresh, world.agents(path))
}

fn append(world: &World, path: &str, turn: usize) -> io::Result<()> {
    File::options().append(true).open(world.agents(path))?.write_all(line(turn).as_bytes())
}

fn last(turns: &[usize], word: impl Fn(usize) -> Word) -> Vec<Word> {
    turns.last().map(|turn| word(*turn)).into_iter().collect()
}

/// The edits of one commit: some files of its own, and the ones that others write too.
fn edits(world: &World, number: usize) -> Vec<Edit> {
    let ours = format!("Ours, commit {number}.\n");
    let mut edits = vec![
        write(&format!("learnings/ours-{number}.md"), &ours),
        write("findings/ours.md", &ours),
        write("patterns/shared.md", &ours),
        write("knowledge/shared.md", &ours),
    ];
    if number > 2 {
        edits.push(delete(&format!("learnings/ours-{}.md", number - 2)));
    }
    if number.is_multiple_of(3) {
        let queue = fs::read_to_string(world.agents("rpi/next-work.jsonl")).unwrap();
        edits.push(write("rpi/next-work.jsonl", &format!("{queue}{{\"ours\":{number}}}\n")));
    }
    edits
}

// proves: LOOP-07
#[test]
fn writers_lose_nothing() {
    let arena = Arena::new();
    let world = arena.world(&start());
    let commits = if is_full() { COMMITS_FULL } else { COMMITS_SAMPLE };
    let is_over = AtomicBool::new(false);
    let acknowledged = WRITERS.map(|_| Mutex::new(Vec::new()));
    let mut contended = 0;
    std::thread::scope(|scope| {
        let _over = crate::readers::SetOnDrop(&is_over);
        for (writer, acknowledged) in WRITERS.iter().zip(&acknowledged) {
            let (world, is_over) = (&world, &is_over);
            scope.spawn(move || work(writer, world, is_over, acknowledged));
        }
        for number in 1..=commits {
            contended += commit(&arena, &world, number);
        }
    });
    world.must(&RECOVER).unwrap();
    let mut tally = Tally::new("writers", "writers_lose_nothing", WRITES_MIN);
    say(&format!(
        "sweep: writers: {commits} commits, {contended} of them rolled back as contended"
    ));
    let found = Found::of(&world);
    for (writer, turns) in WRITERS.iter().zip(acknowledged) {
        let turns = turns.into_inner().unwrap();
        assert!(!turns.is_empty(), "the writer that {} never did", writer.name);
        tally.add(turns.len());
        for why in (writer.claim)(&turns).iter().filter_map(|word| found.missing(word)) {
            tally.record(&format!("writers: the one that {}", writer.name), Err(why));
        }
    }
    tally.record(&"writers: the state", check_quiet(&world));
    tally.finish();
}

fn start() -> Tree {
    let theirs = text(0);
    let names = [
        "patterns/edited.md",
        "patterns/shared.md",
        "knowledge/replaced.md",
        "knowledge/shared.md",
    ];
    edited_tree(&corpus(), &names.map(|name| write(name, &theirs)))
}

fn work(writer: &Writer, world: &World, is_over: &AtomicBool, acknowledged: &Mutex<Vec<usize>>) {
    for turn in 1.. {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        // A write that failed was promised nothing.
        if (writer.turn)(world, turn).is_ok() {
            acknowledged.lock().unwrap().push(turn);
        }
        std::thread::sleep(writer.pause);
    }
}

/// One when others kept changing what it edits, and it gave up as it must.
fn commit(arena: &Arena, world: &World, number: usize) -> usize {
    let file = arena.edits_file(&edits(world, number));
    let id = format!("n{number}");
    let output = world.run(&["tree", "apply", &file, "--id", &id]);
    match output.status.code() {
        Some(0) => 0,
        Some(75) => 1,
        _ => panic!("commit {number}: {}", shown(&output)),
    }
}

/// All that there is in the end.
struct Found {
    live: Tree,
    /// What `ao` keeps of what it replaced or could not place.
    kept: String,
}

impl Found {
    fn of(world: &World) -> Self {
        let mut kept = String::new();
        for dir in ["conflicts", "undo"] {
            if !world.state(dir).exists() {
                continue;
            }
            for node in Tree::read(&world.state(dir), None).0.values() {
                if let Kind::File(bytes) = &node.kind {
                    kept += &String::from_utf8_lossy(bytes);
                }
            }
        }
        Self { live: world.tree(), kept }
    }

    /// Why the word does not hold, if so.
    fn missing(&self, word: &Word) -> Option<String> {
        let live = |path: &str| {
            let bytes = self.live.bytes(&format!(".agents/{path}"));
            bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let is = |path: &str, text: &String| live(path).as_ref() == Some(text);
        match word {
            Word::Is(path, text) => {
                (!is(path, text)).then(|| format!("{path}: {:?}, not {text:?}", live(path)))
            }
            Word::Added(path, text) => {
                (!is(path, text)).then(|| format!("{path}: {:?}, not {text:?}", live(path)))
            }
            Word::IsOrKept(path, text) => (!is(path, text) && !self.kept.contains(text))
                .then(|| format!("{path}: {:?}, and {text:?} is kept nowhere", live(path))),
            Word::Gone(path) => {
                live(path).map(|text| format!("{path} was deleted, and is back: {text:?}"))
            }
            Word::Has(path, lines) => {
                lines_missing(path, &live(path).unwrap_or_default(), lines, "")
            }
            Word::HasOrKept(path, lines) => {
                lines_missing(path, &live(path).unwrap_or_default(), lines, &self.kept)
            }
        }
    }
}

fn lines_missing(path: &str, live: &str, lines: &[String], kept: &str) -> Option<String> {
    let bad: Vec<_> = lines
        .iter()
        .filter(|line| match live.matches(line.as_str()).count() {
            0 => !kept.contains(line.as_str()),
            count => count != 1,
        })
        .collect();
    (!bad.is_empty()).then(|| format!("{path}: lost or doubled: {bad:?}"))
}
