//! What keeps the machine awake while a night runs, as its report says it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use serde_json::{Value, json};

use crate::night::{Night, ran};

/// Takes the lock and starts under it what stands behind the dashes.
const INHIBIT: &str = "while test \"$1\" != --; do shift; done; shift; exec \"$@\"";
const STAYS: &str = "exec /bin/sleep 600";

/// A repository, and a folder of programs that is all of PATH.
struct Bedroom {
    night: Night,
}

impl Bedroom {
    fn new() -> Self {
        let bedroom = Self { night: Night::with(2) };
        fs::create_dir(bedroom.night.aside.path().join("bin")).unwrap();
        bedroom
    }

    /// A program that says in a file that it was started.
    fn program(&self, name: &str, script: &str) {
        let started = self.night.aside.path().join("started");
        let path = self.night.aside.path().join("bin").join(name);
        let text = format!("#!/bin/sh\necho {name} >> {}\n{script}\n", started.display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn started(&self) -> String {
        fs::read_to_string(self.night.aside.path().join("started")).unwrap_or_default()
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = self.night.repo.command(&[&["overnight", "start"], more].concat());
        command.env("PATH", self.night.aside.path().join("bin"));
        command
    }

    /// Runs a night to its end; gives what its report says of the machine.
    fn runtime(&self, command: &mut Command) -> Value {
        ran(command.spawn().unwrap()).expect(0);
        let runtime = &self.night.summary()["runtime"];
        json!([runtime["keep_awake"], runtime["keep_awake_mode"], runtime["keep_awake_note"]])
    }

    fn is_degraded(&self) -> bool {
        self.night.summary()["degraded"].to_string().contains("keep-awake")
    }
}

// proves: RUN-25
#[test]
fn a_machine_is_kept_awake_unless_somebody_says_no() {
    let bedroom = Bedroom::new();
    symlink("/bin/cat", bedroom.night.aside.path().join("bin/cat")).unwrap();
    bedroom.program("systemd-inhibit", INHIBIT);
    let held = json!([true, "inhibitor", "an inhibitor lock of logind is held against idle:sleep"]);
    assert_eq!(bedroom.runtime(&mut bedroom.command(&[])), held);
    assert_eq!(bedroom.started(), "systemd-inhibit\n");
    // Whoever says no, nothing is started.
    let off = json!([false, "disabled", null]);
    assert_eq!(bedroom.runtime(&mut bedroom.command(&["--no-keep-awake"])), off);
    let mut command = bedroom.command(&[]);
    assert_eq!(bedroom.runtime(command.env("AGENTOPS_DREAM_KEEP_AWAKE", "false")), off);
    bedroom.night.configure("dream:\n  keep_awake: false\n");
    assert_eq!(bedroom.runtime(&mut bedroom.command(&[])), off);
    assert_eq!(bedroom.started(), "systemd-inhibit\n");
}

// proves: RUN-25
#[test]
fn a_host_without_a_lock_says_that_nothing_is_held() {
    let bedroom = Bedroom::new();
    let note = "nothing keeps the machine awake: systemd-inhibit was not found on PATH";
    assert_eq!(bedroom.runtime(&mut bedroom.command(&[])), json!([true, "unsupported", note]));
    assert!(!bedroom.is_degraded());
    let mut other = bedroom.command(&[]);
    let told = bedroom.runtime(other.env("AO_HOST_TEST_SYSTEM", "other"));
    assert_eq!((&told[0], &told[1]), (&json!(true), &json!("unsupported")), "{told}");
    assert!(!bedroom.is_degraded());
}

// proves: RUN-25
#[test]
fn a_mac_is_held_by_caffeinate_and_goes_on_without_it() {
    let bedroom = Bedroom::new();
    let on_mac = |more: &[&str]| {
        let mut command = bedroom.command(more);
        command.env("AO_HOST_TEST_SYSTEM", "macos");
        command
    };
    let note = "nothing keeps the machine awake: caffeinate was not found on PATH";
    let missing = json!([true, "missing-caffeinate", note]);
    assert_eq!(bedroom.runtime(&mut on_mac(&[])), missing);
    assert!(bedroom.is_degraded(), "{:#}", bedroom.night.summary());
    ran(on_mac(&["--strict-exit"]).spawn().unwrap()).expect(3);
    bedroom.program("caffeinate", STAYS);
    let held = json!([true, "caffeinate", "caffeinate keeps the machine awake"]);
    assert_eq!(bedroom.runtime(&mut on_mac(&[])), held);
    assert!(!bedroom.is_degraded());
    assert_eq!(
        bedroom.runtime(&mut on_mac(&["--no-keep-awake"])),
        json!([false, "disabled", null])
    );
    assert_eq!(bedroom.started(), "caffeinate\n");
}
