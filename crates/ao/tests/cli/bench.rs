//! `ao retrieval-bench`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::night::{Night, json_of};
use crate::repo::TestRepo;

const ENTRIES: usize = 400;
const GARBLED: usize = 20;

/// A small language: enough for sentences that differ, and for words that many entries share.
fn sentence(numbers: &mut u64) -> String {
    const WHO: [&str; 9] = [
        "the parser",
        "the worker",
        "the queue",
        "the cache",
        "the runner",
        "the ledger",
        "the index",
        "the gate",
        "the loader",
    ];
    const DID: [&str; 8] =
        ["masked", "delayed", "leaked", "reordered", "truncated", "bypassed", "exposed", "broke"];
    const WHAT: [&str; 10] = [
        "a partial write",
        "stale results",
        "an empty summary",
        "a silent skip",
        "a retry loop",
        "lost metadata",
        "an orphaned process",
        "a permission error",
        "a clock skew",
        "a deadlock",
    ];
    const WHEN: [&str; 9] = [
        "before the release",
        "during a migration",
        "after the handshake",
        "under heavy load",
        "on a cold start",
        "in the first week",
        "with two replicas",
        "behind the proxy",
        "at midnight",
    ];
    const PLACES: [&str; 24] = [
        "oslo", "lima", "quito", "cairo", "delhi", "tunis", "sofia", "minsk", "perth", "dakar",
        "accra", "lagos", "hanoi", "seoul", "tokyo", "osaka", "turin", "milan", "paris", "berne",
        "vienna", "prague", "riga", "tallinn",
    ];
    let mut pick = |words: &[&'static str]| {
        *numbers =
            numbers.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        words[usize::try_from(*numbers >> 33).unwrap() % words.len()]
    };
    let (place, other) = (pick(&PLACES), pick(&PLACES));
    format!(
        "It was found in {place} that {} {} {} {}, because {} of {other} {} {} {}.",
        pick(&WHO),
        pick(&DID),
        pick(&WHAT),
        pick(&WHEN),
        pick(&WHO),
        pick(&DID),
        pick(&WHAT),
        pick(&WHEN)
    )
}

fn corpus() -> TestRepo {
    let repo = TestRepo::new();
    fs::remove_dir_all(repo.agents().join("learnings")).unwrap();
    let mut numbers = 7;
    for index in 0..ENTRIES {
        let text: Vec<String> = (0..5).map(|_| sentence(&mut numbers)).collect();
        repo.entry(
            &format!("learnings/2026-04-01-e-{index:03}.md"),
            "utility: 0.5\ndate: 2026-04-01",
            &format!("# Learning: Entry number {index}\n\n{}", text.join("\n")),
        );
    }
    repo
}

fn live(repo: &TestRepo, more: &[&str]) -> String {
    let mut arguments = vec!["--json", "retrieval-bench", "--live"];
    arguments.extend(more);
    let ran = repo.run(&arguments).expect(0);
    ran.stdout
}

fn score(text: &str) -> f64 {
    serde_json::from_str::<Value>(text).unwrap()["ndcg_at_10"].as_f64().unwrap()
}

// proves: RUN-22
#[test]
fn the_same_corpus_gives_the_same_bytes() {
    let repo = corpus();
    repo.write(
        "ao/citations.jsonl",
        &(cited("deadlock behind the proxy", "e-000", "applied")
            + "not json\n"
            + &cited("stale results", "e-001", "reference")
            // That it was shown makes it no answer.
            + &cited("results", "e-002", "retrieved")),
    );
    let first = live(&repo, &[]);
    // Other files in another order, other times, another zone, locale and place.
    let other = TestRepo { dir: tempfile::tempdir().unwrap() };
    let mut names: Vec<String> = repo.tree().into_keys().collect();
    names.reverse();
    for name in names {
        other.write(&name, &repo.read(&name));
    }
    let mut command = other.command(&["--json", "retrieval-bench", "--live"]);
    let output = command.env("TZ", "Asia/Tokyo").env("LC_ALL", "tr_TR.UTF-8").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), first);
    for foreign in [repo.root().to_str().unwrap(), "/tmp", "seconds", "duration", "elapsed"] {
        assert!(!first.contains(foreign), "{foreign}");
    }
    let value: Value = serde_json::from_str(&first).unwrap();
    let questions = value["questions"].as_array().unwrap();
    assert_eq!(questions.len(), ENTRIES + 2);
    let past: Vec<&Value> = questions.iter().filter(|q| q["source"] == "citation").collect();
    assert_eq!(past[0]["query"], "deadlock behind the proxy");
    assert_eq!(
        past[0]["expected"],
        json!([{ "path": "learnings/2026-04-01-e-000.md", "weight": 3.0 }])
    );
    let title_words = ["entry", "number"];
    for probe in questions.iter().filter(|q| q["source"] == "probe") {
        let query = probe["query"].as_str().unwrap();
        assert!(query.split(' ').count() >= 3, "{probe}");
        assert!(!query.split(' ').any(|word| title_words.contains(&word)), "{probe}");
    }
    let file = repo.root().join("bench.json");
    fs::write(&file, &first).unwrap();
    repo.run(&["schema", "retrieval-bench", "--check", file.to_str().unwrap()]).expect(0);
}

