//! How long a call may take, and who may end it before.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::failure::Failure;

/// How long anything waits before it looks whether it should go on.
pub(super) const SLICE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline<'a> {
    since: Instant,
    time: Duration,
    stop: &'a AtomicBool,
}

impl<'a> Deadline<'a> {
    pub(super) fn new(time: Duration, stop: &'a AtomicBool) -> Self {
        Self { since: Instant::now(), time, stop }
    }

    /// What is left of it.
    pub(super) fn left(&self) -> Result<Duration, Failure> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failure::Stopped);
        }
        match self.time.checked_sub(self.since.elapsed()) {
            Some(left) if !left.is_zero() => Ok(left),
            _ => Err(Failure::TimedOut(self.time)),
        }
    }

    pub(super) fn took(&self) -> Duration {
        self.since.elapsed()
    }
}
