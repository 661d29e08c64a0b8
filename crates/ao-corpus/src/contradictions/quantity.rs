//! Numbers with their units, so that a minute and sixty seconds are the same claim.

/// What is counted or measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    Count,
    Time,
    Bytes,
    Percent,
    Times,
}

/// How a value is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    About,
    AtMost,
    AtLeast,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Quantity {
    pub(super) value: f64,
    pub(super) dimension: Dimension,
    pub(super) bound: Bound,
    /// How many of the smallest the unit is that it was written in.
    pub(super) factor: f64,
    /// The bound leaves out the value itself.
    pub(super) is_strict: bool,
}

/// A month has no fixed number of days, and a gigabyte is a thousand megabytes to some: values in different units
/// are the same if they are as close as that.
const MONTHS_SLACK: f64 = 0.04;
const BYTES_SLACK: f64 = 0.1;
/// Two that were computed and are meant to be the same.
const ROUNDING: f64 = 1e-9;
/// `more than 3` is at least so much more, of its own.
const STRICTLY: f64 = 1e-6;

/// A twelfth of 365 days.
const MONTH: f64 = 2_628_000.0;
/// Values that are only about right differ if one is so many times the other.
const ABOUT_RATIO: f64 = 2.0;
/// More digits are an id.
const DIGITS_MAX: usize = 12;

/// A number at the start of a word, and the unit that is written to it.
pub(super) fn number(word: &str) -> Option<(f64, &str)> {
    let word = word.trim_start_matches(['~', '=', '$']);
    let is_digit = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    let end = word.find(|c| !is_digit(c)).unwrap_or(word.len());
    let (digits, unit) = word.split_at(end);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || digits.len() > DIGITS_MAX {
        return None;
    }
    Some((plain(digits.trim_end_matches(['.', ','])).parse().ok()?, unit))
}

/// Digits with a point and nothing else: `1,000` is a thousand, `1,5` is one and a half.
fn plain(digits: &str) -> String {
    let Some((whole, last)) = digits.rsplit_once(',') else { return digits.to_owned() };
    let is_thousands = !whole.starts_with('0')
        && !whole.contains('.')
        && digits.split(',').skip(1).all(|group| group.split('.').next().is_some_and(is_group));
    if is_thousands || last.contains('.') || whole.contains(',') {
        return digits.replace(',', "");
    }
    format!("{}.{last}", whole.replace('.', ""))
}

fn is_group(digits: &str) -> bool {
    digits.len() == 3
}

/// Numbers that are written as words. `one` is as often a thing as a number.
pub(super) fn spelled(word: &str) -> Option<f64> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let at = WORDS.iter().position(|known| *known == word)?;
    Some(f64::from(u32::try_from(at).ok()?))
}

