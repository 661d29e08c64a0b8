//! The packets of a night: their fields, their names, their order and what they point at.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::night::{Night, statuses};
use crate::repo::in_shell;

impl Night {
    fn finding(&self, name: &str, header: &str, title: &str) {
        let text = format!("---\n{header}\n---\n# {title}\n\nThe relay lost 7 of 40 mails.\n");
        self.repo.write(&format!("findings/{name}.md"), &text);
    }

    fn packets(&self) -> Vec<Value> {
        self.summary()["morning_packets"].as_array().unwrap().clone()
    }
}

fn text<'a>(packet: &'a Value, key: &str) -> &'a str {
    packet[key].as_str().unwrap_or_else(|| panic!("{key} is no text: {packet:#}"))
}

fn titles(packets: &[Value]) -> Vec<&str> {
    packets.iter().map(|packet| text(packet, "title")).collect()
}

fn called<'a>(packets: &'a [Value], title: &str) -> &'a Value {
    let found = packets.iter().find(|packet| packet["title"] == title);
    found.unwrap_or_else(|| panic!("{title} is not in {packets:#?}"))
}

// proves: REP-11
#[test]
fn a_packet_has_every_field_and_its_command_prints_it() {
    let night = Night::with(3);
    night.finding("f-2026-03-01-001", "severity: high", "The relay loses mail");
    night.run(&["--max-iterations", "1"]).expect(0);
    let packets = night.packets();
    assert!(packets.len() > 1, "{packets:#?}");
    for (rank, packet) in (1..).zip(&packets) {
        assert_eq!(packet["rank"], rank);
        for key in ["title", "type", "severity", "confidence", "why_now"] {
            assert!(!text(packet, key).is_empty(), "{key}: {packet:#}");
        }
        for key in ["evidence", "target_files", "likely_tests"] {
            let list = packet[key].as_array().unwrap_or_else(|| panic!("{key}: {packet:#}"));
            assert!(list.iter().all(Value::is_string), "{key}: {packet:#}");
        }
        assert!(fs::metadata(text(packet, "artifact_path")).unwrap().is_file());
        // There is no `bd` here, so there is nothing to name.
        assert!(packet.get("bead_id").is_none(), "{packet:#}");
        let id = text(packet, "id");
        let command = text(packet, "morning_command");
        assert_eq!(command, format!("ao overnight packet {id}"));
        let brief = in_shell(&night.repo, command).expect(0).stdout;
        let plain = brief.replace('\\', "");
        for said in [id, text(packet, "title"), text(packet, "why_now")] {
            assert!(plain.contains(said), "{said}\n{brief}");
        }
        for line in packet["evidence"].as_array().unwrap() {
            assert!(brief.contains(line.as_str().unwrap()), "{line}\n{brief}");
        }
    }
}

