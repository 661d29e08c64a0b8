//! Packets in the work queue: every byte that is not meant stays.

use ao_contract::MorningPacket;
use ao_night::{Night, SyncError, sync};
use ao_tree::{Action, Edit, Seen};
use serde_json::{Value, json};

use crate::ground::Ground;

fn packet(id: &str, more: Value) -> MorningPacket {
    let mut packet = json!({
        "id": id, "rank": 1, "title": format!("Title of {id}"), "type": "bug", "severity": "critical",
        "confidence": "high", "why_now": "Because.", "evidence": ["one", "two"],
        "target_files": ["src/a.rs"], "likely_tests": [], "morning_command": format!("ao overnight packet {id}"),
        "artifact_path": "/repo/.agents/overnight/latest/morning-packets/01-x.json", "source": "finding",
        "still_true": [{ "kind": "finding-open", "finding": "f-1" }],
    });
    let Value::Object(more) = more else { panic!("no object") };
    for (key, value) in more {
        packet[key] = value;
    }
    serde_json::from_value(packet).unwrap()
}

fn night() -> Night<'static> {
    Night {
        root: std::path::Path::new("/repo"),
        repo: "tapir",
        run_id: "20260415T020000Z",
        timestamp: "2026-04-15T03:00:00Z",
    }
}

fn synced(before: Option<&[u8]>, packets: &[MorningPacket]) -> Option<Vec<u8>> {
    let Edit { path, action, seen, .. } = sync(before, packets, &night()).unwrap()?;
    assert_eq!(path, "rpi/next-work.jsonl");
    assert_eq!(seen, Some(before.map_or(Seen::Nothing, Seen::bytes)));
    match action {
        Action::Write(bytes) => Some(bytes),
        Action::Delete => panic!("the queue is not deleted"),
    }
}

const ID: &str = "dream-0d9fa4d5f2e0d7a1";
const OTHER: &str = "dream-ffffffffffffffff";

// proves: REP-16
// pitfall 18
#[test]
fn new_packets_become_one_line_for_this_repository() {
    let packets = [packet(ID, json!({ "bead_id": "na-1" })), packet(OTHER, json!({}))];
    let bytes = synced(None, &packets).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert_eq!(text.lines().count(), 1);
    let line: Value = serde_json::from_str(&text).unwrap();
    ao_contract::check("next-work", &line).unwrap();
    assert_eq!(line["source_epic"], "ao-overnight-20260415T020000Z");
    assert_eq!((&line["consumed"], &line["claim_status"]), (&json!(false), &json!("available")));
    let item = &line["items"][0];
    assert_eq!(item["id"], ID);
    assert_eq!(item["target_repo"], "tapir");
    assert_eq!(item["severity"], "high", "a word that readers of the queue know");
    assert_eq!(item["packet_path"], ".agents/overnight/latest/morning-packets/01-x.json");
    assert_eq!(item["bead_id"], "na-1");
    for field in
        ["confidence", "why_now", "target_files", "likely_tests", "morning_command", "still_true"]
    {
        assert!(!item[field].is_null(), "{field}");
    }
    assert!(line["items"][1].get("bead_id").is_none());
    // The same again is nothing.
    assert_eq!(synced(Some(&bytes), &packets), None);
    // So is a later night that sees the same.
    let later = Night { run_id: "20260416T020000Z", timestamp: "later", ..night() };
    assert_eq!(sync(Some(&bytes), &packets, &later), Ok(None));
}

// proves: REP-20
#[test]
fn a_packet_that_came_from_an_item_is_written_back_and_not_doubled() {
    let before =
        format!("{{\"items\":[{{\"id\":\"{ID}\",\"title\":\"t\",\"confidence\":0.2}}]}}\n");
    let more = json!({ "queue_item": ID, "source": "next-work", "bead_id": "na-1" });
    let packets = [packet(ID, more)];
    let added = format!(
        ",\"packet_path\":\".agents/overnight/latest/morning-packets/01-x.json\",\
         \"morning_command\":\"ao overnight packet {ID}\",\"bead_id\":\"na-1\""
    );
    let wanted = before.replace("0.2", &format!("0.2{added}"));
    let after = synced(Some(before.as_bytes()), &packets).unwrap();
    assert_eq!(String::from_utf8(after.clone()).unwrap(), wanted);
    assert_eq!(synced(Some(&after), &packets), None);
    // One that came from an item that is gone meanwhile is not put there again.
    assert_eq!(synced(Some(b"{\"items\":[]}\n"), &packets), None);
    assert_eq!(synced(Some(b""), &[]), None);
    assert_eq!(synced(None, &[]), None);
}

