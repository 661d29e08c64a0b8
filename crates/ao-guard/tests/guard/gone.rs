//! When the one who started a program is gone, or its keeper is.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use ao_guard::Error;

use crate::place::{AMPLE, Place, STAND_IN, keeper, wait_until};

/// A daemon that is deaf, and a program that waits beside it.
const DEAF: &str = "(setsid sh -c 'trap \"\" TERM INT HUP; while :; do sleep 600; done' &)
                    trap '' TERM; sleep 600 & echo $$ >begun; wait; sleep 600";

fn kill(id: u32) {
    let mut kill = Command::new("/bin/kill");
    assert!(kill.args(["-KILL", &id.to_string()]).status().unwrap().success());
}

fn words(id: u32) -> Vec<String> {
    let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

fn is_keeper(id: u32) -> bool {
    words(id).get(1).is_some_and(|word| word == "keep-program")
}

#[test]
fn a_program_does_not_outlive_the_one_who_was_killed() {
    let place = Place::new();
    let mut starter = Command::new(STAND_IN);
    // The stand-in gives its program the root directory: what it starts is known by the script.
    let script = format!("cd {}; PATH=/usr/bin:/bin; {DEAF}", place.path().display());
    starter.args(["/bin/sh", "-c", &script]).process_group(0);
    let mut starter = starter.stdin(Stdio::null()).spawn().unwrap();
    place.wait_for("begun");
    assert!(place.living().len() >= 3, "{:?}", place.living());
    kill(starter.id());
    starter.wait().unwrap();
    wait_until("all of it ends", || place.living().is_empty());
}

#[test]
fn a_keeper_that_is_killed_takes_its_program_with_it() {
    let place = Place::new();
    let script = "trap '' TERM HUP; sleep 600 & echo $$ >begun; wait; sleep 600";
    let started = keeper().start(&place.script(script)).unwrap();
    place.wait_for("begun");
    let keepers: Vec<u32> = place.living().into_iter().filter(|id| is_keeper(*id)).collect();
    assert_eq!(keepers.len(), 1);
    kill(keepers[0]);
    let lost = started.wait(AMPLE, &false.into()).unwrap_err();
    assert!(matches!(lost, Error::KeeperLost { ended: 2.., .. }), "{lost}");
    wait_until("all of it ends", || place.living().is_empty());
}

#[test]
fn a_program_that_turns_on_its_keeper_is_ended() {
    let place = Place::new();
    let lost = place.run("kill -KILL $PPID; sleep 600", AMPLE).unwrap_err();
    assert!(matches!(lost, Error::KeeperLost { ended: 1.., .. }), "{lost}");
    wait_until("all of it ends", || place.living().is_empty());
}
