//! One night after another: what an iteration does, what it leaves alone, and what it writes down.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::night::{A_ROUND, Night, json_of, learning, statuses, step};
use crate::repo::contents;

// proves: LOOP-01, LOOP-02, LOOP-03
#[test]
fn the_stages_follow_one_another_and_nothing_is_written_before_the_last() {
    for (place, stage) in
        [("ingest", "ingest"), ("reduce", "reduce"), ("measure", "measure"), ("commit", "commit")]
    {
        let night = Night::with_copies();
        let before = night.repo.tree();
        let held = night.held_at(place, &[]);
        // Later than its last word by no more than a tick.
        crate::repo::wait_until("the stage is told", || {
            let now = night.repo.run(&["--json", "overnight", "status"]).expect(0).json();
            now["run"]["stage"] == stage && now["run"]["iteration"] == 1
        });
        assert_eq!(night.repo.tree(), before, "{place}");
        held.go_on().expect(0);
        assert!(!night.repo.exists("learnings/2026-03-02-copy.md"));
        let first = &night.summary()["iterations"][0];
        // What was measured before the commit is what is there after it.
        let health = json_of(&night.latest("metrics-health.json"));
        assert_eq!(first["fitness_after"]["composite"], health["fitness"]["composite"]);
        assert_ne!(first["fitness_after"]["uniqueness"], first["fitness_before"]["uniqueness"]);
        // The checkpoint of its entry is what an undo goes back to.
        night.repo.run(&["tree", "undo", first["id"].as_str().unwrap()]).expect(0);
        assert_eq!(contents(&night.repo.tree()), contents(&before), "{place}");
    }
}

// proves: RUN-13, RUN-19, RUN-26, RUN-27, RUN-28, RUN-29, RUN-30, LOOP-13
#[test]
fn a_night_leaves_its_artifacts_and_names_only_what_is_there() {
    let night = Night::with_copies();
    night.run(&["--goal", "a calmer lint gate"]).expect(0);
    let summary = night.summary();
    let names: Vec<&str> =
        summary["steps"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "close-loop",
            "iteration-1",
            "iteration-2",
            "defrag-preview",
            "metrics-health",
            "retrieval-live",
            "knowledge-brief",
            "morning-packets",
            "bead-sync"
        ]
    );
    for (key, file) in [
        ("close_loop", "close-loop.json"),
        ("metrics_health", "metrics-health.json"),
        ("defrag_report", "defrag/latest.json"),
        ("retrieval_live", "retrieval-bench.json"),
        ("briefing", "briefing.json"),
        ("morning_packets_json", "morning-packets/index.json"),
        ("morning_packets_markdown", "morning-packets/index.md"),
        ("summary_json", "summary.json"),
        ("summary_markdown", "summary.md"),
    ] {
        let named = Path::new(summary["artifacts"][key].as_str().unwrap());
        assert!(named.is_absolute() && named.ends_with(file), "{key}: {}", named.display());
        assert!(fs::metadata(named).unwrap().len() > 0, "{key}");
    }
    assert_eq!(summary["artifacts"].as_object().unwrap().len(), 9);
    for step in summary["steps"].as_array().unwrap() {
        if let Some(file) = step["artifact"].as_str() {
            assert!(Path::new(file).is_file(), "{file}");
        }
    }
    let packets = summary["morning_packets"].as_array().unwrap();
    assert!(!packets.is_empty());
    for (rank, packet) in (1..).zip(packets) {
        let file = Path::new(packet["artifact_path"].as_str().unwrap());
        let name = file.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(&format!("{rank:02}-")), "{name}");
        assert!(name.ends_with(&format!("-{}.json", packet["id"].as_str().unwrap())), "{name}");
        assert_eq!(&json_of(file)["id"], &packet["id"]);
    }
    let run_id = summary["run_id"].as_str().unwrap();
    for index in 1..=2_usize {
        let record = json_of(&night.latest(&format!("{run_id}/iterations/iter-{index}.json")));
        assert_eq!(record, summary["iterations"][index - 1]);
        assert_eq!(record["id"], format!("{run_id}-iter-{index}"));
        assert_eq!(record["index"], index);
    }
    let log = fs::read_to_string(night.latest("overnight.log")).unwrap();
    assert_eq!(summary["runtime"]["log_path"], night.latest("overnight.log").to_str().unwrap());
    assert!(log.contains(run_id), "{log}");

    // Without a goal there is no step for it, and no artifact.
    night.run(&[]).expect(0);
    assert_eq!(step(&night.summary(), "knowledge-brief"), "");
    assert!(!night.latest("briefing.json").exists());
}

