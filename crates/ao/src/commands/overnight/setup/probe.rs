//! A look around from inside of the environment that a scheduler gives: what would fail tonight.
//!
//! It is a process of its own, started with nothing but what the scheduler's file sets, so nothing that
//! only this evening's shell has can make it look better than it is.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use ao_contract::Exit;
use ao_night::counted;
use ao_runner::Origin;
use ao_tree::{Disk, Fs};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::super::guard::{self, place};
use super::super::super::runners::list;
use super::super::super::runners::workshop::Workshop;
use super::{around, places};
use crate::cli::Global;
use crate::config::{self, Night};
use crate::failure::Failure;
use crate::printer::Printer;
use crate::redaction;
use crate::repo::Repo;

/// With less a night of a small corpus would still end well, and the next one would not.
const FREE_BYTES_MIN: u64 = 64 * 1024 * 1024;
/// A night writes the corpus beside itself, and what it keeps for replays and undo.
const COPIES: u64 = 3;
const MB: u64 = 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    Good,
    /// The night goes on without it.
    Doubt,
    /// Something of the night would fail.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) verdict: Verdict,
    pub(super) found: String,
    pub(super) remedy: Option<String>,
}

impl Check {
    pub(super) fn good(name: &str, found: impl Into<String>) -> Self {
        Self { name: name.into(), verdict: Verdict::Good, found: found.into(), remedy: None }
    }

    pub(super) fn doubt(name: &str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into());
        Self { name: name.into(), verdict: Verdict::Doubt, found: found.into(), remedy }
    }

    pub(super) fn bad(name: &str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        let remedy = Some(remedy.into());
        Self { name: name.into(), verdict: Verdict::Bad, found: found.into(), remedy }
    }

    pub(super) fn failed(name: &str, failure: &Failure) -> Self {
        Self::bad(name, &failure.message, failure.hints.join("; "))
    }
}

pub(super) fn run(named: &[String], global: &Global, printer: &Printer) -> Result<Exit, Failure> {
    let repo = Repo::find(global)?;
    let root = repo.canonical();
    let mut checks = vec![path(&root), home(), user(), places::knowledge(&repo), disk(&repo)];
    checks.extend([lock(&repo), places::receipts(&repo)]);
    // Whoever started this look has seen to the time, or sets another.
    let night = Night::read_at_any_time(&root);
    match &night {
        Ok(night) => {
            checks.push(places::settings(&repo));
            checks.extend(places::warnings(night));
        }
        Err(failure) => checks.push(Check::failed(places::CONFIGURATION, failure)),
    }
    checks.push(vault());
    checks.push(cell(&root));
    if let Ok(night) = night {
        checks.extend(places::harvest(&repo, printer));
        checks.extend(runners(named, &night, &root, global, printer)?);
    }
    printer.answer("overnight setup", json!({ "checks": checks }), "");
    Ok(Exit::Done)
}

fn path(root: &Path) -> Check {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = match config::beads(root) {
        Ok(name) => name,
        Err(failure) => return Check::failed("path", &failure),
    };
    match ao_guard::find_program(&name, &path, root) {
        Ok(found) => Check::good("path", format!("{name} is {}", found.display())),
        Err(missing) => Check::doubt(
            "path",
            format!("{missing}: packets are not synced with beads"),
            "install bd, or go without it: the rest of the night does not need it",
        ),
    }
}

fn home() -> Check {
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from) else {
        return Check::bad("home", "HOME is not set", "set it, then run setup again");
    };
    let shown = home.display().to_string();
    match std::fs::metadata(&home) {
        Err(error) => Check::bad("home", format!("{shown}: {error}"), "name another in HOME"),
        Ok(found) if !found.is_dir() => {
            Check::bad("home", format!("{shown} is no folder"), "name another in HOME")
        }
        Ok(found) if found.uid() != rustix::process::geteuid().as_raw() => Check::doubt(
            "home",
            format!("{shown} is somebody else's"),
            "run setup as the user whose nights they are",
        ),
        Ok(_) => Check::good("home", shown),
    }
}

fn user() -> Check {
    let name = std::env::var("USER").unwrap_or_default();
    match around::user(rustix::process::geteuid().as_raw()) {
        Some((known, _)) if known != name => Check::doubt(
            "user",
            format!("USER is {name}, and the system calls this user {known}"),
            "run setup as the user whose nights they are",
        ),
        _ if name.is_empty() => {
            Check::bad("user", "USER is not set", "set it, then run setup again")
        }
        _ => Check::good("user", name),
    }
}

