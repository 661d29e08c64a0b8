//! Job files: read, counted, moved on. A job is in exactly one of the folders.

use std::path::Path;

use ao_contract::{CuratorJob, check_id};
use ao_tree::own_file;
use ao_vault::{out, redactor};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Worker;
use super::error::{Error, Result, io};

pub(super) const QUEUE: &str = "queue";
pub(super) const PROCESSING: &str = "processing";
pub(super) const DONE: &str = "done";
pub(super) const FAILED: &str = "failed";
pub(super) const ENDING: &str = ".json";
const JOB_BYTES_MAX: u64 = 64 * 1024;
const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// A job as it lies in a folder; the error says why the file is none.
pub(super) fn read(
    worker: &Worker,
    folder: &str,
    name: &str,
) -> std::result::Result<CuratorJob, String> {
    let bytes = own_file::read(&worker.path(folder).join(name), JOB_BYTES_MAX)
        .map_err(|error| error.to_string())?;
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let job: CuratorJob = ao_contract::read(&value).map_err(|error| error.to_string())?;
    // Names of drafts are made of it.
    check_id(&job.id).map_err(|error| error.to_string())?;
    if Some(job.id.as_str()) != name.strip_suffix(ENDING) {
        return Err("its id is not the name of its file".to_owned());
    }
    Ok(job)
}

pub(super) fn write(worker: &Worker, folder: &str, job: &CuratorJob) -> Result<()> {
    let path = worker.folder(folder)?.join(format!("{}{ENDING}", job.id));
    let doing = format!("write the job {}", job.id);
    let bytes = redactor()
        .json(job)
        .map_err(|error| Error::Io { doing: doing.clone(), source: error.into() })?;
    out::replace_file(&path, &bytes).map_err(io(doing))
}

pub(super) fn shift(worker: &Worker, name: &str, from: &str, to: &str) -> Result<()> {
    let to_folder = worker.folder(to)?;
    ao_tree::move_aside(&worker.path(from).join(name), &to_folder.join(name))
        .map_err(io(format!("move the job {} to {to}/", ao_tree::shown(name))))
}

/// Which moment of a job is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Since {
    Queued,
    Finished,
}

/// How many jobs were queued, or finished, within the hour before `now`. What lies in the future counts too:
/// a clock that was set back gives nobody more. So does a file in the queue that cannot be read.
pub(super) fn within_hour(worker: &Worker, since: Since, now: Timestamp) -> Result<u64> {
    let folders: &[&str] = match since {
        Since::Queued => &[QUEUE, PROCESSING, DONE, FAILED],
        Since::Finished => &[PROCESSING, DONE, FAILED],
    };
    let mut count = 0;
    for folder in folders {
        let is_open = matches!(*folder, QUEUE | PROCESSING);
        for name in worker.files(folder, ENDING)?.names {
            if since == Since::Queued && !is_open && is_old(&name, now) {
                continue;
            }
            let time = match (read(worker, folder, &name), since) {
                (Ok(job), Since::Queued) => Some(job.created_at),
                (Ok(job), Since::Finished) => match job.finished_at {
                    None => continue,
                    at => at,
                },
                (Err(_), Since::Queued) if is_open => None,
                (Err(_), _) => continue,
            };
            let time = time.and_then(|time| time.parse::<Timestamp>().ok());
            if time.is_none_or(|time| now.duration_since(time) < HOUR) {
                count += 1;
            }
        }
    }
    Ok(count)
}

/// Whether a job's name says that it was queued more than an hour ago. It saves reading all that was ever done.
fn is_old(name: &str, now: Timestamp) -> bool {
    let Some((time, _)) = name.split_once('-') else { return false };
    let time = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", time);
    let time = time.ok().and_then(|time| time.to_zoned(jiff::tz::TimeZone::UTC).ok());
    time.is_some_and(|time| now.duration_since(time.timestamp()) >= HOUR)
}

/// Whether a name is taken in any of the folders.
pub(super) fn is_taken(worker: &Worker, id: &str) -> bool {
    let name = format!("{id}{ENDING}");
    [QUEUE, PROCESSING, DONE, FAILED]
        .iter()
        .any(|folder| Path::new(&worker.path(folder)).join(&name).symlink_metadata().is_ok())
}
