//! Commits, nights, undos and kills, one after the other, while everybody writes.

use std::fmt;
use std::fs;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::corpus::QUEUE;
use crate::course::{Course, Kind};
use crate::dice::Dice;
use crate::ledger::{Found, Ledger};
use crate::tally::{Tally, say};
use crate::tree::Tree;
use crate::words::{learning, work};
use crate::world::{Arena, World};
use crate::writers::{SHARED, Stage, Turns, WRITERS};

/// Acknowledged writes and rounds that the full sweep must reach.
const CASES_MIN: usize = 10_000;

#[derive(Debug, Clone, Copy)]
struct Storm {
    kind: Kind,
    seed: u64,
    rounds: usize,
}

impl fmt::Display for Storm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} seed {}", self.rounds, self.kind, self.seed)
    }
}

// proves: LOOP-07
#[test]
fn standing_writers_lose_nothing_to_commits() {
    let (storms, rounds) = if crate::tally::is_full() { (12, 60) } else { (1, 25) };
    run(
        Kind::Commits,
        "standing, commits",
        "standing_writers_lose_nothing_to_commits",
        storms,
        rounds,
    );
}

// proves: LOOP-07
#[test]
fn standing_writers_lose_nothing_to_nights() {
    let (storms, rounds) = if crate::tally::is_full() { (30, 10) } else { (1, 6) };
    run(
        Kind::Nights,
        "standing, nights",
        "standing_writers_lose_nothing_to_nights",
        storms,
        rounds,
    );
}

fn run(kind: Kind, engine: &'static str, test: &'static str, storms: u64, rounds: usize) {
    let arena = Arena::new();
    let mut tally = Tally::new(engine, test, CASES_MIN);
    for seed in 1..=storms {
        let storm = Storm { kind, seed, rounds };
        if !tally.wants(&storm) {
            continue;
        }
        let mut writes = 0;
        let result = storm.run(&arena, &mut writes);
        tally.add(writes);
        tally.record(&storm, result);
    }
    tally.finish();
}

impl Storm {
    fn run(&self, arena: &Arena, writes: &mut usize) -> Result<(), String> {
        let world = settled(arena);
        let ledger = Ledger::new();
        let (is_over, round) = (AtomicBool::new(false), AtomicUsize::new(0));
        let hold = RwLock::new(());
        let stage = Stage {
            arena,
            world: &world,
            ledger: &ledger,
            is_over: &is_over,
            round: &round,
            hold: &hold,
        };
        let mut course = Course::new(self.kind, self.seed, &stage);
        let done = std::thread::scope(|scope| {
            let _over = SetOnDrop(&is_over);
            for (seed, writer) in (self.seed * 100..).zip(WRITERS) {
                let stage = &stage;
                scope.spawn(move || writer(stage, &mut Turns::new(stage, seed)));
            }
            (0..self.rounds).try_for_each(|number| {
                round.fetch_add(1, Ordering::SeqCst);
                course.round(number).map_err(|why| format!("round {number}: {why}"))
            })
        });
        *writes = ledger.count();
        let done = done.and_then(|()| course.last());
        let found = match (done, ledger.check(&world)) {
            (Ok(()), Ok(found)) => found,
            (done, found) => {
                let whys = [done.err(), found.err()];
                return Err(whys.into_iter().flatten().collect::<Vec<_>>().join("\n"));
            }
        };
        let Found { live, beside, replaced } = found;
        let made =
            fs::read_to_string(world.state("history.jsonl")).unwrap_or_default().lines().count();
        say(&format!(
            "sweep: {self}: {made} commits, {} kills; {writes} writes: {live} live, {beside} kept beside, \
             {replaced} replaced by their own writer",
            course.kills
        ));
        if made == 0 {
            return Err("nothing was ever committed".to_owned());
        }
        Ok(())
    }
}

fn settled(arena: &Arena) -> World {
    let world = arena.world(&Tree::default());
    crate::corpus::folders(&world);
    let mut dice = Dice::new(3);
    for number in 0..8 {
        let path = world.agents(&format!("learnings/2026-05-0{}-l{number}.md", number + 1));
        fs::write(path, learning(&mut dice, number)).unwrap();
    }
    for path in SHARED {
        fs::write(world.agents(path), "A page that two write.\n").unwrap();
    }
    fs::write(world.agents(QUEUE), work(900)).unwrap();
    world
}

/// Ends the threads of a scope, also when their starter panics.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
