//! What keeps the machine awake, and what only might.

use std::fs;
use std::process::{Command, Stdio};

use ao_contract::KeepAwakeMode;
use ao_night::System;
use ao_night::awake::{Awake, Wish};

use crate::bed::{Bed, wait_until};

const WHY: &str = "a night over the corpus";
/// Takes what is asked for, tells it, and starts what comes after the dashes under it.
const INHIBIT: &str = "for word; do echo \"$word\"; done >>../asked
    while test \"$1\" != --; do shift; done; shift
    : >../lock; \"$@\"; rm ../lock";

/// Set where the test has seen to it that there is a logind.
const LOGIND_IS_THERE: &str = "AO_TEST_LOGIND_IS_THERE";
/// A bus and a logind of their own, in namespaces of their own.
const WITH_LOGIND: &str = "mount -t tmpfs tmpfs /run && mkdir -p /run/dbus /run/systemd || exit 0
    dbus-daemon --system --nofork --nopidfile & /lib/systemd/systemd-logind &
    for try in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.5; systemd-inhibit --list >/dev/null && exec \"$@\"
    done";

fn take(bed: &Bed, system: System) -> Awake {
    Awake::take(Wish::On, &bed.host(system), WHY)
}

fn asked(bed: &Bed) -> Vec<String> {
    fs::read_to_string(bed.at("asked")).unwrap().lines().map(str::to_owned).collect()
}

// proves: RUN-25
#[test]
fn what_is_not_wanted_is_not_held() {
    let bed = Bed::new();
    bed.script("caffeinate", ": >../started");
    bed.script("systemd-inhibit", ": >../started");
    for system in [System::Linux, System::MacOs, System::Other] {
        let awake = Awake::take(Wish::Off, &bed.host(system), WHY);
        assert_eq!((awake.mode(), awake.note()), (KeepAwakeMode::Disabled, None));
        assert!(!awake.is_degraded() && !bed.at("started").exists());
    }
}

// proves: RUN-25
#[test]
fn caffeinate_holds_while_the_value_lives() {
    let bed = Bed::new();
    bed.script("caffeinate", "echo \"$@\" >../asked; exec sleep 600");
    let mut awake = take(&bed, System::MacOs);
    assert_eq!((awake.mode(), awake.is_degraded()), (KeepAwakeMode::Caffeinate, false));
    assert_eq!(asked(&bed), [format!("-i -w {}", std::process::id())]);
    awake.check();
    assert_eq!(awake.mode(), KeepAwakeMode::Caffeinate);
    assert!(bed.living().len() >= 2);
    drop(awake);
    assert!(bed.living().is_empty());
}

// proves: RUN-25
#[test]
fn a_mac_without_caffeinate_goes_on_degraded() {
    let bed = Bed::new();
    let awake = take(&bed, System::MacOs);
    assert_eq!((awake.mode(), awake.is_degraded()), (KeepAwakeMode::MissingCaffeinate, true));
    let note = awake.note().unwrap();
    assert_eq!(note, "nothing keeps the machine awake: caffeinate was not found on PATH");

    bed.script("caffeinate", "echo \"no \u{1b}[1massertion\" >&2; exit 70");
    let awake = take(&bed, System::MacOs);
    assert_eq!((awake.mode(), awake.is_degraded()), (KeepAwakeMode::CaffeinateError, true));
    let note = awake.note().unwrap();
    assert!(note.ends_with("caffeinate exited with 70: no \\u{1b}[1massertion"), "{note}");

    fs::write(bed.at("bin/caffeinate"), "\u{1}no program").unwrap();
    let awake = take(&bed, System::MacOs);
    assert_eq!(awake.mode(), KeepAwakeMode::CaffeinateError);
    assert!(awake.note().unwrap().contains("did not start"), "{:?}", awake.note());
}

#[test]
fn a_lock_that_is_lost_is_told() {
    let bed = Bed::new();
    bed.script(
        "caffeinate",
        "while ! test -e ../end; do sleep 0.01; done; echo enough >&2; exit 4",
    );
    let mut awake = take(&bed, System::MacOs);
    assert_eq!(awake.mode(), KeepAwakeMode::Caffeinate);
    fs::write(bed.at("end"), "").unwrap();
    wait_until("it ends", || bed.living().is_empty());
    awake.check();
    assert_eq!((awake.mode(), awake.is_degraded()), (KeepAwakeMode::CaffeinateError, true));
    let note = awake.note().unwrap();
    assert_eq!(note, "what kept the machine awake ended during the run: exited with 4: enough");

    bed.script(
        "systemd-inhibit",
        "while test \"$1\" != --; do shift; done; shift; echo held; exit 0",
    );
    std::os::unix::fs::symlink("/bin/cat", bed.at("bin/cat")).unwrap();
    let mut awake = take(&bed, System::Linux);
    wait_until("it ends", || bed.living().is_empty());
    awake.check();
    assert_eq!((awake.mode(), awake.is_degraded()), (KeepAwakeMode::Unsupported, true));
}

// proves: RUN-25
#[test]
fn an_inhibitor_lock_is_held_while_the_value_lives() {
    let bed = Bed::new();
    bed.script("systemd-inhibit", INHIBIT);
    std::os::unix::fs::symlink("/bin/cat", bed.at("bin/cat")).unwrap();
    let mut awake = take(&bed, System::Linux);
    assert_eq!((awake.mode(), awake.is_degraded()), (KeepAwakeMode::Inhibitor, false));
    assert_eq!(awake.note(), Some("an inhibitor lock of logind is held against idle:sleep"));
    let cat = bed.at("bin/cat").display().to_string();
    let words =
        ["--what=idle:sleep", "--mode=block", "--who=ao", "--why=a night over the corpus", "--"];
    assert_eq!(asked(&bed)[..5], words);
    assert_eq!(asked(&bed)[5..], [cat]);
    assert!(bed.at("lock").exists());
    awake.check();
    assert_eq!(awake.mode(), KeepAwakeMode::Inhibitor);
    drop(awake);
    assert!(bed.living().is_empty());
}