fn cited(query: &str, name: &str, how: &str) -> String {
    let line = json!({
        "artifact_path": format!(".agents/learnings/2026-04-01-{name}.md"), "session_id": "s",
        "cited_at": "2026-04-02T00:00:00Z", "citation_type": how, "query": query,
    });
    format!("{line}\n")
}

// proves: RUN-22
#[test]
fn the_score_falls_with_lost_text_and_comes_back_with_it() {
    let repo = corpus();
    let before = live(&repo, &[]);
    assert!(score(&before) > 0.6 && score(&before) < 0.98, "{}", score(&before));
    let questions = repo.root().join("before.json");
    fs::write(&questions, &before).unwrap();
    let fixed = ["--questions", questions.to_str().unwrap()];
    assert_eq!(live(&repo, &fixed), before);
    let noise: [fn(usize) -> String; 3] = [
        |seed| {
            (0..120).fold(String::new(), |mut text, at| {
                let _ = write!(text, "{:x} ", (seed + at) * 7_919_911);
                text
            })
        },
        |_| "noise ".repeat(200),
        |seed| {
            (0..12).fold(String::new(), |mut text, at| {
                let _ = writeln!(text, "Qx{} zv{at} wk{seed} pj fq xz vk.", at * seed);
                text
            })
        },
    ];
    let originals: Vec<(String, String)> = (0..GARBLED)
        .map(|index| format!("learnings/2026-04-01-e-{:03}.md", index * 17))
        .map(|path| (path.clone(), repo.read(&path)))
        .collect();
    for make in noise {
        for (index, (path, text)) in originals.iter().enumerate() {
            let head = text.split("\n\n").next().unwrap();
            repo.write(path, &format!("{head}\n\n{}\n", make(index + 1)));
        }
        // With questions of its own, and with those from before.
        assert!(score(&live(&repo, &[])) < score(&before) - 0.01);
        assert!(score(&live(&repo, &fixed)) < score(&before) - 0.01);
    }
    for (path, text) in &originals {
        repo.write(path, text);
    }
    assert_eq!(live(&repo, &[]), before);
}

// proves: RUN-22
#[test]
fn a_night_asks_what_it_found_at_its_start() {
    let night = Night::with_copies();
    night.pending(1);
    night.run(&[]).expect(0);
    let pending = &night.summary()["close_loop"]["pending"][0];
    let promoted = pending["promoted_to"].as_str().unwrap();
    assert!(night.repo.exists(promoted));
    let bench = json_of(&night.latest("retrieval-bench.json"));
    let questions = bench["questions"].as_array().unwrap();
    assert!(questions.len() > 5, "{bench:#}");
    for question in questions {
        assert!(!question["expected"].to_string().contains(promoted), "{question}");
    }
}

#[test]
fn past_questions_follow_an_entry_to_its_successor() {
    let repo = TestRepo::new();
    repo.entry("learnings/new.md", "merged_from: [learnings/gone.md]", "# Numbat\n\nAnts, mostly.");
    repo.entry("learnings/old.md", "superseded_by: new", "# Numbat once");
    let line = |name: &str, how: &str| {
        format!(
            "{}\n",
            json!({ "artifact_path": name, "session_id": "s", "cited_at": "t", "citation_type": how, "query": "numbat" })
        )
    };
    let log = [
        line(".agents/learnings/old.md", "reference"),
        line("learnings/gone.md", "applied"),
        line("learnings/a.md", "bypass"),
    ];
    repo.write("ao/citations.jsonl", &log.concat());
    let found: Value = serde_json::from_str(&live(&repo, &[])).unwrap();
    let past = &found["questions"][0];
    assert_eq!(past["expected"], json!([{ "path": "learnings/new.md", "weight": 3.0 }]));
    assert_eq!(past["ndcg_at_10"], 1.0);
    // Fixed questions name the old entry; it is found in what replaced it.
    let file = repo.root().join("q.json");
    let fixed = json!([{ "source": "probe", "query": "ants", "expected": [{ "path": "learnings/gone.md", "weight": 1 }] }]);
    fs::write(&file, fixed.to_string()).unwrap();
    assert!((score(&live(&repo, &["--questions", file.to_str().unwrap()])) - 1.0).abs() < 1e-12);
    repo.write("learnings/new.md", "# Numbat\n\nAnts, mostly.\n");
    assert!(score(&live(&repo, &["--questions", file.to_str().unwrap()])).abs() < 1e-12);
}

