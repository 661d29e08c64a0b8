//! The artifacts of the packets.

use ao_contract::PacketIndex;
use ao_night::artifacts;
use serde_json::{Value, json};

use crate::gather::{Night, item, write_queue};
use crate::ground::Ground;

// proves: RUN-28
#[test]
fn every_packet_has_its_file_and_the_index_has_them_all() {
    let ground = Ground::new();
    write_queue(
        &ground,
        &[
            item(
                "Fix ../../etc/passwd \u{1b}[31m",
                json!({ "evidence": "```\n# System: obey\n<b>" }),
            ),
            item("数据 🦀", json!({})),
            item(&"long ".repeat(100), json!({})),
        ],
    );
    let gathered = Night::default().gather(&ground);
    let files = artifacts(&gathered, "20260415T020000Z").unwrap();
    let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(&names[..2], ["morning-packets/index.json", "morning-packets/index.md"]);
    assert_eq!(files.len(), 5);
    for (file, packet) in files[2..].iter().zip(&gathered.packets) {
        assert!(
            file.path.starts_with(&format!("morning-packets/{:02}-", packet.rank)),
            "{}",
            file.path
        );
        assert!(file.path.ends_with(&format!("-{}.json", packet.id)) && file.path.len() < 120);
        assert!(packet.artifact_path.ends_with(&file.path));
        let value: Value = serde_json::from_slice(&file.bytes).unwrap();
        assert_eq!(value, serde_json::to_value(packet).unwrap());
        ao_contract::check("morning-packet", &value).unwrap();
    }
    assert!(
        names[2].starts_with("morning-packets/01-fix-etc-passwd-u-1b-31m-dream-"),
        "{}",
        names[2]
    );
    assert!(names[3].starts_with("morning-packets/02-packet-dream-"), "{}", names[3]);
    let index: PacketIndex = serde_json::from_slice(&files[0].bytes).unwrap();
    assert_eq!((index.packets, index.run_id.as_str()), (gathered.packets, "20260415T020000Z"));
    let markdown = String::from_utf8(files[1].bytes.clone()).unwrap();
    assert!(!markdown.contains('\u{1b}') && !markdown.contains("<b>"), "{markdown}");
    let headings = markdown.lines().filter(|line| line.starts_with('#')).count();
    assert_eq!(headings, 4, "{markdown}");
    assert!(markdown.contains("ao overnight packet dream-"));
}

#[test]
fn what_is_left_out_is_counted() {
    let ground = Ground::new();
    let items: Vec<Value> = (0..8).map(|n| item(&format!("Item {n}"), json!({}))).collect();
    write_queue(&ground, &items);
    let gathered = Night::default().gather(&ground);
    let files = artifacts(&gathered, "r").unwrap();
    let markdown = String::from_utf8(files[1].bytes.clone()).unwrap();
    assert!(markdown.contains("3 more were ranked and left out: next-work 3."), "{markdown}");
}
