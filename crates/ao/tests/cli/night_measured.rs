//! What is committed is what was measured: people change files between MEASURE and COMMIT, and the gate, the
//! record, the history and the receipt speak of what is left.

use std::fs;

use serde_json::Value;

use crate::night::{Night, json_of, learning, statuses};
use crate::repo::{contents, wait_until};

/// So many pairs of copies, and so many entries to take over.
const PAIRS: usize = 20;
const THEIRS: usize = 60;
/// Metrics that depend on the corpus alone. Retrieval is asked by the questions of the run, which are fixed before
/// the first iteration; a command that looks afterwards asks others.
const BY_CORPUS: [&str; 5] = ["uniqueness", "provenance", "freshness", "maturity", "findings"];

/// Merging raises the maturity by more than the harvest lowers it; the harvest alone is a regression.
fn balanced() -> Night {
    let night = Night::with(0);
    let mature =
        |number: usize| learning(number).replacen("---\n", "---\nmaturity: established\n", 1);
    for number in 0..30 {
        night.repo.write(&format!("learnings/2026-03-01-case-{number}.md"), &mature(100 + number));
    }
    for number in 0..PAIRS {
        night.repo.write(&survivor(number), &mature(200 + number));
        night
            .repo
            .write(&format!("learnings/2026-03-02-copy-{number}.md"), &learning(200 + number));
    }
    night.harvest_from(THEIRS, |number| {
        (format!("learnings/2026-03-03-theirs-{number}.md"), learning(1000 + number))
    });
    night
}

fn survivor(number: usize) -> String {
    format!("learnings/2026-03-01-pair-{number}.md")
}

/// A person adds a sentence to every entry that copies are to be merged into.
fn edit_survivors(night: &Night) {
    for number in 0..PAIRS {
        let text = format!("{}\nA person was here.\n", night.repo.read(&survivor(number)));
        night.repo.write(&survivor(number), &text);
    }
}

fn corpus(night: &Night) -> std::collections::BTreeMap<String, String> {
    let mut all = contents(&night.repo.tree());
    all.retain(|path, _| !path.starts_with("rpi/"));
    all
}

fn health(night: &Night) -> Value {
    night.repo.run(&["--json", "metrics", "health"]).expect(0).json()
}

/// The history's line about a commit.
fn line(night: &Night, id: &str) -> Value {
    let history = fs::read_to_string(night.repo.state("history.jsonl")).unwrap();
    let lines = history.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.into_iter().find(|line| line["id"] == id).unwrap()
}

/// The one iteration of a run, and what was recorded of it everywhere says the same, which is true.
fn assert_recorded_is_true(night: &Night, case: &str) {
    let summary = night.summary();
    let run_id = summary["run_id"].as_str().unwrap();
    let record = json_of(&night.latest(&format!("{run_id}/iterations/iter-1.json")));
    let Some(id) = record["commit"]["id"].as_str() else { return };
    let after = &record["fitness_after"];
    let line = line(night, id);
    let undo = json_of(&night.repo.state(&format!("undo/{id}/record.json")));
    // Where others changed files after the judge looked, the commit has none; the iteration is measured afterwards.
    for fitness in [&line["fitness"], &undo["fitness"]].into_iter().filter(|one| !one.is_null()) {
        assert_eq!(fitness, after, "{case}: the history or the commit's record says otherwise");
    }
    let now = health(night);
    let before = record["fitness_before"].as_object().unwrap();
    assert_eq!(before.len(), BY_CORPUS.len() + 2, "{case}: retrieval and the composite too");
    for (metric, moved) in summary["fitness_delta"].as_object().unwrap() {
        let real = after[metric].as_f64().unwrap() - before[metric].as_f64().unwrap();
        assert!((real - moved.as_f64().unwrap()).abs() < 2e-6, "{case}: {metric} of the morning");
    }
    for metric in BY_CORPUS {
        assert_eq!(after[metric], now["fitness"]["metrics"][metric], "{case}: {metric} of {id}");
    }
}

// proves: LOOP-12
#[test]
fn a_strict_night_judges_what_is_left_after_a_person_edited_the_survivors() {
    let night = balanced();
    let first = night.run(&["--warn-only=false", "--max-iterations", "1"]).expect(0);
    assert_eq!(statuses(&night.summary()), ["done"], "nobody interferes: {first}");
    for (place, when) in [("commit", "before the door"), ("staged", "while it is staged")] {
        let night = balanced();
        let options = ["--warn-only=false", "--max-iterations", "1"];
        let (before, done) = if place == "commit" {
            let held = night.held_at("commit", &options);
            edit_survivors(&night);
            (corpus(&night), held.go_on())
        } else {
            let held = staged(&night, &options);
            edit_survivors(&night);
            (corpus(&night), held.go_on())
        };
        done.expect(4);
        let summary = night.summary();
        assert_eq!(statuses(&summary), ["halted-on-regression-pre-commit"], "{when}");
        let reason = summary["regression_reason"].as_str().unwrap();
        assert!(
            reason.starts_with("maturity dropped 0.1") && reason.ends_with("floor 0.05"),
            "{reason}"
        );
        assert_eq!(corpus(&night), before, "{when}: a regressed corpus was committed");
        assert!(!night.repo.state("staging").exists());
    }
}

