//! Who holds the lock works, who does not touches nothing, and a dead holder holds nothing.

use std::fs::{self, File, FileTimes};
use std::time::{Duration, SystemTime};

use crate::check::{Start, State, check};
use crate::step::Stepper;
use crate::tree::Tree;
use crate::world::{Arena, RECOVER, Scenario, World, scenarios, shown};

/// Past this age a lock without a living holder may be taken where the kernel has no locks.
const LONG_HELD: Duration = Duration::from_hours(13);
/// No process has it: above what the kernel gives out.
const NOBODY: &str = "4194999";

/// Exit code 75, and not one byte, inode or time in the repository is another.
fn assert_refused(world: &World, args: &[&str], named: &[&str]) {
    let before = Tree::read(&world.root, None);
    let output = world.run(args);
    assert_eq!(output.status.code(), Some(75), "{args:?}: {}", shown(&output));
    let message = String::from_utf8_lossy(&output.stderr);
    for word in named {
        assert!(message.contains(word), "{args:?} does not name {word}: {message}");
    }
    let now = Tree::read(&world.root, None);
    let changed = before.difference(&now) + &before.disturbed(&now, |_| true);
    assert!(changed.is_empty(), "{args:?} was refused, and changed:\n{changed}");
}

fn scenario(arena: &Arena, name: &str) -> Scenario {
    scenarios(arena).into_iter().find(|scenario| scenario.name == name).unwrap()
}

// proves: RUN-15, RUN-16, RUN-17, LOOP-20
#[test]
fn lock_is_held_until_its_process_ends() {
    let arena = Arena::new();
    let scenario = scenario(&arena, "apply-2");
    let world = arena.world(&scenario.start);
    let start = Start::of(&world);
    // In the middle of a commit: whoever recovered now would break it.
    let mut holder = Stepper::start(world.command(&scenario.args()));
    while !world.has_marker() {
        holder.next().expect("a commit has a marker");
    }
    let lock = fs::read_to_string(world.state("run.lock")).unwrap();
    let pid = holder.pid().to_string();
    assert_eq!(lock.lines().next(), Some(pid.as_str()), "{lock:?}");
    let since = lock.lines().find(|line| line.contains('T')).expect("a time in run.lock");
    for args in [&scenario.args()[..], &["tree", "undo"], &RECOVER] {
        assert_refused(&world, args, &[&pid, since]);
    }
    holder.kill();
    let output = world.must(&["--json", "tree", "recover"]).unwrap();
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("c2"), "the report does not say what was finished: {report}");
    assert_eq!(check(&world, &scenario, &start), Ok(State::After));
}

// proves: RUN-17
#[test]
fn lock_that_is_held_is_never_taken() {
    let arena = Arena::new();
    let scenario = scenario(&arena, "apply-1");
    let world = arena.world(&scenario.start);
    fs::create_dir_all(world.state("")).unwrap();
    let file = File::create(world.state("run.lock")).unwrap();
    file.lock().unwrap();
    // Its content and age say that the holder is long gone; the kernel says that it is not.
    fs::write(world.state("run.lock"), format!("{NOBODY}\n")).unwrap();
    set_age(&file, LONG_HELD);
    assert_refused(&world, &scenario.args(), &[NOBODY]);
    // By hand: a child that is just being started may hold the file open for another moment.
    file.unlock().unwrap();
    world.must(&scenario.args()).unwrap();
}

// proves: RUN-17
#[test]
fn lock_that_nobody_holds_is_taken() {
    let arena = Arena::new();
    let scenario = scenario(&arena, "apply-1");
    let alive = std::process::id().to_string();
    for (pid, age) in [
        (alive.as_str(), Duration::ZERO),
        (alive.as_str(), LONG_HELD),
        (NOBODY, Duration::ZERO),
        (NOBODY, LONG_HELD),
    ] {
        let world = arena.world(&scenario.start);
        let start = Start::of(&world);
        fs::create_dir_all(world.state("")).unwrap();
        fs::write(world.state("run.lock"), format!("{pid}\n")).unwrap();
        set_age(&File::options().write(true).open(world.state("run.lock")).unwrap(), age);
        let mut args = scenario.args();
        args.insert(0, "--json");
        let output = world.must(&args).unwrap();
        assert_eq!(check(&world, &scenario, &start), Ok(State::After));
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(report["notes"].to_string().contains(pid), "nothing said of {pid}: {report}");
    }
}

fn set_age(file: &File, age: Duration) {
    file.set_times(FileTimes::new().set_modified(SystemTime::now() - age)).unwrap();
}
