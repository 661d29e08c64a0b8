//! The commands that a night is made of, each by itself.

use crate::night::Night;
use crate::repo::Ran;

/// A repository with something for each command to do.
fn night() -> Night {
    let night = Night::with_copies();
    night.pending(1);
    night.harvest_rounds(1);
    night
}

fn json(night: &Night, words: &[&str]) -> Ran {
    night.repo.run(&[&["--json"], words].concat()).expect(0)
}

// proves: RUN-07
#[test]
fn each_part_of_a_night_is_a_command_and_a_dry_run_only_tells() {
    let night = night();
    let other = night.aside.path().join("other");
    let commands: [(&[&str], &str); 6] = [
        (&["flywheel", "close-loop", "--threshold", "24h"], "committed"),
        (&["defrag", "--prune", "--dedup", "--oscillation-sweep", "--yes"], "committed"),
        (&["harvest", "--from", other.to_str().unwrap()], "committed"),
        (&["metrics", "health"], ""),
        (&["retrieval-bench", "--live"], ""),
        (&["knowledge", "brief", "--goal", "a calmer lint gate"], ""),
    ];
    // A cache may be made at any time.
    let files = || {
        let mut files = night.all_files();
        files.retain(|path, _| !path.starts_with(".agents/ao/"));
        files
    };
    let before = files();
    for (words, _) in commands {
        let told = json(&night, &[words, &["--dry-run"]].concat());
        assert!(told.json()["schema_version"] == 1, "{words:?}: {told}");
        assert!(files() == before, "{words:?}");
    }
    assert!(!night.repo.exists("ao/questions.jsonl"), "a dry run keeps no question");
    for (words, status) in commands {
        let told = json(&night, words).json();
        let is_committed = status.is_empty() || told["status"] == status;
        assert!(is_committed, "{words:?}: {told:#}");
    }
    assert!(!night.repo.exists("learnings/2026-03-02-copy.md"), "a copy was merged");
    assert!(!night.repo.exists("knowledge/pending/2026-02-01-pending-1.md"), "it was promoted");
    assert!(night.repo.exists("learnings/2026-03-03-theirs-1.md"), "it was harvested");
}

// proves: RUN-07
#[test]
fn what_is_younger_than_the_threshold_stays_pending() {
    let night = night();
    let close = |threshold: &str| {
        json(&night, &["flywheel", "close-loop", "--threshold", threshold]).json()["promoted"]
            .as_u64()
            .unwrap()
    };
    // Eleven years.
    assert_eq!(close("99999h"), 0);
    assert!(night.repo.exists("knowledge/pending/2026-02-01-pending-1.md"));
    assert_eq!(close("24h"), 1);
}
