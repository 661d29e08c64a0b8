//! What is left to do once a commit is decided, written down beside the staged tree: recovery
//! reads it back and does the same as the commit would have done.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use ao_contract::{
    Author, Change, Conflict, Extra, Fitness, HistoryLine, Manner, Marker, MarkerFormat,
    MarkerState, Method, Open, Record, SchemaVersion, Slot,
};
use serde::{Deserialize, Serialize};

use crate::apply::Request;
use crate::door::Door;
use crate::error::{Error, Result};
use crate::fs::{Fs, Stat};
use crate::plan::Plan;
use crate::snapshot::Folder;

pub(crate) const SCRIPT: &str = "script.json";
pub(crate) const BASE: &str = "base";
pub(crate) const MARKER_PREFIX: &str = "COMMIT-MARKER.";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Script {
    pub(crate) id: String,
    pub(crate) at: String,
    pub(crate) why: String,
    pub(crate) undo_of: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<Open<Author>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) given: Option<Open<Manner>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fitness: Option<Fitness>,
    pub(crate) method: Method,
    pub(crate) changes: Vec<Planned>,
    /// Folders that this commit makes, and that the commits it takes back had made.
    pub(crate) folders: Vec<String>,
    pub(crate) drop_folders: Vec<String>,
    pub(crate) carried: Vec<String>,
    pub(crate) conflicts: Vec<Conflict>,
    pub(crate) slots: Vec<Slot>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Planned {
    pub(crate) change: Change,
    /// The staged file, by which it is known wherever it is moved.
    pub(crate) inode: Option<u64>,
    /// The edits of one group stay together.
    #[serde(default)]
    pub(crate) group: Option<String>,
}

impl Script {
    /// A script with no change in it yet.
    pub(crate) fn begin(request: &Request, plan: &Plan, method: Method) -> Self {
        Self {
            id: request.id.clone(),
            at: request.at.clone(),
            why: request.why.clone(),
            undo_of: request.undo_of.clone(),
            by: request.by.map(Open::from),
            given: request.given.map(Open::from),
            fitness: None,
            method,
            changes: Vec::new(),
            folders: Vec::new(),
            drop_folders: request.drop_folders.clone(),
            carried: Vec::new(),
            conflicts: plan.clashes.iter().map(|clash| clash.conflict.clone()).collect(),
            slots: Vec::new(),
        }
    }

    pub(crate) fn record(&self) -> Record {
        Record {
            schema_version: SchemaVersion,
            id: self.id.clone(),
            at: self.at.clone(),
            why: self.why.clone(),
            undo_of: self.undo_of.clone(),
            by: self.by.clone(),
            given: self.given.clone(),
            fitness: self.fitness.clone(),
            changes: self.changes.iter().map(|planned| planned.change.clone()).collect(),
            folders: self.folders.clone(),
            carried: self.carried.clone(),
            conflicts: self.conflicts.clone(),
            extra: Extra::default(),
        }
    }
}

/// A file as the commit found it: enough to tell whether somebody wrote to it since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) inode: u64,
    size: u64,
    modified_ns: i128,
}

impl Known {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { inode: stat.inode, size: stat.size, modified_ns: stat.modified_ns }
    }

    /// The same file, and nobody wrote to it.
    pub(crate) fn is_still(&self, stat: &Stat) -> bool {
        *self == Self::of(stat)
    }
}

/// The files of a directory tree as the commit found them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) files: Vec<(OsString, Known)>,
    pub(crate) folders: Vec<(OsString, Base)>,
}

impl Base {
    pub(crate) fn of(folder: &Folder) -> Self {
        let files = folder.files.iter().map(|entry| (entry.name.clone(), Known::of(&entry.stat)));
        let folders = folder.folders.iter().map(|(name, inner)| (name.clone(), Base::of(inner)));
        Self { files: files.collect(), folders: folders.collect() }
    }

