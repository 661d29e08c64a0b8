//! What stands beside one entry, and why it is a copy or is none: what the finder judges by, shown.

use super::claims::{self, Claims, Verdict};
use super::find::{self, Finder};
use super::likeness::Likeness;
use super::rank::Rank;
use super::wander::Wander;
use crate::check::Check;
use crate::corpus::Entry;
use crate::tree::Tree;

/// Another entry, held against the one that is asked about.
#[derive(Debug, Clone)]
pub struct Beside {
    pub path: String,
    pub likeness: Likeness,
    /// How near, whether both are compared at all, and whether they claim the same.
    pub checks: Vec<Check>,
    /// Where their claims part, if they do.
    pub difference: Option<Difference>,
    pub rank: Rank,
}

/// Words of the entry that is asked about, and of the other one, that stand against each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub ours: Vec<String>,
    pub theirs: Vec<String>,
}

impl Difference {
    /// Where the words of one side stand in its text.
    pub fn place(text: &str, words: &[String]) -> Option<std::ops::Range<usize>> {
        claims::place_of(text, words)
    }
}

/// How alike two entries are.
pub fn likeness(one: &Entry, other: &Entry) -> Likeness {
    Likeness::of(&find::features_of(one), &find::features_of(other))
}

impl Finder {
    /// The entries that are nearest to one, the nearest first. Ask after [`Finder::find`]: what was found tells
    /// which words stand for anything.
    pub fn nearest(&self, tree: &Tree, path: &str, count: usize) -> Vec<Beside> {
        let Some(ours) = self.looked.iter().position(|one| one.path == path) else {
            return Vec::new();
        };
        let Some(entry) = tree.entry(path) else { return Vec::new() };
        let own = Claims::of(&entry);
        let wander = Wander::of(&self.stand_ins);
        let near =
            |place: usize| Likeness::of(&self.looked[ours].features, &self.looked[place].features);
        let is_other =
            |place: &usize| *place != ours && self.looked[*place].kind == self.looked[ours].kind;
        let mut others: Vec<(Likeness, usize)> =
            (0..self.looked.len()).filter(is_other).map(|place| (near(place), place)).collect();
        let sum = |likeness: &Likeness| likeness.stems + likeness.pairs;
        others.sort_by(|one, other| {
            let by_path = || self.looked[one.1].path.cmp(&self.looked[other.1].path);
            sum(&other.0).total_cmp(&sum(&one.0)).then_with(by_path)
        });
        others.retain(|(likeness, _)| likeness.stems > 0.0);
        others.truncate(count);
        let beside = |(likeness, place): (Likeness, usize)| {
            let other = tree.entry(&self.looked[place].path)?;
            let claims = Claims::of(&other);
            // The better one comes first, as where all are compared.
            let is_first = self.looked[ours].rank < self.looked[place].rank;
            let (one, two) = if is_first { (&own, &claims) } else { (&claims, &own) };
            let mut verdict = find::claims_of_both(one, two);
            if !matches!(verdict, Verdict::Differ(_)) {
                let why = find::poison(&entry).or_else(|| find::poison(&other));
                verdict = why.map_or(verdict, Verdict::Poisoned);
            }
            let is_met = find::is_met(&self.looked, ours, place);
            let mut checks: Vec<Check> = likeness.bounds().iter().map(Check::from).collect();
            if likeness.is_same() {
                for check in &mut checks {
                    check.holds = true;
                }
            }
            let apart = "they share too few parts of their sketches to be compared".to_owned();
            checks.push(Check::plain(
                "sketches",
                "two in common",
                (!is_met).then_some(apart),
                "met",
            ));
            let why = find::objection(&verdict, &wander);
            checks.push(Check::plain("claims", "the same", why.clone(), told(&verdict)));
            let difference = why.and_then(|_| difference(verdict, &wander)).map(|found| {
                let Difference { ours, theirs } = found;
                if is_first {
                    Difference { ours, theirs }
                } else {
                    Difference { ours: theirs, theirs: ours }
                }
            });
            let (path, rank) = (other.path.clone(), self.looked[place].rank.clone());
            Some(Beside { path, likeness, checks, difference, rank })
        };
        others.into_iter().filter_map(beside).collect()
    }
}

fn told(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Same => "word for word",
        Verdict::Wording(_) => "in other words",
        Verdict::Differ(_) => "different",
        Verdict::Poisoned(_) => "poisoned",
    }
}

fn difference(verdict: Verdict, wander: &Wander) -> Option<Difference> {
    match verdict {
        Verdict::Same | Verdict::Poisoned(_) => None,
        Verdict::Differ(apart) => Some(Difference { ours: apart.ours, theirs: apart.theirs }),
        Verdict::Wording(pairs) => {
            let (one, other) =
                pairs.into_iter().find(|(one, other)| !wander.excuses(one, other))?;
            Some(Difference { ours: vec![one], theirs: vec![other] })
        }
    }
}
