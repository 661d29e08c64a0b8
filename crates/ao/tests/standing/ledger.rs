//! What people were told is written, and where it must be afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::history::{Commit, commits, hash};
use crate::tree::{Kind, Tree};
use crate::world::World;

/// Where `ao` keeps what it did not put into the tree.
const BESIDE: [&str; 5] = ["conflicts", "displaced", "undo", "archive", "quarantine"];
/// Under these keys of a record, a report or an answer stands what a person has to know.
const TOLD_UNDER: [&str; 6] = ["conflicts", "carried", "displaced", "waiting", "left", "kept"];
/// More examples of one failure say nothing more.
const SHOWN_MAX: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The whole content of a file.
    Is,
    /// One whole line at the end of a `.jsonl` or a log: it ends in the live file, once.
    Line,
    /// One line at the end of a text that `ao` edits too: live, or kept and reported.
    Note,
    /// A person deleted it.
    Gone,
}

/// One write that succeeded.
struct Ack {
    claim: Claim,
    path: String,
    text: String,
    at: Duration,
}

impl fmt::Display for Ack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { claim, path, text, at } = self;
        write!(f, "{claim:?} {path} at {at:?}: {:?}", text.chars().take(80).collect::<String>())
    }
}

pub(crate) struct Ledger {
    since: Instant,
    acks: Mutex<Vec<Ack>>,
    /// Writes that failed: a folder that nobody removes takes a file at every moment.
    refused: Mutex<Vec<String>>,
    /// All that `ao` answered.
    answers: Mutex<Vec<Value>>,
}

/// How many writes were found, and where.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) live: usize,
    pub(crate) beside: usize,
    /// A person's own later write took their place.
    pub(crate) replaced: usize,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self {
            since: Instant::now(),
            acks: Mutex::default(),
            refused: Mutex::default(),
            answers: Mutex::default(),
        }
    }

    /// To be called when the write has succeeded, and not before.
    pub(crate) fn acknowledge(&self, claim: Claim, path: &str, text: &str) {
        let (path, text) = (path.to_owned(), text.to_owned());
        self.acks.lock().unwrap().push(Ack { claim, path, text, at: self.since.elapsed() });
    }

    pub(crate) fn refused(&self, path: &str, why: &str) {
        self.refused
            .lock()
            .unwrap()
            .push(format!("refused: {path} at {:?}: {why}", self.since.elapsed()));
    }

    pub(crate) fn answered(&self, stdout: &[u8]) {
        if let Ok(answer) = serde_json::from_slice(stdout) {
            self.answers.lock().unwrap().push(answer);
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.acks.lock().unwrap().len()
    }

    /// Every acknowledged write is where it must be. Nobody writes meanwhile.
    pub(crate) fn check(&self, world: &World) -> Result<Found, String> {
        let acks = self.acks.lock().unwrap();
        let after = After::of(world, &self.answers.lock().unwrap());
        let mut last: BTreeMap<&str, &Ack> = BTreeMap::new();
        let mut found = Found::default();
        let mut bad = self.refused.lock().unwrap().clone();
        for ack in acks.iter() {
            match ack.claim {
                Claim::Is | Claim::Gone => {
                    let before = last.insert(&ack.path, ack);
                    found.replaced += usize::from(before.is_some());
                }
                Claim::Line => match after.lines(&ack.path, &ack.text) {
                    1 => found.live += 1,
                    0 => bad.push(format!("not live: {ack}")),
                    count => bad.push(format!("more than once: {ack}, {count} times")),
                },
                Claim::Note if after.lines(&ack.path, &ack.text) > 0 => found.live += 1,
                Claim::Note => after.beside(ack, &mut found, &mut bad),
            }
        }
        for ack in last.values() {
            let live = after.live.bytes(&ack.path);
            let holds = match ack.claim {
                Claim::Gone => live.is_none(),
                _ => live == Some(ack.text.as_bytes()),
            };
            if holds {
                found.live += 1;
            } else if ack.claim == Claim::Gone {
                if !after.is_told(&ack.path) && !after.is_edited(&ack.path) {
                    bad.push(format!("back, and not reported: {ack}"));
                }
            } else {
                after.beside(ack, &mut found, &mut bad);
            }
        }
        if bad.is_empty() {
            return Ok(found);
        }
        Err(format!(
            "{} of {} writes are not where they must be:{}",
            bad.len(),
            acks.len(),
            shown(&bad)
        ))
    }
}

