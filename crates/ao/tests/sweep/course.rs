//! The course of a commit that nobody disturbs: its stops, and what `ao` knows at each of them.

use std::collections::BTreeMap;

use crate::calls::Watch;
use crate::step::{Edge, Stepper, Stop};
use crate::world::{Arena, Scenario, World};

pub(crate) struct Course {
    /// Where one call ends and the next has not begun: the moments at which others may act.
    pub(crate) moments: Vec<usize>,
    /// The stop at which the marker is about to appear.
    pub(crate) decided: usize,
    /// For each path that the commit edits: the stop after which its bytes are known to `ao`.
    seen: BTreeMap<String, usize>,
    /// The path whose first reading is going on.
    reading: Option<String>,
}

/// Starts the command, to be stepped through everything that it does with files.
pub(crate) fn start(world: &World, scenario: &Scenario) -> Stepper {
    let mut args = vec!["--json"];
    args.extend(scenario.args());
    Stepper::start_to_watch(world.command(&args), Watch::ChangesAndLooks)
}

impl Course {
    pub(crate) fn of(arena: &Arena, scenario: &Scenario) -> Self {
        let world = arena.world(&scenario.start);
        let mut stepper = start(&world, scenario);
        let (moments, seen) = (Vec::new(), BTreeMap::new());
        let mut course = Self { moments, decided: 0, seen, reading: None };
        let mut is_ours = false;
        for number in 0.. {
            let Some(stop) = stepper.next() else { break };
            let shown = stop.describe();
            // What comes before the tree is first named is the loader's.
            is_ours |= shown.contains(".agents");
            if is_ours {
                course.note(&stop, &shown, number, scenario);
            }
        }
        course
    }

    fn note(&mut self, stop: &Stop, shown: &str, number: usize, scenario: &Scenario) {
        if stop.edge == Edge::Entry {
            self.moments.push(number);
        }
        if self.decided == 0 && shown.contains("COMMIT-MARKER.") {
            self.decided = number;
        }
        let is_read = stop.call.name() == "read";
        let path = scenario.edited.iter().find(|path| is_read && shown.contains(path.as_str()));
        match path {
            // To the end of its first reading: what comes in the middle is read too.
            Some(path) if !self.seen.contains_key(path) || self.reading == Some(path.clone()) => {
                self.seen.insert(path.clone(), number);
                self.reading = Some(path.clone());
            }
            _ => self.reading = None,
        }
    }

    /// At this moment `ao` knows already what stood at the path, relative to the repository.
    pub(crate) fn has_seen(&self, path: &str, moment: usize) -> bool {
        self.seen.get(path).is_some_and(|seen| moment > *seen)
    }
}
