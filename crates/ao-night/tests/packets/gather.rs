//! From what a night knows to a few packets.

use ao_contract::{Defrag, Fitness, MetricsHealth, MorningPacket};
use ao_corpus::Tree;
use ao_night::{Asked, Gathered, Shell, Sources, Template, gather, queue, queued, yields};
use serde_json::{Value, json};

use crate::ground::Ground;

/// What a night knows; a test sets what it is about.
#[derive(Default)]
pub(crate) struct Night {
    queue: Option<&'static str>,
    defrag: Value,
    health: Value,
    before: Value,
    after: Value,
    template: Option<&'static str>,
}

impl Night {
    pub(crate) fn gather(&self, ground: &Ground) -> Gathered {
        let template =
            self.template.map_or_else(Template::default, |t| Template::parse(t).unwrap());
        let items = self.queue.map(|text| queue::read(text.as_bytes()).unwrap().items);
        let next_work = std::fs::read(ground.path(".agents/rpi/next-work.jsonl")).ok();
        let tree = Tree::list(ground.agents()).unwrap();
        let defrag: Option<Defrag> = with(
            &self.defrag,
            json!({
                "schema_version": 1, "status": "nothing-to-do", "merges": [], "prunes": [], "review": [],
                "kept": [], "oscillations": [], "cycles_unread": 0,
            }),
        );
        let health: Option<MetricsHealth> = with(
            &self.health,
            json!({
                "schema_version": 1, "retrievable": 3, "cited": 1, "sessions": 2, "knowledge_stock": {},
                "loop_dominance": {}, "absent": {}, "left": [],
                "fitness": { "composite": 0.5, "metrics": {}, "weights": {}, "floors": {}, "absent": {} },
            }),
        );
        let fitness =
            |value: &Value| -> Option<Fitness> { serde_json::from_value(value.clone()).ok() };
        let (before, after) = (fitness(&self.before), fitness(&self.after));
        let output_dir = ground.path(".agents/overnight/latest");
        gather(&Sources {
            place: ground.place(),
            repo: "tapir",
            output_dir: &output_dir,
            command: &template,
            asked: items.as_deref().map(|items| Asked { items, file: Some("TONIGHT.md") }),
            next_work: next_work.as_deref(),
            tree: &tree,
            defrag: defrag.as_ref(),
            health: health.as_ref(),
            fitness_before: before.as_ref(),
            fitness_after: after.as_ref(),
            shell: Shell::Never("not here"),
        })
    }
}

/// A whole document with some of its fields set; `None` where nothing was said.
fn with<T: serde::de::DeserializeOwned>(said: &Value, mut whole: Value) -> Option<T> {
    for (key, value) in said.as_object()? {
        whole[key] = value.clone();
    }
    Some(serde_json::from_value(whole).unwrap())
}

fn titles(gathered: &Gathered) -> Vec<&str> {
    gathered.packets.iter().map(|packet| packet.title.as_str()).collect()
}

fn source(packet: &MorningPacket) -> Value {
    serde_json::to_value(packet).unwrap()["source"].clone()
}

pub(crate) fn item(title: &str, more: Value) -> Value {
    let mut item = json!({ "title": title, "type": "task", "severity": "medium" });
    let Value::Object(more) = more else { panic!("no object") };
    for (key, value) in more {
        item[key] = value;
    }
    item
}

pub(crate) fn write_queue(ground: &Ground, items: &[Value]) {
    let line = json!({ "source_epic": "e-1", "timestamp": "t", "items": items, "consumed": false });
    ground.write(".agents/rpi/next-work.jsonl", &format!("{line}\n"));
}