    pub(crate) fn file(&self, name: &OsStr) -> Option<Known> {
        let at = self.files.binary_search_by(|file| file.0.as_os_str().cmp(name)).ok()?;
        Some(self.files[at].1)
    }

    pub(crate) fn folder(&self, name: &OsStr) -> Option<&Base> {
        let at = self.folders.binary_search_by(|folder| folder.0.as_os_str().cmp(name)).ok()?;
        Some(&self.folders[at].1)
    }
}

/// One line an entry: `f INODE SIZE MODIFIED NAME`, `d NAME` into a folder, `u` out of it; a folder's files
/// before its folders. One tree a slot, each closed by its `u`.
pub(crate) fn write_bases(bases: &[Base]) -> Vec<u8> {
    let mut text = Vec::new();
    for base in bases {
        write_base(base, &mut text);
        text.extend_from_slice(b"u\n");
    }
    text
}

fn write_base(base: &Base, text: &mut Vec<u8>) {
    for (name, Known { inode, size, modified_ns }) in &base.files {
        text.extend_from_slice(format!("f {inode} {size} {modified_ns} ").as_bytes());
        write_name(name, text);
    }
    for (name, inner) in &base.folders {
        text.extend_from_slice(b"d ");
        write_name(name, text);
        write_base(inner, text);
        text.extend_from_slice(b"u\n");
    }
}

fn write_name(name: &OsStr, text: &mut Vec<u8>) {
    for &byte in name.as_bytes() {
        if matches!(byte, b'%' | b'\n') {
            text.extend_from_slice(format!("%{byte:02x}").as_bytes());
        } else {
            text.push(byte);
        }
    }
    text.push(b'\n');
}

pub(crate) fn read_bases(text: &[u8], count: usize) -> Option<Vec<Base>> {
    let mut lines = text.split(|byte| *byte == b'\n');
    (0..count).map(|_| read_base(&mut lines)).collect()
}

fn read_base<'a>(lines: &mut impl Iterator<Item = &'a [u8]>) -> Option<Base> {
    let mut base = Base::default();
    loop {
        match lines.next()? {
            b"u" => return Some(base),
            line if line.starts_with(b"d ") => {
                base.folders.push((read_name(&line[2..])?, read_base(lines)?));
            }
            line => {
                let mut fields = line.strip_prefix(b"f ")?.splitn(4, |byte| *byte == b' ');
                let known = Known {
                    inode: number(fields.next()?)?,
                    size: number(fields.next()?)?,
                    modified_ns: number(fields.next()?)?,
                };
                base.files.push((read_name(fields.next()?)?, known));
            }
        }
    }
}

fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn read_name(text: &[u8]) -> Option<OsString> {
    let mut name = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let hex = std::str::from_utf8(after.get(..2)?).ok()?;
            name.push(u8::from_str_radix(hex, 16).ok()?);
            rest = &after[2..];
        } else {
            name.push(byte);
            rest = after;
        }
    }
    Some(OsString::from_vec(name))
}

/// Where a decided commit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This process staged it, and saw the tree a moment ago.
    Staged,
    /// A run that is gone left it; who knows what was done to the tree since.
    Left,
}

/// A decided commit: what recovery needs, whether it was just staged or read back.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) origin: Origin,
    pub(crate) script: Script,
    /// One a slot; empty for a slot that is a file.
    pub(crate) bases: Vec<Base>,
}

impl Work {
    pub(crate) fn marker_name(&self) -> String {
        format!("{MARKER_PREFIX}{}", self.script.id)
    }

    /// The script and the bases as they are written.
    pub(crate) fn bytes(&self) -> Result<(Vec<u8>, Vec<u8>)> {
        Ok((to_json(&self.script)?, write_bases(&self.bases)))
    }