/// A few of each kind, and how many there are.
fn shown(bad: &[String]) -> String {
    let kind = |why: &str| why.split(':').next().unwrap_or_default().to_owned();
    let mut kinds: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for why in bad {
        kinds.entry(kind(why)).or_default().push(why);
    }
    let mut text = String::new();
    for (kind, bad) in kinds {
        let _ = write!(text, "\n{} {kind}", bad.len());
        for why in bad.iter().take(SHOWN_MAX) {
            let _ = write!(text, "\n  {why}");
        }
    }
    text
}

/// The tree and all that is kept beside it, when everybody has gone home.
struct After {
    live: Tree,
    lines: BTreeMap<(String, String), usize>,
    kept: String,
    commits: Vec<Commit>,
    told: BTreeSet<String>,
}

impl After {
    fn of(world: &World, answers: &[Value]) -> Self {
        let live = Tree::read(&world.agents(""), Some("overnight"));
        let mut lines = BTreeMap::new();
        for (path, node) in &live.0 {
            let Kind::File(bytes) = &node.kind else { continue };
            for line in String::from_utf8_lossy(bytes).split_inclusive('\n') {
                *lines.entry((path.clone(), line.to_owned())).or_default() += 1;
            }
        }
        let (mut kept, mut told) = (String::new(), BTreeSet::new());
        for answer in answers {
            names_told(answer, false, &mut told);
        }
        let state = Tree::read(&world.state(""), None);
        for (path, node) in &state.0 {
            let Kind::File(bytes) = &node.kind else { continue };
            if BESIDE.iter().any(|name| path.starts_with(&format!("{name}/"))) {
                kept += &String::from_utf8_lossy(bytes);
            }
            if Path::new(path).extension().is_some_and(|kind| kind == "json")
                && let Ok(value) = serde_json::from_slice(bytes)
            {
                names_told(&value, false, &mut told);
            }
        }
        Self { live, lines, kept, commits: commits(world), told }
    }

    fn lines(&self, path: &str, line: &str) -> usize {
        self.lines.get(&(path.to_owned(), line.to_owned())).copied().unwrap_or(0)
    }

    /// Not live: only another version of the same file excuses that, and then it is kept beside
    /// and reported, or `ao` had read it and its history says what it made of it.
    fn beside(&self, ack: &Ack, found: &mut Found, bad: &mut Vec<String>) {
        let is_read = || {
            let old = hash(ack.text.as_bytes());
            let mut changes = self.commits.iter().flat_map(|commit| &commit.changes);
            changes.any(|change| change.path == ack.path && change.before.as_ref() == Some(&old))
        };
        if !self.is_edited(&ack.path) {
            bad.push(format!("not live, and no commit edits it: {ack}"));
        } else if !self.kept.contains(&ack.text) {
            bad.push(format!("nowhere: {ack}"));
        } else if !self.is_told(&ack.path) && !is_read() {
            bad.push(format!("kept beside, and not reported: {ack}"));
        } else {
            found.beside += 1;
        }
    }

    fn is_edited(&self, path: &str) -> bool {
        self.commits.iter().flat_map(|commit| &commit.changes).any(|change| change.path == path)
            || self.told.contains(path)
    }

    fn is_told(&self, path: &str) -> bool {
        self.told.contains(path)
    }
}

/// The paths that stand somewhere under a key of [`TOLD_UNDER`].
fn names_told(value: &Value, is_under: bool, told: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                names_told(value, is_under || TOLD_UNDER.contains(&key.as_str()), told);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names_told(item, is_under, told)),
        Value::String(text) if is_under => {
            told.insert(text.strip_prefix(".agents/").unwrap_or(text).to_owned());
        }
        _ => {}
    }
}
