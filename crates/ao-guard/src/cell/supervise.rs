//! Watching over a cell from outside: time, output, and the wish to stop.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use crate::process;

use super::late::SecretWatch;
use super::message::{self, KILL, Said};
use super::order::Limits;
use super::policy::{Policy, Spot};
use super::report::{Bytes, Finish, Limit, Refusal};
use super::start;

/// How often a wish to stop is looked at.
const STOP_TICK: Duration = Duration::from_millis(20);
/// How long a cell may take to be built, and to end.
const PATIENCE: Duration = Duration::from_mins(2);
const CHUNK_BYTES: usize = 64 * 1024;

/// Which stream some bytes came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Stdout,
    Stderr,
}

/// Takes in what the program says, as it comes. What it keeps is its own affair.
pub type Sink<'a> = dyn FnMut(Source, &[u8]) + 'a;

/// What is known when a cell has ended.
#[derive(Debug)]
pub(super) struct Over {
    pub(super) finish: Finish,
    pub(super) stdout: Bytes,
    pub(super) stderr: Bytes,
    pub(super) took: Duration,
    pub(super) cpu: Duration,
    pub(super) memory_bytes: u64,
    pub(super) left_behind: u32,
    pub(super) survivors: u32,
    /// A secret came to be in a project, and the cell was ended for it.
    pub(super) appeared: Option<PathBuf>,
}

/// The program runs.
#[derive(Debug)]
pub(super) struct ProgramStart {
    /// So many attacks were held before.
    pub(super) attacks: u32,
    /// Projects in which a secret that comes later is not hidden.
    pub(super) uncovered: Vec<Spot>,
}

#[derive(Debug)]
struct Stream<R> {
    pipe: Option<R>,
    counted: u64,
}

impl<R: Read> Stream<R> {
    /// Reads once from a pipe that is ready, and hands on what is within `room`.
    fn read(&mut self, source: Source, room: u64, sink: &mut Sink<'_>) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut chunk = vec![0; CHUNK_BYTES];
        match pipe.read(&mut chunk) {
            Ok(count @ 1..) => {
                let within = usize::try_from(room).unwrap_or(usize::MAX).min(count);
                sink(source, &chunk[..within]);
                self.counted += count as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            _ => self.pipe = None,
        }
    }
}

/// A cell whose holder runs. Dropping it ends both.
#[derive(Debug)]
pub(super) struct Supervised {
    holder: Child,
    control: UnixStream,
    stdout: Stream<std::process::ChildStdout>,
    stderr: Stream<std::process::ChildStderr>,
    limits: Limits,
    since: Instant,
    finish: Option<Finish>,
    left_behind: u32,
    over: Option<Said>,
    is_settled: bool,
}

impl Supervised {
    pub(super) fn begin(mut holder: Child, control: UnixStream, limits: Limits) -> Self {
        let stdout = Stream { pipe: holder.stdout.take(), counted: 0 };
        let stderr = Stream { pipe: holder.stderr.take(), counted: 0 };
        Self {
            holder,
            control,
            stdout,
            stderr,
            limits,
            since: Instant::now(),
            finish: None,
            left_behind: 0,
            over: None,
            is_settled: false,
        }
    }

    /// Hands over the policy and what the program reads, and takes the listeners of the cell.
    pub(super) fn greet(
        &mut self,
        policy: &Policy,
        input: &[u8],
    ) -> Result<Vec<TcpListener>, Refusal> {
        self.control.set_read_timeout(Some(PATIENCE))?;
        self.control.set_write_timeout(Some(PATIENCE))?;
        start::send_policy(&self.control, policy, input).map_err(|_| Refusal::HolderLost)
    }

    /// Waits until the program runs, or says why it does not.
    pub(super) fn started(&mut self) -> Result<ProgramStart, Option<Said>> {
        let mut uncovered = Vec::new();
        loop {
            match message::receive(&self.control) {
                Ok(Some(Said::Built { uncovered: trees })) => uncovered = trees,
                Ok(Some(Said::Started { attacks })) => {
                    return Ok(ProgramStart { attacks, uncovered });
                }
                Ok(Some(said)) => return Err(Some(said)),
                Ok(None) | Err(_) => return Err(None),
            }
        }
    }

    /// Reads on until nothing of the cell is left.
    pub(super) fn wait(
        mut self,
        sink: &mut Sink<'_>,
        stop: &AtomicBool,
        late: &mut SecretWatch,
    ) -> Result<Over, Refusal> {
        let mut appeared = None;
        let mut since_end: Option<Instant> = None;
        while self.over.is_none() {
            let ending = match since_end {
                Some(since) if since.elapsed() > PATIENCE => return Err(self.lost()),
                Some(_) => None,
                None => {
                    appeared = late.came();
                    let exposed = appeared.as_ref().map(|_| Finish::Exposed);
                    exposed.or_else(|| self.reason_to_end(stop))
                }
            };
            if let Some(finish) = ending {
                self.finish.get_or_insert(finish);
                since_end = Some(Instant::now());
                // A holder that is ahead of us has nothing left to be told.
                let _ = self.control.write_all(&[KILL]);
            }
            let left = self.limits.time.saturating_sub(self.since.elapsed()).min(STOP_TICK);
            self.listen(left.max(Duration::from_millis(1)), sink, late)?;
        }
        self.drain(sink);
        self.settle();
        let Some(Said::Over { survivors, left_behind, cpu_us, largest_kib }) = self.over else {
            return Err(self.lost());
        };
        Ok(Over {
            finish: self.finish.unwrap_or(Finish::Lost),
            stdout: Bytes { counted: self.stdout.counted },
            stderr: Bytes { counted: self.stderr.counted },
            took: self.since.elapsed(),
            cpu: Duration::from_micros(cpu_us),
            memory_bytes: largest_kib * 1024,
            left_behind: self.left_behind.max(left_behind),
            survivors,
            appeared,
        })
    }

