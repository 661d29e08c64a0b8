//! The first process of a cell (tier A), and the process that becomes the program.
//!
//! The first one builds the walls, starts the program and waits. When it ends, for whatever reason,
//! the kernel ends every other process of the cell with it; and it ends when the holder does.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Component;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, pidfd_open,
    set_dumpable_behavior, set_parent_process_death_signal, wait,
};

use crate::scale::Scale;

use super::layer::Layer;
use super::message::{Said, send, send_descriptors};
use super::policy::Policy;
use super::report::Limit;
use super::sys::{self, Side};
use super::tier::Tier;
use super::{attack, build, confine, maps};

/// How often all processes together are weighed.
const WEIGH_EVERY: Duration = Duration::from_millis(100);
/// How often they are counted where the kernel does not: its bound is not for root.
const COUNT_EVERY: Duration = Duration::from_millis(10);

/// Runs as the first process: builds, starts, waits, and ends the cell.
pub(super) fn run(
    policy: &Policy,
    control: &UnixStream,
    user: (u32, u32),
    holder: &io::PipeReader,
) -> ! {
    let mut announced = Announced::No;
    let code = match live(policy, control, user, holder, &mut announced) {
        Ok(()) => 0,
        Err((layer, error)) => {
            if announced == Announced::No {
                // Descriptors come before every other word, even if there are none.
                let _ = send_descriptors(control, &[]);
            }
            let _ = send(control, &Said::CannotBuild { layer, why: error.to_string() });
            1
        }
    };
    sys::exit_now(code)
}

fn live(
    policy: &Policy,
    control: &UnixStream,
    (user, group): (u32, u32),
    holder: &io::PipeReader,
    announced: &mut Announced,
) -> build::Built<()> {
    let at = |layer| move |error: io::Error| (layer, error);
    stay_with(holder).map_err(at(Layer::Processes))?;
    maps::map_self(user, group).map_err(at(Layer::UserNamespace))?;
    maps::go_first().map_err(at(Layer::Limits))?;
    // What the holder handed on goes no further.
    sys::keep_rank().map_err(at(Layer::Limits))?;
    let uncovered = build::build(policy)?.uncovered;
    let listeners = network(policy).map_err(at(Layer::Network))?;
    rustix::system::sethostname(b"cell")
        .map_err(|error| (Layer::Hostname, error.into()))
        .or_else(|error| if policy.has(Layer::Hostname) { Err(error) } else { Ok(()) })?;
    maps::give_up_power(policy).map_err(at(Layer::Capabilities))?;
    // Nobody inside may look into this process, which knows the policy.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| (Layer::Processes, error.into()))?;
    let descriptors: Vec<_> = listeners.iter().map(AsFd::as_fd).collect();
    send_descriptors(control, &descriptors).map_err(at(Layer::Network))?;
    *announced = Announced::Yes;
    send(control, &Said::Built { uncovered }).map_err(at(Layer::Processes))?;
    drop(listeners);
    let scale = Scale::new();
    let Some(program) = start(policy, control).map_err(at(Layer::Processes))? else {
        return Ok(());
    };
    watch(policy, control, program, &scale).map_err(at(Layer::Processes))
}

/// Whether the engine has got the listeners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Announced {
    Yes,
    No,
}

/// Ends with the holder, also if that one ended before this could be asked for.
fn stay_with(holder: &io::PipeReader) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let mut watched = [PollFd::new(holder, PollFlags::IN)];
    match poll(&mut watched, Some(&Timespec::default()))? {
        0 => Ok(()),
        _ => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// Loopback, and on it the listeners whose other side is the engine.
fn network(policy: &Policy) -> io::Result<Vec<TcpListener>> {
    if !policy.has(Layer::Network) {
        return Ok(Vec::new());
    }
    sys::loopback_up()?;
    policy.doors.iter().map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port))).collect()
}

/// Starts the program, unless an attack comes through or it cannot be. Used in every tier.
pub(super) fn start(policy: &Policy, control: &UnixStream) -> io::Result<Option<Pid>> {
    let (mut news, teller) = io::pipe()?;
    let program = match sys::fork(0)? {
        Side::Child => become_program(policy, &teller),
        Side::Parent(program) => program,
    };
    drop(teller);
    // From here on the only ones who write into the streams are in the program.
    mute()?;
    let mut told = Vec::new();
    news.read_to_end(&mut told)?;
    let mut at = told.as_slice();
    let mut last = None;
    while let Ok(Some(word)) = super::message::receive::<Said>(&mut at) {
        last = Some(word);
    }
    let word = last.unwrap_or(Said::NotStarted { reason: libc::EIO });
    let is_started = matches!(word, Said::Started { .. });
    // If the engine is gone by now, whoever waits next will notice.
    let _ = send(control, &word);
    Ok(is_started.then_some(program))
}

