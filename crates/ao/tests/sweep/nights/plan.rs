//! What is going to happen in a night, all of it from its seed.

use std::fmt;
use std::time::Duration;

use super::dice::Dice;

/// Any number will do; another one makes two hundred other nights.
const SEED: u64 = 0x6e69_6768_7473_2031;

/// When somebody ends the run.
#[derive(Debug, Clone, Copy)]
pub(super) enum Moment {
    /// So many thousandths of what a night usually takes.
    Share(u32),
    /// As soon as something is seen in `overnight/`, and so much later.
    Seen(Sign, Duration),
}

/// What a run leaves on its way.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sign {
    Staging,
    Marker,
    History,
    Iteration,
    Packets,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum End {
    /// Nobody ends it.
    Itself,
    Killed(Moment),
    Asked(Moment),
}

/// What comes after a night that somebody ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Start,
    /// `ao tree recover` first.
    Recover,
    Resume,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// Nobody writes, so that the trees can be compared.
    Away,
    AtWork,
}

#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) number: u64,
    pub(super) seed: u64,
    pub(super) others: Others,
    pub(super) end: End,
    pub(super) next: Next,
    /// The start after a killed one may be killed too.
    pub(super) next_end: End,
    pub(super) args: Vec<&'static str>,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "night {} seed {:016x}", self.number, self.seed)
    }
}

impl Plan {
    pub(super) fn of(number: u64) -> Self {
        let seed = Dice::new(SEED.wrapping_add(number)).roll();
        let mut dice = Dice::new(seed);
        let others = if dice.percent(30) { Others::Away } else { Others::AtWork };
        let end = match dice.below(100) {
            0..55 => End::Itself,
            55..88 => End::Killed(moment(&mut dice)),
            _ => End::Asked(moment(&mut dice)),
        };
        let next = *dice.choose(&[Next::Start, Next::Recover, Next::Resume]).unwrap();
        let next_end = if dice.percent(25) { End::Killed(moment(&mut dice)) } else { End::Itself };
        let mut args = vec!["overnight", "start"];
        args.extend(
            *dice
                .choose(&[&[][..], &["--max-iterations", "1"], &["--max-iterations", "3"]])
                .unwrap(),
        );
        args.extend(*dice.choose(&[&[][..], &["--warn-only=false"]]).unwrap());
        args.extend(
            *dice.choose(&[&[][..], &["--goal", "fewer failures of the mail queue"]]).unwrap(),
        );
        args.extend(*dice.choose(&[&[][..], &["--no-keep-awake"]]).unwrap());
        Self { number, seed, others, end, next, next_end, args }
    }

    /// A night before all others, which shows how long one takes.
    pub(super) fn first() -> Self {
        Self {
            number: 0,
            seed: SEED,
            others: Others::Away,
            end: End::Itself,
            next: Next::Start,
            next_end: End::Itself,
            args: vec!["overnight", "start"],
        }
    }
}

fn moment(dice: &mut Dice) -> Moment {
    let signs = [Sign::Staging, Sign::Marker, Sign::History, Sign::Iteration, Sign::Packets];
    if dice.percent(50) {
        return Moment::Share(u32::try_from(dice.below(1100)).unwrap());
    }
    // At once, a moment later, or after a while.
    let most_us = *dice.choose(&[1, 2_000, 150_000]).unwrap();
    let later = Duration::from_micros(u64::try_from(dice.below(most_us)).unwrap());
    Moment::Seen(*dice.choose(&signs).unwrap(), later)
}
