//! The one place that asks what time it is.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A moment, in the forms that files and ids use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment(Timestamp);

pub(crate) fn now() -> Moment {
    Moment(timestamp())
}

pub(crate) fn timestamp() -> Timestamp {
    let system = SystemTime::now();
    // A clock may say any year; a date here ends with 9999.
    let end = if system < UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    let now = Timestamp::try_from(system).unwrap_or(end);
    now.checked_add(SignedDuration::from_secs(set_by())).unwrap_or(now)
}

/// By how many seconds a test has set the clock: `AO_CLOCK` names a file that says so, and that may
/// be written at any moment. A release has none of it.
#[cfg(debug_assertions)]
fn set_by() -> i64 {
    const NUMBER_BYTES_MAX: u64 = 64;
    let file = std::env::var_os("AO_CLOCK").map(std::path::PathBuf::from);
    let said =
        file.and_then(|file| ao_tree::own_file::read_named_text(&file, NUMBER_BYTES_MAX).ok());
    said.and_then(|seconds| seconds.trim().parse().ok()).unwrap_or(0)
}

#[cfg(not(debug_assertions))]
fn set_by() -> i64 {
    0
}

/// The moment this many seconds after the start of 1970, where there is such a time.
pub(crate) fn at_second(seconds: u64) -> Option<Moment> {
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok().map(Moment)
}

/// Since the machine was started, sleep included; it never jumps.
pub(crate) fn uptime() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

impl Moment {
    /// RFC 3339, UTC, to the second.
    pub(crate) fn rfc3339(self) -> String {
        self.0.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// In UTC.
    pub(crate) fn day(self) -> Date {
        self.0.to_zoned(TimeZone::UTC).date()
    }

    /// Nanoseconds since the epoch, as file systems count.
    pub(crate) fn nanoseconds(self) -> i64 {
        i64::try_from(self.0.as_nanosecond()).unwrap_or(i64::MAX)
    }

    /// The form of a run's id.
    pub(crate) fn id(self) -> String {
        self.0.strftime("%Y%m%dT%H%M%SZ").to_string()
    }

    /// Whether `text` names a moment more than this many days before. One that cannot be read
    /// does not.
    pub(crate) fn is_days_after(self, text: &str, days: u64) -> bool {
        let Ok(then) = text.parse::<Timestamp>() else { return false };
        let hours = i64::try_from(days.saturating_mul(24)).unwrap_or(i64::MAX / 3600);
        self.0.duration_since(then) > SignedDuration::from_hours(hours.min(i64::MAX / 3600))
    }
}
