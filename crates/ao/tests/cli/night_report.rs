//! What a night's report is made of, and who reads it.

use std::fs;

use serde_json::Value;

use crate::repo::{Ran, TestRepo, in_shell};

fn lesson(topic: &str, nth: usize) -> String {
    format!(
        "---\ndate: 2026-04-{:02}\ntags: [{topic}]\n---\n# Learning: {topic} case {nth}\n\nIn run {} the {topic} of \
         service s{nth} lost {} of its {} lines before the retry.\n",
        1 + nth % 28,
        100 + nth * 7,
        nth + 3,
        nth * 11 + 40
    )
}

/// A repository with so many entries a topic, after a night.
fn slept(topics: &[(&str, usize)]) -> (TestRepo, Value) {
    let repo = TestRepo::new();
    for (topic, count) in topics {
        for nth in 0..*count {
            repo.write(&format!("learnings/2026-04-01-{topic}-{nth}.md"), &lesson(topic, nth));
        }
    }
    repo.run(&["overnight", "start", "--no-keep-awake"]).expect(0);
    let summary = serde_json::from_str(&repo.read("overnight/latest/summary.json")).unwrap();
    (repo, summary)
}

fn topic<'a>(summary: &'a Value, name: &str) -> &'a Value {
    let topics = summary["dreamscape"]["topics"].as_array().unwrap();
    topics.iter().find(|topic| topic["name"] == name).unwrap_or_else(|| panic!("{summary:#}"))
}

/// The rows of the picture's table, by their topics.
fn rows(report: &str, name: &str) -> Vec<String> {
    let is_of = |line: &&str| line.split_whitespace().nth(1) == Some(name);
    report.lines().filter(is_of).map(str::to_owned).collect()
}

/// Two corpora that differ in the size of one topic give landscapes that differ there, and nowhere
/// else; the legend has the numbers of the summary.
// proves: REP-14
#[test]
fn the_landscape_is_drawn_from_the_corpus() {
    let (small, before) = slept(&[("network", 6), ("storage", 6)]);
    let (large, after) = slept(&[("network", 6), ("storage", 12)]);
    assert_eq!(topic(&before, "network")["entries"], topic(&after, "network")["entries"]);
    assert_eq!(topic(&before, "storage")["entries"], 6);
    assert_eq!(topic(&after, "storage")["entries"], 12);
    let reports = [&small, &large].map(|repo| repo.run(&["overnight", "report"]).expect(0).stdout);
    let [drawn_before, drawn_after] = &reports;
    let sizes = |report: &str, name: &str| -> Vec<String> {
        let row = rows(report, name).pop().unwrap_or_else(|| panic!("{report}"));
        row.split_whitespace().take(3).map(str::to_owned).collect()
    };
    assert_eq!(sizes(drawn_before, "network")[2], sizes(drawn_after, "network")[2]);
    assert_eq!(sizes(drawn_before, "storage")[2], "6");
    assert_eq!(sizes(drawn_after, "storage")[2], "12");
    // The mountains themselves, above the names.
    let mountains = |report: &str| -> Vec<String> {
        let is_ground = |line: &&str| line.contains(['▓', '▒', '░']) && !line.contains('.');
        report.lines().filter(is_ground).map(str::to_owned).collect()
    };
    assert_ne!(mountains(drawn_before), mountains(drawn_after));
    for (summary, report) in [(&before, drawn_before), (&after, drawn_after)] {
        let composite = summary["metrics_health"]["fitness"]["composite"].to_string();
        let legend = report.lines().find(|line| line.starts_with("composite  ")).unwrap();
        assert!(legend.contains(&composite), "{legend} {composite}");
    }
}

/// Every view reads the summary and nothing else: what is changed there is shown, what the other
/// files of the run say is not, and they may be gone.
// proves: REP-01
#[test]
fn every_view_reads_the_summary() {
    let (repo, mut summary) = slept(&[("network", 4)]);
    let before = repo.run(&["overnight", "report", "--format", "md"]).expect(0).stdout;
    summary["next_action"] = "Water the plants on floor 7".into();
    repo.write("overnight/latest/summary.json", &summary.to_string());
    let first = summary["morning_packets"][0]["title"].as_str().unwrap().to_owned();
    let packets = summary["morning_packets"].as_array().unwrap();
    let named = packets.iter().map(|packet| packet["artifact_path"].as_str().unwrap());
    let others = [
        "summary.md",
        "close-loop.json",
        "metrics-health.json",
        "retrieval-bench.json",
        "defrag/latest.json",
        "morning-packets/index.json",
        "morning-packets/index.md",
    ];
    let views = || {
        ["md", "text", "json"].map(|format| {
            let shown = repo.run(&["overnight", "report", "--format", format]).expect(0).stdout;
            assert!(shown.contains("Water the plants on floor 7"), "{format}: {shown}");
            assert!(!shown.contains("Paint the fence"), "{format}: {shown}");
            assert!(shown.contains(&first), "{format}: {shown}");
            shown
        })
    };
    let as_they_were = views();
    for name in others {
        let told = r#"{"next_action":"Paint the fence","status":"failed"}"#;
        repo.write(&format!("overnight/latest/{name}"), told);
    }
    // What another reader would believe: packets that are whole, and say something else.
    for path in named {
        let packet = fs::read_to_string(path).unwrap();
        fs::write(path, packet.replace(&first, "Paint the fence")).unwrap();
    }
    assert_eq!(views(), as_they_were);
    for name in others {
        fs::remove_file(repo.state("latest").join(name)).unwrap();
    }
    assert_eq!(views(), as_they_were);
    let after = repo.run(&["overnight", "report", "--format", "md"]).expect(0).stdout;
    let told = |report: &str| report.lines().filter(|line| !line.contains("plants")).count();
    assert!(told(&before).abs_diff(told(&after)) <= 1, "{after}");
}

