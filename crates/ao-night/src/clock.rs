//! Time, as the binary hands it in.

use std::time::Duration;

use ao_contract::format_duration;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A clock that is off by less than this was not set: it is only being kept right.
const SET_BY_MIN: SignedDuration = SignedDuration::from_secs(5);
/// A clock that is set all the time is told of so often.
const TOLD_MAX: usize = 20;

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

    /// Today, in UTC.
    pub(crate) fn day(&self) -> Date {
        (self.now)().to_zoned(TimeZone::UTC).date()
    }

    /// The form of a run's id.
    pub fn id(&self) -> String {
        (self.now)().strftime("%Y%m%dT%H%M%SZ").to_string()
    }
}

/// Watches the clock that people read by the one that never jumps.
#[derive(Debug)]
pub(crate) struct Steady {
    clock: Clock,
    last: (Timestamp, Duration),
    told: Vec<String>,
}

impl Steady {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { clock, last: ((clock.now)(), (clock.uptime)()), told: Vec::new() }
    }

    /// Looks whether it was set since the last look.
    pub(crate) fn look(&mut self) {
        let (now, uptime) = ((self.clock.now)(), (self.clock.uptime)());
        let (then, began) = std::mem::replace(&mut self.last, (now, uptime));
        let passed = SignedDuration::try_from(uptime.saturating_sub(began)).unwrap_or_default();
        let set_by = now.duration_since(then).saturating_sub(passed);
        if set_by.abs() < SET_BY_MIN || self.told.len() >= TOLD_MAX {
            return;
        }
        let way = if set_by.is_negative() { "back" } else { "forward" };
        // The two are not read in the same instant.
        let seconds = set_by.abs().saturating_add(SignedDuration::from_millis(500)).as_secs();
        let by = format_duration(Duration::from_secs(seconds.unsigned_abs()));
        self.told.push(format!("set {way} by {by} at {}", self.clock.rfc3339()));
    }

    /// Each time that it was set.
    pub(crate) fn told(&self) -> &[String] {
        &self.told
    }
}
