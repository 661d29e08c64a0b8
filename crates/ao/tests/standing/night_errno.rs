//! Every file-system call of a night fails once. Whatever the run then says of itself, its report,
//! its receipt and the history are of one mind with the tree; and after the next start all of it is
//! whole again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::process::{Command, Output};

use nix::errno::Errno;
use serde_json::Value;

use crate::corpus::{NIGHT, settle};
use crate::dice::Dice;
use crate::history::{commits, replayed};
use crate::tally::{Tally, skip};
use crate::tree::Tree;
use crate::truth::Report;
use crate::whole::{ao, is_quiet, must};
use crate::world::{Arena, World, shown};

/// What the full sweep must reach.
const CASES_MIN: usize = 1_000;
/// While a commit is decided and not yet finished, and at all other times.
const MARKED_FULL: usize = 1_500;
const MARKED_SAMPLE: usize = 12;
const OTHERS_FULL: usize = 1_500;
const OTHERS_SAMPLE: usize = 8;

const CHANGES: &str = "openat,openat2,write,pwrite64,writev,pwritev,mkdir,mkdirat,link,linkat,\
    rename,renameat,renameat2,unlink,unlinkat,rmdir,fsync,fdatasync,syncfs,sync_file_range,\
    ftruncate,fallocate,chmod,fchmod,fchmodat,fchown,fchownat,utimensat,fsetxattr,flock,\
    copy_file_range,ioctl";
const CHANGE_ERRORS: [Errno; 3] = [Errno::EIO, Errno::ENOSPC, Errno::EACCES];
/// Calls that only look: a disk that cannot be read is the one thing that goes wrong with them.
const LOOKS: &str = "read,pread64,getdents64,statx,newfstatat,fstat,statfs,fstatfs,lseek";
const LOOK_ERRORS: [Errno; 1] = [Errno::EIO];

/// How a night may end: all documented codes but that of a wrong command line.
const CODES: [i32; 7] = [0, 1, 3, 4, 5, 6, 75];

struct Case {
    call: String,
    /// Which of the calls with this name, from 1.
    number: usize,
    error: Errno,
    /// There was a marker as the watched run made the call, or it was about to come.
    is_marked: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "night {} {} {:?}", self.call, self.number, self.error)
    }
}

// proves: LOOP-22
#[test]
fn errno_of_a_night_leaves_one_truth() {
    if Command::new("strace").arg("--version").output().is_err() {
        return skip("errno of a night", "strace is not installed");
    }
    let arena = Arena::new();
    let mut tally = Tally::new("errno of a night", "errno_of_a_night_leaves_one_truth", CASES_MIN);
    let (marked, others) = all_cases(&arena).into_iter().partition(|case| case.is_marked);
    let mut cases = tally.part(marked, MARKED_FULL, MARKED_SAMPLE);
    cases.extend(tally.part(others, OTHERS_FULL, OTHERS_SAMPLE));
    tally.run(&cases, |case| attack(&arena, case));
    tally.finish();
}

/// A corpus that has seen one night, so that there is a report to be moved and a chain to go on. It
/// is no copy: the chain has its head in the home, by the place of the repository.
fn start(arena: &Arena) -> World {
    let world = arena.world(&Tree::default());
    let mut dice = Dice::new(5);
    settle(&world, &mut dice);
    must(&world, &NIGHT).unwrap();
    for number in 200..204 {
        crate::corpus::pending(&world, &mut dice, number);
    }
    world
}

fn all_cases(arena: &Arena) -> Vec<Case> {
    let world = start(arena);
    let log = arena.fresh("strace");
    let trace = format!("trace=?{}", format!("{CHANGES},{LOOKS}").replace(',', ",?"));
    let output = strace(&world, &log, &["-s", "200", "-e", &trace]);
    assert!(output.status.success(), "a night under strace: {}", shown(&output));
    let log = std::fs::read_to_string(log).unwrap();
    let mut cases = Vec::new();
    for (call, number, is_marked) in calls(&log) {
        let is_change = CHANGES.split(',').any(|name| name == call);
        let errors: &[Errno] = if is_change { &CHANGE_ERRORS } else { &LOOK_ERRORS };
        let case = |&error| Case { call: call.clone(), number, error, is_marked };
        cases.extend(errors.iter().map(case));
    }
    cases
}

/// Name and number of each call, and whether a marker was there, from the moment that the tree is first named: what comes before
/// is the loader's, and fails as any program does.
fn calls(log: &str) -> Vec<(String, usize, bool)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut calls = Vec::new();
    let (mut is_ours, mut is_marked) = (false, false);
    for line in log.lines() {
        let call = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let Some((name, rest)) = call.split_once('(') else { continue };
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.chars().all(is_name) {
            continue;
        }
        let count = counts.entry(name.to_owned()).or_default();
        *count += 1;
        is_ours |= rest.contains(".agents");
        is_marked |= name.starts_with("rename") && rest.contains("COMMIT-MARKER.");
        let is_output = name == "write" && (rest.starts_with("1,") || rest.starts_with("2,"));
        if is_ours && !is_output {
            calls.push((name.to_owned(), *count, is_marked));
        }
        is_marked &= !(name.starts_with("unlink") && rest.contains("COMMIT-MARKER."));
    }
    calls
}