/// Not even the keeper is left to end anything: the end of its input tells it.
#[test]
fn the_lock_goes_when_everyone_who_held_it_was_killed() {
    let bed = Bed::new();
    bed.script("systemd-inhibit", INHIBIT);
    std::os::unix::fs::symlink("/bin/cat", bed.at("bin/cat")).unwrap();
    let awake = take(&bed, System::Linux);
    let is_keeper = |id: &u32| {
        let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"keep-program")
    };
    let keepers: Vec<u32> = bed.living().into_iter().filter(is_keeper).collect();
    assert_eq!(keepers.len(), 1);
    let mut kill = Command::new("/bin/kill");
    assert!(kill.args(["-KILL", &keepers[0].to_string()]).status().unwrap().success());
    // Nothing of ours does anything here: the value is not dropped yet.
    wait_until("the lock is given back", || !bed.at("lock").exists() && bed.living().is_empty());
    drop(awake);
}

#[test]
fn a_lock_that_was_refused_is_not_claimed() {
    let bed = Bed::new();
    std::os::unix::fs::symlink("/bin/cat", bed.at("bin/cat")).unwrap();
    bed.script("systemd-inhibit", "echo 'Failed to connect to bus: No such file' >&2; exit 1");
    let awake = take(&bed, System::Linux);
    assert_eq!((awake.mode(), awake.is_degraded()), (KeepAwakeMode::Unsupported, false));
    let expected = "nothing keeps the machine awake: systemd-inhibit exited with 1: Failed to connect \
                    to bus: No such file";
    assert_eq!(awake.note(), Some(expected));
    // Refused for sleep, as to somebody who is not at the machine, and granted for idling.
    bed.script(
        "systemd-inhibit",
        &format!("case \"$1\" in *sleep*) echo Denied >&2; exit 1;; esac\n{INHIBIT}"),
    );
    let awake = take(&bed, System::Linux);
    assert_eq!(awake.mode(), KeepAwakeMode::Inhibitor);
    assert_eq!(awake.note(), Some("an inhibitor lock of logind is held against idle"));
    drop(awake);
    // One that runs the program and does not say the word from inside of the lock.
    bed.script("systemd-inhibit", "exec sleep 0.1");
    assert_eq!(take(&bed, System::Linux).mode(), KeepAwakeMode::Unsupported);
    assert!(bed.living().is_empty());
}

// proves: RUN-25
#[test]
fn a_host_that_has_no_lock_says_that_nothing_is_held() {
    let bed = Bed::new();
    let awake = take(&bed, System::Linux);
    assert_eq!((awake.mode(), awake.is_degraded()), (KeepAwakeMode::Unsupported, false));
    let note = awake.note().unwrap();
    assert_eq!(note, "nothing keeps the machine awake: systemd-inhibit was not found on PATH");
    let other = take(&bed, System::Other);
    assert_eq!(other.mode(), KeepAwakeMode::Unsupported);
    assert!(other.note().unwrap().starts_with("nothing keeps the machine awake"));
}

/// The real one, where there is one: what it claims is what logind lists.
#[test]
fn the_real_lock_is_the_one_that_logind_lists() {
    let bed = Bed::new();
    let mut host = bed.host(System::Linux);
    host.environment = std::env::vars_os().collect();
    let list = || {
        let mut list = Command::new("systemd-inhibit");
        let listed = list.args(["--list", "--no-pager"]).stderr(Stdio::null()).output().ok()?;
        Some(String::from_utf8_lossy(&listed.stdout).into_owned())
            .filter(|_| listed.status.success())
    };
    let why = format!("a test in process {}", std::process::id());
    let awake = Awake::take(Wish::On, &host, &why);
    match (awake.mode(), list()) {
        (KeepAwakeMode::Inhibitor, Some(listed)) => {
            assert!(listed.contains(&why), "{listed}");
            drop(awake);
            wait_until("logind has it back", || !list().unwrap().contains(&why));
        }
        (KeepAwakeMode::Unsupported, None) => {
            assert!(std::env::var_os(LOGIND_IS_THERE).is_none(), "{:?}", awake.note());
            println!("not tested here: {}", awake.note().unwrap());
        }
        (mode, listed) => panic!("{mode:?}: {:?}\n{listed:?}", awake.note()),
    }
}

#[test]
fn a_real_logind_gives_the_lock_and_takes_it_back() {
    let mut apart = Command::new("unshare");
    apart
        .args([
            "-m",
            "-p",
            "-f",
            "--mount-proc",
            "--kill-child",
            "/bin/sh",
            "-c",
            WITH_LOGIND,
            "sh",
        ])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "awake::the_real_lock_is_the_one_that_logind_lists", "--nocapture"])
        .env(LOGIND_IS_THERE, "yes");
    let output = apart.stdin(Stdio::null()).output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    match said {
        Ok(said) if said.contains("test result:") => assert!(said.contains("1 passed"), "{said}"),
        // Nobody but root may have namespaces, or there is no logind to start.
        _ => println!("not tested here: no logind could be started apart"),
    }
}
