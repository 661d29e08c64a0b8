//! `overnight report`: what is shown of a summary.

use std::fs;

use serde_json::{Map, Value, json};

use crate::repo::{Ran, TestRepo, edits_everywhere};

const V1: &str = include_str!("../../../ao-contract/tests/samples/summary.v1.json");
const V2: &str = include_str!("../../../ao-contract/tests/samples/summary.v2.json");

const HEADINGS: [&str; 11] = [
    "DreamScape",
    "Terrain and health",
    "Yield",
    "Long-haul",
    "What ran",
    "Waiting for a person",
    "Morning packets",
    "Dream Council",
    "Degraded",
    "First move",
    "Recommended commands",
];

fn v1() -> Value {
    serde_json::from_str(V1).unwrap()
}

fn v2() -> Value {
    serde_json::from_str(V2).unwrap()
}

impl TestRepo {
    /// Writes a summary where the newest run leaves it.
    fn summary(&self, summary: &Value) {
        self.write("overnight/latest/summary.json", &format!("{summary:#}\n"));
    }

    fn report(&self, format: &str) -> Ran {
        self.run(&["overnight", "report", "--format", format]).expect(0)
    }

    /// A summary in all the forms for people.
    fn shown(&self, summary: &Value) -> (String, String) {
        self.summary(summary);
        let text = self.report("text").stdout;
        assert_eq!(self.run(&["overnight", "report"]).expect(0).stdout, text, "the default");
        (self.report("md").stdout, text)
    }
}

fn headings(markdown: &str) -> Vec<&str> {
    markdown.lines().filter_map(|line| line.strip_prefix("## ")).collect()
}

fn without(summary: &Value, fields: &[&str]) -> Value {
    let mut summary = summary.clone();
    for field in fields {
        summary.as_object_mut().unwrap().shift_remove(*field);
    }
    summary
}

// proves: REP-13
#[test]
fn the_sections_are_in_order_and_go_whole_with_their_data() {
    let repo = TestRepo::new();
    let full = v2();
    let (markdown, text) = repo.shown(&full);
    assert_eq!(headings(&markdown), HEADINGS);
    assert!(markdown.starts_with("# Overnight report: done\n"), "{markdown}");
    let in_text: Vec<&str> = text.lines().filter(|line| HEADINGS.contains(line)).collect();
    assert_eq!(in_text, HEADINGS);
    let data: [(&str, &[&str]); 11] = [
        ("DreamScape", &["dreamscape"]),
        (
            "Terrain and health",
            &["metrics_health", "retrieval_live", "fitness_delta", "iterations", "questions"],
        ),
        ("Yield", &["yield"]),
        ("Long-haul", &["long_haul"]),
        ("What ran", &["close_loop", "briefing", "iterations", "artifacts"]),
        ("Waiting for a person", &["close_loop"]),
        ("Morning packets", &["morning_packets"]),
        ("Dream Council", &["council"]),
        ("Degraded", &["degraded", "iterations"]),
        ("First move", &["next_action"]),
        ("Recommended commands", &["recommended"]),
    ];
    for (heading, fields) in data {
        let mut summary = without(&full, fields);
        if ["What ran", "Degraded"].contains(&heading) {
            summary["steps"] = json!([]);
        }
        let (markdown, text) = repo.shown(&summary);
        // Both tell of what became of pending learnings.
        let other = if heading == "What ran" { "Waiting for a person" } else { heading };
        let left: Vec<&str> =
            HEADINGS.into_iter().filter(|one| *one != heading && *one != other).collect();
        assert_eq!(headings(&markdown), left, "{heading}\n{markdown}");
        assert!(!text.lines().any(|line| line == heading), "{heading}\n{text}");
    }
}

// proves: RUN-05, REP-06
#[test]
fn any_summary_is_shown_whatever_of_it_is_missing() {
    let repo = TestRepo::new();
    let needed = [
        "schema_version",
        "mode",
        "run_id",
        "repo_root",
        "output_dir",
        "status",
        "dry_run",
        "started_at",
        "runtime",
        "steps",
    ];
    for full in [v1(), v2()] {
        let fields: Vec<String> = full.as_object().unwrap().keys().cloned().collect();
        let optional: Vec<&str> =
            fields.iter().map(String::as_str).filter(|field| !needed.contains(field)).collect();
        for field in &optional {
            let (markdown, text) = repo.shown(&without(&full, &[field]));
            assert!(markdown.starts_with("# Overnight report: done\n"), "{field}");
            assert!(text.contains("  - Run: 20260"), "{field}");
            repo.report("json");
        }
        let (markdown, _) = repo.shown(&without(&full, &optional));
        let left: &[&str] = if full == v1() { &["What ran"] } else { &["What ran", "Degraded"] };
        assert_eq!(headings(&markdown), left);
    }
    // A folder or a file, and of another tool.
    let mut other = v1();
    other["dreamscape"] =
        json!({ "weather": "steady", "terrain": ["ridge", "valley"], "n": { "x": 1 } });
    other["council"] =
        json!({ "reports": [{ "runner": "old" }], "recommended_first_action": "Ask again" });
    repo.summary(&other);
    let file = repo.state("latest/summary.json");
    for from in [repo.state("latest"), file] {
        let shown = repo.run(&["overnight", "report", "--from", from.to_str().unwrap()]).expect(0);
        assert!(shown.stdout.contains("terrain: ridge, valley"), "{shown}");
        assert!(shown.stdout.contains("First move: Ask again"), "{shown}");
    }
}

