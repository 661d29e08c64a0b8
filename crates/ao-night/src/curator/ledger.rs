//! The two files of events: `events/pending.jsonl` and `events/ledger.jsonl`.
//!
//! Lines that are not ours to read stay as they are, byte for byte.

use std::io::ErrorKind;

use ao_contract::{CuratorEvent, EventLine, EventStep, Extra, SchemaVersion};
use ao_tree::own_file;
use ao_vault::{Ansi, out, redactor};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Worker;
use super::error::{Error, Result, io};

const FOLDER: &str = "events";
const PENDING: &str = "events/pending.jsonl";
const LEDGER: &str = "events/ledger.jsonl";
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Both files, read.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Each line as it stands; the event, if it is one.
    pending: Vec<(String, Option<CuratorEvent>)>,
    pub(super) ledger: Vec<EventLine>,
    /// Lines of either file that cannot be read.
    pub(super) unreadable: u64,
}

impl Events {
    pub(super) fn read(worker: &Worker) -> Result<Self> {
        let mut events = Self::default();
        for line in lines(worker, PENDING)? {
            let event = parsed(&line);
            events.unreadable += u64::from(event.is_none());
            events.pending.push((line, event));
        }
        for line in lines(worker, LEDGER)? {
            match parsed(&line) {
                Some(line) => events.ledger.push(line),
                None => events.unreadable += 1,
            }
        }
        Ok(events)
    }

    /// The events that wait: what the ledger calls closed was only not yet taken away.
    pub(super) fn open(&self) -> impl Iterator<Item = &CuratorEvent> {
        self.pending
            .iter()
            .filter_map(|(_, event)| event.as_ref())
            .filter(|event| !self.has(&event.id, EventStep::Closed))
    }

    pub(super) fn has(&self, id: &str, step: EventStep) -> bool {
        self.ledger.iter().any(|line| line.event == id && line.step == step)
    }

    /// How many calls an event has cost.
    pub(super) fn calls(&self, id: &str) -> u64 {
        let is_counted = !ao_mutant::active("CUR-09/calls-are-not-counted");
        let asked =
            |line: &&EventLine| line.event == id && line.step == EventStep::Asked && is_counted;
        self.ledger.iter().filter(asked).count() as u64
    }

    /// Finishes what a killed one left: a pending event has its line in the ledger, and a closed one is not
    /// pending.
    pub(super) fn mend(&mut self, worker: &Worker) -> Result<()> {
        let missing: Vec<EventLine> = self
            .pending
            .iter()
            .filter_map(|(_, event)| event.as_ref())
            .filter(|event| !self.has(&event.id, EventStep::Raised))
            .map(|event| line(event, EventStep::Raised, &event.source, &event.created_at))
            .collect();
        for line in missing {
            self.record(worker, line)?;
        }
        self.sweep(worker)
    }

    pub(super) fn add(&mut self, worker: &Worker, event: CuratorEvent) -> Result<()> {
        worker.folder(FOLDER)?;
        let raised = line(&event, EventStep::Raised, &event.source, &event.created_at);
        let written = append(worker, PENDING, &event)?;
        self.pending.push((written, Some(event)));
        if ao_mutant::active("CUR-06/ledger-has-no-line") {
            return Ok(());
        }
        self.record(worker, raised)
    }

    pub(super) fn record(&mut self, worker: &Worker, line: EventLine) -> Result<()> {
        worker.folder(FOLDER)?;
        append(worker, LEDGER, &line)?;
        self.ledger.push(line);
        Ok(())
    }

    /// Takes closed events out of the pending ones.
    pub(super) fn sweep(&mut self, worker: &Worker) -> Result<()> {
        let before = self.pending.len();
        let mut pending = std::mem::take(&mut self.pending);
        pending.retain(|(_, event)| {
            !event.as_ref().is_some_and(|event| self.has(&event.id, EventStep::Closed))
        });
        self.pending = pending;
        if self.pending.len() == before {
            return Ok(());
        }
        let mut text = String::new();
        for (line, _) in &self.pending {
            text.push_str(line);
            text.push('\n');
        }
        let bytes = redactor().bytes(text.as_bytes(), Ansi::Keep);
        out::replace_file(&worker.path(PENDING), &bytes).map_err(io(format!("write {PENDING}")))
    }
}

pub(super) fn line(event: &CuratorEvent, step: EventStep, by: &str, at: &str) -> EventLine {
    EventLine {
        schema_version: SchemaVersion,
        at: at.to_owned(),
        event: event.id.clone(),
        step,
        by: by.to_owned(),
        budget: event.budget,
        note: None,
        extra: Extra::new(),
    }
}

fn lines(worker: &Worker, name: &str) -> Result<Vec<String>> {
    let bytes = match own_file::read(&worker.path(name), FILE_BYTES_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        bytes => bytes.map_err(io(format!("read {name}")))?,
    };
    let text = String::from_utf8(bytes).map_err(|_| Error::Io {
        doing: format!("read {name}"),
        source: std::io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"),
    })?;
    let lines = text.split('\n').filter(|line| !line.trim().is_empty());
    Ok(lines.map(str::to_owned).collect())
}

fn parsed<T: DeserializeOwned>(line: &str) -> Option<T> {
    let value: Value = serde_json::from_str(line).ok()?;
    ao_contract::read(&value).ok()
}

/// Gives back the line as it stands in the file.
fn append(worker: &Worker, name: &str, value: &impl Serialize) -> Result<String> {
    let doing = || io(format!("write {name}"));
    let json = serde_json::to_value(value).map_err(|error| doing()(error.into()))?;
    // Each string by itself, and the whole on one line.
    let pretty = redactor().json(&json).map_err(|error| doing()(error.into()))?;
    let value: Value =
        serde_json::from_slice(pretty.get()).map_err(|error| doing()(error.into()))?;
    let line = redactor().text(&value.to_string(), Ansi::Keep);
    let path = worker.path(name);
    if path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return Err(doing()(std::io::Error::new(ErrorKind::InvalidInput, "not a plain file")));
    }
    out::append_line(&path, &line).map_err(doing())?;
    Ok(line.into_inner())
}
