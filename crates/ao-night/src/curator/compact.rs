//! Compaction: many small log entries become one file, and none is lost or doubled on the way.
//!
//! What is meant is written down first (`logs/compacting.json`), then the compacted file, then the entries
//! go, then the note. Whoever is killed leaves the note: if the compacted file is whole the next one goes on
//! taking entries away, and if it is not, nothing was taken away yet. The name of the file comes from what is in
//! it, so a dry run knows it.

use std::fmt::Write as _;

use ao_contract::{Compacting, CompactingEntry, Extra, SchemaVersion};
use ao_tree::own_file;
use ao_vault::{Ansi, Redacted, out, redactor};
use serde::Serialize;
use serde_json::Value;

use super::Worker;
use super::error::{Error, Result, io};

pub(super) const ENTRIES: &str = "logs/pending-log-entries";
const COMPACTED: &str = "logs/compacted";
const NOTE: &str = "logs/compacting.json";
const ENTRY_ENDING: &str = ".txt";
const ENTRY_BYTES_MAX: u64 = 1024 * 1024;
/// One compaction takes so many, the oldest names first; the rest is for the next.
const ENTRIES_MAX: usize = 10_000;
const BYTES_MAX: usize = 64 * 1024 * 1024;
const NOTE_BYTES_MAX: u64 = 16 * 1024 * 1024;
const HASH_SHOWN: usize = 16;

/// What compacting does, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Compaction {
    /// The compacted file, from the worker's directory; none if there is nothing to fold.
    pub compacted: Option<String>,
    /// The entries that it holds.
    pub entries: Vec<String>,
    /// The size of the compacted file.
    pub bytes: u64,
    /// The compacted file of one that was killed, if it is whole.
    pub finishes: Option<String>,
    /// Its entries that were still there.
    pub finished_entries: Vec<String>,
    /// Entries that stay, with the reason.
    pub left: Vec<(String, String)>,
}

/// Everything that is needed to do it.
struct Plan {
    told: Compaction,
    /// Of one that was killed.
    finished: Vec<CompactingEntry>,
    has_note: bool,
    next: Option<Next>,
}

struct Next {
    note: Compacting,
    bytes: Redacted<Vec<u8>>,
}

/// What [`compact`] would do now. Nothing is written.
pub fn preview(worker: &Worker) -> Result<Compaction> {
    Ok(plan(worker)?.told)
}

/// Folds the entries. They go only when the compacted file is durable.
pub fn compact(worker: &Worker) -> Result<Compaction> {
    let _lock = worker.lock()?;
    let plan = plan(worker)?;
    if plan.has_note {
        take_away(worker, &plan.finished)?;
        forget(worker)?;
    }
    let Some(Next { note, bytes }) = plan.next else { return Ok(plan.told) };
    let folder = worker.folder(COMPACTED)?;
    worker.sweep(COMPACTED);
    worker.sweep("logs");
    let doing = || io(format!("write {NOTE}"));
    let json = redactor().json(&note).map_err(|error| doing()(error.into()))?;
    out::replace_file(&worker.path(NOTE), &json).map_err(doing())?;
    if ao_mutant::active("CUR-05/entries-go-first") {
        take_away(worker, &note.entries)?;
    }
    let path = folder.join(&note.compacted);
    out::replace_file(&path, &bytes)
        .map_err(io(format!("write {COMPACTED}/{}", note.compacted)))?;
    take_away(worker, &note.entries)?;
    forget(worker)?;
    Ok(plan.told)
}

