//! Packets and their beads.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use ao_contract::{MorningPacket, StepStatus};
use ao_guard::cell::Limits;
use ao_night::System;
use ao_night::beads::{self, BeadSync, Outcome};
use serde_json::{Value, json};

use crate::bed::Bed;

/// For a stand-in that hangs. One that does not is through by then.
const SHORT: Limits =
    Limits { time: Duration::from_secs(2), output_bytes: 64 * 1024, ..beads::CALL };

fn packet(id: &str, title: &str) -> MorningPacket {
    serde_json::from_value(json!({
        "id": id, "rank": 1, "title": title, "type": "bug", "severity": "high",
        "confidence": "high", "why_now": "It was found tonight.",
        "evidence": ["learnings/a.md says 3, learnings/b.md says 8"],
        "target_files": ["src/client.rs"], "likely_tests": [],
        "morning_command": format!("ao overnight packet {id}"),
    }))
    .unwrap()
}

fn packets() -> Vec<MorningPacket> {
    ["one", "two", "three"].map(|name| packet(&format!("dream-{name}"), name)).into()
}

/// A repository with a `bd` that answers and misbehaves as told.
struct Beads {
    bed: Bed,
}

impl Beads {
    fn new(mode: &Value) -> Self {
        let beads = Self { bed: Bed::new() };
        beads.bed.install("bd");
        beads.set(mode);
        beads
    }

    fn set(&self, mode: &Value) {
        fs::write(self.bed.at("repo/.beads/mode.json"), mode.to_string()).unwrap();
    }

    fn sync(&self, packets: &mut [MorningPacket]) -> BeadSync {
        self.sync_within(packets, beads::CALL)
    }

    fn sync_within(&self, packets: &mut [MorningPacket], call: Limits) -> BeadSync {
        self.sync_named(packets, &[], call)
    }

    /// The same where items name beads of their own.
    fn sync_named(
        &self,
        packets: &mut [MorningPacket],
        named: &[(&str, &str)],
        call: Limits,
    ) -> BeadSync {
        let named = named.iter().map(|(packet, bead)| ((*packet).into(), (*bead).into())).collect();
        beads::sync(&self.bed.host(System::Linux), packets, &named, call, &false.into())
    }