    pub(crate) fn marker(&self, script: &[u8], bases: &[u8]) -> Result<Vec<u8>> {
        let mut marker = Marker {
            format: MarkerFormat::AoTree1,
            state: MarkerState::RollForward,
            iteration_id: self.script.id.clone(),
            started_at: self.script.at.clone(),
            slots: self.script.slots.clone(),
            plan_hash: plan_hash(script, bases),
            checksum: String::new(),
        };
        marker.checksum = blake3::hash(&to_json(&marker)?).to_hex().to_string();
        to_json(&marker)
    }
}

fn plan_hash(script: &[u8], bases: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(script.len() as u64).to_le_bytes());
    hasher.update(script);
    hasher.update(bases);
    hasher.finalize().to_hex().to_string()
}

pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value)
        .map_err(|error| Error::Io { doing: "write JSON".into(), source: error.into() })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// A marker of ours that is whole; otherwise why it cannot be trusted.
pub(crate) fn read_marker(bytes: &[u8]) -> std::result::Result<Marker, String> {
    let mut marker: Marker = serde_json::from_slice(bytes)
        .map_err(|error| format!("it is not a marker of ao ({error})"))?;
    let stated = std::mem::take(&mut marker.checksum);
    let actual = to_json(&marker).map_err(|error| error.to_string())?;
    if blake3::hash(&actual).to_hex().as_str() != stated
        && !ao_mutant::active("LOOP-23/checksum-is-not-compared")
    {
        return Err("its checksum does not match: it was cut or edited".into());
    }
    marker.checksum = stated;
    Ok(marker)
}

impl<F: Fs> Door<F> {
    /// Reads back what a marker decided; the error is the doubt.
    pub(crate) fn load(
        &self,
        marker: &Marker,
        room: &F::Dir,
    ) -> Result<std::result::Result<Work, String>> {
        let (Some(script), Some(bases)) =
            (self.read_state(room, SCRIPT)?, self.read_state(room, BASE)?)
        else {
            return Ok(Err("its staging is incomplete".into()));
        };
        if plan_hash(&script, &bases) != marker.plan_hash {
            return Ok(Err(
                "its staging does not match: it was changed or belongs to another commit".into(),
            ));
        }
        let Ok(script) = serde_json::from_slice::<Script>(&script) else {
            return Ok(Err("its staged script cannot be read".into()));
        };
        let Some(bases) = read_bases(&bases, script.slots.len()) else {
            return Ok(Err("its staged base cannot be read".into()));
        };
        Ok(Ok(Work { origin: Origin::Left, script, bases }))
    }
}

/// The history's line for a record.
pub(crate) fn history_line(record: &Record, method: Method) -> Result<HistoryLine> {
    use ao_contract::ChangeOp;
    let count =
        |op: ChangeOp| record.changes.iter().filter(|change| change.op == op).count() as u64;
    Ok(HistoryLine {
        schema_version: SchemaVersion,
        id: record.id.clone(),
        at: record.at.clone(),
        why: record.why.clone(),
        method,
        added: count(ChangeOp::Add),
        changed: count(ChangeOp::Change),
        deleted: count(ChangeOp::Delete),
        carried: record.carried.len() as u64,
        conflicts: record.conflicts.len() as u64,
        stored_bytes: stored_bytes(record),
        undo_of: record.undo_of.clone(),
        by: record.by.clone(),
        given: record.given.clone(),
        fitness: record.fitness.clone(),
        record: format!("undo/{}/record.json", record.id),
        record_hash: blake3::hash(&to_json(record)?).to_hex().to_string(),
        extra: Extra::default(),
    })
}

/// Versions that are the same are stored once.
fn stored_bytes(record: &Record) -> u64 {
    let versions = record.changes.iter().filter_map(|change| change.before.as_ref());
    if ao_mutant::active("LOOP-18/same-bytes-count-twice") {
        return versions.map(|version| version.size).sum();
    }
    let sizes: BTreeMap<&str, u64> =
        versions.map(|version| (version.hash.as_str(), version.size)).collect();
    sizes.values().sum()
}
