//! `ao schema`, and that what the binary writes validates against what it publishes.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::repo::{TestRepo, edits_everywhere};

fn schema(repo: &TestRepo, name: &str) -> jsonschema::Validator {
    let printed = repo.run(&["schema", name]).expect(0);
    jsonschema::validator_for(&serde_json::from_str(&printed.stdout).unwrap()).unwrap()
}

#[track_caller]
fn assert_valid(validator: &jsonschema::Validator, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    let problems: Vec<String> =
        validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{problems:?}\n{value:#}");
}

#[test]
fn schemas_are_listed_a_line_each_and_printed() {
    let repo = TestRepo::new();
    let list = repo.run(&["schema"]).expect(0).stdout;
    let names: Vec<&str> =
        list.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(names.len() >= 20);
    for name in names {
        let printed: Value =
            serde_json::from_str(&repo.run(&["schema", name]).expect(0).stdout).unwrap();
        assert_eq!(printed["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(printed["$id"], format!("ao:{name}"));
    }
    repo.run(&["schema", "nonsense"]).expect(2);
}

// proves: REP-17
#[test]
fn what_the_door_writes_validates_against_its_own_schema() {
    let repo = TestRepo::new();
    let file = repo.edits(&edits_everywhere());
    assert_valid(&schema(&repo, "edits"), &fs::read_to_string(&file).unwrap());
    repo.killed_when_decided("one");
    assert_valid(&schema(&repo, "marker"), &repo.read("overnight/COMMIT-MARKER.one"));
    repo.run(&["tree", "recover"]).expect(0);
    repo.write("learnings/b.md", "a person's\n");
    repo.run(&["tree", "undo", "--id", "two"]).expect(0);
    let history = schema(&repo, "history");
    for line in repo.read("overnight/history.jsonl").lines() {
        assert_valid(&history, line);
    }
    assert_valid(&schema(&repo, "record"), &repo.read("overnight/undo/one/record.json"));
    assert_valid(&schema(&repo, "record"), &repo.read("overnight/undo/two/record.json"));
    assert_valid(
        &schema(&repo, "archive-provenance"),
        &repo.read("overnight/archive/one/provenance.json"),
    );
    assert_valid(&schema(&repo, "conflicts"), &repo.read("overnight/conflicts/two/conflicts.json"));
}

#[test]
fn a_file_is_checked_by_the_reader_itself() {
    let repo = TestRepo::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ao-contract/tests/samples");
    for version in ["v1", "v2"] {
        let sample = samples.join(format!("summary.{version}.json"));
        repo.run(&["schema", "summary", "--check", sample.to_str().unwrap()]).expect(0);
    }
    let lines = repo.root().join("lines.jsonl");
    fs::write(&lines, "{\"items\":[]}\nnot json\n").unwrap();
    let found = repo
        .run(&["--json", "schema", "next-work", "--check", lines.to_str().unwrap()])
        .expect(5)
        .json();
    let problems = found["problems"].as_array().unwrap();
    assert!(
        problems.iter().any(|problem| problem.as_str().unwrap().starts_with("line 2:")),
        "{problems:?}"
    );
    let wrong = repo.root().join("wrong.json");
    fs::write(&wrong, json!({ "schema_version": 1, "status": "sleeping" }).to_string()).unwrap();
    repo.run(&["schema", "summary", "--check", wrong.to_str().unwrap()]).expect(5);
    repo.run(&["schema", "summary", "--check", "missing.json"]).expect(1);
}