/// `summary.md` says of a run what every other view says of it.
// proves: REP-01
#[test]
fn the_text_is_the_summary_for_people() {
    let (repo, summary) = slept(&[("network", 4)]);
    assert!(!summary["recommended"].as_array().unwrap().is_empty());
    // Only a reader makes the checks of the packets again.
    let is_check = |line: &&str| line.contains("hecked again");
    let lines = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !is_check(line)).map(str::to_owned).collect()
    };
    let shown = repo.run(&["overnight", "report", "--format", "md"]).expect(0).stdout;
    assert_eq!(lines(&repo.read("overnight/latest/summary.md")), lines(&shown));
}

/// Each step has its name and how it ended, and beside these only what the contract knows.
// proves: REP-05
#[test]
fn a_step_has_a_name_and_a_status() {
    let (_repo, summary) = slept(&[("network", 4)]);
    let steps = summary["steps"].as_array().unwrap();
    assert!(steps.len() >= 7, "{summary:#}");
    for step in steps {
        assert!(step["name"].as_str().is_some_and(|name| !name.is_empty()), "{step}");
        let status = step["status"].as_str().unwrap();
        // Nothing here can fail but beads, for which there is no program.
        let is_bead = step["name"] == "bead-sync";
        assert_eq!(status, if is_bead { "soft-fail" } else { "done" }, "{step}");
        for (key, value) in step.as_object().unwrap() {
            let known = ["name", "status", "command", "artifact", "note"];
            assert!(known.contains(&key.as_str()) && value.is_string(), "{step}");
        }
        if let Some(artifact) = step["artifact"].as_str() {
            assert!(std::path::Path::new(artifact).is_file(), "{step}");
        }
    }
}

/// A command of a step does the same by hand, whatever the goal says; a step that could not write its
/// file names none.
// proves: REP-05
#[test]
fn the_commands_of_steps_run_as_they_stand() {
    let repo = TestRepo::new();
    let goal = "it's \"calm\"; $(touch pwned) `touch pwned` # all night";
    let start = ["overnight", "start", "--no-keep-awake", "--goal", goal];
    let mut night = repo.command(&start);
    night.env("AO_NIGHT_FAULT", "write-defrag-preview");
    Ran::of(night.output().unwrap()).expect(0);
    let summary: Value = serde_json::from_str(&repo.read("overnight/latest/summary.json")).unwrap();
    let mut commands = 0;
    for step in summary["steps"].as_array().unwrap() {
        if let Some(artifact) = step["artifact"].as_str() {
            assert!(std::path::Path::new(artifact).is_file(), "{step}");
        }
        let Some(command) = step["command"].as_str() else { continue };
        let ran = in_shell(&repo, command).expect(0);
        // Each prints what the step found, as JSON.
        assert!(ran.json().is_object(), "{command}: {ran}");
        commands += 1;
    }
    assert_eq!(commands, 5, "{summary:#}");
    assert!(!repo.root().join("pwned").exists());
}

/// Topics that differ in nothing but their days have another ground.
// proves: REP-14
#[test]
fn what_is_old_is_drawn_as_bare() {
    let repo = TestRepo::new();
    for nth in 0..6 {
        let old = lesson("storage", nth).replacen("2026-04", "2025-01", 1);
        repo.write(&format!("learnings/2025-01-01-storage-{nth}.md"), &old);
        repo.write(&format!("learnings/2026-04-01-network-{nth}.md"), &lesson("network", nth));
    }
    repo.run(&["overnight", "start", "--no-keep-awake"]).expect(0);
    let summary: Value = serde_json::from_str(&repo.read("overnight/latest/summary.json")).unwrap();
    let report = repo.run(&["overnight", "report"]).expect(0).stdout;
    for (name, ground, fresh) in [("storage", "░", 0.0), ("network", "▓", 1.0)] {
        assert_eq!(topic(&summary, name)["freshness"].as_f64(), Some(fresh), "{summary:#}");
        let row = rows(&report, name).pop().unwrap_or_else(|| panic!("{report}"));
        assert!(row.starts_with(ground), "{row}");
    }
    let mountains = report.lines().filter(|line| line.contains("░░░") && line.contains("▓▓▓"));
    assert!(mountains.count() > 3, "{report}");
}