// proves: REP-15
#[test]
fn packets_come_in_the_order_of_their_strength() {
    let ground = Ground::new();
    ground.write("TONIGHT.md", "- Asked second\n");
    ground.write("src/lock.rs", "fn lock() {}\n");
    ground.write("tests/lock.rs", "#[test]\n");
    ground.write(".agents/findings/f-1.md", "---\nid: F1\nseverity: high\n---\n# High finding\n");
    ground.write(
        ".agents/findings/f-2.md",
        "---\nid: F2\nseverity: critical\nhit_count: 3\n---\n# Critical finding\n\nSee src/lock.rs:3.\n",
    );
    ground
        .write(".agents/findings/f-3.md", "---\nseverity: critical\nresolved: true\n---\n# Old\n");
    write_queue(
        &ground,
        &[
            item("Weak", json!({ "severity": "low" })),
            item("Queued medium", json!({})),
            item(
                "Queued high",
                json!({ "severity": "high", "evidence": "seen in src/lock.rs", "id": "nw-1" }),
            ),
        ],
    );
    let night = Night {
        queue: Some("- Asked first\n- Asked second [severity: low]\n"),
        ..Night::default()
    };
    let gathered = night.gather(&ground);
    let order = [
        "Asked first",
        "Asked second",
        "Queued high",
        "Queued medium",
        "Resolve: Critical finding",
    ];
    assert_eq!(titles(&gathered), order);
    assert_eq!(gathered.left_out.values().sum::<u64>(), 2);
    assert_eq!(gathered.left_out["finding"], 1);
    let ranks: Vec<u32> = gathered.packets.iter().map(|packet| packet.rank.get()).collect();
    assert_eq!(ranks, [1, 2, 3, 4, 5]);

    let high = &gathered.packets[2];
    assert_eq!(high.target_files, ["src/lock.rs"]);
    assert_eq!(high.likely_tests, ["tests/lock.rs"]);
    assert_eq!(high.evidence[0], "seen in src/lock.rs");
    assert!(high.evidence.iter().any(|line| line.contains("next-work.jsonl line 1, item 3")));
    assert_eq!(high.queue_item.as_deref(), Some("nw-1"));
    let critical = &gathered.packets[4];
    assert_eq!(critical.target_files, [".agents/findings/f-2.md", "src/lock.rs"]);
    assert!(critical.evidence[0].contains("severity critical, met 3 times"), "{critical:?}");
    assert_eq!(critical.still_true.len(), 1);
    for packet in &gathered.packets {
        assert!(packet.morning_command.ends_with(&packet.id) && packet.bead_id.is_none());
        for file in packet.target_files.iter().chain(&packet.likely_tests) {
            assert!(ground.path(file).is_file(), "{file}");
        }
    }

    let counted = yields(&queued(&gathered.packets), &gathered.packets);
    assert_eq!((counted.packet_count_before, counted.packet_count_after), (2, 5));
    assert_eq!((counted.queue_backed_count, counted.queue_backed_won), (2, false));
    assert_eq!(counted.top_packet_confidence_after, "high");
    assert_eq!(counted.confidence_mix.values().sum::<u64>(), 5);
    assert_eq!((counted.council_completed_count, counted.council_action_delta.as_str()), (0, ""));
}

// pitfall 18
#[test]
fn critical_ranks_above_high_and_a_word_of_its_own_in_the_middle() {
    let ground = Ground::new();
    for (name, severity) in
        [("a", "low"), ("b", "critical"), ("c", "odd"), ("d", "high"), ("e", "medium")]
    {
        let text = format!("---\nseverity: {severity}\n---\n# {severity}\n");
        ground.write(&format!(".agents/findings/f-{name}.md"), &text);
    }
    let gathered = Night::default().gather(&ground);
    let order = ["critical", "high", "odd", "medium", "low"].map(|word| format!("Resolve: {word}"));
    assert_eq!(titles(&gathered), order);
}

#[test]
fn only_what_is_free_and_for_this_repository_is_taken() {
    let ground = Ground::new();
    write_queue(
        &ground,
        &[
            item("Ours", json!({ "target_repo": "tapir" })),
            item("Also ours", json!({ "target_repo": "zoo/Tapir" })),
            item("Anybody's", json!({ "target_repo": "*" })),
            item("Nobody's", json!({ "target_repo": null })),
            item("Theirs", json!({ "target_repo": "okapi" })),
            item("Staged", json!({ "target_repo": "20260415T020000Z-iter-1" })),
            item("Claimed", json!({ "claim_status": "in_progress", "claimed_by": "x" })),
            item("Done", json!({ "consumed": true })),
        ],
    );
    let gathered = Night::default().gather(&ground);
    assert_eq!(titles(&gathered), ["Ours", "Also ours", "Anybody's", "Nobody's"]);
}

