//! The preflight's look at the places of a night: what is good in the evening is good at three.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::repo::{Ran, TestRepo};
use crate::setup::{Evening, PATH};

impl Evening {
    /// A command in what the scheduler gives the night.
    fn in_the_night(&self, arguments: &[&str]) -> Ran {
        let mut command = self.repo.command(arguments);
        command.env("HOME", self.home.path()).env("PATH", PATH).env("USER", "me");
        Ran::of(command.output().unwrap())
    }
}

/// What the preflight says of a thing, and the night and the morning that follow.
#[track_caller]
fn foreseen(evening: &Evening, name: &str, says: &str) {
    let told = evening.setup(&["--json", "--scheduler", "cron"]).expect(6).json();
    let checks = told["preflight"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name);
    let check = check.unwrap_or_else(|| panic!("{name}: {told:#}"));
    assert_eq!(check["verdict"], "bad", "{check:#}");
    let found = check["found"].as_str().unwrap();
    assert!(found.contains(says), "{check:#}");
    assert!(!check["remedy"].as_str().unwrap().is_empty());
    evening.in_the_night(&["overnight", "start", "--no-keep-awake"]);
    let last = evening.in_the_night(&["--json", "overnight", "last"]).expect(1).json();
    assert_eq!(last["happened"], false, "{last:#}");
}

/// Something else stands where a commit keeps its own things.
#[test]
fn a_place_of_the_door_that_is_taken_is_told() {
    for name in ["staging", "undo", "archive"] {
        let evening = Evening::new();
        evening.repo.write(&format!("overnight/{name}"), "a file");
        foreseen(&evening, "knowledge", &format!("{name}: is not a directory"));
    }
    for name in ["history.jsonl", "run.lock", "commit.lock"] {
        let evening = Evening::new();
        fs::create_dir_all(evening.repo.state(name)).unwrap();
        foreseen(&evening, "knowledge", &format!("{name}: is no plain file"));
    }
    let evening = Evening::new();
    evening.repo.write("knowledge", "a file");
    foreseen(&evening, "knowledge", "Not a directory");
}

#[test]
fn a_report_that_would_be_a_link_is_told() {
    let evening = Evening::new();
    fs::create_dir_all(evening.repo.state("")).unwrap();
    symlink(evening.home.path(), evening.repo.state("latest")).unwrap();
    foreseen(&evening, "configuration", "which is a symlink");
    let evening = Evening::new();
    evening.write_config("dream:\n  report_dir: .agents/learnings/reports\n");
    foreseen(&evening, "configuration", "which a run does not write to");
}

/// The night would run, and the morning could not say so.
#[test]
fn receipts_that_cannot_be_sealed_are_told() {
    let evening = Evening::new();
    let folder = evening.home.path().join(".local/state/ao/receipts");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    foreseen(&evening, "receipts", "is open to others");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    evening.setup(&["--json", "--scheduler", "cron"]).expect(0);
    assert!(!folder.join("key").exists(), "only a look");
    fs::write(folder.join("key"), "no key").unwrap();
    fs::set_permissions(folder.join("key"), fs::Permissions::from_mode(0o600)).unwrap();
    foreseen(&evening, "receipts", "the key of the receipts is none");

    let evening = Evening::new();
    fs::create_dir_all(evening.home.path().join(".local")).unwrap();
    fs::write(evening.home.path().join(".local/state"), "a file").unwrap();
    foreseen(&evening, "receipts", "Not a directory");

    let evening = Evening::new();
    fs::create_dir_all(evening.repo.state("receipts.jsonl")).unwrap();
    foreseen(&evening, "receipts", "receipts.jsonl is no plain file");
}

/// The key that this shell would look for is not the one of the night.
#[test]
fn a_state_folder_that_only_the_shell_has_is_named() {
    let evening = Evening::new();
    let mut command = evening.command(&["--json", "--scheduler", "cron"]);
    command.env("XDG_STATE_HOME", evening.home.path().join("state"));
    let told = Ran::of(command.output().unwrap()).expect(0).json();
    let checks = told["preflight"]["checks"].as_array().unwrap();
    let named: Vec<&Value> = checks.iter().filter(|check| check["name"] == "environment").collect();
    assert_eq!(named.len(), 1, "{told:#}");
    assert!(named[0]["found"].as_str().unwrap().contains("XDG_STATE_HOME"), "{told:#}");
    assert!(named[0]["remedy"].as_str().unwrap().contains("`ao overnight last`"), "{told:#}");
}

#[test]
fn a_place_to_harvest_that_is_not_there_is_told() {
    let evening = Evening::new();
    evening.write_config("dream:\n  harvest_from: [nowhere]\n");
    foreseen(&evening, "harvest", "nowhere");
    // With another that is there, the night goes on without it.
    let other = TestRepo::new();
    let there = other.root().display().to_string();
    evening.write_config(&format!("dream:\n  harvest_from: [nowhere, {there:?}]\n"));
    let told = evening.setup(&["--json", "--scheduler", "cron"]).expect(0).json();
    let checks = told["preflight"]["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == "harvest").unwrap();
    assert_eq!(check["verdict"], "doubt", "{told:#}");
}

/// A repository may come with anything in the place of a file that is compared.
#[test]
fn what_is_no_file_is_not_waited_for() {
    let evening = Evening::new();
    fs::create_dir_all(evening.generated("")).unwrap();
    let pipe = |path: PathBuf| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    pipe(evening.generated("cron.txt"));
    let setup = |evening: &Evening| {
        let mut command = Command::new("timeout");
        command.arg("20").arg(env!("CARGO_BIN_EXE_ao")).arg("-C").arg(evening.repo.root());
        command.args(["--json", "overnight", "setup", "--scheduler", "cron"]).env_clear();
        command.env("HOME", evening.home.path()).env("PATH", PATH);
        Ran::of(command.env("AO_SETUP_TEST_RUNS", "cron").output().unwrap())
    };
    let status = |evening: &Evening| setup(evening).expect(0).json()["files"][0]["status"].clone();
    assert_eq!(status(&evening), "changed");
    // Written is a file in its place.
    evening.setup(&["--scheduler", "cron", "--apply"]).expect(0);
    assert_eq!(status(&evening), "unchanged");
    let text = evening.text("cron.txt");
    fs::remove_file(evening.generated("cron.txt")).unwrap();
    symlink("/dev/zero", evening.generated("cron.txt")).unwrap();
    assert_eq!(status(&evening), "changed");
    evening.setup(&["--scheduler", "cron", "--apply"]).expect(0);
    assert_eq!(evening.text("cron.txt"), text);
    // Nor is a configuration that is none.
    fs::remove_file(evening.config()).unwrap();
    pipe(evening.config());
    let refused = setup(&evening).expect(2);
    assert!(refused.stdout.contains("not a plain file"), "{refused}");
}
