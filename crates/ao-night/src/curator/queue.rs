//! The queue: one whole file a job, and no more than the cap lets in.

use std::path::{Path, PathBuf};

use ao_contract::{CuratorJob, Extra, JobKind, JobSource};
use jiff::Timestamp;

use super::error::{Error, Result};
use super::jobs::{self, DONE, ENDING, FAILED, PROCESSING, QUEUE, Since};
use super::transcript::CHUNK_BYTES_MAX;
use super::{Settings, Worker};

/// What is written into every job; a killed worker's job is taken again once.
pub(super) const MAX_RETRIES: u32 = 1;

/// A job that somebody wants.
#[derive(Debug, Clone)]
pub struct Enqueue {
    pub kind: JobKind,
    /// An absolute path.
    pub source: Option<PathBuf>,
    pub chunk_start: Option<u64>,
    pub chunk_end: Option<u64>,
    pub now: Timestamp,
    /// Random.
    pub chance: [u8; 4],
}

/// How many jobs there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    pub queued: u64,
    pub processing: u64,
    pub done: u64,
    pub failed: u64,
    pub within_hour: u64,
}

/// Puts one job into the queue, and gives it back with its path. With `Write::No` only tells.
pub fn enqueue(
    worker: &Worker,
    settings: &Settings,
    wanted: &Enqueue,
    write: Write,
) -> Result<(CuratorJob, PathBuf)> {
    let job = job(settings, wanted)?;
    // From the counting to the writing nobody else does either.
    let _lock = match write {
        Write::Yes => Some(worker.lock()?),
        Write::No => None,
    };
    let count = jobs::within_hour(worker, Since::Queued, wanted.now)?;
    let cap =
        u64::from(settings.hourly_cap) + u64::from(ao_mutant::active("CUR-04/one-past-the-cap"));
    if count >= cap {
        return Err(Error::OverCap { count, cap: settings.hourly_cap });
    }
    if jobs::is_taken(worker, &job.id) {
        return Err(Error::BadSource(format!("there is a job {} already", job.id)));
    }
    if write == Write::Yes {
        worker.sweep(QUEUE);
        jobs::write(worker, QUEUE, &job)?;
    }
    let path = worker.path(QUEUE).join(format!("{}{ENDING}", job.id));
    Ok((job, path))
}

/// Whether it is done, or only told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    Yes,
    No,
}

fn job(settings: &Settings, wanted: &Enqueue) -> Result<CuratorJob> {
    let kind = wanted.kind;
    if !settings.allowed.contains(&kind) && !ao_mutant::active("CUR-04/every-kind-is-allowed") {
        return Err(Error::NotAllowed(kind.name()));
    }
    let source = source(wanted)?;
    let [a, b, c, d] = wanted.chance;
    let now = wanted.now;
    Ok(CuratorJob {
        id: format!(
            "{}-{}-{a:02x}{b:02x}{c:02x}{d:02x}",
            now.strftime("%Y%m%dT%H%M%SZ"),
            kind.name()
        ),
        kind,
        created_at: at(now),
        max_retries: MAX_RETRIES,
        source,
        attempts: None,
        finished_at: None,
        outcome: None,
        extra: Extra::new(),
    })
}

/// RFC 3339, UTC, to the second.
pub(super) fn at(now: Timestamp) -> String {
    now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn source(wanted: &Enqueue) -> Result<Option<JobSource>> {
    let bad = |why: String| Err(Error::BadSource(why));
    let Some(path) = &wanted.source else {
        if wanted.chunk_start.or(wanted.chunk_end).is_some() {
            return bad("a part was named, and no source that it is a part of".to_owned());
        }
        return match wanted.kind {
            JobKind::IngestClaudeSession => {
                bad("a session is ingested from a file, and none was named".to_owned())
            }
            JobKind::LintWiki | JobKind::DreamSeed => Ok(None),
        };
    };
    if wanted.kind == JobKind::LintWiki {
        return bad("lint-wiki works on the whole vault folder and takes no source".to_owned());
    }
    let shown = ao_tree::shown(&path.to_string_lossy());
    let size = size(path).map_err(|why| Error::BadSource(format!("{shown}: {why}")))?;
    let Some(text) = path.to_str() else {
        return bad(format!("{shown}: a job cannot name a file whose name is not UTF-8"));
    };
    let (start, end) = (wanted.chunk_start.unwrap_or(0), wanted.chunk_end.unwrap_or(size));
    if start >= end {
        return bad(format!("the part from {start} to {end} holds nothing"));
    }
    if start >= size {
        return bad(format!("{shown}: the part begins at {start}, and the file has {size} bytes"));
    }
    if end - start > CHUNK_BYTES_MAX {
        return bad(format!(
            "the part from {start} to {end} is larger than {CHUNK_BYTES_MAX} bytes"
        ));
    }
    Ok(Some(JobSource {
        path: text.to_owned(),
        chunk_start: start,
        chunk_end: end,
        extra: Extra::new(),
    }))
}

fn size(path: &Path) -> std::result::Result<u64, String> {
    let found = std::fs::symlink_metadata(path).map_err(|error| error.to_string())?;
    if found.is_file() { Ok(found.len()) } else { Err("it is not a plain file".to_owned()) }
}

/// How many jobs lie where.
pub fn depth(worker: &Worker, now: Timestamp) -> Result<Depth> {
    let count = |folder: &str| worker.files(folder, ENDING).map(|listed| listed.names.len() as u64);
    Ok(Depth {
        queued: count(if ao_mutant::active("CUR-02/counts-what-is-done") { DONE } else { QUEUE })?,
        processing: count(PROCESSING)?,
        done: count(DONE)?,
        failed: count(FAILED)?,
        within_hour: jobs::within_hour(worker, Since::Queued, now)?,
    })
}
