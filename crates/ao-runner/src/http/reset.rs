//! When a limit ends, by the headers that hosts say it with.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;

use super::incoming::Head;

/// Whatever lies further ahead was not meant.
const AHEAD_MAX: Duration = Duration::from_hours(24 * 35);
/// A number this large is a moment and not a number of seconds from now.
const MOMENT_MIN: f64 = 1e9;

/// What is said directly counts first; else the last of all limits that are named.
pub(super) fn until(head: &Head, now: Timestamp) -> Option<Timestamp> {
    let exact = head.field("retry-after-ms").and_then(seconds).map(|ms| ms / 1000.0);
    let exact = exact.and_then(|ahead| after(now, ahead));
    let said = exact.or_else(|| head.field("retry-after").and_then(|text| moment(text, now)));
    said.or_else(|| {
        let limits = head.fields.iter().filter(|(name, _)| {
            name.starts_with("x-ratelimit-reset") || name.starts_with("ratelimit-reset")
        });
        limits.filter_map(|(_, text)| moment(text, now)).max()
    })
}

/// Seconds from now, a duration such as `6m0.5s`, seconds of the epoch, or a date.
fn moment(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if let Some(number) = seconds(text) {
        return if number >= MOMENT_MIN {
            within(
                now,
                Timestamp::UNIX_EPOCH
                    .checked_add(Duration::try_from_secs_f64(number).ok()?)
                    .ok()?,
            )
        } else {
            after(now, number)
        };
    }
    if let Some(ahead) = duration(text) {
        return after(now, ahead);
    }
    let date = DateTimeParser::new().parse_timestamp(text).ok().or_else(|| text.parse().ok());
    within(now, date?)
}

fn seconds(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.trim().parse().ok().filter(|number: &f64| is_plain && number.is_finite())
}

/// Hours, minutes, seconds and milliseconds, in this order.
fn duration(text: &str) -> Option<f64> {
    let (mut rest, mut sum) = (text, 0.0);
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number = seconds(&rest[..end]).filter(|_| end > 0)?;
        rest = &rest[end..];
        let unit = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        sum += number
            * match &rest[..unit] {
                "d" => 86_400.0,
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 0.001,
                _ => return None,
            };
        rest = &rest[unit..];
    }
    (!text.is_empty()).then_some(sum)
}

fn after(now: Timestamp, seconds: f64) -> Option<Timestamp> {
    let ahead = Duration::try_from_secs_f64(seconds).ok()?;
    within(now, now.checked_add(ahead).ok()?)
}

fn within(now: Timestamp, moment: Timestamp) -> Option<Timestamp> {
    (moment <= now.checked_add(AHEAD_MAX).ok()?).then_some(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_ends_when_the_host_says() {
        let now: Timestamp = "2026-04-16T02:00:00Z".parse().unwrap();
        for (fields, expected) in [
            (&[("retry-after", "30")][..], Some("2026-04-16T02:00:30Z")),
            (&[("retry-after-ms", "1500"), ("retry-after", "9")], Some("2026-04-16T02:00:01.5Z")),
            (&[("retry-after", "Thu, 16 Apr 2026 05:00:00 GMT")], Some("2026-04-16T05:00:00Z")),
            (&[("retry-after", "1776315600")], Some("2026-04-16T05:00:00Z")),
            (&[("retry-after", "2026-04-16T05:00:00Z")], Some("2026-04-16T05:00:00Z")),
            (
                &[("x-ratelimit-reset-requests", "120ms"), ("x-ratelimit-reset-tokens", "6m0s")],
                Some("2026-04-16T02:06:00Z"),
            ),
            (
                &[("retry-after", "soon"), ("x-ratelimit-reset", "1h2m3s")],
                Some("2026-04-16T03:02:03Z"),
            ),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-5")], None),
            (&[("retry-after", "1e9")], None),
            (&[("retry-after", "999999999")], None),
            (&[("retry-after", "Thu, 16 Apr 2099 05:00:00 GMT")], None),
            (&[("retry-after", "")], None),
            (&[("x-ratelimit-reset-tokens", "6x")], None),
            (&[], None),
        ] {
            let fields = fields.iter().map(|(name, value)| ((*name).into(), (*value).into()));
            let head = Head { status: 429, fields: fields.collect() };
            let expected = expected.map(|text: &str| text.parse().unwrap());
            assert_eq!(until(&head, now), expected, "{head:?}");
        }
    }
}