/// Files as people have them, each with an item of the packet at `@`.
fn files() -> Vec<Vec<u8>> {
    let item = format!(
        "{{\"zeta\" : 1.50,\"id\":\"{ID}\",\"source\":\"ao-overnight:night\",\"title\":\"edited by hand\",  \"why_now\":\"old\",\"n\":1e400000}}"
    )
    .replace("1e400000", "18446744073709551615");
    let plain = format!("{{\"source_epic\":\"e\",\"items\":[{item}],\"x\":null}}");
    let spaced = format!(
        "{{ \"odd\": [ ], \"items\": [ {{\"title\":\"n\"}} ,\t{item} , {{\"title\":\"m\"}} ], \"items_2\": 3 }}"
    );
    let mut files = vec![
        format!("{plain}\n"),
        plain.clone(),
        format!("{plain}\r\nnot json at all\r\n{{\"items\":[]}}\r\n"),
        format!("\u{feff}{plain}\n\n\n  \n"),
        format!("---\nyaml: header\n---\n{spaced}\n{{\"half\":"),
        format!("{{\"items\":[{{\"title\":3}},{{\"title\":\"a\"}}]}}\n{spaced}\r\n{{\"a\":1}}"),
        spaced,
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect::<Vec<_>>();
    let mut odd = b"\xff\xfe broken\n".to_vec();
    odd.extend_from_slice(plain.as_bytes());
    odd.extend_from_slice(b"\n\xc3\x28");
    files.push(odd);
    files
}

/// What is the same at the beginning and at the end of two files; the rest is what changed.
fn changed<'a>(before: &'a [u8], after: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
    let (before, after) = (&before[start..], &after[start..]);
    let end = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
    (&before[..before.len() - end], &after[..after.len() - end])
}

// pitfall 17
#[test]
fn an_item_is_kept_up_to_date_and_no_other_byte_changes() {
    for before in files() {
        let text = String::from_utf8_lossy(&before).into_owned();
        let packets = [packet(ID, json!({ "bead_id": "na-1" }))];
        let after = synced(Some(&before), &packets).unwrap_or_else(|| panic!("{text}"));
        let (gone, come) = changed(&before, &after);
        let line = before
            .split(|b| *b == b'\n')
            .find(|l| String::from_utf8_lossy(l).contains(ID))
            .unwrap();
        assert!(gone.len() <= line.len(), "only within the one line");
        let come = String::from_utf8_lossy(come);
        assert!(come.contains("Because.") && come.contains("na-1"), "{come}");
        let after_text = String::from_utf8_lossy(&after).into_owned();
        assert!(after_text.contains("\"zeta\" : 1.50"), "{after_text}");
        assert!(after_text.contains("\"n\":18446744073709551615"), "{after_text}");
        assert!(after_text.contains("edited by hand") && !after_text.contains("Title of"));
        assert_eq!(after_text.matches(ID).count(), text.matches(ID).count() + 1, "id and command");
        // All lines but the one are there, with their ends.
        let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
            bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect()
        };
        let (old, new) = (lines(&before), lines(&after));
        assert_eq!(old.len(), new.len());
        let differ = old.iter().zip(&new).filter(|(old, new)| old != new).count();
        assert_eq!(differ, 1);
        assert_eq!(synced(Some(&after), &packets), None, "a second time changes nothing");
        // One field that changed is one value that is replaced.
        let moved = [packet(ID, json!({ "bead_id": "na-1", "why_now": "Now!" }))];
        let third = synced(Some(&after), &moved).unwrap();
        assert_eq!(third.len() + "Because.".len(), after.len() + "Now!".len());
        // Without its bead it keeps the link that it has.
        assert_eq!(synced(Some(&after), &[packet(ID, json!({}))]), None);
    }
}

#[test]
fn a_new_line_leaves_the_old_ones_as_they_are() {
    for before in files() {
        let packets = [packet(OTHER, json!({}))];
        let after = synced(Some(&before), &packets).unwrap();
        assert!(after.starts_with(&before), "{}", String::from_utf8_lossy(&after));
        assert!(after.ends_with(b"\n"));
        let added = &after[before.len()..];
        let is_closed = before.ends_with(b"\n");
        let lines =
            added.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()).count();
        assert_eq!(lines, 1);
        assert_eq!(
            added.first() == Some(&b'{'),
            is_closed,
            "a last line without its end is closed"
        );
        if before.windows(2).any(|pair| pair == b"\r\n") {
            assert!(after.ends_with(b"\r\n"));
        }
        assert_eq!(synced(Some(&after), &packets), None);
    }
}

