//! What an iteration does, and what a night writes down.

use std::fs;
use std::path::Path;

use crate::night::{Night, json_of, learning, statuses, step};
use crate::repo::contents;

// proves: LOOP-01, LOOP-02, LOOP-03
#[test]
fn the_stages_follow_one_another_and_nothing_is_written_before_the_last() {
    for (place, stage) in
        [("ingest", "ingest"), ("reduce", "reduce"), ("measure", "measure"), ("commit", "commit")]
    {
        let night = Night::with_copies();
        // A copy that says less of where it comes from: with it the corpus measures otherwise.
        let copy = learning(1).replacen("source_session: s-1\n", "", 1);
        night.repo.write("learnings/2026-03-02-copy.md", &copy);
        let (before, folders) = (night.repo.tree(), night.repo.folders());
        let held = night.held_at(place, &[]);
        // Later than its last word by no more than a tick.
        crate::repo::wait_until("the stage is told", || {
            let now = night.repo.run(&["--json", "overnight", "status"]).expect(0).json();
            now["run"]["stage"] == stage && now["run"]["iteration"] == 1
        });
        assert_eq!(night.repo.tree(), before, "{place}");
        assert_eq!(night.repo.folders(), folders, "{place}");
        held.go_on().expect(0);
        assert!(!night.repo.exists("learnings/2026-03-02-copy.md"));
        let first = &night.summary()["iterations"][0];
        // What was measured before the commit is what is there after it, to a command that reads the tree anew. It
        // asks other questions, so retrieval is left out.
        let health = night.repo.run(&["--json", "metrics", "health"]).expect(0).json();
        for metric in ["uniqueness", "provenance", "freshness", "maturity", "findings"] {
            let live = &health["fitness"]["metrics"][metric];
            assert_eq!(&first["fitness_after"][metric], live, "{place}: {metric}");
        }
        assert_ne!(first["fitness_after"]["uniqueness"], first["fitness_before"]["uniqueness"]);
        // The checkpoint of its entry is what an undo goes back to.
        night.repo.run(&["tree", "undo", first["id"].as_str().unwrap()]).expect(0);
        assert_eq!(contents(&night.repo.tree()), contents(&before), "{place}");
    }
}

// proves: RUN-19, RUN-26, RUN-27
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
        let file_named = Path::new(summary["artifacts"][key].as_str().unwrap());
        assert!(
            file_named.is_absolute() && file_named.ends_with(file),
            "{key}: {}",
            file_named.display()
        );
        assert!(fs::metadata(file_named).unwrap().len() > 0, "{key}");
    }
    assert_eq!(summary["artifacts"].as_object().unwrap().len(), 9);
    for step in summary["steps"].as_array().unwrap() {
        if let Some(file) = step["artifact"].as_str() {
            assert!(Path::new(file).is_file(), "{file}");
        }
    }
    // Without a goal there is no step for it, and no artifact.
    night.run(&[]).expect(0);
    assert_eq!(step(&night.summary(), "knowledge-brief"), "");
    assert!(!night.latest("briefing.json").exists());
}

// proves: RUN-13, RUN-28, RUN-29
#[test]
fn packets_iterations_and_the_log_have_files_of_their_own() {
    let night = Night::with_copies();
    night.run(&[]).expect(0);
    let summary = night.summary();
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
}

// proves: REP-02, REP-07, REP-08, REP-12
#[test]
fn the_summary_has_every_field_of_the_contract() {
    let night = Night::with_copies();
    let answer = night.run(&[]).expect(0).json();
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
    let first = &summary["iterations"][0];
    for (index, iteration) in (1..).zip(summary["iterations"].as_array().unwrap()) {
        assert_eq!(iteration["index"], index);
        for key in ["id", "started_at", "finished_at", "duration", "status"] {
            assert!(iteration[key].is_string(), "{key}");
        }
        assert!(iteration["fitness_delta"].is_number() && iteration["degraded"].is_array());
        // It is there where something went wrong, and nowhere else.
        assert!(iteration.get("error").is_none(), "{iteration:#}");
    }
    assert_eq!(statuses(&summary), ["done", "done"]);
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
}

/// The two documents that a report names are there, each about its own subject.
#[track_caller]
fn names_its_documents(runtime: &serde_json::Value) {
    let docs = ["process_contract_doc", "report_contract_doc"].map(|key| {
        let doc = runtime[key].as_str().unwrap();
        fs::read_to_string(doc).unwrap_or_else(|error| panic!("{key}, {doc}: {error}"))
    });
    assert!(docs.iter().all(|doc| doc.starts_with("# ")) && docs[0] != docs[1]);
}

/// A dry run leaves nothing in the repository, and what its report names is there all the same.
// proves: REP-04
#[test]
fn the_documents_of_a_dry_run_are_real() {
    let night = Night::with_copies();
    let elsewhere = night.aside.path().join("dry");
    let before = night.all_files();
    let folder = elsewhere.to_str().unwrap();
    let dry = ["--json", "--dry-run", "overnight", "start", "--output-dir", folder];
    night.repo.run(&dry).expect(0);
    assert_eq!(night.all_files(), before);
    names_its_documents(&json_of(&elsewhere.join("summary.json"))["runtime"]);
    // They go with the report when the next run takes the folder.
    let first = json_of(&elsewhere.join("summary.json"));
    night.repo.run(&dry).expect(0);
    let moved = elsewhere.join(first["run_id"].as_str().unwrap());
    let runtime = json_of(&moved.join("summary.json"))["runtime"].clone();
    names_its_documents(&runtime);
    assert!(runtime["report_contract_doc"].as_str().unwrap().starts_with(moved.to_str().unwrap()));
}

// proves: REP-04, RUN-14
#[test]
fn the_summary_says_how_the_run_was_run() {
    let night = Night::with_copies();
    night.run(&["--run-timeout", "1h30m"]).expect(0);
    let runtime = night.summary()["runtime"].clone();
    assert_eq!(
        (&runtime["keep_awake"], &runtime["keep_awake_mode"]),
        (&false.into(), &"disabled".into())
    );
    assert_eq!(
        (&runtime["requested_timeout"], &runtime["effective_timeout"]),
        (&"1h30m0s".into(), &"1h30m0s".into())
    );
    for (key, path) in [("lock_path", "run.lock"), ("log_path", "latest/overnight.log")] {
        let path = night.repo.state(path).canonicalize().unwrap();
        assert_eq!(runtime[key].as_str(), path.to_str(), "{key}");
    }
    names_its_documents(&runtime);
    // Eight hours unless something else is said.
    night.run(&[]).expect(0);
    assert_eq!(night.summary()["runtime"]["effective_timeout"], "8h0m0s");
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