    fn reason_to_end(&self, stop: &AtomicBool) -> Option<Finish> {
        if self.said() > self.limits.output_bytes {
            Some(Finish::Ended(Limit::Output))
        } else if self.since.elapsed() >= self.limits.time {
            Some(Finish::Ended(Limit::Time))
        } else if stop.load(Ordering::Relaxed) {
            Some(Finish::Stopped)
        } else {
            None
        }
    }

    fn said(&self) -> u64 {
        self.stdout.counted + self.stderr.counted
    }

    /// Takes in whatever comes next, if anything does in this time.
    fn listen(
        &mut self,
        within: Duration,
        sink: &mut Sink<'_>,
        late: &SecretWatch,
    ) -> Result<(), Refusal> {
        let mut watched = vec![PollFd::new(&self.control, PollFlags::IN)];
        let out = self.stdout.pipe.as_ref().map(|pipe| {
            watched.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
            watched.len() - 1
        });
        let err = self.stderr.pipe.as_ref().map(|pipe| {
            watched.push(PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN));
            watched.len() - 1
        });
        // What came is asked for before each wait.
        watched.extend(late.queue().map(|queue| PollFd::new(queue, PollFlags::IN)));
        let timeout = Timespec::try_from(within).unwrap_or_default();
        if poll(&mut watched, Some(&timeout)).is_err() {
            return Ok(());
        }
        let is_ready = |at: usize| !watched[at].revents().is_empty();
        let (is_told, is_out, is_err) =
            (is_ready(0), out.is_some_and(is_ready), err.is_some_and(is_ready));
        if is_out {
            let room = self.limits.output_bytes.saturating_sub(self.said());
            self.stdout.read(Source::Stdout, room, sink);
        }
        if is_err {
            let room = self.limits.output_bytes.saturating_sub(self.said());
            self.stderr.read(Source::Stderr, room, sink);
        }
        if self.said() > self.limits.output_bytes {
            // Whoever writes on is told by the kernel that nobody reads.
            self.stdout.pipe = None;
            self.stderr.pipe = None;
        }
        if is_told {
            self.take_word()?;
        }
        Ok(())
    }

    fn take_word(&mut self) -> Result<(), Refusal> {
        let (finish, left_behind) = match message::receive(&self.control) {
            Ok(Some(Said::Exited { code, left_behind })) => (Finish::Exited(code), left_behind),
            Ok(Some(Said::Signalled { signal, left_behind })) => {
                (Finish::Signalled(signal), left_behind)
            }
            Ok(Some(Said::WentTooFar { limit })) => (Finish::Ended(limit), 0),
            Ok(Some(said @ Said::Over { .. })) => {
                self.over = Some(said);
                return Ok(());
            }
            _ => return Err(self.lost()),
        };
        self.finish.get_or_insert(finish);
        self.left_behind = left_behind;
        Ok(())
    }

    /// Takes in what lies in the pipes. Everyone who could write into them has ended, but for one
    /// who was handed a pipe from outside of the cell; nobody waits for that one.
    fn drain(&mut self, sink: &mut Sink<'_>) {
        while self.said() <= self.limits.output_bytes {
            let room = self.limits.output_bytes - self.said();
            if is_ready(self.stdout.pipe.as_ref()) {
                self.stdout.read(Source::Stdout, room, sink);
            } else if is_ready(self.stderr.pipe.as_ref()) {
                self.stderr.read(Source::Stderr, room, sink);
            } else {
                return;
            }
        }
    }

    /// Waits for a holder that has nothing left to hold.
    pub(super) fn settle(&mut self) {
        if !self.is_settled {
            self.is_settled = self.holder.wait().is_ok();
        }
    }

    /// The holder is gone without its last word, or does not answer. In tier A the kernel has ended
    /// the cell with it; in tier B what can still be found is its session.
    fn lost(&mut self) -> Refusal {
        if !self.is_settled {
            let _ = self.holder.kill();
            process::kill_session(Pid::from_child(&self.holder));
            self.settle();
        }
        Refusal::HolderLost
    }
}

fn is_ready(pipe: Option<&impl AsFd>) -> bool {
    pipe.is_some_and(|pipe| {
        let mut watched = [PollFd::new(pipe, PollFlags::IN)];
        matches!(poll(&mut watched, Some(&Timespec::default())), Ok(1..))
    })
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if !self.is_settled {
            // The holder takes a closed socket for the end of the engine, and ends the cell.
            let _ = self.control.shutdown(std::net::Shutdown::Both);
            self.settle();
        }
    }
}