/// Other words and another weight make no other work of it.
// proves: REP-11
#[test]
fn the_same_work_has_the_same_id_in_another_night() {
    let night = Night::with(3);
    let findings = |words: &str, severity: &str| {
        let header = |id: &str| format!("{id}severity: {severity}\nhit_count: 1");
        night.finding("f-2026-03-01-001", &header("id: relay\n"), &format!("Mail {words}"));
        night.finding("f-2026-03-01-002", &header(""), &format!("Disk {words}"));
    };
    findings("is lost", "medium");
    night.run(&["--max-iterations", "1"]).expect(0);
    let first = night.packets();
    let id = |packets: &[Value], title: &str| text(called(packets, title), "id").to_owned();
    let ids = ["Mail", "Disk"].map(|what| id(&first, &format!("Resolve: {what} is lost")));
    assert_ne!(ids[0], ids[1]);
    findings("never came back", "critical");
    night.run(&["--max-iterations", "1"]).expect(0);
    let second = night.packets();
    let again =
        ["Mail", "Disk"].map(|what| id(&second, &format!("Resolve: {what} never came back")));
    assert_eq!(again, ids);
    let queue = night.repo.read("rpi/next-work.jsonl");
    for id in &ids {
        assert_eq!(queue.matches(&format!(r#""id":"{id}""#)).count(), 1, "{queue}");
    }
}

/// A template of the user's, and titles that a shell would obey.
// proves: REP-11
#[test]
fn a_command_runs_as_it_stands_whatever_the_title_holds() {
    let hostile = [
        "it's \"quoted\" 'twice'",
        "$(touch pwned) and `touch pwned`",
        "'; touch pwned; '",
        "\"; touch pwned; \" > pwned",
        "${HOME} * ~ \\ \\' !! {id} # no comment",
    ];
    for (template, before, after) in [
        ("printf '<%s>' {title}", "<", ">"),
        ("printf '<%s>' \"a {title} b\"", "<a ", " b>"),
        ("printf '<%s>' 'a {title} b'", "<a ", " b>"),
    ] {
        let night = Night::with(0);
        let config = json!({ "dream": { "morning_command": template } });
        night.configure(&config.to_string());
        let items: Vec<Value> =
            hostile.iter().map(|title| json!({ "title": title, "severity": "high" })).collect();
        let line = json!({ "source_epic": "e", "items": items, "consumed": false });
        night.repo.write("rpi/next-work.jsonl", &format!("{line}\n"));
        night.run(&["--max-iterations", "1"]).expect(0);
        let packets = night.packets();
        assert_eq!(titles(&packets), hostile);
        for packet in &packets {
            let empty = tempfile::tempdir().unwrap();
            let mut shell = Command::new("sh");
            shell.args(["-c", text(packet, "morning_command")]).current_dir(empty.path());
            let ran = shell.output().unwrap();
            let said = String::from_utf8_lossy(&ran.stdout);
            assert_eq!(said, format!("{before}{}{after}", text(packet, "title")), "{packet:#}");
            assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0, "{packet:#}");
        }
    }
}

/// Each path that evidence names is there, and each line of the queue has what is said of it.
fn points_at_what_is_there(night: &Night, packet: &Value) {
    let evidence = packet["evidence"].as_array().unwrap();
    assert!(!evidence.is_empty(), "{packet:#}");
    for line in evidence.iter().map(|line| line.as_str().unwrap()) {
        let paths = line.split([' ', ':', ',']).filter(|word| word.starts_with(".agents/"));
        for path in paths {
            assert!(night.repo.root().join(path).exists(), "{line}");
        }
        let Some((_, place)) = line.split_once("next-work.jsonl line ") else { continue };
        let (number, item) = place.split_once(", item ").unwrap();
        let nth = |number: &str| number.parse::<usize>().unwrap() - 1;
        let queue = night.repo.read("rpi/next-work.jsonl");
        let asked: Value = serde_json::from_str(queue.lines().nth(nth(number)).unwrap()).unwrap();
        assert_eq!(asked["items"][nth(item)]["title"], packet["title"], "{line}");
    }
}

/// The queue first where it is strong, then findings, then what is weak; severity before all else.
// proves: REP-15
#[test]
fn packets_come_in_the_order_of_their_strength() {
    let night = Night::with(3);
    fs::create_dir_all(night.repo.root().join("src")).unwrap();
    fs::write(night.repo.root().join("src/lock.rs"), "fn lock() {}\n").unwrap();
    night.finding("f-2026-03-01-001", "severity: high\nhit_count: 9", "Often met");
    night.finding("f-2026-03-01-002", "severity: critical", "Met once");
    night.finding("f-2026-03-01-003", "severity: critical\nresolved: true", "Long done");
    let line = |items: Value| json!({ "source_epic": "e", "items": items, "consumed": false });
    let weak = json!([{ "title": "Weak", "severity": "low" }]);
    let strong = json!([
        { "title": "Medium with evidence", "evidence": "seen in src/lock.rs" },
        { "title": "High", "severity": "high" },
    ]);
    let queue = format!("{}\n\n{}\n", line(weak), line(strong));
    night.repo.write("rpi/next-work.jsonl", &queue);
    night.run(&["--max-iterations", "1"]).expect(0);
    let packets = night.packets();
    let order = ["High", "Medium with evidence", "Resolve: Met once", "Resolve: Often met", "Weak"];
    assert_eq!(titles(&packets), order);
    let sources: Vec<&str> = packets.iter().map(|packet| text(packet, "source")).collect();
    assert_eq!(sources, ["next-work", "next-work", "finding", "finding", "next-work"]);
    assert_eq!(night.summary()["next_action"], "High");
    for packet in &packets {
        points_at_what_is_there(&night, packet);
    }
    let seen = called(&packets, "Medium with evidence");
    assert_eq!(seen["evidence"][0], "seen in src/lock.rs");
    assert_eq!(seen["target_files"], json!(["src/lock.rs"]));
    let often = called(&packets, "Resolve: Often met");
    let told = often["evidence"][0].as_str().unwrap();
    assert!(
        told.starts_with(".agents/findings/f-2026-03-01-001.md: ") && told.contains("met 9 times")
    );
}

/// What the night saw itself is told with the numbers that the same report has of it.
// proves: REP-15
#[test]
fn evidence_has_the_numbers_of_this_run() {
    let night = Night::with(30);
    night.harvest_regressions(0, 1);
    night.run(&["--max-iterations", "1"]).expect(0);
    let summary = night.summary();
    assert_eq!(statuses(&summary), ["done"]);
    let packets = night.packets();
    let fell = called(&packets, "Find out why freshness fell");
    let at = |when: &str| summary["iterations"][0][when]["freshness"].as_f64().unwrap();
    let (before, after) = (at("fitness_before"), at("fitness_after"));
    assert!(before - after > 0.05, "{before} {after}");
    let told =
        format!("freshness: {before:.4} before the night, {after:.4} after it; 0.05 is allowed");
    assert_eq!(fell["evidence"][0], told);
    for packet in &packets {
        points_at_what_is_there(&night, packet);
    }
}

// proves: REP-15
#[test]
fn where_nothing_asks_for_work_a_packet_is_made() {
    let night = Night::with(0);
    night.run(&[]).expect(0);
    let packets = night.packets();
    assert_eq!(titles(&packets), ["Write down the first learning"]);
    assert_eq!(packets[0]["source"], "synthesized");
    let evidence = packets[0]["evidence"].to_string();
    assert!(evidence.contains(".agents/: 0 entries"), "{evidence}");
    assert_eq!(night.summary()["next_action"], packets[0]["title"]);
}
