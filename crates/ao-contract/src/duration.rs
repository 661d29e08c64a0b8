//! Durations as people type them: `8h`, `90m`, `1h30m`, `1.5h`, `100ms`.
//!
//! The notation and its printed form (`8h0m0s`) are those of Go, because the configuration files and
//! reports that people already have use them.

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// About 292 years: what Go can hold, so that no file made here is unreadable there.
const MAX_NANOS: u128 = i64::MAX as u128;

/// More digits than this say nothing at the precision of a nanosecond.
const MAX_FRACTION_DIGITS: usize = 18;

/// `ms` stands before `m`, so that the first match is the right one.
const UNITS: [(&str, u128); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
];

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    #[error("{0:?} is not a duration: write for example 8h, 1h30m, 45s or 100ms")]
    Malformed(String),
    #[error("the duration {0:?} is too long")]
    TooLong(String),
}

pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    // Zero is the one length that needs no unit.
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let nanos = parse_nanos(text).ok_or_else(|| DurationError::Malformed(text.to_owned()))?;
    match u64::try_from(nanos) {
        Ok(short) if nanos <= MAX_NANOS => Ok(Duration::from_nanos(short)),
        _ => Err(DurationError::TooLong(text.to_owned())),
    }
}

/// Saturates where the sum is too long, so that this is told apart from junk.
fn parse_nanos(text: &str) -> Option<u128> {
    let mut rest = text;
    let mut nanos = 0_u128;
    while !rest.is_empty() || text.is_empty() {
        let (part, after) = parse_part(rest)?;
        nanos = nanos.saturating_add(part);
        rest = after;
    }
    Some(nanos)
}

/// One number with its unit, and what follows it.
fn parse_part(text: &str) -> Option<(u128, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(end);
    let (unit, nanos) = UNITS.iter().find(|(unit, _)| rest.starts_with(unit))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = digits(whole)?.saturating_mul(*nanos);
    Some((whole.saturating_add(part_of(fraction, *nanos)?), &rest[unit.len()..]))
}

/// `5` of an hour, as in `1.5h`, is half of it.
fn part_of(fraction: &str, nanos: u128) -> Option<u128> {
    if fraction.contains('.') {
        return None;
    }
    let kept = &fraction[..fraction.len().min(MAX_FRACTION_DIGITS)];
    let scale = kept.chars().fold(1_u128, |scale, _| scale * 10);
    Some(digits(kept)? * nanos / scale)
}

fn digits(text: &str) -> Option<u128> {
    text.chars().try_fold(0_u128, |sum, c| {
        Some(sum.saturating_mul(10).saturating_add(c.to_digit(10)?.into()))
    })
}

/// `1h30m0s`, `12m38s`, `1.5s`, `100ms`: units from the first that is not zero.
pub fn format_duration(duration: Duration) -> String {
    let (hours, minutes) = (duration.as_secs() / 3600, duration.as_secs() / 60 % 60);
    let seconds = decimal(duration.as_nanos() % 60_000_000_000, 1_000_000_000, "s");
    match (hours, minutes, duration.as_nanos()) {
        (0, 0, 0) => "0s".to_owned(),
        (0, 0, nanos @ ..1_000) => format!("{nanos}ns"),
        (0, 0, nanos @ ..1_000_000) => decimal(nanos, 1_000, "µs"),
        (0, 0, nanos @ ..1_000_000_000) => decimal(nanos, 1_000_000, "ms"),
        (0, 0, _) => seconds,
        (0, ..) => format!("{minutes}m{seconds}"),
        _ => format!("{hours}h{minutes}m{seconds}"),
    }
}

fn decimal(nanos: u128, unit_nanos: u128, unit: &str) -> String {
    let width = unit_nanos.ilog10() as usize;
    let digits = format!("{}.{:0width$}", nanos / unit_nanos, nanos % unit_nanos);
    format!("{}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// A duration that keeps the words of its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DurationText {
    text: String,
    duration: Duration,
}

impl DurationText {
    pub fn get(&self) -> Duration {
        self.duration
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl TryFrom<String> for DurationText {
    type Error = DurationError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Ok(Self { duration: parse_duration(&text)?, text })
    }
}

impl From<DurationText> for String {
    fn from(duration: DurationText) -> Self {
        duration.text
    }
}

impl JsonSchema for DurationText {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h))+)$",
            "examples": ["8h", "1h30m", "45s"],
        })
    }
}
