//! Patterns: what learnings of several sessions say alike, compiled into pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::explain::{explain, rule};
use crate::night::Night;
use crate::repo::TestRepo;

const CASES: &str = include_str!("patterns.txt");
pub(crate) const PAGE: &str = "patterns/close-the-connection-pool-in-integration-tests.md";
pub(crate) const POOL: [&str; 4] = [
    "Close the connection pool in integration tests",
    "Integration tests must close their connection pool",
    "Always close the connection pool of an integration test",
    "Never leave the connection pool of an integration test without a close",
];

struct Group {
    name: String,
    is_cluster: bool,
    is_held: bool,
    /// Paths with their texts.
    learnings: Vec<(String, String)>,
}

fn groups() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut number = 0;
    for line in CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        if !line.contains('|') {
            let (is_cluster, is_held) = (words[0] == "cluster", words[1] == "held");
            let name = words[2].to_owned();
            groups.push(Group { name, is_cluster, is_held, learnings: Vec::new() });
            continue;
        }
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        let own = parts.get(2).copied().unwrap_or_default();
        number += 1;
        let mut header = String::new();
        if !own.contains("date:") {
            let _ = writeln!(header, "date: 2026-04-{:02}", 1 + number % 28);
        }
        if !own.contains("source_session:") && !own.contains("date:") {
            let _ = writeln!(header, "source_session: s-{number}");
        }
        for line in own.split(';') {
            let _ = writeln!(header, "{}", line.trim());
        }
        let body = parts[1].replace("\\n", "\n");
        let text = format!("---\n{}\n---\n# {}\n\n{body}\n", header.trim(), parts[0]);
        let group = groups.last_mut().unwrap();
        group.learnings.push((format!("learnings/{}-{number}.md", group.name), text));
    }
    groups
}

fn repo_with<'a>(groups: impl Iterator<Item = &'a Group>) -> TestRepo {
    let repo = TestRepo { dir: tempfile::tempdir().unwrap() };
    fs::create_dir_all(repo.agents()).unwrap();
    for (path, text) in groups.flat_map(|group| &group.learnings) {
        repo.write(path, text);
    }
    repo
}

pub(crate) fn compiled(repo: &TestRepo) -> Vec<Value> {
    let told = repo.run(&["--json", "--dry-run", "defrag", "--patterns"]).expect(0).json();
    told["patterns"].as_array().cloned().unwrap_or_default()
}

