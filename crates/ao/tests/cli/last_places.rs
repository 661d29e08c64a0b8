//! `ao overnight last` where a receipt is genuine and not of this place, or not of this time.

use std::fs;

use serde_json::Value;

use crate::night::{Night, learning, ran};

/// A command of the user whose home is that of another repository.
fn at_home_of(home: &Night, night: &Night, arguments: &[&str]) -> crate::repo::Ran {
    let mut command = night.repo.command(arguments);
    ran(command.env("HOME", home.repo.root()).spawn().unwrap())
}

fn last(home: &Night, night: &Night) -> Value {
    at_home_of(home, night, &["--json", "overnight", "last"]).json()
}

fn night_of(home: &Night, night: &Night) {
    at_home_of(home, night, &["overnight", "start", "--no-keep-awake"]).expect(0);
}

/// One user, one key: the night of another repository, or of another clone, is not the one of this.
#[test]
fn the_night_of_another_repository_is_not_taken_for_this_one() {
    let (one, other) = (Night::with_copies(), Night::with_copies());
    night_of(&one, &one);
    night_of(&one, &other);
    one.repo.write("learnings/2026-03-05-another.md", &learning(2));
    night_of(&one, &one);
    let (ours, theirs) =
        (one.repo.read("overnight/receipts.jsonl"), other.repo.read("overnight/receipts.jsonl"));
    let second = ours.lines().nth(1).unwrap();
    for (text, is_own) in
        [(format!("{theirs}{second}\n"), false), (ours.clone(), false), (theirs, true)]
    {
        other.repo.write("overnight/receipts.jsonl", &text);
        let told = last(&one, &other);
        assert_eq!(told["happened"], is_own, "{told:#}");
        assert_eq!(told["outcome"], if is_own { "done" } else { "doubtful" });
    }
    // A clone has the receipts and never had a night.
    let clone = Night::with(3);
    clone.repo.write("overnight/receipts.jsonl", &ours);
    let told = last(&one, &clone);
    assert_eq!((&told["happened"], &told["outcome"]), (&false.into(), &"doubtful".into()));
    // From its own first night on it has one.
    night_of(&one, &clone);
    assert_eq!(last(&one, &clone)["outcome"], "done");
    // The other clone goes on from there, and what it did comes back with the next pull.
    let there = Night::with(3);
    there.repo.write("overnight/receipts.jsonl", &clone.repo.read("overnight/receipts.jsonl"));
    night_of(&one, &there);
    clone.repo.write("overnight/receipts.jsonl", &there.repo.read("overnight/receipts.jsonl"));
    assert_eq!(last(&one, &clone)["outcome"], "doubtful");
    assert_eq!(last(&one, &there)["outcome"], "done");
}

/// What is kept outside of the repository was lost: its report is still here.
#[test]
fn a_night_whose_head_is_lost_has_happened() {
    let night = Night::with_copies();
    night.run(&[]).expect(0);
    let folder = night.repo.root().join(".local/state/ao/receipts");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "json") {
            fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(last(&night, &night)["outcome"], "done");
}

/// The clock was years ahead for one night: that night is not last night until then.
#[test]
fn a_night_of_the_future_is_not_last_night() {
    let night = Night::with_copies();
    let clock = night.aside.path().join("clock");
    let mut start = night.command(&[]);
    for (seconds, outcome) in [(1800, "done"), (3 * 365 * 24 * 3600, "doubtful")] {
        fs::write(&clock, seconds.to_string()).unwrap();
        ran(start.env("AO_CLOCK", &clock).spawn().unwrap()).expect(0);
        let told = last(&night, &night);
        assert_eq!(told["outcome"], outcome, "{told:#}");
    }
    // The next night is.
    night.run(&[]).expect(0);
    assert_eq!(last(&night, &night)["outcome"], "done");
}
