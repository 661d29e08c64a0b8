//! The corpus as it would be: the files of a tree, and entries that are to be written or to go.
//!
//! A tree that is listed keeps nothing in memory but names, hashes and what was changed. An entry is
//! read whenever it is asked for, so a corpus of half a million entries needs little more memory than
//! its names. Somebody may write between two readings: what a change is made against is what was read
//! first. Whoever has the corpus in memory anyway makes a tree of it, and nothing is read again.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use ao_tree::{Action, Edit, Seen};

use crate::corpus::{Corpus, Entry, Kind, SEARCHED};
use crate::files::Files;

#[derive(Debug, Clone)]
pub struct Tree {
    originals: Originals,
    /// What an entry is to become; `None` for one that is to go.
    changed: BTreeMap<String, Option<Arc<Entry>>>,
    /// Files that are not to be changed now, and why.
    fixed: Arc<BTreeMap<String, String>>,
}

/// The entries as they are.
#[derive(Debug, Clone)]
enum Originals {
    OnDisk {
        files: Arc<Files>,
        /// What each file was when it was first read.
        first: Arc<[OnceLock<blake3::Hash>]>,
    },
    InMemory(Arc<Corpus>),
}

impl Tree {
    /// Lists the entries beneath `.agents/`. Whoever wants one generation of them holds the
    /// readers' lock meanwhile.
    pub fn list(agents: &Path) -> io::Result<Self> {
        let mut files = Files::list(agents, &SEARCHED)?;
        files.found.retain(|file| Kind::of(&file.path).is_some());
        let first = files.found.iter().map(|_| OnceLock::new()).collect();
        Ok(Self::over(Originals::OnDisk { files: Arc::new(files), first }))
    }

    /// The entries of a corpus, which must have all of [`SEARCHED`].
    pub fn of(corpus: Arc<Corpus>) -> Self {
        Self::over(Originals::InMemory(corpus))
    }

    fn over(originals: Originals) -> Self {
        Self { originals, changed: BTreeMap::new(), fixed: Arc::default() }
    }

    /// Nothing is proposed for these files; each has a reason.
    #[must_use]
    pub fn with_fixed(mut self, fixed: BTreeMap<String, String>) -> Self {
        self.fixed = Arc::new(fixed);
        self
    }

    /// The files that are not to be changed now, and why.
    pub fn fixed(&self) -> &BTreeMap<String, String> {
        &self.fixed
    }

    /// The paths of all entries, in order.
    pub fn paths(&self) -> Vec<String> {
        let there: Vec<&String> = match &self.originals {
            Originals::OnDisk { files, .. } => files.found.iter().map(|file| &file.path).collect(),
            Originals::InMemory(corpus) => corpus.entries.iter().map(|one| &one.path).collect(),
        };
        if self.changed.is_empty() {
            return there.into_iter().cloned().collect();
        }
        let mut paths: BTreeSet<&String> = there.into_iter().collect();
        for (path, entry) in &self.changed {
            if entry.is_some() {
                paths.insert(path);
            } else {
                paths.remove(path);
            }
        }
        paths.into_iter().cloned().collect()
    }

    /// An entry as it would be.
    pub fn entry(&self, path: &str) -> Option<Arc<Entry>> {
        match self.changed.get(path) {
            Some(entry) => entry.clone(),
            None => self.original(path),
        }
    }

    /// All entries as they would be, where they are in memory anyway.
    pub fn in_memory(&self) -> Option<Vec<Arc<Entry>>> {
        let Originals::InMemory(corpus) = &self.originals else { return None };
        if self.changed.is_empty() {
            return Some(corpus.entries.clone());
        }
        Some(self.paths().iter().filter_map(|path| self.entry(path)).collect())
    }

    /// An entry as it is, without what is to change; `None` if it cannot be read.
    pub fn original(&self, path: &str) -> Option<Arc<Entry>> {
        let (files, first) = match &self.originals {
            Originals::InMemory(corpus) => return corpus.get(path).cloned(),
            Originals::OnDisk { files, first } => (files, first),
        };
        let at = position(files, path)?;
        let read = || {
            let bytes = files.read(&files.found[at])?;
            first[at].get_or_init(|| blake3::hash(&bytes));
            Ok(bytes)
        };
        Entry::parse(path, read)?.ok().map(Arc::new)
    }

    /// What a change of this file is made against: the door makes it only if that still stands
    /// there. Were the file read anew for this, what others wrote meanwhile would seem to be known.
    pub fn seen(&self, path: &str) -> Seen {
        match &self.originals {
            Originals::OnDisk { files, first } => {
                let first = position(files, path).and_then(|at| first[at].get());
                first.map_or(Seen::Nothing, |hash| Seen::Hash(hash.to_hex().to_string()))
            }
            Originals::InMemory(corpus) => {
                let entry = corpus.get(path);
                entry.map_or(Seen::Nothing, |entry| Seen::bytes(entry.document.bytes()))
            }
        }
    }

    pub fn write(&mut self, entry: Arc<Entry>) {
        self.changed.insert(entry.path.clone(), Some(entry));
    }

    /// Makes an edit if it is one of an entry.
    pub fn apply(&mut self, edit: &Edit) -> bool {
        match &edit.action {
            Action::Delete if self.entry(&edit.path).is_some() => self.delete(&edit.path),
            Action::Delete => return false,
            Action::Write(bytes) => match Entry::parse(&edit.path, || Ok(bytes.clone())) {
                Some(Ok(entry)) => self.write(Arc::new(entry)),
                _ => return false,
            },
        }
        true
    }

    pub fn delete(&mut self, path: &str) {
        self.changed.insert(path.to_owned(), None);
    }

    /// What is to become of an entry, if anything is.
    pub fn change(&self, path: &str) -> Option<Option<Arc<Entry>>> {
        self.changed.get(path).cloned()
    }

    /// The entries that differ from those of another state of this tree.
    pub fn differing(&self, other: &Self) -> Vec<String> {
        let is_same = |path: &&String| match (self.changed.get(*path), other.changed.get(*path)) {
            (Some(Some(one)), Some(Some(other))) => {
                Arc::ptr_eq(one, other) || one.document.bytes() == other.document.bytes()
            }
            (Some(None), Some(None)) => true,
            _ => false,
        };
        let either: BTreeSet<&String> = self.changed.keys().chain(other.changed.keys()).collect();
        either.into_iter().filter(|path| !is_same(path)).cloned().collect()
    }

    pub fn changes(&self) -> impl Iterator<Item = (&String, &Option<Arc<Entry>>)> {
        self.changed.iter()
    }
}

fn position(files: &Files, path: &str) -> Option<usize> {
    files.found.binary_search_by(|file| file.path.as_str().cmp(path)).ok()
}
