//! `ao overnight explain`: each verdict on a real night, and each flip made true.

use jiff::civil::{Date, date};
use serde_json::{Value, json};

use crate::night::{Night, learning, text};
use crate::repo::{Ran, TestRepo};

const FINDING: &str = "findings/f-2026-01-01-001.md";
pub(crate) const COPY: &str = "learnings/2026-03-02-copy.md";
pub(crate) const ORIGINAL: &str = "learnings/2026-03-01-case-1.md";

pub(crate) fn explain(repo: &TestRepo, more: &[&str]) -> Value {
    let mut arguments = vec!["--json", "overnight", "explain"];
    arguments.extend(more);
    repo.run(&arguments).expect(0).json()
}

pub(crate) fn rule<'a>(told: &'a Value, name: &str) -> &'a Value {
    let rules = told["rules"].as_array().unwrap();
    rules.iter().find(|rule| rule["rule"] == name).unwrap_or_else(|| panic!("{name}: {told:#}"))
}

fn signal<'a>(of: &'a Value, name: &str) -> &'a Value {
    let all = of["signals"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {of:#}"))
}

/// A night that must go through, with everything looked at.
pub(crate) fn sleep(night: &Night) -> Ran {
    night.run(&["--full"]).expect(0)
}

/// Makes the changes of a flip in the files that it names.
fn make(repo: &TestRepo, flip: &Value) {
    assert_eq!(flip["checked_by"], "night", "{flip:#}");
    for change in flip["changes"].as_array().unwrap() {
        let path = change["path"].as_str().unwrap();
        let before = repo.read(path);
        let after = if let Some(fields) = change["set"].as_object() {
            let (key, value) = fields.iter().next().unwrap();
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let lines = before.lines().filter(|line| !line.starts_with(&format!("{key}:")));
            let lines: Vec<&str> = lines.collect();
            format!("---\n{key}: {value}\n{}\n", lines[1..].join("\n"))
        } else if let Some(key) = change["remove"].as_str() {
            let lines = before.lines().filter(|line| !line.starts_with(&format!("{key}:")));
            lines.collect::<Vec<_>>().join("\n") + "\n"
        } else if let Some(old) = change["replace"].as_str() {
            before.replacen(old, change["with"].as_str().unwrap(), 1)
        } else {
            format!("{before}\n\n{}\n", change["append"].as_str().unwrap())
        };
        assert_ne!(before, after, "{flip:#}");
        repo.write(path, &after);
    }
}

/// For every flip that a rule names, the change made before a night of its own, and what then becomes of the entry.
fn flipped(make_repo: impl Fn() -> Night, entry: &str, name: &str) -> Vec<(Value, Night)> {
    let told = explain(&make_repo().repo, &[entry]);
    let flips = rule(&told, name)["flips"].as_array().unwrap().clone();
    let flips: Vec<Value> =
        flips.into_iter().filter(|flip| flip["checked_by"] == "night").collect();
    assert!(!flips.is_empty(), "{told:#}");
    let flips = flips.into_iter().map(|flip| {
        let night = make_repo();
        make(&night.repo, &flip);
        sleep(&night);
        (flip, night)
    });
    flips.collect()
}

fn finding(more: &str) -> Night {
    let night = Night::with(6);
    night
        .repo
        .write(FINDING, &format!("---\ndate: 2026-01-01\nttl_days: 30\n{more}---\n{}", text(40)));
    night
}

// proves: LOOP-27
#[test]
fn a_merge_is_told_with_its_signals_its_certificate_and_its_lineage() {
    let night = Night::with_copies();
    sleep(&night);
    assert!(!night.repo.exists(COPY));
    let told = explain(&night.repo, &["2026-03-02-copy"]);
    assert_eq!((told["path"].as_str(), told["is_there"].as_bool()), (Some(COPY), Some(false)));
    let happened = &told["happened"][0];
    assert_eq!(happened["id"], told["decided_by"]);
    assert_eq!(happened["change"]["certificate"]["verdict"], "passed");
    assert!(happened["change"]["reason"].as_str().unwrap().starts_with("a copy of"), "{told:#}");
    assert_eq!(told["lineage"]["into"], json!([ORIGINAL]));
    assert_eq!(told["agrees_with_record"], true, "{told:#}");
    let merge = rule(&told, "merge");
    assert_eq!(merge["verdict"], format!("merged into {ORIGINAL}"));
    assert_eq!(merge["certificate"], happened["change"]["certificate"]);
    let beside = &merge["beside"][0];
    assert_eq!(beside["path"], ORIGINAL);
    let stems = signal(beside, "stems");
    assert_eq!(
        (stems["value"].as_str(), stems["threshold"].as_str()),
        (Some("1"), Some("at least 0.7"))
    );
    assert!((stems["margin"].as_f64().unwrap() - 0.3).abs() < 1e-9);
    // The survivor tells the same night from its side.
    let other = explain(&night.repo, &[ORIGINAL]);
    assert_eq!(rule(&other, "merge")["verdict"], format!("takes in {COPY}"));
    assert_eq!(other["lineage"]["from"], json!([COPY]));
    assert_eq!(other["agrees_with_record"], true, "{other:#}");
}

#[test]
fn every_flip_of_a_merge_holds_in_a_night() {
    let flips = flipped(Night::with_copies, COPY, "merge");
    assert!(
        flips.len() >= 3,
        "{flips:?}",
        flips = flips.iter().map(|(flip, _)| flip).collect::<Vec<_>>()
    );
    for (flip, night) in flips {
        let verdict = flip["verdict"].as_str().unwrap();
        let (copy, original) = (night.repo.exists(COPY), night.repo.exists(ORIGINAL));
        match verdict {
            "left" => assert!(copy && original, "{flip:#}"),
            _ => assert!(verdict.starts_with("takes in") && copy && !original, "{flip:#}"),
        }
    }
}

#[test]
fn one_that_claims_otherwise_is_left_and_is_merged_once_it_says_the_same() {
    let make = || {
        let night = Night::with(6);
        let slow = learning(1).replacen("because", "for 120 seconds because", 1);
        let fast = learning(1).replacen("because", "for 30 seconds because", 1);
        night.repo.write(ORIGINAL, &fast);
        night.repo.write(COPY, &slow);
        night
    };
    let told = explain(&make().repo, &[COPY]);
    let merge = rule(&told, "merge");
    assert_eq!((merge["verdict"].as_str(), told["decided_by"].as_str()), (Some("left"), None));
    let claims = signal(&merge["beside"][0], "claims");
    assert!(
        claims["holds"] == false && claims["value"].as_str().unwrap().contains("120"),
        "{claims}"
    );
    let night = make();
    sleep(&night);
    assert!(night.repo.exists(COPY) && night.repo.exists(ORIGINAL), "left, as was told");
    for (flip, night) in flipped(make, COPY, "merge") {
        assert!(!night.repo.exists(COPY), "{flip:#}");
    }
}

#[test]
fn a_pinned_copy_is_protected_and_goes_once_it_is_not() {
    let make = || {
        let night = Night::with_copies();
        let pinned = night.repo.read(COPY).replacen("---\n", "---\npinned: true\n", 1);
        night.repo.write(COPY, &pinned);
        night
    };
    let told = explain(&make().repo, &[COPY]);
    let merge = rule(&told, "merge");
    assert_eq!(
        (merge["verdict"].as_str(), merge["why"].as_str()),
        (Some("left"), Some("it is pinned"))
    );
    // What it is kept from is seen all the same.
    assert_eq!(merge["beside"][0]["path"], ORIGINAL);
    for (flip, night) in flipped(make, COPY, "merge") {
        assert!(!night.repo.exists(COPY), "{flip:#}");
    }
}

#[test]
fn one_that_nothing_is_near_is_left_and_nothing_small_turns_it() {
    let night = Night::with(6);
    sleep(&night);
    let told = explain(&night.repo, &[ORIGINAL]);
    assert_eq!((told["happened"].clone(), told["decided_by"].clone()), (json!([]), Value::Null));
    let merge = rule(&told, "merge");
    assert_eq!((merge["verdict"].as_str(), merge["flips"].clone()), (Some("left"), json!([])));
    assert!(merge["no_flip"].is_string(), "{merge:#}");
    assert!(signal(&merge["beside"][0], "stems")["margin"].as_f64().unwrap() < -0.2, "{merge:#}");
    let prune = rule(&told, "prune");
    assert!(
        prune["verdict"] == "left" && prune["no_flip"].as_str().unwrap().contains("superseded_by")
    );
}

// proves: LOOP-27
#[test]
fn an_archived_finding_is_told_with_its_term_and_stays_with_any_flip() {
    let night = finding("");
    sleep(&night);
    assert!(!night.repo.exists(FINDING));
    let told = explain(&night.repo, &["f-2026-01-01-001"]);
    assert_eq!(told["agrees_with_record"], true, "{told:#}");
    let prune = rule(&told, "prune");
    assert_eq!(
        (prune["verdict"].as_str(), prune["acts"].as_bool()),
        (Some("archived"), Some(true))
    );
    // From the end of its term, 2026-01-31, to the day of the night.
    let day: Date = night.summary()["iterations"][0]["day"].as_str().unwrap().parse().unwrap();
    let since = |from: Date| i64::from(from.until(day).unwrap().get_days());
    let margin = signal(prune, "days past its term")["margin"].as_f64();
    #[expect(clippy::cast_precision_loss, reason = "days")]
    let over = since(date(2026, 1, 31)) as f64;
    assert_eq!(margin, Some(over), "{prune:#}");
    assert_eq!(prune["certificate"]["basis"], "expired");
    let flips = flipped(|| finding(""), FINDING, "prune");
    assert_eq!(flips.len(), 3, "term, citation, pin");
    for (flip, night) in flips {
        assert!(night.repo.exists(FINDING), "{flip:#}");
    }
    // The smallest term that saves it: one day less does not.
    let set = json!({ "checked_by": "night", "changes": [{ "path": FINDING, "set": { "ttl_days": since(date(2026, 1, 1)) - 1 } }] });
    let night = finding("");
    make(&night.repo, &set);
    sleep(&night);
    assert!(!night.repo.exists(FINDING));
    let asked = rule(&told, "prune")["flips"][0]["changes"][0]["set"]["ttl_days"].clone();
    assert_eq!(asked, since(date(2026, 1, 1)));
    // One reference keeps it too.
    let night = finding("");
    night.repo.write("research/r.md", "As f-2026-01-01-001 says.\n");
    sleep(&night);
    assert!(night.repo.exists(FINDING));
    let kept = explain(&night.repo, &["f-2026-01-01-001", "--as-of", "today"]);
    let references = signal(rule(&kept, "prune"), "references to it");
    assert!(
        references["holds"] == false
            && references["value"].as_str().unwrap().contains("research/r.md")
    );
}

#[test]
fn a_pinned_finding_is_protected_and_is_archived_once_it_is_not() {
    let make = || finding("pinned: true\n");
    let told = explain(&make().repo, &[FINDING]);
    assert_eq!(rule(&told, "prune")["verdict"], "left");
    for (flip, night) in flipped(make, FINDING, "prune") {
        assert!(!night.repo.exists(FINDING), "{flip:#}");
    }
}

// proves: LOOP-27
#[test]
fn a_promotion_is_told_from_both_ends_and_every_flip_holds() {
    let make = || {
        let night = Night::with(6);
        night.pending(0);
        night
    };
    let pending = "knowledge/pending/2026-02-01-pending-0.md";
    let night = make();
    sleep(&night);
    let told = explain(&night.repo, &[pending]);
    let promotion = rule(&told, "promotion");
    assert_eq!(
        (promotion["verdict"].as_str(), told["agrees_with_record"].as_bool()),
        (Some("promoted"), Some(true))
    );
    let sum: f64 = promotion["amounts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["amount"].as_f64().unwrap())
        .sum();
    let score: f64 = signal(promotion, "score")["value"].as_str().unwrap().parse().unwrap();
    assert!((sum - score).abs() < 1e-9, "{promotion:#}");
    let to = told["lineage"]["into"][0].as_str().unwrap();
    let learned = explain(&night.repo, &[to]);
    assert_eq!(
        (&learned["rules_asked_about"], &learned["agrees_with_record"]),
        (&json!(pending), &json!(true))
    );
    assert_eq!(rule(&learned, "promotion")["verdict"], "promoted");
    for (flip, night) in flipped(make, pending, "promotion") {
        assert!(night.repo.exists(pending), "{flip:#}");
    }
}

#[test]
fn a_pending_one_that_stays_says_what_it_lacks_and_every_flip_promotes_it() {
    let pending = "knowledge/pending/2026-02-01-thin.md";
    let make = || {
        let night = Night::with(6);
        let claim = "The import job stalls: run `bavolo --check` on the gearbox manifest.";
        night.repo.write(pending, &format!("---\ndate: 2026-02-01\n---\n# Thin\n\n{claim}\n"));
        night
    };
    let night = make();
    sleep(&night);
    assert!(night.repo.exists(pending));
    let told = explain(&night.repo, &[pending]);
    let promotion = rule(&told, "promotion");
    let score = signal(promotion, "score");
    assert!(score["holds"] == false && score["margin"].as_f64().unwrap() < 0.0, "{promotion:#}");
    for (flip, night) in flipped(make, pending, "promotion") {
        assert!(!night.repo.exists(pending), "{flip:#}");
    }
}

/// As many citations as are named, and one less.
#[test]
fn as_many_citations_as_are_named_move_an_entry_and_no_fewer() {
    let told = explain(&Night::with(6).repo, &[ORIGINAL]);
    let flip = &rule(&told, "feedback")["flips"][0];
    assert_eq!(
        (flip["verdict"].as_str(), flip["checked_by"].as_str()),
        (Some("candidate"), Some("rule"))
    );
    let name = flip["changes"][0]["signal"].as_str().unwrap();
    let count: usize = name.split(' ').next().unwrap().parse().unwrap();
    for (cited, moves) in [(count - 1, false), (count, true)] {
        let night = Night::with(6);
        let line = |minute: usize| {
            json!({ "artifact_path": ORIGINAL, "citation_type": "applied", "session_id": format!("s-{minute}"),
                    "cited_at": format!("2026-03-01T00:{minute:02}:00Z") })
        };
        let lines: Vec<String> = (0..cited).map(|minute| line(minute).to_string()).collect();
        night.repo.write("ao/citations.jsonl", &(lines.join("\n") + "\n"));
        sleep(&night);
        assert_eq!(night.repo.read(ORIGINAL).contains("maturity: candidate"), moves, "{cited}");
        let after = explain(&night.repo, &[ORIGINAL]);
        let feedback = rule(&after, "feedback");
        assert!(feedback["acts"] == true && after["agrees_with_record"] == true, "{after:#}");
    }
}