/// What a unit measures, and how many of the smallest it is.
pub(super) fn unit(word: &str) -> Option<(Dimension, f64)> {
    let (dimension, factor) = match word {
        "ns" | "nanosecond" | "nanoseconds" => (Dimension::Time, 1e-9),
        "us" | "µs" | "microsecond" | "microseconds" => (Dimension::Time, 1e-6),
        "ms" | "msec" | "millisecond" | "milliseconds" => (Dimension::Time, 1e-3),
        "s" | "sec" | "secs" | "second" | "seconds" => (Dimension::Time, 1.0),
        "m" | "min" | "mins" | "minute" | "minutes" => (Dimension::Time, 60.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => (Dimension::Time, 3_600.0),
        "d" | "day" | "days" => (Dimension::Time, 86_400.0),
        "w" | "week" | "weeks" => (Dimension::Time, 604_800.0),
        "month" | "months" => (Dimension::Time, MONTH),
        "year" | "years" => (Dimension::Time, 12.0 * MONTH),
        "b" | "byte" | "bytes" => (Dimension::Bytes, 1.0),
        "kb" | "kib" | "kilobyte" | "kilobytes" => (Dimension::Bytes, 1_024.0),
        "mb" | "mib" | "megabyte" | "megabytes" => (Dimension::Bytes, 1_048_576.0),
        "gb" | "gib" | "gigabyte" | "gigabytes" => (Dimension::Bytes, 1_073_741_824.0),
        "tb" | "tib" | "terabyte" | "terabytes" => (Dimension::Bytes, 1_099_511_627_776.0),
        "%" | "percent" => (Dimension::Percent, 1.0),
        "x" | "times" => (Dimension::Times, 1.0),
        "k" => (Dimension::Count, 1_000.0),
        _ => return None,
    };
    Some((dimension, factor))
}

impl Quantity {
    /// Whether both cannot be true of one thing.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        if self.dimension != other.dimension {
            return false;
        }
        let (ours, theirs) = (self.value, other.value);
        let size = ours.abs().max(theirs.abs());
        let slack = self.slack(other) * size;
        // Who says `more than 3` seldom means to leave out the 3 that another one says.
        let loose = slack + 2.0 * STRICTLY * size;
        match (self.bound, other.bound) {
            (Bound::About, _) | (_, Bound::About) => {
                ours.max(theirs) >= ABOUT_RATIO * ours.min(theirs) && ours.max(theirs) > 0.0
            }
            (Bound::AtMost, Bound::AtLeast) => theirs > ours + slack,
            (Bound::AtLeast, Bound::AtMost) => theirs < ours - slack,
            (Bound::AtMost, Bound::Exact) => theirs > ours + loose,
            (Bound::AtLeast, Bound::Exact) => theirs < ours - loose,
            (Bound::Exact, Bound::AtMost) => ours > theirs + loose,
            (Bound::Exact, Bound::AtLeast) => ours < theirs - loose,
            (Bound::Exact, Bound::Exact) => (ours - theirs).abs() > slack,
            _ => (ours - theirs).abs() > loose,
        }
    }

    /// How far two values may be apart and still be meant to be the same.
    fn slack(&self, other: &Self) -> f64 {
        let is_calendar = |one: &Self| one.factor >= MONTH;
        if self.factor.to_bits() == other.factor.to_bits() {
            return ROUNDING;
        }
        match self.dimension {
            // A year has twelve months, whatever they are.
            Dimension::Time if is_calendar(self) && is_calendar(other) => ROUNDING,
            Dimension::Time if is_calendar(self) || is_calendar(other) => MONTHS_SLACK,
            Dimension::Bytes => BYTES_SLACK,
            _ => ROUNDING,
        }
    }

    /// As `more than` and `less than` have it.
    pub(super) fn strict(self) -> Self {
        let step = STRICTLY * self.value.abs();
        let value = match self.bound {
            Bound::AtLeast => self.value + step,
            Bound::AtMost => self.value - step,
            Bound::Exact | Bound::About => self.value,
        };
        Self { value, is_strict: true, ..self }
    }

    /// The number as it is written, with what is said of it.
    pub(super) fn told(&self, text: &str) -> String {
        let bound = match (self.bound, self.is_strict) {
            (Bound::AtMost, false) => "at most ",
            (Bound::AtMost, true) => "less than ",
            (Bound::AtLeast, false) => "at least ",
            (Bound::AtLeast, true) => "more than ",
            (Bound::About, _) => "about ",
            (Bound::Exact, _) => "",
        };
        format!("{bound}{text}")
    }

    /// Whether they say the same.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.dimension == other.dimension && !self.conflicts(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, bound: Bound) -> Quantity {
        let (value, suffix) = number(text).unwrap();
        let (dimension, factor) = unit(suffix).unwrap_or((Dimension::Count, 1.0));
        Quantity { value: value * factor, dimension, bound, factor, is_strict: false }
    }

    #[test]
    fn units_bounds_and_spellings() {
        let exact = |text| of(text, Bound::Exact);
        assert!(exact("60s").agrees(&exact("1min")));
        assert!(exact("1,000").agrees(&exact("1k")));
        assert!(exact("30s").conflicts(&exact("5m")));
        assert!(!exact("30s").conflicts(&exact("30")) && !exact("30s").agrees(&exact("30")));
        assert!(!exact("5").conflicts(&of("3", Bound::AtLeast)));
        assert!(exact("2").conflicts(&of("3", Bound::AtLeast)));
        assert!(of("5", Bound::AtMost).conflicts(&of("9", Bound::AtLeast)));
        assert!(!of("30s", Bound::About).conflicts(&exact("40s")));
        assert!(exact("12months").agrees(&exact("1year")));
        assert!(exact("30days").agrees(&exact("1month")) && exact("90d").agrees(&exact("3months")));
        assert!(exact("20days").conflicts(&exact("1month")));
        assert!(
            exact("30d").conflicts(&exact("31d")) && exact("11months").conflicts(&exact("1year"))
        );
        assert!(exact("1000mb").agrees(&exact("1gb")) && exact("1024mb").agrees(&exact("1gb")));
        assert!(
            exact("500mb").conflicts(&exact("1gb")) && exact("1000mb").conflicts(&exact("1024mb"))
        );
        assert!(exact("1,5h").agrees(&exact("90m")) && exact("1,5h").agrees(&exact("1.5h")));
        assert!(
            exact("0,125").agrees(&exact("0.125")) && exact("1.500,5").agrees(&exact("1500.5"))
        );
        assert!(
            exact("1,234,567").agrees(&exact("1234567"))
                && exact("1,500.5").agrees(&exact("1500.5"))
        );
        assert!(
            exact("1us").conflicts(&exact("2us")) && exact("1000000").conflicts(&exact("1000001"))
        );
        let (more, most) = (of("3", Bound::AtLeast).strict(), of("3", Bound::AtMost));
        assert!(more.conflicts(&most) && most.conflicts(&more) && !more.conflicts(&exact("3")));
        assert!(!of("3", Bound::AtLeast).conflicts(&most));
        assert_eq!((more.told("3"), most.told("3")), ("more than 3".into(), "at most 3".into()));
        assert!(number("v2").is_none() && number("1234567890123").is_none());
        assert_eq!(spelled("two"), Some(2.0));
    }
}