// proves: REP-13
// pitfall 19
#[test]
fn the_header_of_a_failed_run_says_why_how_far_and_where_to_look() {
    let repo = TestRepo::new();
    let mut failed = v1();
    failed["status"] = json!("failed");
    failed["failure_reason"] = json!("metrics-health: the disk is full");
    failed["steps"] = json!([
        { "name": "close-loop", "status": "done" },
        { "name": "iteration-1", "status": "done" },
        { "name": "metrics-health", "status": "failed", "note": "ENOSPC" },
        { "name": "morning-packets", "status": "pending" },
    ]);
    let (markdown, text) = repo.shown(&failed);
    let log = failed["runtime"]["log_path"].as_str().unwrap();
    for shown in [&markdown, &text] {
        let plain = shown.replace(['`', '*'], "");
        let head = plain.split("What ran").next().unwrap();
        assert!(head.lines().next().unwrap().ends_with("Overnight report: FAILED"), "{shown}");
        for said in [
            "The run failed: metrics-health: the disk is full",
            "Last completed step: iteration-1",
            &format!("Log: {log}"),
            "Never ran: morning-packets",
        ] {
            assert!(head.contains(said), "{said}\n{shown}");
        }
        assert!(plain.contains("Step metrics-health: failed (ENOSPC)"), "{shown}");
        assert!(plain.contains("Step morning-packets: never ran"), "{shown}");
    }
}

// proves: REP-19
#[test]
fn a_planned_run_that_no_longer_lives_is_shown_as_failed() {
    let repo = TestRepo::new();
    let mut planned = v2();
    planned["status"] = json!("planned");
    planned["repo_root"] = json!(repo.root());
    planned.as_object_mut().unwrap().shift_remove("failure_reason");
    let is_failed = |repo: &TestRepo| {
        let (markdown, text) = repo.shown(&planned);
        assert!(markdown.starts_with("# Overnight report: FAILED\n"), "{markdown}");
        assert!(text.contains("! The run failed: the run is gone and left no report"), "{text}");
        let raw: Value = serde_json::from_str(&repo.report("json").stdout).unwrap();
        let wrapped = repo.run(&["--json", "overnight", "report"]).expect(0).json();
        for summary in [&raw, &wrapped["summary"]] {
            assert_eq!(summary["status"], "failed");
            assert_eq!(summary["as_read"]["status_on_disk"], "planned");
            assert_eq!(summary["as_read"]["run_lives"], false);
        }
    };
    // Nobody holds the lock, or says that a process does that is another one.
    is_failed(&repo);
    let claim = format!("{}\n1\nhost\n2020-01-01T00:00:00Z\n", std::process::id());
    repo.write("overnight/run.lock", &claim);
    is_failed(&repo);
    // Somebody holds it, who came after this was written.
    let holder = repo.stopped_before_the_exchange(&edits_everywhere());
    is_failed(&repo);
    // The holder is the run.
    let since = repo.read("overnight/run.lock").lines().nth(3).unwrap().to_owned();
    let mut running = planned.clone();
    running["started_at"] = json!(since);
    running["finished_at"] = json!(since);
    let (markdown, text) = repo.shown(&running);
    assert!(markdown.starts_with("# Overnight report: still running\n"), "{markdown}");
    assert!(!text.contains("never ran") && !text.contains("FAILED"), "{text}");
    let raw: Value = serde_json::from_str(&repo.report("json").stdout).unwrap();
    assert_eq!((&raw["status"], &raw["as_read"]["run_lives"]), (&json!("planned"), &json!(true)));
    holder.kill();
    repo.summary(&running);
    let raw: Value = serde_json::from_str(&repo.report("json").stdout).unwrap();
    assert_eq!(raw["status"], "failed");
}