/// A long queue does not hide a finding that is bad; what the operator asks for may.
#[test]
fn the_last_place_is_kept_for_a_bad_finding() {
    let ground = Ground::new();
    ground.write(".agents/findings/f-1.md", "---\nseverity: critical\n---\n# Bad\n");
    let items: Vec<Value> = (0..9).map(|n| item(&format!("Item {n}"), json!({}))).collect();
    write_queue(&ground, &items);
    let gathered = Night::default().gather(&ground);
    assert_eq!(titles(&gathered), ["Item 0", "Item 1", "Item 2", "Item 3", "Resolve: Bad"]);
    let night = Night { queue: Some("- a\n- b\n- c\n- d\n- e\n- f\n"), ..Night::default() };
    assert_eq!(titles(&night.gather(&ground)), ["a", "b", "c", "d", "e"]);
}

// pitfall 21
#[test]
fn what_is_done_already_is_no_packet() {
    let ground = Ground::new();
    let check = json!([{ "kind": "text-in-file", "path": "src/a.rs", "text": "todo!()" }]);
    let shell = json!([{ "kind": "shell", "command": "touch pwned" }]);
    ground.write("src/a.rs", "done\n");
    write_queue(
        &ground,
        &[
            item("Was to be done", json!({ "still_true": check, "severity": "high" })),
            item("Is to be done", json!({ "still_true": shell })),
        ],
    );
    let gathered = Night::default().gather(&ground);
    assert_eq!(titles(&gathered), ["Is to be done"]);
    assert_eq!(gathered.dropped[0].title, "Was to be done");
    assert!(gathered.dropped[0].why.contains("src/a.rs no longer says so"), "{gathered:?}");
    assert!(!ground.path("pwned").exists());

    ground.write("src/a.rs", "todo!()\n");
    assert_eq!(titles(&Night::default().gather(&ground)).len(), 2);
}

#[test]
fn ids_name_the_work_and_nothing_else() {
    let ground = Ground::new();
    ground.write(".agents/learnings/a.md", "# A\n");
    ground.write(".agents/learnings/b.md", "# B\n");
    let finding = |text: &str| ground.write(".agents/findings/f-1.md", text);
    finding("---\nid: F1\nseverity: low\n---\n# Once\n");
    let pair = |one: &str, other: &str, stems: f64| json!({ "review": [{ "one": one, "other": other, "stems": stems, "pairs": 0.4, "why": "30 and 120" }] });
    let ids = |night: &Night| -> Vec<String> {
        let mut ids: Vec<String> =
            night.gather(&ground).packets.into_iter().map(|packet| packet.id).collect();
        ids.sort();
        ids
    };
    let fall = |after: f64| json!({ "retrieval": after });
    let first = Night {
        defrag: pair("learnings/a.md", "learnings/b.md", 0.6),
        before: fall(0.9),
        after: fall(0.8),
        ..Night::default()
    };
    let before = ids(&first);
    assert_eq!(before.len(), 3);
    finding("---\nid: F1\nseverity: critical\nhit_count: 7\n---\n# Worded otherwise\n");
    ground.write(".agents/learnings/a.md", "# A, edited\n");
    let second = Night {
        defrag: pair("learnings/b.md", "learnings/a.md", 0.7),
        before: fall(0.95),
        after: fall(0.7),
        ..Night::default()
    };
    assert_eq!(ids(&second), before);
    finding("---\nid: F2\nseverity: critical\n---\n# Worded otherwise\n");
    assert_ne!(ids(&second), before);
}