// proves: REP-02, REP-03, REP-04, REP-07, REP-08, REP-12, RUN-14
#[test]
fn the_summary_has_every_field_of_the_contract() {
    let night = Night::with_copies();
    let answer = night.run(&["--run-timeout", "1h30m"]).expect(0).json();
    let summary = night.summary();
    assert_eq!(answer["summary"], summary);
    for key in ["mode", "run_id", "goal", "repo_root", "output_dir", "status", "duration"] {
        assert!(summary[key].is_string(), "{key}");
    }
    assert_eq!((&summary["mode"], &summary["goal"]), (&"dream.local-bedtime".into(), &"".into()));
    assert_eq!((&summary["status"], &summary["dry_run"]), (&"done".into(), &false.into()));
    assert_eq!(summary["schema_version"], 2);
    for key in ["started_at", "finished_at"] {
        let at = summary[key].as_str().unwrap();
        assert!(at.parse::<jiff::Timestamp>().is_ok() && at.ends_with('Z'), "{at}");
    }
    for key in ["steps", "recommended", "iterations", "morning_packets"] {
        assert!(summary[key].is_array(), "{key}");
    }
    assert!(!summary["next_action"].as_str().unwrap().is_empty());
    let runtime = &summary["runtime"];
    assert_eq!(
        (&runtime["keep_awake"], &runtime["keep_awake_mode"]),
        (&false.into(), &"disabled".into())
    );
    assert_eq!(
        (&runtime["requested_timeout"], &runtime["effective_timeout"]),
        (&"1h30m0s".into(), &"1h30m0s".into())
    );
    assert!(runtime["lock_path"].as_str().unwrap().ends_with(".agents/overnight/run.lock"));
    for key in ["process_contract_doc", "report_contract_doc"] {
        let doc = fs::read_to_string(runtime[key].as_str().unwrap()).unwrap();
        assert!(doc.starts_with("# "), "{key}");
    }
    let first = &summary["iterations"][0];
    for key in ["id", "started_at", "finished_at", "duration", "status"] {
        assert!(first[key].is_string(), "{key}");
    }
    for key in ["ingest", "reduce", "measure", "fitness_before", "fitness_after"] {
        assert!(!first[key].as_object().unwrap().is_empty(), "{key}");
    }
    let moved = |metric: &str| {
        let at = |when: &str| first[when][metric].as_f64().unwrap();
        at("fitness_after") - at("fitness_before")
    };
    assert!((first["fitness_delta"].as_f64().unwrap() - moved("composite")).abs() < 1e-5);
    // At the top every metric is there, final minus initial.
    let top = summary["fitness_delta"].as_object().unwrap();
    assert_eq!(top.len(), first["fitness_after"].as_object().unwrap().len());
    for (metric, value) in top {
        assert!((value.as_f64().unwrap() - moved(metric)).abs() < 1e-5, "{metric}");
    }
    assert!(top["uniqueness"].as_f64().unwrap() > 0.0);
    assert!(summary.get("plateau_reason").is_none() && summary.get("regression_reason").is_none());
    // Eight hours unless something else is said.
    night.run(&[]).expect(0);
    assert_eq!(night.summary()["runtime"]["effective_timeout"], "8h0m0s");
}

