//! Packets of the night's own making in the work queue and in beads: once, and as their source is now.

use serde_json::{Value, json};

use crate::night::step;
use crate::night_queue::Queue;

fn finding(queue: &Queue, hits: u32) {
    let text = format!(
        "---\nid: f-1\nseverity: high\nhit_count: {hits}\n---\n# Mail is lost\n\nThe relay loses it.\n"
    );
    queue.cells.repo.write("findings/f-2026-03-01-001.md", &text);
    queue.cells.settle();
}

/// The packet of the finding.
fn packet(summary: &Value) -> Value {
    let packets = summary["morning_packets"].as_array().unwrap();
    packets.iter().find(|packet| packet["title"] == "Resolve: Mail is lost").unwrap().clone()
}

/// All items of the queue that have this id.
fn items(queue: &Queue, id: &Value) -> Vec<Value> {
    let lines = queue.lines();
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let all = lines.flat_map(|line| line["items"].as_array().unwrap().clone());
    all.filter(|item| item["id"] == *id).collect()
}

fn beads(queue: &Queue) -> Vec<Value> {
    serde_json::from_slice(&std::fs::read(queue.beads("beads.json")).unwrap()).unwrap()
}

fn verbs(queue: &Queue) -> Vec<String> {
    queue.calls().into_iter().map(|mut call| call.remove(0)).collect()
}

// proves: REP-16
#[test]
fn a_packet_is_created_once_and_updated_after() {
    let queue = Queue::with("", &json!([]));
    finding(&queue, 1);
    let first = queue.night();
    let made = packet(&first);
    let packets = first["morning_packets"].as_array().unwrap().len();
    let [item] = &items(&queue, &made["id"])[..] else { panic!("{}", queue.lines()) };
    for key in ["title", "why_now", "morning_command", "bead_id", "confidence"] {
        assert_eq!(item[key], made[key], "{key}: {item:#}");
    }
    let bead_of = |packet: &Value| {
        let found = beads(&queue).into_iter().filter(|bead| bead["id"] == packet["bead_id"]);
        let [bead] = &found.collect::<Vec<_>>()[..] else { panic!("{packet:#}") };
        bead.clone()
    };
    assert_eq!(bead_of(&made)["title"], made["title"]);
    assert_eq!(beads(&queue).len(), packets);

    // Nothing is new: nothing is written, neither there nor there.
    let (lines, before) = (queue.lines(), beads(&queue));
    queue.calls();
    assert_eq!(packet(&queue.night())["id"], made["id"]);
    assert_eq!((queue.lines(), beads(&queue)), (lines, before));
    assert!(verbs(&queue).iter().all(|verb| verb == "list"));

    // It was met again: the same item and the same bead say so.
    finding(&queue, 5);
    let later = packet(&queue.night());
    assert_eq!((&later["id"], &later["bead_id"]), (&made["id"], &made["bead_id"]));
    assert_ne!(later["why_now"], made["why_now"]);
    let [item] = &items(&queue, &made["id"])[..] else { panic!("{}", queue.lines()) };
    assert_eq!((&item["why_now"], &item["confidence"]), (&later["why_now"], &json!("high")));
    assert_eq!(beads(&queue).len(), packets);
    let said = bead_of(&later)["description"].as_str().unwrap().to_owned();
    assert!(said.starts_with(later["why_now"].as_str().unwrap()), "{said}");
    assert!(said.contains("met 5 times"), "{said}");
}

/// A `bd` that fails costs the beads, and nothing else.
// proves: REP-16
#[test]
fn a_bd_that_fails_is_told_and_the_queue_has_its_packets() {
    let queue = Queue::with("", &json!([]));
    queue.bd("#!/bin/sh\necho 'the database is locked' >&2\nexit 3\n");
    finding(&queue, 1);
    let summary = queue.night();
    assert_eq!((&summary["status"], step(&summary, "bead-sync")), (&json!("done"), "soft-fail"));
    assert!(summary["degraded"].as_array().unwrap().contains(&json!("bead-sync")));
    let made = packet(&summary);
    assert!(made.get("bead_id").is_none(), "{made:#}");
    assert_eq!(items(&queue, &made["id"]).len(), 1, "{}", queue.lines());
    assert_eq!(summary["next_action"], made["title"]);
}