// proves: LOOP-25
#[test]
fn what_recurs_is_compiled_and_what_only_looks_so_is_not() {
    let groups = groups();
    let count = |is_cluster: bool| groups.iter().filter(|one| one.is_cluster == is_cluster).count();
    assert!(count(true) >= 12 && count(false) >= 20, "{} {}", count(true), count(false));
    assert!(groups.iter().filter(|group| group.is_held).count() * 2 >= groups.len() - 1);
    let repo = repo_with(groups.iter());
    let found = compiled(&repo);
    let mut wrong = BTreeMap::new();
    for group in &groups {
        let paths: Vec<&str> = group.learnings.iter().map(|(path, _)| path.as_str()).collect();
        let cites = |pattern: &&Value| {
            pattern["sources"]
                .as_array()
                .unwrap()
                .iter()
                .any(|source| paths.contains(&source.as_str().unwrap()))
        };
        let about: Vec<&Value> = found.iter().filter(cites).collect();
        let is_right = match (group.is_cluster, about.as_slice()) {
            (true, [one]) => one["sources"].as_array().unwrap().len() == paths.len(),
            (false, []) => true,
            _ => false,
        };
        if !is_right {
            wrong.insert(format!("{} held={}", group.name, group.is_held), about);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(found.len(), count(true));
    // Each trap alone, too: what is rare in a large corpus is common in a small one.
    for group in groups.iter().filter(|group| !group.is_cluster) {
        assert_eq!(
            compiled(&repo_with(std::iter::once(group))),
            [Value::Null; 0],
            "{}",
            group.name
        );
    }
}

/// A repository with so many of the learnings about the pool, and some others.
pub(crate) fn with_pool(count: usize) -> Night {
    let night = Night::with(4);
    for number in 0..count {
        add(&night, number);
    }
    night
}

pub(crate) fn path(number: usize) -> String {
    format!("learnings/2026-04-{:02}-pool-{number}.md", number + 1)
}

pub(crate) fn add(night: &Night, number: usize) {
    let context =
        ["Forty cases ran dry.", "Twelve jobs hung.", "The runner was slow.", "It was seen again."];
    let text = format!(
        "---\ndate: 2026-04-{:02}\nsource_session: pool-{number}\n---\n# {}\n\n{} Handles of case {number}.\n",
        number + 1,
        POOL[number],
        context[number]
    );
    night.repo.write(&path(number), &text);
}

pub(crate) fn sleep(night: &Night) -> Value {
    night.run(&["--full"]).expect(0);
    night.summary()
}

/// What became of patterns in the first iteration.
pub(crate) fn changes(summary: &Value) -> Vec<(String, String)> {
    let all =
        summary["iterations"][0]["reduce"]["patterns"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    all.iter().map(|one| (text(&one["change"]), text(&one["path"]))).collect()
}

pub(crate) fn changed(change: &str) -> Vec<(String, String)> {
    vec![(change.to_owned(), PAGE.to_owned())]
}

fn ledger(night: &Night) -> String {
    night.repo.read("knowledge/taken/patterns-2026-04.jsonl")
}

// proves: LOOP-25, LOOP-27
#[test]
fn a_night_compiles_a_page_that_cites_its_sources_and_the_next_changes_nothing() {
    let night = with_pool(3);
    let planned = night.repo.run(&["--json", "overnight", "plan"]).expect(0).json();
    assert!(planned.to_string().contains(PAGE), "{planned:#}");
    let summary = sleep(&night);
    assert_eq!(changes(&summary), changed("compiled"), "{summary:#}");
    let page = night.repo.read(PAGE);
    for line in [
        "type: pattern\n",
        "date: 2026-04-03\n",
        "maturity: provisional\n",
        "compiled_at: 2026-04-03\n",
        "> Close the connection pool in integration tests\n",
        "- `learnings/2026-04-02-pool-1.md`: Integration tests must close their connection pool\n",
    ] {
        assert!(page.contains(line), "{line}: {page}");
    }
    assert!(
        page.contains(&format!("compiled_from: [{}, {}, {}]\n", path(0), path(1), path(2))),
        "{page}"
    );
    assert_eq!(ledger(&night).lines().count(), 1);
    assert!(night.markdown().contains(PAGE));
    assert_eq!(night.markdown().matches("learnings say it").count(), 1, "{}", night.markdown());
    let log = night.repo.run(&["overnight", "log"]).expect(0);
    assert!(log.stdout.contains("1 patterns compiled"), "{log}");
    let before = night.repo.tree();
    let again = sleep(&night);
    assert_eq!(again["iterations"][0]["reduce"]["edits"], 0, "{again:#}");
    assert_eq!(night.repo.tree(), before);
    // The search leads to it.
    let found = night.repo.run(&["search", "connection pool integration"]).expect(0);
    assert!(found.stdout.contains(PAGE), "{found}");
}

// proves: LOOP-25
#[test]
fn a_fourth_joins_and_what_a_person_wrote_stays() {
    let night = with_pool(3);
    sleep(&night);
    let page = night.repo.read(PAGE);
    let own = page.replace("type: pattern\n", "type: pattern # mine\nowner: me\n")
        + "\n## Notes\n\nAsk the platform team; see learnings/2026-04-01-pool-0.md.\n";
    night.repo.write(PAGE, &own);
    add(&night, 3);
    let summary = sleep(&night);
    assert_eq!(changes(&summary), changed("extended"), "{summary:#}");
    let after = night.repo.read(PAGE);
    assert!(after.contains("type: pattern # mine\nowner: me\n"), "{after}");
    assert!(
        after.ends_with(
            "\n## Notes\n\nAsk the platform team; see learnings/2026-04-01-pool-0.md.\n"
        )
    );
    assert!(after.contains(&format!("- `{}`: {}\n", path(3), POOL[3])), "{after}");
    assert_eq!(after.matches("compiled_from:").count(), 1);
    assert_eq!(sleep(&night)["iterations"][0]["reduce"]["edits"], 0);
    // A block that a person changed is left alone, and that is said.
    let theirs = after.replace(POOL[1], "My own words for it");
    night.repo.write(PAGE, &theirs);
    fs::remove_file(night.repo.agents().join(path(3))).unwrap();
    sleep(&night);
    assert_eq!(night.repo.read(PAGE), theirs);
    let told = night.repo.run(&["--json", "--dry-run", "defrag", "--patterns"]).expect(0).json();
    assert!(told["kept"][0]["why"].as_str().unwrap().contains("by hand"), "{told:#}");
}

// proves: LOOP-25
#[test]
fn a_pattern_that_says_it_already_prevents_another() {
    let night = with_pool(3);
    let page = "# Pools\n\nA test that goes on owns nothing.\n\nIntegration tests close the connection pool.\n";
    night.repo.write("patterns/pools.md", page);
    let summary = sleep(&night);
    assert_eq!(changes(&summary), [], "{summary:#}");
    assert!(!night.repo.exists(PAGE) && !night.repo.exists("knowledge/taken"));
    // Or one that cites all of them.
    let cites = format!("# Handles\n\nSee {}, {} and {}.\n", path(0), path(1), path(2));
    night.repo.write("patterns/pools.md", &cites);
    assert_eq!(changes(&sleep(&night)), []);
    night.repo.write("patterns/pools.md", "# Pools\n\nSwimming is healthy.\n");
    assert_eq!(changes(&sleep(&night)), changed("compiled"));
}

// proves: LOOP-09, LOOP-25
#[test]
fn a_page_that_a_person_deleted_stays_away_and_undo_takes_all_back() {
    let night = with_pool(3);
    let before = night.repo.tree();
    let summary = sleep(&night);
    let id = summary["iterations"][0]["commit"]["id"].as_str().unwrap().to_owned();
    night.repo.run(&["overnight", "undo", &id]).expect(0);
    assert_eq!(night.repo.tree(), before, "the ledger too");
    assert_eq!(changes(&sleep(&night)), changed("compiled"), "it is made again");
    fs::remove_file(night.repo.agents().join(PAGE)).unwrap();
    assert_eq!(changes(&sleep(&night)), []);
    add(&night, 3);
    assert_eq!(changes(&sleep(&night)), [], "a fourth does not bring it back");
    let told = explain(&night.repo, &[&path(0), "--as-of", "today"]);
    let why = rule(&told, "pattern")["why"].as_str().unwrap();
    assert!(why.contains("not made again"), "{why}");
}

// proves: LOOP-25
#[test]
fn a_source_that_was_withdrawn_is_said_and_with_too_few_the_pattern_is_weak() {
    let night = with_pool(4);
    sleep(&night);
    let text = night.repo.read(&path(0));
    night.repo.write(&path(0), &text.replace("---\ndate", "---\nmaturity: anti-pattern\ndate"));
    let summary = sleep(&night);
    assert_eq!(changes(&summary), changed("withdrawn"), "{summary:#}");
    let page = night.repo.read(PAGE);
    assert!(page.contains(&format!("withdrawn_sources: [{}]\n", path(0))), "{page}");
    assert!(page.contains(&format!("- `{}`: it is an anti-pattern\n", path(0))), "{page}");
    assert!(!page.contains("status:"), "{page}");
    // The one that is gone leaves two.
    fs::remove_file(night.repo.agents().join(path(1))).unwrap();
    let summary = sleep(&night);
    assert_eq!(changes(&summary), changed("weakened"));
    let page = night.repo.read(PAGE);
    assert!(page.contains("status: weakened\n") && page.contains("it is gone\n"), "{page}");
    assert!(night.markdown().contains("fewer than 3 independent learnings"));
    assert_eq!(sleep(&night)["iterations"][0]["reduce"]["edits"], 0);
    // It says so again, and is none the weaker.
    night.repo.write(&path(0), &text);
    assert_eq!(changes(&sleep(&night)).len(), 1);
    let page = night.repo.read(PAGE);
    assert!(
        !page.contains("status:") && page.contains(&format!("compiled_from: [{}", path(0))),
        "{page}"
    );
}

// proves: LOOP-25
#[test]
fn a_page_does_not_keep_its_sources_alive() {
    let night = with_pool(4);
    sleep(&night);
    let text = night.repo.read(&path(0));
    let old = text.replace("---\ndate", "---\nsuperseded_by: 2026-04-02-pool-1\ndate");
    night.repo.write(&path(0), &old);
    let summary = sleep(&night);
    assert_eq!(summary["iterations"][0]["reduce"]["pruned"], 1, "{summary:#}");
    assert!(!night.repo.exists(&path(0)));
    let page = night.repo.read(PAGE);
    assert!(
        page.contains(&format!("- `{}`: archived: superseded by 2026-04-02-pool-1", path(0))),
        "{page}"
    );
    // What a person refers to in the page stays.
    night.repo.write(PAGE, &format!("{page}\nSee {}.\n", path(2)));
    let text = night.repo.read(&path(2));
    let old = text.replace("---\ndate", "---\nsuperseded_by: 2026-04-02-pool-1\ndate");
    night.repo.write(&path(2), &old);
    sleep(&night);
    assert!(night.repo.exists(&path(2)));
    assert!(night.repo.read(PAGE).contains(&format!("- `{}`: superseded by", path(2))));
}

// proves: LOOP-25
#[test]
fn a_source_that_was_merged_is_cited_under_its_new_name() {
    let night = with_pool(3);
    sleep(&night);
    let twin = night.repo.read(&path(2)).replace("---\ndate", "---\nutility: 0.9\ndate");
    let long = "Handles of every worker were counted by the fixture and printed at the end of each run. \
                The ledger of the broker kept stale leases until a janitor thread swept the shard. \
                A watchdog raised an alarm when sockets lingered beyond their grace period. \
                Metrics from the canary region showed saturation of the kernel table.";
    night.repo.write(&path(2), &format!("{}\n{long}\n", night.repo.read(&path(2))));
    night.repo.write("learnings/2026-04-09-better.md", &format!("{twin}\n{long}\n"));
    let summary = sleep(&night);
    assert_eq!(summary["iterations"][0]["reduce"]["deduped"], 1, "{summary:#}");
    assert_eq!(changes(&summary), changed("renamed"));
    let page = night.repo.read(PAGE);
    assert!(
        page.contains("- `learnings/2026-04-09-better.md`: ") && !page.contains(&path(2)),
        "{page}"
    );
    assert!(!page.contains("withdrawn"), "{page}");
    assert_eq!(sleep(&night)["iterations"][0]["reduce"]["edits"], 0);
}

// proves: LOOP-27
#[test]
fn a_page_is_explained_by_its_sources() {
    let night = with_pool(3);
    sleep(&night);
    let told = explain(&night.repo, &[PAGE]);
    let ruling = rule(&told, "pattern");
    assert_eq!(ruling["verdict"], "compiled into a pattern", "{told:#}");
    assert!(ruling.to_string().contains(&path(1)) && ruling.to_string().contains("share of both"));
    assert_eq!(told["agrees_with_record"], true, "{told:#}");
    let today = explain(&night.repo, &[PAGE, "--as-of", "today"]);
    assert_eq!(rule(&today, "pattern")["verdict"], "compiled", "{today:#}");
    let cited = explain(&night.repo, &[&path(0), "--as-of", "today"]);
    assert_eq!(rule(&cited, "pattern")["verdict"], format!("cited by {PAGE}"));
    let other = explain(&night.repo, &["learnings/2026-03-01-case-1.md", "--as-of", "today"]);
    assert!(other["rules"].as_array().unwrap().iter().all(|rule| rule["rule"] != "pattern"));
}

// proves: LOOP-25
#[test]
fn a_thousand_unrelated_learnings_give_no_pattern() {
    let night = Night::with(1000);
    assert_eq!(compiled(&night.repo), [Value::Null; 0]);
}
