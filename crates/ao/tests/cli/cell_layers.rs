//! A cell that lacks one wall notices it, and starts nothing.

use crate::cell::{Cells, User};

/// Each can be left out by itself. Two cannot: without a user namespace there is no cell of tier A,
/// and the kernel gives neither of its filters to a process that could get new rights.
const LAYERS: [&str; 12] = [
    "read-only",
    "masks",
    "overlay",
    "processes",
    "ipc",
    "hostname",
    "network",
    "capabilities",
    "landlock",
    "seccomp",
    "limits",
    "descriptors",
];
const LAYERS_OF_B: [&str; 4] = ["landlock", "seccomp", "limits", "descriptors"];

fn is_refused(cells: Cells, layer: &str) {
    let cells = cells.variable("AO_CELL_TEST_WITHOUT", layer);
    let options: &[&str] = if layer == "overlay" { &["--cow", "."] } else { &["--rw", "out"] };
    let ran = cells.sh(options, "echo reached; touch out/started").expect(6);
    let error = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.contains("does not hold") && error.contains(&format!("({layer})")), "{error}");
    assert!(!cells.path("out/started").exists());
    assert!(!ran.stdout.contains("reached"), "{ran}");
    let mark = std::fs::read_to_string(cells.repo.agents().join("ao/guard.failed")).unwrap();
    assert!(mark.contains(layer), "{mark}");
}

#[test]
fn a_cell_without_one_wall_is_not_entered() {
    for layer in LAYERS {
        is_refused(Cells::new(User::This), layer);
        is_refused(Cells::new(User::Ordinary), layer);
    }
}

#[test]
fn a_cell_of_tier_b_without_one_wall_is_not_entered() {
    for layer in LAYERS_OF_B {
        is_refused(Cells::tier_b(), layer);
    }
}

#[test]
fn at_least_eight_attacks_are_held_before_each_start() {
    for cells in [Cells::new(User::This), Cells::new(User::Ordinary), Cells::tier_b()] {
        let answer = cells.sh(&[], "true").expect(0).json();
        assert!(answer["attacks_held"].as_u64().unwrap() >= 8, "{answer}");
    }
}

// proves: GRD-02
#[test]
fn what_cannot_be_held_is_not_started() {
    // The floor is A, and there is only B.
    let cells = Cells::tier_b();
    let ran = cells.sh(&["--floor", "A", "--rw", "out"], "touch out/started").expect(6);
    let error = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.contains("tier B") && error.contains("floor is A"), "{error}");
    assert!(!cells.path("out/started").exists());
    // There is nothing.
    let cells = Cells::new(User::Ordinary).variable("AO_CELL_TEST_TIER", "D");
    let ran = cells.sh(&["--rw", "out"], "touch out/started").expect(6);
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("tier D"), "{ran}");
    assert!(!cells.path("out/started").exists());
    assert!(cells.repo.exists("ao/guard.failed"));
    // What a weaker tier does not have is said, and what needs the better one is refused.
    let cells = Cells::tier_b();
    let answer = cells.sh(&[], "true").expect(0).json();
    assert_eq!(answer["tier"], "B");
    let missing: Vec<_> = answer["missing"].as_array().unwrap().iter().collect();
    for layer in ["user-namespace", "read-only", "masks", "overlay", "processes", "network"] {
        assert!(missing.iter().any(|one| one["layer"] == layer), "{layer}: {answer}");
    }
    cells.sh(&["--cow", "."], "true").expect(6);
    cells.sh(&["--net", "example.com:443"], "true").expect(6);
}

/// Version 3 is the least; before version 6 it keeps no signal inside, so none can be sent.
#[test]
fn an_older_landlock_holds_as_well() {
    for version in ["3", "5"] {
        for (cells, may_signal) in [(Cells::new(User::Ordinary), true), (Cells::tier_b(), false)] {
            let cells = cells.variable("AO_CELL_TEST_LANDLOCK", version);
            let script = "echo x > kept.txt; echo x > out/x; sleep 9 & kill $! && echo sent";
            let answer = cells.sh(&["--rw", "out"], script).json();
            let is_sent = answer["stdout"]["text"] == "sent\n";
            assert_eq!(is_sent, may_signal, "{answer}");
            assert_eq!(std::fs::read_to_string(cells.path("kept.txt")).unwrap(), "kept\n");
            assert!(cells.path("out/x").exists());
        }
    }
    // A descriptor can be made to send a signal, too.
    let cells = Cells::tier_b().variable("AO_CELL_TEST_LANDLOCK", "5");
    let script = "python3 -c \"
import fcntl,os
r,w=os.pipe()
fcntl.fcntl(r,fcntl.F_SETOWN,os.getppid())\" 2>&1 | tail -1";
    let answer = cells.sh(&[], script).json();
    assert!(answer["stdout"]["text"].as_str().unwrap().contains("not permitted"), "{answer}");
    let cells = Cells::new(User::Ordinary).variable("AO_CELL_TEST_LANDLOCK", "2");
    cells.sh(&["--rw", "out"], "touch out/started").expect(6);
    assert!(!cells.path("out/started").exists());
}

/// Root owns everything: without a namespace it is held by nothing.
#[test]
fn root_is_not_held_by_the_weaker_tier() {
    if nix::unistd::geteuid().is_root() {
        let cells = Cells::new(User::This).variable("AO_CELL_TEST_TIER", "B");
        let ran = cells.sh(&["--rw", "out"], "touch out/started").expect(6);
        assert!(ran.json()["error"]["message"].as_str().unwrap().contains("tier D"), "{ran}");
        assert!(!cells.path("out/started").exists());
    }
}
