//! Ending all descendants of this process.
//!
//! The keeper is a subreaper: a descendant whose parent has gone becomes its child, and none can
//! leave it. So the kernel itself says when nothing is left, by having no child to wait for, and
//! a pass that misses somebody who was just being born is only a pass too few.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, getpid, pidfd_open, pidfd_send_signal, wait,
};

use crate::process;

/// Only a process that the kernel holds in a device call lives longer than this.
pub(crate) const PASSES_TIME: Duration = Duration::from_secs(5);
const BETWEEN_PASSES: Duration = Duration::from_millis(2);
/// Open handles of one pass, below the usual limit of open files.
const HANDLES_MAX: usize = 512;

/// What was found when everything was ended.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) left_behind: usize,
    pub(crate) survivors: usize,
}

/// Whether there are children, dead or alive.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Children {
    Some,
    None,
}

/// Takes the leave of all children that have ended, and keeps how the program did.
pub(crate) fn reap(program: Pid, status: &mut Option<WaitStatus>) -> Children {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((id, how))) if id == program => *status = Some(how),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Children::Some,
            Err(_) => return Children::None,
        }
    }
}

/// Kills the program and all other descendants, until there are none.
pub(crate) fn end_all(program: Pid, status: &mut Option<WaitStatus>) -> Tally {
    let since = Instant::now();
    let mut seen = BTreeSet::new();
    let is_other = |id: &&i32| **id != program.as_raw_nonzero().get();
    loop {
        if reap(program, status) == Children::None {
            return Tally { left_behind: seen.iter().filter(is_other).count(), survivors: 0 };
        }
        let living = descendants();
        if since.elapsed() > PASSES_TIME {
            let left_behind = seen.iter().filter(is_other).count();
            return Tally { left_behind, survivors: living.len() };
        }
        for (id, handle) in &living {
            seen.insert(id.as_raw_nonzero().get());
            // One that has ended meanwhile is what was wanted.
            let _ = pidfd_send_signal(handle, Signal::KILL);
        }
        std::thread::sleep(BETWEEN_PASSES);
    }
}

/// The living descendants, parents before their children, with handles that cannot come to mean
/// somebody else. Killing children alone would do, since theirs come to us next; but a chain of 500
/// then takes four seconds instead of a tenth of one, and a family that grows gets time to grow.
///
/// An id can be given to a stranger as soon as its parent has reaped it. So a child is opened
/// first and asked for its parent second, and that parent is one whom this process has not reaped
/// itself, or whose handle still is a living process.
fn descendants() -> Vec<(Pid, OwnedFd)> {
    let mut children: BTreeMap<i32, Vec<Pid>> = BTreeMap::new();
    for process in process::list().unwrap_or_default() {
        if let Some(parent) = process.parent {
            children.entry(parent.as_raw_nonzero().get()).or_default().push(process.id);
        }
    }
    let mut found: Vec<(Pid, OwnedFd)> = Vec::new();
    let mut at = 0;
    let mut parent = getpid();
    loop {
        for child in children.remove(&parent.as_raw_nonzero().get()).unwrap_or_default() {
            if found.len() == HANDLES_MAX {
                return found;
            }
            let Ok(handle) = pidfd_open(child, PidfdFlags::empty()) else { continue };
            let is_child = process::look_at(child).is_some_and(|seen| seen.parent == Some(parent));
            let is_parent_alive = at == 0 || is_alive(&found[at - 1].1);
            if is_child && is_parent_alive && is_alive(&handle) {
                found.push((child, handle));
            }
        }
        let Some((next, _)) = found.get(at) else { return found };
        parent = *next;
        at += 1;
    }
}

/// The living descendants by their numbers.
pub(crate) fn ids() -> Vec<String> {
    descendants().iter().map(|(id, _)| id.as_raw_nonzero().to_string()).collect()
}

/// A handle becomes readable when its process has ended.
fn is_alive(handle: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(handle, PollFlags::IN)];
    matches!(poll(&mut watched, Some(&Timespec::default())), Ok(0))
}