/// A run whose commit is staged and waits for a reader.
fn staged(night: &Night, options: &[&str]) -> crate::repo::Stopped {
    fs::create_dir_all(night.repo.state("")).unwrap();
    let reader = fs::File::create(night.repo.state("commit.lock")).unwrap();
    reader.lock_shared().unwrap();
    let child = night.command(options).spawn().unwrap();
    let staging = night.repo.state("staging");
    wait_until("everything is staged", || {
        let rooms = fs::read_dir(&staging).into_iter().flatten().flatten();
        rooms.map(|room| room.path().join("marker")).any(|marker| marker.exists())
    });
    crate::repo::Stopped { child, reader }
}

// proves: LOOP-12, RUN-03
#[test]
fn a_warn_only_night_spends_a_rescue_on_what_is_left_and_records_its_fitness() {
    let night = balanced();
    let held = night.held_at("commit", &["--max-iterations", "1"]);
    edit_survivors(&night);
    held.go_on().expect(0);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["done"]);
    assert_eq!(summary["warn_only_remaining"], 2);
    let rescue = summary["iterations"][0]["rescue"].as_str().unwrap();
    assert!(rescue.starts_with("maturity dropped"), "{rescue}");
    let taken = night.repo.tree().keys().filter(|path| path.contains("-theirs-")).count();
    assert_eq!(taken, THEIRS, "what nobody touched is committed");
    assert!(night.repo.exists("learnings/2026-03-02-copy-0.md"), "and no merge");
    assert_recorded_is_true(&night, "warn-only");
    // The morning's delta is that of the commit.
    let delta = summary["fitness_delta"]["maturity"].as_f64().unwrap();
    assert!(delta < -0.05, "{delta}");
}

// proves: LOOP-27, LOOP-07
#[test]
fn what_the_commit_left_out_is_told_as_not_made() {
    let night = Night::with_copies();
    night.pending(1);
    let held = night.held_at("commit", &["--max-iterations", "1"]);
    let path = "knowledge/pending/2026-02-01-pending-1.md";
    night.repo.write(path, &format!("{}\nA person was here.\n", night.repo.read(path)));
    held.go_on().expect(0);
    let summary = night.summary();
    let first = &summary["iterations"][0];
    let changes = first["reduce"]["changes"].as_array().unwrap();
    let told: Vec<&str> = changes.iter().map(|one| one["path"].as_str().unwrap()).collect();
    let shown = night.repo.run(&["--json", "overnight", "show", first["id"].as_str().unwrap()]);
    let shown = shown.expect(0).json();
    let made = shown["changes"].as_array().unwrap_or_else(|| panic!("{shown:#}"));
    let made: Vec<&str> = made.iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(told, made, "{first:#}");
    assert_eq!(first["reduce"]["edits"], 2, "{first:#}");
    let note = format!("2 edits, commit {}", first["commit"]["id"].as_str().unwrap());
    assert!(summary["steps"].to_string().contains(&note), "{note}");
    let receipts = fs::read_to_string(night.repo.state("receipts.jsonl")).unwrap();
    let receipt: Value = serde_json::from_str(receipts.lines().last().unwrap()).unwrap();
    assert_eq!(receipt["work"]["edits"], 2);
    // The report names each file that was left to the person, and why.
    let report = night.markdown();
    assert!(!report.contains("promoted to learnings/"), "{report}");
    let (_, rest) = report.split_once("- **not made:** 1 conflicts, 2 refused\n").unwrap();
    let (listed, _) = rest.split_once("\n- **").unwrap();
    let why = "it was to be deleted, and someone else edited it meanwhile";
    assert!(listed.contains(&format!("`{path}`: {why}")), "{listed}");
    assert_eq!(listed.lines().count(), 3, "{listed}");
}

// proves: LOOP-12
#[test]
fn a_rescue_is_spent_only_if_what_is_left_needs_one() {
    // The harvest alone falls under the floor; a person removes the cause of it: what merges bring is left.
    let night = balanced();
    night.harvest_from(150, |number| {
        (format!("learnings/2026-03-03-theirs-{number}.md"), learning(1000 + number))
    });
    let held = night.held_at("commit", &["--max-iterations", "1"]);
    for number in 0..150 {
        let path = format!("learnings/2026-03-03-theirs-{number}.md");
        night.repo.write(
            &path,
            &learning(3000 + number).replacen("---\n", "---\nmaturity: established\n", 1),
        );
    }
    held.go_on().expect(0);
    assert_eq!(night.summary()["warn_only_remaining"], 3);
    assert_recorded_is_true(&night, "removed");
}

