//! The evening before: what the plan says is what the night does, and the plan does nothing.

use std::fs;

use serde_json::Value;

use crate::night::{Night, learning};

fn plan(night: &Night, more: &[&str]) -> Value {
    night.repo.run(&[&["--json", "overnight", "plan"], more].concat()).expect(0).json()
}

/// Something of everything: copies, pending ones, one that has had its day, and another repository.
fn busy() -> Night {
    let night = Night::with(12);
    night.repo.write("learnings/2026-03-02-copy.md", &learning(1));
    night.repo.write("learnings/2026-03-02-other-copy.md", &learning(2));
    night.pending(1);
    night.pending(2);
    let over = "---\nid: f-1\ndate: 2026-01-01\nttl_days: 10\n---\n# Finding: the old mail relay loses mail\n";
    night.repo.write("findings/f-2026-01-01-001.md", over);
    let old = learning(41).replacen("utility: 0.7", "superseded_by: learning-3", 1);
    night.repo.write("learnings/2026-03-01-superseded.md", &old);
    night.harvest_from(5, |number| {
        (format!("learnings/2026-03-03-theirs-{number}.md"), learning(1000 + number))
    });
    night
}

// proves: LOOP-27
#[test]
fn the_plan_and_the_night_agree_edit_by_edit() {
    let night = busy();
    let before = night.all_files();
    let planned = plan(&night, &[]);
    assert_eq!(night.all_files(), before, "the plan left something behind");
    night.run(&[]).expect(0);
    let summary = night.summary();
    let done = &summary["iterations"][0];
    assert_eq!(planned["edits"], done["reduce"]["changes"], "{planned:#}");
    let edits = planned["edits"].as_array().unwrap().len();
    assert!(edits > 10, "{planned:#}");
    // Each of them is in the commit, and nothing else is.
    let id = done["commit"]["id"].as_str().unwrap();
    let shown = night.repo.run(&["--json", "tree", "show", id]).expect(0).json();
    let paths = |all: &Value| {
        let mut paths: Vec<String> = all
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["path"].as_str().unwrap().into())
            .collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(&planned["edits"]), paths(&shown["record"]["changes"]), "{shown:#}");
    for (kind, count) in [("merges", 2), ("promotions", 2), ("harvested", 3)] {
        assert_eq!(planned["examples"][kind].as_array().unwrap().len(), count, "{kind}");
    }
    assert!(!planned["examples"]["prunes"].as_array().unwrap().is_empty(), "{planned:#}");
    assert_eq!(planned["first_iteration"]["fate"], "committed");
    let sources = &planned["sources"];
    assert_eq!((&sources["pending"], &sources["harvest_entries"]), (&2.into(), &5.into()));
    let steps: Vec<&str> = summary["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["name"].as_str().unwrap())
        .filter(|name| !name.starts_with("iteration-"))
        .collect();
    assert_eq!(planned["steps"], serde_json::json!(steps));
}

/// The first of several iterations is the one that is planned, and that others follow is said.
#[test]
fn the_plan_of_a_night_with_more_iterations_is_its_first() {
    let night = Night::with_copies();
    night.harvest_rounds(2);
    let before = night.all_files();
    let planned = plan(&night, &[]);
    assert_eq!(night.all_files(), before, "the plan left something behind");
    assert_eq!(planned["more_to_harvest"], true);
    let text = night.repo.run(&["overnight", "plan"]).expect(0).stdout;
    assert!(text.contains("further iterations follow"), "{text}");
    night.run(&["--max-iterations", "1"]).expect(0);
    let first = &night.summary()["iterations"][0];
    assert_eq!(planned["edits"], first["reduce"]["changes"]);
    // The plan of the evening after is what the second one would have been.
    let planned = plan(&night, &[]);
    night.run(&[]).expect(0);
    let summary = night.summary();
    assert_eq!(planned["edits"], summary["iterations"][0]["reduce"]["changes"]);
    assert!(summary["iterations"].as_array().unwrap().len() > 1, "{summary:#}");
}

#[test]
fn a_plan_takes_no_lock_and_leaves_nothing_where_nothing_was() {
    let night = Night::with_copies();
    let before = night.all_files();
    plan(&night, &[]);
    night.repo.run(&["overnight", "plan"]).expect(0);
    assert_eq!(night.all_files(), before);
    assert!(!night.repo.exists("overnight"));
    // While a run is at work there is a plan, too.
    let held = night.held_at("reduce", &[]);
    let told = plan(&night, &[]);
    assert_eq!(told["first_iteration"]["edits"], 2, "{told:#}");
    held.go_on().expect(0);
}

#[test]
fn a_night_with_nothing_new_is_planned_as_one() {
    let night = Night::with_copies();
    let told = plan(&night, &[]);
    assert_eq!(told["estimate"], Value::Null);
    let text = night.repo.run(&["overnight", "plan"]).expect(0).stdout;
    assert!(text.contains("no earlier night tells how long"), "{text}");
    night.run(&[]).expect(0);
    // The files must have come of age.
    std::thread::sleep(std::time::Duration::from_millis(50));
    night.run(&[]).expect(0);
    let told = plan(&night, &[]);
    night.run(&[]).expect(0);
    let summary = night.summary();
    assert_eq!(told["unchanged_since"], summary["unchanged_since"]["run_id"], "{told:#}");
    assert!(told["unchanged_since"].is_string() && told["edits"] == serde_json::json!([]));
    let told = plan(&night, &["--full"]);
    assert_eq!(told["unchanged_since"], Value::Null);
    assert_eq!(told["first_iteration"]["fate"], "nothing-to-do");
    assert_eq!(told["estimate"]["nights"], 2, "{told:#}");
}

#[test]
fn a_halt_is_foreseen() {
    let night = Night::with(30);
    night.harvest_regressions(0, 2);
    let told = plan(&night, &["--warn-only=false"]);
    assert_eq!(told["first_iteration"]["fate"], "halted", "{told:#}");
    assert!(told["first_iteration"]["why"].as_str().unwrap().contains("freshness dropped"));
    assert_eq!(told["more_to_harvest"], true);
    assert_eq!(plan(&night, &[])["first_iteration"]["fate"], "committed-with-a-rescue");
    night.run(&["--warn-only=false"]).expect(4);
}

#[test]
fn runners_are_looked_at_and_not_asked() {
    let night = Night::with_copies();
    let program = night.aside.path().join("agent");
    let mark = night.aside.path().join("was-started");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    let mut permissions = fs::metadata(&program).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&program, permissions).unwrap();
    night.configure(&format!(
        "runners:\n  mine:\n    kind: command\n    command: [{:?}]\n",
        program.display().to_string()
    ));
    let told = plan(&night, &["--runner", "mine", "--runner", "nobody"]);
    let runners = told["runners"].as_array().unwrap();
    assert_eq!((&runners[0]["name"], &runners[0]["looks_usable"]), (&"mine".into(), &true.into()));
    assert_eq!(runners[1]["looks_usable"], false);
    assert!(runners[1]["trouble"].is_string() && runners[0]["budget"]["tokens"].is_u64());
    assert!(!mark.exists(), "it was started");
    assert!(told["steps"].to_string().contains("council-mine"), "{told:#}");
}

#[test]
fn where_there_is_nothing_to_plan_it_says_so() {
    let night = Night::with(0);
    let told = plan(&night, &[]);
    assert_eq!(
        (&told["sources"]["entries"], &told["first_iteration"]["edits"]),
        (&0.into(), &0.into())
    );
    fs::remove_dir_all(night.repo.agents()).unwrap();
    night.repo.run(&["overnight", "plan"]).expect(6);
}
