//! The ledger of what was taken: citations, feedback, entries of other repositories, lessons
//! of transcripts.
//!
//! It lies in `knowledge/taken/`, among what one commit changes, so that whoever takes a commit
//! back takes this back too, and what was taken with it can be taken again. A file holds one month
//! of one source: a night touches the newest and leaves the others alone.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use ao_contract::{Taken, TakenFrom};
use ao_tree::{Edit, FILE_BYTES_MAX};

use crate::document::Form;
use crate::files::{File, Files};
use crate::logs::{CITATIONS, FEEDBACK, read_file};
use crate::past::Past;
use crate::propose::Group;

const FOLDER: &str = "knowledge/taken";

/// Why the ledger cannot be relied on.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Without it nothing may be taken: it might be taken twice.
    #[error("the ledger {path} {why}")]
    Unreadable { path: String, why: String },
    /// The same: what the line says was taken would be taken again.
    #[error(
        "the ledger {path}:{line} cannot be read: {why}; put the line right, or take it out to take what it tells of again"
    )]
    BadLine { path: String, line: usize, why: String },
}

#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// The entry that each went into.
    taken: HashMap<(TakenFrom, String), String>,
    /// The patterns that were compiled, in the order of the files.
    patterns: Vec<Taken>,
    /// The files as they are.
    files: BTreeMap<String, Vec<u8>>,
    fresh: BTreeMap<String, Vec<Taken>>,
}

impl Ledger {
    /// Whether a file is one of the ledger's.
    pub fn has(path: &str) -> bool {
        path.strip_prefix(FOLDER).is_some_and(|rest| rest.starts_with('/'))
    }

    pub fn read(agents: &Path) -> Result<Self, LedgerError> {
        let listed = Files::list(agents, &["knowledge"])?;
        Self::of(&listed, |file| read_file(agents, &file.path, FILE_BYTES_MAX))
    }

    /// As [`Ledger::read`], of the tree as it was.
    pub fn read_past(agents: &Path, past: &Past) -> Result<Self, LedgerError> {
        let listed = Files::list_past(agents, &["knowledge"], past)?;
        Self::of(&listed, |file| Ok(listed.read_up_to(file, FILE_BYTES_MAX).map(Some)))
    }

    fn of(
        listed: &Files,
        read: impl Fn(&File) -> io::Result<Result<Option<Vec<u8>>, String>>,
    ) -> Result<Self, LedgerError> {
        let is_ledger =
            |path: &str| path.starts_with(FOLDER) && Form::of(path) == Some(Form::JsonLine);
        let is_in_the_way = |path: &str| path == "knowledge" || path.starts_with(FOLDER);
        if let Some(left) = listed.left.iter().find(|left| is_in_the_way(&left.path)) {
            let (path, why) = (left.path.clone(), left.why.clone());
            return Err(LedgerError::Unreadable { path, why });
        }
        let mut ledger = Self::default();
        for file in listed.found.iter().filter(|file| is_ledger(&file.path)) {
            let path = file.path.clone();
            match read(file)? {
                Ok(bytes) => ledger.add_file(path, bytes.unwrap_or_default())?,
                Err(why) => return Err(LedgerError::Unreadable { path, why }),
            }
        }
        Ok(ledger)
    }

    fn add_file(&mut self, path: String, bytes: Vec<u8>) -> Result<(), LedgerError> {
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let bad = |error: serde_json::Error| LedgerError::BadLine {
                path: path.clone(),
                line: at + 1,
                // Where in the file it is, is said already.
                why: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
            };
            let taken: Taken = serde_json::from_slice(line).map_err(bad)?;
            if taken.from == TakenFrom::Patterns {
                self.patterns.push(taken.clone());
            }
            self.taken.insert((taken.from, taken.key), taken.entry);
        }
        self.files.insert(path, bytes);
        Ok(())
    }

    /// The entry that this went into, if it was taken.
    pub fn entry(&self, from: TakenFrom, key: &str) -> Option<&str> {
        let is_forgotten = match from {
            TakenFrom::Harvest => ao_mutant::active("LOOP-24/harvested-again"),
            TakenFrom::Transcripts => ao_mutant::active("LOOP-24/learned-again"),
            _ => false,
        };
        let taken = self.taken.get(&(from, key.to_owned())).filter(|_| !is_forgotten);
        taken.map(String::as_str)
    }

    /// The patterns that were compiled so far.
    pub(crate) fn patterns(&self) -> &[Taken] {
        &self.patterns
    }

    pub fn add(&mut self, taken: Taken) {
        let name = match taken.from {
            TakenFrom::Citations => "citations",
            TakenFrom::Feedback => "feedback",
            TakenFrom::Harvest => "harvest",
            TakenFrom::Patterns => "patterns",
            TakenFrom::Transcripts => "transcripts",
        };
        let month = taken.at.get(..7).filter(|month| is_month(month)).unwrap_or("undated");
        let path = format!("{FOLDER}/{name}-{month}.jsonl");
        self.taken.insert((taken.from, taken.key.clone()), taken.entry.clone());
        self.fresh.entry(path).or_default().push(taken);
    }

    /// The edits that write down what was added.
    pub(crate) fn edits(&self, group: Group<'_>) -> Vec<Edit> {
        let is_alone = ao_mutant::active("LOOP-06/ledger-is-made-alone");
        let group = if is_alone { Group("ledger") } else { group };
        let edit = |(path, fresh): (&String, &Vec<Taken>)| {
            let before = self.files.get(path);
            let mut bytes = before.cloned().unwrap_or_default();
            if bytes.last().is_some_and(|last| *last != b'\n') {
                bytes.push(b'\n');
            }
            for taken in fresh {
                let line = serde_json::to_string(taken).unwrap_or_default();
                bytes.extend_from_slice(line.as_bytes());
                bytes.push(b'\n');
            }
            let reason = format!("{} taken, and not to be taken again", fresh.len());
            let mut sources: Vec<&str> = fresh.iter().filter_map(source).collect();
            sources.sort_unstable();
            sources.dedup();
            match before {
                Some(before) => group.change(path, (before, &bytes), &reason, &sources),
                None => group.add(path, &bytes, &reason, &sources),
            }
        };
        self.fresh.iter().map(edit).collect()
    }
}

/// Where something was taken from, as a change names its sources.
fn source(taken: &Taken) -> Option<&str> {
    log_of(taken.from).or(taken.origin.as_deref())
}

/// The log that judgements were taken from.
pub(crate) fn log_of(from: TakenFrom) -> Option<&'static str> {
    match from {
        TakenFrom::Citations => Some(CITATIONS),
        TakenFrom::Feedback => Some(FEEDBACK),
        TakenFrom::Harvest | TakenFrom::Patterns | TakenFrom::Transcripts => None,
    }
}

fn is_month(text: &str) -> bool {
    let (year, month) = text.split_at(4);
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits(year) && month.starts_with('-') && is_digits(&month[1..])
}
