//! Somebody acts as a commit is decided, too late for any comparison, and then something else
//! happens at any moment after it: a second act on the same file, or the command is killed.

use std::fmt;

use crate::act::Act;
use crate::course::{Course, start};
use crate::tally::Tally;
use crate::verdict::{Moment, brief, is_kept, judge, undisturbed};
use crate::world::{Arena, RECOVER, Scenario, World, scenarios};

const CASES_MIN: usize = 1_000;
const CASES_FULL: usize = 4_000;
const CASES_SAMPLE: usize = 60;
/// More stops than carrying a late change adds to an undisturbed run.
const LATE_STOPS: usize = 150;

const OTHER: &str = "learnings/b.md";
const CHANGED: &str = "learnings/a.md";
const DELETED: &str = "findings/f2.md";
const NEW: &str = "patterns/theirs.md";
const LINES: &str = "rpi/next-work.jsonl";

const PAIRS: [(Act, Act); 13] = [
    (Act::Replace(OTHER), Act::Replace(OTHER)),
    (Act::Replace(OTHER), Act::Edit(OTHER)),
    (Act::Replace(OTHER), Act::Delete(OTHER)),
    (Act::Delete(OTHER), Act::Replace(OTHER)),
    (Act::Delete(OTHER), Act::Edit(OTHER)),
    (Act::Replace(NEW), Act::Replace(NEW)),
    (Act::Replace(CHANGED), Act::Replace(CHANGED)),
    (Act::Edit(CHANGED), Act::Edit(CHANGED)),
    (Act::Replace(CHANGED), Act::Delete(CHANGED)),
    (Act::Delete(CHANGED), Act::Replace(CHANGED)),
    (Act::Append(LINES), Act::Append(LINES)),
    (Act::Append(LINES), Act::Replace(LINES)),
    (Act::Append(LINES), Act::Edit(LINES)),
];

struct Pair {
    first: Act,
    second: Act,
    stop: usize,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pair {:?}, then {:?} at stop {}", self.first, self.second, self.stop)
    }
}

fn stops_after(course: &Course) -> std::ops::Range<usize> {
    course.decided + 1..course.moments.last().unwrap() + LATE_STOPS
}

// proves: LOOP-07
#[test]
fn pair_of_acts_loses_nothing() {
    let arena = Arena::new();
    let scenario = scenarios(&arena).swap_remove(0);
    let course = Course::of(&arena, &scenario);
    let mut tally = Tally::new("pair of acts", "pair_of_acts_loses_nothing", CASES_MIN);
    let pairs = PAIRS.iter().flat_map(|pair| stops_after(&course).map(move |stop| (*pair, stop)));
    let cases = pairs.map(|((first, second), stop)| Pair { first, second, stop }).collect();
    let cases = tally.part(cases, CASES_FULL, CASES_SAMPLE);
    tally.run(&cases, |pair| attack(&arena, &scenario, &course, pair));
    tally.finish();
}

fn attack(arena: &Arena, scenario: &Scenario, course: &Course, pair: &Pair) -> Result<(), String> {
    let world = arena.world(&scenario.start);
    let mut stepper = start(&world, scenario);
    stepper.nth(course.decided).ok_or("the command ended before it was decided")?;
    pair.first.perform(&world, &pair.first.text(1)).unwrap();
    let stop = stepper.nth(pair.stop - course.decided - 1);
    let at = stop.map_or_else(|| "its end".to_owned(), |stop| stop.describe());
    let done = pair.second.perform(&world, &pair.second.text(2));
    let (output, _) = stepper.finish();
    let verdict = || {
        if !output.status.success() {
            return Err("the commit failed".to_owned());
        }
        undisturbed(&world, scenario, pair.first)?;
        judge_pair(&world, pair, done.is_ok())
    };
    verdict().map_err(|why| format!("the second act came at {at}\n{}\n{why}", brief(&output)))
}

/// The last word holds, or is kept; of a line file every line does.
fn judge_pair(world: &World, pair: &Pair, is_second_done: bool) -> Result<(), String> {
    let (one, two) = (pair.first.text(1), pair.second.text(2));
    let path = format!(".agents/{}", pair.first.path());
    let tree = world.tree();
    let live = tree.bytes(&path).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let text = live.clone().unwrap_or_default();
    let is_good = match (pair.first, pair.second) {
        // It found nothing to act on, so the first act is the last word.
        (Act::Delete(_), _) if !is_second_done => live.is_none(),
        _ if !is_second_done => text.contains(&one),
        // Whoever deleted it had not seen the first act's version, which may be back.
        (_, Act::Delete(_)) => live.is_none() || text == one,
        (_, Act::Append(_)) => text.matches(&one).count() == 1 && text.matches(&two).count() == 1,
        // A line that was appended before may follow what replaced it.
        _ => text.starts_with(&two) || is_kept(world, &two),
    };
    if is_good {
        return Ok(());
    }
    Err(format!("{path} holds {live:?}; the second act was done: {is_second_done}"))
}

/// Late acts, one for each way in which they are carried.
const LATE: [Act; 10] = [
    Act::Replace(OTHER),
    Act::Delete(OTHER),
    Act::Replace(NEW),
    Act::Replace(CHANGED),
    Act::Edit(CHANGED),
    Act::Delete(CHANGED),
    Act::Edit(DELETED),
    Act::Append(LINES),
    Act::DeleteFolder("learnings/nested"),
    Act::DeleteFolder("patterns"),
];

struct Killed {
    act: Act,
    stop: usize,
}

impl fmt::Display for Killed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pair {:?}, then SIGKILL at stop {}", self.act, self.stop)
    }
}

// proves: LOOP-07, LOOP-21
#[test]
fn pair_of_act_and_kill_loses_nothing() {
    let arena = Arena::new();
    let scenario = scenarios(&arena).swap_remove(0);
    let course = Course::of(&arena, &scenario);
    let mut tally = Tally::new("act and kill", "pair_of_act_and_kill_loses_nothing", CASES_MIN);
    let pairs = LATE.iter().flat_map(|act| stops_after(&course).map(move |stop| (*act, stop)));
    let cases = pairs.map(|(act, stop)| Killed { act, stop }).collect();
    let cases = tally.part(cases, CASES_FULL, CASES_SAMPLE);
    tally.run(&cases, |case| kill(&arena, &scenario, &course, case));
    tally.finish();
}

fn kill(arena: &Arena, scenario: &Scenario, course: &Course, case: &Killed) -> Result<(), String> {
    let world = arena.world(&scenario.start);
    let mut stepper = start(&world, scenario);
    stepper.nth(course.decided).ok_or("the command ended before it was decided")?;
    let moment = Moment::new(&world, scenario, course, case.act, course.decided);
    let text = case.act.text(1);
    case.act.perform(&world, &text).unwrap();
    let stop = stepper.nth(case.stop - course.decided - 1);
    let at = stop.map_or_else(|| "its end".to_owned(), |stop| stop.describe());
    stepper.kill();
    let verdict = || {
        world.must(&RECOVER)?;
        if crate::check::history_ids(&world).is_empty() {
            // Killed before the marker was there: only the act happened.
            return Ok(());
        }
        undisturbed(&world, scenario, case.act)?;
        judge(&world, scenario, case.act, &text, moment)
    };
    verdict().map_err(|why| format!("killed at {at}\n{why}"))
}