fn disk(repo: &Repo) -> Check {
    let space = Disk::open(&repo.agents()).and_then(|disk| disk.space());
    let wanted = FREE_BYTES_MIN.max(COPIES * bytes_beneath(&repo.agents()));
    match space {
        Err(error) => Check::bad("disk", error.to_string(), "see to it that .agents/ is there"),
        Ok(space) if space.is_read_only => Check::bad(
            "disk",
            "the file system is mounted read-only",
            "mount it writable, or work in a copy",
        ),
        Ok(space) if space.free_bytes < wanted => Check::bad(
            "disk",
            format!("{} MB are free", space.free_bytes / MB),
            format!("free some: at least {} MB are wanted", wanted / MB),
        ),
        Ok(space) => Check::good(
            "disk",
            format!("{} MB are free, {} are wanted", space.free_bytes / MB, wanted / MB),
        ),
    }
}

/// All that is there, links not followed.
fn bytes_beneath(folder: &Path) -> u64 {
    let mut bytes = 0;
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(found) if found.is_dir() => waiting.push(entry.path()),
                Ok(found) if found.is_file() => bytes += found.len(),
                _ => {}
            }
        }
    }
    bytes
}

fn lock(repo: &Repo) -> Check {
    match ao_tree::holder(&repo.state()) {
        None => Check::good("lock", "nobody holds it"),
        Some(holder) => Check::bad(
            "lock",
            format!("process {} holds it since {}", holder.process, holder.started_at),
            "wait until it ends: a night that starts before ends at once with 75",
        ),
    }
}

/// It was opened before anything else, as every command does; here it is only counted.
fn vault() -> Check {
    match redaction::values() {
        Ok(values) if values.is_empty() => Check::good("vault", "there is none, or nothing in it"),
        Ok(values) => {
            Check::good("vault", format!("it opens; {}", counted(values.len(), "value", "values")))
        }
        Err(failure) => Check::failed("vault", &failure),
    }
}

/// Starts a program that does nothing in a cell, as the night would start others.
fn cell(root: &Path) -> Check {
    let floor = match config::floor(root) {
        Ok(floor) => floor,
        Err(failure) => return Check::failed("cell", &failure),
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = match ao_guard::find_program("true", &path, root) {
        Ok(program) => program,
        Err(missing) => {
            return Check::bad("cell", missing.to_string(), "put /usr/bin or /bin on PATH");
        }
    };
    let cells = place::cells(root);
    match cells.run(&cells.cell(program), &AtomicBool::new(false)) {
        Ok(caught) => Check::good(
            "cell",
            format!("tier {}, and the floor (guard.floor) is {floor}", caught.report.tier),
        ),
        Err(refusal) => {
            let message = guard::refused(&refusal).message;
            Check::bad(
                "cell",
                message,
                "allow user namespaces for this user (docs/cell.md), or lower guard.floor in your ~/.agentops/config.yaml; until then no runner is asked and no check of a packet is run",
            )
        }
    }
}

/// Whoever was named for the repository's file, or whoever the files name.
fn runners(
    named: &[String],
    night: &Night,
    root: &Path,
    global: &Global,
    printer: &Printer,
) -> Result<Vec<Check>, Failure> {
    // In a repository that is the home folder the file is the user's own.
    let is_home = std::env::var_os("HOME").is_some_and(|home| Path::new(&home) == root);
    let origin = if is_home { Origin::User } else { Origin::Repository };
    let wanted = if named.is_empty() {
        night.runners.clone()
    } else {
        named.iter().map(|name| (name.clone(), origin)).collect()
    };
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let workshop = Workshop::open(global, printer)?;
    Ok(workshop
        .choose(&wanted)
        .iter()
        .map(|chosen| runner(&list::row(&workshop, chosen)))
        .collect())
}

fn runner(row: &list::Row) -> Check {
    let name = format!("runner {}", row.name);
    match (&row.problem, row.is_usable) {
        (None, Some(true)) => Check::good(&name, "it can be asked"),
        (problem, _) => Check::bad(
            &name,
            problem.clone().unwrap_or_else(|| "it cannot be asked".to_owned()),
            row.remedy.clone().unwrap_or_else(|| "see `ao runners`".to_owned()),
        ),
    }
}
