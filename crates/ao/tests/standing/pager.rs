//! Somebody pages through an entry and goes to bed: the pipe is full, and nobody reads on.

use std::fs;
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::libc;

use crate::tally::Tally;
use crate::tree::Tree;
use crate::whole::{ao, must};
use crate::words::learning;
use crate::world::{Arena, World, shown};

/// Longer than anything here takes, so that a test that waits in vain ends.
const PATIENCE: Duration = Duration::from_mins(5);
/// Far more than a pipe holds.
const BIG_BYTES: usize = 1 << 20;

/// What is paged through: each prints more than a pipe holds.
const PAGED: [&[&str]; 3] =
    [&["show", "big", "--json"], &["show", "big"], &["tree", "diff", "large"]];

#[test]
fn pager_left_open_stops_no_night() {
    let mut tally = Tally::new("pager", "pager_left_open_stops_no_night", PAGED.len());
    let arena = Arena::new();
    for args in PAGED {
        let name = format!("pager of ao {}", args.join(" "));
        if tally.wants(&name) {
            tally.record(&name, paged(&arena, args));
        }
    }
    tally.finish();
}

fn paged(arena: &Arena, args: &[&str]) -> Result<(), String> {
    let world = arena.world(&Tree::default());
    crate::corpus::folders(&world);
    let mut dice = crate::dice::Dice::new(11);
    let text = learning(&mut dice, 1);
    for name in ["2026-05-01-l1", "2026-05-02-copy"] {
        fs::write(world.agents(&format!("learnings/{name}.md")), &text).unwrap();
    }
    let big = "A line of a very long page about nothing in particular.\n".repeat(BIG_BYTES / 56);
    fs::write(world.agents("knowledge/big.md"), format!("# Big\n\n{big}")).unwrap();
    let edits = [crate::world::write("knowledge/large.md", &format!("# Large\n\n{big}"))];
    must(&world, &["tree", "apply", &arena.edits_file(&edits), "--id", "large"])?;
    let mut pager = ao(&world, args);
    pager.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut pager = Pager { child: pager.spawn().unwrap() };
    pager.wait_until_stuck()?;
    let history = || fs::read_to_string(world.state("history.jsonl")).unwrap().lines().count();
    let before = history();
    let output = ao(&world, &crate::corpus::NIGHT).output().unwrap();
    if !pager.is_stuck() {
        return Err("the pager went on by itself".to_owned());
    }
    if !output.status.success() || history() == before {
        let made = history() - before;
        return Err(format!("the night made {made} commits: {}", shown(&output)));
    }
    pager.is_whole(&world, args)
}

struct Pager {
    child: Child,
}

impl Pager {
    /// It has filled the pipe, and sleeps.
    fn wait_until_stuck(&mut self) -> Result<(), String> {
        let since = Instant::now();
        while since.elapsed() < PATIENCE {
            if self.child.try_wait().unwrap().is_some() {
                return Err("it printed less than a pipe holds".to_owned());
            }
            if self.is_stuck() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(format!("it does not fill its pipe: {} bytes", self.waiting()))
    }

    /// It sleeps with much in the pipe: only a reader can wake it.
    fn is_stuck(&self) -> bool {
        let pipe = self.child.stdout.as_ref().unwrap().as_raw_fd();
        #[expect(unsafe_code, reason = "no crate here wraps it")]
        // SAFETY: it takes no pointer.
        let room = unsafe { libc::fcntl(pipe, libc::F_GETPIPE_SZ) };
        // Writes that are not of whole pages leave some of the room unused.
        self.waiting() > room / 2 && self.sleeps()
    }

    fn sleeps(&self) -> bool {
        let stat =
            fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
    }

    fn waiting(&self) -> i32 {
        let mut bytes: i32 = 0;
        let pipe = self.child.stdout.as_ref().unwrap().as_raw_fd();
        #[expect(unsafe_code, reason = "no crate here wraps it")]
        // SAFETY: the kernel writes one int, which lives until the call returns.
        unsafe {
            libc::ioctl(pipe, libc::FIONREAD, &raw mut bytes);
        }
        bytes
    }

    /// What it prints when somebody reads on is what it would have printed at once.
    fn is_whole(&mut self, world: &World, args: &[&str]) -> Result<(), String> {
        let mut text = String::new();
        self.child.stdout.as_mut().unwrap().read_to_string(&mut text).unwrap();
        let status = self.child.wait().unwrap();
        if status.success() && text.contains("very long page") {
            return Ok(());
        }
        Err(format!(
            "`ao {}` in {}: {status}, {} bytes",
            args.join(" "),
            world.root.display(),
            text.len()
        ))
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        // It has ended if all went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
