//! The worker: takes jobs one at a time, from the queue through `processing/` to `done/` or `failed/`.
//!
//! Whoever has the right to work knows that what lies in `processing/` was left by one who was killed.
//! Such a job is taken again once. What became of a job is written into its file before it moves on, so a
//! kill in between does not work it twice.

use std::sync::atomic::{AtomicBool, Ordering};

use ao_contract::{CuratorJob, Extra, JobOutcome, JobStatus};
use ao_runner::Runner;
use ao_runner::wrap::Nonce;
use ao_vault::{Ansi, out, redactor};
use jiff::Timestamp;

use super::compact::ENTRIES;
use super::draft::DRAFTS;
use super::error::{Error, Result, io};
use super::jobs::{self, DONE, ENDING, FAILED, PROCESSING, QUEUE, Since};
use super::queue::{MAX_RETRIES, at};
use super::status::{self, Doing, Process};
use super::tasks::{self, Bench, Fault};
use super::{Settings, Worker};

/// Who is asked.
#[derive(Debug, Clone)]
pub enum Engine<'a> {
    Ready(&'a dyn Runner),
    /// Nobody, and why.
    None(String),
}

/// What the binary hands in.
#[expect(missing_debug_implementations, reason = "it holds functions")]
pub struct Hands<'a> {
    pub engine: Engine<'a>,
    pub now: &'a dyn Fn() -> Timestamp,
    /// For one question each.
    pub nonce: &'a dyn Fn() -> Option<Nonce>,
    /// Whoever sets it ends the work.
    pub stop: &'a AtomicBool,
    pub process: Process,
}

/// What became of the queue.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Worked {
    /// Done, or failed for good.
    pub ended: Vec<CuratorJob>,
    /// What a worker would take now; only of a dry run.
    pub would_take: Vec<String>,
    /// Tried, and put back into the queue; why.
    pub put_back: Vec<(String, String)>,
    /// Not taken; why.
    pub left: Vec<(String, String)>,
    /// Some were not taken for want of an engine.
    pub lacks_engine: bool,
    /// The hourly cap ended it.
    pub is_capped: bool,
    pub is_stopped: bool,
}

/// Works at most `max` jobs.
pub fn work(worker: &Worker, settings: &Settings, max: u32, hands: &Hands<'_>) -> Result<Worked> {
    let _right = worker.lock_for_work()?;
    if let Some(who) = status::other(worker, hands.process) {
        return Err(Error::AtWork(who));
    }
    for folder in [QUEUE, PROCESSING, DRAFTS, ENTRIES, "logs", "findings"] {
        worker.sweep(folder);
    }
    let mut shift = Shift { worker, settings, hands, worked: Worked::default(), has_told: false };
    let result = shift.recover().and_then(|()| shift.all(max));
    if shift.has_told {
        status::tell(worker, hands.process, Doing::Ended, (hands.now)())?;
    }
    result.map(|()| shift.worked)
}

/// What [`work`] would take. Nothing is written.
pub fn waiting(
    worker: &Worker,
    settings: &Settings,
    max: u32,
    hands: &Hands<'_>,
) -> Result<Worked> {
    let mut shift = Shift { worker, settings, hands, worked: Worked::default(), has_told: false };
    let finished = jobs::within_hour(worker, Since::Finished, (hands.now)())?;
    let room = u64::from(settings.hourly_cap).saturating_sub(finished);
    for folder in [PROCESSING, QUEUE] {
        for name in worker.files(folder, ENDING)?.names {
            let job = match jobs::read(worker, folder, &name) {
                Ok(job) => job,
                Err(why) => {
                    let why = format!("it is no job: {why}");
                    shift.worked.left.push((ao_tree::shown(&name), why));
                    continue;
                }
            };
            let is_over = folder == PROCESSING
                && (job.finished_at.is_some() || job.attempts.unwrap_or(0).max(1) > retries(&job));
            if is_over {
                continue;
            }
            if let Some(why) = shift.unfit(&job) {
                shift.worked.left.push((job.id, why));
                continue;
            }
            let count = shift.worked.would_take.len() as u64;
            if count >= room {
                shift.worked.is_capped = true;
            } else if count < u64::from(max) {
                shift.worked.would_take.push(job.id);
            }
        }
    }
    Ok(shift.worked)
}

struct Shift<'a> {
    worker: &'a Worker,
    settings: &'a Settings,
    hands: &'a Hands<'a>,
    worked: Worked,
    /// The status says that this process is at work.
    has_told: bool,
}

