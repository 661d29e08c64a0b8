//! One night: what is planted, who is at work, how it ends, what comes next, and what must hold.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use nix::fcntl::{Flock, FlockArg};

use crate::readers::SetOnDrop;
use crate::tree::Tree;
use crate::world::{RECOVER, World, shown};

use super::Corpus;
use super::actors::{ACTORS, QUEUE, Stage, plant, work_on};
use super::cut::check_steps;
use super::dice::Dice;
use super::history::{Commit, commits, difference, parsed, replayed};
use super::plan::{End, Next, Others, Plan};
use super::run::{Ended, start};
use super::seen::Seen;
use super::truth::Report;

pub(super) struct Case<'a> {
    world: &'a World,
    corpus: &'a Corpus,
    plan: &'a Plan,
    /// Runs of earlier nights.
    known: BTreeSet<String>,
    /// The runs of this one, and whether each had its end by itself.
    runs: BTreeMap<String, Life>,
    before: Tree,
    commits_before: usize,
    seen: Seen,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Whole,
    Cut,
}

impl<'a> Case<'a> {
    /// Plants what the night will find.
    pub(super) fn new(corpus: &'a Corpus, plan: &'a Plan) -> Self {
        let world = &corpus.world;
        let mut dice = Dice::new(plan.seed.rotate_left(1));
        plant(world, &mut corpus.account.lock().unwrap(), &mut dice);
        let mut known: BTreeSet<String> = std::fs::read_dir(world.state("latest"))
            .map(|found| {
                found.flatten().map(|entry| entry.file_name().into_string().unwrap()).collect()
            })
            .unwrap_or_default();
        known.extend(newest(world).map(|report| report.run_id().to_owned()));
        Self {
            world,
            corpus,
            plan,
            known,
            runs: BTreeMap::new(),
            before: Tree::read(&world.agents(""), Some("overnight")),
            commits_before: commits(world).len(),
            seen: Seen::default(),
        }
    }

    pub(super) fn run(mut self) -> Result<Seen, String> {
        let is_over = AtomicBool::new(false);
        let acts = AtomicUsize::new(0);
        let complaints = Mutex::new(Vec::new());
        let (corpus, plan) = (self.corpus, self.plan);
        let stage = Stage {
            world: self.world,
            account: &corpus.account,
            is_over: &is_over,
            acts: &acts,
            complaints: &complaints,
        };
        let done = std::thread::scope(|scope| {
            let _over = SetOnDrop(&is_over);
            if plan.others == Others::AtWork {
                for (number, actor) in (1..).zip(ACTORS) {
                    let stage = &stage;
                    scope.spawn(move || work_on(stage, actor, plan.seed.rotate_left(number * 7)));
                }
            }
            self.starts()
        });
        done?;
        self.seen.acts = acts.into_inner();
        let complaints = complaints.into_inner().unwrap();
        if let Some(complaint) = complaints.first() {
            return Err(format!("{} readers complain: {complaint}", complaints.len()));
        }
        self.check_end()?;
        Ok(self.seen)
    }

    /// The night, and after one that was ended, the next start.
    fn starts(&mut self) -> Result<(), String> {
        let plan = self.plan;
        if self.start(&plan.args, plan.end)? == Life::Whole && !matches!(plan.end, End::Asked(_)) {
            return Ok(());
        }
        if plan.next == Next::Recover {
            self.world.must(&RECOVER)?;
            self.world.must(&["tree", "verify"])?;
        }
        let mut args = vec!["overnight", "start"];
        if plan.next == Next::Resume && self.can_resume() {
            args.push("--resume");
            self.seen.resumed += 1;
        }
        if self.start(&args, plan.next_end)? == Life::Cut {
            self.start(&["overnight", "start"], End::Itself)?;
        }
        Ok(())
    }

    fn can_resume(&self) -> bool {
        newest(self.world).is_some_and(|report| {
            self.runs.contains_key(report.run_id())
                && ["planned", "failed"].contains(&report.status())
        })
    }

    /// One start, and what must hold as soon as it is over.
    fn start(&mut self, args: &[&str], end: End) -> Result<Life, String> {
        let ended = start(self.world, args, end, self.corpus.usual)?;
        self.seen.starts += 1;
        self.seen.took = ended.took;
        let life = if ended.output.status.signal().is_some() {
            self.seen.cut += 1;
            self.check_cut()?;
            Life::Cut
        } else {
            self.check_whole(&ended).map_err(|why| format!("{why}\n{}", shown(&ended.output)))?;
            Life::Whole
        };
        Ok(life)
    }

    /// The report of a run that was killed: it has none, or it is shown as failed, or the run was
    /// over already and only its process was not.
    fn check_cut(&mut self) -> Result<(), String> {
        let Some(report) =
            newest(self.world).filter(|report| !self.known.contains(report.run_id()))
        else {
            return Ok(());
        };
        if report.status() != "planned" {
            self.runs.insert(report.run_id().to_owned(), Life::Whole);
            return self.check_report(&report);
        }
        self.runs.insert(report.run_id().to_owned(), Life::Cut);
        let output = self.world.must(&["overnight", "report", "--format", "json"])?;
        let shown = parsed(&String::from_utf8_lossy(&output.stdout));
        if shown["status"] != "failed" || shown["as_read"]["run_lives"] != false {
            return Err(format!("a killed run reads {} {}", shown["status"], shown["as_read"]));
        }
        check_steps(self.world, &shown)?;
        let output = self.world.must(&["--json", "overnight", "status"])?;
        let shown = parsed(&String::from_utf8_lossy(&output.stdout));
        if shown["is_running"] != false {
            return Err(format!("a killed run is said to be at work: {shown}"));
        }
        Ok(())
    }

