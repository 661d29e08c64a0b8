//! A day, without a clock: only what a text says.

use std::fmt;

/// Days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i32);

const DAYS_IN: [i32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

impl Day {
    /// The day that a text begins with, such as `2026-04-01` or `2026-04-01T10:00:00Z`.
    pub fn at_start_of(text: &str) -> Option<Self> {
        let head = text.as_bytes().get(..10)?;
        let ends = text.as_bytes().get(10).is_none_or(|byte| !byte.is_ascii_digit());
        let number = |range: std::ops::Range<usize>| {
            head[range].iter().try_fold(0, |value, byte| {
                byte.is_ascii_digit().then(|| value * 10 + i32::from(byte - b'0'))
            })
        };
        if head[4] != b'-' || head[7] != b'-' || !ends {
            return None;
        }
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let index = usize::try_from(month - 1).ok()?;
        let leap_day = i32::from(month == 2 && is_leap(year));
        if year == 0 || day < 1 || day > DAYS_IN.get(index)? + leap_day {
            return None;
        }
        let before_month = DAYS_IN[..index].iter().sum::<i32>();
        let leap_passed = i32::from(month > 2 && is_leap(year));
        Some(Self(days_before(year) - days_before(1970) + before_month + leap_passed + day - 1))
    }

    /// The whole text is a day.
    pub fn parse(text: &str) -> Option<Self> {
        Self::at_start_of(text).filter(|_| text.len() == 10)
    }
}

fn is_leap(year: i32) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days from the beginning of year 1 to the beginning of this year.
fn days_before(year: i32) -> i32 {
    let past = year - 1;
    past * 365 + past / 4 - past / 100 + past / 400
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0 + days_before(1970);
        // Never more than a year too late: no year is longer than 366 days.
        let mut year = rest / 366 + 1;
        while days_before(year + 1) <= rest {
            year += 1;
        }
        rest -= days_before(year);
        let mut month = 1;
        for (index, length) in DAYS_IN.into_iter().enumerate() {
            let length = length + i32::from(index == 1 && is_leap(year));
            if rest < length {
                break;
            }
            rest -= length;
            month += 1;
        }
        write!(f, "{year:04}-{month:02}-{:02}", rest + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_and_shown() {
        assert_eq!(Day::parse("1970-01-01"), Some(Day(0)));
        assert_eq!(Day::parse("2000-03-01"), Some(Day(11_017)));
        assert_eq!(Day::parse("2026-11-01"), Some(Day(20_758)));
        for day in (-700_000..200_000).step_by(97) {
            assert_eq!(Day::parse(&Day(day).to_string()), Some(Day(day)));
        }
    }

    #[test]
    fn what_is_no_day_is_none() {
        for text in ["", "2026-02-29", "2026-13-01", "2026-1-01", "2026-00-10", "2026-01-001", "0000-01-01", "2026/01/01", "２０２６-01-01"] {
            assert_eq!(Day::parse(text), None, "{text}");
            assert_eq!(Day::at_start_of(text), None, "{text}");
        }
        assert_eq!(Day::at_start_of("2024-02-29-a-slug.md"), Day::parse("2024-02-29"));
        assert_eq!(Day::parse("2024-02-29x"), None);
    }
}
