//! `ao search` and `ao show`.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::repo::{Ran, TestRepo, write};

impl TestRepo {
    /// An entry with a header and a text.
    pub(crate) fn entry(&self, path: &str, header: &str, text: &str) {
        self.write(path, &format!("---\n{header}\n---\n{text}\n"));
    }

    pub(crate) fn search(&self, more: &[&str]) -> Value {
        let mut arguments = vec!["--json", "search"];
        arguments.extend(more);
        self.run(&arguments).expect(0).json()
    }
}

pub(crate) fn paths(found: &Value) -> Vec<&str> {
    let results = found["results"].as_array().unwrap();
    results.iter().map(|one| one["path"].as_str().unwrap().trim_start_matches(".agents/")).collect()
}

fn library() -> TestRepo {
    let repo = TestRepo::new();
    repo.entry(
        "learnings/2026-04-01-marker.md",
        "id: L-marker\ndate: 2026-04-01",
        "# Learning: Commit marker\n\nThe marker is renamed into place before the exchange.",
    );
    repo.entry(
        "findings/f-2026-04-02-001.md",
        "id: f-2026-04-02-001\ntitle: Torn tree",
        "A killed commit left a torn tree behind.",
    );
    repo.write(
        "learnings/lines.jsonl",
        "{\"title\":\"Line learning\",\"content\":\"Ledgers are appended, never rewritten.\"}\n",
    );
    repo.write(
        "findings/registry.jsonl",
        "{\"title\":\"Intake\",\"content\":\"zanzibar ledger\"}\n",
    );
    repo.write("wiki/page.md", "# Wiki\n\nThe exchange is atomic.\n");
    repo.write("plans/plan.md", "# Plan\n\nzanzibar\n");
    repo
}

#[test]
fn every_kind_of_entry_is_found_and_the_ledger_is_not() {
    let repo = library();
    assert_eq!(paths(&repo.search(&["ledgers"])), ["learnings/lines.jsonl"]);
    assert_eq!(paths(&repo.search(&["torn", "tree"])), ["findings/f-2026-04-02-001.md"]);
    assert_eq!(
        paths(&repo.search(&["exchange"])),
        ["wiki/page.md", "learnings/2026-04-01-marker.md"]
    );
    assert!(paths(&repo.search(&["zanzibar"])).is_empty());
    let found = repo.search(&["renamed marker"]);
    let first = &found["results"][0];
    assert_eq!(first["title"], "Commit marker");
    assert_eq!(first["snippet"], "The marker is renamed into place before the exchange.");
    assert_eq!(first["confidence"], 1.0);
    let told = repo.run(&["search", "marker"]).expect(0);
    assert!(told.stdout.contains(".agents/learnings/2026-04-01-marker.md"), "{told}");
}

// pitfall 14
#[test]
fn relevance_decides_and_not_age_or_utility() {
    let repo = TestRepo::new();
    repo.entry(
        "learnings/2020-01-01-old.md",
        "utility: 0.05\nmaturity: provisional\ndate: 2020-01-01",
        "# Learning: Stale lock file\n\nA stale lock file blocks the nightly run.",
    );
    for index in 0..20 {
        repo.entry(
            &format!("learnings/2026-10-{:02}-new.md", index + 1),
            "utility: 1.0\nmaturity: established\ndate: 2026-10-20",
            &format!("# Learning: Item {index}\n\nA file was written. The lock came later, and nothing was stale in it."),
        );
    }
    let found = repo.search(&["stale lock file"]);
    assert_eq!(paths(&found)[0], "learnings/2020-01-01-old.md", "{found:#}");
    // What is equally relevant is ordered by what it says about itself.
    for (name, header) in [("weak", "utility: 0.1"), ("strong", "utility: 0.9"), ("none", "x: y")] {
        repo.entry(&format!("patterns/{name}.md"), header, "# Zebra\n\nquagga");
    }
    let found = repo.search(&["quagga"]);
    assert_eq!(paths(&found), ["patterns/strong.md", "patterns/none.md", "patterns/weak.md"]);
}

