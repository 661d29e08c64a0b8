//! Somebody else acts between any two system calls of a commit.
//!
//! The command is stepped, also through the calls that only look; at the chosen stop the intruder
//! acts, and the command goes on. Whatever the moment, the intruder's work must be in the tree,
//! or where a person finds it: kept beside as a conflict, or in the undo store if `ao` had seen
//! it before it replaced it.

use std::fmt;

use crate::act::Act;
use crate::check::{check_quiet, history_ids};
use crate::course::{Course, start};
use crate::step::Edge;
use crate::tally::Tally;
use crate::tree::Kind;
use crate::verdict::{Moment, brief, judge, undisturbed};
use crate::world::{Arena, RECOVER, Scenario, scenarios, shown};

const CASES_MIN: usize = 1_000;
const CASES_FULL: usize = 5_000;
const CASES_SAMPLE: usize = 80;

/// Files that the first commit changes, deletes and adds, files that it leaves alone in folders
/// that it exchanges, and such folders themselves.
const ACTS: [Act; 21] = [
    Act::Edit("learnings/a.md"),
    Act::Edit("learnings/b.md"),
    Act::Edit("findings/f2.md"),
    Act::Edit("learnings/nested/deep/d.md"),
    Act::Replace("learnings/a.md"),
    Act::Replace("learnings/b.md"),
    Act::Replace("findings/f2.md"),
    Act::Replace("learnings/new.md"),
    Act::Replace("patterns/theirs.md"),
    Act::Replace("rpi/next-work.jsonl"),
    Act::Delete("learnings/a.md"),
    Act::Delete("learnings/b.md"),
    Act::Delete("findings/f2.md"),
    Act::Delete("rpi/next-work.jsonl"),
    Act::Append("learnings/log.jsonl"),
    Act::Append("rpi/next-work.jsonl"),
    Act::Rename("learnings/b.md", "learnings/b-renamed.md"),
    Act::AddFolder("knowledge/theirs/page.md"),
    Act::DeleteFolder("learnings/nested"),
    Act::DeleteFolder("patterns"),
    Act::ReplaceFolder("patterns"),
];

struct Case {
    act: Act,
    stop: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "intruder {:?} at stop {}", self.act, self.stop)
    }
}

// proves: LOOP-07
#[test]
fn intruder_loses_nothing() {
    let arena = Arena::new();
    let scenario = scenarios(&arena).swap_remove(0);
    let course = Course::of(&arena, &scenario);
    let mut tally = Tally::new("intruder", "intruder_loses_nothing", CASES_MIN);
    let moments = ACTS.iter().flat_map(|act| course.moments.iter().map(move |stop| (*act, *stop)));
    let cases = moments.map(|(act, stop)| Case { act, stop }).collect();
    let cases = tally.part(cases, CASES_FULL, CASES_SAMPLE);
    tally.run(&cases, |case| attack(&arena, &scenario, &course, case));
    tally.finish();
}

fn attack(arena: &Arena, scenario: &Scenario, course: &Course, case: &Case) -> Result<(), String> {
    let world = arena.world(&scenario.start);
    let mut stepper = start(&world, scenario);
    let stop = stepper.nth(case.stop).ok_or("the command ended before that stop")?;
    let at = stop.describe();
    let moment = Moment::new(&world, scenario, course, case.act, case.stop);
    let text = case.act.text(1);
    let done = case.act.perform(&world, &text);
    let (output, _) = stepper.finish();
    let verdict = || {
        if !output.status.success() {
            return Err("the commit failed".to_owned());
        }
        undisturbed(&world, scenario, case.act)?;
        match done {
            Ok(()) => judge(&world, scenario, case.act, &text, moment),
            Err(_) => Ok(()),
        }
    };
    verdict().map_err(|why| format!("the intruder acted at {at}\n{}\n{why}", brief(&output)))
}

// proves: LOOP-07
#[test]
fn intruder_who_never_stops_rolls_back() {
    const LINES: &str = "rpi/next-work.jsonl";
    let arena = Arena::new();
    let scenario = scenarios(&arena).swap_remove(0);
    let world = arena.world(&scenario.start);
    let mut expected = scenario.before.clone();
    let queue = &mut expected.0.get_mut(&format!(".agents/{LINES}")).unwrap().kind;
    let Kind::File(lines) = queue else { panic!("{LINES} is a file") };
    let mut stepper = start(&world, &scenario);
    for number in 0.. {
        let Some(stop) = stepper.next() else { break };
        // Every comparison finds the file longer than the one before did. Not while it is being
        // read: that would never end.
        if stop.edge == Edge::Entry && stop.call.name() != "read" {
            let act = Act::Append(LINES);
            act.perform(&world, &act.text(number)).unwrap();
            lines.extend(act.text(number).into_bytes());
        }
    }
    let (output, _) = stepper.finish();
    assert_eq!(output.status.code(), Some(75), "{}", shown(&output));
    assert!(shown(&output).contains(": 3 comparisons in a row"), "{}", shown(&output));
    let difference = expected.difference(&world.tree());
    assert!(difference.is_empty(), "rolled back, and not as the others left it:\n{difference}");
    assert!(history_ids(&world).is_empty());
    check_quiet(&world).unwrap();
    world.must(&RECOVER).unwrap();
    assert_eq!(expected.difference(&world.tree()), "");
    // Once they have stopped it is done after all.
    world.must(&scenario.args()).unwrap();
    assert_eq!(history_ids(&world), ["c1"]);
}