    fn all(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.bed.at("repo/.beads/beads.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn edit(&self, at: usize, key: &str, value: &str) {
        let mut all = self.all();
        all[at][key] = value.into();
        fs::write(self.bed.at("repo/.beads/beads.json"), json!(all).to_string()).unwrap();
    }

    fn calls(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.bed.at("repo/.beads/calls.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn verbs(&self) -> Vec<String> {
        let verbs = self.calls().into_iter();
        verbs.map(|call| call["words"][0].as_str().unwrap().to_owned()).collect()
    }
}

fn ids(packets: &[MorningPacket]) -> Vec<Option<&str>> {
    packets.iter().map(|packet| packet.bead_id.as_deref()).collect()
}

fn why(sync: &BeadSync) -> &str {
    assert_eq!(sync.status(), StepStatus::SoftFail);
    match &sync.outcome {
        Outcome::SoftFail(why) => why,
        Outcome::Done => panic!("{sync:?}"),
    }
}

// proves: REP-16
#[test]
fn created_once_updated_after_never_duplicated() {
    for shape in ["plain", "wrapped", "items"] {
        let beads = Beads::new(&json!({ "shape": shape }));
        let mut first = packets();
        let sync = beads.sync(&mut first);
        assert_eq!((sync.created, sync.linked(), sync.status()), (3, 3, StepStatus::Done));
        assert_eq!(ids(&first), [Some("na-1"), Some("na-2"), Some("na-3")], "{shape}");
        assert_eq!(sync.note(), "3 linked: 3 created");
        let bead = &beads.all()[1];
        assert_eq!(
            (&bead["title"], &bead["priority"], &bead["issue_type"]),
            (&json!("two"), &json!(1), &json!("bug"))
        );
        let body = bead["description"].as_str().unwrap();
        for part in [
            "It was found tonight.",
            "learnings/b.md says 8",
            "src/client.rs",
            "ao overnight packet dream-two",
        ] {
            assert!(body.contains(part), "{part}: {body}");
        }

        // The same packets again: nothing is written at all.
        let before = (beads.all(), beads.calls().len());
        let mut again = packets();
        let sync = beads.sync(&mut again);
        assert_eq!((sync.unchanged, sync.linked()), (3, 3), "{sync:?}");
        assert_eq!(ids(&again), ids(&first));
        assert_eq!((beads.all(), beads.calls().len()), (before.0, before.1 + 3));

        // One says something else by now; what a person set stays.
        beads.edit(1, "status", "in_progress");
        beads.edit(1, "priority", "4");
        let mut changed = packets();
        changed[1].why_now = "It was found again.".into();
        let sync = beads.sync(&mut changed);
        assert_eq!((sync.updated, sync.unchanged), (1, 2), "{sync:?}");
        let all = beads.all();
        assert_eq!(all.len(), 3);
        assert!(all[1]["description"].as_str().unwrap().starts_with("It was found again."));
        assert_eq!((&all[1]["status"], &all[1]["priority"]), (&json!("in_progress"), &json!("4")));
        assert_eq!(beads.sync(&mut changed).unchanged, 3);
    }
}

#[test]
fn a_closed_bead_stays_closed_and_linked() {
    let beads = Beads::new(&json!({ "shape": "wrapped" }));
    beads.sync(&mut packets());
    beads.edit(0, "status", "closed");
    let before = beads.all();
    let mut changed = packets();
    changed[0].why_now = "Once more.".into();
    let sync = beads.sync(&mut changed);
    assert_eq!((sync.closed.as_slice(), sync.unchanged), (&["na-1".to_owned()][..], 2));
    assert_eq!(ids(&changed), [Some("na-1"), Some("na-2"), Some("na-3")]);
    assert_eq!((sync.status(), beads.all()), (StepStatus::Done, before));
    assert!(sync.note().contains("na-1 closed and left so"), "{}", sync.note());
}

/// A bead without a text, and one that an earlier night made for the same packet beside it.
// proves: REP-20
#[test]
fn a_bead_that_an_item_names_is_the_packets_and_keeps_its_text() {
    for shape in ["plain", "wrapped", "items"] {
        let beads = Beads::new(&json!({ "shape": shape }));
        beads.sync(&mut packets());
        let mut all = beads.all();
        all.push(json!({ "id": "mine-7", "status": "open", "title": "Theirs" }));
        fs::write(beads.bed.at("repo/.beads/beads.json"), json!(all).to_string()).unwrap();
        let named = [("dream-two", "mine-7")];
        for (updated, unchanged) in [(1, 2), (0, 3)] {
            let mut packets = packets();
            let sync = beads.sync_named(&mut packets, &named, beads::CALL);
            assert_eq!((sync.updated, sync.unchanged), (updated, unchanged), "{sync:?}");
            assert_eq!(ids(&packets), [Some("na-1"), Some("mine-7"), Some("na-3")], "{shape}");
            assert_eq!(beads.all().len(), 4, "none is made beside it");
            let bead = &beads.all()[3];
            assert_eq!((&bead["title"], bead.get("description")), (&json!("Theirs"), None));
            assert_eq!(bead["metadata"]["dream_packet_id"], "dream-two");
        }
    }
}

#[test]
fn what_a_person_wrote_is_left_to_them() {
    for (key, text) in [("title", "their title"), ("description", "their words")] {
        let beads = Beads::new(&json!({}));
        beads.sync(&mut packets());
        beads.edit(2, key, text);
        let before = beads.all();
        let mut changed = packets();
        changed[2].why_now = "Something else.".into();
        let sync = beads.sync(&mut changed);
        assert_eq!(sync.kept, ["na-3"]);
        assert_eq!((changed[2].bead_id.as_deref(), beads.all()), (Some("na-3"), before));
    }
}

// pitfall 21 and threat 16: text is data, whatever it looks like
#[test]
fn titles_arrive_as_they_are() {
    let odd = [
        "\"quoted\" and 'quoted'",
        "$(touch pwned) `touch pwned` ; touch pwned",
        "--delete everything",
        "-",
        "two\nlines\tand a tab",
        "emoji 🌙 und Umlaute äöü",
        "@.beads/mode.json",
        "back\\slash %s {}",
    ];
    let beads = Beads::new(&json!({}));
    let mut packets: Vec<_> =
        odd.iter().enumerate().map(|(at, title)| packet(&format!("dream-{at}"), title)).collect();
    packets[0].why_now = "-".into();
    let sync = beads.sync(&mut packets);
    assert_eq!((sync.created, &sync.outcome), (odd.len(), &Outcome::Done));
    let titles: Vec<_> = beads.all().iter().map(|bead| bead["title"].clone()).collect();
    assert_eq!(titles, odd);
    assert_eq!(beads.sync(&mut packets).unchanged, odd.len());
    assert!(!beads.bed.at("repo/pwned").exists());
    // The two that no program could be given.
    let long = "🌙".repeat(300);
    let mut packets =
        vec![packet("dream-nul", "a\0b"), packet("dream-long", &long), packet("dream-none", " \n")];
    packets[0].evidence = vec!["x\0".repeat(100_000)];
    assert_eq!(beads.sync(&mut packets).created, 3);
    let all = beads.all();
    assert_eq!(all[odd.len()]["title"], "a\u{fffd}b");
    let title = all[odd.len() + 1]["title"].as_str().unwrap();
    assert!(title.len() <= 500 && title.ends_with("🌙…"), "{title}");
    assert!(all[odd.len() + 1]["description"].as_str().unwrap().starts_with(&long));
    assert_eq!(all[odd.len() + 2]["title"], "dream-none");
}

// proves: RUN-21
#[test]
fn a_missing_bd_is_named_and_is_no_error() {
    let bed = Bed::new();
    let mut packets = packets();
    let host = bed.host(System::Linux);
    let sync = beads::sync(&host, &mut packets, &BTreeMap::new(), beads::CALL, &false.into());
    assert_eq!(why(&sync), "no beads: bd was not found on PATH");
    assert_eq!((sync.linked(), ids(&packets)), (0, vec![None; 3]));
    let nothing = beads::sync(&host, &mut [], &BTreeMap::new(), beads::CALL, &false.into());
    assert_eq!(nothing.status(), StepStatus::Done);
}

// threat 43
#[test]
fn a_bd_of_the_repository_is_not_started() {
    let bed = Bed::new();
    fs::create_dir(bed.at("repo/bin")).unwrap();
    std::os::unix::fs::symlink(crate::bed::STAND_IN, bed.at("repo/bin/bd")).unwrap();
    let mut host = bed.host(System::Linux);
    host.environment[0].1 = bed.at("repo/bin").into();
    let sync = beads::sync(&host, &mut packets(), &BTreeMap::new(), beads::CALL, &false.into());
    assert!(why(&sync).contains("belongs to the repository"), "{}", why(&sync));
    assert!(!bed.at("repo/.beads/calls.jsonl").exists());
}

#[test]
fn bd_gets_what_is_granted_and_no_more() {
    let beads = Beads::new(&json!({}));
    beads.sync(&mut packets());
    for call in beads.calls() {
        let mut names: Vec<_> = call["environment"].as_array().unwrap().clone();
        names.sort_by_key(ToString::to_string);
        assert_eq!(names, ["AO_CELL", "BEADS_DIR", "BEADS_NO_DAEMON", "HOME", "PATH", "TMPDIR"]);
    }
}

// proves: RUN-21
#[test]
fn a_bd_that_hangs_is_ended_and_not_asked_again() {
    for (verb, kind) in [("list", "hang"), ("create", "hang"), ("create", "hang-after")] {
        let beads = Beads::new(&json!({ "trouble": { "verb": verb, "after": 1, "kind": kind } }));
        let mut first = packets();
        let sync = beads.sync_within(&mut first, SHORT);
        // What was linked stays linked.
        assert_eq!(
            (sync.created, ids(&first)),
            (1, vec![Some("na-1"), None, None]),
            "{verb} {kind}"
        );
        let expected = format!("2 not linked: `bd {verb}` did not answer within 2 s and was ended");
        assert_eq!(why(&sync), expected);
        // It is not asked a second time.
        let verbs = ["list", "create", "list", "create"];
        assert_eq!(beads.verbs(), verbs[..if verb == "list" { 3 } else { 4 }]);
        assert!(beads.bed.living().is_empty());
        // The next night finds what the one that was ended had made.
        beads.set(&json!({}));
        let mut second = packets();
        assert_eq!(beads.sync(&mut second).status(), StepStatus::Done);
        assert_eq!(ids(&second), [Some("na-1"), Some("na-2"), Some("na-3")]);
        assert_eq!(beads.all().len(), 3);
    }
}

// proves: RUN-21
#[test]
fn a_bd_that_fails_half_way_keeps_what_was_linked() {
    let beads = Beads::new(&json!({ "trouble": { "verb": "create", "after": 1, "kind": "fail" } }));
    let mut first = packets();
    let sync = beads.sync(&mut first);
    assert_eq!(ids(&first), [Some("na-1"), None, None]);
    // Said once, in one line, and its colours are not ours.
    let expected = "2 not linked: `bd create` failed with 3: Error: the \\u{1b}[31mdatabase\\u{1b}[0m is locked";
    assert_eq!(why(&sync), expected);
    assert_eq!(sync.note(), format!("1 linked: 1 created. {expected}"));

    beads.set(&json!({ "trouble": { "verb": "list", "after": 0, "kind": "fail-in-json" } }));
    let sync = beads.sync(&mut packets());
    assert_eq!(why(&sync), "3 not linked: `bd list` failed with 1: no beads here");

    beads.set(&json!({}));
    assert_eq!(beads.sync(&mut packets()).linked(), 3);
    let mut changed = packets();
    changed[0].why_now = "Something else.".into();
    beads.set(&json!({ "trouble": { "verb": "update", "after": 0, "kind": "fail" } }));
    let sync = beads.sync(&mut changed);
    assert_eq!((sync.stale.as_slice(), sync.unchanged), (&["na-1".to_owned()][..], 2));
    assert_eq!(ids(&changed), [Some("na-1"), Some("na-2"), Some("na-3")]);
    assert!(why(&sync).starts_with("`bd update` failed with 3"), "{}", why(&sync));
}

#[test]
fn a_bead_that_was_made_without_a_word_is_found() {
    for kind in ["half", "fail-after"] {
        let beads =
            Beads::new(&json!({ "trouble": { "verb": "create", "after": 0, "kind": kind } }));
        let mut packets = packets();
        let sync = beads.sync(&mut packets);
        assert_eq!((sync.created, sync.status()), (3, StepStatus::Done), "{kind}");
        assert_eq!(ids(&packets), [Some("na-1"), Some("na-2"), Some("na-3")]);
        assert_eq!(beads.all().len(), 3);
    }
}

#[test]
fn an_answer_that_cannot_be_read_makes_nothing() {
    for kind in ["half", "flood"] {
        let beads = Beads::new(&json!({}));
        beads.sync(&mut packets()[..1]);
        beads.set(&json!({ "trouble": { "verb": "list", "after": 0, "kind": kind } }));
        let mut again = packets();
        let sync = beads.sync_within(&mut again, Limits { time: beads::CALL.time, ..SHORT });
        let expected = match kind {
            "half" => "3 not linked: `bd list` gave an answer that cannot be read",
            _ => "3 not linked: `bd list` said too much and was ended",
        };
        // Half of `null` is a word too: what is there is not doubled.
        assert!(why(&sync).starts_with(expected), "{}", why(&sync));
        assert_eq!((beads.all().len(), ids(&again)), (1, vec![None; 3]));
    }
}

#[test]
fn of_several_beads_an_open_one_is_taken_and_always_the_same() {
    let beads = Beads::new(&json!({}));
    beads.sync(&mut packets()[..1]);
    let mut all = beads.all();
    let bead = all[0].clone();
    for (id, status) in [("na-9", "open"), ("na-2", "open"), ("na-0", "closed")] {
        let mut copy = bead.clone();
        copy["id"] = id.into();
        copy["status"] = status.into();
        all.push(copy);
    }
    all[0]["status"] = "closed".into();
    fs::write(beads.bed.at("repo/.beads/beads.json"), json!(all).to_string()).unwrap();
    let mut packets = packets();
    let sync = beads.sync(&mut packets[..1]);
    assert_eq!((sync.unchanged, packets[0].bead_id.as_deref()), (1, Some("na-2")));
}

#[test]
fn a_run_that_is_ending_does_not_wait_for_bd() {
    let beads = Beads::new(&json!({ "trouble": { "verb": "list", "after": 0, "kind": "hang" } }));
    let host = beads.bed.host(System::Linux);
    let sync = beads::sync(&host, &mut packets(), &BTreeMap::new(), beads::CALL, &true.into());
    assert_eq!(why(&sync), "3 not linked: `bd list` was ended because the run is ending");
    assert!(beads.bed.living().is_empty());
}