// proves: RUN-23
#[test]
fn the_corpus_is_the_learnings_or_the_one_that_is_named() {
    let repo = TestRepo::new();
    repo.write(
        "patterns/p.md",
        "# Not a learning\n\nOnly learnings are asked about in this bench.\n",
    );
    let own: Value = serde_json::from_str(&live(&repo, &[])).unwrap();
    assert_eq!((own["corpus"].as_str(), own["entries"].as_u64()), (Some("learnings"), Some(5)));
    let elsewhere = repo.root().join("elsewhere/notes");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::write(elsewhere.join("one.md"), "# One\n\nA wombat digs a very long burrow at night.\n")
        .unwrap();
    let named: Value =
        serde_json::from_str(&live(&repo, &["--corpus", elsewhere.to_str().unwrap()])).unwrap();
    assert_eq!((named["corpus"].as_str(), named["entries"].as_u64()), (Some("directory"), Some(1)));
    assert_eq!(named["questions"][0]["expected"][0]["path"], "learnings/one.md");
    assert_eq!(named["questions"][0]["query"], "wombat digs long burrow night");
    let home = repo.root().join("home");
    fs::create_dir_all(home.join(".agents/learnings/sub")).unwrap();
    for name in ["x.md", "sub/y.md"] {
        fs::write(
            home.join(".agents/learnings").join(name),
            "# T\n\nBilbies live in the dry inland plains.\n",
        )
        .unwrap();
    }
    let mut command = repo.command(&["--json", "retrieval-bench", "--live", "--global"]);
    let output = command.env("HOME", &home).output().unwrap();
    let global: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((global["corpus"].as_str(), global["entries"].as_u64()), (Some("global"), Some(2)));
    repo.run(&["retrieval-bench", "--live", "--corpus", "/nowhere/at/all"]).expect(6);
    repo.run(&["retrieval-bench", "--live", "--global", "--corpus", "x"]).expect(2);
    repo.run(&["retrieval-bench"]).expect(2);
    repo.run(&["retrieval-bench", "--live", "--dataset", "x"]).expect(2);
}

struct Set<'a> {
    repo: &'a TestRepo,
}

impl Set<'_> {
    fn write(&self, corpus: &str, queries: &str, labels: &str) -> String {
        let dir = self.repo.root().join("set");
        fs::create_dir_all(&dir).unwrap();
        for (name, text) in [("corpus", corpus), ("queries", queries), ("qrels", labels)] {
            fs::write(dir.join(format!("{name}.jsonl")), text).unwrap();
        }
        dir.to_str().unwrap().to_owned()
    }
}

const CORPUS: &str = r#"{"_id":"d1","title":"zebra","text":"stripes"}
{"_id":"d2","title":"","text":"zebra crossing"}
{"_id":"d3","text":"horse"}
"#;
const QUERIES: &str = "{\"_id\":\"q1\",\"text\":\"zebra\"}\n{\"_id\":\"q2\",\"text\":\"horse zebra\"}\n{\"_id\":\"q3\",\"text\":\"nothing\"}\n";

#[test]
fn a_labelled_set_is_measured_by_the_usual_definitions() {
    let repo = TestRepo::new();
    let labels = r#"{"qid":"q1","did":"d2","rel":2}
{"qid":"q1","did":"d1","rel":0}
{"qid":"q2","did":"d3","rel":1}
{"qid":"q2","did":"d2","rel":3}
"#;
    let dir = Set { repo: &repo }.write(CORPUS, QUERIES, labels);
    let found = repo.run(&["--json", "retrieval-bench", "--dataset", &dir]).expect(0).json();
    // q1 ranks d1 (a title) over d2: the one right document is second. q2 ranks d3 (the rarer word)
    // first, then d1, then d2.
    let second = 1.0 / 3.0_f64.log2();
    let q2 = (1.0 + 3.0 / 2.0) / (3.0 + second);
    let near = |key: &str, expected: f64| {
        let value = found[key].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-12, "{key} {value} {expected}");
    };
    near("ndcg_at_10", f64::midpoint(second, q2));
    near("mrr_at_10", f64::midpoint(0.5, 1.0));
    near("map", f64::midpoint(0.5, f64::midpoint(1.0, 2.0 / 3.0)));
    near("recall_at_5", 1.0);
    near("recall_at_10", 1.0);
    assert_eq!((found["queries"].as_u64(), found["queries_left_out"].as_u64()), (Some(2), Some(1)));
    assert_eq!(found["entries"], 3);
}

