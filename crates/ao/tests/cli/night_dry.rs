//! A dry run does everything but the commit, and leaves nothing but its output directory.

use std::fs;

use crate::night::{Night, json_of, statuses};
use crate::repo::contents;

fn dry(night: &Night, more: &[&str]) -> crate::repo::Ran {
    night.repo.run(&[&["--json", "--dry-run", "overnight", "start"], more].concat())
}

// proves: REP-03
#[test]
fn a_dry_run_leaves_nothing_but_its_output_directory() {
    let night = Night::with_copies();
    night.harvest_rounds(1);
    night.pending(1);
    let elsewhere = night.aside.path().join("dry");
    let before = night.all_files();
    let told = dry(&night, &["--output-dir", elsewhere.to_str().unwrap()]).expect(0).json();
    assert_eq!(night.all_files(), before);
    let summary = json_of(&elsewhere.join("summary.json"));
    assert_eq!((&summary["status"], &summary["dry_run"]), (&"dry-run".into(), &true.into()));
    assert_eq!(statuses(&summary), ["done"]);
    assert_eq!(summary["iterations"][0]["committed"], false);
    let diff = told["diff"].as_str().unwrap();
    assert!(diff.contains("learnings/2026-03-02-copy.md"), "{diff}");
    assert!(diff.contains("learnings/2026-03-03-theirs-1.md"), "{diff}");
    // The default directory is in the repository: then that is all there is of it.
    dry(&night, &[]).expect(0);
    let mut after = night.all_files();
    after.retain(|path, _| !path.starts_with(".agents/overnight/"));
    assert_eq!(after, before);
    for entry in fs::read_dir(night.repo.state("")).unwrap() {
        assert_eq!(entry.unwrap().file_name(), "latest");
    }
}

#[test]
fn a_night_does_what_the_dry_run_said() {
    let night = Night::with_copies();
    night.pending(1);
    let told = dry(&night, &[]).expect(0).json();
    night.run(&["--max-iterations", "1"]).expect(0);
    let real = night.summary();
    let changes = |iteration: &serde_json::Value| iteration["reduce"]["changes"].clone();
    let first = &real["iterations"][0];
    assert_eq!(changes(&told["summary"]["iterations"][0]), changes(first));
    assert_eq!(told["summary"]["iterations"][0]["fitness_after"], first["fitness_after"]);
    // The dry run's report was moved to a folder of its own.
    let id = told["summary"]["run_id"].as_str().unwrap();
    assert_eq!(json_of(&night.latest(&format!("{id}/summary.json")))["status"], "dry-run");
}

#[test]
fn a_dry_run_that_regresses_spends_no_rescue() {
    let night = Night::with(30);
    night.harvest_regressions(0, 1);
    let before = contents(&night.repo.tree());
    dry(&night, &[]).expect(0);
    let shown = night.repo.run(&["--json", "overnight", "warn-only", "show"]).expect(0).json();
    assert_eq!(shown["budget"]["remaining"], 3);
    dry(&night, &["--warn-only=false"]).expect(4);
    assert_eq!(contents(&night.repo.tree()), before);
    let refused = night.run(&["--resume"]).expect(2);
    assert!(refused.stderr.contains("dry run"), "{refused}");
}
