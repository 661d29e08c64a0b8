//! The account that the people of the corpus keep of what they wrote, and what must have become of it.
//!
//! They take turns, each with the account in hand, so that it knows who replaced whose words. `ao` is
//! not asked, and writes whenever it likes.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{Kind, Tree};
use crate::world::World;

use super::actors::{CITATIONS, QUEUE};
use super::history::{Commit, hash};
use super::words::marks_in;

/// What a person's remark is worth now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Written,
    /// A person wrote over it, or threw it away.
    Replaced,
}

/// A line that was appended to a file.
struct Line {
    path: &'static str,
    text: String,
}

#[derive(Default)]
pub(super) struct Account {
    next: u64,
    marks: BTreeMap<u64, (String, Fate)>,
    /// By the path beneath `.agents/`: the hash of every text that a person put there.
    versions: BTreeMap<String, BTreeSet<String>>,
    removed: BTreeSet<String>,
    lines: Vec<Line>,
}

impl Account {
    pub(super) fn new_mark(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Before it is written: from now on it may be found there.
    pub(super) fn may_write(&mut self, path: &str, text: &str) {
        self.versions.entry(path.to_owned()).or_default().insert(hash(text.as_bytes()));
    }

    /// It was written, and in time: it must be found from now on.
    pub(super) fn wrote(&mut self, path: &str, text: &str) {
        self.removed.remove(path);
        for mark in marks_in(text) {
            self.marks.insert(mark, (path.to_owned(), Fate::Written));
        }
    }

    /// These words of it are no longer wanted, or nobody can say whether they were there.
    pub(super) fn dropped(&mut self, old: &str, new: &str) {
        let stay = marks_in(new);
        for mark in marks_in(old).into_iter().filter(|mark| !stay.contains(mark)) {
            if let Some((_, fate)) = self.marks.get_mut(&mark) {
                *fate = Fate::Replaced;
            }
        }
    }

    pub(super) fn removed(&mut self, path: &str) {
        self.removed.insert(path.to_owned());
    }

    pub(super) fn is_removed(&self, path: &str) -> bool {
        self.removed.contains(path)
    }

    pub(super) fn appended(&mut self, path: &'static str, text: &str) {
        self.lines.push(Line { path, text: text.to_owned() });
    }

    /// Everything is there, whole, where a person finds it. Nobody writes meanwhile.
    pub(super) fn check(&self, world: &World, commits: &[Commit]) -> Result<Found, String> {
        let live = Tree::read(&world.agents(""), Some("overnight"));
        self.check_lines(&live)?;
        self.check_versions(&live, commits)?;
        self.check_marks(world, &live)
    }

    fn check_lines(&self, live: &Tree) -> Result<(), String> {
        let mut counts: BTreeMap<(&str, &[u8]), usize> = BTreeMap::new();
        for path in [QUEUE, CITATIONS] {
            for line in live.bytes(path).unwrap_or_default().split_inclusive(|byte| *byte == b'\n')
            {
                *counts.entry((path, line)).or_default() += 1;
            }
        }
        for line in &self.lines {
            let count = counts.get(&(line.path, line.text.as_bytes())).copied().unwrap_or(0);
            if count != 1 {
                return Err(format!("{count} times in {}: {}", line.path, line.text));
            }
        }
        Ok(())
    }

    /// No file is half one thing and half another, none came from nowhere, none went by itself.
    fn check_versions(&self, live: &Tree, commits: &[Commit]) -> Result<(), String> {
        let mut made: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut deleted = BTreeSet::new();
        for change in commits.iter().flat_map(|commit| &commit.changes) {
            match &change.after {
                Some(after) => drop(made.entry(&change.path).or_default().insert(after)),
                None => drop(deleted.insert(change.path.as_str())),
            }
        }
        for (path, node) in &live.0 {
            let Kind::File(bytes) = &node.kind else { continue };
            if !is_held(path) {
                continue;
            }
            let now = hash(bytes);
            let is_theirs = self.versions.get(path).is_some_and(|known| known.contains(&now));
            let is_ours = made.get(path.as_str()).is_some_and(|known| known.contains(now.as_str()));
            if !is_theirs && !is_ours {
                let text = String::from_utf8_lossy(bytes);
                return Err(format!("{path} holds what nobody wrote: {text:?}"));
            }
        }
        let is_gone = |path: &&String| live.bytes(path).is_none() && !self.is_removed(path);
        let mut lost = self.versions.keys().filter(is_gone);
        let lost = lost.find(|path| !path.ends_with(TEMPORARY) && !deleted.contains(path.as_str()));
        lost.map_or(Ok(()), |path| Err(format!("{path} is gone, and nobody deleted it")))
    }

    fn check_marks(&self, world: &World, live: &Tree) -> Result<Found, String> {
        let live = all_marks(live);
        let beside = |name: &str| {
            let dir = world.state(name);
            if dir.exists() { all_marks(&Tree::read(&dir, None)) } else { BTreeSet::new() }
        };
        let (conflicts, archive) = (beside("conflicts"), beside("archive"));
        let mut found = Found::default();
        for (mark, (path, fate)) in &self.marks {
            if *fate == Fate::Replaced {
                found.replaced += 1;
            } else if live.contains(mark) {
                found.live += 1;
            } else if conflicts.contains(mark) {
                found.conflicts += 1;
            } else if archive.contains(mark) {
                found.archived += 1;
            } else {
                return Err(format!("lost: mark {mark}, which was written to {path}"));
            }
        }
        found.lines = self.lines.len();
        Ok(found)
    }
}

/// Where the remarks of all people are now.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) live: usize,
    pub(super) conflicts: usize,
    pub(super) archived: usize,
    pub(super) replaced: usize,
    pub(super) lines: usize,
}

/// What editors put beside a file before they rename it.
pub(super) const TEMPORARY: &str = ".tmp";

/// Files that a commit may change, but for the queue, which is looked at line by line.
fn is_held(path: &str) -> bool {
    ["learnings/", "findings/", "patterns/", "knowledge/"].iter().any(|top| path.starts_with(top))
}

fn all_marks(tree: &Tree) -> BTreeSet<u64> {
    let texts = tree.0.values().filter_map(|node| match &node.kind {
        Kind::File(bytes) => Some(String::from_utf8_lossy(bytes)),
        _ => None,
    });
    texts.flat_map(|text| marks_in(&text)).collect()
}