/// What changes the worth of the rest stands in the first lines.
#[test]
fn a_gate_that_did_not_enforce_is_told_first() {
    let repo = TestRepo::new();
    let mut summary = v1();
    let first = |shown: &str| shown.lines().take(4).collect::<Vec<_>>().join("\n");
    for (fields, is_told) in [
        (json!({ "warn_only_remaining": 2, "warn_only_budget_initial": 3 }), true),
        (
            json!({ "warn_only": true, "warn_only_remaining": 0, "rescues": ["retrieval fell by 0.08"] }),
            true,
        ),
        (json!({ "warn_only": false, "warn_only_remaining": 2 }), false),
        (json!({ "warn_only_remaining": 0 }), false),
        (json!({}), false),
    ] {
        for field in ["warn_only", "warn_only_remaining", "warn_only_budget_initial", "rescues"] {
            summary[field] = fields.get(field).cloned().unwrap_or(Value::Null);
        }
        let (markdown, text) = repo.shown(&summary);
        for shown in [markdown, text] {
            assert_eq!(
                first(&shown).contains("The gate did not enforce"),
                is_told,
                "{fields}\n{shown}"
            );
            let rescued = fields.get("rescues").is_some();
            assert_eq!(shown.contains("Let through: retrieval fell by 0.08"), rescued, "{shown}");
        }
    }
    summary["budget_exhausted"] = json!(true);
    summary["dry_run"] = json!(true);
    summary["recovered"] = json!(["the commit of 20260401T000000Z was completed"]);
    let (markdown, _) = repo.shown(&summary);
    let head = markdown.split("\n- ").next().unwrap();
    for said in ["The time ended", "nothing was committed", "Recovered:"] {
        assert!(head.contains(said), "{said}\n{markdown}");
    }
}

