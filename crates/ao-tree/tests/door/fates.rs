//! Which crashes to try: all of them when they are few, and a telling choice when they are not.

use crate::journal::Fate;

/// A small generator (splitmix64), so that a failing sample is found again by its seed.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let at = self.roll() % from.len() as u64;
        &from[usize::try_from(at).expect("less than a length")]
    }
}

/// How many crashes to try at one point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Breadth {
    /// Up to this many combinations, all are tried.
    pub(crate) exhaustive: usize,
    /// Beyond it: the telling ones are thinned out to about this many.
    pub(crate) telling: usize,
    /// And this many at random.
    pub(crate) samples: usize,
}

pub(crate) fn choices(open: &[&'static [Fate]], breadth: Breadth, seed: u64) -> Vec<Vec<Fate>> {
    let combinations = open.iter().try_fold(1_usize, |all, fates| all.checked_mul(fates.len()));
    if combinations.is_some_and(|all| all <= breadth.exhaustive) {
        return every(open);
    }
    let mut chosen = vec![vec![Fate::Lost; open.len()], vec![Fate::Kept; open.len()]];
    let telling = telling(open);
    let stride = telling.len().div_ceil(breadth.telling.max(1));
    let offset = usize::try_from(seed).unwrap_or(0) % stride;
    chosen.extend(telling.into_iter().skip(offset).step_by(stride));
    let mut dice = Dice::new(seed);
    for _ in 0..breadth.samples {
        chosen.push(open.iter().map(|fates| *dice.pick(fates)).collect());
    }
    chosen
}

fn every(open: &[&'static [Fate]]) -> Vec<Vec<Fate>> {
    open.iter().fold(vec![Vec::new()], |begun, fates| {
        let longer = |start: &Vec<Fate>| {
            let start = start.clone();
            fates.iter().map(move |fate| [start.as_slice(), &[*fate]].concat())
        };
        begun.iter().flat_map(longer).collect()
    })
}

/// Each one lost, each one kept alone, each prefix; of bytes also each way to be torn.
fn telling(open: &[&'static [Fate]]) -> Vec<Vec<Fate>> {
    let mut chosen = Vec::new();
    for (at, fates) in open.iter().enumerate() {
        for fate in fates.iter().filter(|fate| **fate != Fate::Kept) {
            let mut one_missing = vec![Fate::Kept; open.len()];
            one_missing[at] = *fate;
            chosen.push(one_missing);
        }
        let mut alone = vec![Fate::Lost; open.len()];
        alone[at] = Fate::Kept;
        chosen.push(alone);
        let mut prefix = vec![Fate::Lost; open.len()];
        prefix[..at].fill(Fate::Kept);
        chosen.push(prefix);
    }
    chosen
}