// proves: LOOP-12, REP-08
#[test]
fn what_others_bring_after_the_judge_looked_is_measured_after_the_commit() {
    for (gate, code) in [("--warn-only=false", 4), ("--warn-only=true", 0)] {
        let night = balanced();
        let before = health(&night)["fitness"]["metrics"]["maturity"].as_f64().unwrap();
        let held = staged(&night, &[gate]);
        for number in 0..150 {
            night
                .repo
                .write(&format!("learnings/2026-03-04-late-{number}.md"), &learning(7000 + number));
        }
        held.go_on().expect(code);
        let summary = night.summary();
        let after = health(&night)["fitness"]["metrics"]["maturity"].as_f64().unwrap();
        assert!(before - after > 0.05, "{before} {after}");
        let moved = summary["fitness_delta"]["maturity"].as_f64().unwrap();
        assert!((after - before - moved).abs() < 2e-6, "{gate}: {moved} for {before} to {after}");
        let first = &summary["iterations"][0];
        assert!(first["notes"].to_string().contains("measured after the commit"), "{first:#}");
        assert!(summary["degraded"].to_string().contains("maturity dropped"), "{gate}");
        let reason = summary["regression_reason"].as_str().unwrap_or_default();
        assert_eq!(reason.contains("maturity dropped"), code == 4, "{gate}: {reason}");
        assert!(night.markdown().contains("others changed files while the commit was made"));
    }
}

/// A small generator of numbers, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// Something that a person does to the corpus: one of so many kinds.
fn interfere(night: &Night, dice: &mut Dice, kinds: u64) -> String {
    let number = usize::try_from(dice.roll(6)).unwrap();
    let edited = |path: String| {
        if !night.repo.exists(&path) {
            return format!("{path} was gone");
        }
        let text = format!("{}\nA person was here, {number}.\n", night.repo.read(&path));
        night.repo.write(&path, &text);
        format!("edited {path}")
    };
    match dice.roll(kinds) {
        0 => edited(survivor(number)),
        1 => edited(format!("learnings/2026-03-02-copy-{number}.md")),
        2 => edited(format!("learnings/2026-03-01-case-{number}.md")),
        3 => {
            let path = format!("learnings/2026-03-02-copy-{number}.md");
            let _ = fs::remove_file(night.repo.agents().join(&path));
            format!("removed {path}")
        }
        4 => {
            let path = format!("learnings/2026-02-01-new-{number}.md");
            night.repo.write(&path, &learning(5000 + number));
            format!("added {path}")
        }
        5 => {
            let path = format!("learnings/2026-03-03-theirs-{number}.md");
            night.repo.write(&path, &learning(6000 + number));
            format!("took {path} first")
        }
        _ => {
            let path = format!("findings/f-2026-02-0{}-001.md", number + 1);
            night.repo.write(&path, "---\nseverity: critical\ndate: 2026-02-01\n---\n# Open\n");
            format!("found {path}")
        }
    }
}

// proves: LOOP-12
#[test]
fn whatever_people_change_the_recorded_fitness_is_that_of_the_tree() {
    let cases = if crate::is_sweep() { 200 } else { 8 };
    for case in 0..cases {
        // The last of them is of the newest day: nothing that comes later makes the others old.
        let night = Night::with(28);
        for number in 0..6 {
            night.repo.write(&survivor(number), &learning(200 + number));
            let copy = format!("learnings/2026-03-02-copy-{number}.md");
            night
                .repo
                .write(&copy, &learning(200 + number).replacen("source_session", "seen_in", 1));
        }
        night.harvest_from(6, |number| {
            (format!("learnings/2026-03-03-theirs-{number}.md"), learning(1000 + number))
        });
        let mut dice = Dice(case);
        let options = ["--max-iterations", "1"];
        let mut did = Vec::new();
        let done = if case % 2 == 0 {
            let held = night.held_at("commit", &options);
            did.extend((0..=dice.roll(4)).map(|_| interfere(&night, &mut dice, 7)));
            held.go_on()
        } else {
            // A finding that comes after the judge looked is no part of what is committed.
            let held = staged(&night, &options);
            did.extend((0..=dice.roll(4)).map(|_| interfere(&night, &mut dice, 6)));
            held.go_on()
        };
        done.expect(0);
        assert_recorded_is_true(&night, &format!("case {case}: {did:?}"));
    }
}
