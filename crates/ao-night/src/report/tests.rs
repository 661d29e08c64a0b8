use serde_json::{Value, json};

use super::*;
use crate::verdict::Verdict;

const V2: &str = include_str!("../../../ao-contract/tests/samples/summary.v2.json");

fn v2() -> Value {
    serde_json::from_str(V2).unwrap()
}

#[test]
fn a_packet_that_is_done_is_struck_with_the_reason() {
    let summary: Summary = serde_json::from_value(v2()).unwrap();
    let id = "dream-0d9fa4d5f2e0d7a1";
    let shown = |verdict: Verdict| {
        let verdicts = Verdicts::from([(id.to_owned(), verdict)]);
        (markdown(&summary, &verdicts, Run::Over), text(&summary, &verdicts, Run::Over, 100))
    };
    let (done, plain) = shown(Verdict::Done("the file `x` is gone".into()));
    assert!(done.contains("~~Repair Dream retrieval coverage~~"), "{done}");
    assert!(done.contains(r"**Already done:** the file \`x\` is gone"), "{done}");
    assert!(plain.contains("1. [done] Repair Dream retrieval coverage"), "{plain}");
    // The first move was this packet.
    let first = done.split("## First move").nth(1).unwrap();
    assert!(first.contains("This seems to be done already:"), "{first}");
    let (holds, plain) = shown(Verdict::True);
    assert!(holds.contains("**Repair Dream retrieval coverage**"), "{holds}");
    assert!(plain.contains("still true") && !holds.contains("~~"), "{plain}");
    let (_, unchecked) = shown(Verdict::NotChecked("it is a shell command".into()));
    assert!(unchecked.contains("Not checked again: it is a shell command"), "{unchecked}");
}

/// Every part of a summary, replaced by values of every kind.
#[test]
fn whatever_can_be_read_can_be_shown() {
    let full = v2();
    let mut pointers = Vec::new();
    collect(String::new(), &full, &mut pointers);
    let odd = [
        Value::Null,
        json!(true),
        json!(u64::MAX),
        json!(-1e300),
        json!(""),
        json!("\u{1b}[0m数\u{301}\n"),
        json!([]),
        json!([null, 1, "x", { "path": "p" }, []]),
        json!({}),
        json!({ "composite": "x", "fitness": [1], "reports": {} }),
    ];
    let mut shown = 0;
    for pointer in &pointers {
        for value in &odd {
            let mut summary = full.clone();
            *summary.pointer_mut(pointer).unwrap() = value.clone();
            let Ok(summary) = serde_json::from_value::<Summary>(summary) else { continue };
            let told = markdown(&summary, &Verdicts::new(), Run::Over);
            assert!(told.starts_with("# Overnight report: "), "{pointer} {value}");
            let plain = text(&summary, &Verdicts::new(), Run::Lives, 0);
            assert!(!plain.contains('\u{1b}') && !told.contains('\u{1b}'), "{pointer}");
            shown += 1;
        }
    }
    assert!(shown > pointers.len(), "{shown} of {}", pointers.len());
}

fn collect(at: String, value: &Value, pointers: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| collect(format!("{at}/{key}"), value, pointers));
        }
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, value)| collect(format!("{at}/{index}"), value, pointers));
        }
        _ => {}
    }
    pointers.push(at);
}

#[test]
fn long_lists_are_cut_and_say_so() {
    let mut summary = v2();
    let packet = summary["morning_packets"][0].clone();
    summary["morning_packets"] = (0..25).map(|_| packet.clone()).collect();
    summary["morning_packets"][0]["evidence"] =
        (0..14).map(|n| json!(format!("number {n}"))).collect();
    summary["recommended"] = (0..21).map(|n| json!(format!("ao {n}"))).collect();
    let summary: Summary = serde_json::from_value(summary).unwrap();
    let told = markdown(&summary, &Verdicts::new(), Run::Over);
    for said in ["and 5 more packets", "and 4 more pieces of evidence", "and 1 more commands"] {
        assert!(told.contains(said), "{said}\n{told}");
    }
}

/// The heading of each section is one of the published ones, in their order.
#[test]
fn the_headings_are_the_published_ones() {
    let summary: Summary = serde_json::from_value(v2()).unwrap();
    let told = markdown(&summary, &Verdicts::new(), Run::Over);
    let headings: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(headings, HEADINGS);
}
