//! A night's own day: terms end by it, and waits. Whatever the corpus says of its days changes neither, and
//! the day changes no figure.

use std::fs;

use jiff::civil::Date;
use serde_json::Value;

use crate::night::{Night, Noon, dated, json_of, learning};
use crate::repo::Ran;

const TERM: &str = "findings/f-term.md";
const TODAY: &str = "knowledge/pending/today.md";

/// A night that goes by another clock.
struct Days {
    night: Night,
    noon: Noon,
}

impl Days {
    fn new(night: Night) -> Self {
        let noon = Noon::new(night.aside.path());
        Self { night, noon }
    }

    /// A finding whose last day is this one.
    fn finding(&self, path: &str, number: usize, last: Date) {
        let begins = last.checked_sub(jiff::Span::new().days(10)).unwrap();
        let text = crate::night::text(number);
        let head = format!("id: f-{number}\ndate: {begins}\nttl_days: 10\nseverity: high");
        self.night.repo.write(path, &format!("---\n{head}\n---\n# Finding {number}\n\n{text}"));
    }

    fn pending(&self, path: &str, number: usize, date: Date) {
        self.night.repo.write(path, &dated(number, date));
    }

    /// A night so many days on.
    fn spend(&self, days: i32, more: &[&str]) -> Value {
        self.noon.set(days);
        self.noon.run(self.night.command(more)).expect(0);
        self.night.summary()
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.noon.run(self.night.repo.command(arguments))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        self.run(&[&["--json"], arguments].concat()).expect(0).json()
    }

    fn exists(&self, path: &str) -> bool {
        self.night.repo.exists(path)
    }

    /// Nights of one day until nothing is read any more.
    fn settle(&self, days: i32) {
        let is_settled = (0..5).any(|_| is_carried(&self.spend(days, &[])));
        assert!(is_settled, "{:#}", self.night.summary());
    }
}

fn is_carried(summary: &Value) -> bool {
    summary["unchanged_since"].is_object()
}

fn verdict<'a>(summary: &'a Value, path: &str) -> &'a Value {
    let all = summary["close_loop"]["pending"].as_array().unwrap();
    all.iter().find(|one| one["path"] == path).unwrap_or_else(|| panic!("{path}: {summary:#}"))
}

/// What an iteration is recorded to have done to a file.
fn reason<'a>(summary: &'a Value, path: &str) -> Option<&'a str> {
    let changes = summary["iterations"][0]["reduce"]["changes"].as_array().unwrap();
    changes.iter().find(|change| change["path"] == path)?["reason"].as_str()
}

/// What a person can run for the close-loop step.
fn closing_command(summary: &Value) -> &str {
    let steps = summary["steps"].as_array().unwrap();
    steps.iter().find(|step| step["name"] == "close-loop").unwrap()["command"].as_str().unwrap()
}

// proves: RUN-44
#[test]
fn what_came_in_today_is_promoted_tonight_and_trust_alone_decides() {
    let days = Days::new(Night::with(6));
    // Today's, one of the newest day that the corpus has, one without a date, and one that nobody trusts.
    days.pending(TODAY, 50, days.noon.day(0));
    days.night.repo.write("knowledge/pending/newest.md", &dated(51, jiff::civil::date(2026, 3, 6)));
    days.night
        .repo
        .write("knowledge/pending/undated.md", &learning(52).replacen("date: 2026-03-25\n", "", 1));
    let untrusted = dated(53, days.noon.day(0)).replacen("---\n", "---\ntrust: web\n", 1);
    days.night.repo.write("knowledge/pending/untrusted.md", &untrusted);
    let planned = days.json(&["overnight", "plan"]);
    let summary = days.spend(0, &[]);
    assert_eq!(planned["edits"], summary["iterations"][0]["reduce"]["changes"], "{planned:#}");
    for name in ["today", "newest", "undated"] {
        let path = format!("knowledge/pending/{name}.md");
        let why = reason(&summary, &path).unwrap_or_else(|| panic!("{name}: {summary:#}"));
        assert!(why.starts_with("promoted to learnings/"), "{why}");
        assert!(!days.exists(&path) && days.exists(&path.replace("pending", "processed")));
    }
    assert!(days.exists("knowledge/pending/untrusted.md"));
    let waits = verdict(&summary, "knowledge/pending/untrusted.md");
    assert_eq!((&waits["verdict"], &waits["waits_for_person"]), (&"kept".into(), &true.into()));
    assert_eq!(closing_command(&summary), "ao flywheel close-loop --threshold 0h --json");
    assert_eq!(summary["close_loop"]["min_age"], "0s");
    assert_eq!(summary["close_loop"]["as_of"], days.noon.day(0).to_string());
}

