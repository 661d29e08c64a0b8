//! What every `summary.json` has, however its run ended.

use std::path::Path;

use serde_json::{Value, json};

use crate::night::{Night, json_of};
use crate::repo::TestRepo;

const V1: &str = include_str!("../../../ao-contract/tests/samples/summary.v1.json");
const V2: &str = include_str!("../../../ao-contract/tests/samples/summary.v2.json");

/// What version 2 added.
const V2_FIELDS: [&str; 7] = [
    "iterations",
    "fitness_delta",
    "plateau_reason",
    "regression_reason",
    "yield",
    "long_haul",
    "morning_packets",
];

/// The fields of version 1, each with its type.
#[track_caller]
fn has_every_field(summary: &Value, (night, folder): (&Night, &Path)) {
    let text = |key: &str| {
        summary[key].as_str().unwrap_or_else(|| panic!("{key} is no text: {summary:#}")).to_owned()
    };
    assert!(summary["schema_version"].is_u64() && summary["dry_run"].is_boolean(), "{summary:#}");
    assert_eq!(text("mode"), "dream.local-bedtime");
    assert!(!text("run_id").is_empty());
    assert_eq!(text("repo_root"), night.repo.root().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(text("output_dir"), folder.canonicalize().unwrap().to_str().unwrap());
    let moment = |key: &str| {
        let at = text(key);
        assert!(at.ends_with('Z'), "{key}: {at}");
        at.parse::<jiff::Timestamp>().unwrap_or_else(|error| panic!("{key}: {error}"))
    };
    assert!(moment("started_at") <= moment("finished_at"));
    // As people write it: numbers with their units.
    let duration = text("duration");
    assert!(
        duration.ends_with('s') && ao_contract::parse_duration(&duration).is_ok(),
        "{duration}"
    );
    assert!(summary["runtime"].is_object() && summary["artifacts"].is_object(), "{summary:#}");
    for key in ["steps", "recommended"] {
        assert!(summary[key].is_array(), "{key}: {summary:#}");
    }
    let _ = (text("status"), text("goal"), text("next_action"));
}

// proves: REP-02, REP-03
#[test]
fn a_summary_has_every_field_of_version_1_however_the_run_ended() {
    let night = Night::with_copies();
    let latest = night.latest("");
    let held = night.held_at("reduce", &[]);
    let planned = night.summary();
    has_every_field(&planned, (&night, &latest));
    assert_eq!((&planned["status"], &planned["goal"]), (&json!("planned"), &json!("")));
    held.signal("TERM").expect(1);
    let failed = night.summary();
    has_every_field(&failed, (&night, &latest));
    assert_eq!((&failed["status"], &failed["goal"]), (&json!("failed"), &json!("")));
    // What the report of a failed run says first is what to do about that.
    assert!(failed["recommended"].as_array().unwrap().contains(&json!("ao overnight start")));
    let dry = night.aside.path().join("dry");
    let start = ["--dry-run", "overnight", "start", "--output-dir", dry.to_str().unwrap()];
    night.repo.run(&start).expect(0);
    let summary = json_of(&dry.join("summary.json"));
    has_every_field(&summary, (&night, &dry));
    assert_eq!((&summary["status"], &summary["dry_run"]), (&json!("dry-run"), &json!(true)));
    night.run(&["--goal", "a calm night"]).expect(0);
    let done = night.summary();
    has_every_field(&done, (&night, &latest));
    assert_eq!((&done["status"], &done["goal"]), (&json!("done"), &json!("a calm night")));
    assert_eq!(done["dry_run"], false);
}

/// Any field of version 2 makes it version 2, to each reader; and version 2 only adds.
// proves: REP-07
#[test]
fn one_field_of_version_2_is_enough() {
    let repo = TestRepo::new();
    let (v1, v2): (Value, Value) =
        (serde_json::from_str(V1).unwrap(), serde_json::from_str(V2).unwrap());
    let printed = repo.run(&["schema", "summary"]).expect(0).json();
    let schema = jsonschema::validator_for(&printed).unwrap();
    let file = repo.state("latest/summary.json");
    let file = file.to_str().unwrap();
    let is_read = |summary: &Value, is_good: bool| {
        repo.write("overnight/latest/summary.json", &summary.to_string());
        let code = |bad: i32| if is_good { 0 } else { bad };
        repo.run(&["schema", "summary", "--check", file]).expect(code(5));
        repo.run(&["overnight", "report"]).expect(code(1));
        assert_eq!(schema.is_valid(summary), is_good, "{summary:#}");
    };
    is_read(&v1, true);
    for field in V2_FIELDS {
        let mut summary = v1.clone();
        summary[field] = v2[field].clone();
        assert!(!summary[field].is_null(), "{field}");
        is_read(&summary, false);
        summary["schema_version"] = 2.into();
        is_read(&summary, true);
    }
    // A night's own report without what version 2 added is one of version 1.
    let night = Night::with_copies();
    night.run(&[]).expect(0);
    let mut summary = night.summary();
    assert_eq!(summary["schema_version"], 2);
    for field in V2_FIELDS {
        summary.as_object_mut().unwrap().remove(field);
    }
    summary["schema_version"] = 1.into();
    is_read(&summary, true);
    for (key, value) in v1.as_object().unwrap() {
        let kind = std::mem::discriminant(value);
        assert_eq!(std::mem::discriminant(&summary[key]), kind, "{key}: {}", summary[key]);
    }
}
