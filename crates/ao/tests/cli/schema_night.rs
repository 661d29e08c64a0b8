//! Every file that a night writes, against the schema that the binary prints for it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::council::Table;
use crate::repo::files;

/// The format of a file beneath `.agents/`; nothing for what is no JSON.
fn format_of(path: &str) -> Option<&'static str> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = folder.rsplit('/').next().unwrap_or_default();
    let kind = name.rsplit('.').next().unwrap_or_default();
    Some(match (parent, name) {
        ("council", "packet.json") => "council-packet",
        ("council", "synthesis.json") => "council-synthesis",
        ("council", _) => "runner-report",
        ("morning-packets", "index.json") => "morning-packets",
        ("morning-packets", "index.md") => return None,
        ("morning-packets", _) => "morning-packet",
        ("iterations", _) => "iteration",
        ("defrag", "latest.json") => "defrag",
        ("cassettes", name) if name.ends_with(".night.json") => "night",
        ("cassettes", _) if kind == "jsonl" => "cassette",
        (_, "summary.json") => "summary",
        (_, "close-loop.json") => "close-loop",
        (_, "metrics-health.json") => "metrics-health",
        (_, "retrieval-bench.json") => "retrieval-bench",
        (_, "briefing.json") => "knowledge-brief",
        (_, "briefing-fallback.json") => "briefing-fallback",
        (_, "packet-corroboration.json") => "packet-corroboration",
        (_, "ledger.jsonl") => "ledger",
        (_, "history.jsonl") => "history",
        (_, "receipts.jsonl") => "receipt",
        (_, "record.json") => "record",
        (_, "provenance.json") => "archive-provenance",
        (_, "settled.json") => "settled",
        (_, "warn-only-budget.json") => "warn-only-budget",
        (_, "next-work.jsonl") => "next-work",
        _ if ["json", "jsonl"].contains(&kind) => panic!("no schema is known for {path}"),
        _ => return None,
    })
}

// proves: REP-17
#[test]
fn every_file_of_a_night_validates_against_its_own_schema() {
    let table = Table::new();
    let title = "The mail relay loses its quorum lease";
    let item = json!({ "title": title, "severity": "high", "file": "src/relay.rs" });
    let line = json!({
        "source_epic": "e", "timestamp": "2026-03-01T00:00:00Z", "items": [item], "consumed": false
    });
    table.write(".agents/rpi/next-work.jsonl", &format!("{line}\n"));
    table
        .write("src/relay.rs", "fn renew_lease(relay: &Relay) { // mail waits for the quorum\n}\n");
    // Two that speak for the item, and a copy that the night merges.
    let notes = [
        "When our relay for mail was restarted, a quorum was what each node would lose: the lease was over.",
        "A lease that one thread renews will lose against a slow disk: a quorum of four, and mail in front of that relay.",
    ];
    for (nth, note) in notes.iter().enumerate() {
        let note = format!("---\nsource_session: s-{nth}\n---\n# Note {nth}\n\n{note}\n");
        table.write(&format!(".agents/research/note-{nth}.md"), &note);
    }
    table.write(".agents/learnings/2026-03-02-copy.md", &crate::night::learning(1));
    let one = table.judge("one", "repair", "high", "sell it");
    table.night(&[&one], &["--goal", "a quorum", "--creative-lane"]).expect(0);
    table.night(&[], &["--long-haul"]).expect(0);

    let agents = table.path(".agents");
    let mut checked: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, seen) in files(&agents) {
        let is_written =
            ["overnight/", "ao/", "rpi/"].iter().any(|folder| path.starts_with(folder));
        let Some(format) = is_written.then(|| format_of(&path)).flatten() else { continue };
        let printed = table.desk.home.ao(&["schema", format]).expect(0).json();
        let schema = jsonschema::validator_for(&printed).unwrap();
        let text = String::from_utf8(seen.bytes).unwrap();
        let is_lines = path.rsplit('.').next() == Some("jsonl");
        let values: Vec<&str> = if is_lines { text.lines().collect() } else { vec![&text] };
        for value in values {
            let value: Value = serde_json::from_str(value).unwrap();
            let problems: Vec<String> =
                schema.iter_errors(&value).map(|error| error.to_string()).collect();
            assert!(problems.is_empty(), "{path}: {problems:?}\n{value:#}");
            *checked.entry(format).or_default() += 1;
        }
    }
    for format in [
        "summary",
        "iteration",
        "morning-packet",
        "morning-packets",
        "runner-report",
        "council-packet",
        "council-synthesis",
        "close-loop",
        "metrics-health",
        "retrieval-bench",
        "knowledge-brief",
        "briefing-fallback",
        "packet-corroboration",
        "defrag",
        "night",
        "cassette",
        "ledger",
        "history",
        "record",
        "receipt",
        "archive-provenance",
        "next-work",
    ] {
        assert!(checked.contains_key(format), "no {format} was written: {checked:?}");
    }
}
