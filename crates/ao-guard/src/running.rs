//! Our side of a program that runs: reading what it says, and ending it.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use crate::program::{Bounds, Ended, How, Program};
use crate::stream::Stream;
use crate::wire::{self, Word};
use crate::{Error, descent, keeper, process};

/// How often a wish to stop is looked at.
const STOP_TICK: Duration = Duration::from_millis(20);
/// How long a keeper may take to end everything: its grace, its passes, and a busy machine.
const ENDING_TIME: Duration =
    Duration::from_secs(5).saturating_add(keeper::GRACE).saturating_add(descent::PASSES_TIME);
/// What is kept of a held program's output.
const HELD_OUTPUT_BYTES: usize = 64 * 1024;
const NEVER: Duration = Duration::MAX;

/// A program that runs. Dropping it ends it, and all that it started.
#[derive(Debug)]
pub struct Running {
    program: PathBuf,
    keeper: Child,
    control: UnixStream,
    stdout: Stream<ChildStdout>,
    stderr: Stream<ChildStderr>,
    /// How the program ended, unless it was asked to.
    how: Option<How>,
    /// What the keeper said last.
    over: Option<Word>,
    since: Instant,
    /// The keeper has been waited for.
    is_settled: bool,
}

/// What is meant by ending a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    AskFirst,
    Kill,
}

impl Running {
    /// Takes over a keeper that was just started: gives it the input, and waits until the program
    /// runs or cannot.
    pub(crate) fn begin(
        mut keeper: Child,
        control: UnixStream,
        program: &Program,
    ) -> Result<Self, Error> {
        let (stdout, stderr) =
            (Stream::new(keeper.stdout.take()), Stream::new(keeper.stderr.take()));
        let mut running = Self {
            program: program.path.clone(),
            keeper,
            control,
            stdout,
            stderr,
            how: None,
            over: None,
            since: Instant::now(),
            is_settled: false,
        };
        running.greet(program)?;
        Ok(running)
    }

    fn greet(&mut self, program: &Program) -> Result<(), Error> {
        let sent = self
            .control
            .set_write_timeout(Some(ENDING_TIME))
            .and_then(|()| self.control.set_read_timeout(Some(ENDING_TIME)))
            .and_then(|()| wire::send_input(&self.control, &program.input))
            .and_then(|()| Word::receive(&self.control));
        match sent {
            Ok(Some(Word::Started)) => Ok(()),
            Ok(Some(Word::NotStarted(reason))) => {
                self.settle();
                let source = io::Error::from_raw_os_error(reason);
                Err(Error::Start { program: self.program.clone(), source })
            }
            Ok(_) => Err(self.lost()),
            Err(source) => Err(Error::Keeper { program: self.program.clone(), source }),
        }
    }

    /// Waits until the program ends, and ends it if it goes too far or if `stop` becomes true.
    pub fn wait(mut self, bounds: Bounds, stop: &AtomicBool) -> Result<Ended, Error> {
        loop {
            let went_too_far = if self.stdout.is_over || self.stderr.is_over {
                Some(How::TooMuchOutput)
            } else if self.since.elapsed() >= bounds.time {
                Some(How::TimedOut)
            } else if stop.load(Ordering::Relaxed) {
                Some(How::Stopped)
            } else {
                None
            };
            if self.over.is_some() {
                return self.finish(bounds.output_bytes, How::Stopped);
            }
            if let Some(how) = went_too_far {
                self.end_tree(Ending::AskFirst, bounds.output_bytes)?;
                return self.finish(bounds.output_bytes, how);
            }
            let left = bounds.time.saturating_sub(self.since.elapsed());
            self.listen(left.min(STOP_TICK), bounds.output_bytes)?;
        }
    }

    /// The first line that the program writes to its standard output, without its end; nothing if
    /// it ends, or the time is over, before there is one.
    pub fn first_line(&mut self, within: Duration) -> Result<Option<Vec<u8>>, Error> {
        let since = Instant::now();
        loop {
            if let Some(end) = self.stdout.bytes.iter().position(|byte| *byte == b'\n') {
                return Ok(Some(self.stdout.bytes[..end].to_vec()));
            }
            let left = within.saturating_sub(since.elapsed());
            if self.over.is_some() || self.stdout.pipe.is_none() || left.is_zero() {
                return Ok(None);
            }
            self.listen(left, HELD_OUTPUT_BYTES)?;
        }
    }

    /// Whether the program still runs after this time. It returns early if it does not.
    pub fn is_still_running(&mut self, after: Duration) -> Result<bool, Error> {
        let since = Instant::now();
        loop {
            let left = after.saturating_sub(since.elapsed());
            self.listen(left, HELD_OUTPUT_BYTES)?;
            let is_running = self.how.is_none() && self.over.is_none();
            if !is_running || left.is_zero() {
                return Ok(is_running);
            }
        }
    }

