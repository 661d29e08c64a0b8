//! A night run again: the same bytes from the corpus as it was, whatever became of it since.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::night::{Night, json_of, learning, ran, statuses};
use crate::repo::Ran;

/// With copies to merge, pending learnings, packets that name files, a queue and a citation log.
fn busy() -> Night {
    let night = Night::with_copies();
    for number in 0..4 {
        night.pending(number);
    }
    night.repo.write("findings/f-2026-03-02-slow.md", "# finding: slow\n\nsrc/gate.rs is slow.\n");
    night.repo.write("ao/citations.jsonl", "");
    night.repo.write(
        "rpi/next-work.jsonl",
        "{\"source_epic\":\"e\",\"timestamp\":\"2026-03-01T00:00:00Z\",\"items\":[{\"title\":\"Split src/gate.rs\",\"type\":\"tech-debt\",\"severity\":\"high\",\"source\":\"council-finding\",\"description\":\"src/gate.rs does two things.\"}],\"consumed\":false,\"claim_status\":\"available\",\"claimed_by\":null,\"claimed_at\":null,\"consumed_by\":null,\"consumed_at\":null}\n",
    );
    fs::create_dir(night.repo.root().join("src")).unwrap();
    fs::write(night.repo.root().join("src/gate.rs"), "fn gate() {}\n").unwrap();
    let queue = "- Look at the gate [severity: high] [file: src/gate.rs]\n- And at the rest\n";
    fs::write(night.repo.root().join("tonight.md"), queue).unwrap();
    night
}

/// Spends a night with a goal and a queue; gives its id.
fn spend(night: &Night, more: &[&str]) -> String {
    let queue = night.repo.root().join("tonight.md");
    let queue = queue.to_str().unwrap();
    night.run(&[&["--goal", "a faster gate", "--queue", queue], more].concat()).expect(0);
    id(night)
}

fn id(night: &Night) -> String {
    night.summary()["run_id"].as_str().unwrap().to_owned()
}

/// Replays with a folder of its own for what is temporary, which must be empty afterwards.
fn replay_with(night: &Night, run: &str, fault: &str) -> Ran {
    let scratch = night.aside.path().join("tmp");
    fs::create_dir_all(&scratch).unwrap();
    let mut command = night.repo.command(&["--json", "overnight", "replay", run]);
    command.env("TMPDIR", &scratch).env("AO_NIGHT_FAULT", fault);
    let done = ran(command.spawn().unwrap());
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0, "the scratch folder was left");
    done
}

fn replay(night: &Night, run: &str) -> Ran {
    replay_with(night, run, "")
}

fn identical(night: &Night, run: &str) {
    let told = replay(night, run).expect(0).json();
    assert_eq!(told["identical"], true, "{told:#}");
    assert_eq!(told["differences"], Value::Array(Vec::new()), "{told:#}");
}

fn kept(night: &Night, run: &str, kind: &str) -> PathBuf {
    night.repo.state("cassettes").join(format!("{run}.{kind}"))
}