// pitfall 14
#[test]
fn the_top_ten_have_the_phrase_that_was_asked_for() {
    let repo = TestRepo::new();
    for index in 0..60 {
        let (header, text) = if index % 6 == 0 {
            ("utility: 0.1\ndate: 2021-01-01", "When the retry storm began, all sockets were gone.")
        } else {
            (
                "utility: 0.95\ndate: 2026-10-01",
                "A storm of words about many a thing; we retry sockets, then rest.",
            )
        };
        repo.entry(
            &format!("learnings/e-{index:02}.md"),
            header,
            &format!("# Note {index}\n\n{text}"),
        );
    }
    let found = repo.search(&["retry storm"]);
    assert_eq!(paths(&found).len(), 10);
    for one in found["results"].as_array().unwrap() {
        assert!(one["snippet"].as_str().unwrap().contains("retry storm"), "{one:#}");
    }
}

// pitfall 15
#[test]
fn neither_clock_nor_zone_nor_locale_nor_file_times_change_anything() {
    let repo = library();
    let arguments = ["--json", "search", "marker exchange tree", "--explain"];
    let ask = |zone: &str, locale: &str| {
        let mut command = repo.command(&arguments);
        let output = command.env("TZ", zone).env("LC_ALL", locale).env("LANG", locale).output();
        String::from_utf8(output.unwrap().stdout).unwrap()
    };
    let first = ask("UTC", "C");
    assert!(first.contains("\"freshness\""));
    assert_eq!(ask("Pacific/Kiritimati", "tr_TR.UTF-8"), first);
    for (path, days) in [("learnings/2026-04-01-marker.md", 9000), ("wiki/page.md", 40_000)] {
        let time = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * days);
        let file = File::options().write(true).open(repo.agents().join(path)).unwrap();
        file.set_modified(time).unwrap();
    }
    assert_eq!(ask("America/St_Johns", "de_DE.UTF-8"), first);
}

#[test]
fn the_day_that_is_asked_for_hides_what_came_later() {
    let repo = TestRepo::new();
    for day in ["2025-01-01", "2026-06-01", "2026-12-01"] {
        repo.write(&format!("learnings/{day}-x.md"), "# Quokka\n");
    }
    repo.write("learnings/undated.md", "# Quokka\n");
    assert_eq!(paths(&repo.search(&["quokka"])).len(), 4);
    let found = repo.search(&["quokka", "--as-of", "2026-06-01"]);
    let expected =
        ["learnings/2026-06-01-x.md", "learnings/undated.md", "learnings/2025-01-01-x.md"];
    assert_eq!(paths(&found), expected);
    repo.run(&["search", "quokka", "--as-of", "yesterday"]).expect(2);
}

#[test]
fn the_numbers_of_an_explanation_add_up() {
    let repo = library();
    repo.entry(
        "learnings/weighed.md",
        "utility: 0.9\nmaturity: anti-pattern\ndate: 2025-01-01",
        "# Exchange of markers\n\nThe marker, the exchange. A marker exchange is atomic; markers exchange.",
    );
    let found = repo.search(&["atomic marker exchange exchange", "--explain", "-k", "5"]);
    let results = found["results"].as_array().unwrap();
    assert!(results.len() >= 3, "{found:#}");
    let number = |value: &Value| value.as_f64().unwrap();
    for one in results {
        let explain = &one["explain"];
        let parts = explain["parts"].as_array().unwrap();
        let relevance: f64 = parts.iter().map(|part| number(&part["adds"])).sum();
        assert!((relevance - number(&one["relevance"])).abs() < 1e-12, "{one:#}");
        let amounts: f64 = ["utility", "maturity", "freshness"]
            .map(|name| number(&explain["amounts"][name]))
            .iter()
            .sum();
        let score = relevance * (1.0 + amounts);
        assert!((score - number(&one["score"])).abs() < 1e-12, "{one:#}");
    }
    let weighed = results.iter().find(|one| one["title"] == "Exchange of markers").unwrap();
    let amounts = &weighed["explain"]["amounts"];
    assert!((number(&amounts["utility"]) - 0.04).abs() < 1e-12);
    assert!((number(&amounts["maturity"]) + 0.05).abs() < 1e-12);
    assert!(number(&amounts["freshness"]) < 0.0 && number(&amounts["freshness"]) >= -0.02);
    let kinds: Vec<&str> = weighed["explain"]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["kind"].as_str().unwrap())
        .collect();
    for kind in ["word", "exact", "neighbours", "near"] {
        assert!(kinds.contains(&kind), "{weighed:#}");
    }
    let told = repo.run(&["search", "marker exchange", "--explain"]).expect(0);
    assert!(told.stdout.contains("relevance") && told.stdout.contains("utility"), "{told}");
}

