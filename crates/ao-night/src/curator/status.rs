//! Whether a worker lives, by its own word and the kernel's.

use std::path::Path;

use ao_contract::{CuratorWorker, Extra};
use ao_tree::own_file;
use ao_vault::{out, redactor};
use jiff::Timestamp;
use serde_json::Value;

use super::Worker;
use super::error::{Error, Result, io};
use super::queue::at;

const STATUS: &str = "logs/status.json";
const STATUS_BYTES_MAX: u64 = 1024 * 1024;
const WORKING: &str = "working";
const ENDED: &str = "ended";

/// This process, as the binary knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    pub id: u32,
    /// In the kernel's ticks.
    pub start: u64,
}

/// What is known of a worker.
#[derive(Debug, Clone, PartialEq)]
pub enum Pulse {
    /// Nobody wrote a status.
    None,
    /// The file is no status; why.
    Unreadable(String),
    /// It ended by itself.
    Ended(Value),
    Alive(Value),
    /// It says that it works, and there is no such process.
    Stale {
        pid: u32,
        status: Value,
    },
}

/// Looks at `logs/status.json`.
pub fn pulse(worker: &Worker) -> Pulse {
    let bytes = match own_file::read(&worker.path(STATUS), STATUS_BYTES_MAX) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Pulse::None,
        Err(error) => return Pulse::Unreadable(error.to_string()),
        Ok(bytes) => bytes,
    };
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => return Pulse::Unreadable(error.to_string()),
    };
    let status: CuratorWorker = match ao_contract::read(&value) {
        Ok(status) => status,
        Err(error) => return Pulse::Unreadable(error.to_string()),
    };
    if status.state.as_deref() == Some(ENDED) {
        return Pulse::Ended(value);
    }
    if is_alive(&status) {
        return Pulse::Alive(value);
    }
    Pulse::Stale { pid: status.pid, status: value }
}

/// Another worker that lives, in words.
pub(super) fn other(worker: &Worker, own: Process) -> Option<String> {
    let Pulse::Alive(status) = pulse(worker) else { return None };
    let pid = status["pid"].as_u64().filter(|pid| *pid != u64::from(own.id))?;
    Some(format!("process {pid}, as {STATUS} says"))
}

fn is_alive(status: &CuratorWorker) -> bool {
    let path = format!("/proc/{}/stat", status.pid);
    if !Path::new(&path).exists() {
        return false;
    }
    let start = status.process_start.filter(|_| !ao_mutant::active("CUR-03/stale-worker-lives"));
    let Some(start) = start else { return true };
    // The second field is a name in parentheses that may hold anything.
    let bytes = own_file::read(Path::new(&path), STATUS_BYTES_MAX).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let now = text.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(19));
    now.and_then(|now| now.parse::<u64>().ok()).is_none_or(|now| now == start)
}

/// What the worker does.
#[derive(Debug, Clone, Copy)]
pub(super) enum Doing<'a> {
    Job(&'a str),
    Ended,
}

/// Says so. What another worker wrote beside it is kept.
pub(super) fn tell(worker: &Worker, own: Process, doing: Doing<'_>, now: Timestamp) -> Result<()> {
    let before = own_file::read(&worker.path(STATUS), STATUS_BYTES_MAX).ok();
    let before: Option<CuratorWorker> = before
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .and_then(|value: Value| ao_contract::read(&value).ok());
    let (state, job) = match doing {
        Doing::Job(id) => (WORKING, Some(id.to_owned())),
        Doing::Ended => (ENDED, None),
    };
    let status = CuratorWorker {
        pid: own.id,
        process_start: Some(own.start),
        state: Some(state.to_owned()),
        job,
        updated_at: Some(at(now)),
        extra: before.map_or_else(Extra::new, |before| before.extra),
    };
    worker.folder("logs")?;
    let doing = format!("write {STATUS}");
    let bytes = redactor()
        .json(&status)
        .map_err(|error| Error::Io { doing: doing.clone(), source: error.into() })?;
    out::replace_file(&worker.path(STATUS), &bytes).map_err(io(doing))
}