impl Shift<'_> {
    /// What a killed worker left: finished work moves on, other work goes back into the queue once.
    fn recover(&mut self) -> Result<()> {
        for name in self.worker.files(PROCESSING, ENDING)?.names {
            let mut job = match jobs::read(self.worker, PROCESSING, &name) {
                Ok(job) => job,
                Err(why) => {
                    self.set_aside(&name, PROCESSING, &why)?;
                    continue;
                }
            };
            if job.finished_at.is_some() {
                self.file(job)?;
                continue;
            }
            // It was taken; if that is not written down, the kill came right after.
            let attempts = job.attempts.unwrap_or(0).max(1);
            job.attempts = Some(attempts);
            if attempts > retries(&job) {
                self.end(job, failed(format!("its worker was killed, {attempts} times in all")))?;
                continue;
            }
            jobs::write(self.worker, PROCESSING, &job)?;
            self.shift(&name, PROCESSING, QUEUE)?;
        }
        Ok(())
    }

    fn all(&mut self, max: u32) -> Result<()> {
        let mut taken = 0;
        for name in self.worker.files(QUEUE, ENDING)?.names {
            if self.hands.stop.load(Ordering::Relaxed) {
                self.worked.is_stopped = true;
            }
            if taken >= max || self.worked.is_stopped {
                return Ok(());
            }
            let job = match jobs::read(self.worker, QUEUE, &name) {
                Ok(job) => job,
                Err(why) => {
                    self.set_aside(&name, QUEUE, &why)?;
                    continue;
                }
            };
            if let Some(why) = self.unfit(&job) {
                self.worked.left.push((job.id, why));
                continue;
            }
            let count = jobs::within_hour(self.worker, Since::Finished, (self.hands.now)())?;
            let is_over = count >= u64::from(self.settings.hourly_cap);
            if is_over && !ao_mutant::active("CUR-07/works-past-the-cap") {
                self.worked.is_capped = true;
                return Ok(());
            }
            taken += 1;
            self.one(job, &name)?;
        }
        Ok(())
    }

    /// Why a job is not taken now.
    fn unfit(&mut self, job: &CuratorJob) -> Option<String> {
        if !self.settings.allowed.contains(&job.kind) {
            return Some(Error::NotAllowed(job.kind.name()).to_string());
        }
        if job.kind.needs_engine()
            && let Engine::None(why) = &self.hands.engine
        {
            self.worked.lacks_engine = true;
            return Some(format!("it needs an engine: {why}"));
        }
        if job.kind.needs_engine() && self.worked.lacks_engine {
            return Some("it needs an engine, and that could not be asked".into());
        }
        tasks::is_fit(job, self.settings).err().map(|error| error.to_string())
    }

    fn one(&mut self, mut job: CuratorJob, name: &str) -> Result<()> {
        let before = job.attempts;
        self.shift(name, QUEUE, PROCESSING)?;
        job.attempts = Some(before.unwrap_or(0).saturating_add(1));
        jobs::write(self.worker, PROCESSING, &job)?;
        let now = (self.hands.now)();
        status::tell(self.worker, self.hands.process, Doing::Job(&job.id), now)?;
        self.has_told = true;
        let bench = Bench {
            worker: self.worker,
            settings: self.settings,
            engine: match &self.hands.engine {
                Engine::Ready(runner) => Some(*runner),
                Engine::None(_) => None,
            },
            nonce: self.hands.nonce,
            stop: self.hands.stop,
        };
        match bench.run(&job, now) {
            Ok(outcome) => self.end(job, outcome),
            Err(Fault::Job(why)) if job.attempts.unwrap_or(0) <= retries(&job) => {
                self.put_back(job, why)
            }
            Err(Fault::Job(why)) => self.end(job, failed(why)),
            Err(Fault::Away(why)) => {
                self.worked.lacks_engine = true;
                job.attempts = before;
                self.put_back(job, why)
            }
            Err(Fault::Stopped) => {
                self.worked.is_stopped = true;
                job.attempts = before;
                self.put_back(job, "it was stopped".into())
            }
        }
    }

    fn put_back(&mut self, job: CuratorJob, why: String) -> Result<()> {
        jobs::write(self.worker, PROCESSING, &job)?;
        self.shift(&format!("{}{ENDING}", job.id), PROCESSING, QUEUE)?;
        self.worked.put_back.push((job.id, why));
        Ok(())
    }

    fn end(&mut self, mut job: CuratorJob, outcome: JobOutcome) -> Result<()> {
        job.finished_at = Some(at((self.hands.now)()));
        job.outcome = Some(outcome);
        jobs::write(self.worker, PROCESSING, &job)?;
        self.file(job)
    }

    /// A finished job moves on, and leaves a log entry.
    fn file(&mut self, job: CuratorJob) -> Result<()> {
        let is_done = job.outcome.as_ref().is_some_and(|outcome| outcome.status == JobStatus::Done);
        // The entry comes first: its name is the job's, so it cannot be there twice.
        self.log(&job)?;
        self.shift(
            &format!("{}{ENDING}", job.id),
            PROCESSING,
            if is_done { DONE } else { FAILED },
        )?;
        self.worked.ended.push(job);
        Ok(())
    }

    fn log(&self, job: &CuratorJob) -> Result<()> {
        let folder = self.worker.folder(ENTRIES)?;
        let outcome = job.outcome.as_ref();
        let word = outcome.map_or("ended", |outcome| match outcome.status {
            JobStatus::Done => "done",
            JobStatus::Failed => "failed",
        });
        let mut text = format!("{} {} {word}", job.finished_at.as_deref().unwrap_or("-"), job.id);
        for said in outcome.into_iter().flat_map(|outcome| outcome.wrote.iter().chain(&outcome.why))
        {
            text.push(' ');
            text.push_str(&ao_tree::shown(said));
        }
        text.push('\n');
        let bytes = redactor().bytes(text.as_bytes(), Ansi::Strip);
        out::replace_file(&folder.join(format!("{}.txt", job.id)), &bytes)
            .map_err(io(format!("write {ENTRIES}/{}.txt", job.id)))
    }

    /// A file that is no job is nobody's to work on.
    fn set_aside(&mut self, name: &str, from: &str, why: &str) -> Result<()> {
        self.shift(name, from, FAILED)?;
        self.worked.left.push((ao_tree::shown(name), format!("it is no job: {why}")));
        Ok(())
    }

    /// Nobody counts the jobs while one is between two folders.
    fn shift(&self, name: &str, from: &str, to: &str) -> Result<()> {
        let _lock = self.worker.lock()?;
        jobs::shift(self.worker, name, from, to)
    }
}

/// How often a job is taken again: as often as it says, and once at most.
fn retries(job: &CuratorJob) -> u32 {
    job.max_retries.min(MAX_RETRIES)
}

fn failed(why: String) -> JobOutcome {
    let (status, wrote) = (JobStatus::Failed, Vec::new());
    JobOutcome { status, wrote, faults: None, why: Some(why), extra: Extra::new() }
}
