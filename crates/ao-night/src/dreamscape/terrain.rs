//! The ground: a mountain a topic, as high as its share of the largest one.

use ao_contract::Topic;

use super::canvas::Canvas;

pub(super) const ROWS: usize = 10;
/// A cell can be filled in so many steps.
const STEPS: u64 = 8;
const LEVELS: u64 = ROWS as u64 * STEPS;
/// No mountain is wider than twice this.
const REACH_MAX: usize = 14;
/// The ground between mountains.
const FLOOR: u64 = 1;
/// A slope is uneven by at most this part of the mountain.
const UNEVEN: u64 = 12;

/// From this share of fresh entries on a mountain is drawn as lush.
pub const LUSH_AT: f64 = 0.66;
/// From this share on it is drawn as half grown; under it as bare.
pub const MIXED_AT: f64 = 0.33;

pub(super) const LUSH: char = '▓';
pub(super) const HALF: char = '▒';
pub(super) const BARE: char = '░';
pub(super) const UNDATED: char = '·';
const PART: [char; 8] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇'];

/// Where the middle of each topic is.
pub(super) fn middles(topics: usize, columns: usize) -> Vec<usize> {
    (0..topics).map(|at| (2 * at + 1) * columns / (2 * topics)).collect()
}

pub(super) fn draw(canvas: &mut Canvas, top: usize, topics: &[Topic]) {
    let columns = canvas.columns();
    let middles = middles(topics.len(), columns);
    let largest = topics.iter().map(|topic| topic.entries).max().unwrap_or(0);
    let reach = (columns / topics.len().max(1)).clamp(1, REACH_MAX);
    for column in 0..columns {
        let mut ground = (FLOOR, ' ');
        for (topic, middle) in topics.iter().zip(&middles) {
            let level = slope(topic, largest, middle.abs_diff(column), reach, column);
            if level > ground.0 {
                ground = (level, texture(topic));
            }
        }
        fill(canvas, top, column, ground);
    }
}

/// How high a topic's middle is. It depends on its size and on the largest topic's alone.
fn height(topic: &Topic, largest: u64) -> u64 {
    let is_even = ao_mutant::active("REP-14/every-mountain-is-as-high");
    let largest = u128::from(if is_even { topic.entries } else { largest }.max(1));
    let level = (u128::from(topic.entries) * u128::from(LEVELS)).div_ceil(largest);
    u64::try_from(level).unwrap_or(LEVELS).min(LEVELS)
}

/// How high it is so many columns away.
fn slope(topic: &Topic, largest: u64, away: usize, reach: usize, column: usize) -> u64 {
    let height = height(topic, largest);
    if away >= reach {
        return 0;
    }
    // A smooth step down, in whole numbers: the same on every machine.
    let (away, reach) = (away as u64, reach as u64);
    let whole = reach.pow(3);
    let step = whole - away.pow(2) * (3 * reach - 2 * away);
    let level = height * step / whole;
    let uneven = if away == 0 { 0 } else { height * rough(&topic.name, column) / (UNEVEN * 8) };
    level.saturating_sub(uneven)
}

/// From 0 to 7, the same for the same topic and column in every night.
fn rough(name: &str, column: usize) -> u64 {
    let column = u64::try_from(column).unwrap_or(0);
    let mixed = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64 ^ column, |mixed, byte| {
        (mixed ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    (mixed >> 29) % 8
}

pub(super) fn texture(topic: &Topic) -> char {
    match &topic.freshness {
        None => UNDATED,
        Some(_) if ao_mutant::active("REP-14/everything-is-fresh") => LUSH,
        Some(fresh) if fresh.get() >= LUSH_AT => LUSH,
        Some(fresh) if fresh.get() >= MIXED_AT => HALF,
        Some(_) => BARE,
    }
}

fn fill(canvas: &mut Canvas, top: usize, column: usize, (level, texture): (u64, char)) {
    let (whole, part) = (level / STEPS, level % STEPS);
    let bottom = top + ROWS;
    let mut row = bottom;
    for _ in 0..whole {
        row -= 1;
        canvas.put(row, column, texture);
    }
    if part > 0
        && let Some(sign) = usize::try_from(part).ok().and_then(|part| PART.get(part))
        && row > top
    {
        canvas.put(row - 1, column, *sign);
    }
}
