//! The commits that nights made, as the history and the iterations' own records have them.

use std::collections::BTreeMap;
use std::path::Path;

use ao_contract::{Exit, HistoryLine, Iteration};
use ao_corpus::day;
use ao_tree::{Disk, Door, own_file, shown};
use jiff::civil::Date;
use serde_json::{Value, json};

use super::summary_file::SummaryFile;
use crate::commands::as_of::{begin_so, is_iteration, run_of};
use crate::config;
use crate::failure::Failure;
use crate::repo::Repo;

/// A larger file is no record of an iteration.
const RECORD_BYTES_MAX: u64 = 64 * 1024 * 1024;
const COMPOSITE: &str = "composite";

/// An iteration whose commit is in the history.
#[derive(Clone)]
pub(super) struct Night {
    pub(super) line: HistoryLine,
    /// Its own record, where the run's folder still has it.
    record: Option<Iteration>,
    /// The undo that took it back, if one did.
    pub(super) taken_back_by: Option<String>,
}

impl Night {
    fn new(line: HistoryLine, report_dir: Option<&Path>, gone: &BTreeMap<String, String>) -> Self {
        let record = report_dir.and_then(|dir| record(dir, &line.id));
        let taken_back_by = gone.get(&line.id).cloned();
        Self { line, record, taken_back_by }
    }

    pub(super) fn fitness_before(&self) -> Option<f64> {
        self.record.as_ref()?.fitness_before.get(COMPOSITE)
    }

    pub(super) fn fitness_after(&self) -> Option<f64> {
        let of_record = || self.record.as_ref()?.fitness_after.get(COMPOSITE);
        self.line.fitness.as_ref().and_then(|all| all.get(COMPOSITE)).or_else(of_record)
    }

    /// How many entries its stages merged, pruned or promoted.
    pub(super) fn reduced(&self, what: &str) -> Option<u64> {
        self.record.as_ref()?.reduce.get(what)?.as_u64()
    }

    pub(super) fn json(&self) -> Value {
        let line = &self.line;
        json!({
            "id": line.id,
            "run_id": run_of(&line.id),
            "at": line.at,
            "why": line.why,
            "added": line.added,
            "changed": line.changed,
            "deleted": line.deleted,
            "carried": line.carried,
            "conflicts": line.conflicts,
            "merged": self.reduced("deduped"),
            "pruned": self.reduced("pruned"),
            "promoted": self.reduced("promoted"),
            "compiled": self.reduced("compiled"),
            "fitness_before": self.fitness_before(),
            "fitness_after": self.fitness_after(),
            "taken_back_by": self.taken_back_by,
        })
    }

    /// Fitness before and after, for people.
    pub(super) fn fitness(&self) -> String {
        let number = |value: Option<f64>| value.map_or("?".into(), |value| format!("{value:.3}"));
        match (self.fitness_before(), self.fitness_after()) {
            (None, None) => "fitness not measured".into(),
            (before, after) => format!("fitness {} → {}", number(before), number(after)),
        }
    }
}

/// The iterations, oldest first.
pub(super) fn kept(repo: &Repo, door: &Door<Disk>) -> Result<Vec<Night>, Failure> {
    let history = door.history()?;
    let gone = taken_back(&history);
    let report_dir = config::report_dir(&repo.root).ok();
    let iterations = history.into_iter().filter(|line| is_iteration(&line.id));
    Ok(iterations.map(|line| Night::new(line, report_dir.as_deref(), &gone)).collect())
}

