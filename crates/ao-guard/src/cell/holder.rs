//! The holder: the process outside of a cell that can end all of it.
//!
//! It is this same binary, started with a word of its own, with one thread. In tier A it makes the
//! first process of the cell and waits; killing that one kills the cell. In tier B it adopts
//! whatever the program leaves behind and ends that. When the engine is gone, so is the cell, and
//! so is the folder that belonged to it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use ao_tree::own_file;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    DumpableBehavior, PidfdFlags, Signal, WaitOptions, WaitStatus, pidfd_open, pidfd_send_signal,
    set_dumpable_behavior, waitpid,
};

use crate::descent;
use crate::scale::Scale;

use super::layer::Layer;
use super::message::{Said, receive, receive_descriptors, receive_secrets, send, send_descriptors};
use super::policy::Policy;
use super::report::Limit;
use super::sys::{self, Side};
use super::tier::Tier;
use super::{first, maps, scratch};

/// The first argument of a process that is a holder.
pub(crate) const WORD: &str = "hold-cell";
const WATCH_EVERY: Duration = Duration::from_millis(100);
/// How much later than the engine the holder looks at the time.
const LATE: Duration = Duration::from_secs(1);
/// While nothing is to be weighed, only events are waited for.
const IDLE: Duration = Duration::from_mins(1);

/// Does the work of a holder if this process was started to be one.
pub(crate) fn serve(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let is_called = arguments.into_iter().nth(1)? == WORD;
    // Typed by hand it is a word that nobody knows.
    let is_held = fs::metadata("/proc/self/fd/0").is_ok_and(|stdin| stdin.file_type().is_socket());
    if !is_called || !is_held {
        return None;
    }
    Some(match hold() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn hold() -> io::Result<()> {
    let control = UnixStream::from(rustix::stdio::stdin().try_clone_to_owned()?);
    let Some(mut policy) = receive::<Policy>(&control)? else { return Ok(()) };
    policy.secrets = receive_secrets(&control)?;
    // The program must not find the socket where its input is.
    match receive_descriptors(&control)?.first() {
        Some(input) => rustix::stdio::dup2_stdin(input)?,
        None => rustix::stdio::dup2_stdin(&own_file::open_named(Path::new("/dev/null"))?)?,
    }
    let _ = rustix::process::setsid();
    let wanted = match policy.tier {
        Tier::A => hold_namespaces(&policy, &control),
        _ => hold_descent(&policy, &control),
    };
    // An engine to which nothing can be said is gone, too.
    if !matches!(wanted, Ok(Wanted::Still)) {
        scratch::remove(policy.scratch.path());
    }
    wanted.map(drop)
}

/// Whether the engine is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Still,
    NoMore,
}

fn namespaces(policy: &Policy) -> i32 {
    // Without these two everything that follows would happen to the machine itself.
    let always = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWCGROUP;
    [
        (Layer::Processes, libc::CLONE_NEWPID),
        (Layer::Ipc, libc::CLONE_NEWIPC),
        (Layer::Hostname, libc::CLONE_NEWUTS),
        (Layer::Network, libc::CLONE_NEWNET),
    ]
    .into_iter()
    .filter(|(layer, _)| policy.has(*layer))
    .fold(always, |flags, (_, flag)| flags | flag)
}

fn hold_namespaces(policy: &Policy, control: &UnixStream) -> io::Result<Wanted> {
    let user = maps::who();
    if user.0 == 0 {
        sys::leave_groups()?;
        // For the first process, which counts the others: among thousands it would wait for its turn.
        let _ = sys::go_before_all();
    }
    let (seen_inside, ours) = io::pipe()?;
    let cell = match sys::fork(namespaces(policy)) {
        Ok(Side::Child) => {
            drop(ours);
            first::run(policy, control, user, &seen_inside)
        }
        Ok(Side::Parent(cell)) => cell,
        Err(error) => {
            send_descriptors(control, &[])?;
            let word = Said::CannotBuild { layer: Layer::UserNamespace, why: error.to_string() };
            send(control, &word)?;
            return over(control, 0, 0);
        }
    };
    // It may know a secret. Before the cell was made it could not: the map of its users is written
    // by a process that can be looked into.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    first::mute()?;
    let handle = pidfd_open(cell, PidfdFlags::empty())?;
    let mut wanted = Wanted::Still;
    let clock = Clock::start(policy);
    loop {
        match next(control, &handle, IDLE.min(clock.left())) {
            Event::Ended => break,
            Event::Nothing if clock.left().is_zero() => {
                let _ = send(control, &Said::WentTooFar { limit: Limit::Time });
                let _ = pidfd_send_signal(&handle, Signal::KILL);
                break;
            }
            Event::Nothing => {}
            event => {
                // One that has ended meanwhile is what was wanted.
                let _ = pidfd_send_signal(&handle, Signal::KILL);
                if event == Event::Gone {
                    wanted = Wanted::NoMore;
                    break;
                }
            }
        }
    }
    // It ends only after all others of the cell have.
    let _ = waitpid(Some(cell), WaitOptions::empty());
    if wanted == Wanted::Still {
        over(control, 0, 0)?;
    }
    Ok(wanted)
}

fn hold_descent(policy: &Policy, control: &UnixStream) -> io::Result<Wanted> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    send_descriptors(control, &[])?;
    if let Err(error) = maps::give_up_hope(policy) {
        let layer = Layer::NoNewPrivileges;
        send(control, &Said::CannotBuild { layer, why: error.to_string() })?;
        return over(control, 0, 0);
    }
    send(control, &Said::Built { uncovered: Vec::new() })?;
    let scale = Scale::new();
    let Some(program) = first::start(policy, control)? else {
        return over(control, 0, 0);
    };
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    // From here on nothing returns before all descendants have ended.
    let mut status: Option<WaitStatus> = None;
    let mut wanted = Wanted::Still;
    let mut is_ended_by_us = true;
    let handle = pidfd_open(program, PidfdFlags::empty()).ok();
    let clock = Clock::start(policy);
    while let Some(handle) = &handle {
        match next(control, handle, WATCH_EVERY) {
            Event::Ended => {
                is_ended_by_us = false;
                break;
            }
            Event::Told => break,
            Event::Gone => {
                wanted = Wanted::NoMore;
                break;
            }
            Event::Nothing => {
                descent::reap(program, &mut status);
                let there = descent::ids();
                let count = u32::try_from(there.len()).unwrap_or(u32::MAX);
                let bytes = scale.weigh(&there, policy.limits.memory_bytes);
                let late = clock.left().is_zero().then_some(Limit::Time);
                if let Some(limit) = late.or_else(|| first::too_far(policy, count, bytes)) {
                    let _ = send(control, &Said::WentTooFar { limit });
                    break;
                }
            }
        }
    }
    let tally = descent::end_all(program, &mut status);
    let left = u32::try_from(tally.left_behind).unwrap_or(u32::MAX);
    if wanted == Wanted::Still {
        if let Some(status) = status.filter(|_| !is_ended_by_us) {
            send(control, &first::ended(status, left))?;
        }
        over(control, u32::try_from(tally.survivors).unwrap_or(u32::MAX), left)?;
    }
    Ok(wanted)
}

