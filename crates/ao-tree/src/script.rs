//! What is left to do once a commit is decided, written down beside what is staged: recovery
//! reads it back and does the same as the commit would have done.

use std::collections::{BTreeMap, HashMap};

use ao_contract::{
    Author, Change, ChangeOp, Conflict, Extra, Fitness, HistoryLine, Manner, Marker, MarkerFormat,
    MarkerState, Method, Open, Record, SchemaVersion, Slot, SlotKind,
};
use serde::{Deserialize, Serialize};

use crate::apply::Request;
use crate::door::Door;
use crate::error::{Error, Result};
use crate::fs::Fs;
use crate::plan::Plan;
use crate::stage::SLOTS;

pub(crate) const SCRIPT: &str = "script.json";
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
    pub(crate) changes: Vec<Change>,
    /// Folders that this commit makes, and that the commits it takes back had made.
    pub(crate) folders: Vec<String>,
    pub(crate) drop_folders: Vec<String>,
    pub(crate) carried: Vec<String>,
    pub(crate) conflicts: Vec<Conflict>,
    pub(crate) slots: Vec<Slot>,
}

/// One changed file, and where its other side is: staged until it is brought in, displaced after that.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) index: usize,
    pub(crate) change: Change,
    /// The name in the slots of what was or will be in its place.
    pub(crate) name: String,
    /// Where it is staged instead, if it comes with a folder that is new.
    pub(crate) in_folder: Option<String>,
}

impl Item {
    pub(crate) fn path(&self) -> &str {
        &self.change.path
    }

    pub(crate) fn base(&self) -> Option<&str> {
        self.change.before.as_ref().map(|version| version.hash.as_str())
    }

    pub(crate) fn new(&self) -> Option<&str> {
        self.change.after.as_ref().map(|version| version.hash.as_str())
    }
}

impl Script {
    /// A script with no change in it yet.
    pub(crate) fn begin(request: &Request, plan: &Plan) -> Self {
        Self {
            id: request.id.clone(),
            at: request.at.clone(),
            why: request.why.clone(),
            undo_of: request.undo_of.clone(),
            by: request.by.map(Open::from),
            given: request.given.map(Open::from),
            fitness: None,
            changes: Vec::new(),
            folders: Vec::new(),
            drop_folders: request.drop_folders.clone(),
            carried: Vec::new(),
            conflicts: plan.clashes.iter().map(|clash| clash.conflict.clone()).collect(),
            slots: Vec::new(),
        }
    }

    /// The changes in the order in which they are made: additions, replacements, removals. So what one file
    /// takes over from another is at every moment in one of the two.
    pub(crate) fn items(&self) -> Vec<Item> {
        let folders: HashMap<&str, String> =
            self.folder_slots().map(|(name, path)| (path, name)).collect();
        let in_folder = |path: &str| {
            let mut ends = path.match_indices('/').map(|(at, _)| path.split_at(at));
            ends.find_map(|(above, rest)| Some(format!("{}{rest}", folders.get(above)?)))
        };
        let item = |(index, change): (usize, &Change)| Item {
            index,
            change: change.clone(),
            name: index.to_string(),
            in_folder: in_folder(&change.path),
        };
        let mut items: Vec<Item> = self.changes.iter().enumerate().map(item).collect();
        items.sort_by_key(|item| {
            let order = rank(item.change.op);
            if ao_mutant::active("LOOP-07/removals-come-first") { 2 - order } else { order }
        });
        items
    }

    /// The folders that are new as a whole, with their names in the slots.
    pub(crate) fn folder_slots(&self) -> impl Iterator<Item = (String, &str)> {
        let folders = self.slots.iter().filter(|slot| slot.kind == SlotKind::Dir);
        folders.enumerate().map(|(number, slot)| (folder_name(number), slot.path.as_str()))
    }

    /// Says what is brought in, in its order.
    pub(crate) fn fill_slots(&mut self, folders: Vec<String>) {
        let folder = |path| Slot { path, kind: SlotKind::Dir, base: None, new: None };
        self.slots = folders.into_iter().map(folder).collect();
        let file = |item: Item| Slot {
            kind: SlotKind::File,
            base: item.base().map(str::to_owned),
            new: item.new().map(str::to_owned),
            path: item.change.path,
        };
        let files: Vec<Slot> = self.items().into_iter().map(file).collect();
        self.slots.extend(files);
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
            changes: self.changes.clone(),
            folders: self.folders.clone(),
            carried: self.carried.clone(),
            conflicts: self.conflicts.clone(),
            extra: Extra::default(),
        }
    }

    pub(crate) fn marker_name(&self) -> String {
        format!("{MARKER_PREFIX}{}", self.id)
    }

    pub(crate) fn marker(&self, script: &[u8]) -> Result<Vec<u8>> {
        let mut marker = Marker {
            format: MarkerFormat::AoTree2,
            state: MarkerState::RollForward,
            iteration_id: self.id.clone(),
            started_at: self.at.clone(),
            slots: self.slots.clone(),
            plan_hash: blake3::hash(script).to_hex().to_string(),
            checksum: String::new(),
        };
        marker.checksum = blake3::hash(&to_json(&marker)?).to_hex().to_string();
        to_json(&marker)
    }
}

fn rank(op: ChangeOp) -> u8 {
    match op {
        ChangeOp::Add => 0,
        ChangeOp::Change => 1,
        ChangeOp::Delete => 2,
    }
}

fn folder_name(number: usize) -> String {
    format!("d{number}")
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
    /// Reads back what a marker decided, and where its slots are; the error is the doubt.
    pub(crate) fn load(
        &self,
        marker: &Marker,
        state: &F::Dir,
    ) -> Result<std::result::Result<(Script, F::Dir), String>> {
        let doing = || Error::io("open what the commit staged");
        let [staged, displaced] = crate::stage::slots_of(&marker.iteration_id);
        let slots = match self.open_from(state, &staged).map_err(doing())? {
            Some(slots) => Some(slots),
            // They go there when all is done but the marker.
            None => self.open_from(state, &displaced).map_err(doing())?,
        };
        let Some(slots) = slots else {
            return Ok(Err(format!("its staging has no {SLOTS}/")));
        };
        let Some(script) = self.read_state(&slots, SCRIPT)? else {
            return Ok(Err("its staging is incomplete".into()));
        };
        if blake3::hash(&script).to_hex().as_str() != marker.plan_hash {
            return Ok(Err(
                "its staging does not match: it was changed or belongs to another commit".into(),
            ));
        }
        match serde_json::from_slice::<Script>(&script) {
            Ok(script) if script.slots == marker.slots => Ok(Ok((script, slots))),
            _ => Ok(Err("its staged script cannot be read".into())),
        }
    }
}

/// The history's line for a record.
pub(crate) fn history_line(record: &Record) -> Result<HistoryLine> {
    let count =
        |op: ChangeOp| record.changes.iter().filter(|change| change.op == op).count() as u64;
    Ok(HistoryLine {
        schema_version: SchemaVersion,
        id: record.id.clone(),
        at: record.at.clone(),
        why: record.why.clone(),
        method: Method::FileByFile,
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
