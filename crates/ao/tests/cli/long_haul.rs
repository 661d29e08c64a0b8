//! `overnight start --long-haul`, and the yield that shows what it did.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::council::Table;
use crate::night::{Night, json_of, step};

const TITLE: &str = "The mail relay loses its quorum lease";
const OUTAGE: &str = "When our relay for mail was restarted, a quorum was what each node would lose: the lease \
    had run out hours before anybody looked at a dashboard.";
const LEASES: &str = "A lease that one thread alone renews will lose against a slow disk. We saw a quorum of four \
    brokers go, and the mail in front of that relay was sent twice.";
const CODE: &str = "fn renew_lease(relay: &Relay) { // mail waits for the quorum\n}\n";
/// Not a word of the title.
const BESIDE: &str =
    "The harvest of plums began in August and ended when rain came over those hills again.";

/// A repository with one item in its work queue, about a file that is there: of medium confidence.
fn night(texts: &[&str]) -> Night {
    let night = Night::with(0);
    let item = json!({ "title": TITLE, "severity": "high", "file": "src/relay.rs" });
    let line = json!({
        "source_epic": "e", "timestamp": "2026-03-01T00:00:00Z", "items": [item], "consumed": false
    });
    night.repo.write("rpi/next-work.jsonl", &format!("{line}\n"));
    fs::create_dir_all(night.repo.root().join("src")).unwrap();
    fs::write(night.repo.root().join("src/relay.rs"), CODE).unwrap();
    for (nth, text) in texts.iter().enumerate() {
        night.repo.write(&format!("research/note-{nth}.md"), &note(nth, text));
    }
    night
}

fn note(nth: usize, text: &str) -> String {
    format!("---\nsource_session: s-{nth}\n---\n# Note {nth}\n\n{text}\n")
}

fn first_packet(summary: &Value) -> Value {
    let packets = summary["morning_packets"].as_array().unwrap();
    packets.iter().find(|packet| packet["rank"] == 1).unwrap().clone()
}

fn has_no_pending(summary: &Value) {
    for step in summary["steps"].as_array().unwrap() {
        assert_ne!(step["status"], "pending", "{step}");
    }
}

// proves: REP-10
#[test]
fn it_is_off_unless_it_is_asked_for() {
    let night = night(&[OUTAGE, LEASES]);
    night.run(&[]).expect(0);
    let summary = night.summary();
    let off = json!({
        "enabled": false, "active": false, "trigger_reason": "", "exit_reason": "",
        "probe_count": 0, "zero_delta_probe_streak": 0
    });
    assert_eq!(summary["long_haul"], off);
    assert_eq!(first_packet(&summary)["confidence"], "medium");
    for name in ["knowledge-brief-fallback", "packet-corroboration"] {
        assert_eq!(step(&summary, name), "", "{name}");
    }
    for file in ["briefing-fallback.json", "packet-corroboration.json"] {
        assert!(!night.latest(file).exists(), "{file}");
    }
    assert!(night.markdown().contains("## Long-haul\n\nOff.\n"), "{}", night.markdown());
}

// Code is another one the day after: what the night saw in it is kept.
#[test]
fn a_long_haul_is_the_same_again_when_the_repository_went_on() {
    let night = night(&[OUTAGE, LEASES]);
    night.run(&["--long-haul"]).expect(0);
    let summary = night.summary();
    assert_eq!(first_packet(&summary)["confidence"], "high");
    fs::write(night.repo.root().join("src/relay.rs"), "fn other() {}\n").unwrap();
    let run = summary["run_id"].as_str().unwrap();
    let told = night.repo.run(&["--json", "overnight", "replay", run]);
    assert_eq!(told.json()["differences"], json!([]), "{told}");
    told.expect(0);
}