/// The child's side: the last walls, the attack, and the program. What it says it says through a
/// pipe that closes by itself when the program takes over.
fn become_program(policy: &Policy, teller: &io::PipeWriter) -> ! {
    let say = |word: &Said| drop(send(teller, word));
    let _ = rustix::process::setsid();
    // In tier A the first process has said so for all of them.
    if policy.tier != Tier::A
        && let Err(error) = maps::go_first()
    {
        say(&Said::CannotBuild { layer: Layer::Limits, why: error.to_string() });
        sys::exit_now(1);
    }
    if let Err(error) = furnish(policy) {
        say(&Said::NotStarted { reason: error.raw_os_error().unwrap_or(libc::EINVAL) });
        sys::exit_now(1);
    }
    if let Err(error) = rustix::process::chdir(policy.start()) {
        say(&Said::NotStarted { reason: error.raw_os_error() });
        sys::exit_now(1);
    }
    if let Err((layer, why)) = confine::confine(policy) {
        say(&Said::CannotBuild { layer, why });
        sys::exit_now(1);
    }
    let (tried, through) = attack::attack(policy);
    if through.is_empty() {
        say(&Said::Started { attacks: tried });
        let reason = exec(policy).raw_os_error().unwrap_or(libc::EINVAL);
        say(&Said::NotStarted { reason });
    } else {
        say(&Said::Escaped { attacks: through });
    }
    sys::exit_now(1)
}

/// Puts into the home what the program is to find there.
#[expect(clippy::disallowed_methods, reason = "only in the home of one cell")]
fn furnish(policy: &Policy) -> io::Result<()> {
    // Without masks there is no home to put them in, and no program that would look.
    for (path, target) in policy.home_links.iter().filter(|_| policy.has(Layer::Masks)) {
        let path = policy.home.path().join(path.path());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        std::os::unix::fs::symlink(target.path(), path)?;
    }
    for (path, text) in &policy.files {
        let is_beneath = path.path().components().all(|part| matches!(part, Component::Normal(_)));
        if !is_beneath {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let path = policy.home.path().join(path.path());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "this is the room that starts programs")]
fn exec(policy: &Policy) -> io::Error {
    let environment = policy.environment.iter().map(|(name, value)| (name, value));
    let secrets =
        policy.secrets.iter().map(|(name, value)| (name, OsStr::from_bytes(value.bytes())));
    Command::new(policy.program.path())
        .args(&policy.arguments)
        .env_clear()
        .envs(environment)
        .envs(secrets)
        .exec()
}

/// Lets go of the streams of the program.
pub(super) fn mute() -> io::Result<()> {
    let nowhere = File::open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    Ok(())
}

/// Waits for the program, and for whatever comes to be its child without a parent.
fn watch(policy: &Policy, control: &UnixStream, program: Pid, scale: &Scale) -> io::Result<()> {
    let handle = pidfd_open(program, PidfdFlags::empty())?;
    let every = if maps::who().0 == 0 { COUNT_EVERY } else { WEIGH_EVERY };
    let mut weighed = Instant::now();
    loop {
        let mut watched = [PollFd::new(&handle, PollFlags::IN)];
        let timeout = Timespec::try_from(every).unwrap_or_default();
        let _ = poll(&mut watched, Some(&timeout));
        let status = reap(program);
        // One who cannot look any more bounds nothing: that is the end of the cell.
        let there = ids()?;
        // This process is one of those that are there.
        let count = u32::try_from(there.len()).unwrap_or(u32::MAX).saturating_sub(1);
        if let Some(status) = status {
            return send(control, &ended(status, count));
        }
        let mut bytes = 0;
        if weighed.elapsed() >= WEIGH_EVERY {
            weighed = Instant::now();
            bytes = scale.weigh(&there, policy.limits.memory_bytes);
        }
        // The kernel's own bound counts threads, too. Where there are too many processes already, it would
        // take too long to ask each for its own.
        let processes = if count > policy.limits.processes {
            count
        } else {
            let threads = there.iter().map(|id| crate::process::threads(id)).sum::<u32>();
            threads.saturating_sub(1)
        };
        if let Some(limit) = too_far(policy, processes, bytes) {
            return send(control, &Said::WentTooFar { limit });
        }
    }
}

pub(super) fn too_far(policy: &Policy, processes: u32, bytes: u64) -> Option<Limit> {
    if processes > policy.limits.processes {
        Some(Limit::Processes)
    } else if bytes > policy.limits.memory_bytes {
        Some(Limit::Memory)
    } else {
        None
    }
}

pub(super) fn ended(status: WaitStatus, left_behind: u32) -> Said {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Said::Exited { code, left_behind },
        (None, signal) => Said::Signalled { signal: signal.unwrap_or_default(), left_behind },
    }
}

fn reap(program: Pid) -> Option<WaitStatus> {
    let mut status = None;
    while let Ok(Some((id, how))) = wait(WaitOptions::NOHANG) {
        if id == program {
            status = Some(how);
        }
    }
    status
}

/// The processes of the cell, this one among them.
fn ids() -> io::Result<Vec<String>> {
    let entries = fs::read_dir("/proc")?.flatten();
    Ok(entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .collect())
}
