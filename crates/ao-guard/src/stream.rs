//! One of the two streams of a program, as we read it.

use std::io::{self, Read};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

const READ_BYTES: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Stream<R> {
    /// None once nothing comes any more, or nothing more is wanted.
    pub(crate) pipe: Option<R>,
    pub(crate) bytes: Vec<u8>,
    /// More came than was allowed.
    pub(crate) is_over: bool,
}

impl<R: Read + AsFd> Stream<R> {
    pub(crate) fn new(pipe: Option<R>) -> Self {
        Self { pipe, bytes: Vec::new(), is_over: false }
    }

    /// Reads once from a pipe that is ready, and keeps no more than allowed.
    pub(crate) fn read(&mut self, limit: usize) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut chunk = [0; READ_BYTES];
        match pipe.read(&mut chunk) {
            Ok(0) => self.pipe = None,
            Ok(count) => {
                let room = limit.saturating_sub(self.bytes.len());
                self.bytes.extend_from_slice(&chunk[..count.min(room)]);
                if count > room {
                    self.is_over = true;
                    // Whoever writes on is told by the kernel that nobody reads.
                    self.pipe = None;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.pipe = None,
        }
    }
    /// Reads what lies in the pipe, and waits for nothing.
    pub(crate) fn drain(&mut self, limit: usize) {
        while let Some(pipe) = &self.pipe {
            let mut watched = [PollFd::new(pipe, PollFlags::IN)];
            if !matches!(poll(&mut watched, Some(&Timespec::default())), Ok(1..)) {
                return;
            }
            self.read(limit);
        }
    }
}
