//! The demo's corpus: what a week of work with agents might leave behind.

use ao_tree::{Action, Edit};
use serde_json::{Value, json};

const SUBJECTS: [(&str, &str); 12] = [
    (
        "retry-with-jitter",
        "Retries without jitter arrive together; add up to half the delay at random.",
    ),
    (
        "pin-the-toolchain",
        "A build that floats its compiler breaks on a Monday; pin it in the repo.",
    ),
    ("flush-before-rename", "A rename is only as durable as the bytes it points at: flush first."),
    ("migrations-append-only", "Never edit a migration that has run anywhere; add the next one."),
    ("small-fixtures", "A fixture of three rows finds the bug that a dump of a million hides."),
    (
        "timeouts-everywhere",
        "A call with no time limit is a call that hangs at three in the morning.",
    ),
    ("one-parser", "Two parsers for one format are two formats."),
    ("log-the-decision", "Write down why, where the next one will look: beside the code."),
    ("idempotent-jobs", "A job that may run twice must be allowed to run twice."),
    ("feature-flags-expire", "A flag without an end date is configuration."),
    ("measure-first", "The slow part was never the one we guessed."),
    ("cache-keys-have-versions", "Put the schema's version into the key and deploys stop hurting."),
];

/// What is there at first.
pub(super) fn seed() -> Vec<Edit> {
    let mut files = Vec::new();
    for (index, (name, text)) in SUBJECTS.iter().enumerate() {
        let day = index + 1;
        files.push((format!("learnings/2026-04-{day:02}-{name}.md"), learning(name, text)));
        if index % 3 == 0 {
            files.push((format!("findings/f-2026-04-{day:02}-001.md"), finding(name, text)));
            files.push((
                format!("knowledge/pending/2026-04-{day:02}-{name}-again.md"),
                learning(name, text),
            ));
        }
        if index % 4 == 0 {
            files.push((format!("patterns/{name}.md"), format!("# {name}\n\n{text}\n")));
        }
    }
    files.push(("rpi/next-work.jsonl".into(), queue(&["measure-first"])));
    files.into_iter().map(|(path, content)| edit(path, content)).collect()
}

/// Two sessions wrote down the same lesson, and two others disagree in one number.
pub(super) fn notes() -> Vec<Edit> {
    let lesson = |header: &str, retries: &str, more: &str| {
        format!(
            "---\n{header}---\n\n# Learning: Payment client retries\n\n## What We Learned\n\n\
             The payment client sent every charge again when the gateway answered late, and \
             {retries} orders were charged twice on 14 March. The gateway keeps an idempotency key \
             for 24 hours, so a retry that carries the same key is safe and one without it is not.\
             {more}\n\n## How To Apply\n\n1. Set `Idempotency-Key` from the order id in \
             `billing/client.rs`.\n2. Stop after three attempts and leave the order in \
             `payment_pending`.\n3. Alert when more than 5 percent of charges need a second attempt.\n\n\
             ## Source\n\nIncident INC-2214, commit 9f31c07.\n"
        )
    };
    let timeout = |seconds: u32| {
        format!(
            "---\ndate: 2026-04-20\n---\n\n# Learning: Gateway timeout\n\n## What We Learned\n\nSet the \
             read timeout of the card gateway to {seconds} seconds in `gateway.toml`. The bank's own \
             limit is checked by the nightly probe, and connections above it are closed without an \
             answer.\n\n## Source\n\nLoad test of 18 April, dashboard `gw-latency`.\n"
        )
    };
    let established = "date: 2026-03-15\nmaturity: established\nutility: 0.8\nreward_count: 6\n";
    let copy = "date: 2026-04-18\nmaturity: provisional\nreward_count: 1\nsource_bead: na-77\n";
    let more = " Refunds took the support team two days.";
    [
        ("learnings/2026-03-15-payment-retries.md", lesson(established, "37", "")),
        ("learnings/2026-04-18-charged-twice.md", lesson(copy, "37", more)),
        ("learnings/2026-04-20-gateway-timeout.md", timeout(8)),
        ("learnings/2026-04-21-gateway-timeout-again.md", timeout(30)),
    ]
    .into_iter()
    .map(|(path, content)| edit(path.to_owned(), content))
    .collect()
}

pub(super) fn edit(path: String, content: String) -> Edit {
    Edit {
        path,
        action: Action::Write(content.into_bytes()),
        mode: None,
        reason: "part of the demo".into(),
        sources: Vec::new(),
        group: None,
        seen: None,
    }
}

/// One edit over all five parts: a copy merged away, an answer added, a pattern made, a pending
/// learning taken in, and the queue told.
pub(super) fn edits() -> Value {
    let merged = learning(
        "retry-with-jitter",
        "Retries without jitter arrive together; add up to half the delay at random, and cap the total.",
    );
    json!({
        "schema_version": 1,
        "why": "consolidate what was learned about retries",
        "edits": [
            { "op": "write", "path": "learnings/2026-04-01-retry-with-jitter.md", "content": merged,
              "reason": "takes in the pending copy", "sources": ["knowledge/pending/2026-04-01-retry-with-jitter-again.md"] },
            { "op": "delete", "path": "knowledge/pending/2026-04-01-retry-with-jitter-again.md",
              "reason": "merged into the learning", "sources": ["learnings/2026-04-01-retry-with-jitter.md"] },
            { "op": "write", "path": "findings/f-2026-04-01-001.md",
              "content": finding("retry-with-jitter", "**Resolved:** the client now retries with jitter."),
              "reason": "resolved" },
            { "op": "write", "path": "patterns/bounded-everything.md",
              "content": "# bounded-everything\n\nRetries, timeouts and flags: each has a limit.\n",
              "reason": "three learnings say the same", "sources": ["learnings/2026-04-06-timeouts-everywhere.md"] },
            { "op": "write", "path": "rpi/next-work.jsonl", "content": queue(&["measure-first", "cap-retries"]),
              "reason": "one packet for the morning" },
        ],
    })
}

pub(super) fn is_edited(path: &str) -> bool {
    let list = edits();
    list["edits"].as_array().is_some_and(|edits| edits.iter().any(|edit| edit["path"] == path))
}

fn learning(name: &str, text: &str) -> String {
    format!(
        "---\nid: {name}\ntype: learning\nutility: 0.6\nmaturity: candidate\n---\n# Learning: {name}\n\n## What We Learned\n\n{text}\n"
    )
}

fn finding(name: &str, text: &str) -> String {
    format!("---\nid: {name}\nseverity: medium\nstatus: open\n---\n# {name}\n\n{text}\n")
}

fn queue(titles: &[&str]) -> String {
    let line = |title: &&str| {
        let item = json!({ "title": title, "type": "improvement", "severity": "medium" });
        format!(
            "{}\n",
            json!({ "source_epic": "demo", "timestamp": "2026-04-12T06:00:00Z", "items": [item], "consumed": false, "claim_status": "available" })
        )
    };
    titles.iter().map(line).collect()
}
