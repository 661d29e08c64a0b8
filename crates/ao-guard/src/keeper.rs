//! The keeper: the process between us and a program.
//!
//! It is this same binary, started with a word of its own. It has one thread and one job: to start
//! the program, to adopt what the program leaves behind, and to let nothing of it live on. The
//! socket that is its standard input tells it what to do; when the socket closes, the one who
//! wanted the program is gone, and so the program goes too.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitStatus, kill_process, kill_process_group};

use crate::descent;
use crate::program::Input;
use crate::wire::{self, Word};

/// The first argument of a process that is a keeper.
pub(crate) const WORD: &str = "keep-program";

/// How long a program has to end by itself once it was asked to.
pub(crate) const GRACE: Duration = Duration::from_millis(300);
/// How often the dead are looked after while nothing else happens.
const TICK: Duration = Duration::from_secs(1);
/// What a pipe that is ready for writing surely takes without blocking.
const FEED_BYTES: usize = 4096;

/// Does the work of a keeper if this process was started to be one, and says then how it should
/// exit. To be called first in `main`, with the arguments of the process.
pub(crate) fn serve(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    let is_called = arguments.next()? == WORD;
    // Typed by hand it is a word that nobody knows.
    let is_held = fs::metadata("/proc/self/fd/0").is_ok_and(|stdin| stdin.file_type().is_socket());
    if !is_called || !is_held {
        return None;
    }
    let program = arguments.next()?;
    Some(match keep(&program, arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn keep(program: &OsString, arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    let control = UnixStream::from(rustix::stdio::stdin().try_clone_to_owned()?);
    let input = wire::receive_input(&control)?;
    match Kept::start(control.try_clone()?, program, arguments, input) {
        Ok(kept) => {
            let _ = Word::Started.send(&control);
            kept.stay();
            Ok(())
        }
        Err(error) => {
            let reason = error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error());
            Word::NotStarted(reason).send(&control)
        }
    }
}

/// What the one at the other end of the socket wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// It is gone, or it wants the program to end.
    End,
    Kill,
}

#[derive(Debug, PartialEq, Eq)]
enum Event {
    Wished(Wish),
    ProgramEnded,
    Nothing,
}

/// What is still to be written to the program.
#[derive(Debug)]
struct Feed {
    pipe: ChildStdin,
    rest: Vec<u8>,
    is_held_open: bool,
}

/// A program under its keeper.
#[derive(Debug)]
struct Kept {
    control: UnixStream,
    program: Pid,
    handle: OwnedFd,
    feed: Option<Feed>,
    status: Option<WaitStatus>,
}

impl Kept {
    #[expect(clippy::disallowed_methods, reason = "this is the room that starts programs")]
    fn start(
        control: UnixStream,
        program: &OsString,
        arguments: impl Iterator<Item = OsString>,
        input: Input,
    ) -> io::Result<Self> {
        let nowhere = fs::File::options().read(true).write(true).open("/dev/null")?;
        close_the_rest_on_exec()?;
        // A session of its own has no terminal: nothing to ask a question on, and no Ctrl-C.
        rustix::process::setsid()?;
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        // Whoever cannot become somebody else can be ended by us.
        rustix::thread::set_no_new_privs(true)?;
        let stdin = if input == Input::Nothing { Stdio::null() } else { Stdio::piped() };
        let mut command = Command::new(program);
        let mut child = command.args(arguments).stdin(stdin).process_group(0).spawn()?;
        let id = Pid::from_child(&child);
        // From here on the only one who writes into the pipes is the program.
        let muted = rustix::stdio::dup2_stdout(&nowhere)
            .and_then(|()| rustix::stdio::dup2_stderr(&nowhere))
            .and_then(|()| rustix::process::pidfd_open(id, PidfdFlags::empty()));
        let handle = match muted {
            Ok(handle) => handle,
            Err(error) => {
                descent::end_all(id, &mut None);
                return Err(error.into());
            }
        };
        let feed = child.stdin.take().map(|pipe| match input {
            Input::HeldOpen(rest) => Feed { pipe, rest, is_held_open: true },
            Input::Bytes(rest) => Feed { pipe, rest, is_held_open: false },
            Input::Nothing => Feed { pipe, rest: Vec::new(), is_held_open: false },
        });
        let mut kept = Self { control, program: id, handle, feed, status: None };
        kept.settle_feed();
        Ok(kept)
    }

    /// Stays until nothing of the program is left.
    fn stay(mut self) {
        let wish = loop {
            match self.next_event(TICK) {
                Event::Wished(wish) => break Some(wish),
                Event::ProgramEnded => break None,
                Event::Nothing => self.reap(),
            }
        };
        self.feed = None;
        if wish == Some(Wish::End) {
            self.ask();
        }
        // The program has not been reaped if it has no status, so that its id is still its own.
        if wish.is_some() && self.status.is_none() {
            let _ = kill_process(self.program, Signal::KILL);
        }
        self.reap();
        let tally = descent::end_all(self.program, &mut self.status);
        // How one ended who was asked to is not its own doing.
        if wish != Some(Wish::End) {
            self.tell_status();
        }
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (left_behind, survivors) = (count(tally.left_behind), count(tally.survivors));
        let _ = Word::Over { left_behind, survivors }.send(&self.control);
    }

    /// Asks the program to end, and gives it a moment.
    fn ask(&mut self) {
        if self.status.is_some() || kill_process_group(self.program, Signal::TERM).is_err() {
            return;
        }
        let since = Instant::now();
        while let Some(left) = GRACE.checked_sub(since.elapsed()) {
            match self.next_event(left) {
                Event::ProgramEnded | Event::Wished(Wish::Kill) => return,
                // Whoever is gone stays gone.
                Event::Wished(Wish::End) => {
                    let mut watched = [PollFd::new(&self.handle, PollFlags::IN)];
                    let _ = poll(&mut watched, Some(&timespec(left)));
                    return;
                }
                Event::Nothing => {}
            }
        }
    }

    fn reap(&mut self) {
        descent::reap(self.program, &mut self.status);
    }

    fn tell_status(&self) {
        let Some(status) = self.status else { return };
        let word = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Word::Exited(code),
            (None, Some(signal)) => Word::Signalled(signal),
            (None, None) => return,
        };
        let _ = word.send(&self.control);
    }

    fn next_event(&mut self, within: Duration) -> Event {
        let control = PollFd::new(&self.control, PollFlags::IN);
        let handle = PollFd::new(&self.handle, PollFlags::IN);
        let mut watched = vec![control, handle];
        if let Some(feed) = self.feed.as_ref().filter(|feed| !feed.rest.is_empty()) {
            watched.push(PollFd::new(&feed.pipe, PollFlags::OUT));
        }
        if poll(&mut watched, Some(&timespec(within))).is_err() {
            return Event::Nothing;
        }
        let is_ready = |at: usize| watched.get(at).is_some_and(|fd| !fd.revents().is_empty());
        let [is_told, is_ended, is_hungry] = [0, 1, 2].map(is_ready);
        // A program that has ended by itself was not ended, even if somebody wanted it to be.
        if is_ended {
            return Event::ProgramEnded;
        }
        if is_told {
            let mut letter = [0];
            return Event::Wished(match (&self.control).read(&mut letter) {
                Ok(1) if letter[0] == wire::KILL => Wish::Kill,
                _ => Wish::End,
            });
        }
        if is_hungry {
            self.feed_once();
        }
        Event::Nothing
    }

    fn feed_once(&mut self) {
        let Some(feed) = &mut self.feed else { return };
        let next = feed.rest.len().min(FEED_BYTES);
        match feed.pipe.write(&feed.rest[..next]) {
            Ok(count) => drop(feed.rest.drain(..count)),
            // It does not want to read. That is its own affair.
            Err(_) => feed.rest.clear(),
        }
        self.settle_feed();
    }

    /// Closes the input when all of it is written, unless it is to be held open.
    fn settle_feed(&mut self) {
        self.feed.take_if(|feed| feed.rest.is_empty() && !feed.is_held_open);
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration).unwrap_or_default()
}

/// Sees to it that the program gets its three streams and no other open file. Whoever started us
/// may have left some open on purpose or by accident: a lock, a log, a socket.
#[expect(
    unsafe_code,
    reason = "a file that somebody else opened has no owner in this program, only a number"
)]
fn close_the_rest_on_exec() -> io::Result<()> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        numbers.extend(entry?.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // SAFETY: this process has one thread and closes nothing in this loop; the number was open
        // a moment ago, and if it was that of the listing above it is only refused by the kernel.
        let file = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
        match rustix::io::fcntl_setfd(file.as_fd(), rustix::io::FdFlags::CLOEXEC) {
            Ok(()) | Err(Errno::BADF) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