// proves: REP-09, REP-10, RUN-27
#[test]
fn what_speaks_for_the_first_packet_raises_it() {
    let night = night(&[OUTAGE, LEASES]);
    night.run(&["--long-haul"]).expect(0);
    let summary = night.summary();
    let haul = &summary["long_haul"];
    assert_eq!((&haul["enabled"], &haul["active"]), (&json!(true), &json!(true)), "{haul:#}");
    assert_eq!(haul["trigger_reason"], "packet confidence below high");
    assert_eq!(haul["exit_reason"], "top packet confidence is high");
    // The brief on the packets, and one look at the first.
    assert_eq!((&haul["probe_count"], &haul["zero_delta_probe_streak"]), (&json!(2), &json!(0)));
    let packet = first_packet(&summary);
    assert_eq!((&packet["title"], &packet["confidence"]), (&json!(TITLE), &json!("high")));
    assert_eq!(packet["corroboration"]["confidence_before"], "medium");
    let told = &summary["yield"];
    assert_eq!(told["top_packet_confidence_before"], "medium", "{told:#}");
    assert_eq!(told["top_packet_confidence_after"], "high", "{told:#}");
    let named: Vec<&str> = packet["corroboration"]["supports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|support| support["at"].as_str().unwrap())
        .collect();
    let mut sorted = named.clone();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        [".agents/research/note-0.md", ".agents/research/note-1.md", "src/relay.rs"]
    );
    // On disk the packet is the same, and so it is in the work queue's next line of this night.
    let file = json_of(std::path::Path::new(packet["artifact_path"].as_str().unwrap()));
    assert_eq!(file, packet);
    for (key, file, format) in [
        ("briefing_fallback", "briefing-fallback.json", "briefing-fallback"),
        ("packet_corroboration", "packet-corroboration.json", "packet-corroboration"),
    ] {
        assert_eq!(summary["artifacts"][key], json!(night.latest(file).canonicalize().unwrap()));
        let path = night.latest(file);
        night.repo.run(&["schema", format, "--check", path.to_str().unwrap()]).expect(0);
    }
    let looks = json_of(&night.latest("packet-corroboration.json"));
    assert_eq!(looks["probes"][0]["confidence_after"], "high");
    let brief = json_of(&night.latest("briefing-fallback.json"));
    assert_eq!(brief["why"], "there is no goal");
    assert_eq!(brief["brief"]["goal"].as_str().unwrap().split("; ").next(), Some(TITLE));
    assert_eq!(brief["new_sources"].as_array().unwrap().len(), 2);
    assert_eq!(summary["briefing"]["fallback"], true);
    for name in ["knowledge-brief-fallback", "packet-corroboration"] {
        assert_eq!(step(&summary, name), "done", "{name}");
    }
    has_no_pending(&summary);
    let report = night.markdown();
    let section = report.split("## Long-haul").nth(1).unwrap().split("\n## ").next().unwrap();
    for told in [
        "**Why it ran:** packet confidence below high",
        "**Why it stopped:** top packet confidence is high",
        "**Probes:** 2, the last 0 without effect",
        "from medium to high, by",
        "`src/relay.rs`",
    ] {
        assert!(section.contains(told), "{told}\n{section}");
    }
    // The brief for whoever does it says why, too.
    let id = packet["id"].as_str().unwrap();
    let shown = night.repo.run(&["overnight", "packet", id]).expect(0).stdout;
    assert!(shown.contains("## What else speaks for it"), "{shown}");
}

