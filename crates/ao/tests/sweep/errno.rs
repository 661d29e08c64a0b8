//! Every system call of a commit fails once, with every error that a disk has.
//!
//! `strace` does the failing: it counts the calls by name and returns an error instead of the
//! call with the chosen number. Which numbers there are comes from a run that is only watched.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::process::{Command, Output};

use nix::errno::Errno;

use crate::check::{Start, State, check_and_go_on, check_files, whole};
use crate::kill::interrupt;
use crate::tally::{Tally, skip};
use crate::world::{Arena, RECOVER, Scenario, World, scenarios, shown};

/// What the full sweep must reach.
const CASES_MIN: usize = 500;
const CASES_FULL: usize = 3_000;
const CASES_SAMPLE: usize = 50;

/// Calls that change something, and the errors that they may meet.
const CHANGES: &str = "openat,openat2,write,pwrite64,writev,pwritev,mkdir,mkdirat,link,linkat,\
    rename,renameat,renameat2,unlink,unlinkat,rmdir,fsync,fdatasync,syncfs,sync_file_range,\
    ftruncate,fallocate,chmod,fchmod,fchmodat,fchown,fchownat,lchown,utimensat,fsetxattr,\
    setxattr,lsetxattr,flock,copy_file_range,ioctl";
const CHANGE_ERRORS: [Errno; 6] =
    [Errno::EIO, Errno::ENOSPC, Errno::EINTR, Errno::EROFS, Errno::EDQUOT, Errno::EACCES];
/// Calls that only look: a disk that cannot be read is the one thing that goes wrong with them.
const LOOKS: &str = "read,pread64,getdents64,statx,newfstatat,fstat,statfs,fstatfs,lseek";
const LOOK_ERRORS: [Errno; 1] = [Errno::EIO];

/// Failed (1), refused before it began (6), busy (75).
const FAILURE_CODES: [i32; 3] = [1, 6, 75];

/// What is run: the scenario's command, or a recovery after it was killed so many stops after
/// its marker appeared.
#[derive(Debug, Clone, Copy)]
enum Way {
    Command,
    Recover(usize),
}

struct Case<'a> {
    scenario: &'a Scenario,
    way: Way,
    call: String,
    /// Which of the calls with this name, from 1.
    number: usize,
    error: Errno,
    /// The call as the watched run made it.
    seen: String,
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "errno {} ", self.scenario.name)?;
        if let Way::Recover(stops) = self.way {
            write!(f, "killed {stops} past the marker, recover ")?;
        }
        write!(f, "{} {} {:?}", self.call, self.number, self.error)
    }
}

// proves: LOOP-22
#[test]
fn errno_leaves_before_or_after() {
    if Command::new("strace").arg("--version").output().is_err() {
        return skip("errno", "strace is not installed");
    }
    let arena = Arena::new();
    let scenarios = scenarios(&arena);
    let mut tally = Tally::new("errno", "errno_leaves_before_or_after", CASES_MIN);
    let mut cases = Vec::new();
    for scenario in &scenarios {
        let ways: &[Way] = match scenario.name {
            "apply-1" => &[Way::Command, Way::Recover(0), Way::Recover(6)],
            "undo" => &[Way::Command],
            _ => &[],
        };
        for way in ways {
            cases.extend(all_cases(&arena, scenario, *way));
        }
    }
    let cases = tally.part(cases, CASES_FULL, CASES_SAMPLE);
    tally.run(&cases, |case| attack(&arena, case));
    tally.finish();
}

