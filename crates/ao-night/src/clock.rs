//! Time, as the binary hands it in.

use std::time::Duration;

use jiff::Timestamp;

/// Two clocks: one that people read, and one that never jumps.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    pub now: fn() -> Timestamp,
    /// Since the machine was started, sleep included. Budgets are counted by it: the other clock
    /// may be set while a run goes on.
    pub uptime: fn() -> Duration,
}

impl Clock {
    /// RFC 3339, UTC, to the second.
    pub fn rfc3339(&self) -> String {
        (self.now)().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// The form of a run's id.
    pub fn id(&self) -> String {
        (self.now)().strftime("%Y%m%dT%H%M%SZ").to_string()
    }
}