/// Nothing speaks for it, and nothing is known about it.
// proves: REP-10, RUN-27
#[test]
fn two_probes_in_vain_end_it() {
    let night = night(&[]);
    night.run(&["--long-haul"]).expect(0);
    let summary = night.summary();
    let haul = &summary["long_haul"];
    assert_eq!(haul["active"], true);
    assert_eq!(haul["exit_reason"], "zero_delta_probe_streak >= 2");
    assert_eq!((&haul["probe_count"], &haul["zero_delta_probe_streak"]), (&json!(2), &json!(2)));
    assert_eq!(first_packet(&summary)["confidence"], "medium");
    assert_eq!(first_packet(&summary)["corroboration"], Value::Null);
    // It looked, and nothing was enriched by that.
    assert_eq!(step(&summary, "packet-corroboration"), "done");
    assert!(!night.latest("packet-corroboration.json").exists());
    assert_eq!(summary["artifacts"]["packet_corroboration"], Value::Null);
    has_no_pending(&summary);
    assert!(night.markdown().contains("(no change)"), "{}", night.markdown());
    // Its looks changed no packet.
    assert_eq!(step(&summary, "packet-corroboration"), "done");
    assert!(!night.latest("packet-corroboration.json").exists());
    assert_eq!(summary["artifacts"]["packet_corroboration"], Value::Null);
}

