//! A small corpus that a night has work in.

use std::fs;

use crate::dice::Dice;
use crate::words::{learning, work};
use crate::world::World;

pub(crate) const QUEUE: &str = "rpi/next-work.jsonl";
pub(crate) const NIGHT: [&str; 3] = ["overnight", "start", "--no-keep-awake"];

pub(crate) fn folders(world: &World) {
    for folder in ["learnings", "findings", "patterns", "knowledge/pending", "rpi"] {
        fs::create_dir_all(world.agents(folder)).unwrap();
    }
}

/// Learnings, copies of some of them, and pending ones.
pub(crate) fn settle(world: &World, dice: &mut Dice) {
    folders(world);
    fs::write(world.agents(QUEUE), work(900)).unwrap();
    for number in 0..8 {
        let (day, text) = (number + 1, learning(dice, number));
        fs::write(world.agents(&format!("learnings/2026-05-0{day}-l{number}.md")), &text).unwrap();
        if number < 3 {
            let copy = world.agents(&format!("learnings/2026-05-09-copy{number}.md"));
            fs::write(copy, &text).unwrap();
        }
    }
    for number in 100..104 {
        pending(world, dice, number);
    }
}

pub(crate) fn pending(world: &World, dice: &mut Dice, number: u64) {
    let path = world.agents(&format!("knowledge/pending/2026-04-11-p{number}.md"));
    fs::write(path, learning(dice, number)).unwrap();
}
