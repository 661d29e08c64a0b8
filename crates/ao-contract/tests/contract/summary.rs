use ao_contract::{Iteration, IterationStatus, RunStatus, Summary, check, read};
use serde_json::{Value, json};

use crate::samples;

const V2_FIELDS: [&str; 7] = [
    "iterations",
    "fitness_delta",
    "plateau_reason",
    "regression_reason",
    "yield",
    "long_haul",
    "morning_packets",
];

#[test]
fn the_version_follows_from_the_content() {
    let full = samples::named("summary.v2.json").value;
    for field in V2_FIELDS {
        let mut v1 = samples::named("summary.v1.json").value;
        assert_eq!(read::<Summary>(&v1).unwrap().expected_version(), 1);
        v1[field] = full[field].clone();
        assert!(check("summary", &v1).is_err(), "version 1 with {field}");
        v1["schema_version"] = json!(2);
        assert_eq!(read::<Summary>(&v1).unwrap().expected_version(), 2, "{field}");
    }
}

/// An existing tool writes 2 into the planned report, where no field of version 2 is yet.
#[test]
fn version_2_without_its_fields_is_read() {
    let mut planned = samples::named("summary.v1.json").value;
    planned["schema_version"] = json!(2);
    planned["status"] = json!("planned");
    assert_eq!(read::<Summary>(&planned).unwrap().status, RunStatus::Planned);
}

/// Existing tools leave out what is empty. What is written back is whole.
#[test]
fn a_summary_without_its_empty_fields_is_read_and_completed() {
    let whole = samples::named("summary.v1.json").value;
    let mut sparse = whole.clone();
    for field in ["goal", "finished_at", "duration", "artifacts", "recommended", "next_action"] {
        sparse.as_object_mut().unwrap().shift_remove(field);
    }
    assert!(!samples::validator("summary").is_valid(&sparse));
    let written = check("summary", &sparse).unwrap();
    assert_eq!(written["goal"], "");
    assert_eq!(written["artifacts"], json!({}));
    assert!(whole.as_object().unwrap().keys().all(|key| written.get(key).is_some()));
}

/// One report of an older runner must not cost the whole summary.
#[test]
fn an_old_council_report_does_not_spoil_the_summary() {
    let mut summary = samples::named("summary.v2.json").value;
    assert!(read::<Summary>(&summary).unwrap().council().unwrap().is_ok());
    let report = &mut summary["council"]["reports"][0];
    report.as_object_mut().unwrap().shift_remove("wildcard_idea");
    let council = read::<Summary>(&summary).unwrap().council().unwrap();
    assert_eq!(council.unwrap_err().path, "reports[0]");
}

/// Existing tools draw their landscape from other data; what `ao` writes is its own.
#[test]
fn a_landscape_of_another_tool_does_not_spoil_the_summary() {
    let mut summary = samples::named("summary.v2.json").value;
    let own = read::<Summary>(&summary).unwrap().dreamscape().unwrap().unwrap();
    assert_eq!(own.topics[0].name, "ci");
    summary["dreamscape"] = json!({ "weather": "steady", "terrain": ["ridge", "valley"] });
    let other = read::<Summary>(&summary).unwrap();
    assert!(other.dreamscape().unwrap().is_err());
    assert_eq!(check("summary", &summary).unwrap()["dreamscape"], summary["dreamscape"]);
    assert!(!samples::validator("summary").is_valid(&summary));
}

#[test]
fn two_statuses_are_baselines() {
    let baselines = [IterationStatus::Done, IterationStatus::HaltedOnRegressionPostCommit];
    let statuses = [
        "done",
        "degraded",
        "rolled-back-pre-commit",
        "halted-on-regression-pre-commit",
        "halted-on-regression-post-commit",
        "failed",
    ];
    for status in statuses {
        let status: IterationStatus = read(&Value::from(status)).unwrap();
        assert_eq!(status.is_baseline(), baselines.contains(&status), "{status:?}");
    }
}

/// The maps of existing tools hold more than numbers.
#[test]
fn what_is_no_number_is_no_metric() {
    let mut value = samples::named("iteration.json").value;
    value["fitness_after"] = json!({ "composite": 0.5, "unresolved": ["a"], "n": 1 });
    let iteration: Iteration = read(&value).unwrap();
    assert_eq!(iteration.fitness_after.get("composite"), Some(0.5));
    assert_eq!(iteration.fitness_after.get("unresolved"), None);
    assert_eq!(
        iteration.fitness_after.iter().collect::<Vec<_>>(),
        [("composite", 0.5), ("n", 1.0)]
    );
}
