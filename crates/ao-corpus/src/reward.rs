//! How an entry's standing moves when somebody says whether it helped.

use ao_contract::Maturity;

use crate::check::{Bound, Side};
use crate::document::Document;

/// What each use of an entry is worth as a judgement.
pub const APPLIED: f64 = 1.0;
/// Being referred to never counts against an entry: where its utility is higher, that counts.
pub const REFERENCE: f64 = 0.7;
pub const BYPASS: f64 = 0.0;

/// A judgement above this helped; one below it did harm.
const MIDDLE: f64 = 0.5;

const FIRST_STEP: f64 = 0.3;
const STEP_DECAY: f64 = 0.1;
const STEP_MIN: f64 = 0.01;
/// Utilities are kept to so many parts of one, which is the same on every machine.
const PARTS: f64 = 1e6;

const RISE_AT: f64 = 0.55;
const CANDIDATE_REWARDS: u64 = 3;
const ESTABLISHED_REWARDS: u64 = 5;
const ANTI_PATTERN_AT: f64 = 0.2;
const ANTI_PATTERN_HARMFUL: u64 = 3;
const ESTABLISHED_UNDER: f64 = 0.5;
const CANDIDATE_UNDER: f64 = 0.3;

/// What a judgement says beside its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Helped,
    Harmed,
    /// The entry was of use; whether it helped nobody said.
    Open,
}

impl Verdict {
    pub fn of(reward: f64) -> Self {
        if reward > MIDDLE {
            Self::Helped
        } else if reward < MIDDLE {
            Self::Harmed
        } else {
            Self::Open
        }
    }
}

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    pub utility: f64,
    pub rewards: u64,
    pub helpful: u64,
    pub harmful: u64,
    /// `None` where the entry does not say: it is provisional until a judgement moves it.
    pub maturity: Option<Maturity>,
}

impl Standing {
    pub fn of(document: &Document) -> Self {
        Self {
            utility: document.utility(),
            rewards: document.count("reward_count"),
            helpful: document.count("helpful_count"),
            harmful: document.count("harmful_count"),
            maturity: document.maturity(),
        }
    }

    /// Takes one judgement. Many at once come to the same as one after the other.
    pub fn take(&mut self, reward: f64, verdict: Verdict) {
        let utility = self.utility + step(self.rewards) * (reward - self.utility);
        self.utility = (utility.clamp(0.0, 1.0) * PARTS).round() / PARTS;
        self.rewards += 1;
        match verdict {
            Verdict::Helped => self.helpful += 1,
            Verdict::Harmed => self.harmful += 1,
            Verdict::Open => {}
        }
        let now = self.maturity.unwrap_or(Maturity::Provisional);
        let next = self.next(now);
        if next != now {
            self.maturity = Some(next);
        }
    }

    fn next(&self, now: Maturity) -> Maturity {
        let steps = self.steps(now);
        let step = steps.iter().flatten().find(|step| step.asked().all(Bound::holds));
        step.map_or(now, |step| step.to)
    }

    /// Where it may go from here, and what each way asks; the first of which all holds is taken.
    #[expect(clippy::cast_precision_loss, reason = "counts are clamped far below 2^52")]
    pub fn steps(&self, now: Maturity) -> [Option<Step>; 3] {
        use Maturity::{AntiPattern, Candidate, Established, Provisional};
        use Side::{Above, AtLeast, AtMost, Below};
        let bound = |name, value, side, bound| Some(Bound { name, value, side, bound });
        let utility = |side, at| bound("utility", self.utility, side, at);
        let count = |name, count: u64, least: u64| bound(name, count as f64, AtLeast, least as f64);
        let rewards = |least| count("rewards", self.rewards, least);
        let harmful = count("harmful", self.harmful, ANTI_PATTERN_HARMFUL);
        let helped = bound("helpful", self.helpful as f64, Above, self.harmful as f64);
        let step = |to, asked| Some(Step { to, asked });
        let harms = step(AntiPattern, [utility(AtMost, ANTI_PATTERN_AT), harmful, None]);
        match now {
            Established => {
                [harms, step(Candidate, [utility(Below, ESTABLISHED_UNDER), None, None]), None]
            }
            Candidate => [
                harms,
                step(Provisional, [utility(Below, CANDIDATE_UNDER), None, None]),
                step(
                    Established,
                    [utility(AtLeast, RISE_AT), rewards(ESTABLISHED_REWARDS), helped],
                ),
            ],
            Provisional => {
                let asked = [utility(AtLeast, RISE_AT), rewards(CANDIDATE_REWARDS), None];
                [harms, step(Candidate, asked), None]
            }
            AntiPattern => [harms, None, None],
        }
    }
}