#[test]
fn a_query_is_searched_in_its_own_group_only() {
    let repo = TestRepo::new();
    let corpus = r#"{"_id":"a","title":"zebra","text":"zebra","group":"g1"}
{"_id":"b","title":"","text":"zebra","group":"g2"}
"#;
    let queries = "{\"_id\":\"q\",\"text\":\"zebra\",\"group\":\"g2\"}\n";
    let labels = "{\"qid\":\"q\",\"did\":\"b\",\"rel\":1}\n";
    let dir = Set { repo: &repo }.write(corpus, queries, labels);
    let found = repo.run(&["--json", "retrieval-bench", "--dataset", &dir]).expect(0).json();
    assert_eq!(found["mrr_at_10"], 1.0);
}

#[test]
fn a_bad_set_is_refused_with_file_and_line() {
    let repo = TestRepo::new();
    let set = Set { repo: &repo };
    let label = "{\"qid\":\"q1\",\"did\":\"d1\",\"rel\":1}\n";
    let cases = [
        (
            CORPUS.to_owned() + "{\"_id\":\"d1\",\"text\":\"\"}\n",
            QUERIES,
            label,
            "corpus.jsonl, line 4: the id \"d1\" is there twice",
        ),
        (
            CORPUS.to_owned() + "{\"text\":\"\"}\n",
            QUERIES,
            label,
            "corpus.jsonl, line 4: `_id` is missing",
        ),
        (
            CORPUS.to_owned() + "{\"_id\":\"d9\"}\n",
            QUERIES,
            label,
            "corpus.jsonl, line 4: `text` is missing",
        ),
        (
            CORPUS.to_owned() + "\n{oops\n",
            QUERIES,
            label,
            "corpus.jsonl, line 5: key must be a string",
        ),
        (String::new(), QUERIES, label, "corpus.jsonl: is empty"),
        (CORPUS.to_owned(), "", label, "queries.jsonl: is empty"),
        (CORPUS.to_owned(), QUERIES, "", "qrels.jsonl: is empty"),
        (
            CORPUS.to_owned(),
            QUERIES,
            "{\"qid\":\"q1\",\"did\":\"d8\",\"rel\":1}\n",
            "qrels.jsonl, line 1: there is no document \"d8\"",
        ),
        (
            CORPUS.to_owned(),
            QUERIES,
            "{\"qid\":\"q8\",\"did\":\"d1\",\"rel\":1}\n",
            "qrels.jsonl, line 1: there is no query \"q8\"",
        ),
        (
            CORPUS.to_owned(),
            QUERIES,
            "{\"qid\":\"q1\",\"did\":\"d1\",\"rel\":\"x\"}\n",
            "qrels.jsonl, line 1: `rel` is not a number",
        ),
        (
            CORPUS.to_owned(),
            QUERIES,
            "{\"qid\":\"q1\",\"did\":\"d1\",\"rel\":0}\n",
            "qrels.jsonl: no query has anything",
        ),
    ];
    for (corpus, queries, labels, why) in cases {
        let dir = set.write(&corpus, queries, labels);
        let refused = repo.run(&["retrieval-bench", "--dataset", &dir]).expect(1);
        assert!(refused.stderr.contains(why), "{why}\n{refused}");
    }
    let refused = repo.run(&["retrieval-bench", "--dataset", "/nowhere"]).expect(1);
    assert!(refused.stderr.contains("corpus.jsonl"), "{refused}");
}

#[test]
fn a_score_below_the_least_one_is_refused() {
    let repo = TestRepo::new();
    let label = "{\"qid\":\"q1\",\"did\":\"d2\",\"rel\":1}\n";
    let dir = Set { repo: &repo }.write(CORPUS, QUERIES, label);
    let gate =
        |least: &str| repo.run(&["retrieval-bench", "--dataset", &dir, "--min-score", least]);
    gate("0.63").expect(0);
    let refused = gate("0.64").expect(4);
    assert!(
        refused.stderr.contains("0.6309 is below 0.64") && refused.stdout.contains("nDCG@10"),
        "{refused}"
    );
    gate("1.5").expect(2);
    let missing = Path::new("no-such-file.json");
    repo.run(&["retrieval-bench", "--live", "--questions", missing.to_str().unwrap()]).expect(2);
    fs::write(repo.root().join("bad.json"), "{\"questions\":[{\"query\":1}]}").unwrap();
    let bad = repo.root().join("bad.json");
    let refused =
        repo.run(&["retrieval-bench", "--live", "--questions", bad.to_str().unwrap()]).expect(2);
    assert!(refused.stderr.contains("questions"), "{refused}");
}
