//! The corpus in memory: every entry with its kind, its names and its day.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ao_contract::{Open, Severity};
use ao_tree::{Action, Edit, shown};
use jiff::civil::Date;

use crate::document::{Document, Form, day};
use crate::files::{File, Files, Left};
use crate::past::Past;

/// Folders whose entries can be found by a question.
pub const SEARCHED: [&str; 6] =
    ["learnings", "findings", "patterns", "knowledge", "research", "wiki"];

/// The intake ledger among the findings; never a finding itself.
const REGISTRY: &str = "findings/registry.jsonl";
/// Words by which people say that a finding is dealt with.
const CLOSED: [&str; 4] = ["resolved", "retired", "closed", "fixed"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Learning,
    Finding,
    Pattern,
    /// A learning that is not yet promoted.
    Pending,
    /// A learning that was promoted, as it was before.
    Processed,
    Knowledge,
    Research,
    Wiki,
}

impl Kind {
    /// By the path of a document; `None` for files that are no entries.
    pub fn of(path: &str) -> Option<Self> {
        if path == REGISTRY {
            return None;
        }
        let (folder, rest) = path.split_once('/')?;
        match (folder, Form::of(path)?) {
            ("learnings", _) => Some(Self::Learning),
            // Ledgers of other tools lie beside the documents elsewhere.
            (_, Form::JsonLine) => None,
            ("findings", _) => Some(Self::Finding),
            ("patterns", _) => Some(Self::Pattern),
            ("knowledge", _) if rest.starts_with("pending/") => Some(Self::Pending),
            ("knowledge", _) if rest.starts_with("processed/") => Some(Self::Processed),
            ("knowledge", _) => Some(Self::Knowledge),
            ("research", _) => Some(Self::Research),
            ("wiki", _) => Some(Self::Wiki),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Learning => "learning",
            Self::Finding => "finding",
            Self::Pattern => "pattern",
            Self::Pending => "pending",
            Self::Processed => "processed",
            Self::Knowledge => "knowledge",
            Self::Research => "research",
            Self::Wiki => "wiki",
        }
    }

    /// Whether a question may lead to it: a promoted one is found where it was promoted to.
    pub fn is_searched(self) -> bool {
        self != Self::Processed
    }
}

#[derive(Debug)]
pub struct Entry {
    /// From `.agents/`, with `/` between names.
    pub path: String,
    pub kind: Kind,
    pub document: Document,
}

impl Entry {
    /// Reads an entry; `None` for a file that is none, an error for one that cannot be read.
    pub fn parse(
        path: &str,
        bytes: impl FnOnce() -> Result<Vec<u8>, String>,
    ) -> Option<Result<Self, Left>> {
        let kind = Kind::of(path)?;
        let form = Form::of(path)?;
        let document = bytes().and_then(|bytes| Document::parse(form, bytes));
        Some(match document {
            Ok(document) => Ok(Self { path: path.to_owned(), kind, document }),
            Err(why) => Err(Left { path: shown(path), why }),
        })
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, name)| name)
    }

    /// The file's name without its ending.
    pub fn stem(&self) -> &str {
        self.name().rsplit_once('.').map_or(self.name(), |(stem, _)| stem)
    }

    /// The day it is from: as its header says, or else its name. Never the file's own time, which
    /// a clone sets anew.
    pub fn date(&self) -> Option<Date> {
        self.document.day("date").or_else(|| day(self.stem()))
    }

    /// Whether it is a finding that nobody dealt with yet.
    pub fn is_open_finding(&self) -> bool {
        let status = self.document.text("status").unwrap_or_default().to_lowercase();
        self.kind == Kind::Finding
            && !self.document.is_resolved()
            && !self.document.has("retired_by")
            && !CLOSED.contains(&status.as_str())
    }

    /// How bad it is to leave it; medium where it does not say.
    pub fn severity(&self) -> Severity {
        let word = self.document.text("severity").map(|word| word.to_lowercase());
        let severity: Option<Open<Severity>> =
            word.and_then(|word| serde_json::from_value(word.into()).ok());
        severity.unwrap_or_default().rank()
    }

    /// What it is called, for people.
    pub fn title(&self) -> String {
        self.document.title().map_or_else(|| self.stem().replace(['-', '_'], " "), Into::into)
    }
}

#[derive(Debug, Clone, Default)]
pub struct Corpus {
    /// In the order of their paths.
    pub entries: Vec<Arc<Entry>>,
    /// What is there and could not be read.
    pub left: Vec<Left>,
}

impl Corpus {
    /// Reads the entries beneath some folders of `.agents/`. Whoever wants one generation of them
    /// holds the readers' lock meanwhile.
    pub fn read(agents: &Path, folders: &[&str]) -> io::Result<Self> {
        Self::read_as(agents, folders, str::to_owned)
    }