/// Worked out by hand: two entries of three words each, one of which has the word once in its body.
#[test]
fn a_small_score_is_what_the_formula_says() {
    let repo = TestRepo::new();
    for part in ["learnings", "findings", "patterns", "knowledge", "research"] {
        fs::remove_dir_all(repo.agents().join(part)).unwrap();
    }
    repo.write("learnings/one.md", "# alpha\n\nbeta gamma\n");
    repo.write("learnings/two.md", "# delta\n\nepsilon zeta\n");
    let found = repo.search(&["gamma"]);
    // Rarity ln(1 + 1.5/1.5); two of six stems are titles' words, and gamma is in none of the
    // titles of its one entry: ((0 + 20/3) / 21) / (1/3) = 20/21, to the power of a quarter. Once in
    // the body of an entry of average length counts 1, and its exact form adds 0.2 of the rarity.
    let rarity = 2.0_f64.ln();
    let expected = rarity * (20.0_f64 / 21.0).powf(0.25) + 0.2 * rarity;
    let score = found["results"][0]["score"].as_f64().unwrap();
    assert!((score - expected).abs() < 1e-12, "{score} {expected}");
}

#[test]
fn what_was_replaced_is_hidden_and_its_name_still_leads_somewhere() {
    let repo = library();
    repo.entry("learnings/older.md", "superseded_by: old", "# Ibex one");
    repo.entry("learnings/old.md", "id: L-old\npromoted_to: patterns/new.md", "# Ibex two");
    repo.entry("learnings/off.md", "superseded: true", "# Ibex off");
    repo.entry("learnings/unset.md", "superseded_by: null\npromoted_to: ~", "# Ibex unset");
    repo.entry("patterns/new.md", "merged_from: [learnings/gone.md, L-gone]", "# Ibex new");
    let found = repo.search(&["ibex"]);
    assert_eq!(paths(&found), ["learnings/unset.md", "patterns/new.md"]);
    for name in ["older", "learnings/old.md", "L-old", "L-gone", ".agents/learnings/gone.md"] {
        let shown = repo.run(&["--json", "show", name]).expect(0);
        assert_eq!(shown.json()["path"], ".agents/patterns/new.md", "{shown}");
        assert!(shown.stderr.contains("patterns/new.md"), "{name}: {shown}");
    }
    let chain = repo.run(&["--json", "show", "older"]).expect(0).json();
    assert_eq!(
        chain["replaced"],
        json!([".agents/learnings/older.md", ".agents/learnings/old.md"])
    );
    let plain = repo.run(&["show", "patterns/new.md"]).expect(0);
    assert!(plain.stdout.contains("# Ibex new") && plain.stderr.is_empty(), "{plain}");
    repo.entry("learnings/circle.md", "superseded_by: circle", "# Circle");
    repo.run(&["show", "circle"]).expect(0);
    repo.entry("learnings/lost.md", "superseded_by: nowhere", "# Lost");
    let lost = repo.run(&["show", "lost"]).expect(0);
    assert!(lost.stderr.contains("nowhere, which is not there"), "{lost}");
    repo.write("research/twin.md", "x");
    repo.write("wiki/twin.md", "y");
    let twins = repo.run(&["show", "twin"]).expect(2);
    assert!(twins.stderr.contains("research/twin.md, wiki/twin.md"), "{twins}");
    repo.run(&["show", "nobody"]).expect(2);
}

fn cache(repo: &TestRepo) -> std::path::PathBuf {
    repo.agents().join("ao/index/search.idx")
}

