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
}

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
    let plain = digits.trim_end_matches(['.', ',']).replace(',', "");
    Some((plain.parse().ok()?, unit))
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
        "month" | "months" => (Dimension::Time, 2_592_000.0),
        "year" | "years" => (Dimension::Time, 31_536_000.0),
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
        match (self.bound, other.bound) {
            (Bound::About, _) | (_, Bound::About) => {
                ours.max(theirs) >= ABOUT_RATIO * ours.min(theirs) && ours.max(theirs) > 0.0
            }
            (Bound::AtMost, Bound::AtLeast | Bound::Exact) => theirs > ours,
            (Bound::AtLeast, Bound::AtMost | Bound::Exact) => theirs < ours,
            (Bound::Exact, Bound::AtMost) => ours > theirs,
            (Bound::Exact, Bound::AtLeast) => ours < theirs,
            _ => (ours - theirs).abs() > 1e-9 * ours.abs().max(theirs.abs()),
        }
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
        Quantity { value: value * factor, dimension, bound }
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
        assert!(number("v2").is_none() && number("1234567890123").is_none());
        assert_eq!(spelled("two"), Some(2.0));
    }
}
