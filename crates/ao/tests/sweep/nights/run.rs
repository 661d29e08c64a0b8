//! One start of `ao overnight`, and its end.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::world::World;

use super::plan::{End, Moment, Sign};

/// Often enough to hit what lies between two system calls.
const LOOK_EVERY: Duration = Duration::from_micros(200);
/// No night of this corpus takes so long, on any machine.
const NIGHT_MAX: Duration = Duration::from_mins(2);

/// How a start ended.
pub(super) struct Ended {
    pub(super) output: Output,
    pub(super) took: Duration,
    /// The signal that it got while it was at work.
    pub(super) signal: Option<Signal>,
}

/// Starts a night and sees it to its end. `usual` is what a night takes.
pub(super) fn start(
    world: &World,
    args: &[&str],
    end: End,
    usual: Duration,
) -> Result<Ended, String> {
    let marks = Marks::of(world);
    let mut child = world
        .command(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let since = Instant::now();
    let mut seen = None;
    let mut signal = None;
    // The pipes hold what a report takes; should they fill up the night is too long.
    loop {
        if child.try_wait().unwrap().is_some() {
            let output = child.wait_with_output().unwrap();
            return Ok(Ended { output, took: since.elapsed(), signal });
        }
        if since.elapsed() > NIGHT_MAX {
            return Err(too_long(child));
        }
        let wanted = match end {
            End::Itself => None,
            End::Killed(moment) => Some((moment, Signal::SIGKILL)),
            End::Asked(moment) => Some((moment, Signal::SIGTERM)),
        };
        if let Some((moment, wanted)) = wanted
            && signal.is_none()
            && is_due(moment, since, usual, &mut seen, || marks.is_new(world, moment))
        {
            kill(Pid::from_raw(child.id().cast_signed()), wanted).unwrap();
            signal = Some(wanted);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn too_long(mut child: Child) -> String {
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    format!("the night did not end: {}", crate::world::shown(&output))
}

fn is_due(
    moment: Moment,
    since: Instant,
    usual: Duration,
    seen: &mut Option<Instant>,
    is_seen: impl Fn() -> bool,
) -> bool {
    match moment {
        Moment::Share(share) => since.elapsed() >= usual * share / 1000,
        Moment::Seen(_, later) => {
            if seen.is_none() && is_seen() {
                *seen = Some(Instant::now());
            }
            seen.is_some_and(|at| at.elapsed() >= later)
        }
    }
}

/// What was there before, so that a run's own signs can be told from those of earlier ones.
struct Marks {
    history: u64,
    packets: Option<u64>,
    folders: BTreeSet<OsString>,
}

impl Marks {
    fn of(world: &World) -> Self {
        Self {
            history: history_bytes(world),
            packets: packets_inode(world),
            folders: folders(world).into_iter().collect(),
        }
    }

    fn is_new(&self, world: &World, moment: Moment) -> bool {
        let Moment::Seen(sign, _) = moment else { return false };
        match sign {
            Sign::Staging => {
                fs::read_dir(world.state("staging")).is_ok_and(|mut found| found.next().is_some())
            }
            Sign::Marker => world.has_marker(),
            Sign::History => history_bytes(world) != self.history,
            Sign::Iteration => folders(world).into_iter().any(|name| {
                let first = world.state("latest").join(&name).join("iterations/iter-1.json");
                !self.folders.contains(&name) && first.exists()
            }),
            Sign::Packets => packets_inode(world).is_some_and(|now| Some(now) != self.packets),
        }
    }
}

fn folders(world: &World) -> Vec<OsString> {
    let Ok(found) = fs::read_dir(world.state("latest")) else { return Vec::new() };
    found.flatten().map(|entry| entry.file_name()).collect()
}

fn packets_inode(world: &World) -> Option<u64> {
    fs::metadata(world.state("latest/morning-packets")).ok().map(|found| found.ino())
}

fn history_bytes(world: &World) -> u64 {
    fs::metadata(world.state("history.jsonl")).map_or(0, |found| found.len())
}
