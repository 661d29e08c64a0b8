//! Programs that are held.

use std::time::Duration;

use ao_guard::{How, Input};

use crate::place::{AMPLE, PATIENCE, Place, keeper, wait_until};

#[test]
fn a_held_program_lives_until_it_is_dropped() {
    let place = Place::new();
    let mut held =
        keeper().start(&place.script("echo ready; setsid sleep 600 & sleep 600")).unwrap();
    assert_eq!(held.first_line(PATIENCE).unwrap().unwrap(), b"ready");
    assert!(held.is_still_running(Duration::ZERO).unwrap());
    wait_until("both sleep", || place.living().len() >= 3);
    drop(held);
    assert_eq!(place.living(), [0_u32; 0]);
}

#[test]
fn an_input_that_is_held_open_ends_with_the_holder() {
    let place = Place::new();
    let program = place.program("/bin/cat").input(Input::HeldOpen(b"held\nand more".to_vec()));
    let mut held = keeper().start(&program).unwrap();
    assert_eq!(held.first_line(PATIENCE).unwrap().unwrap(), b"held");
    assert!(held.is_still_running(Duration::from_millis(50)).unwrap());
    let ended = held.end().unwrap();
    assert_eq!((ended.how, ended.stdout.as_slice()), (How::Stopped, &b"held\nand more"[..]));
    assert_eq!(place.living(), [0_u32; 0]);
}

#[test]
fn a_held_program_that_ends_by_itself_is_noticed() {
    let place = Place::new();
    let mut held = keeper().start(&place.script("echo why >&2; exit 5")).unwrap();
    assert_eq!(held.first_line(PATIENCE).unwrap(), None);
    assert!(!held.is_still_running(PATIENCE).unwrap());
    let ended = held.end().unwrap();
    assert_eq!((ended.how, ended.stderr.as_slice()), (How::Exited(5), &b"why\n"[..]));
}

#[test]
fn killing_leaves_no_time_to_tidy_up_and_says_who_was_quicker() {
    let place = Place::new();
    let held =
        keeper().start(&place.script("trap 'echo tidy' TERM; echo $$ >begun; sleep 600 & wait"));
    place.wait_for("begun");
    let ended = held.unwrap().kill().unwrap();
    assert_eq!((ended.how, ended.stdout.as_slice()), (How::Signalled(9), &b""[..]));
    assert_eq!(place.living(), [0_u32; 0]);
    let mut quick = keeper().start(&place.script("exit 6")).unwrap();
    assert!(!quick.is_still_running(PATIENCE).unwrap());
    assert_eq!(quick.kill().unwrap().how, How::Exited(6));
}

#[test]
fn a_started_program_can_be_waited_for() {
    let place = Place::new();
    let started = keeper().start(&place.script("echo said; exit 2")).unwrap();
    let ended = started.wait(AMPLE, &false.into()).unwrap();
    assert_eq!((ended.how, ended.stdout.as_slice()), (How::Exited(2), &b"said\n"[..]));
}