/// Watches one run and makes a case of each of its calls and each error.
fn all_cases<'a>(arena: &Arena, scenario: &'a Scenario, way: Way) -> Vec<Case<'a>> {
    let world = prepare(arena, scenario, way);
    let log = arena.fresh("strace");
    let names = format!("{CHANGES},{LOOKS}");
    let trace = format!("trace=?{}", names.replace(',', ",?"));
    let output = strace(&world, scenario, way, &log, &["-s", "200", "-e", &trace]);
    assert!(output.status.success(), "{} under strace: {}", scenario.name, shown(&output));
    let log = std::fs::read_to_string(log).unwrap();
    let mut cases = Vec::new();
    for (call, number, seen) in calls(&log) {
        let is_change = CHANGES.split(',').any(|name| name == call);
        let errors: &[Errno] = if is_change { &CHANGE_ERRORS } else { &LOOK_ERRORS };
        for &error in errors {
            let (call, seen) = (call.clone(), seen.clone());
            cases.push(Case { scenario, way, call, number, error, seen });
        }
    }
    cases
}

/// Name, number and text of each call from the moment that the tree is first named: what comes
/// before is the loader's, and fails as any program does.
fn calls(log: &str) -> Vec<(String, usize, String)> {
    let mut counts = HashMap::new();
    let mut calls = Vec::new();
    let mut is_ours = false;
    for line in log.lines() {
        let call = line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
        let Some((name, rest)) = call.split_once('(') else { continue };
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.chars().all(is_name) {
            continue;
        }
        let count = counts.entry(name.to_owned()).or_insert(0_usize);
        *count += 1;
        is_ours |= rest.contains(".agents");
        let is_output = name == "write" && (rest.starts_with("1,") || rest.starts_with("2,"));
        if is_ours && !is_output {
            calls.push((name.to_owned(), *count, call.to_owned()));
        }
    }
    calls
}

fn prepare(arena: &Arena, scenario: &Scenario, way: Way) -> World {
    let world = arena.world(&scenario.start);
    if let Way::Recover(stops) = way {
        interrupt(&world, scenario, stops);
    }
    world
}

fn strace(world: &World, scenario: &Scenario, way: Way, log: &Path, options: &[&str]) -> Output {
    let args = match way {
        Way::Command => scenario.args(),
        Way::Recover(_) => RECOVER.to_vec(),
    };
    let target = world.command(&args);
    Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(log)
        .args(options)
        .arg("--")
        .arg(target.get_program())
        .args(target.get_args())
        .output()
        .unwrap()
}

fn attack(arena: &Arena, case: &Case) -> Result<(), String> {
    let world = arena.world(&case.scenario.start);
    let start = Start::of(&world);
    if let Way::Recover(stops) = case.way {
        interrupt(&world, case.scenario, stops);
    }
    let inject = format!("inject={}:error={:?}:when={}", case.call, case.error, case.number);
    let trace = format!("trace={}", case.call);
    let log = arena.fresh("strace");
    let output = strace(&world, case.scenario, case.way, &log, &["-e", &trace, "-e", &inject]);
    let log_text = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    if !log_text.contains("(INJECTED)") {
        return Err(format!("nothing was injected; {}", shown(&output)));
    }
    judge(&world, case, &start, &output)
        .map_err(|why| format!("failed call: {}\n{}\n{why}", case.seen, shown(&output)))
}

fn judge(world: &World, case: &Case, start: &Start, output: &Output) -> Result<(), String> {
    check_files(world, case.scenario)?;
    match output.status.code() {
        Some(0) => {
            if whole(&world.tree(), case.scenario)? == State::Before {
                return Err("it reported success, but the tree is as before".to_owned());
            }
        }
        Some(code) if FAILURE_CODES.contains(&code) => {
            let message = String::from_utf8_lossy(&output.stderr);
            let error = std::io::Error::from_raw_os_error(case.error as i32).to_string();
            // A failure names the error; a refusal words it for people.
            let is_told = code != 1 || message.contains(&error);
            if message.trim().is_empty() || !is_told {
                return Err(format!("it failed and did not say that {error}"));
            }
        }
        _ => return Err("not an exit code that is documented for this".to_owned()),
    }
    world.must(&RECOVER)?;
    let state = check_and_go_on(world, case.scenario, start)?;
    match (case.way, state) {
        (Way::Recover(_), State::Before) => Err("a marked commit was lost".to_owned()),
        _ => Ok(()),
    }
}
