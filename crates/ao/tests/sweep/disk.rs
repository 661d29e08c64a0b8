//! A disk that is full to any degree, in blocks and in inodes, and one that cannot be written.

use std::fmt;
use std::fs::{self, File};

use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statvfs::statvfs;

use crate::check::{Start, State, check, check_and_go_on, check_files};
use crate::mount::{Format, Image};
use crate::tally::{Tally, skip};
use crate::tree::Tree;
use crate::world::{Arena, RECOVER, Scenario, World, scenarios, shown};

/// The fill levels of the full sweep: of each of them, so many of blocks and so many of inodes.
const CASES_MIN: usize = 80;
const BLOCK_LEVELS: u32 = 80;
const INODE_LEVELS: u32 = 40;
const CASES_SAMPLE: usize = 16;

const IMAGE_BYTES: u64 = 6 << 20;
/// A commit reserves this much for directories that grow.
const RESERVED_BYTES: u64 = 1 << 20;
/// What the disk has free grows by this much from level to level; the last ones leave enough.
const LEVEL_BYTES: u64 = 6 << 10;

#[derive(Debug, Clone, Copy)]
enum Free {
    Bytes(u64),
    Inodes(u32),
}

struct Case<'a> {
    scenario: &'a Scenario,
    free: Free,
}

impl fmt::Display for Case<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.scenario.name;
        match self.free {
            Free::Bytes(count) => write!(f, "disk {name} with {count} bytes free"),
            Free::Inodes(count) => write!(f, "disk {name} with {count} inodes free"),
        }
    }
}

// proves: LOOP-22
#[test]
fn full_disk_leaves_before_or_after() {
    let arena = Arena::new();
    if let Err(why) = new_image(&arena) {
        return skip("full disk", &why);
    }
    let scenario = scenarios(&arena).swap_remove(0);
    let levels =
        (0..BLOCK_LEVELS).map(|level| Free::Bytes(RESERVED_BYTES + u64::from(level) * LEVEL_BYTES));
    let levels = levels.chain((0..INODE_LEVELS).map(Free::Inodes));
    let cases = levels.map(|free| Case { scenario: &scenario, free }).collect();
    let mut tally = Tally::new("full disk", "full_disk_leaves_before_or_after", CASES_MIN);
    let cases = tally.sample(cases, CASES_SAMPLE);
    let ends = tally.run(&cases, |case| attack(&arena, case));
    let committed = ends.iter().filter(|(_, state)| *state == State::After).count();
    if ends.len() == cases.len() {
        // Else the levels lie all on one side of what a commit needs, and show nothing.
        assert!(committed > 0 && committed < ends.len(), "{committed} of {}", ends.len());
    }
    tally.finish();
}

fn new_image(arena: &Arena) -> Result<Image, String> {
    let dir = arena.fresh("disk");
    fs::create_dir(&dir).unwrap();
    Image::new(&dir, Format::Ext4, IMAGE_BYTES)
}

/// Commits on the full disk, then makes room, recovers and checks.
fn attack(arena: &Arena, case: &Case) -> Result<State, String> {
    let image = new_image(arena)?;
    let world = World::at(image.path().join("repo"), &case.scenario.start);
    let start = Start::of(&world);
    let filler = image.path().join("filler");
    fs::create_dir(&filler).unwrap();
    match case.free {
        Free::Bytes(count) => fill_blocks(&image, count),
        Free::Inodes(count) => fill_inodes(&image, count),
    }
    let output = world.run(&case.scenario.args());
    let committed = match output.status.code() {
        Some(0) => State::After,
        Some(1 | 6) if !output.stderr.trim_ascii().is_empty() => State::Before,
        _ => return Err(format!("no clear failure: {}", shown(&output))),
    };
    check_files(&world, case.scenario)?;
    fs::remove_dir_all(filler).unwrap();
    world.must(&RECOVER)?;
    let state = check_and_go_on(&world, case.scenario, &start)
        .map_err(|why| format!("{}\n{why}", shown(&output)))?;
    if committed == State::After && state == State::Before {
        return Err(format!("acknowledged, then lost: {}", shown(&output)));
    }
    Ok(state)
}

fn fill_blocks(image: &Image, free_bytes: u64) {
    let file = File::create(image.path().join("filler/blocks")).unwrap();
    let space = statvfs(image.path()).unwrap();
    let free = space.blocks_available() * space.fragment_size();
    let Some(used) = free.checked_sub(free_bytes) else { return };
    // The file's own index takes a block or two as well.
    for spare in 0..64 {
        let bytes = i64::try_from(used.saturating_sub(spare * space.fragment_size())).unwrap();
        if fallocate(&file, FallocateFlags::empty(), 0, bytes).is_ok() {
            return;
        }
    }
    panic!("{free} bytes cannot be filled up to {free_bytes}");
}

fn fill_inodes(image: &Image, free_inodes: u32) {
    let free = statvfs(image.path()).unwrap().files_free();
    for number in u64::from(free_inodes)..free {
        File::create(image.path().join(format!("filler/{number}"))).unwrap();
    }
}

// proves: LOOP-22
#[test]
fn read_only_disk_is_refused() {
    let arena = Arena::new();
    let image = match new_image(&arena) {
        Ok(image) => image,
        Err(why) => return skip("read-only disk", &why),
    };
    let mut tally = Tally::new("read-only disk", "read_only_disk_is_refused", 1);
    let scenarios = scenarios(&arena);
    for name in ["apply-1", "apply-2", "undo"] {
        let scenario = scenarios.iter().find(|scenario| scenario.name == name).unwrap();
        let image = new_image(&arena).unwrap();
        tally.record(&format!("read-only {name}"), refuse(&image, scenario));
    }
    drop(image);
    tally.finish();
}

fn refuse(image: &Image, scenario: &Scenario) -> Result<(), String> {
    let world = World::at(image.path().join("repo"), &scenario.start);
    let start = Start::of(&world);
    let before = Tree::read(&world.root, None);
    image.remount_read_only();
    let output = world.run(&scenario.args());
    if output.status.code() != Some(6) || output.stderr.trim_ascii().is_empty() {
        return Err(format!("expected exit code 6 and a reason: {}", shown(&output)));
    }
    let now = Tree::read(&world.root, None);
    let changed = before.difference(&now) + &before.disturbed(&now, |_| true);
    if !changed.is_empty() {
        return Err(format!("a read-only disk changed:\n{changed}"));
    }
    // Reading is not refused: `check` asks `ao tree verify`.
    check(&world, scenario, &start).map(|_| ())
}
