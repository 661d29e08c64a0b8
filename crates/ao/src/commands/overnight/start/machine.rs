//! What a night is told of the machine, the program and the signals that end it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use ao_contract::Exit;
use ao_night::{Host, System};

use super::super::super::guard::place;
use crate::config;
use crate::failure::Failure;

pub(in super::super) fn name_of(root: &Path) -> String {
    root.file_name().map_or_else(|| "repository".into(), |name| name.to_string_lossy().into_owned())
}

pub(in super::super) fn host(root: &Path) -> Result<Host, Failure> {
    Ok(Host {
        keeper: ao_guard::Keeper::this_binary(),
        cells: place::cells(root),
        system: system(),
        process: std::process::id(),
        environment: std::env::vars_os().collect(),
        repository: root.to_owned(),
        beads: config::beads(root)?,
    })
}

fn system() -> System {
    match pretended().as_deref().unwrap_or(std::env::consts::OS) {
        "linux" => System::Linux,
        "macos" => System::MacOs,
        _ => System::Other,
    }
}

/// Tests pretend that this is another system. A release does not.
#[cfg(debug_assertions)]
fn pretended() -> Option<String> {
    std::env::var("AO_HOST_TEST_SYSTEM").ok()
}

#[cfg(not(debug_assertions))]
fn pretended() -> Option<String> {
    None
}

/// This program, as its file and who runs it tell it from any other.
pub(in super::super) fn program() -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let file = std::env::current_exe().and_then(std::fs::metadata).ok()?;
    Some(format!(
        "{}, {} bytes, inode {} on {}, {}.{:09}, user {}",
        env!("CARGO_PKG_VERSION"),
        file.len(),
        file.ino(),
        file.dev(),
        file.mtime(),
        file.mtime_nsec(),
        rustix::process::geteuid().as_raw()
    ))
}

/// The three that end a run with a report; a second one ends the process at once.
pub(in super::super) fn catch_signals(signal: &Arc<AtomicUsize>) -> Result<(), Failure> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    let fail = |error: std::io::Error| {
        Failure::new(Exit::Preflight, format!("signals cannot be caught: {error}"))
            .hint("nothing was begun; run the command again")
    };
    let is_second = Arc::new(AtomicBool::new(false));
    let is_deaf = ao_mutant::active("RUN-24/hangup-is-not-caught");
    for number in [if is_deaf { SIGINT } else { SIGHUP }, SIGINT, SIGTERM] {
        let value = usize::try_from(number).unwrap_or(usize::MAX);
        let exit = i32::from(Exit::Failed.code());
        flag::register_conditional_shutdown(number, exit, Arc::clone(&is_second))
            .and_then(|_| flag::register(number, Arc::clone(&is_second)))
            .and_then(|_| flag::register_usize(number, Arc::clone(signal), value))
            .map_err(fail)?;
    }
    Ok(())
}