/// One in vain and one that is not: only those in a row are counted.
// proves: REP-10
#[test]
fn a_probe_that_changes_something_begins_the_count_anew() {
    let night = night(&[OUTAGE, LEASES]);
    night.run_with("knowledge-brief-fallback", &["--long-haul"]).expect(0);
    let summary = night.summary();
    let haul = &summary["long_haul"];
    assert_eq!(step(&summary, "knowledge-brief-fallback"), "soft-fail");
    let changed: Vec<bool> = haul["probes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|probe| probe["changed"].as_bool().unwrap())
        .collect();
    assert_eq!(changed, [false, true], "{haul:#}");
    assert_eq!((&haul["probe_count"], &haul["zero_delta_probe_streak"]), (&json!(2), &json!(0)));
    assert_eq!(first_packet(&summary)["confidence"], "high");
}

/// Who became sure asks nobody; what would have asked says that it was left out.
// proves: REP-10
#[test]
fn a_council_that_is_not_needed_is_not_asked() {
    let table = Table::new();
    let item = json!({ "title": TITLE, "severity": "high", "file": "src/relay.rs" });
    let line = json!({ "source_epic": "e", "items": [item], "consumed": false });
    table.write(".agents/rpi/next-work.jsonl", &format!("{line}\n"));
    table.write("src/relay.rs", CODE);
    for (nth, text) in [OUTAGE, LEASES].iter().enumerate() {
        table.write(&format!(".agents/research/note-{nth}.md"), &note(nth, text));
    }
    let one = table.judge("one", "document", "low", "");
    let names = ["council-packet", "council-command-one", "council-synthesis"];
    // Sure of nothing without the probes, and so it asks.
    table.night(&[&one], &[]).expect(0);
    assert!(names.iter().all(|name| table.step(name).0 == "done"));
    table.night(&[&one], &["--long-haul"]).expect(0);
    let summary = table.summary();
    assert_eq!(summary["long_haul"]["exit_reason"], "top packet confidence is high");
    for name in names {
        let (status, why) = table.step(name);
        assert_eq!(status, "skipped", "{name}: {why}");
        assert!(why.contains("confidence is high after corroboration"), "{name}: {why}");
    }
    has_no_pending(&summary);
    assert!(summary.get("council").is_none() && table.cassette().is_empty(), "{summary:#}");
    assert_eq!(summary["yield"]["council_completed_count"], 0);
}

/// With a brief on a goal there is no need of another.
#[test]
fn a_brief_with_entries_is_enough() {
    let night = night(&[OUTAGE, LEASES, BESIDE]);
    night.run(&["--long-haul", "--goal", "harvest of plums"]).expect(0);
    let summary = night.summary();
    assert_eq!(step(&summary, "knowledge-brief-fallback"), "skipped");
    assert_eq!(summary["long_haul"]["probe_count"], 1);
    assert!(!night.latest("briefing-fallback.json").exists());
    assert_eq!(summary["briefing"]["goal"], "harvest of plums");
    // One that finds nothing is not.
    let night = self::night(&[OUTAGE, LEASES]);
    night.run(&["--long-haul", "--goal", "zebras"]).expect(0);
    let brief = json_of(&night.latest("briefing-fallback.json"));
    assert_eq!(brief["why"], "the brief on the goal found nothing");
    assert_eq!(night.summary()["briefing"]["goal"], "zebras");
}

// proves: REP-10
#[test]
fn a_night_that_is_sure_needs_none() {
    let night = night(&[OUTAGE, LEASES]);
    let queue = night.aside.path().join("queue.md");
    fs::write(&queue, "- Look at the lint gate\n").unwrap();
    night.run(&["--long-haul", "--queue", queue.to_str().unwrap()]).expect(0);
    let summary = night.summary();
    let haul = &summary["long_haul"];
    assert_eq!((&haul["enabled"], &haul["active"]), (&json!(true), &json!(false)));
    assert_eq!(haul["exit_reason"], "the top packet's confidence is high already");
    assert_eq!((&haul["probe_count"], &haul["trigger_reason"]), (&json!(0), &json!("")));
    for name in ["knowledge-brief-fallback", "packet-corroboration"] {
        assert_eq!(step(&summary, name), "skipped", "{name}");
    }
    has_no_pending(&summary);
    let report = night.markdown();
    assert!(report.contains("Asked for, and not needed. the top packet's confidence"), "{report}");
}

/// It probes as any night does, and leaves nothing but its output.
#[test]
fn a_dry_run_probes_and_changes_nothing() {
    let night = night(&[OUTAGE, LEASES]);
    let elsewhere = night.aside.path().join("dry");
    let before = night.all_files();
    let output = ["--output-dir", elsewhere.to_str().unwrap()];
    let start = ["--json", "--dry-run", "overnight", "start", "--long-haul"];
    night.repo.run(&[&start[..], &output].concat()).expect(0);
    assert_eq!(night.all_files(), before);
    let summary = json_of(&elsewhere.join("summary.json"));
    assert_eq!(summary["status"], "dry-run");
    assert_eq!(summary["long_haul"]["probe_count"], 2);
    assert_eq!(first_packet(&summary)["confidence"], "high");
    assert!(elsewhere.join("packet-corroboration.json").is_file());
}

/// Packets depend on more than the corpus, so they are looked at also where nothing changed in it.
#[test]
fn a_night_over_an_unchanged_corpus_probes_too() {
    let night = night(&[OUTAGE, LEASES]);
    for nth in 0..4 {
        night.run(&["--long-haul"]).expect(0);
        let summary = night.summary();
        assert_eq!(summary["long_haul"]["exit_reason"], "top packet confidence is high", "{nth}");
        // Each night begins from what the packet's source gives it.
        assert_eq!(summary["yield"]["top_packet_confidence_before"], "medium", "{nth}");
        if summary["unchanged_since"].is_object() {
            return;
        }
    }
    panic!("the corpus never was unchanged: {:#}", night.summary());
}

/// A probe that fails is one, and the night goes on without it.
#[test]
fn a_probe_that_fails_is_said_and_the_night_goes_on() {
    for fault in ["packet-corroboration", "panic-packet-corroboration"] {
        let night = night(&[OUTAGE, LEASES]);
        night.run_with(fault, &["--long-haul"]).expect(0);
        let summary = night.summary();
        assert_eq!(step(&summary, "packet-corroboration"), "soft-fail");
        assert_eq!(step(&summary, "morning-packets"), "done");
        assert!(!night.latest("packet-corroboration.json").exists());
        assert_eq!(summary["artifacts"]["packet_corroboration"], Value::Null);
        assert_eq!(summary["long_haul"]["probe_count"], 2, "{:#}", summary["long_haul"]);
        assert_eq!(summary["long_haul"]["zero_delta_probe_streak"], 1);
        assert_eq!(first_packet(&summary)["confidence"], "medium");
        has_no_pending(&summary);
    }
}

// proves: RUN-03
#[test]
fn it_ends_with_the_time_of_the_night() {
    // The shorter one is over before the long haul begins on a machine that has much to do.
    let ended = |limit: &&str| {
        let night = night(&[OUTAGE, LEASES]);
        let more = ["--long-haul", "--run-timeout", limit];
        night.run_with("hang-packet-corroboration", &more);
        let summary = night.summary();
        (summary["long_haul"]["exit_reason"] == "the time ended").then_some(summary)
    };
    let summary = ["5s", "25s"].iter().find_map(ended).unwrap();
    assert_eq!(summary["status"], "done");
    assert_eq!(step(&summary, "packet-corroboration"), "skipped");
    assert_eq!(first_packet(&summary)["confidence"], "medium");
    has_no_pending(&summary);
}

#[test]
fn the_flag_has_a_help_and_an_example() {
    let night = night(&[]);
    let help = night.repo.run(&["overnight", "start", "--help"]).expect(0).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("look for what else speaks for the packets"), "{help}");
    assert!(help.contains("ao overnight start --long-haul"), "{help}");
}