fn strace(world: &World, log: &Path, options: &[&str]) -> Output {
    let target = ao(world, &NIGHT);
    let mut strace = Command::new("strace");
    strace.env_clear();
    for (name, value) in target.get_envs() {
        strace.env(name, value.unwrap());
    }
    strace.args(["-f", "-qq", "-o"]).arg(log).args(options).arg("--");
    strace.arg(target.get_program()).args(target.get_args()).output().unwrap()
}

fn attack(arena: &Arena, case: &Case) -> Result<(), String> {
    let world = start(arena);
    let before = Tree::read(&world.agents(""), Some("overnight"));
    let earlier = commits(&world).len();
    let inject = format!("inject={}:error={:?}:when={}", case.call, case.error, case.number);
    let log = arena.fresh("strace");
    let options = ["-s", "200", "-e", &format!("trace={}", case.call), "-e", &inject];
    let output = strace(&world, &log, &options);
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    let Some(failed) = text.lines().find(|line| line.contains("(INJECTED)")) else {
        // Threads and times differ a little from run to run: this one had fewer calls.
        return Ok(());
    };
    let told = |why: String| format!("{why}\nfailed call: {failed}\n{}", shown(&output));
    agree_now(&world, &before, earlier, &output).map_err(told)?;
    agree_later(&world, &before, earlier)
        .map_err(|why| told(format!("after the next start: {why}")))
}

/// Right after the run.
fn agree_now(world: &World, before: &Tree, earlier: usize, output: &Output) -> Result<(), String> {
    match output.status.code() {
        Some(code) if CODES.contains(&code) => {}
        other => return Err(format!("exit code {other:?}")),
    }
    if world.has_marker() {
        // Decided and not finished: it cannot be called done.
        return match output.status.code() {
            Some(1) => Ok(()),
            other => Err(format!("a commit is not finished, and the run ended with {other:?}")),
        };
    }
    let now = Tree::read(&world.agents(""), Some("overnight"));
    replayed(before, &now, &commits(world)[earlier..])?;
    receipts_agree(world)?;
    reports_agree(world)
}

/// After a start that nothing disturbs.
fn agree_later(world: &World, before: &Tree, earlier: usize) -> Result<(), String> {
    let output = ao(world, &NIGHT).output().unwrap();
    if !matches!(output.status.code(), Some(0 | 4)) {
        return Err(format!("it failed: {}", shown(&output)));
    }
    is_quiet(world)?;
    let now = Tree::read(&world.agents(""), Some("overnight"));
    let all = commits(world);
    replayed(before, &now, &all[earlier..])?;
    must(world, &["tree", "verify"])?;
    must(world, &["overnight", "verify"])?;
    must(world, &["overnight", "last"])?;
    receipts_agree(world)?;
    reports_agree(world)?;
    for run in runs(world) {
        let report = report(world, &run).ok_or_else(|| format!("no report of {run}"))?;
        // What a later run merged or archived is gone.
        report.check(world, &all, &|_| true)?;
    }
    Ok(())
}

/// The runs that made a commit, by the history.
fn runs(world: &World) -> BTreeSet<String> {
    let id = |id: &str| id.split("-iter-").next().unwrap().trim_end_matches("-packets").to_owned();
    commits(world).iter().map(|commit| id(&commit.id)).collect()
}

/// Another run of the same second has an id that begins with this one.
fn made_by(world: &World, run: &str) -> BTreeSet<String> {
    let ids = commits(world).into_iter().map(|commit| commit.id);
    let is_of = |id: &String| {
        id.strip_prefix(run).is_some_and(|rest| rest.starts_with("-iter-") || rest == "-packets")
    };
    ids.filter(is_of).collect()
}

/// A run's receipts name the commits that the history has of it.
fn receipts_agree(world: &World) -> Result<(), String> {
    let text = std::fs::read_to_string(world.state("receipts.jsonl")).unwrap_or_default();
    let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines() {
        let receipt: Value =
            serde_json::from_str(line).map_err(|error| format!("receipt {line:?}: {error}"))?;
        let run = receipt["run_id"].as_str().unwrap_or_default().to_owned();
        let ids = receipt["work"]["commits"].as_array().into_iter().flatten();
        told.entry(run)
            .or_default()
            .extend(ids.filter_map(|commit| commit["id"].as_str().map(str::to_owned)));
    }
    for (run, told) in &told {
        let made = made_by(world, run);
        if *told != made {
            return Err(format!("the receipt of {run} names {told:?}, the history {made:?}"));
        }
    }
    Ok(())
}

/// A report's kept iterations are those that the history has.
fn reports_agree(world: &World) -> Result<(), String> {
    for run in runs(world) {
        let Some(report) = report(world, &run) else { continue };
        // A run that was cut off is told by the next start.
        if report.status() == "planned" {
            continue;
        }
        let iterations = report.summary["iterations"].as_array().into_iter().flatten();
        let told: BTreeSet<String> =
            iterations.filter_map(|one| one["commit"]["id"].as_str().map(str::to_owned)).collect();
        let mut made = made_by(world, &run);
        made.retain(|id| id.contains("-iter-"));
        if told != made {
            return Err(format!("the report of {run} names {told:?}, the history {made:?}"));
        }
    }
    Ok(())
}

fn report(world: &World, run: &str) -> Option<Report> {
    let newest = Report::read(&world.state("latest")).filter(|report| report.run_id() == run);
    newest.or_else(|| Report::read(&world.state(&format!("latest/{run}"))))
}