/// The engine keeps the time. If it is held up itself, by whoever reads from it, the holder does.
#[derive(Debug)]
struct Clock {
    since: Instant,
    time: Duration,
}

impl Clock {
    fn start(policy: &Policy) -> Self {
        Self { since: Instant::now(), time: policy.limits.time.saturating_add(LATE) }
    }

    fn left(&self) -> Duration {
        self.time.saturating_sub(self.since.elapsed())
    }
}

fn over(control: &UnixStream, survivors: u32, left_behind: u32) -> io::Result<Wanted> {
    let (cpu_us, largest_kib) = sys::usage_of_children();
    send(control, &Said::Over { survivors, left_behind, cpu_us, largest_kib })?;
    Ok(Wanted::Still)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// The program, or the first process of the cell.
    Ended,
    /// The engine wants an end.
    Told,
    /// The engine is gone.
    Gone,
    Nothing,
}

fn next(mut control: &UnixStream, handle: &OwnedFd, within: Duration) -> Event {
    let mut watched = [PollFd::new(control, PollFlags::IN), PollFd::new(handle, PollFlags::IN)];
    let timeout = Timespec::try_from(within).unwrap_or_default();
    if poll(&mut watched, Some(&timeout)).is_err() {
        return Event::Nothing;
    }
    let is_ready = |at: usize| !watched[at].revents().is_empty();
    let (is_told, is_ended) = (is_ready(0), is_ready(1));
    if is_ended {
        return Event::Ended;
    }
    if !is_told {
        return Event::Nothing;
    }
    match control.read(&mut [0]) {
        Ok(1) => Event::Told,
        _ => Event::Gone,
    }
}
