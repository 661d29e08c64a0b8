//! Events of the curator, and the compaction of its log.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::curator::{Curator, killed_everywhere};
use crate::repo::{Ran, files};

/// The words of an event that somebody raises.
pub(crate) fn event<'a>(source: &'a str, budget: &'a str) -> Vec<&'a str> {
    vec![
        "event",
        "--source",
        source,
        "--severity",
        "high",
        "--action",
        "look",
        "--target",
        "council",
        "--budget",
        budget,
    ]
}

fn lines(curator: &Curator, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(curator.worker(name)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

// proves: CUR-06
#[test]
fn an_event_is_a_record_and_a_line_in_the_ledger() {
    let curator = Curator::new();
    curator.run(&[&["--dry-run"], &event("lint", "2")[..]].concat()).expect(0);
    assert!(curator.names("").is_empty());
    let mut arguments = event("lint", "2");
    arguments.extend(["--note", "two\nlines \u{1b}[31m"]);
    let told = curator.run(&[&["--json"], &arguments[..]].concat()).expect(0).json();
    let pending = lines(&curator, "events/pending.jsonl");
    assert_eq!(pending, std::slice::from_ref(&told["event"]));
    assert_eq!(pending[0]["status"], "needs-review");
    assert_eq!(pending[0]["budget"], 2);
    let ledger = lines(&curator, "events/ledger.jsonl");
    assert_eq!((&ledger[0]["event"], &ledger[0]["step"]), (&pending[0]["id"], &json!("raised")));
    curator.is_of("curator-event", &curator.worker("events/pending.jsonl"));
    curator.is_of("curator-ledger", &curator.worker("events/ledger.jsonl"));
}

// proves: CUR-06
#[test]
fn an_event_without_anything_that_it_needs_is_refused() {
    let curator = Curator::new();
    let whole = event("lint", "2");
    for left_out in [1, 3, 5, 7, 9] {
        let mut arguments = whole.clone();
        arguments.drain(left_out..left_out + 2);
        curator.run(&arguments).expect(2);
        if left_out != 3 && left_out != 9 {
            let mut arguments = whole.clone();
            arguments[left_out + 1] = " ";
            curator.run(&arguments).expect(2);
        }
    }
    for budget in ["0", "-1", "x", "101", "4294967296"] {
        curator.run(&event("lint", budget)).expect(2);
    }
    let mut arguments = whole.clone();
    arguments[4] = "terrible";
    curator.run(&arguments).expect(2);
    assert!(curator.names("").is_empty());
    // Past its budget: two of the same wait already.
    for _ in 0..2 {
        curator.run(&whole).expect(0);
    }
    let before = files(&curator.path("worker"));
    let past = curator.run(&whole).expect(4);
    assert!(past.stderr.contains("2 of 2"), "{past}");
    assert_eq!(files(&curator.path("worker")), before);
    curator.run(&event("other", "1")).expect(0);
    curator.run(&event("other", "1")).expect(4);
    curator.run(&event("lint", "3")).expect(0);
}

// proves: CUR-06
#[test]
fn of_many_events_at_once_none_is_lost_and_the_budget_holds() {
    const AT_ONCE: usize = 12;
    let curator = Curator::new();
    let same = event("same", "3");
    let all: Vec<_> = (0..AT_ONCE)
        .map(|number| match number % 2 {
            0 => curator.command(&same).spawn().unwrap(),
            _ => curator.command(&event(&format!("s{number}"), "1")).spawn().unwrap(),
        })
        .collect();
    let codes: Vec<i32> =
        all.into_iter().map(|child| Ran::of(child.wait_with_output().unwrap()).code).collect();
    let done = codes.iter().filter(|code| **code == 0).count();
    assert_eq!(done, AT_ONCE / 2 + 3, "{codes:?}");
    assert_eq!(lines(&curator, "events/pending.jsonl").len(), done);
    assert_eq!(lines(&curator, "events/ledger.jsonl").len(), done);
}

// proves: CUR-06
#[test]
fn a_killed_event_is_whole_after_the_next_one() {
    let curator = Curator::new();
    killed_everywhere(&curator, &event("lint", "100"), || {
        // Each check begins anew: a hundred would be past the budget.
        let ran = curator.run(&event("after", "100")).expect(0);
        let pending = lines(&curator, "events/pending.jsonl");
        let ledger = lines(&curator, "events/ledger.jsonl");
        let ids = |lines: &[Value], key: &str| -> Vec<String> {
            let mut ids: Vec<String> =
                lines.iter().map(|line| line[key].as_str().unwrap().to_owned()).collect();
            ids.sort();
            ids
        };
        assert_eq!(ids(&pending, "id"), ids(&ledger, "event"), "{ran}");
        fs::remove_dir_all(curator.worker("events")).unwrap();
    });
}

// proves: CUR-06
#[test]
fn a_person_closes_an_event_and_its_budget_is_free_again() {
    let curator = Curator::new();
    let raise = || {
        let told = curator.run(&[&["--json"], &event("lint", "1")[..]].concat()).expect(0).json();
        told["event"]["id"].as_str().unwrap().to_owned()
    };
    let id = raise();
    curator.run(&event("lint", "1")).expect(4);
    let before = files(&curator.path("worker"));
    curator.run(&["--dry-run", "event", "--close", &id]).expect(0);
    for wrong in [
        &["event", "--close", "ev-none"][..],
        &["event", "--close", ""],
        &["event", "--close"],
        &["event", "--close", &id, "--budget", "1"],
        &["event", "--note", "alone"],
    ] {
        curator.run(wrong).expect(2);
    }
    assert_eq!(files(&curator.path("worker")), before);
    let told = curator.run(&["--json", "event", "--close", &id, "--note", "seen \u{1b}[31m"]);
    let told = told.expect(0).json();
    assert_eq!((&told["status"], &told["event"]["id"]), (&json!("closed"), &json!(id)));
    assert!(lines(&curator, "events/pending.jsonl").is_empty());
    let ledger = lines(&curator, "events/ledger.jsonl");
    let last = ledger.last().unwrap();
    assert_eq!(
        (&last["event"], &last["step"], &last["by"]),
        (&json!(id), &json!("closed"), &json!("person"))
    );
    assert!(last["note"].as_str().unwrap().starts_with("seen"), "{last}");
    curator.is_of("curator-ledger", &curator.worker("events/ledger.jsonl"));
    curator.run(&["event", "--close", &id]).expect(2);
    // The same may be raised again now; somebody else's line stays through all of it.
    fs::write(curator.worker("events/pending.jsonl"), "somebody's\n").unwrap();
    let second = raise();
    curator.run(&["event", "--close", &second]).expect(0);
    let pending = fs::read_to_string(curator.worker("events/pending.jsonl")).unwrap();
    assert_eq!(pending, "somebody's\n");
}

/// Some entries, one of them without a last line end.
fn entries(curator: &Curator) -> BTreeMap<String, String> {
    let text =
        |number: usize| format!("entry {number} of the worker{}", ["\n", "", "\r\n"][number % 3]);
    let all: BTreeMap<String, String> =
        (0..7).map(|number| (format!("e{number}.txt"), text(number))).collect();
    for (name, text) in &all {
        curator.write(&format!("worker/logs/pending-log-entries/{name}"), text);
    }
    all
}

/// How often each entry is there, in compacted files and as itself.
fn counted(curator: &Curator, all: &BTreeMap<String, String>) -> BTreeMap<String, (usize, usize)> {
    let compacted: String = curator
        .names("logs/compacted")
        .iter()
        .filter(|name| !name.starts_with('.'))
        .map(|name| fs::read_to_string(curator.worker("logs/compacted").join(name)).unwrap())
        .collect();
    all.iter()
        .map(|(name, text)| {
            let folded = compacted.matches(text.trim()).count();
            let itself = curator.worker("logs/pending-log-entries").join(name).exists();
            (name.clone(), (folded, usize::from(itself)))
        })
        .collect()
}

// proves: CUR-05
#[test]
fn the_dry_run_says_exactly_what_apply_does() {
    let curator = Curator::new();
    let all = entries(&curator);
    curator.write("worker/logs/pending-log-entries/notes.md", "stays\n");
    curator.write("worker/logs/pending-log-entries/large.txt", &"x".repeat(1024 * 1024 + 1));
    std::os::unix::fs::symlink("e1.txt", curator.worker("logs/pending-log-entries/link.txt"))
        .unwrap();
    curator.run(&["compact"]).expect(2);
    let before = files(&curator.path("worker"));
    let dry = curator.run(&["--json", "compact", "--dry-run"]).expect(0).json();
    let both = curator.run(&["--json", "compact", "--dry-run", "--apply"]).expect(0).json();
    assert_eq!((files(&curator.path("worker")), &both), (before, &dry));
    let applied = curator.run(&["--json", "compact", "--apply"]).expect(0).json();
    assert_eq!((&dry["status"], &applied["status"]), (&json!("preview"), &json!("applied")));
    assert_eq!(dry["compaction"], applied["compaction"]);
    let name = applied["compaction"]["compacted"].as_str().unwrap();
    let text = fs::read_to_string(curator.worker(name)).unwrap();
    assert_eq!(applied["compaction"]["bytes"], text.len());
    assert_eq!(applied["compaction"]["entries"].as_array().unwrap().len(), all.len());
    assert_eq!(applied["compaction"]["left"].as_array().unwrap().len(), 2, "{applied}");
    assert!(counted(&curator, &all).values().all(|count| *count == (1, 0)), "{text}");
    assert_eq!(curator.names("logs/pending-log-entries"), ["large.txt", "link.txt", "notes.md"]);
    fs::remove_file(curator.worker("logs/pending-log-entries/large.txt")).unwrap();
    fs::remove_file(curator.worker("logs/pending-log-entries/link.txt")).unwrap();
    let before = files(&curator.path("worker"));
    let nothing = curator.run(&["compact", "--apply"]).expect(0);
    assert_eq!(nothing.stdout, "nothing to fold\n");
    let mut after = files(&curator.path("worker"));
    after.retain(|name, _| name != ".curator.lock");
    assert!(after.keys().all(|name| before.contains_key(name)));
}

// proves: CUR-05
#[test]
fn killed_at_any_moment_no_entry_is_lost_or_doubled() {
    let curator = Curator::new();
    let all = std::cell::RefCell::new(entries(&curator));
    killed_everywhere(&curator, &["compact", "--apply"], || {
        let all = &mut *all.borrow_mut();
        for (name, (folded, itself)) in counted(&curator, all) {
            assert!(folded + itself >= 1 && folded <= 1, "{name}: {folded} and {itself}");
        }
        // What comes meanwhile is folded too, and not what was folded before.
        curator.write("worker/logs/pending-log-entries/late.txt", "a late one\n");
        all.insert("late.txt".into(), "a late one\n".into());
        let dry = curator.run(&["--json", "compact", "--dry-run"]).expect(0).json();
        let applied = curator.run(&["--json", "compact", "--apply"]).expect(0).json();
        assert_eq!(dry["compaction"], applied["compaction"]);
        for (name, count) in counted(&curator, all) {
            assert_eq!(count, (1, 0), "{name}");
        }
        assert!(!curator.worker("logs/compacting.json").exists());
        assert!(curator.names("logs").iter().all(|name| !name.starts_with('.')));
        fs::remove_dir_all(curator.worker("logs/compacted")).unwrap();
        *all = entries(&curator);
    });
}