    /// Asks the program to end, and ends it. One that had ended by itself is told as that.
    pub fn end(mut self) -> Result<Ended, Error> {
        self.end_tree(Ending::AskFirst, HELD_OUTPUT_BYTES)?;
        self.finish(HELD_OUTPUT_BYTES, How::Stopped)
    }

    /// Ends the program at once (SIGKILL), and says how it ended: it may have been quicker.
    pub fn kill(mut self) -> Result<Ended, Error> {
        self.end_tree(Ending::Kill, HELD_OUTPUT_BYTES)?;
        self.finish(HELD_OUTPUT_BYTES, How::Stopped)
    }

    /// Has the keeper end everything, and reads on until it has.
    fn end_tree(&mut self, ending: Ending, limit: usize) -> Result<(), Error> {
        let letter = match ending {
            Ending::AskFirst => wire::END,
            Ending::Kill => wire::KILL,
        };
        // A keeper that has gone ahead has nothing left to be told.
        let _ = self.control.write_all(&[letter]);
        let since = Instant::now();
        while self.over.is_none() {
            let left = ENDING_TIME.saturating_sub(since.elapsed());
            if left.is_zero() {
                return Err(self.lost());
            }
            self.listen(left, limit)?;
        }
        Ok(())
    }

    /// Waits for something to happen, and takes it in.
    fn listen(&mut self, within: Duration, limit: usize) -> Result<(), Error> {
        let mut watched = vec![PollFd::new(&self.control, PollFlags::IN)];
        let out = self.stdout.pipe.as_ref().map(|pipe| {
            watched.push(PollFd::new(pipe, PollFlags::IN));
            watched.len() - 1
        });
        let err = self.stderr.pipe.as_ref().map(|pipe| {
            watched.push(PollFd::new(pipe, PollFlags::IN));
            watched.len() - 1
        });
        let timeout = Timespec::try_from(within.min(NEVER / 4)).unwrap_or_default();
        // A signal that we handled is no news from the program.
        if poll(&mut watched, Some(&timeout)).is_err() {
            return Ok(());
        }
        let is_ready = |at: usize| !watched[at].revents().is_empty();
        let (is_told, is_out, is_err) =
            (is_ready(0), out.is_some_and(is_ready), err.is_some_and(is_ready));
        if is_out {
            self.stdout.read(limit);
        }
        if is_err {
            self.stderr.read(limit);
        }
        if is_told {
            self.take_word()?;
        }
        Ok(())
    }

    fn take_word(&mut self) -> Result<(), Error> {
        match Word::receive(&self.control) {
            Ok(Some(Word::Exited(code))) => self.how = Some(How::Exited(code)),
            Ok(Some(Word::Signalled(signal))) => self.how = Some(How::Signalled(signal)),
            Ok(Some(word @ Word::Over { .. })) => self.over = Some(word),
            Ok(Some(Word::Started | Word::NotStarted(_)) | None) | Err(_) => {
                return Err(self.lost());
            }
        }
        Ok(())
    }

    /// Takes in what lies in the pipes. Everyone who could write into them has ended, but for one
    /// who was handed a pipe from outside of the tree; nobody waits for that one.
    fn drain(&mut self, limit: usize) {
        self.stdout.drain(limit);
        self.stderr.drain(limit);
    }

    /// Puts together what happened; `asked` is why the program was asked to end, if it was.
    fn finish(mut self, limit: usize, asked: How) -> Result<Ended, Error> {
        self.drain(limit);
        self.settle();
        let Some(Word::Over { left_behind, survivors }) = self.over else {
            return Err(self.lost());
        };
        let is_cut = self.stdout.is_over || self.stderr.is_over;
        Ok(Ended {
            how: if is_cut { How::TooMuchOutput } else { self.how.unwrap_or(asked) },
            stdout: std::mem::take(&mut self.stdout.bytes),
            stderr: std::mem::take(&mut self.stderr.bytes),
            took: self.since.elapsed(),
            left_behind,
            survivors,
        })
    }

    fn settle(&mut self) {
        if !self.is_settled {
            self.is_settled = self.keeper.wait().is_ok();
        }
    }

    /// The keeper is gone without its last word, or does not answer. What can still be found is
    /// its session: until it is waited for, that number is its own.
    fn lost(&mut self) -> Error {
        let mut ended = 0;
        if !self.is_settled {
            let _ = self.keeper.kill();
            let session = Pid::from_child(&self.keeper);
            // Once more, for those who were just being born.
            ended = process::kill_session(session) + process::kill_session(session);
            self.settle();
        }
        Error::KeeperLost { program: self.program.clone(), ended }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_settled && self.end_tree(Ending::AskFirst, HELD_OUTPUT_BYTES).is_ok() {
            self.settle();
        }
    }
}
