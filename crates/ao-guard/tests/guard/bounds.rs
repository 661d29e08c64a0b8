//! Programs that go too far, and whatever they started.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ao_guard::{Bounds, How};

use crate::place::{AMPLE, PATIENCE, Place, SHORT, keeper, wait_until};

#[test]
fn one_that_hangs_is_ended() {
    let place = Place::new();
    let ended = place.run("echo begun; sleep 600", SHORT).unwrap();
    assert_eq!((ended.how, ended.stdout.as_slice()), (How::TimedOut, &b"begun\n"[..]));
    assert!(ended.took < PATIENCE);
    assert_eq!(place.living(), [0_u32; 0]);
}

#[test]
fn one_that_ignores_being_asked_is_killed() {
    let place = Place::new();
    let ended = place.run("trap '' TERM INT HUP; while :; do sleep 600; done", SHORT).unwrap();
    assert_eq!(ended.how, How::TimedOut);
    assert_eq!(place.living(), [0_u32; 0]);
}

#[test]
fn one_that_is_asked_may_tidy_up() {
    let place = Place::new();
    let ended = place.run("trap 'echo tidy; exit 0' TERM; sleep 600 & wait", SHORT).unwrap();
    assert_eq!((ended.how, ended.stdout.as_slice()), (How::TimedOut, &b"tidy\n"[..]));
}

#[test]
fn one_that_floods_is_ended_and_its_beginning_kept() {
    let place = Place::new();
    let bounds = Bounds { time: PATIENCE, output_bytes: 100_001 };
    for flood in ["yes", "yes >&2"] {
        let ended = place.run(&format!("{flood}; sleep 600"), bounds).unwrap();
        assert_eq!(ended.how, How::TooMuchOutput);
        let (most, least) = (&ended.stdout, &ended.stderr);
        assert_eq!(most.len().max(least.len()), 100_001);
        assert_eq!(most.len().min(least.len()), 0);
        assert!(most.iter().chain(least).all(|byte| b"y\n".contains(byte)));
        assert_eq!(place.living(), [0_u32; 0]);
    }
    // One byte too many is too many, also from one who has ended; just enough is not.
    let script = "head -c 100002 /dev/zero";
    assert_eq!(place.run(script, bounds).unwrap().how, How::TooMuchOutput);
    let enough = place.run("head -c 100001 /dev/zero", bounds).unwrap();
    assert_eq!((enough.how, enough.stdout.len()), (How::Exited(0), 100_001));
}

#[test]
fn what_lies_in_the_pipe_when_all_is_over_counts_too() {
    let place = Place::new();
    let started = keeper().start(&place.script("head -c 60000 /dev/zero")).unwrap();
    wait_until("all of it ends", || place.living().is_empty());
    let bounds = Bounds { time: PATIENCE, output_bytes: 40_000 };
    let ended = started.wait(bounds, &false.into()).unwrap();
    assert_eq!((ended.how, ended.stdout.len()), (How::TooMuchOutput, 40_000));
    let started = keeper().start(&place.script("head -c 60000 /dev/zero")).unwrap();
    wait_until("all of it ends", || place.living().is_empty());
    let ended = started.wait(AMPLE, &false.into()).unwrap();
    assert_eq!((ended.how, ended.stdout.len()), (How::Exited(0), 60_000));
}

#[test]
fn a_daemon_does_not_get_away() {
    let place = Place::new();
    // Twice forked, in a session of its own, deaf, and its parent is long gone.
    let daemon = "(setsid sh -c 'trap \"\" TERM INT HUP; echo $$ >daemon; while :; do sleep 600; done' \
                  >/dev/null 2>&1 </dev/null &); while ! test -s daemon; do sleep 0.01; done; ";
    let ended = place.run(&format!("{daemon} sleep 600"), SHORT).unwrap();
    assert_eq!(ended.how, How::TimedOut);
    assert_eq!(place.living(), [0_u32; 0]);
    // The same if the program itself is long done.
    let ended = place.run(&format!("rm daemon; {daemon} exit 7"), AMPLE).unwrap();
    assert_eq!((ended.how, ended.survivors), (How::Exited(7), 0));
    assert!(ended.left_behind >= 2, "{}", ended.left_behind);
    assert_eq!(place.living(), [0_u32; 0]);
}

