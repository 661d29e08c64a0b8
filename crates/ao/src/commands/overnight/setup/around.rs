//! This machine, as far as a scheduler's file has to know it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ao_contract::Exit;
use ao_night::System;
use ao_night::setup::{At, Job, Machine, Origin, Scheduler};
use ao_tree::own_file;

use crate::failure::Failure;

/// Where nobody says where programs are.
const PROGRAMS: &str = "/usr/local/bin:/usr/bin:/bin";
/// There if and only if the machine was booted with systemd.
const BOOTED: &str = "/run/systemd/system";
const USERS_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// A name that the kernel tells in one line.
const NAME_BYTES_MAX: u64 = 4096;
const KERNEL: &str = "/proc/sys/kernel/osrelease";

pub(super) fn machine(root: &Path) -> Machine {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |name: &str| ao_guard::find_program(name, &path, root).is_ok();
    let system = match std::env::consts::OS {
        "linux" => System::Linux,
        "macos" => System::MacOs,
        _ => System::Other,
    };
    let kernel = own_file::read_text(Path::new(KERNEL), NAME_BYTES_MAX).unwrap_or_default();
    pretended(Machine {
        system,
        is_wsl: kernel.to_ascii_lowercase().contains("microsoft"),
        runs_systemd: Path::new(BOOTED).is_dir(),
        has_systemctl: has("systemctl"),
        has_crontab: has("crontab"),
        // A Mac starts its cron when somebody has a crontab.
        runs_cron: system == System::MacOs || runs_cron(),
    })
}

/// Whether there is a process of that name: all crons of Linux have one of the two.
fn runs_cron() -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes.flatten().any(|process| {
        let name = own_file::read_text(&process.path().join("comm"), NAME_BYTES_MAX);
        let name = name.unwrap_or_default();
        matches!(name.trim_end(), "cron" | "crond")
    })
}

/// Tests see a machine on which both run. Not in a binary that is released.
#[cfg(debug_assertions)]
fn pretended(machine: Machine) -> Machine {
    let runs = std::env::var("AO_SETUP_TEST_RUNS").unwrap_or_default();
    Machine {
        runs_cron: machine.runs_cron || runs.contains("cron"),
        runs_systemd: machine.runs_systemd || runs.contains("systemd"),
        ..machine
    }
}

#[cfg(not(debug_assertions))]
fn pretended(machine: Machine) -> Machine {
    machine
}

/// The job, and the entries of PATH that it does not get.
pub(super) fn job(
    root: &Path,
    at: At,
    scheduler: Scheduler,
    machine: Machine,
) -> Result<(Job, Vec<String>), Failure> {
    let (path, dropped) = path(root)?;
    let user = user(rustix::process::geteuid().as_raw());
    let home = std::env::var_os("HOME").filter(|home| Path::new(home).is_absolute());
    let home = home.or_else(|| user.as_ref().map(|(_, home)| home.into()));
    let name = user.map(|(name, _)| name).or_else(|| std::env::var("USER").ok());
    let unknown = |what: &str| {
        Failure::new(Exit::Preflight, format!("{what} is not known here"))
            .hint(format!("set {what} in the environment of this command"))
    };
    let job = Job {
        program: text("the path of this program", program(root)?)?,
        repository: text("the path of the repository", root.to_owned())?,
        at,
        path,
        home: text("HOME", home.map(PathBuf::from).ok_or_else(|| unknown("HOME"))?)?,
        user: name.ok_or_else(|| unknown("USER"))?,
        origin: if machine.is_of_this_system(scheduler) { Origin::Here } else { Origin::Elsewhere },
        distribution: std::env::var("WSL_DISTRO_NAME").ok().filter(|_| machine.is_wsl),
    };
    Ok((job, dropped))
}

fn text(what: &str, path: PathBuf) -> Result<String, Failure> {
    path.into_os_string().into_string().map_err(|bad| {
        let shown = ao_tree::shown(&bad.to_string_lossy());
        Failure::new(Exit::Preflight, format!("{what} is no UTF-8: {shown}"))
            .hint("schedulers' files are text: give it a name that is")
    })
}

/// As it is found on PATH if that is this very program, so that an update does not lead it astray.
fn program(root: &Path) -> Result<PathBuf, Failure> {
    let this = std::env::current_exe().and_then(|exe| exe.canonicalize()).map_err(|error| {
        Failure::new(Exit::Preflight, format!("where this program is cannot be said: {error}"))
            .hint("install it anew, then run the command again")
    })?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = ao_guard::find_program("ao", &path, root).ok();
    Ok(found.filter(|found| found.canonicalize().is_ok_and(|real| real == this)).unwrap_or(this))
}

/// The folders of PATH that are there, are absolute and not of the repository, each once.
fn path(root: &Path) -> Result<(String, Vec<String>), Failure> {
    let all = std::env::var_os("PATH").unwrap_or_default();
    let trusted = ao_guard::trusted_path(&all, root);
    let mut kept: Vec<PathBuf> = Vec::new();
    for entry in std::env::split_paths(&trusted) {
        if entry.is_dir() && !kept.contains(&entry) {
            kept.push(entry);
        }
    }
    let dropped = std::env::split_paths(&all)
        .filter(|entry| !entry.as_os_str().is_empty() && !kept.contains(entry))
        .map(|entry| ao_tree::shown(&entry.to_string_lossy()))
        .collect();
    let joined: OsString = std::env::join_paths(kept).unwrap_or_default();
    let joined = if joined.is_empty() { PROGRAMS.into() } else { joined };
    Ok((text("PATH", joined.into())?, dropped))
}

/// The name and the home of a user, as the system knows them.
pub(super) fn user(id: u32) -> Option<(String, String)> {
    let users = own_file::read_named_text(Path::new("/etc/passwd"), USERS_BYTES_MAX).ok()?;
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let is_it = fields.get(2)?.parse() == Ok(id);
        is_it.then(|| Some(((*fields.first()?).to_owned(), (*fields.get(5)?).to_owned())))?
    })
}