// A night without runners: every byte of its summary comes out again.
#[test]
fn the_same_night_gives_the_same_bytes_and_leaves_the_repository_alone() {
    let night = busy();
    let run = spend(&night, &[]);
    let summary = night.summary();
    // Otherwise there would be little to be the same.
    assert_eq!(statuses(&summary), ["done", "done"]);
    assert!(summary["iterations"][0]["reduce"]["deduped"].as_u64().unwrap() > 0);
    assert!(summary["iterations"][0]["reduce"]["promoted"].as_u64().unwrap() > 0);
    let packets = summary["morning_packets"].to_string();
    assert!(packets.contains("src/gate.rs"), "{packets}");
    assert!(summary["briefing"].is_object());
    let before = night.all_files();
    identical(&night, &run);
    assert!(before == night.all_files(), "the repository was changed");
    // For people, too.
    let told = night.repo.run(&["overnight", "replay", &run]).expect(0);
    assert!(told.stdout.contains("identical, byte for byte"), "{}", told.stdout);
    // What is kept is what its schema says, and for its owner alone.
    let record = kept(&night, &run, "night.json");
    night.repo.run(&["schema", "night", "--check", record.to_str().unwrap()]).expect(0);
    let mode = kept(&night, &run, "corpus").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_came_after_the_night_makes_no_difference() {
    let night = busy();
    night.harvest_rounds(1);
    let run = spend(&night, &[]);
    assert!(night.summary()["iterations"][0]["ingest"]["harvested"].as_u64().unwrap() > 0);
    // The corpus by hand, the files that packets speak of, what was harvested, and more nights.
    night.repo.write("learnings/2026-03-01-case-4.md", "edited\n");
    night.repo.write("learnings/2026-03-05-mine.md", &learning(77));
    fs::remove_file(night.repo.agents().join("learnings/2026-03-01-case-1.md")).unwrap();
    fs::remove_file(night.repo.root().join("src/gate.rs")).unwrap();
    fs::remove_file(night.repo.root().join("tonight.md")).unwrap();
    fs::remove_dir_all(night.aside.path().join("other")).unwrap();
    night.run(&["--full"]).expect(0);
    night.run(&["--full"]).expect(0);
    assert_ne!(id(&night), run);
    identical(&night, &run);
    // So is the night after it, over what was changed by hand.
    identical(&night, &id(&night));
}

#[test]
fn a_build_with_another_rule_differs() {
    let night = busy();
    let run = spend(&night, &[]);
    let told = replay_with(&night, &run, "merge").expect(1).json();
    assert_eq!(told["identical"], false);
    let paths: Vec<&str> = told["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert!(paths.contains(&"iterations[0].reduce.deduped"), "{paths:?}");
    // It is the build, not the night.
    identical(&night, &run);
}

#[test]
fn what_is_gone_damaged_or_unknown_is_refused() {
    let night = busy();
    let run = spend(&night, &[]);
    let refused = |what: &str| {
        let told = replay(&night, &run).expect(6);
        assert!(told.stderr.contains(what), "{}", told.stderr);
    };
    for kind in ["corpus", "night.json"] {
        let path = kept(&night, &run, kind);
        let whole = fs::read(&path).unwrap();
        for at in [whole.len() / 3, whole.len() / 2, whole.len() - 2] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(&path, &bytes).unwrap();
            refused("is damaged");
        }
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        if kind == "corpus" {
            refused("is damaged");
        }
        fs::write(&path, &whole).unwrap();
    }
    identical(&night, &run);
    fs::remove_file(kept(&night, &run, "corpus")).unwrap();
    refused(&format!("the corpus that run {run} began with is gone"));
    fs::remove_file(kept(&night, &run, "night.json")).unwrap();
    refused(&format!("nothing is kept of run {run}"));
    replay(&night, "../x").expect(2);
    night.repo.run(&["overnight", "replay"]).expect(2);
}

#[test]
fn nights_that_cannot_be_the_same_are_refused_by_name() {
    let refused = |night: &Night, why: &str| {
        let told = replay(night, &id(night)).expect(6);
        assert!(told.stderr.contains(why), "{}", told.stderr);
    };
    // Nothing was read.
    let night = busy();
    let carried = (0..5).any(|_| {
        night.run(&[]).expect(0);
        night.summary()["unchanged_since"].is_object()
    });
    assert!(carried);
    refused(&night, "nothing had changed since run");
    // A signal ended it.
    let night = busy();
    night.held_at("reduce", &[]).signal("TERM").expect(1);
    refused(&night, "a signal ended it");
    // Another process went on with it.
    night.run(&["--resume"]).expect(0);
    refused(&night, "it was cut off");
    // Its time was over.
    let night = busy();
    ran(night
        .command(&["--run-timeout", "1s"])
        .env("AO_NIGHT_FAULT", "hang-reduce")
        .spawn()
        .unwrap())
    .expect(1);
    refused(&night, "its time ended");
    // A dry run leaves nothing.
    let night = busy();
    night.repo.run(&["--dry-run", "overnight", "start"]).expect(0);
    assert!(!night.repo.state("cassettes").exists());
    refused(&night, "nothing is kept");
}

#[test]
fn a_corpus_that_cannot_be_kept_is_no_reason_to_stop() {
    let night = busy();
    std::os::unix::fs::symlink("elsewhere", night.repo.agents().join("learnings/link.md")).unwrap();
    night.run(&[]).expect(0);
    let summary = night.summary();
    assert_eq!(summary["status"], "done");
    let why = summary["not_replayable"].as_str().unwrap();
    assert!(why.contains("learnings/link.md is a symlink"), "{why}");
    assert!(night.markdown().contains("cannot be replayed"), "{}", night.markdown());
    let told = replay(&night, &id(&night)).expect(6);
    assert!(told.stderr.contains("learnings/link.md"), "{}", told.stderr);
}

#[test]
fn what_somebody_wrote_meanwhile_is_said() {
    let night = busy();
    let held = night.held_at("commit", &[]);
    night.repo.write("learnings/2026-03-05-mine.md", &learning(77));
    held.go_on().expect(0);
    let told = replay(&night, &id(&night)).expect(1).json();
    let notes = told["notes"].to_string();
    assert!(notes.contains("somebody changed it while the night went on"), "{told:#}");
}

#[test]
fn old_and_large_ones_go_and_the_newest_stays() {
    let night = busy();
    night.configure("undo:\n  max_mb: 0\n");
    let first = spend(&night, &["--full"]);
    assert!(kept(&night, &first, "corpus").exists(), "the newest always stays");
    night.run(&["--full"]).expect(0);
    let second = id(&night);
    assert!(!kept(&night, &first, "corpus").exists());
    assert!(!kept(&night, &first, "night.json").exists());
    assert!(kept(&night, &second, "corpus").exists());
    let log = fs::read_to_string(night.latest("overnight.log")).unwrap();
    assert!(log.contains(&format!("run {first} can no longer be replayed")), "{log}");
    // By age.
    night.configure("undo:\n  days: 30\n");
    let old = "20260101T020000Z";
    for kind in ["corpus", "night.json"] {
        fs::copy(kept(&night, &second, kind), kept(&night, old, kind)).unwrap();
    }
    // The record of one night is not that of another.
    let told = replay(&night, old).expect(6);
    assert!(told.stderr.contains("the record of another run"), "{}", told.stderr);
    night.run(&["--full"]).expect(0);
    assert!(!kept(&night, old, "corpus").exists());
    assert!(kept(&night, &second, "corpus").exists());
    assert_eq!(json_of(&kept(&night, &second, "night.json"))["run_id"], second.as_str());
}
