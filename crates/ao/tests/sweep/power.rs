//! The power goes at every file-system call: what the disk holds then, its journal replayed, is
//! what `ao` finds at the next start.
//!
//! Only in the full sweep, and one case at a time on each image: a file system that is shut down
//! must be unmounted before it is mounted again.

use std::fmt;
use std::fs;

use crate::check::{Start, State, check_and_go_on};
use crate::mount::{Format, Image};
use crate::step::Stepper;
use crate::tally::{Tally, skip};
use crate::world::{Arena, RECOVER, Scenario, World, scenarios};

const EXT4_BYTES: u64 = 16 << 20;
/// The smallest that `mkfs.xfs` makes.
const XFS_BYTES: u64 = 320 << 20;
/// What the full sweep must reach, on each file system.
const CASES_MIN: usize = 150;

#[derive(Debug, Clone, Copy)]
enum Cut {
    /// The command stands at this stop.
    Stop(usize),
    /// The command has just said that it is done.
    Acknowledged,
}

struct Case<'a> {
    scenario: &'a Scenario,
    cut: Cut,
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cut {
            Cut::Stop(number) => write!(f, "power {} stop {number}", self.scenario.name),
            Cut::Acknowledged => write!(f, "power {} acknowledged", self.scenario.name),
        }
    }
}

// proves: LOOP-21, LOOP-22
#[test]
fn power_cut_on_ext4() {
    sweep("power cut ext4", "power_cut_on_ext4", Format::Ext4, EXT4_BYTES);
}

// proves: LOOP-21, LOOP-22
#[test]
fn power_cut_on_xfs() {
    sweep("power cut xfs", "power_cut_on_xfs", Format::Xfs, XFS_BYTES);
}

fn sweep(engine: &'static str, test: &'static str, format: Format, bytes: u64) {
    let mut tally = Tally::new(engine, test, CASES_MIN);
    if !tally.is_full() {
        return;
    }
    let arena = Arena::new();
    let mut image = match Image::new(arena.path(), format, bytes) {
        Ok(image) => image,
        Err(why) => return skip(engine, &why),
    };
    for scenario in scenarios(&arena).iter().filter(|it| ["apply-2", "undo"].contains(&it.name)) {
        let (_, stops) = {
            let world = arena.world(&scenario.start);
            Stepper::start(world.command(&scenario.args())).finish()
        };
        for cut in (0..stops).map(Cut::Stop).chain([Cut::Acknowledged]) {
            let case = Case { scenario, cut };
            if tally.wants(&case) {
                let result = attack(&mut image, &case);
                tally.record(&case, result);
            }
        }
    }
    tally.finish();
}

fn attack(image: &mut Image, case: &Case) -> Result<(), String> {
    let repo = image.path().join("repo");
    let _ = fs::remove_dir_all(&repo);
    // The world's own clean-up must not run on a disk that has no power.
    let world = std::mem::ManuallyDrop::new(World::at(repo, &case.scenario.start));
    let start = Start::of(&world);
    image.sync();
    let at = cut(image, &world, case)?;
    image.remount()?;
    let state = world
        .must(&RECOVER)
        .and_then(|_| check_and_go_on(&world, case.scenario, &start))
        .map_err(|why| format!("power cut at {at}\n{why}"))?;
    match (case.cut, state) {
        (Cut::Acknowledged, State::Before) => Err("acknowledged, then lost".to_owned()),
        _ => Ok(()),
    }
}

fn cut(image: &Image, world: &World, case: &Case) -> Result<String, String> {
    match case.cut {
        Cut::Stop(number) => {
            let mut stepper = Stepper::start(world.command(&case.scenario.args()));
            let at = stepper.nth(number).map(|stop| stop.describe());
            image.shut_down();
            stepper.kill();
            at.ok_or_else(|| format!("there is no stop {number}"))
        }
        Cut::Acknowledged => {
            world.must(&case.scenario.args())?;
            image.shut_down();
            Ok("its end".to_owned())
        }
    }
}