#[test]
fn what_somebody_has_or_has_done_stays_so() {
    let item = format!("{{\"id\":\"{ID}\",\"title\":\"t\",\"why_now\":\"old\"}}");
    let with = |more: &str| item.replace("\"old\"", &format!("\"old\",{more}"));
    for line in [
        format!("{{\"items\":[{item}],\"consumed\":true}}\n"),
        format!("{{\"items\":[{item}],\"claim_status\":\"in_progress\"}}\n"),
        format!("{{\"items\":[{}]}}\n", with("\"consumed\":true")),
        format!("{{\"items\":[{}]}}\n", with("\"claim_status\":\"consumed\"")),
        // What cannot be read beyond doubt is not touched, and not added again either.
        format!("{{\"items\":[{}]}}\n", with("\"claim_status\":\"on the moon\"")),
        format!("{{\"items\":[{}]}}\n", with("\"why_now\":\"twice\"")),
        format!("{{\"items\":[],\"items\":[{item}]}}\n"),
        format!("{{\"items\":[{item}]\n"),
        format!("{{\"items\":[{item}],\"claim_status\":\"unheard of\"}}\n"),
        format!("\u{feff}oops {ID}\r\n"),
    ] {
        let after = synced(Some(line.as_bytes()), &[packet(ID, json!({}))]);
        assert_eq!(after, None, "{line}");
    }
}

#[test]
fn a_run_has_one_line() {
    let first = synced(Some(b"{\"items\":[]}\r\n"), &[packet(ID, json!({}))]).unwrap();
    let both = [packet(ID, json!({})), packet(OTHER, json!({}))];
    let second = synced(Some(&first), &both).unwrap();
    let text = String::from_utf8(second.clone()).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    let line: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!(line["items"].as_array().unwrap().len(), 2);
    assert_eq!(synced(Some(&second), &both), None);
    // A line that is done takes no more.
    let done = text.replace("\"consumed\":false", "\"consumed\":true");
    let third = [packet("dream-1111111111111111", json!({}))];
    let third = String::from_utf8(synced(Some(done.as_bytes()), &third).unwrap()).unwrap();
    assert_eq!(third.lines().count(), 3);
}

#[test]
fn a_queue_that_is_too_large_is_left_alone() {
    let large = vec![b' '; 64 * 1024 * 1024 + 1];
    assert_eq!(sync(Some(&large), &[packet(ID, json!({}))], &night()), Err(SyncError::TooLarge));
}

/// Pieces of queues in every order: whatever the file is, it is not lost, and one pass is enough.
#[test]
fn no_file_makes_it_lose_a_byte() {
    let item = format!("{{\"id\":\"{ID}\",\"title\":\"t\"}}");
    let whole = format!("{{\"items\":[{item} ,{{\"title\":\"x\"}}]}}");
    let pieces = [
        whole.as_str(),
        whole.as_str(),
        "{\"items\":[",
        "]}",
        "\n",
        "\r\n",
        item.as_str(),
        ",",
        "{\"title\":\"x\"}",
        "}",
        "\"",
        "\\",
        " ",
        "[",
        "\u{feff}",
        "\"consumed\":true",
        "é",
    ];
    let mut state = 7_u64;
    let packets = [packet(ID, json!({})), packet(OTHER, json!({}))];
    let mut updated = 0;
    for _ in 0..4_000 {
        let mut file = String::new();
        for _ in 0..9 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            file.push_str(pieces[usize::try_from(state >> 33).unwrap() % pieces.len()]);
        }
        let Some(after) = synced(Some(file.as_bytes()), &packets) else { continue };
        let after = String::from_utf8(after).unwrap();
        // Taking out what was added gives back what was there.
        let (gone, _) = changed(file.as_bytes(), after.as_bytes());
        assert!(gone.is_empty() || file.contains(ID), "{file:?}\n{after:?}");
        assert!(is_subsequence(&file, &after), "{file:?}\n{after:?}");
        assert_eq!(synced(Some(after.as_bytes()), &packets), None, "{file:?}\n{after:?}");
        updated += usize::from(!after.starts_with(&file));
    }
    assert!(updated > 100, "items were met: {updated}");
}

fn is_subsequence(short: &str, long: &str) -> bool {
    let mut rest = long.chars();
    short.chars().all(|c| rest.any(|other| other == c))
}

/// What a night wrote is read by the next one, and changes nothing.
#[test]
fn two_nights_agree() {
    let ground = Ground::new();
    ground.write(".agents/findings/f-1.md", "---\nid: F1\nseverity: high\n---\n# One\n");
    ground.write(".agents/findings/f-2.md", "---\nid: F2\n---\n# Two\n");
    crate::gather::write_queue(&ground, &[crate::gather::item("Theirs", json!({}))]);
    let path = ground.path(".agents/rpi/next-work.jsonl");
    let mut nights = Vec::new();
    for run in ["20260415T020000Z", "20260416T020000Z", "20260417T020000Z"] {
        let gathered = crate::gather::Night::default().gather(&ground);
        let before = std::fs::read(&path).unwrap();
        let night = Night { root: ground.root(), run_id: run, ..night() };
        if let Some(edit) = sync(Some(&before), &gathered.packets, &night).unwrap() {
            let Action::Write(bytes) = edit.action else { panic!() };
            std::fs::write(&path, bytes).unwrap();
        }
        nights.push((std::fs::read(&path).unwrap(), gathered));
    }
    assert_eq!(nights[0].1.packets.len(), 3);
    assert_eq!(nights[1], nights[0]);
    assert_eq!(nights[2], nights[0]);
}
