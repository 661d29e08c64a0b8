use ao_contract::{
    Finding, Learning, Maturity, NextWork, check_id, iteration_of, read, read_leniently, run_of,
};
use serde_json::{Value, json};

use crate::samples;

fn learning(value: &Value) -> Learning {
    read(value).unwrap()
}

#[test]
fn an_entry_is_hidden_by_any_of_three_keys() {
    for shown in [
        json!({}),
        json!({ "superseded_by": null, "promoted_to": "~", "superseded": false }),
        json!({ "superseded_by": "null", "promoted_to": " " }),
    ] {
        assert!(!learning(&shown).is_hidden(), "{shown}");
    }
    for hidden in [
        json!({ "superseded_by": "other" }),
        json!({ "promoted_to": "patterns/a.md" }),
        json!({ "superseded": true }),
    ] {
        assert!(learning(&hidden).is_hidden(), "{hidden}");
    }
}

#[test]
#[expect(clippy::float_cmp, reason = "constants, not results")]
fn what_an_entry_leaves_unsaid_has_a_value() {
    assert_eq!(learning(&json!({})).utility(), 0.5);
    assert_eq!(learning(&json!({ "utility": null })).utility(), 0.5);
    assert_eq!(learning(&json!({ "utility": 0 })).utility(), 0.0);
}

#[test]
fn confidence_is_a_word_or_a_number() {
    let value = |confidence: Value| {
        learning(&json!({ "confidence": confidence })).confidence.get().unwrap().value()
    };
    assert_eq!(value(json!("high")), Some(0.9));
    assert_eq!(value(json!("medium")), Some(0.6));
    assert_eq!(value(json!("low")), Some(0.3));
    assert_eq!(value(json!(0.72)), Some(0.72));
    assert_eq!(value(json!(85)), Some(1.0));
    for (text, found) in
        [("HIGH", Some(0.9)), (" 0.8 ", Some(0.8)), ("certain", None), ("", None), ("nan", None)]
    {
        assert_eq!(value(json!(text)), found, "{text}");
    }
}

#[test]
fn both_spellings_of_a_source_are_read() {
    let entry = learning(&json!({ "source-bead": "na-1", "source_phase": "plan" }));
    assert_eq!(entry.source_bead().unwrap().as_str(), "na-1");
    assert_eq!(entry.source_phase().unwrap().as_str(), "plan");
}

#[test]
fn scalars_are_text_and_one_tag_is_a_list() {
    let entry = learning(&json!({ "title": 404, "tags": "ci" }));
    assert_eq!(entry.title.get().unwrap().as_str(), "404");
    assert_eq!(entry.tags.get().unwrap().iter().collect::<Vec<_>>(), ["ci"]);
}

#[test]
fn bad_values_are_set_aside_and_kept() {
    let value = json!({
        "title": "t", "utility": "lots", "maturity": "established", "tags": [[]], "mine": 1,
    });
    let (entry, errors) = read_leniently::<Learning>(&value).unwrap();
    assert_eq!(entry.maturity.get(), Some(&Maturity::Established));
    assert_eq!(entry.utility.get(), None);
    let paths: Vec<_> = errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["utility", "tags"]);
    assert_eq!(serde_json::to_value(entry).unwrap(), value);
}

#[test]
fn what_is_no_map_cannot_be_read_leniently() {
    assert!(read_leniently::<Finding>(&json!(["a"])).is_err());
}

#[test]
fn words_of_other_tools_are_kept_and_ranked() {
    let line: NextWork = read(&samples::named("next-work.json").value).unwrap();
    let item = &line.items[1];
    assert!(item.kind.get().unwrap().known().is_none());
    let finding: Finding = read(&json!({ "severity": "significant" })).unwrap();
    assert!(item.severity.get().unwrap().rank() > finding.severity.get().unwrap().rank());
}

#[test]
fn ids_cannot_leave_their_folder() {
    for id in ["", "a/b", "a\\b", "..", "a..b", "a b", "a\tb", "a\u{7f}", "a\u{2028}"] {
        assert!(check_id(id).is_err(), "{id:?}");
    }
    assert_eq!(check_id("20260415T020000Z-iter-1"), Ok(()));
}

#[test]
fn a_commit_names_its_run() {
    for (id, run, iteration) in [
        ("20260415T020000Z-iter-1", Some("20260415T020000Z"), Some(1)),
        ("20260415T020000Z-2-iter-12", Some("20260415T020000Z-2"), Some(12)),
        ("night-iter-12-2", Some("night"), Some(12)),
        ("night-packets", Some("night"), None),
        ("night-packets-2", Some("night"), None),
        ("night", None, None),
        ("night-iter-", None, None),
        ("night-iter-x", None, None),
        ("night-iter-99999999999", None, None),
        ("night-packets-x", None, None),
        ("a-iter-1-", None, None),
        ("undo-20260415", None, None),
    ] {
        assert_eq!(run_of(id), run, "{id}");
        assert_eq!(iteration_of(id), run.zip(iteration), "{id}");
    }
}
