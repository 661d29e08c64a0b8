//! Whether a report is true: of the files it names, of the commits, and of itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::World;

use super::history::{Commit, parsed};

/// Fitness is told to six digits, and a difference has the error of two.
const FITNESS_ERROR: f64 = 2e-6;
/// Statuses of iterations that mean that their commit is in the tree.
const COMMITTED: [&str; 2] = ["done", "halted-on-regression-post-commit"];

/// A report on disk.
pub(super) struct Report {
    pub(super) dir: PathBuf,
    pub(super) summary: Value,
}

impl Report {
    /// `None` where there is none, which is so when a run was killed before it wrote one.
    pub(super) fn read(dir: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(dir.join("summary.json")).ok()?;
        Some(Self { dir: dir.to_owned(), summary: parsed(&text) })
    }

    pub(super) fn run_id(&self) -> &str {
        self.summary["run_id"].as_str().unwrap()
    }

    pub(super) fn status(&self) -> &str {
        self.summary["status"].as_str().unwrap()
    }

    fn iterations(&self) -> &[Value] {
        self.summary["iterations"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Everything that must hold of the report of a run that is over. `is_gone` tells which files
    /// somebody threw away since.
    pub(super) fn check(
        &self,
        world: &World,
        commits: &[Commit],
        is_gone: &dyn Fn(&str) -> bool,
    ) -> Result<(), String> {
        let told = |why: String| format!("the report of {} says: {why}", self.run_id());
        self.check_schema(world).map_err(told)?;
        self.check_steps().map_err(told)?;
        self.check_files(world, is_gone).map_err(told)?;
        self.check_iterations(world, commits).map_err(told)?;
        self.check_fitness().map_err(told)
    }

    fn check_schema(&self, world: &World) -> Result<(), String> {
        let file = self.dir.join("summary.json");
        world.must(&["schema", "summary", "--check", file.to_str().unwrap()])?;
        for file in self.iteration_files(world) {
            world.must(&["schema", "iteration", "--check", file.to_str().unwrap()])?;
        }
        Ok(())
    }

    /// In the order of their numbers, which begin at 1.
    fn iteration_files(&self, world: &World) -> Vec<PathBuf> {
        let dir = world.state("latest").join(self.run_id()).join("iterations");
        let count = std::fs::read_dir(&dir).map_or(0, |found| found.flatten().count());
        (1..=count).map(|index| dir.join(format!("iter-{index}.json"))).collect()
    }

    fn check_steps(&self) -> Result<(), String> {
        for step in self.summary["steps"].as_array().unwrap() {
            let has_note = step["note"].as_str().is_some_and(|note| !note.is_empty());
            let is_true = match step["status"].as_str().unwrap() {
                "done" => true,
                "skipped" | "soft-fail" | "failed" => has_note,
                _ => false,
            };
            if !is_true {
                return Err(format!("step {step}"));
            }
        }
        let names = self.summary["steps"].as_array().unwrap().iter().map(|step| &step["name"]);
        let told = names.filter(|name| name.as_str().unwrap().starts_with("iteration-")).count();
        if told != self.iterations().len() {
            return Err(format!("{told} steps that are iterations"));
        }
        let is_failed = self.status() == "failed";
        if is_failed != self.summary["failure_reason"].is_string() {
            return Err(format!("failure_reason {}", self.summary["failure_reason"]));
        }
        Ok(())
    }

    fn check_files(&self, world: &World, is_gone: &dyn Fn(&str) -> bool) -> Result<(), String> {
        let summary = &self.summary;
        let mut named: Vec<String> = Vec::new();
        let mut name = |value: &Value| named.extend(value.as_str().map(str::to_owned));
        summary["artifacts"].as_object().unwrap().values().for_each(&mut name);
        summary["steps"].as_array().unwrap().iter().for_each(|step| name(&step["artifact"]));
        for key in ["log_path", "lock_path", "process_contract_doc", "report_contract_doc"] {
            name(&summary["runtime"][key]);
        }
        for packet in summary["morning_packets"].as_array().into_iter().flatten() {
            name(&packet["artifact_path"]);
            packet["target_files"].as_array().unwrap().iter().for_each(&mut name);
            packet["likely_tests"].as_array().unwrap().iter().for_each(&mut name);
            for evidence in packet["evidence"].as_array().unwrap() {
                let words = evidence.as_str().unwrap().split([' ', ',', ';', ':', '`', '(', ')']);
                let paths = words.filter(|word| word.starts_with(".agents/"));
                paths.for_each(|word| name(&word.trim_end_matches('.').into()));
            }
        }
        if named.is_empty() {
            return Err("nothing is named".into());
        }
        for path in named {
            let inner = path.strip_prefix(".agents/").unwrap_or(&path);
            if !world.root.join(&path).exists() && !is_gone(inner) {
                return Err(format!("it names {path}, which is not there"));
            }
        }
        Ok(())
    }

    /// The iterations are those on disk, and each tells the truth about its commit.
    fn check_iterations(&self, world: &World, commits: &[Commit]) -> Result<(), String> {
        let files = self.iteration_files(world);
        let on_disk: Vec<Value> =
            files.iter().map(|file| parsed(&std::fs::read_to_string(file).unwrap())).collect();
        if on_disk != self.iterations() {
            let count = self.iterations().len();
            return Err(format!("{count} iterations, and others are on disk: {on_disk:#?}"));
        }
        let prefix = format!("{}-iter-", self.run_id());
        let made: Vec<&Commit> =
            commits.iter().filter(|commit| commit.id.starts_with(&prefix)).collect();
        let mut told = BTreeSet::new();
        for iteration in self.iterations() {
            let commit = made.iter().find(|commit| iteration["commit"]["id"] == commit.id.as_str());
            check_iteration(iteration, commit.copied())?;
            told.extend(commit.map(|commit| commit.id.as_str()));
        }
        let untold = made.iter().find(|commit| !told.contains(commit.id.as_str()));
        untold.map_or(Ok(()), |commit| Err(format!("nothing of commit {}", commit.id)))
    }

    /// Last minus first, of every metric.
    fn check_fitness(&self) -> Result<(), String> {
        let is_measured =
            |one: &&Value| one["fitness_before"].as_object().is_some_and(|map| !map.is_empty());
        let measured: Vec<&Value> = self.iterations().iter().filter(is_measured).collect();
        let Some(first) = measured.first() else { return Ok(()) };
        if self.summary["fitness_delta"].is_null() {
            // A run that was cut off has no last.
            return if self.status() == "failed" { Ok(()) } else { Err("no fitness_delta".into()) };
        }
        // Of one whose record was lost the history still has what was measured after it.
        let is_last = |one: &&Value| {
            COMMITTED.contains(&one["status"].as_str().unwrap())
                && one["fitness_after"].as_object().is_some_and(|map| !map.is_empty())
        };
        let last = self.iterations().iter().rev().find(is_last);
        let last = last.map_or(&first["fitness_before"], |last| &last["fitness_after"]);
        for (metric, delta) in self.summary["fitness_delta"].as_object().unwrap() {
            let value = |map: &Value| map[metric].as_f64();
            let (Some(before), Some(after)) = (value(&first["fitness_before"]), value(last)) else {
                return Err(format!("a delta of {metric}, which was not measured twice"));
            };
            if (after - before - delta.as_f64().unwrap()).abs() > FITNESS_ERROR {
                return Err(format!("{metric} went from {before} to {after}, by {delta}"));
            }
        }
        Ok(())
    }
}

/// The truth table: which statuses go with a commit, and which with none.
fn check_iteration(iteration: &Value, commit: Option<&Commit>) -> Result<(), String> {
    let status = iteration["status"].as_str().unwrap();
    let told = &iteration["commit"];
    let is_told = told["id"].is_string();
    let wrong = |why: &str| Err(format!("{why}: {iteration:#}"));
    if is_told != commit.is_some() {
        return wrong("a commit that is not there, or none that is");
    }
    let edits = iteration["reduce"]["edits"].as_u64().unwrap_or(0);
    let may_be = match status {
        "done" => commit.is_some() || edits == 0,
        "degraded" => commit.is_some() == (iteration["committed"] == true),
        _ => commit.is_none(),
    };
    if !may_be {
        return wrong("its status does not fit its commit");
    }
    let needs_error =
        matches!(status, "failed" | "rolled-back-pre-commit" | "halted-on-regression-pre-commit");
    if needs_error && !iteration["error"].is_string() {
        return wrong("no reason");
    }
    let Some(commit) = commit else { return Ok(()) };
    for (told_as, op) in [("added", "add"), ("changed", "change"), ("deleted", "delete")] {
        if told[told_as] != commit.count(op) {
            return wrong(&format!("{told_as} is not {}", commit.count(op)));
        }
    }
    Ok(())
}
