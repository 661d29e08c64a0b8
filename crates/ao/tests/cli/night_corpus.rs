//! What becomes of the corpus in a night, and what is left alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::night::{A_ROUND, Night, Noon, dated, json_of, learning, statuses};
use crate::repo::contents;

// proves: LOOP-28
// pitfalls 4 and 9: everything is promoted and touched again on every iteration.
#[test]
fn the_second_night_changes_nothing_and_touches_nothing() {
    let night = Night::with_copies();
    for number in 0..10 {
        night.pending(number);
    }
    night.run(&[]).expect(0);
    let summary = night.summary();
    assert_eq!(summary["iterations"][0]["ingest"]["learnings_added"], 10);
    assert_eq!(statuses(&summary), ["done", "done"]);
    let before = night.repo.tree();
    let commits = night.repo.read("overnight/history.jsonl");
    // Perhaps carried over from the night before, and surely found out anew.
    for (gate, extent) in [
        ("--warn-only=true", &[][..]),
        ("--warn-only=false", &[]),
        ("--warn-only=true", &["--full"]),
        ("--warn-only=false", &["--full"]),
    ] {
        night.run(&[&[gate], extent].concat()).expect(0);
        let summary = night.summary();
        assert_eq!(statuses(&summary), ["done"], "{summary:#}");
        assert_eq!(summary["iterations"][0]["reduce"]["edits"], 0);
        assert!(summary["iterations"][0]["commit"].is_null());
        assert!(extent.is_empty() || summary.get("unchanged_since").is_none(), "{summary:#}");
    }
    assert_eq!(night.repo.tree(), before);
    assert_eq!(night.repo.read("overnight/history.jsonl"), commits);
}

// pitfall 4: what was not changed keeps inode and time through a commit.
// proves: LOOP-08
#[test]
fn what_an_iteration_does_not_change_stays_as_it_is() {
    let night = Night::with_copies();
    let odd = "---\r\nzeta: 1 # why\r\nid: odd\r\ndate: 2026-03-01\r\nalpha: {b: 2, a: 1}\r\n---\r\n# Odd\r\n\r\nNothing else is like it.\r\n";
    night.repo.write("learnings/odd.md", odd);
    let copy = night.repo.agents().join("learnings/2026-03-01-case-1.md");
    let own = learning(1).replacen("---\n", "---\nowner: me # keep\nx: {deep: [1, 2]}\n", 1);
    fs::write(&copy, own).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o640)).unwrap();
    let before = night.repo.tree();
    night.run(&[]).expect(0);
    let after = night.repo.tree();
    let survivor = &after["learnings/2026-03-01-case-1.md"];
    assert_eq!(survivor.mode, 0o640);
    let text = String::from_utf8(survivor.bytes.clone()).unwrap();
    assert!(
        text.starts_with("---\nowner: me # keep\nx: {deep: [1, 2]}\nid: learning-1\n"),
        "{text}"
    );
    for (path, seen) in &before {
        if path != "learnings/2026-03-01-case-1.md" && path != "learnings/2026-03-02-copy.md" {
            assert_eq!(after.get(path), Some(seen), "{path}");
        }
    }
}