const ASKED: [&str; 4] = ["--json", "search", "marker exchange tree ledgers line", "--explain"];

fn asked(repo: &TestRepo) -> String {
    let ran: Ran = repo.run(&ASKED).expect(0);
    assert_eq!(ran.stderr, "", "{ran}");
    ran.stdout
}

#[test]
fn a_cache_never_changes_a_result() {
    let repo = library();
    let cold = asked(&repo);
    assert!(cache(&repo).is_file());
    assert_eq!(asked(&repo), cold, "warm");
    let whole = fs::read(cache(&repo)).unwrap();
    for length in [0, 1, 100, whole.len() / 2, whole.len() - 1] {
        fs::write(cache(&repo), &whole[..length]).unwrap();
        assert_eq!(asked(&repo), cold, "cut to {length}");
    }
    for at in (0..whole.len()).step_by(whole.len() / 150) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(cache(&repo), &flipped).unwrap();
        assert_eq!(asked(&repo), cold, "flipped at {at}");
    }
    fs::write(cache(&repo), b"somebody else's file").unwrap();
    assert_eq!(asked(&repo), cold, "foreign");
    fs::remove_file(cache(&repo)).unwrap();
    nix::unistd::mkfifo(&cache(&repo), nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert_eq!(asked(&repo), cold, "a FIFO");
    fs::remove_dir_all(repo.agents().join("ao")).unwrap();
    assert_eq!(asked(&repo), cold, "deleted");
}

#[test]
fn only_what_changed_is_read_again_and_the_result_is_the_same() {
    let repo = library();
    asked(&repo);
    repo.write("wiki/page.md", "# Wiki\n\nA new ledger line, and a tree.\n");
    repo.write("learnings/new.md", "# Exchange of lines\n");
    fs::remove_file(repo.agents().join("findings/f-2026-04-02-001.md")).unwrap();
    let updated = asked(&repo);
    let kept = fs::read(cache(&repo)).unwrap();
    assert_eq!(asked(&repo), updated, "warm after the update");
    fs::remove_dir_all(repo.agents().join("ao")).unwrap();
    assert_eq!(asked(&repo), updated, "cold");
    // But for the time of the walk and the check values of its block, an updated cache has the very
    // bytes of a fresh one.
    let fresh = fs::read(cache(&repo)).unwrap();
    assert_eq!(kept.len(), fresh.len());
    let differ = kept.iter().zip(&fresh).filter(|(a, b)| a != b).count();
    assert!(differ <= 64, "{differ} bytes differ");
    let only = fs::read_dir(repo.agents().join("ao/index")).unwrap().count();
    assert_eq!(only, 2, "the cache and its .gitignore");
}

#[test]
fn a_change_that_keeps_size_and_time_is_seen() {
    let repo = library();
    let path = repo.agents().join("wiki/page.md");
    let old = SystemTime::UNIX_EPOCH + Duration::from_hours(400_000);
    let set_time = || File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    set_time();
    assert_eq!(paths(&repo.search(&["atomic"])).len(), 1);
    fs::write(&path, "# Wiki\n\nThe exchange is normal.\n").unwrap();
    set_time();
    assert!(paths(&repo.search(&["atomic"])).is_empty());
    assert_eq!(paths(&repo.search(&["normal"])), ["wiki/page.md"]);
    // And so are changes in quick succession.
    for round in 0..30 {
        fs::write(&path, format!("# Wiki\n\nround{round:02}x\n")).unwrap();
        assert_eq!(paths(&repo.search(&[&format!("round{round:02}x")])), ["wiki/page.md"]);
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_only_noted() {
    let repo = library();
    let expected = asked(&repo);
    fs::remove_dir_all(repo.agents().join("ao")).unwrap();
    repo.write("ao", "a file where the folder should be");
    let ran = repo.run(&ASKED).expect(0);
    assert_eq!(ran.stdout, expected);
    assert!(ran.stderr.contains("The index could not be kept"), "{ran}");
    fs::remove_file(repo.agents().join("ao")).unwrap();
    let outside = repo.root().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, repo.agents().join("ao")).unwrap();
    repo.run(&ASKED).expect(0);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "written through a symlink");
}