/// All fourteen, against the packets on disk.
fn check_yield(night: &Night, before: (u64, &str)) {
    let summary = night.summary();
    let told = summary["yield"].as_object().unwrap();
    let index = json_of(&night.latest("morning-packets/index.json"));
    let packets = index["packets"].as_array().unwrap();
    assert_eq!(Value::from(packets.clone()), summary["morning_packets"]);
    let mut mix: BTreeMap<&str, u64> = BTreeMap::new();
    for packet in packets {
        *mix.entry(packet["confidence"].as_str().unwrap()).or_default() += 1;
    }
    let count = |is: &dyn Fn(&Value) -> bool| packets.iter().filter(|one| is(one)).count();
    let is_queued =
        |packet: &Value| packet["source"] == "next-work" || packet["queue_item"].is_string();
    let first = packets.iter().find(|packet| packet["rank"] == 1).unwrap();
    let wanted = json!({
        "packet_count_before": before.0,
        "packet_count_after": packets.len(),
        "queue_backed_count": count(&is_queued),
        "queue_backed_won": is_queued(first),
        "synthetic_count": count(&|packet| !is_queued(packet)),
        "bead_sync_count": count(&|packet| packet["bead_id"].is_string()),
        "top_packet_confidence_before": before.1,
        "top_packet_confidence_after": first["confidence"],
        "confidence_mix": mix,
        "council_completed_count": 0,
        "council_failed_count": 0,
        "council_timeout_count": 0,
        "council_recommended_kind": "",
        "council_action_delta": "",
    });
    assert_eq!(told.len(), 14);
    assert_eq!(summary["yield"], wanted);
}

// proves: REP-09
#[test]
fn the_yield_is_counted_from_the_packets() {
    // One item of the queue, findings, what the night saw.
    let night = night(&[OUTAGE, LEASES]);
    for nth in 0..2 {
        let text = format!("---\nid: f-{nth}\nseverity: low\n---\n# Finding {nth}\n\n{BESIDE}\n");
        night.repo.write(&format!("findings/f-2026-03-0{nth}.md"), &text);
    }
    night.run(&[]).expect(0);
    check_yield(&night, (1, "medium"));
    // The long haul is a pass of its own: what it is given are all packets.
    let packets = night.summary()["morning_packets"].as_array().unwrap().len() as u64;
    assert!(packets > 2, "{:#}", night.summary()["morning_packets"]);
    night.run(&["--long-haul"]).expect(0);
    check_yield(&night, (packets, "medium"));
    assert_eq!(night.summary()["yield"]["top_packet_confidence_after"], "high");
    // Nothing asks for anything.
    let empty = Night::with(0);
    empty.run(&[]).expect(0);
    check_yield(&empty, (0, ""));
    assert_eq!(empty.summary()["yield"]["synthetic_count"], 1);
}
