//! What a rule asks: a value and what it is held against. The night acts by it, and whoever wants to know
//! why is shown the same.

/// How a value stands to its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    AtLeast,
    Above,
    AtMost,
    Below,
}

/// A number that a rule holds against another one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    pub name: &'static str,
    pub value: f64,
    pub side: Side,
    pub bound: f64,
}

impl Bound {
    pub fn holds(&self) -> bool {
        match self.side {
            Side::AtLeast => self.value >= self.bound,
            Side::Above => self.value > self.bound,
            Side::AtMost => self.value <= self.bound,
            Side::Below => self.value < self.bound,
        }
    }

    /// How far the value is on the side where the rule holds; less than nothing on the other.
    pub fn margin(&self) -> f64 {
        match self.side {
            Side::AtLeast | Side::Above => self.value - self.bound,
            Side::AtMost | Side::Below => self.bound - self.value,
        }
    }
}

/// One thing that a rule asks of an entry. All that a rule asks must hold for it to act.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    pub name: &'static str,
    pub found: String,
    pub needed: String,
    /// How far it is from turning, where that can be counted.
    pub margin: Option<f64>,
    pub holds: bool,
    /// Why the entry is left alone, where it does not hold.
    pub why: String,
}

impl Check {
    /// A question of yes or no.
    pub(crate) fn plain(
        name: &'static str,
        needed: &str,
        refused: Option<String>,
        found: &str,
    ) -> Self {
        let (holds, why) = (refused.is_none(), refused.unwrap_or_default());
        let found = if holds { found } else { &why }.to_owned();
        Self { name, found, needed: needed.to_owned(), margin: None, holds, why }
    }

    /// As a bound has it, with the words for it.
    pub(crate) fn of(bound: &Bound, why: String) -> Self {
        let holds = bound.holds();
        let sign = match bound.side {
            Side::AtLeast => "at least",
            Side::Above => "more than",
            Side::AtMost => "at most",
            Side::Below => "less than",
        };
        Self {
            name: bound.name,
            found: number(bound.value),
            needed: format!("{sign} {}", number(bound.bound)),
            margin: Some(rounded(bound.margin())),
            holds,
            why: if holds { String::new() } else { why },
        }
    }
}

impl From<&Bound> for Check {
    fn from(bound: &Bound) -> Self {
        let mut check = Self::of(bound, String::new());
        if !check.holds {
            check.why = format!("{} {}, and {} is needed", check.name, check.found, check.needed);
        }
        check
    }
}

/// What the first check that does not hold says.
pub(crate) fn first_refusal(checks: &[Check]) -> Option<&Check> {
    checks.iter().find(|check| !check.holds)
}

const DIGITS: f64 = 10_000.0;

fn rounded(value: f64) -> f64 {
    (value * DIGITS).round() / DIGITS
}

fn number(value: f64) -> String {
    rounded(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_holds_on_its_side_and_tells_how_far() {
        let bound = |side, value| Bound { name: "x", value, side, bound: 0.5 };
        assert!(bound(Side::AtLeast, 0.5).holds() && !bound(Side::Above, 0.5).holds());
        assert!(bound(Side::AtMost, 0.5).holds() && !bound(Side::Below, 0.5).holds());
        let check = Check::from(&bound(Side::AtLeast, 0.38));
        assert_eq!((check.margin, check.holds), (Some(-0.12), false));
        assert_eq!((check.found.as_str(), check.needed.as_str()), ("0.38", "at least 0.5"));
        assert_eq!(Check::from(&bound(Side::Below, 0.38)).margin, Some(0.12));
    }
}