#[test]
fn a_dry_run_writes_nothing() {
    let repo = library();
    let before = repo.everything();
    repo.run(&["--dry-run", "search", "marker"]).expect(0);
    repo.run(&["--dry-run", "lookup", "marker"]).expect(0);
    assert_eq!(repo.everything(), before);
}

#[test]
fn a_search_goes_on_beside_a_commit() {
    let repo = library();
    let stopped = repo.stopped_before_the_exchange(&json!([write("learnings/b.md", "# Okapi\n")]));
    assert!(paths(&repo.search(&["okapi"])).is_empty());
    stopped.go_on().expect(0);
    assert_eq!(paths(&repo.search(&["okapi"])), ["learnings/b.md"]);
    // The commit gave every file another name for an instant; that alone changes nothing.
    assert_eq!(paths(&repo.search(&["torn tree"])), ["findings/f-2026-04-02-001.md"]);
}

#[test]
fn bad_questions_get_a_clear_answer() {
    let repo = library();
    for query in ["the of how", "", " ", "x", "\u{1b}[m\u{7}", "... ---"] {
        let refused = repo.run(&["search", query]).expect(2);
        assert!(refused.stderr.contains("no word that can be searched for"), "{refused}");
    }
    let long = "marker of the exchange and some more words about trees ".repeat(190);
    assert!(long.len() > 10_000);
    let answered = repo.run(&["search", &long]).expect(0);
    assert!(answered.stderr.contains("words are asked"), "{answered}");
    assert!(answered.stdout.contains("Commit marker"), "{answered}");
    repo.run(&["search", &"marker ".repeat(10_000)]).expect(2);
    assert_eq!(
        paths(&repo.search(&["marker\u{0}".trim_end_matches('\0'), "\u{1b}]0;x\u{7}"])).len(),
        1
    );
    repo.run(&["search", "marker", "-k", "0"]).expect(2);
    repo.run(&["search", "marker", "-k", "1001"]).expect(2);
    let none = repo.run(&["search", "nobodywrotethis"]).expect(0);
    assert!(none.stderr.contains("Nothing found") && none.stdout.is_empty(), "{none}");
}

#[test]
fn without_a_corpus_there_is_a_clear_answer_too() {
    let empty = tempfile::tempdir().unwrap();
    let repo = TestRepo { dir: empty };
    let refused = repo.run(&["search", "marker"]).expect(6);
    assert!(refused.stderr.contains(".agents"), "{refused}");
    fs::create_dir(repo.agents()).unwrap();
    let told = repo.run(&["--json", "search", "marker"]).expect(0);
    assert!(told.stderr.contains("There are no entries"), "{told}");
    assert_eq!(told.json()["results"], json!([]));
    repo.run(&["lookup", "marker"]).expect(0);
    repo.run(&["show", "marker"]).expect(2);
    let bench = repo.run(&["retrieval-bench", "--live"]).expect(6);
    assert!(bench.stderr.contains("no entries"), "{bench}");
}

#[test]
fn hostile_files_are_left_alone_and_shown_harmless() {
    let repo = library();
    repo.write("learnings/esc.md", "# Evil \u{1b}]0;owned\u{7}\n\nkinkajou \u{1b}[2J here\n");
    fs::write(repo.agents().join("learnings/binary.md"), b"kinkajou\0\xff").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", repo.agents().join("learnings/link.md")).unwrap();
    nix::unistd::mkfifo(&repo.agents().join("learnings/fifo.md"), nix::sys::stat::Mode::S_IRWXU)
        .unwrap();
    let found = repo.run(&["search", "kinkajou"]).expect(0);
    assert!(!found.stdout.contains('\u{1b}') && !found.stdout.contains('\u{7}'), "{found}");
    assert!(
        found.stdout.contains("Evil") && found.stderr.contains("1 files cannot be read"),
        "{found}"
    );
    let shown = repo.run(&["show", "esc"]).expect(0);
    assert!(!shown.stdout.contains('\u{1b}'), "{shown}");
    assert!(paths(&repo.search(&["root", "daemon"])).is_empty());
}
