//! When a limit ends, as programs tell people. They are started in UTC, and so are the times that they tell.

use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Longer than any maker's window; a later time is a mistake.
const FAR: SignedDuration = SignedDuration::from_hours(24 * 40);
const YEAR_DIGITS: usize = 4;
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/// After these words a time is told.
const AT: [&str; 4] = ["resets at ", "resets ", "try again at ", "reached|"];
const IN: [&str; 5] =
    ["try again in ", "retry in ", "retry after ", "retrydelay\":\"", "retry-after: "];

/// The moment that a text names, in small letters; none if it names none, or one that cannot be.
pub(super) fn ends(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.to_lowercase();
    let after = |words: &str| text.split_once(words).map(|(_, rest)| rest);
    let moment = AT
        .iter()
        .find_map(|words| at(after(words)?, now))
        .or_else(|| IN.iter().find_map(|words| now.checked_add(within(after(words)?)?).ok()))?;
    let wait = moment.duration_since(now);
    (wait > -FAR && wait < FAR).then_some(moment)
}

/// `3:45pm (UTC)`, `nov 17, 3pm`, `nov 17th, 2026 3:45 pm`, or seconds since 1970.
fn at(text: &str, now: Timestamp) -> Option<Timestamp> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    if digits >= 9 {
        return Timestamp::from_second(text[..digits].parse().ok()?).ok();
    }
    if let Some((_, zone)) = text.split_once('(')
        && !["utc", "gmt"].iter().any(|known| zone.starts_with(known))
    {
        return None;
    }
    let today = now.to_zoned(TimeZone::UTC).date();
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty() && *word != "at" && *word != "on")
        .take(6)
        .collect();
    let (date, rest) = day(&words, today);
    let time = time_of_day(rest)?;
    let of =
        |date: Date| date.to_datetime(time).to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp());
    match date {
        Some(date) => of(date),
        // The next time that it is so late.
        None => of(today).filter(|moment| *moment > now).or_else(|| of(today.tomorrow().ok()?)),
    }
}

/// A day at the beginning, and what follows it.
fn day<'a, 'b>(words: &'a [&'b str], today: Date) -> (Option<Date>, &'a [&'b str]) {
    let [month, day, rest @ ..] = words else { return (None, words) };
    let month = MONTHS.iter().position(|name| month.starts_with(name));
    let number =
        |word: &str| word.trim_end_matches(|c: char| c.is_alphabetic()).parse::<i16>().ok();
    let (Some(month), Some(day)) = (month, number(day)) else { return (None, words) };
    let (year, rest) = match rest {
        [year, rest @ ..] if year.len() == YEAR_DIGITS => match year.parse::<i16>() {
            Ok(year) => (Some(year), rest),
            Err(_) => (None, &words[2..]),
        },
        rest => (None, rest),
    };
    let of =
        |year: i16| Date::new(year, i8::try_from(month + 1).ok()?, i8::try_from(day).ok()?).ok();
    let date = match year {
        Some(year) => of(year),
        // At the turn of a year the day that is named lies in the next one.
        None => of(today.year()).filter(|date| *date >= today).or_else(|| of(today.year() + 1)),
    };
    (date, rest)
}

fn time_of_day(words: &[&str]) -> Option<jiff::civil::Time> {
    let first = words.first()?.trim_end_matches('.');
    let (clock, half) = match (first.strip_suffix("am"), first.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some("am")),
        (_, Some(clock)) => (clock, Some("pm")),
        _ => (first, words.get(1).map(|word| word.trim_end_matches('.'))),
    };
    let (hour, minute) = clock.split_once(':').unwrap_or((clock, "0"));
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        Some("am") if (1..=12).contains(&hour) => hour % 12,
        Some("pm") if (1..=12).contains(&hour) => hour % 12 + 12,
        Some("am" | "pm") => return None,
        // A number alone is no time.
        _ if !clock.contains(':') => return None,
        _ => hour,
    };
    jiff::civil::Time::new(hour, minute, 0, 0).ok()
}

/// `2 hours 5 minutes`, `34.07s`, `90`.
fn within(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut is_any = false;
    let mut rest = text.trim_start();
    loop {
        let digits =
            rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let Ok(number) = rest[..digits].trim_end_matches('.').parse::<f64>() else { break };
        rest = rest[digits..].trim_start();
        let unit = rest.len() - rest.trim_start_matches(|c: char| c.is_alphabetic()).len();
        let factor = match &rest[..unit] {
            "" | "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
            "ms" => 0.001,
            "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86400.0,
            _ => break,
        };
        seconds += number * factor;
        is_any = true;
        rest = rest[unit..].trim_start_matches([' ', ',']);
    }
    is_any.then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_many_ways() {
        let now: Timestamp = "2026-11-16T14:00:00Z".parse().unwrap();
        for (text, wanted) in [
            ("You've hit your session limit · resets 3:45pm", "2026-11-16T15:45:00Z"),
            ("You've hit your 5-hour limit · resets 3:45pm (UTC)", "2026-11-16T15:45:00Z"),
            ("You've hit your limit · resets 1am (UTC)", "2026-11-17T01:00:00Z"),
            ("resets 12am", "2026-11-17T00:00:00Z"),
            ("weekly limit · resets Nov 19, 12pm (UTC)", "2026-11-19T12:00:00Z"),
            ("resets Dec 2 at 3pm", "2026-12-02T15:00:00Z"),
            ("Claude AI usage limit reached|1794843900", "2026-11-16T15:45:00Z"),
            ("more credits or try again at 3:45 PM.", "2026-11-16T15:45:00Z"),
            ("or try again at Nov 18th, 2026 9:05 AM.", "2026-11-18T09:05:00Z"),
            ("try again in 2 hours 5 minutes.", "2026-11-16T16:05:00Z"),
            ("Please retry in 34.5s.", "2026-11-16T14:00:34.5Z"),
            ("\"retryDelay\":\"34s\"", "2026-11-16T14:00:34Z"),
        ] {
            let wanted: Timestamp = wanted.parse().unwrap();
            assert_eq!(ends(text, now), Some(wanted), "{text}");
        }
        let late: Timestamp = "2026-12-30T14:00:00Z".parse().unwrap();
        assert_eq!(ends("resets Jan 2, 3pm", late), "2027-01-02T15:00:00Z".parse().ok());
        for none in [
            "",
            "Request rejected (429)",
            "resets soon",
            "resets 25:00pm",
            "resets 3:45pm (Europe/Zurich)",
            "reached|99999999999",
            "try again in a moment",
            "try again in 99999999999999999999 days",
            "resets 3",
        ] {
            assert_eq!(ends(none, now), None, "{none}");
        }
    }
}