/// A way from one maturity to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    pub to: Maturity,
    asked: [Option<Bound>; 3],
}

impl Step {
    /// All of it must hold.
    pub fn asked(&self) -> impl Iterator<Item = &Bound> {
        self.asked.iter().flatten()
    }
}

/// How far one judgement moves an entry that has had so many.
pub fn step(rewards: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "the step is at its minimum long before")]
    let rewards = rewards as f64;
    (FIRST_STEP * (-STEP_DECAY * rewards).exp()).max(STEP_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(utility: f64, rewards: u64, helpful: u64, harmful: u64) -> Standing {
        Standing { utility, rewards, helpful, harmful, maturity: None }
    }

    #[test]
    fn steps_as_computed_by_hand() {
        // 0.3·e^0, 0.3·e^-0.1, 0.3·e^-0.5, and the floor from e^-3.4 on.
        for (rewards, by_hand) in
            [(0, 0.3), (1, 0.271_451_225_4), (5, 0.181_959_197_9), (34, 0.010_011_981), (35, 0.01)]
        {
            assert!((step(rewards) - by_hand).abs() < 1e-8, "{rewards}: {}", step(rewards));
        }
    }

    #[test]
    fn utilities_as_computed_by_hand() {
        let mut entry = standing(0.5, 0, 0, 0);
        entry.take(1.0, Verdict::Helped);
        // 0.5 + 0.3 · 0.5
        assert!((entry.utility - 0.65).abs() < 1e-9);
        entry.take(1.0, Verdict::Helped);
        // 0.65 + 0.2714512254 · 0.35
        assert!((entry.utility - 0.745_008).abs() < 1e-9, "{}", entry.utility);
        entry.take(0.0, Verdict::Harmed);
        // 0.745008 − 0.2456192259 · 0.745008
        assert!((entry.utility - 0.562_02).abs() < 1e-6, "{}", entry.utility);
        assert_eq!((entry.rewards, entry.helpful, entry.harmful), (3, 2, 1));
        assert_eq!(entry.maturity, Some(Maturity::Candidate));
    }

    #[test]
    fn every_transition_and_what_is_just_not_enough() {
        use Maturity::{AntiPattern, Candidate, Established, Provisional};
        let table = [
            (Provisional, standing(0.55, 3, 0, 0), Candidate),
            (Provisional, standing(0.549_999, 3, 3, 0), Provisional),
            (Provisional, standing(0.9, 2, 2, 0), Provisional),
            (Candidate, standing(0.55, 5, 3, 2), Established),
            (Candidate, standing(0.55, 5, 2, 2), Candidate),
            (Candidate, standing(0.549_999, 5, 5, 0), Candidate),
            (Candidate, standing(0.9, 4, 4, 0), Candidate),
            (Established, standing(0.499_999, 9, 9, 0), Candidate),
            (Established, standing(0.5, 9, 0, 9), Established),
            (Candidate, standing(0.299_999, 9, 9, 0), Provisional),
            (Candidate, standing(0.3, 9, 9, 0), Candidate),
            (Provisional, standing(0.2, 3, 0, 3), AntiPattern),
            (Candidate, standing(0.2, 3, 0, 3), AntiPattern),
            (Established, standing(0.2, 3, 0, 3), AntiPattern),
            (Established, standing(0.200_001, 3, 0, 3), Candidate),
            (Provisional, standing(0.1, 9, 0, 2), Provisional),
            (AntiPattern, standing(0.9, 9, 9, 0), AntiPattern),
        ];
        for (now, entry, expected) in table {
            assert_eq!(entry.next(now), expected, "{now:?} {entry:?}");
        }
    }

    #[test]
    fn an_average_stays_between_0_and_1_and_moves_towards_the_judgement() {
        for rewards in 0..60 {
            for utility in [0.0, 0.2, 0.5, 0.99, 1.0] {
                for reward in [0.0, 0.3, 0.5, 1.0] {
                    let mut entry = standing(utility, rewards, 0, 0);
                    entry.take(reward, Verdict::of(reward));
                    let moved = (entry.utility - utility) * (reward - utility);
                    assert!((0.0..=1.0).contains(&entry.utility) && moved >= 0.0);
                }
            }
        }
    }
}
