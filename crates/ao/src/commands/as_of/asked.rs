//! What was typed for a state: the id of a commit or a run, a day or a moment.

use ao_contract::{HistoryLine, run_of};
use ao_tree::shown;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

/// A day is written with so many characters; what is longer is a moment.
const DAY_CHARS: usize = 10;
/// So many ids are named that begin as one that is not there.
const BEGIN_MAX: usize = 5;

/// How many commits there are up to the one of this id, or the last one of this run.
pub(super) fn count_after(history: &[HistoryLine], asked: &str) -> Option<usize> {
    let of_id = history.iter().position(|line| line.id == asked);
    let of_run = || history.iter().rposition(|line| run_of(&line.id) == Some(asked));
    of_id.or_else(of_run).map(|at| at + 1)
}

/// A day such as `2026-06-30`.
pub(crate) fn day(text: &str) -> Result<Date, String> {
    text.parse().map_err(|_| "expected a day such as 2026-06-30".to_owned())
}

/// The end of what was typed, and its day. What names no zone is in UTC, as days are.
pub(super) fn moment(asked: &str) -> Option<(Timestamp, Date)> {
    if let Ok(until) = asked.parse::<Timestamp>() {
        return Some((until, until.to_zoned(TimeZone::UTC).date()));
    }
    // Only written out: `20260630` would be taken for the beginning of a day, and a zone by its name
    // for none.
    let written = asked.get(..DAY_CHARS)?.parse::<Date>().ok()?;
    let end = match &asked[DAY_CHARS..] {
        "" => written.to_datetime(Time::MAX),
        _ if asked.contains('[') => return None,
        _ => asked.parse::<DateTime>().ok()?,
    };
    // The last days that can be written are later than any moment.
    let end = end.to_zoned(TimeZone::UTC).map_or(Timestamp::MAX, |end| end.timestamp());
    Some((end, written))
}

pub(super) fn nanoseconds(time: Timestamp) -> i64 {
    let all = time.as_nanosecond();
    i64::try_from(all).unwrap_or(if all < 0 { i64::MIN } else { i64::MAX })
}

/// Which ids begin with what was typed, for somebody who did not type all of one.
pub(crate) fn begin_so(history: &[HistoryLine], asked: &str) -> Option<String> {
    let begins = |id: &&str| !asked.is_empty() && id.starts_with(asked);
    let all: Vec<&str> = history.iter().rev().map(|line| line.id.as_str()).filter(begins).collect();
    let few: Vec<String> = all.iter().take(BEGIN_MAX).map(|id| shown(id)).collect();
    let more = if all.len() > few.len() { ", …" } else { "" };
    let count = all.len();
    let word = if count == 1 { "id begins" } else { "ids begin" };
    (count > 0).then(|| format!("{count} {word} so: {}{more}", few.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_the_end_of_it_and_a_moment_itself() {
        let (end, day) = moment("2026-06-30").unwrap();
        assert_eq!(end.strftime("%FT%T").to_string(), "2026-06-30T23:59:59");
        assert_eq!(day.to_string(), "2026-06-30");
        let (end, day) = moment("2026-06-30T23:30:00-02:00").unwrap();
        assert_eq!(
            (end.to_string().as_str(), day.to_string().as_str()),
            ("2026-07-01T01:30:00Z", "2026-07-01")
        );
        for (asked, end) in [
            ("2026-06-30T04:00:00", "2026-06-30T04:00:00Z"),
            ("2026-06-30 04:00", "2026-06-30T04:00:00Z"),
            ("2026-06-30T04:00:00.5Z", "2026-06-30T04:00:00.5Z"),
            ("2026-06-30T04:00:00+05:30", "2026-06-29T22:30:00Z"),
        ] {
            assert_eq!(moment(asked).unwrap().0.to_string(), end, "{asked}");
        }
        assert_eq!(moment("9999-12-31").unwrap().0, Timestamp::MAX);
        for wrong in [
            "yesterday",
            "2026-13-01",
            "2026-02-29",
            "20260630",
            "2026-06",
            "",
            "2026-06-30x",
            "2026-06-30T25:00:00Z",
            "2026-06-30T04:00:00[Europe/Berlin]",
            "2026-06-3é",
        ] {
            assert!(moment(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn times_beyond_what_file_systems_count_are_its_ends() {
        let long_ago: Timestamp = "0001-01-01T00:00:00Z".parse().unwrap();
        assert_eq!((nanoseconds(long_ago), nanoseconds(Timestamp::MAX)), (i64::MIN, i64::MAX));
    }
}
