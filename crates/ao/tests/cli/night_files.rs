//! Every file that a night wrote is vouched for: one changed byte in any of them is found, and the file is named.

use std::fs;
use std::path::PathBuf;

use crate::night::{Night, learning};
use crate::receipts::{nights, verify};
use crate::repo::{Ran, files};

/// What may be deleted at any time, and is made again.
const CACHE: &str = "settled.json";

/// The files of the state folder that have bytes.
fn written(night: &Night) -> Vec<String> {
    let all = files(&night.repo.state("")).into_iter();
    let some = all.filter(|(name, seen)| !seen.bytes.is_empty() && name != CACHE);
    some.map(|(name, _)| name).collect()
}

fn path(night: &Night, name: &str) -> PathBuf {
    night.repo.state(name)
}

fn assert_found(night: &Night, name: &str, at: usize) {
    let before = fs::read(path(night, name)).unwrap();
    let mut bytes = before.clone();
    bytes[at] ^= 1;
    fs::write(path(night, name), &bytes).unwrap();
    let told = verify(night).expect(5);
    // The receipts are named by their lines.
    let is_named = told.stdout.contains(name) || name == "receipts.jsonl";
    assert!(is_named, "{name} byte {at}: {told}");
    fs::write(path(night, name), before).unwrap();
}

/// Two nights, of which the first had copies to merge and learnings to archive.
fn two_nights() -> Night {
    let night = nights(1);
    night.repo.write("learnings/2026-03-02-another-copy.md", &learning(2));
    night.run(&[]).expect(0);
    night
}

#[test]
fn one_byte_of_any_file_of_a_night_is_missed() {
    let night = two_nights();
    verify(&night).expect(0);
    let all = written(&night);
    for part in ["undo/", "archive/", "cassettes/", "docs/", "iterations/", "latest/summary.md"] {
        assert!(all.iter().any(|name| name.contains(part)), "no {part} in {all:?}");
    }
    let older = all.iter().filter(|name| name.ends_with("summary.md")).count();
    assert_eq!(older, 2, "{all:?}");
    for name in &all {
        let length = fs::metadata(path(&night, name)).unwrap().len();
        let length = usize::try_from(length).unwrap();
        for at in [0, length / 2, length - 1] {
            assert_found(&night, name, at);
        }
    }
    verify(&night).expect(0);
}

/// What was changed before a later night moved it, stays changed.
#[test]
fn a_later_night_vouches_for_nothing_that_was_changed() {
    let night = nights(1);
    let packet = written(&night).into_iter().find(|name| name.contains("morning-packets/0"));
    let packet = packet.unwrap();
    let mut bytes = fs::read(path(&night, &packet)).unwrap();
    let at = bytes.windows(6).position(|part| part == b"title\"").unwrap();
    bytes[at + 10] ^= 1;
    fs::write(path(&night, &packet), bytes).unwrap();
    let name = packet.rsplit('/').next().unwrap().to_owned();
    for _ in 0..2 {
        assert!(verify(&night).expect(5).stdout.contains(&name));
        night.run(&["--full"]).expect(0);
    }
    assert!(verify(&night).expect(5).stdout.contains(&name));
}

#[test]
fn the_list_itself_is_not_believed_by_itself() {
    let night = nights(1);
    let list = path(&night, "night-files.json");
    let before = fs::read_to_string(&list).unwrap();
    let summary = night.latest("summary.md");
    fs::write(&summary, "all is well\n").unwrap();
    let hash = blake3::hash(b"all is well\n").to_hex().to_string();
    let mut told: serde_json::Value = serde_json::from_str(&before).unwrap();
    let entry = &mut told["files"][".agents/overnight/latest/summary.md"];
    entry["hash"] = hash.into();
    entry["bytes"] = 12.into();
    fs::write(&list, serde_json::to_string_pretty(&told).unwrap() + "\n").unwrap();
    assert!(verify(&night).expect(5).stdout.contains("night-files.json"));
    fs::remove_file(&list).unwrap();
    assert!(verify(&night).expect(5).stdout.contains("night-files.json"));
    // The next night begins another one and says so, for good.
    let next = night.run(&["--full"]).expect(0);
    assert!(next.json()["summary"]["recovered"].to_string().contains("night-files.json"), "{next}");
    let told = verify(&night);
    assert!(told.stdout.contains("another one was begun"), "{told}");
}

/// A run that was cut off in the middle, and a person who sets the rescues back, change files in good faith.
#[test]
fn nobody_is_accused_who_changed_a_file_in_good_faith() {
    let night = nights(1);
    night.repo.run(&["overnight", "warn-only", "reset"]).expect(0);
    verify(&night).expect(0);
    night.run(&["--full"]).expect(0);
    night.repo.run(&["overnight", "warn-only", "reset", "--initial", "5"]).expect(0);
    verify(&night).expect(0);
    let held = night.held_at("morning-packets", &["--full"]);
    let ran: Ran = held.signal("KILL");
    assert_eq!(ran.code, -1);
    let told = verify(&night);
    assert!(!told.stdout.contains("was changed"), "{told}");
    night.run(&["--full"]).expect(0);
    verify(&night).expect(0);
    fs::remove_dir_all(night.repo.state("archive")).unwrap_or_default();
    let told = verify(&night).expect(0);
    assert!(!told.stdout.contains("was changed"), "{told}");
}