// proves: RUN-44
#[test]
fn what_is_to_wait_waits_by_the_days_of_the_nights() {
    let days = Days::new(Night::with(6));
    days.night.configure("dream:\n  promote_after: 24h\n");
    // No entry is newer, on any night.
    days.pending(TODAY, 50, days.noon.day(0));
    let summary = days.spend(0, &[]);
    let why = verdict(&summary, TODAY)["reason"].as_str().unwrap().to_owned();
    assert!(why.contains("0s old, and 24h0m0s is needed"), "{why}");
    assert_eq!(closing_command(&summary), "ao flywheel close-loop --threshold 24h0m0s --json");
    // What explains it, what plans it and the command by itself say the same.
    let promotion = |told: &Value| told["rules"][0]["verdict"].as_str().unwrap().to_owned();
    let explained = || promotion(&days.json(&["overnight", "explain", TODAY]));
    let closed = |more: &[&str]| {
        let words = [&["--dry-run", "flywheel", "close-loop"], more].concat();
        days.json(&words)["promoted"].as_u64().unwrap()
    };
    assert_eq!((explained().as_str(), closed(&[])), ("left pending", 0));
    assert_eq!(closed(&["--as-of", &days.noon.day(1).to_string()]), 1);
    assert_eq!(closed(&["--threshold", "0h"]), 1);
    days.settle(0);
    let planned = days.json(&["overnight", "plan"]);
    assert!(planned["unchanged_since"].is_string(), "{planned:#}");
    // A night later, with nothing new.
    days.noon.set(1);
    assert_eq!((explained().as_str(), closed(&[])), ("promoted", 1));
    let planned = days.json(&["overnight", "plan"]);
    let summary = days.spend(1, &[]);
    assert_eq!(planned["edits"], summary["iterations"][0]["reduce"]["changes"], "{planned:#}");
    assert!(reason(&summary, TODAY).unwrap().starts_with("promoted to learnings/"));
    assert!(!days.exists(TODAY));
}

// proves: RUN-44
#[test]
fn how_long_to_wait_is_for_the_configuration_to_say() {
    let days = Days::new(Night::with(3));
    days.pending(TODAY, 50, days.noon.day(-1));
    let waits = |variable: &str| {
        let mut command = days.night.repo.command(&["--json", "overnight", "plan"]);
        if !variable.is_empty() {
            command.env("AGENTOPS_DREAM_PROMOTE_AFTER", variable);
        }
        let planned = days.noon.run(command).expect(0).json();
        planned["first_iteration"]["edits"] == 0
    };
    assert!(!waits("") && !waits("24h") && waits("25h"));
    days.night.configure("dream:\n  promote_after: 36h\n");
    assert!(waits("") && !waits("1h"), "the variable is stronger");
    // The command by itself has its own threshold.
    let told = days.json(&["--dry-run", "flywheel", "close-loop"]);
    assert_eq!((&told["promoted"], &told["min_age"]), (&1.into(), &"24h0m0s".into()));
    days.night.configure("dream:\n  keep_awake: false\n  promote_after: soon\n");
    for words in [&["overnight", "start"][..], &["overnight", "plan"], &["overnight", "setup"]] {
        let refused = days.run(words).expect(2);
        for word in ["config.yaml", "line 3", "dream.promote_after", "soon", "8h"] {
            assert!(refused.stderr.contains(word), "{word}: {refused}");
        }
    }
    days.night.configure("dream:\n  promote_aftr: 24h\n");
    let told = days.run(&["overnight", "plan"]).expect(0);
    assert!(told.stderr.contains("the nearest known one is dream.promote_after"), "{told}");
}