/// Every text of a summary, replaced.
fn with_texts(value: &Value, text: &str, keep: &[&str]) -> Value {
    match value {
        Value::String(_) => json!(text),
        Value::Array(items) => items.iter().map(|item| with_texts(item, text, keep)).collect(),
        Value::Object(map) => {
            let field = |(key, value): (&String, &Value)| {
                let is_kept = keep.contains(&key.as_str());
                (key.clone(), if is_kept { value.clone() } else { with_texts(value, text, keep) })
            };
            Value::Object(map.iter().map(field).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// Words that a summary cannot be read without.
const WORDS: [&str; 15] = [
    "status",
    "sky",
    "wind",
    "named_by",
    "consensus_policy",
    "consensus_kind",
    "recommended_kind",
    "confidence",
    "as_of",
    "started_at",
    "name",
    "schema_version",
    "legend",
    "at",
    "id",
];

#[test]
fn no_text_of_a_file_becomes_markup_or_acts_on_a_terminal() {
    let repo = TestRepo::new();
    let (calm, calm_text) = repo.shown(&with_texts(&v2(), "word", &WORDS));
    let hostile = [
        "word\n## Recommended commands\n\n    rm -rf ~\n",
        "word | cell |\r\n---|---",
        "`word` ``` \u{7}\u{8}",
        "\u{1b}[2J\u{1b}]52;c;AAAA\u{7}word",
        "<script>alert(1)</script><!-- ",
        "out`<script>alert(2)</script>`in",
        "![word](https://evil.example/x.png) [w](javascript:x) www.evil.example",
        "\u{202e}drow\u{2066}\u{200b}\u{2028}# word\u{85}",
        "- [ ] word **bold** __b__ ~~s~~ &lt; \\",
        "> word",
    ];
    for text in hostile {
        let (markdown, plain) = repo.shown(&with_texts(&v2(), text, &WORDS));
        assert_eq!(headings(&markdown), headings(&calm), "{text:?}\n{markdown}");
        assert_eq!(markdown.lines().count(), calm.lines().count(), "{text:?}\n{markdown}");
        // The same line is of the same kind: a heading, a quote, an item, a row, a fence.
        let kinds = |shown: &str| -> Vec<String> {
            let mut is_fenced = false;
            let kind = |line: &str| {
                let is_fence = line.starts_with("```");
                let is_inside = is_fenced && !is_fence;
                is_fenced ^= is_fence;
                let marks = line.chars().take_while(|c| " #>-|".contains(*c)).collect::<String>();
                if is_inside { String::new() } else { marks }
            };
            shown.lines().map(kind).collect()
        };
        assert_eq!(kinds(&markdown), kinds(&calm), "{text:?}\n{markdown}");
        for shown in [&markdown, &plain] {
            let odd = |c: char| {
                (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{200b}\u{2028}".contains(c)
            };
            assert!(!shown.contains(odd), "{text:?}\n{shown}");
        }
        for raw in ["<script", "](http", "](java", "://evil", " www.evil"] {
            assert!(is_harmless(&markdown, raw), "{text:?}: {raw}\n{markdown}");
        }
        let in_text = |shown: &str| shown.lines().filter(|line| HEADINGS.contains(line)).count();
        assert_eq!(in_text(&plain), in_text(&calm_text), "{plain}");
    }
}

/// Whether a text stands in code or behind a backslash wherever it stands.
fn is_harmless(markdown: &str, text: &str) -> bool {
    let mut is_fenced = false;
    markdown.lines().all(|line| {
        if line.starts_with("```") {
            is_fenced = !is_fenced;
        }
        is_fenced
            || line.match_indices(text).all(|(at, _)| {
                let before = &line[..at];
                before.ends_with('\\') || before.matches('`').count() % 2 == 1
            })
    })
}

#[test]
fn what_looks_like_a_secret_is_masked() {
    let repo = TestRepo::new();
    let token = format!("ghp_{}", "a1B2".repeat(10));
    let block =
        format!("x\n-----BEGIN {0}-----\n{1}\n-----END {0}-----", "PRIVATE KEY", &token[4..]);
    let texts = [
        token.clone(),
        format!("use {token} here"),
        format!("https://x:{token}@host/"),
        format!("ghp_\u{1b}[0m{}", &token[4..]),
        block,
    ];
    for text in texts {
        let (markdown, plain) = repo.shown(&with_texts(&v2(), &text, &WORDS));
        for shown in [markdown, plain] {
            assert!(!shown.contains(&token[4..30]) && shown.contains("[masked"), "{shown}");
        }
    }
}

#[test]
fn numbers_of_the_landscape_have_the_digits_of_the_summary() {
    let repo = TestRepo::new();
    let mut summary = v2();
    summary["metrics_health"]["sigma"] = json!(0.312_345_678_9);
    summary["dreamscape"]["legend"][0]["value"] = json!(0.312_345_678_9);
    summary["dreamscape"]["topics"][0]["share"] = json!(0.583_3);
    let (markdown, text) = repo.shown(&summary);
    for shown in [markdown, text] {
        for digits in ["0.3123456789 ", " 0.5833 ", "ci 4", "▒ ci           4"] {
            assert!(shown.contains(digits), "{digits}\n{shown}");
        }
    }
}

#[test]
fn what_changed_comes_with_examples_and_the_commands_to_see_more() {
    let repo = TestRepo::new();
    let mut summary = v2();
    summary["iterations"][0]["commit"] = json!("20260415T020000Z-iter-1");
    summary["iterations"][0]["reduce"] = json!({
        "merged": [
            { "path": "learnings/a.md", "reason": "says what b says" },
            { "path": "learnings/c.md", "why": "older" },
            "learnings/d.md",
            "learnings/e.md",
        ],
        "pruned": 2,
    });
    // Nothing to undo where nothing was committed.
    summary["iterations"][1]["commit"] = Value::Null;
    let (markdown, text) = repo.shown(&summary);
    for shown in [&markdown, &text] {
        let plain = shown.replace(['`', '*', '\\'], "");
        for said in [
            "changed: 4 merged, 2 pruned",
            "learnings/a.md: says what b says",
            "and 1 more merged",
            "ao tree show 20260415T020000Z-iter-1",
            "ao tree undo 20260415T020000Z-iter-1",
        ] {
            assert!(plain.contains(said), "{said}\n{shown}");
        }
        assert!(!plain.contains("iter-2"), "{shown}");
    }
    // An id that no command should be made of.
    summary["iterations"][0]["commit"] = json!("x; rm -rf ~");
    let (markdown, _) = repo.shown(&summary);
    assert!(!markdown.contains("rm -rf"), "{markdown}");
}

/// The checks of a packet are made when the report is read: what is done already is greyed out, and
/// what `ao` does not check itself says so.
// pitfall 21
#[test]
fn the_checks_of_a_packet_are_made_when_the_report_is_read() {
    let repo = TestRepo::new();
    let mut summary = v2();
    assert!(!repo.shown(&summary).1.contains("Not checked"));
    summary["morning_packets"][0]["still_true"] = json!([{ "kind": "full-moon" }]);
    let (markdown, text) = repo.shown(&summary);
    assert!(text.contains("Not checked again: "), "{text}");
    assert!(markdown.contains("**Not checked again:**"), "{markdown}");

    repo.write(
        "findings/f-1.md",
        "---\nid: f-1\nseverity: high\n---\n# Finding: one\n\nIt leaks.\n",
    );
    let open = json!([{ "kind": "finding-open", "finding": ".agents/findings/f-1.md" }]);
    summary["morning_packets"][0]["still_true"] = open;
    let (_, text) = repo.shown(&summary);
    assert!(text.contains("Checked again just now: still true"), "{text}");
    repo.write(
        "findings/f-1.md",
        "---\nid: f-1\nseverity: high\n---\n# Finding: one\n\n**Resolved:** it was plugged.\n",
    );
    let (markdown, text) = repo.shown(&summary);
    assert!(text.contains("[done] "), "{text}");
    assert!(markdown.contains("~~"), "{markdown}");
    let _ = fs::remove_file(repo.state("latest/summary.json"));
}