#[test]
fn what_the_night_saw_is_told_with_its_numbers() {
    let ground = Ground::new();
    for name in ["a", "b", "c"] {
        ground.write(&format!(".agents/learnings/{name}.md"), &format!("# {name}\n"));
    }
    ground.write(".agents/learnings/pinned.md", "---\npinned: true\n---\n# Pinned\n");
    ground.write(".agents/learnings/bad.md", "---\nopen\n");
    ground.write(".agents/evolve/cycle-history.jsonl", "{}\n");
    let night = Night {
        defrag: json!({
            "review": [
                { "one": "learnings/a.md", "other": "learnings/b.md", "stems": 0.71, "pairs": 0.6,
                  "why": "they claim different things: 30 and 120" },
                { "one": "learnings/a.md", "other": "learnings/gone.md", "stems": 0.9, "pairs": 0.9, "why": "x" },
            ],
            "kept": [
                { "path": "learnings/c.md", "why": "`nowhere` is not there" },
                { "path": "learnings/pinned.md", "why": "it is pinned" },
            ],
            "oscillations": [{ "target": "c", "turns": 6, "results": ["improved", "failed"], "entry": "learnings/c.md" }],
        }),
        health: json!({
            "left": [{ "path": "learnings/bad.md", "why": "its header has no closing `---`" }],
            "loop_dominance": { "r1": 1.0, "b1": 4.5, "dominant": "b1" },
            "absent": { "sigma": "there is no citation log", "rho": "there is no citation log" },
        }),
        before: json!({ "retrieval": 0.9, "maturity": 0.5, "composite": 0.7 }),
        after: json!({ "retrieval": 0.85, "maturity": 0.4999, "composite": 0.6 }),
        ..Night::default()
    };
    let gathered = night.gather(&ground);
    let expected = [
        "Find out why retrieval fell",
        "Find out why c goes back and forth",
        "Settle what a and b disagree about",
        "Make learnings/bad.md readable",
        "Decide what becomes of c",
    ];
    assert_eq!(titles(&gathered), expected);
    assert_eq!(gathered.left_out["night"], 2);
    assert!(gathered.dropped.iter().any(|dropped| dropped.why.contains("gone.md")));
    let evidence = |at: usize| gathered.packets[at].evidence.join("\n");
    assert!(evidence(0).contains("0.9000 before the night, 0.8500 after it; 0.02 is allowed"));
    assert!(evidence(1).contains("turned 6 times"));
    assert!(evidence(2).contains("0.71") && evidence(2).contains("30 and 120"));
    assert!(evidence(4).contains("`nowhere` is not there"));
    for packet in &gathered.packets {
        assert_eq!(source(packet), "night");
    }
    // An edit of one of the two is what settles a contradiction.
    let checks = &gathered.packets[2].still_true;
    let said = |ground: &Ground| {
        ao_night::overall(
            &checks
                .iter()
                .map(|c| ao_night::check(c, &ground.place(), Shell::Never("not here")))
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(said(&ground), ao_night::Verdict::True);
    ground.write(".agents/learnings/b.md", "# b says 30 too\n");
    assert!(matches!(said(&ground), ao_night::Verdict::Done(why) if why.contains("has changed")));
}

#[test]
fn when_nothing_is_there_the_weakest_figure_is_taken() {
    let ground = Ground::new();
    let gathered = Night::default().gather(&ground);
    assert_eq!(titles(&gathered), ["Write down the first learning"]);
    assert_eq!(source(&gathered.packets[0]), "synthesized");
    assert_eq!(yields(&[], &gathered.packets).synthetic_count, 1);
    ground.write(".agents/learnings/a.md", "# A\n");
    let after = json!({ "retrieval": 0.9, "maturity": 0.1, "uniqueness": 1.0 });
    let gathered = Night { after, ..Night::default() }.gather(&ground);
    assert_eq!(titles(&gathered), ["Raise maturity"]);
    assert!(gathered.packets[0].evidence[0].contains("maturity is 0.1000"));
    // Something that is there and done already leaves the fallback too.
    let done = json!([{ "kind": "path-exists", "path": "gone" }]);
    write_queue(&ground, &[item("Done", json!({ "still_true": done }))]);
    let gathered = Night::default().gather(&ground);
    assert_eq!((source(&gathered.packets[0]), gathered.dropped.len()), (json!("synthesized"), 1));
}

// proves: LOOP-19
#[test]
fn what_the_operator_asks_for_is_pinned_and_not_doubled() {
    let ground = Ground::new();
    ground.write("TONIGHT.md", "- fix THE  lock\n- other\n");
    write_queue(
        &ground,
        &[
            item("Best of all", json!({ "severity": "high", "evidence": "e" })),
            item("Fix the lock", json!({ "id": "nw-7", "file": "TONIGHT.md" })),
        ],
    );
    let night = Night { queue: Some("- fix THE  lock\n- other\n"), ..Night::default() };
    let gathered = night.gather(&ground);
    assert_eq!(titles(&gathered), ["fix THE lock", "other", "Best of all"]);
    let first = &gathered.packets[0];
    assert_eq!(
        (source(first), first.queue_item.as_deref()),
        (json!("operator-queue"), Some("nw-7"))
    );
    assert!(first.still_true.len() == 2, "the line and the item: {:?}", first.still_true);
    let alone = Night::default().gather(&ground);
    let id = alone.packets.iter().find(|p| p.title == "Fix the lock").map(|p| p.id.clone());
    assert_eq!(id.as_ref(), Some(&first.id), "the same work, whoever asks");
}

#[test]
fn what_was_seen_to_or_is_in_somebodys_hands_does_not_come_back() {
    let ground = Ground::new();
    ground.write(".agents/findings/f-1.md", "---\nid: F1\nseverity: high\n---\n# One\n");
    ground.write(".agents/findings/f-2.md", "---\nid: F2\nseverity: high\n---\n# Two\n");
    ground.write(".agents/findings/f-3.md", "---\nid: F3\nseverity: high\n---\n# Three\n");
    let ids: Vec<String> =
        Night::default().gather(&ground).packets.into_iter().map(|p| p.id).collect();
    let own = |id: &str, more: Value| {
        let mut own = item("own", more);
        own["id"] = json!(id);
        own["source"] = json!("ao-overnight:finding");
        own
    };
    write_queue(
        &ground,
        &[
            own(&ids[0], json!({})),
            own(&ids[1], json!({ "consumed": true })),
            own(&ids[2], json!({ "claim_status": "in_progress", "claimed_by": "kim" })),
        ],
    );
    let gathered = Night::default().gather(&ground);
    assert_eq!(titles(&gathered), ["Resolve: One"]);
    assert_eq!(source(&gathered.packets[0]), "finding", "its own item does not make it stronger");
    assert!(gathered.dropped.iter().any(|dropped| dropped.why == "kim works on it"));
    // Once resolved, what a night had put into the queue about it is not asked for again.
    ground.write(".agents/findings/f-1.md", "---\nid: F1\nresolved: true\n---\n# One\n");
    assert_eq!(source(&Night::default().gather(&ground).packets[0]), "synthesized");
}

#[test]
fn hostile_text_stays_text() {
    let ground = Ground::new();
    let key = format!("ghp_{}", "a1".repeat(18));
    write_queue(
        &ground,
        &[
            item(
                "\u{1b}[2J$(touch pwned)\n`x` 🦀 'q' \"d\"",
                json!({
                    "evidence": [format!("token {key}"), "\u{202e}evil\r\nline"],
                    "target_files": ["../../etc/passwd", "/etc/passwd", "-rf"], "file": "\u{0}",
                    "description": "x ".repeat(100_000),
                }),
            ),
            item(
                "-rf /",
                json!({ "still_true": [{ "kind": "shell", "command": format!("use {key}") }] }),
            ),
            item("", json!({})),
        ],
    );
    let night = Night { template: Some("printf '%s' {title} {files} >&2"), ..Night::default() };
    let gathered = night.gather(&ground);
    assert_eq!(gathered.packets.len(), 3);
    let text = serde_json::to_string(&gathered.packets).unwrap();
    assert!(
        !text.contains("\\u001b") && !text.contains('\u{202e}') && !text.contains(&key),
        "{text}"
    );
    assert!(text.len() < 20_000, "bounded: {}", text.len());
    for packet in &gathered.packets {
        assert!(packet.target_files.is_empty());
        let status = std::process::Command::new("sh")
            .arg("-c")
            .arg(&packet.morning_command)
            .current_dir(ground.root())
            .stderr(std::process::Stdio::null())
            .status();
        assert!(status.unwrap().success(), "{}", packet.morning_command);
    }
    assert!(!ground.path("pwned").exists());
}