    /// The report of a run that came to its end.
    fn check_whole(&mut self, ended: &Ended) -> Result<(), String> {
        let report = newest(self.world).ok_or("there is no report")?;
        if self.known.contains(report.run_id()) {
            return Err("the report is an old one".into());
        }
        self.runs.insert(report.run_id().to_owned(), Life::Whole);
        let code = ended.output.status.code();
        let is_asked = ended.signal.is_some();
        let fits = match report.status() {
            "done" => matches!(code, Some(0 | 4)),
            "failed" => is_asked && code == Some(1),
            _ => false,
        };
        if !fits {
            let why = &report.summary["failure_reason"];
            return Err(format!("exit {code:?} of a run that is {}: {why}", report.status()));
        }
        if report.status() == "failed" {
            self.seen.failed += 1;
            let reason = report.summary["failure_reason"].as_str().unwrap_or_default();
            if !reason.contains("SIGTERM") {
                return Err(format!("asked to end, and it says {reason:?}"));
            }
        }
        self.check_idle()?;
        self.check_report(&report)
    }

    /// Nobody writes to the tree while the report is compared with it.
    fn check_report(&self, report: &Report) -> Result<(), String> {
        let account = self.corpus.account.lock().unwrap();
        let commits = commits(self.world);
        let made = || commits[self.commits_before..].iter().flat_map(|commit| &commit.changes);
        let is_gone = |path: &str| {
            let is_deleted = || made().any(|change| change.path == path && change.after.is_none());
            account.is_removed(path) || (self.runs.len() > 1 && is_deleted())
        };
        report.check(self.world, &commits, &is_gone)
    }

    /// Nothing tells of a run that is at work, and nothing keeps another from starting.
    fn check_idle(&self) -> Result<(), String> {
        if self.world.state("status.json").exists() {
            return Err("status.json is left over".into());
        }
        let lock = std::fs::File::open(self.world.state("run.lock")).unwrap();
        Flock::lock(lock, FlockArg::LockExclusiveNonblock)
            .map(drop)
            .map_err(|(_, why)| format!("run.lock is held: {why}"))
    }

    /// With nobody at work any more.
    fn check_end(&mut self) -> Result<(), String> {
        let all = commits(self.world);
        self.world.must(&["tree", "verify"])?;
        self.check_idle()?;
        self.check_quiet()?;
        let new = &all[self.commits_before..];
        self.seen.commits = new.len();
        for commit in new {
            let is_of = |run: &String| commit.id.starts_with(&format!("{run}-"));
            if !self.runs.keys().any(is_of) {
                return Err(format!("commit {} is of no run that tells of it", commit.id));
            }
        }
        for (run, life) in &self.runs {
            let newest = newest(self.world).filter(|report| report.run_id() == run);
            let moved = || Report::read(&self.world.state(&format!("latest/{run}")));
            let report = newest.or_else(moved).ok_or_else(|| format!("no report of {run}"))?;
            if *life == Life::Cut && report.status() != "failed" {
                return Err(format!("{run} was killed, and is {}", report.status()));
            }
            self.check_report(&report)?;
        }
        if self.plan.others == Others::Away {
            self.check_trees(new)?;
        }
        let account = self.corpus.account.lock().unwrap();
        self.seen.found = account.check(self.world, &all)?;
        Ok(())
    }

    /// The commits and nothing else changed the tree, and a person who compares finds what the
    /// report says.
    fn check_trees(&self, new: &[Commit]) -> Result<(), String> {
        let after = Tree::read(&self.world.agents(""), Some("overnight"));
        replayed(&self.before, &after, new)?;
        let newest_one = newest(self.world).ok_or("no report")?;
        let degraded = newest_one.summary["degraded"].to_string();
        if degraded.contains("work queue") || degraded.contains("the loop") {
            return Err(format!("nobody was at work, and it is degraded: {degraded}"));
        }
        let mut iterations = new.iter().filter(|commit| commit.id.contains("-iter-"));
        let (Some(only), None) = (iterations.next(), iterations.next()) else { return Ok(()) };
        let run = only.id.split("-iter-").next().unwrap();
        let report = newest(self.world).filter(|report| report.run_id() == run);
        let moved = || Report::read(&self.world.state(&format!("latest/{run}")));
        let report = report.or_else(moved).ok_or("no report")?;
        let iterations = report.summary["iterations"].as_array().unwrap();
        let told = iterations.iter().find(|one| one["commit"]["id"] == only.id.as_str()).unwrap();
        let found = difference(&self.before, &after, QUEUE);
        let told = ["added", "changed", "deleted"].map(|key| told["commit"][key].as_u64());
        let found = found.map(|count| u64::try_from(count).ok());
        if told != found {
            return Err(format!("added, changed, deleted: told {told:?}, found {found:?}"));
        }
        Ok(())
    }

    fn check_quiet(&self) -> Result<(), String> {
        if self.world.has_marker() {
            return Err("a marker is left over".into());
        }
        let staging = self.world.state("staging");
        match std::fs::read_dir(&staging).map(|mut found| found.next()) {
            Ok(Some(left)) => Err(format!("left over: {}", left.unwrap().path().display())),
            _ => Ok(()),
        }
    }
}

/// The report of the newest run.
fn newest(world: &World) -> Option<Report> {
    Report::read(&world.state("latest"))
}