// proves: LOOP-28
// pitfalls 4 and 9: everything is promoted and touched again on every iteration.
#[test]
fn the_second_night_changes_nothing_and_touches_nothing() {
    let night = Night::with_copies();
    for number in 0..10 {
        night.pending(number, &learning(50 + number));
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
        assert!(summary["iterations"][0].get("commit").is_none());
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
    ];
    for (path, seen) in &after {
        if !may.iter().any(|may| path.starts_with(may)) {
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

// proves: LOOP-27
#[test]
fn every_change_is_explained_and_can_be_read_as_a_diff() {
    let night = Night::with_copies();
    let before = contents(&night.repo.tree());
    night.run(&[]).expect(0);
    let first = &night.summary()["iterations"][0];
    let after = contents(&night.repo.tree());
    // An independent comparison of the trees finds the same changes.
    let is_held = |path: &&String| !path.starts_with("rpi/") && !path.starts_with("ao/");
    let changed = |path: &&String| before.get(*path) != after.get(*path);
    let mut seen: Vec<&String> =
        before.keys().chain(after.keys()).filter(is_held).filter(changed).collect();
    seen.sort();
    seen.dedup();
    let told = first["reduce"]["changes"].as_array().unwrap();
    let mut paths: Vec<&str> = told.iter().map(|c| c["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(paths, seen.iter().map(|path| path.as_str()).collect::<Vec<_>>());
    assert!(told.iter().all(|change| change["reason"].as_str().unwrap().len() > 10), "{told:#?}");
    let gone = told.iter().find(|c| c["path"] == "learnings/2026-03-02-copy.md").unwrap();
    assert_eq!(gone["op"], "delete");
    let commit = &first["commit"];
    let count = |name: &str| commit[name].as_u64().unwrap();
    assert_eq!(count("added") + count("changed") + count("deleted"), seen.len() as u64);
    let id = commit["id"].as_str().unwrap();
    let diff = night.repo.run(&["tree", "diff", id]).expect(0).stdout;
    for path in &seen {
        assert!(diff.contains(path.as_str()), "{path} in {diff}");
    }
}

// proves: LOOP-26
#[test]
fn an_empty_corpus_and_odd_numbers_have_defined_values() {
    let night = Night::with(0);
    night.run(&[]).expect(0);
    let summary = night.summary();
    assert_eq!((&summary["status"], statuses(&summary)), (&"done".into(), vec!["done"]));
    assert_eq!(step(&summary, "retrieval-live"), "soft-fail");
    assert!(!night.latest("retrieval-bench.json").exists());

    let night = Night::with_copies();
    night
        .repo
        .write("learnings/nan.md", "---\nid: n\nutility: .nan\nconfidence: 1e999\n---\n# N\n");
    night.run(&[]).expect(0);
    let record = &night.summary()["iterations"][0];
    for when in ["fitness_before", "fitness_after"] {
        let metrics = record[when].as_object().unwrap();
        assert!(metrics.len() > 4, "{metrics:?}");
        for (name, value) in metrics {
            let value = value.as_f64().unwrap_or_else(|| panic!("{name} is {value}"));
            assert!((0.0..=1.0).contains(&value), "{name} is {value}");
        }
    }
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

// proves: RUN-01, RUN-02, RUN-03
#[test]
fn run_is_start_flag_for_flag() {
    let night = Night::with(3);
    let help = |verb: &str| night.repo.run(&["overnight", verb, "--help"]).expect(0).stdout;
    let flags = help("start");
    assert_eq!(help("run").replace("overnight run", "overnight start"), flags);
    for flag in [
        "--goal",
        "--output-dir",
        "--run-timeout",
        "--keep-awake",
        "--no-keep-awake",
        "--runner",
        "--creative-lane",
        "--queue",
        "--max-iterations",
        "--plateau-epsilon",
        "--plateau-window",
        "--warn-only",
        "--checkpoint-max-mb",
        "--long-haul",
        "--resume",
    ] {
        assert!(
            flags.contains(&format!("{flag} "))
                || flags.contains(&format!("{flag}\n"))
                || flags.contains(&format!("{flag}[")),
            "{flag}"
        );
    }
    let queue = night.aside.path().join("queue.md");
    fs::write(&queue, "- Look at the lint gate\n").unwrap();
    let start = [
        "--json",
        "overnight",
        "run",
        "--goal",
        "calm",
        "--run-timeout",
        "45s",
        "--no-keep-awake",
        "--queue",
        queue.to_str().unwrap(),
        "--max-iterations",
        "2",
        "--plateau-epsilon",
        "0.5",
        "--plateau-window",
        "3",
        "--warn-only=false",
        "--checkpoint-max-mb",
        "9",
    ];
    let told: Value = night.repo.run(&start).expect(0).json();
    assert_eq!(told["summary"]["goal"], "calm");
    assert_eq!(told["summary"]["runtime"]["effective_timeout"], "45s");
    assert_eq!(told["summary"]["warn_only"], false);
    for flag in [&["--runner", "claude"][..], &["--creative-lane"], &["--long-haul"]] {
        let refused = night.run(flag).expect(2);
        assert!(
            refused.stderr.contains(flag[0]) && refused.stderr.contains("no runners"),
            "{refused}"
        );
    }
    for bad in [
        &["--plateau-epsilon", "0"][..],
        &["--plateau-epsilon", "NaN"],
        &["--plateau-epsilon", "-1"],
        &["--plateau-window", "1"],
        &["--run-timeout", "0s"],
        &["--run-timeout", "-1h"],
        &["--run-timeout", "49h"],
        &["--run-timeout", "eight"],
        &["--max-iterations", "-1"],
        &["--warn-only=maybe"],
    ] {
        night.run(bad).expect(2);
    }
}

// proves: LOOP-19, REP-16
// pitfall 20: a queue that is parsed and ignored.
#[test]
fn what_the_operator_pins_comes_first_and_in_its_order() {
    let night = Night::with_copies();
    for number in 0..3 {
        let text = format!(
            "---\nid: f{number}\nseverity: critical\nstatus: open\ndate: 2026-03-01\n---\n# Finding {number}\n\n{}",
            crate::night::text(900 + number)
        );
        night.repo.write(&format!("findings/f-2026-03-01-00{number}.md"), &text);
    }
    let queue = night.aside.path().join("tonight.md");
    fs::write(&queue, "# Tonight\n\n- Second thoughts on the relay [severity: low]\n  It drops mail.\n2. Then the crawler\n").unwrap();
    night.run(&["--queue", queue.to_str().unwrap()]).expect(0);
    let summary = night.summary();
    let titles = |summary: &Value| -> Vec<String> {
        let all = summary["morning_packets"].as_array().unwrap();
        all.iter().map(|packet| packet["title"].as_str().unwrap().to_owned()).collect()
    };
    let seen = titles(&summary);
    assert_eq!(&seen[..2], ["Second thoughts on the relay", "Then the crawler"], "{seen:?}");
    assert!(seen.len() > 2, "the night's own work comes after: {seen:?}");
    // Once in the queue, and once only, night after night.
    let queued = night.repo.read("rpi/next-work.jsonl");
    assert_eq!(queued.matches("Second thoughts on the relay").count(), 1, "{queued}");
    night.run(&["--queue", queue.to_str().unwrap()]).expect(0);
    assert_eq!(night.repo.read("rpi/next-work.jsonl"), queued);
    let missing = night.run(&["--queue", "/nowhere/queue.md"]).expect(2);
    assert!(missing.stderr.contains("/nowhere/queue.md"), "{missing}");
}
