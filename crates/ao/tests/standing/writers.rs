//! The people and programs who write while `ao` commits: none of them opens a path afresh for
//! each write, or each in the way of its editor.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;

use crate::corpus::QUEUE;
use crate::dice::Dice;
use crate::editors::{in_place, renamed, vim};
use crate::ledger::{Claim, Ledger};
use crate::parcels::{archive, copies, synced};
use crate::world::{Arena, World};

/// Files that `ao` edits too, each with one person who saves it in one way.
pub(crate) const SHARED: [&str; 4] =
    ["patterns/vim.md", "knowledge/in-place.md", "knowledge/renamed.md", JOURNAL];
const JOURNAL: &str = "learnings/journal.md";
const LOG: &str = "learnings/agent.log";
/// People are no busy loops.
const PAUSE_MIN_MS: usize = 5;
const PAUSE_SPREAD_MS: usize = 25;
/// So much in one round: a slow machine makes it longer, and not the corpus larger.
const ACTS_MAX: usize = 25;
/// A standing shell or program begins anew after so many acts.
const ACTS_A_STAND: usize = 40;

/// All that the writers of one storm share.
pub(crate) struct Stage<'a> {
    pub(crate) arena: &'a Arena,
    pub(crate) world: &'a World,
    pub(crate) ledger: &'a Ledger,
    pub(crate) is_over: &'a AtomicBool,
    /// The number of the commit or night that is going on.
    pub(crate) round: &'a AtomicUsize,
    /// Held exclusively between the making of an edit and the moment at which `ao` has read the
    /// files that it names: nobody can be asked to notice what came before.
    pub(crate) hold: &'a RwLock<()>,
}

pub(crate) type Writer = fn(&Stage<'_>, &mut Turns<'_>);

pub(crate) const WRITERS: [Writer; 13] = [
    shell,
    descriptor,
    archive,
    copies,
    synced,
    vim,
    in_place,
    renamed,
    logger,
    halves,
    journal,
    comes_and_goes,
    reader,
];

/// When a writer may act again.
pub(crate) struct Turns<'a> {
    stage: &'a Stage<'a>,
    dice: Dice,
    number: usize,
    round: usize,
    acts: usize,
}

impl<'a> Turns<'a> {
    pub(crate) fn new(stage: &'a Stage<'a>, seed: u64) -> Self {
        Self { stage, dice: Dice::new(seed), number: 0, round: 0, acts: 0 }
    }

    /// The number of the next act; `None` when everybody goes home.
    pub(crate) fn next(&mut self) -> Option<usize> {
        loop {
            if self.stage.is_over.load(Ordering::SeqCst) {
                return None;
            }
            let pause = PAUSE_MIN_MS + self.dice.below(PAUSE_SPREAD_MS);
            std::thread::sleep(Duration::from_millis(u64::try_from(pause).unwrap()));
            let round = self.stage.round.load(Ordering::SeqCst);
            if round != self.round {
                (self.round, self.acts) = (round, 0);
            }
            if self.acts < ACTS_MAX {
                self.acts += 1;
                self.number += 1;
                return Some(self.number);
            }
        }
    }
}

pub(crate) fn text(who: &str, number: usize) -> String {
    format!("The {who} wrote page {number:06} of what it keeps to itself.\n")
}

pub(crate) fn line(who: &str, number: usize) -> String {
    format!("{{\"{who}\":{number}}}\n")
}

/// A shell whose working directory is a folder of the corpus.
fn shell(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    let mut bash = Bash::new(stage);
    while let Some(turn) = turns.next() {
        if turn % ACTS_A_STAND == 0 {
            bash = Bash::new(stage);
        }
        let (path, text) = (format!("learnings/sh-{turn}.md"), text("shell", turn));
        let told = bash.asked(&format!("printf '%s\\n' '{}' > sh-{turn}.md", text.trim_end()));
        outcome(stage, Claim::Is, &path, &text, told);
        let line = line("shell", turn);
        let _may = stage.hold.read().unwrap();
        let told = bash.asked(&format!("printf '%s\\n' '{}' >> ../{QUEUE}", line.trim_end()));
        outcome(stage, Claim::Line, QUEUE, &line, told);
    }
}

pub(crate) fn outcome(
    stage: &Stage<'_>,
    claim: Claim,
    path: &str,
    text: &str,
    result: Result<(), String>,
) {
    match result {
        Ok(()) => stage.ledger.acknowledge(claim, path, text),
        Err(why) => stage.ledger.refused(path, &why),
    }
}