/// The commit of this id, the last or the first of this run, or the newest iteration that was not
/// taken back.
pub(super) fn find(
    repo: &Repo,
    door: &Door<Disk>,
    asked: Option<&str>,
    end: End,
) -> Result<Night, Failure> {
    let history = door.history()?;
    let gone = taken_back(&history);
    let Some(asked) = asked else {
        let is_kept = |line: &&HistoryLine| is_iteration(&line.id) && !gone.contains_key(&line.id);
        let line = history.iter().rfind(is_kept).cloned().ok_or_else(|| {
            Failure::new(Exit::Failed, "no iteration of a night is kept")
                .hint("`ao overnight start` makes one; `ao tree log` lists all commits")
        })?;
        return Ok(Night::new(line, config::report_dir(&repo.root).ok().as_deref(), &gone));
    };
    let is_asked = |line: &&HistoryLine| line.id == asked;
    let is_of_run = |line: &&HistoryLine| run_of(&line.id) == Some(asked);
    // A run first: a commit of the same second has the same name.
    let found = match end {
        End::First => history.iter().find(is_of_run),
        End::Last => history.iter().rfind(is_of_run),
    };
    let found = found.or_else(|| history.iter().find(is_asked));
    match found {
        Some(line) if run_of(&line.id).is_some() => {
            let report_dir = config::report_dir(&repo.root).ok();
            Ok(Night::new(line.clone(), report_dir.as_deref(), &gone))
        }
        Some(line) => Err(Failure::usage(format!("commit {} is not a night's", shown(&line.id)))
            .hint("`ao tree show`, `ao tree diff` and `ao tree undo` are for every commit")),
        None => Err(Failure::usage(format!("there is no iteration or run {}", shown(asked))).hint(
            reported(repo, asked)
                .or_else(|| begin_so(&history, asked))
                .unwrap_or_else(|| "`ao overnight log` lists the iterations".to_owned()),
        )),
    }
}

/// Of a run that has a report and no commit.
fn reported(repo: &Repo, asked: &str) -> Option<String> {
    let report_dir = config::report_dir(&repo.root).ok()?;
    let run = run_of(asked).unwrap_or(asked);
    let is_moved = ao_contract::check_id(run).is_ok() && report_dir.join(run).is_dir();
    let newest = SummaryFile::read(&report_dir).ok().map(|file| file.summary.run_id);
    (is_moved || newest.as_deref() == Some(run)).then(|| {
        "its report is there, but it left no commit here: it changed nothing, or another program made it; \
         there is nothing to show or to take back"
            .to_owned()
    })
}

/// Which commit of a run its id means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

/// What was taken back, and by which undo; an undo that was itself taken back does not count.
fn taken_back(history: &[HistoryLine]) -> BTreeMap<String, String> {
    let mut gone = BTreeMap::new();
    for line in history.iter().rev() {
        if gone.contains_key(&line.id) {
            continue;
        }
        for id in &line.undo_of {
            gone.entry(id.clone()).or_insert_with(|| line.id.clone());
        }
    }
    gone
}

/// The day that the iteration of a commit judged by: the run's own, or the commit's where its record is gone.
pub(super) fn day_of(repo: &Repo, line: &HistoryLine) -> Option<Date> {
    let report_dir = config::report_dir(&repo.root).ok();
    let record = report_dir.and_then(|dir| record(&dir, &line.id));
    let recorded = record.and_then(|record| record.day?.parse().ok());
    let recorded = recorded.filter(|_| !ao_mutant::active("RUN-44/explained-by-the-commit"));
    recorded.or_else(|| day(&line.at))
}

/// The record of the iteration that made a commit. One that cannot be read is as good as none: the
/// history has what counts.
fn record(report_dir: &Path, id: &str) -> Option<Iteration> {
    ao_contract::check_id(id).ok()?;
    let (run, number) = id.rsplit_once("-iter-")?;
    let number = number.split('-').next()?;
    let path = report_dir.join(run).join("iterations").join(format!("iter-{number}.json"));
    let bytes = own_file::read(&path, RECORD_BYTES_MAX).ok()?;
    let record: Iteration = serde_json::from_slice(&bytes).ok()?;
    let commit = record.extra.get("commit").and_then(|commit| commit["id"].as_str());
    (commit == Some(id)).then_some(record)
}