    /// Reads any folder as if it were the learnings of a tree.
    pub fn read_learnings(above: &Path, folder: &str) -> io::Result<Self> {
        let rest = |path: &str| format!("learnings{}", path.strip_prefix(folder).unwrap_or(path));
        Self::read_as(above, &[folder], rest)
    }

    fn read_as(
        root: &Path,
        folders: &[&str],
        path_of: impl Fn(&str) -> String + Sync,
    ) -> io::Result<Self> {
        Ok(Self::of_files(&Files::list(root, folders)?, path_of))
    }

    /// As [`Corpus::read`], of the tree as it was.
    pub fn read_past(agents: &Path, folders: &[&str], past: &Past) -> io::Result<Self> {
        Ok(Self::of_files(&Files::list_past(agents, folders, past)?, str::to_owned))
    }

    fn of_files(files: &Files, path_of: impl Fn(&str) -> String + Sync) -> Self {
        let read = |file: &File| Entry::parse(&path_of(&file.path), || files.read(file));
        let mut corpus = Self { entries: Vec::new(), left: files.left.clone() };
        for entry in files.map(read).into_iter().flatten() {
            match entry {
                Ok(entry) => corpus.entries.push(Arc::new(entry)),
                Err(left) => corpus.left.push(left),
            }
        }
        corpus.note_doubts();
        corpus
    }

    fn note_doubts(&mut self) {
        for entry in &self.entries {
            if let Some(doubt) = entry.document.doubt() {
                let path = shown(&entry.path);
                self.left.push(Left { path, why: doubt.to_owned() });
            }
        }
        self.left.sort_unstable_by(|a, b| (&a.path, &a.why).cmp(&(&b.path, &b.why)));
    }

    /// The part of it beneath some folders.
    #[must_use]
    pub fn within(&self, folders: &[&str]) -> Self {
        let is_within = |path: &str| {
            let folder = path.split_once('/').map_or(path, |(folder, _)| folder);
            folders.contains(&folder)
        };
        let entries = self.entries.iter().filter(|entry| is_within(&entry.path));
        let left = self.left.iter().filter(|left| is_within(&left.path));
        Self { entries: entries.cloned().collect(), left: left.cloned().collect() }
    }

    pub fn get(&self, path: &str) -> Option<&Arc<Entry>> {
        let at = self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).ok()?;
        Some(&self.entries[at])
    }

    /// The newest day in the corpus that is no later than `latest`: one entry with a day of a time to come must not make
    /// all others old.
    pub fn newest_by(&self, latest: Option<Date>) -> Option<Date> {
        newest_of(self.entries.iter().filter_map(|entry| entry.date()), latest)
    }

    /// The corpus as it would be after these edits.
    #[must_use]
    pub fn after(&self, edits: &[Edit]) -> Self {
        let mut entries: BTreeMap<String, Arc<Entry>> =
            self.entries.iter().map(|entry| (entry.path.clone(), Arc::clone(entry))).collect();
        for edit in edits {
            entries.remove(&edit.path);
            if let Action::Write(bytes) = &edit.action
                && let Some(Ok(entry)) = Entry::parse(&edit.path, || Ok(bytes.clone()))
            {
                entries.insert(edit.path.clone(), Arc::new(entry));
            }
        }
        Self { entries: entries.into_values().collect(), left: self.left.clone() }
    }
}

/// The newest of some days that is no later than `latest`.
pub(crate) fn newest_of(days: impl Iterator<Item = Date>, latest: Option<Date>) -> Option<Date> {
    days.filter(|day| latest.is_none_or(|latest| *day <= latest)).max()
}

/// The last day that an entry can rightly have today: east of here it may be tomorrow.
pub fn latest_day(today: Date) -> Option<Date> {
    today.tomorrow().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        assert_eq!(Kind::of("learnings/a/b.md"), Some(Kind::Learning));
        assert_eq!(Kind::of("learnings/a.jsonl"), Some(Kind::Learning));
        assert_eq!(Kind::of("findings/registry.jsonl"), None);
        assert_eq!(Kind::of("knowledge/pending/a.md"), Some(Kind::Pending));
        assert_eq!(Kind::of("patterns/a.txt"), None);
        assert_eq!(Kind::of("plans/a.md"), None);
    }

    #[test]
    fn the_same_order_on_any_number_of_threads() {
        let items: Vec<usize> = (0..10_000).collect();
        assert_eq!(
            crate::files::in_parallel(&items, |item| item * 2),
            items.iter().map(|i| i * 2).collect::<Vec<_>>()
        );
    }
}