fn plan(worker: &Worker) -> Result<Plan> {
    let note = note(worker)?;
    let has_note = note.is_some();
    let whole = note.filter(|note| is_whole(worker, note));
    let mut told = Compaction::default();
    let mut finished = Vec::new();
    if let Some(note) = whole {
        told.finishes = Some(format!("{COMPACTED}/{}", note.compacted));
        finished = note.entries;
        finished.retain(|entry| is_there(worker, entry));
        told.finished_entries = finished.iter().map(|entry| entry.name.clone()).collect();
    }
    let mut text = Vec::new();
    let mut entries = Vec::new();
    let listed = worker.files(ENTRIES, ENTRY_ENDING)?;
    told.left
        .extend(listed.odd.into_iter().map(|name| (name, "it is not a plain file".to_owned())));
    for name in listed.names {
        if finished.iter().any(|entry| entry.name == name) {
            continue;
        }
        if entries.len() >= ENTRIES_MAX || text.len() >= BYTES_MAX {
            told.left.push((name, "it is left for the next time".to_owned()));
            continue;
        }
        match own_file::read(&worker.path(ENTRIES).join(&name), ENTRY_BYTES_MAX) {
            Ok(bytes) => {
                let hash = blake3::hash(&bytes).to_hex().to_string();
                fold(&mut text, &name, &bytes);
                entries.push(CompactingEntry { name, hash, extra: Extra::new() });
            }
            Err(error) => told.left.push((ao_tree::shown(&name), error.to_string())),
        }
    }
    if entries.is_empty() {
        return Ok(Plan { told, finished, has_note, next: None });
    }
    let bytes = redactor().bytes(&text, Ansi::Strip);
    let hash = blake3::hash(bytes.get()).to_hex().to_string();
    let compacted = format!("compacted-{}{ENTRY_ENDING}", &named(&entries)[..HASH_SHOWN]);
    told.compacted = Some(format!("{COMPACTED}/{compacted}"));
    told.entries = entries.iter().map(|entry| entry.name.clone()).collect();
    told.bytes = bytes.get().len() as u64;
    let note =
        Compacting { schema_version: SchemaVersion, compacted, hash, entries, extra: Extra::new() };
    Ok(Plan { told, finished, has_note, next: Some(Next { note, bytes }) })
}

/// One entry, under a line with its name and size.
fn fold(text: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    let mut head = String::new();
    let _ = writeln!(head, "=== {} ({} bytes)", ao_tree::shown(name), bytes.len());
    text.extend_from_slice(head.as_bytes());
    text.extend_from_slice(bytes);
    if bytes.last().is_some_and(|last| *last != b'\n') {
        text.push(b'\n');
    }
}

/// By names and contents: an entry of another time that says the same is another one.
fn named(entries: &[CompactingEntry]) -> String {
    let mut hasher = blake3::Hasher::new();
    for entry in entries {
        hasher.update(entry.name.as_bytes()).update(b"\n").update(entry.hash.as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

fn note(worker: &Worker) -> Result<Option<Compacting>> {
    let bytes = match own_file::read(&worker.path(NOTE), NOTE_BYTES_MAX) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        bytes => bytes.map_err(io(format!("read {NOTE}")))?,
    };
    let bad = |why: String| Error::Io {
        doing: format!("read {NOTE}"),
        source: std::io::Error::new(std::io::ErrorKind::InvalidData, why),
    };
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
    let note: Compacting = ao_contract::read(&value).map_err(|error| bad(error.to_string()))?;
    let is_name = |name: &str| !name.contains('/') && !name.starts_with('.');
    // They name files that go.
    if is_name(&note.compacted) && note.entries.iter().all(|entry| is_name(&entry.name)) {
        return Ok(Some(note));
    }
    Err(bad("it names files elsewhere".to_owned()))
}

fn is_whole(worker: &Worker, note: &Compacting) -> bool {
    let path = worker.path(COMPACTED).join(&note.compacted);
    let max = (BYTES_MAX as u64).saturating_mul(2);
    own_file::read(&path, max)
        .is_ok_and(|bytes| blake3::hash(&bytes).to_hex().as_str() == note.hash)
}

/// Whether an entry is still what was folded. One that somebody wrote anew under its name is not.
fn is_there(worker: &Worker, entry: &CompactingEntry) -> bool {
    let path = worker.path(ENTRIES).join(&entry.name);
    own_file::read(&path, ENTRY_BYTES_MAX)
        .is_ok_and(|bytes| blake3::hash(&bytes).to_hex().as_str() == entry.hash)
}

fn take_away(worker: &Worker, entries: &[CompactingEntry]) -> Result<()> {
    let names: Vec<String> = entries
        .iter()
        .filter(|entry| is_there(worker, entry))
        .map(|entry| entry.name.clone())
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    ao_tree::remove_all(&worker.path(ENTRIES), &names).map_err(io(format!("empty {ENTRIES}")))
}

fn forget(worker: &Worker) -> Result<()> {
    ao_tree::remove_all(&worker.path("logs"), &["compacting.json".to_owned()])
        .map_err(io(format!("remove {NOTE}")))
}