// proves: RUN-31, RUN-32, RUN-33, RUN-34, LOOP-06
#[test]
fn a_night_writes_only_where_it_may_and_starts_nothing() {
    let night = Night::with_copies();
    night.harvest_rounds(1);
    let git = |arguments: &[&str]| {
        let done = std::process::Command::new("git")
            .arg("-C")
            .arg(night.repo.root())
            .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
            .args(arguments)
            .output();
        assert!(done.unwrap().status.success());
    };
    fs::write(night.repo.root().join("main.rs"), "fn main() {}\n").unwrap();
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-q", "-m", "first"]);
    // Whatever is started would be found here, and say so.
    let bin = night.aside.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let tell = night.aside.path().join("started");
    for name in ["git", "claude", "codex", "gemini", "ollama", "sh"] {
        let file = bin.join(name);
        fs::write(&file, format!("#!/bin/sh\necho {name} >> {}\n", tell.display())).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let before = night.all_files();
    let mut command = night.command(&[]);
    crate::night::ran(command.env("PATH", &bin).spawn().unwrap()).expect(0);
    assert!(!tell.exists(), "{}", fs::read_to_string(tell).unwrap());
    // Symlinks are looked for while the files are gathered.
    let after = night.all_files();
    let may = [
        ".agents/overnight/",
        ".agents/ao/",
        ".agents/learnings/",
        ".agents/findings/",
        ".agents/patterns/",
        ".agents/knowledge/",
        ".agents/rpi/",
        // The home lies in the repository here, and the key of the receipts in the home.
        ".local/state/ao/receipts/",
    ];
    for (path, seen) in &after {
        let is_above = path.ends_with('/') && may.iter().any(|may| may.starts_with(path.as_str()));
        if !is_above && !may.iter().any(|may| path.starts_with(may)) {
            assert_eq!(before.get(path), Some(seen), "{path}");
        }
    }
    assert!(before.keys().all(|path| after.contains_key(path) || path.contains("2026-03-02-copy")));
    assert!(after.contains_key(".git/index"));
    assert!(after.keys().filter(|path| path.starts_with(".agents/learnings/")).count() > A_ROUND);
    let in_rpi: Vec<&String> = after
        .keys()
        .filter(|path| path.starts_with(".agents/rpi/") && !path.ends_with('/'))
        .collect();
    assert!(in_rpi.iter().all(|path| path.ends_with("next-work.jsonl")), "{in_rpi:?}");
}

// proves: LOOP-06
#[test]
fn packets_come_to_the_queue_by_a_commit_that_can_be_taken_back() {
    let night = Night::with_copies();
    let queue = "{\"source_epic\":\"e\",\"items\":[]}\n";
    night.repo.write("rpi/next-work.jsonl", queue);
    night.run(&[]).expect(0);
    assert_ne!(night.repo.read("rpi/next-work.jsonl"), queue);
    let id = format!("{}-packets", night.summary()["run_id"].as_str().unwrap());
    let log = night.repo.run(&["--json", "tree", "log"]).expect(0).json();
    assert_eq!(log["commits"][0]["id"], *id, "{log:#}");
    night.repo.run(&["tree", "undo", &id]).expect(0);
    assert_eq!(night.repo.read("rpi/next-work.jsonl"), queue);
}

// proves: LOOP-06
#[test]
fn what_was_taken_and_the_note_that_it_was_are_made_together() {
    let night = Night::with(3);
    night.harvest_from(3, |number| {
        (format!("learnings/2026-03-03-theirs-{number}.md"), learning(1000 + number))
    });
    let held = night.held_at("commit", &["--max-iterations", "1"]);
    // A name is taken meanwhile: none of them comes in, and nothing says that one did.
    night.repo.write("learnings/2026-03-03-theirs-1.md", "# Mine\n");
    held.go_on().expect(0);
    assert_eq!(statuses(&night.summary()), ["rolled-back-pre-commit"]);
    assert!(!night.repo.exists("learnings/2026-03-03-theirs-0.md"));
    assert!(!night.repo.exists("knowledge/taken"));
    night.run(&["--max-iterations", "1"]).expect(0);
    let taken = night.repo.tree().keys().filter(|path| path.contains("-theirs-")).count();
    assert_eq!(taken, 1 + 3, "all of them, one under another name");
    assert!(night.repo.exists("knowledge/taken"));
}

// proves: LOOP-17, LOOP-24, RUN-03
#[test]
fn iterations_are_counted_and_nothing_is_taken_twice() {
    let night = Night::with(30);
    night.harvest_rounds(3);
    let harvested = || {
        let all = night.repo.tree();
        all.keys().filter(|path| path.contains("-theirs-")).count()
    };
    night.run(&["--max-iterations", "1"]).expect(0);
    assert_eq!(statuses(&night.summary()), ["done"]);
    assert_eq!(harvested(), A_ROUND);
    night.run(&["--max-iterations", "0", "--plateau-epsilon", "0.000001"]).expect(0);
    assert_eq!(statuses(&night.summary()), ["done", "done", "done"]);
    assert_eq!(harvested(), 3 * A_ROUND);
    // Where one comes from is written in it.
    let one = night.repo.read("learnings/2026-03-03-theirs-7.md");
    assert!(one.contains("original_path: ") && one.contains("harvested_from: other\n"), "{one}");
    // Deleted here, it is not taken again.
    fs::remove_file(night.repo.agents().join("learnings/2026-03-03-theirs-7.md")).unwrap();
    night.run(&[]).expect(0);
    assert_eq!(harvested(), 3 * A_ROUND - 1);
}

// proves: LOOP-05
#[test]
fn a_field_that_is_gone_after_the_commit_is_found() {
    let night = Night::with_copies();
    night.repo.write("learnings/2026-03-02-other-copy.md", &learning(2));
    let held = night.held_at("verify", &[]);
    for (survivor, fields) in [
        ("learnings/2026-03-01-case-1.md", &["utility: 0.7\n", "source_session: s-1\n"][..]),
        ("learnings/2026-03-01-case-2.md", &["utility: 0.7\n"]),
    ] {
        let mut text = night.repo.read(survivor);
        for field in fields {
            assert!(text.contains(field), "{text}");
            text = text.replacen(field, "", 1);
        }
        night.repo.write(survivor, &text);
    }
    held.go_on().expect(0);
    let summary = night.summary();
    let first = &summary["iterations"][0];
    assert_eq!((&first["status"], &first["committed"]), (&"degraded".into(), &true.into()));
    let told = "post-commit metadata integrity: 3 stripped field(s)";
    assert_eq!(first["degraded"][0], told);
    assert!(summary["degraded"].as_array().unwrap().contains(&told.into()), "{summary:#}");
    assert!(night.markdown().contains("3 stripped field"), "{}", night.markdown());
    // The corpus stays, and the run with it.
    assert_eq!(summary["status"], "done");
    assert!(!night.repo.exists("learnings/2026-03-02-copy.md"));
}

// proves: LOOP-07
// pitfall 6: what a person adds or edits during a run vanishes.
#[test]
fn what_people_write_during_a_night_stays() {
    let night = Night::with_copies();
    let held = night.held_at("commit", &[]);
    night.repo.write("learnings/mine.md", "# Mine\n");
    night.repo.write("learnings/2026-03-01-case-4.md", "edited\n");
    fs::remove_file(night.repo.agents().join("learnings/2026-03-01-case-5.md")).unwrap();
    let both = learning(1) + "And one more word.\n";
    night.repo.write("learnings/2026-03-02-copy.md", &both);
    held.go_on().expect(0);
    assert_eq!(night.repo.read("learnings/mine.md"), "# Mine\n");
    assert_eq!(night.repo.read("learnings/2026-03-01-case-4.md"), "edited\n");
    assert!(!night.repo.exists("learnings/2026-03-01-case-5.md"));
    let kept = contents(&night.repo.tree());
    assert!(kept.values().any(|text| text.contains("And one more word.")));
    let summary = night.summary();
    let conflicts = summary["iterations"][0]["commit"]["conflicts"].as_array().unwrap();
    let paths: Vec<&Value> = conflicts.iter().map(|one| &one["path"]).collect();
    assert_eq!(paths, ["learnings/2026-03-02-copy.md"], "{summary:#}");
}

// What is dated on a day to come makes nothing old: no term is over by it, and nobody's wait.
// proves: RUN-44
#[test]
fn a_day_to_come_moves_nothing() {
    let night = Night::with_copies();
    let noon = Noon::new(night.aside.path());
    let day = noon.day(0).to_string();
    night.configure("dream:\n  promote_after: 24h\n");
    let finding = format!(
        "---\nid: f-1\ndate: {day}\nttl_days: 365\nseverity: high\n---\n# The lint gate leaks\n\n{}",
        crate::night::text(70)
    );
    night.repo.write("findings/f-1.md", &finding);
    night.repo.write("knowledge/pending/today.md", &dated(50, noon.day(0)));
    night.repo.write("knowledge/pending/ahead.md", &dated(51, noon.day(3650)));
    for _ in 0..3 {
        noon.run(night.command(&[])).expect(0);
        assert!(night.repo.exists("findings/f-1.md"));
        assert!(night.repo.exists("knowledge/pending/today.md"), "{:#}", night.summary());
    }
    let summary = night.summary();
    assert_eq!(summary["metrics_health"]["as_of"], *day);
    // What is kept of these nights counts until the one of today is old enough.
    assert!(summary["unchanged_since"].is_object(), "{summary:#}");
    let kept = json_of(&night.repo.state("settled.json"));
    assert_eq!(kept["changes_on"], noon.day(1).to_string());
    let told = noon.run(night.repo.command(&["--json", "--dry-run", "defrag"])).expect(0).json();
    let kept = told["kept"].as_array().unwrap();
    let ahead = kept.iter().find(|one| one["path"] == "knowledge/pending/ahead.md").unwrap();
    assert!(ahead["why"].as_str().unwrap().contains("a day to come"), "{ahead}");
}
