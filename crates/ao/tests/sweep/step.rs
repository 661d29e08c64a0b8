//! A process that is led from one file-system call to the next.
//!
//! The kernel stops the traced process at the entry and at the exit of each call that changes
//! something, or also of those that look. Whoever holds a [`Stepper`] is at such a stop and may
//! look, act, go on, or kill.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus, Output, Stdio};

use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::calls::{Call, Watch};
use crate::trap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The call has not happened yet.
    Entry,
    /// The call has happened, and the process does not know it yet.
    Exit,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Stop {
    pub(crate) edge: Edge,
    pub(crate) call: Call,
    thread: Pid,
}

impl Stop {
    pub(crate) fn describe(&self) -> String {
        let edge = match self.edge {
            Edge::Entry => "the entry",
            Edge::Exit => "the exit",
        };
        format!("{edge} of {}", self.call.describe(self.thread))
    }

    /// At the entry of a write: only the first half of its bytes will be written.
    pub(crate) fn halve(&self) {
        let mut registers = ptrace::getregs(self.thread).unwrap();
        #[cfg(target_arch = "x86_64")]
        let count = &mut registers.rdx;
        #[cfg(target_arch = "aarch64")]
        let count = &mut registers.regs[2];
        *count /= 2;
        ptrace::setregs(self.thread, registers).unwrap();
    }
}

pub(crate) struct Stepper {
    watch: Watch,
    leader: Pid,
    /// The thread that stands at a stop, to be set going again.
    held: Option<Pid>,
    /// The call that is shown and that each thread is inside of.
    inside: HashMap<Pid, Call>,
    ended: Option<ExitStatus>,
    /// Files, not pipes: nobody reads while the process is being stepped.
    stdout: File,
    stderr: File,
}

impl Stepper {
    /// Starts the command, which has done nothing yet when this returns.
    pub(crate) fn start(command: Command) -> Self {
        Self::start_to_watch(command, Watch::Changes)
    }

    pub(crate) fn start_to_watch(mut command: Command, watch: Watch) -> Self {
        let stdout = tempfile::tempfile().unwrap();
        let stderr = tempfile::tempfile().unwrap();
        command
            .stdin(Stdio::null())
            .stdout(stdout.try_clone().unwrap())
            .stderr(stderr.try_clone().unwrap());
        let filter = trap::program(watch);
        #[expect(unsafe_code, reason = "only the new process itself can ask to be traced")]
        // SAFETY: between fork and exec only system calls are made, and nothing is allocated.
        unsafe {
            command.pre_exec(move || {
                ptrace::traceme()?;
                trap::install(&filter)
            });
        }
        #[expect(clippy::zombie_processes, reason = "it is waited for by its number, stop by stop")]
        let child = command.spawn().unwrap();
        let leader = Pid::from_raw(i32::try_from(child.id()).unwrap());
        let mut stepper =
            Self { watch, leader, held: None, inside: HashMap::new(), ended: None, stdout, stderr };
        match waitpid(leader, Some(WaitPidFlag::__WALL)).unwrap() {
            WaitStatus::Stopped(_, Signal::SIGTRAP) => {}
            other => panic!("expected a stop at exec, not {other:?}"),
        }
        ptrace::setoptions(
            leader,
            Options::PTRACE_O_TRACESYSGOOD
                | Options::PTRACE_O_TRACESECCOMP
                | Options::PTRACE_O_EXITKILL
                | Options::PTRACE_O_TRACECLONE
                | Options::PTRACE_O_TRACEFORK
                | Options::PTRACE_O_TRACEVFORK,
        )
        .unwrap();
        stepper.held = Some(leader);
        stepper
    }

    pub(crate) fn pid(&self) -> Pid {
        self.leader
    }

