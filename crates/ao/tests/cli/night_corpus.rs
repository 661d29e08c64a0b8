//! What becomes of the corpus in a night, and what is left alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::night::{A_ROUND, Night, learning, statuses};
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
    for gate in ["--warn-only=true", "--warn-only=false"] {
        night.run(&[gate]).expect(0);
        let summary = night.summary();
        assert_eq!(statuses(&summary), ["done"], "{summary:#}");
        assert_eq!(summary["iterations"][0]["reduce"]["edits"], 0);
        assert!(summary["iterations"][0]["commit"].is_null());
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

// proves: LOOP-17, LOOP-24
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
    let held = night.held_at("verify", &[]);
    let survivor = "learnings/2026-03-01-case-1.md";
    let text = night.repo.read(survivor);
    night.repo.write(survivor, &text.replacen("utility: 0.7\n", "", 1));
    held.go_on().expect(0);
    let summary = night.summary();
    let first = &summary["iterations"][0];
    assert_eq!((&first["status"], &first["committed"]), (&"degraded".into(), &true.into()));
    let told = "post-commit metadata integrity: 1 stripped field(s)";
    assert_eq!(first["degraded"][0], told);
    assert!(summary["degraded"].as_array().unwrap().contains(&told.into()), "{summary:#}");
    assert!(night.markdown().contains("1 stripped field"), "{}", night.markdown());
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
    let told = night.summary()["iterations"].to_string();
    assert!(told.contains("learnings/2026-03-02-copy.md"), "{told}");
}

// What is dated on a day to come makes nothing old: no term is over by it, and nobody's wait.
#[test]
fn a_day_to_come_moves_nothing() {
    let night = Night::with_copies();
    let day = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let finding = format!(
        "---\nid: f-1\ndate: {day}\nttl_days: 365\nseverity: high\n---\n# The lint gate leaks\n\n{}",
        crate::night::text(70)
    );
    night.repo.write("findings/f-1.md", &finding);
    let pending = learning(50).replacen("date: 2026-03-23", &format!("date: {day}"), 1);
    assert!(pending.contains(&day));
    night.repo.write("knowledge/pending/today.md", &pending);
    let ahead = learning(51).replacen("date: 2026-03-24", "date: 2036-05-01", 1);
    assert!(ahead.contains("2036"));
    night.repo.write("knowledge/pending/ahead.md", &ahead);
    for _ in 0..3 {
        night.run(&[]).expect(0);
        assert!(night.repo.exists("findings/f-1.md"));
        assert!(night.repo.exists("knowledge/pending/today.md"), "{:#}", night.summary());
    }
    let summary = night.summary();
    assert_eq!(summary["metrics_health"]["as_of"], *day);
    // On that day the same files are judged otherwise, so nothing is settled by them.
    assert!(summary.get("unchanged_since").is_none(), "{summary:#}");
    let told = night.repo.run(&["--json", "--dry-run", "defrag"]).expect(0).json();
    let kept = told["kept"].as_array().unwrap();
    let ahead = kept.iter().find(|one| one["path"] == "knowledge/pending/ahead.md").unwrap();
    assert!(ahead["why"].as_str().unwrap().contains("a day to come"), "{ahead}");
}
