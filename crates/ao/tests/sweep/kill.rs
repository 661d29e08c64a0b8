//! SIGKILL at every file-system call, and again inside the recovery that follows.

use std::fmt;

use crate::calls::Call;
use crate::check::{Start, check, check_and_go_on, check_files};
use crate::step::{Edge, Stepper};
use crate::tally::Tally;
use crate::world::{Arena, RECOVER, Scenario, World, scenarios, shown};

/// What the full sweep must reach.
const CASES_MIN: usize = 3_000;
/// Kills inside a recovery: each needs the first kill again, so they are spread over the moments.
const NESTED_FULL: usize = 4_000;
const NESTED_SAMPLE: usize = 30;
/// In the default run the first commit is killed everywhere, the other commands at so many stops.
const STOPS_SAMPLE: usize = 10;

/// Where a command is killed.
#[derive(Debug, Clone, Copy)]
enum Point {
    /// At this stop.
    Stop(usize),
    /// At the exit of the write that this stop is the entry of, half of its bytes written.
    Torn(usize),
}

#[derive(Clone)]
pub(crate) struct Case<'a> {
    scenario: &'a Scenario,
    point: Point,
    /// The stop at which the recovery is killed too.
    nested: Option<usize>,
}

impl Case<'_> {
    /// Life after the recovery is lived in every third case: it costs as much as the case.
    fn goes_on(&self) -> bool {
        let (Point::Stop(number) | Point::Torn(number)) = self.point;
        (number + self.nested.unwrap_or(0)).is_multiple_of(3)
    }
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.point {
            Point::Stop(number) => write!(f, "kill {} stop {number}", self.scenario.name)?,
            Point::Torn(number) => write!(f, "kill {} torn {number}", self.scenario.name)?,
        }
        self.nested.map_or(Ok(()), |number| write!(f, ", then recover stop {number}"))
    }
}

// proves: LOOP-20, LOOP-21, RUN-16
#[test]
fn kill_leaves_before_or_after() {
    let arena = Arena::new();
    let scenarios = scenarios(&arena);
    let mut tally = Tally::new("SIGKILL", "kill_leaves_before_or_after", CASES_MIN);
    let mut singles = Vec::new();
    for (index, scenario) in scenarios.iter().enumerate() {
        let all = cases(&arena.world(&scenario.start), scenario);
        // Whole for the first commit, also by default.
        let sample = if index == 0 { all.len() } else { STOPS_SAMPLE };
        singles.extend(tally.sample(all, sample));
    }
    let attack = |case: &Case| attack(&arena.world(&case.scenario.start), case);
    let recoveries = tally.run(&singles, attack);
    let nested = nested(&singles, recoveries);
    tally.run(&tally.part(nested, NESTED_FULL, NESTED_SAMPLE), attack);
    tally.finish();
}

/// Every place where the command can be killed, from a run that is not disturbed.
pub(crate) fn cases<'a>(world: &World, scenario: &'a Scenario) -> Vec<Case<'a>> {
    let mut stepper = Stepper::start(world.command(&scenario.args()));
    let mut points = Vec::new();
    for number in 0.. {
        let Some(stop) = stepper.next() else { break };
        points.push(Point::Stop(number));
        if stop.edge == Edge::Entry && can_tear(&stop.call) {
            points.push(Point::Torn(number));
        }
    }
    points.into_iter().map(|point| Case { scenario, point, nested: None }).collect()
}

fn can_tear(call: &Call) -> bool {
    matches!(call.name(), "write" | "pwrite64") && call.args[2] > 1
}

/// Every place where the recoveries of these cases can be killed.
fn nested<'a>(cases: &[Case<'a>], recoveries: Vec<(usize, usize)>) -> Vec<Case<'a>> {
    let all = recoveries.into_iter().flat_map(|(index, stops)| {
        (0..stops).map(move |number| Case { nested: Some(number), ..cases[index].clone() })
    });
    all.collect()
}

/// Kills, recovers (or kills the recovery, and recovers again) and checks. Tells how many stops
/// the recovery had.
pub(crate) fn attack(world: &World, case: &Case) -> Result<usize, String> {
    let start = Start::of(world);
    let mut killed = vec![kill_at(world, &case.scenario.args(), case.point)?];
    if let Some(number) = case.nested {
        killed.push(kill_at(world, &RECOVER, Point::Stop(number))?);
    }
    let finish = || {
        check_files(world, case.scenario)?;
        let (output, stops) = Stepper::start(world.command(&RECOVER)).finish();
        if !output.status.success() {
            return Err(format!("recover: {}", shown(&output)));
        }
        if case.goes_on() {
            check_and_go_on(world, case.scenario, &start)?;
        } else {
            check(world, case.scenario, &start)?;
        }
        Ok(stops)
    };
    finish().map_err(|why| format!("killed at {}\n{why}", killed.join(", then at ")))
}

fn kill_at(world: &World, args: &[&str], point: Point) -> Result<String, String> {
    let (Point::Stop(number) | Point::Torn(number)) = point;
    let mut stepper = Stepper::start(world.command(args));
    let stop = stepper.nth(number).ok_or_else(|| format!("`{}` has no stop {number}", args[1]))?;
    let at = stop.describe();
    if let Point::Torn(_) = point {
        stop.halve();
        stepper.next();
    }
    stepper.kill();
    Ok(at)
}

/// Leaves a commit unfinished: killed `stops` stops after its marker appeared.
pub(crate) fn interrupt(world: &World, scenario: &Scenario, stops: usize) {
    let mut stepper = Stepper::start(world.command(&scenario.args()));
    while !world.has_marker() {
        stepper.next().expect("a commit has a marker");
    }
    for _ in 0..stops {
        stepper.next().expect("a marked commit has more to do");
    }
    stepper.kill();
}