struct Bash {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Bash {
    fn new(stage: &Stage<'_>) -> Self {
        let mut bash = Command::new("bash");
        bash.current_dir(stage.world.agents("learnings")).env("LC_ALL", "C");
        bash.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = bash.spawn().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    fn asked(&mut self, command: &str) -> Result<(), String> {
        let input = self.child.stdin.as_mut().unwrap();
        writeln!(input, "{command} && echo yes || echo no").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        if answer == "yes\n" { Ok(()) } else { Err(format!("`{command}` failed")) }
    }
}

impl Drop for Bash {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A program that holds two folders open, and opens its files from there.
fn descriptor(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    let stand = || ["findings", "rpi"].map(|name| File::open(stage.world.agents(name)).unwrap());
    let write = |folder: &File, name: &str, flags, text: &str| {
        let mode = Mode::from_bits_truncate(0o644);
        let file = openat(folder, name, flags | OFlag::O_WRONLY, mode).map_err(io::Error::from);
        file.and_then(|file| File::from(file).write_all(text.as_bytes()))
            .map_err(|error| error.to_string())
    };
    let [mut findings, mut rpi] = stand();
    while let Some(turn) = turns.next() {
        if turn % ACTS_A_STAND == 0 {
            [findings, rpi] = stand();
        }
        let (name, text) = (format!("at-{turn}.md"), text("descriptor", turn));
        let done = write(&findings, &name, OFlag::O_CREAT | OFlag::O_EXCL, &text);
        outcome(stage, Claim::Is, &format!("findings/{name}"), &text, done);
        let line = line("descriptor", turn);
        let _may = stage.hold.read().unwrap();
        let done = write(&rpi, "next-work.jsonl", OFlag::O_APPEND, &line);
        outcome(stage, Claim::Line, QUEUE, &line, done);
    }
}

fn appending(stage: &Stage<'_>, path: &str) -> File {
    File::options().append(true).create(true).open(stage.world.agents(path)).unwrap()
}

/// A logger that holds the queue and a log of its own open, from the beginning to the end.
fn logger(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    let mut files = [QUEUE, LOG].map(|path| (path, appending(stage, path)));
    while let Some(turn) = turns.next() {
        let _may = stage.hold.read().unwrap();
        for (path, file) in &mut files {
            if file.write_all(line("logger", turn).as_bytes()).is_ok() {
                stage.ledger.acknowledge(Claim::Line, path, &line("logger", turn));
            }
        }
    }
}

/// A logger whose lines come in two writes, with a pause between them, and who reopens the file
/// from time to time.
fn halves(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    const LINES_AN_OPENING: usize = 7;
    let mut file = appending(stage, "learnings/halves.jsonl");
    while let Some(turn) = turns.next() {
        if turn % LINES_AN_OPENING == 0 {
            file = appending(stage, "learnings/halves.jsonl");
        }
        let line = line("halves", turn);
        let (first, second) = line.split_at(line.len() / 2);
        if file.write_all(first.as_bytes()).is_err() {
            continue;
        }
        std::thread::sleep(Duration::from_millis(u64::try_from(turn % 40).unwrap()));
        if file.write_all(second.as_bytes()).is_ok() {
            stage.ledger.acknowledge(Claim::Line, "learnings/halves.jsonl", &line);
        }
    }
}

/// Somebody who reads all the while, by path: a page of `ao`'s is one whole page, and the folders
/// are the ones that they were.
fn reader(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    const FOLDERS: [&str; 5] = ["learnings", "findings", "patterns", "knowledge", "rpi"];
    let inodes = || {
        FOLDERS.map(|name| fs::metadata(stage.world.agents(name)).map_or(0, |found| found.ino()))
    };
    let before = inodes();
    while turns.next().is_some() {
        let now = inodes();
        if now != before {
            stage.ledger.refused("folders", &format!("inodes {before:?} became {now:?}"));
            return;
        }
        // Before the first commit there is none, and after its undo.
        let page = fs::read_to_string(stage.world.agents("findings/ours.md")).unwrap_or_default();
        let is_whole =
            page.is_empty() || page.starts_with("The night wrote") && page.ends_with("enough.\n");
        if !is_whole {
            stage.ledger.refused("findings/ours.md", &format!("it reads {page:?}"));
        }
    }
}

/// Notes at the end of a page that `ao` rewrites.
fn journal(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    let mut file = appending(stage, JOURNAL);
    while let Some(turn) = turns.next() {
        if turn % 5 == 0 {
            file = appending(stage, JOURNAL);
        }
        let _may = stage.hold.read().unwrap();
        if file.write_all(text("journal", turn).as_bytes()).is_ok() {
            stage.ledger.acknowledge(Claim::Note, JOURNAL, &text("journal", turn));
        }
    }
}

/// Files that come, move, and go, and folders with them.
fn comes_and_goes(stage: &Stage<'_>, turns: &mut Turns<'_>) {
    while let Some(turn) = turns.next() {
        let (a, b) = (format!("learnings/come-{turn}.md"), format!("findings/gone-{turn}/went.md"));
        let text = text("mover", turn);
        let agents = |path: &str| stage.world.agents(path);
        let done = fs::write(agents(&a), &text).map_err(|error| error.to_string());
        outcome(stage, Claim::Is, &a, &text, done);
        if turn % 3 == 0 {
            let moved = fs::create_dir(agents(&b).parent().unwrap())
                .and_then(|()| fs::rename(agents(&a), agents(&b)));
            if moved.is_ok() {
                stage.ledger.acknowledge(Claim::Gone, &a, "");
                stage.ledger.acknowledge(Claim::Is, &b, &text);
            }
        } else if turn % 3 == 1 && fs::remove_file(agents(&a)).is_ok() {
            stage.ledger.acknowledge(Claim::Gone, &a, "");
        }
    }
}