#[test]
fn a_child_that_keeps_the_pipe_open_holds_nobody_up() {
    let place = Place::new();
    let ended = place.run("echo said; sleep 600 & exit 0", AMPLE).unwrap();
    assert_eq!((ended.how, ended.stdout.as_slice()), (How::Exited(0), &b"said\n"[..]));
    assert_eq!(ended.left_behind, 1);
    assert!(ended.took < PATIENCE);
    assert_eq!(place.living(), [0_u32; 0]);
}

#[test]
fn one_that_closes_its_streams_is_still_there() {
    let place = Place::new();
    let ended = place.run("echo said; exec >&- 2>&-; sleep 600", SHORT).unwrap();
    assert_eq!((ended.how, ended.stdout.as_slice()), (How::TimedOut, &b"said\n"[..]));
    let ended = place.run("exec >&- 2>&-; sleep 0.3; exit 4", AMPLE).unwrap();
    assert_eq!(ended.how, How::Exited(4));
}

#[test]
fn many_daemons_and_a_long_chain_do_not_get_away() {
    let place = Place::new();
    let many = "i=0; while test $i -lt 300; do setsid sleep 600 & i=$((i+1)); done; exit 0";
    let ended = place.run(many, AMPLE).unwrap();
    assert_eq!((ended.how, ended.survivors), (How::Exited(0), 0));
    assert!(ended.left_behind >= 290, "{}", ended.left_behind);
    assert_eq!(place.living(), [0_u32; 0]);
    let chain = "echo 'test $1 -gt 0 || { echo done >end; sleep 600; }; setsid sh chain $(($1-1)); :' >chain
                 sh chain 60 & while ! test -s end; do sleep 0.01; done";
    let ended = place.run(chain, AMPLE).unwrap();
    assert_eq!((ended.how, ended.survivors), (How::Exited(0), 0));
    assert!(ended.left_behind >= 60, "{}", ended.left_behind);
    assert_eq!(place.living(), [0_u32; 0]);
}

/// It does nothing but have children that have children, and none of them waits to be seen.
#[test]
fn one_that_multiplies_does_not_get_away() {
    let place = Place::new();
    let grow = "echo 'for i in 1 2; do test $1 -gt 0 && setsid sh grow $(($1-1)) & done; wait; sleep 600' >grow
                sh grow 6; sleep 600";
    let ended = place.run(grow, SHORT).unwrap();
    assert_eq!((ended.how, ended.survivors), (How::TimedOut, 0));
    assert_eq!(place.living(), [0_u32; 0]);
}

#[test]
fn a_run_that_is_ending_ends_its_program() {
    let place = Place::new();
    let stop = Arc::new(AtomicBool::new(false));
    let program = place.script("echo $$ >begun; sleep 600");
    let other = Arc::clone(&stop);
    let running = std::thread::spawn(move || keeper().run(&program, AMPLE, &other).unwrap());
    place.wait_for("begun");
    stop.store(true, Ordering::Relaxed);
    assert_eq!(running.join().unwrap().how, How::Stopped);
    assert_eq!(place.living(), [0_u32; 0]);
    // One that is to stop before it has begun ends as well.
    let ended = keeper().run(&place.script("sleep 600"), AMPLE, &stop).unwrap();
    assert_eq!(ended.how, How::Stopped);
    assert_eq!(place.living(), [0_u32; 0]);
}

#[test]
fn no_time_at_all_is_a_bound_too() {
    let place = Place::new();
    let none = Bounds { time: Duration::ZERO, output_bytes: 10 };
    assert_eq!(place.run("sleep 600", none).unwrap().how, How::TimedOut);
    assert_eq!(place.living(), [0_u32; 0]);
}