    /// Goes on to the next stop; `None` when the process has ended.
    pub(crate) fn next(&mut self) -> Option<Stop> {
        if let Some(thread) = self.held.take() {
            self.resume(thread, None);
        }
        while self.ended.is_none() {
            // Only this thread's own tracees: other tests wait for theirs.
            let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
            match waitpid(None, Some(flags)).unwrap() {
                WaitStatus::PtraceEvent(thread, _, libc::PTRACE_EVENT_SECCOMP)
                | WaitStatus::PtraceSyscall(thread) => {
                    if let Some(stop) = self.syscall_stop(thread) {
                        self.held = Some(thread);
                        return Some(stop);
                    }
                    self.resume(thread, None);
                }
                WaitStatus::PtraceEvent(thread, ..)
                // How a new thread of the process reports for the first time.
                | WaitStatus::Stopped(thread, Signal::SIGSTOP) => self.resume(thread, None),
                WaitStatus::Stopped(thread, signal) => self.resume(thread, Some(signal)),
                WaitStatus::Exited(thread, code) if thread == self.leader => {
                    self.ended = Some(ExitStatus::from_raw(code << 8));
                }
                WaitStatus::Signaled(thread, signal, _) if thread == self.leader => {
                    self.ended = Some(ExitStatus::from_raw(signal as i32));
                }
                _ => {}
            }
        }
        None
    }

    /// Goes on to the stop with this number, counted from 0 after the last one shown.
    pub(crate) fn nth(&mut self, number: usize) -> Option<Stop> {
        let mut stop = self.next();
        for _ in 0..number {
            stop?;
            stop = self.next();
        }
        stop
    }

    /// Lets it run to its end, and counts the stops on the way.
    pub(crate) fn finish(mut self) -> (Output, usize) {
        let mut stops = 0;
        while self.next().is_some() {
            stops += 1;
        }
        (self.output(), stops)
    }

    /// SIGKILL, here and now, all threads.
    pub(crate) fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if self.ended.is_none() {
            // It may be gone already; then there is nothing to kill, and waiting says so.
            let _ = kill(self.leader, Signal::SIGKILL);
            while self.ended.is_none() {
                let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
                match waitpid(None, Some(flags)) {
                    Ok(WaitStatus::Exited(thread, code)) if thread == self.leader => {
                        self.ended = Some(ExitStatus::from_raw(code << 8));
                    }
                    Ok(WaitStatus::Signaled(thread, signal, _)) if thread == self.leader => {
                        self.ended = Some(ExitStatus::from_raw(signal as i32));
                    }
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        }
    }

    fn output(&mut self) -> Output {
        let text = |file: &mut File| {
            let mut bytes = Vec::new();
            file.rewind().unwrap();
            file.read_to_end(&mut bytes).unwrap();
            bytes
        };
        let status = self.ended.unwrap();
        Output { status, stdout: text(&mut self.stdout), stderr: text(&mut self.stderr) }
    }

    /// On to the exit of the call that the thread is inside of, else to the next entry.
    fn resume(&self, thread: Pid, signal: Option<Signal>) {
        // A thread that another one's exit or a SIGKILL has ended is no error.
        let _ = if self.inside.contains_key(&thread) {
            ptrace::syscall(thread, signal)
        } else {
            ptrace::cont(thread, signal)
        };
    }

    fn syscall_stop(&mut self, thread: Pid) -> Option<Stop> {
        let info = ptrace::syscall_info(thread).unwrap();
        let (edge, call) = if info.op == libc::PTRACE_SYSCALL_INFO_SECCOMP {
            #[expect(unsafe_code, reason = "the union has no safe accessor")]
            // SAFETY: `op` says that the kernel filled this member.
            let entry = unsafe { info.u.seccomp };
            let call = Call { number: entry.nr.cast_signed(), args: entry.args };
            if !call.is_shown(self.watch, thread) {
                return None;
            }
            self.inside.insert(thread, call);
            (Edge::Entry, call)
        } else {
            (Edge::Exit, self.inside.remove(&thread)?)
        };
        Some(Stop { edge, call, thread })
    }
}

impl Drop for Stepper {
    fn drop(&mut self) {
        self.end();
    }
}