// proves: RUN-44
#[test]
fn a_term_that_ended_is_over_though_the_corpus_is_older() {
    let days = Days::new(Night::with(6));
    days.finding(TERM, 70, days.noon.day(-1));
    days.finding("findings/f-last.md", 71, days.noon.day(0));
    let pruned = |told: &Value| {
        let all = told["prunes"].as_array().unwrap().iter();
        all.map(|one| one["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let defrag = |more: &[&str]| days.json(&[&["--dry-run", "defrag", "--prune"], more].concat());
    let told = defrag(&[]);
    assert_eq!(pruned(&told), [TERM]);
    assert_eq!(told["as_of"], days.noon.day(0).to_string());
    assert_eq!(pruned(&defrag(&["--as-of", &days.noon.day(-1).to_string()])), Vec::<String>::new());
    let tomorrow = defrag(&["--as-of", &days.noon.day(1).to_string()]);
    assert_eq!(pruned(&tomorrow), ["findings/f-last.md", TERM]);
    let explained = days.json(&["overnight", "explain", TERM]);
    let prune = explained["rules"].as_array().unwrap().iter().find(|rule| rule["rule"] == "prune");
    assert_eq!(prune.unwrap()["verdict"], "archived", "{explained:#}");
    let planned = days.json(&["overnight", "plan"]);
    let summary = days.spend(0, &[]);
    assert_eq!(planned["edits"], summary["iterations"][0]["reduce"]["changes"], "{planned:#}");
    assert!(!days.exists(TERM) && days.exists("findings/f-last.md"), "{summary:#}");
    // Freshness and fitness are still counted from the newest day of the corpus.
    let newest = days.noon.day(-10).to_string();
    assert_eq!(summary["metrics_health"]["as_of"], newest, "{summary:#}");
    let explained = days.json(&["overnight", "explain", TERM]);
    assert_eq!(explained["agrees_with_record"], true, "{explained:#}");
}

// proves: RUN-44
#[test]
fn what_is_kept_of_a_night_counts_up_to_the_day_that_changes_it() {
    let days = Days::new(Night::with(6));
    days.finding(TERM, 70, days.noon.day(2));
    days.settle(0);
    let kept = days.night.repo.state("settled.json");
    assert_eq!(json_of(&kept)["day"], days.noon.day(0).to_string());
    assert_eq!(json_of(&kept)["changes_on"], days.noon.day(3).to_string());
    for day in [1, 2] {
        assert!(is_carried(&days.spend(day, &[])), "day {day}");
        assert!(days.json(&["overnight", "plan"])["unchanged_since"].is_string(), "day {day}");
    }
    days.noon.set(3);
    let planned = days.json(&["overnight", "plan"]);
    assert_eq!(planned["unchanged_since"], Value::Null, "{planned:#}");
    let summary = days.spend(3, &[]);
    assert!(!is_carried(&summary) && !days.exists(TERM), "{summary:#}");
    // Nothing else has a day of its own.
    days.settle(3);
    assert_eq!(json_of(&kept)["changes_on"], Value::Null);
    assert!(is_carried(&days.spend(3000, &[])));
}

/// What an earlier `ao` kept says nothing of days.
// proves: RUN-44
#[test]
fn what_was_kept_without_a_day_does_not_count() {
    let days = Days::new(Night::with(6));
    days.settle(0);
    let path = days.night.repo.state("settled.json");
    let kept = fs::read_to_string(&path).unwrap();
    let digest = json_of(&path)["digest"].as_str().unwrap().to_owned();
    let sealed = |text: &str| {
        let bare = text.replacen(&digest, "", 1);
        let digest = blake3::hash(bare.trim_end().as_bytes()).to_hex().to_string();
        bare.replacen("\"digest\":\"\"", &format!("\"digest\":\"{digest}\""), 1)
    };
    assert_eq!(sealed(&kept), kept, "otherwise the digest alone would speak against it");
    let day = format!("\"day\":\"{}\",", days.noon.day(0));
    assert!(kept.contains(&day), "{kept}");
    fs::write(&path, sealed(&kept.replacen(&day, "", 1))).unwrap();
    days.run(&["schema", "settled", "--check", path.to_str().unwrap()]).expect(0);
    assert!(!is_carried(&days.spend(0, &[])));
    assert!(is_carried(&days.spend(0, &[])));
}

// proves: RUN-44
#[test]
fn another_day_changes_no_figure() {
    let days = Days::new(Night::with_copies());
    days.night.pending(1);
    days.spend(0, &[]);
    let figures = |day: i32| {
        days.spend(day, &["--full"]);
        let read = |name: &str| fs::read_to_string(days.night.latest(name)).unwrap();
        let bench = days.run(&["--json", "retrieval-bench", "--live"]).expect(0).stdout;
        [read("metrics-health.json"), read("retrieval-bench.json"), bench]
    };
    let first = figures(0);
    assert!(first[0].contains("\"freshness\""), "{}", first[0]);
    assert_eq!(figures(200), first);
}

// proves: RUN-44
#[test]
fn a_night_is_replayed_on_its_own_day() {
    let days = Days::new(Night::with_copies());
    days.night.configure("dream:\n  promote_after: 24h\n");
    days.pending(TODAY, 50, days.noon.day(0));
    days.pending("knowledge/pending/yesterday.md", 51, days.noon.day(-1));
    days.finding(TERM, 70, days.noon.day(-1));
    days.finding("findings/f-last.md", 71, days.noon.day(0));
    let summary = days.spend(0, &[]);
    assert!(days.exists(TODAY) && !days.exists("knowledge/pending/yesterday.md"));
    assert!(!days.exists(TERM) && days.exists("findings/f-last.md"));
    let run = summary["run_id"].as_str().unwrap();
    days.noon.set(30);
    let told = days.json(&["overnight", "replay", run]);
    assert_eq!(told["identical"], true, "{told:#}");
}

/// A run that goes on over midnight is of the day on which it began, and so is what is told of it later.
// proves: RUN-44
#[test]
fn a_run_over_midnight_has_one_day() {
    for place in ["ingest", "reduce"] {
        goes_over_midnight(place);
    }
}

fn goes_over_midnight(place: &str) {
    let days = Days::new(Night::with_copies());
    days.finding(TERM, 70, days.noon.day(0));
    let held = days.night.held(days.noon.command(&mut days.night.command(&[])), place);
    days.noon.set(1);
    held.go_on().expect(0);
    assert!(days.exists(TERM), "{:#}", days.night.summary());
    let first = days.night.summary()["iterations"][0].clone();
    assert_eq!(first["day"], days.noon.day(0).to_string(), "{first:#}");
    assert!(first["finished_at"].as_str().unwrap().starts_with(&days.noon.day(1).to_string()));
    let id = first["commit"]["id"].as_str().unwrap();
    let explained = days.json(&["overnight", "explain", TERM, "--as-of", id]);
    assert_eq!(explained["agrees_with_record"], true, "{explained:#}");
    days.spend(1, &[]);
    assert!(!days.exists(TERM));
}

/// What is past its term claims nothing any more, also where it has to stay.
// proves: RUN-44
#[test]
fn what_is_past_its_term_contradicts_nobody() {
    let days = Days::new(Night::with(3));
    let claim = |seconds: u32| {
        format!(
            "# The relay timeout\n\nThe mail relay waits {seconds} seconds for the quota keeper.\n"
        )
    };
    days.night.repo.write("learnings/2026-03-02-relay.md", &claim(30));
    let head = format!("id: f-1\npinned: true\ndate: {}\nttl_days: 10", days.noon.day(-10));
    days.night.repo.write(TERM, &format!("---\n{head}\n---\n{}", claim(90)));
    let open = |days: &Days| days.json(&["rule"])["open"].as_u64().unwrap();
    let summary = days.spend(0, &[]);
    assert_eq!((&summary["contradictions"]["open"], open(&days)), (&1.into(), 1), "{summary:#}");
    let summary = days.spend(1, &[]);
    assert_eq!((&summary["contradictions"]["open"], open(&days)), (&0.into(), 0), "{summary:#}");
    assert!(days.exists(TERM), "it is pinned");
}
