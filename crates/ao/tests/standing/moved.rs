//! A tree that is moved in mid-commit: copied, restored from an archive, carried to another file
//! system, stashed and unstashed. No inode number is what it was, and nothing else changed.

use std::fmt;
use std::process::Command;

use tempfile::TempDir;

use crate::step::Stepper;
use crate::tally::Tally;
use crate::whole::{Facts, ao, git, program, recovered};
use crate::world::{Arena, Scenario, World, scenarios};

const CASES_MIN: usize = 500;
const CASES_FULL: usize = 4_000;
const CASES_SAMPLE: usize = 28;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// `cp -a`.
    Copied,
    /// `tar c`, `tar x`.
    Restored,
    /// `cp -a` to another file system.
    OtherFileSystem,
    /// `git stash -u`, `git stash pop`.
    Stashed,
}

const WAYS: [Way; 4] = [Way::Copied, Way::Restored, Way::OtherFileSystem, Way::Stashed];

struct Case<'a> {
    scenario: &'a Scenario,
    stop: usize,
    way: Way,
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at stop {} of {}", self.way, self.stop, self.scenario.name)
    }
}

// proves: LOOP-20, LOOP-21
#[test]
fn moved_trees_are_whole() {
    let arena = Arena::new();
    let elsewhere = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let scenarios = scenarios(&arena);
    let mut tally = Tally::new("moved trees", "moved_trees_are_whole", CASES_MIN);
    let mut cases = Vec::new();
    for scenario in &scenarios {
        for stop in stops(&arena.world(&scenario.start), scenario) {
            cases.extend(WAYS.map(|way| Case { scenario, stop, way }));
        }
    }
    let cases = tally.part(cases, CASES_FULL, CASES_SAMPLE);
    tally.run(&cases, |case| attack(&arena, &elsewhere, case));
    tally.finish();
}

/// The stops at which something of the commit is on the disk, and it is not over.
fn stops(world: &World, scenario: &Scenario) -> Vec<usize> {
    let mut stepper = Stepper::start(ao(world, &scenario.args()));
    let mut stops = Vec::new();
    for number in 0.. {
        let Some(_) = stepper.next() else { break };
        let staged =
            || std::fs::read_dir(world.state("staging")).is_ok_and(|mut d| d.next().is_some());
        if world.has_marker() || staged() {
            stops.push(number);
        }
    }
    stops
}

fn attack(arena: &Arena, elsewhere: &TempDir, case: &Case) -> Result<(), String> {
    let Case { scenario, stop, way } = case;
    let world = arena.world(&scenario.start);
    if *way == Way::Stashed {
        for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "as it was"]] {
            program(&mut git(&world.root, args))?;
        }
    }
    let mut stepper = Stepper::start(ao(&world, &scenario.args()));
    let at = stepper.nth(*stop).ok_or("the command ended before that stop")?.describe();
    stepper.kill();
    let marked = world.has_marker();
    let verdict = || {
        let moved = moved(arena, elsewhere, world, *way)?;
        let facts = if *way == Way::Stashed { Facts::Bytes } else { Facts::BytesAndModes };
        recovered(&moved, &scenario.before, &scenario.after, &scenario.args(), facts)
    };
    let side = verdict().map_err(|why| format!("killed at {at}; marker: {marked}\n{why}"));
    side.map(drop)
}

fn moved(arena: &Arena, elsewhere: &TempDir, world: World, way: Way) -> Result<World, String> {
    let to = arena.fresh("moved");
    match way {
        Way::Copied => {
            program(Command::new("cp").arg("-a").arg(&world.root).arg(&to))?;
        }
        Way::Restored => {
            let tar = arena.fresh("tar");
            program(Command::new("tar").arg("-C").arg(&world.root).arg("-cf").arg(&tar).arg("."))?;
            std::fs::create_dir(&to).unwrap();
            program(Command::new("tar").arg("-C").arg(&to).arg("-xpf").arg(&tar))?;
            std::fs::remove_file(tar).unwrap();
        }
        Way::OtherFileSystem => {
            let to = elsewhere.path().join(to.file_name().unwrap());
            program(Command::new("cp").arg("-a").arg(&world.root).arg(&to))?;
            return Ok(World { root: to });
        }
        Way::Stashed => {
            let stash = program(&mut git(&world.root, &["stash", "push", "-q", "-u"]))?;
            let list = program(&mut git(&world.root, &["stash", "list"]))?;
            drop(stash);
            if !list.stdout.is_empty() {
                program(&mut git(&world.root, &["stash", "pop", "-q"]))?;
            }
            return Ok(world);
        }
    }
    Ok(World { root: to })
}
