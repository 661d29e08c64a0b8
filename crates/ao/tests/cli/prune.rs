//! What is archived, and what never is.

use std::fmt::Write as _;

use crate::duplicates::empty;
use crate::generate::{self, Dice};
use crate::repo::{TestRepo, contents};

fn finding(repo: &TestRepo, number: u32, more: &str) -> String {
    let body = generate::body(&mut Dice::new(u64::from(number) + 900), 1);
    let path = format!("findings/f-2026-01-01-{number:03}.md");
    repo.write(
        &path,
        &format!("---\nid: f-2026-01-01-{number:03}\ndate: 2026-01-01\n{more}---\n{body}"),
    );
    path
}

fn pruned(repo: &TestRepo, more: &[&str]) -> Vec<String> {
    let mut arguments = vec!["--json", "defrag", "--prune"];
    arguments.extend(more);
    let report = repo.run(&arguments).expect(0).json();
    let paths = report["prunes"].as_array().unwrap().iter();
    paths.map(|prune| prune["path"].as_str().unwrap().to_owned()).collect()
}

// pitfall 12
// proves: LOOP-25
#[test]
fn a_finding_past_its_term_goes_unless_anything_refers_to_it() {
    let repo = empty();
    repo.write("learnings/2026-06-01-new.md", "---\ndate: 2026-06-01\n---\n# The newest day\n");
    let old = finding(&repo, 1, "ttl_days: 30\n");
    let cited = finding(&repo, 2, "ttl_days: 30\nlast_cited: 2026-05-20\n");
    let long = finding(&repo, 3, "ttl_days: 400\n");
    let pinned = finding(&repo, 4, "ttl_days: 30\npinned: true\n");
    let unsaid = finding(&repo, 5, "");
    let by_research = finding(&repo, 6, "ttl_days: 30\n");
    let by_log = finding(&repo, 7, "ttl_days: 30\n");
    let by_queue = finding(&repo, 8, "ttl_days: 30\n");
    let by_plan = finding(&repo, 9, "ttl_days: 30\n");
    repo.write("research/deep/r.md", "As f-2026-01-01-006 says.\n");
    repo.write("ao/citations.jsonl", &format!("{{\"artifact_path\":\".agents/{by_log}\"}}\n"));
    repo.write(
        "rpi/next-work.jsonl",
        "{\"items\":[{\"source_path\":\"findings/f-2026-01-01-008.md\"}]}\n",
    );
    repo.write("plans/p.txt", "[[f-2026-01-01-009]]\n");
    // A ledger records; it does not refer.
    repo.write("findings/registry.jsonl", "{\"id\":\"f-2026-01-01-001\"}\n");
    assert_eq!(pruned(&repo, &["--as-of", "2026-06-01"]), std::slice::from_ref(&old));
    assert_eq!(pruned(&repo, &["--as-of", "2026-01-31"]), Vec::<String>::new());
    assert_eq!(pruned(&repo, &["--as-of", "2026-06-20"]), [old.clone(), cited.clone()]);
    let before = contents(&repo.tree());
    let prune = ["defrag", "--prune", "--yes", "--as-of", "2026-06-01"];
    repo.run(&prune).expect(0);
    let after = contents(&repo.tree());
    let gone: Vec<&String> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    assert_eq!(gone, [&old]);
    for path in [&cited, &long, &pinned, &unsaid, &by_research, &by_log, &by_queue, &by_plan] {
        assert_eq!(after[path], before[path]);
    }
    assert_eq!(pruned(&repo, &["--as-of", "2026-06-01"]), Vec::<String>::new());
    // Archived, not deleted.
    let archived = repo.everything().keys().any(|path| {
        path.starts_with("overnight/archive/") && path.ends_with("findings/f-2026-01-01-001.md")
    });
    assert!(archived, "{:?}", repo.everything().keys());
}

#[test]
fn terms_end_by_the_day_and_not_by_the_corpus() {
    let repo = empty();
    let old = finding(&repo, 1, "ttl_days: 30\n");
    // Its own day is the newest there is, and a later one of another entry would make no difference.
    assert_eq!(pruned(&repo, &[]), std::slice::from_ref(&old));
    repo.write("learnings/2036-06-01-new.md", "# Of a day to come\n");
    assert_eq!(pruned(&repo, &["--as-of", "2026-01-31"]), Vec::<String>::new());
    assert_eq!(pruned(&repo, &["--as-of", "2026-02-01"]), [old]);
}

// proves: LOOP-25
#[test]
fn what_was_superseded_goes_with_its_whole_chain_and_its_names_lead_on() {
    let repo = empty();
    let body = |seed| generate::body(&mut Dice::new(seed), 1);
    repo.write("learnings/2026-03-01-new.md", &format!("---\nid: N-1\n---\n{}", body(1)));
    repo.write(
        "learnings/2026-02-01-mid.md",
        &format!("---\nid: M-1\nsuperseded_by: N-1\n---\n{}", body(2)),
    );
    repo.write(
        "learnings/2026-01-01-old.md",
        &format!("---\nsuperseded_by: 2026-02-01-mid\n---\n{}", body(3)),
    );
    repo.write(
        "learnings/2026-01-02-lost.md",
        &format!("---\nsuperseded_by: nowhere\n---\n{}", body(4)),
    );
    repo.write(
        "learnings/2026-01-03-round.md",
        &format!("---\nsuperseded_by: 2026-01-04-round\n---\n{}", body(5)),
    );
    repo.write(
        "learnings/2026-01-04-round.md",
        &format!("---\nsuperseded_by: 2026-01-03-round\n---\n{}", body(6)),
    );
    repo.write(
        "learnings/2026-01-05-read.md",
        &format!("---\nsuperseded_by: N-1\n---\n{}", body(7)),
    );
    repo.write("wiki/w.md", "See learnings/2026-01-05-read.md\n");
    repo.run(&["defrag", "--prune", "--yes"]).expect(0);
    let left: Vec<String> =
        repo.tree().keys().filter(|path| path.starts_with("learnings/")).cloned().collect();
    let expected = ["01-02-lost", "01-03-round", "01-04-round", "01-05-read", "03-01-new"];
    assert_eq!(left, expected.map(|name| format!("learnings/2026-{name}.md")));
    for name in ["2026-02-01-mid", "M-1", "2026-01-01-old"] {
        let shown = repo.run(&["--json", "show", name]).expect(0).json();
        assert!(shown["path"].as_str().unwrap().ends_with("2026-03-01-new.md"), "{name}");
    }
    let again = repo.run(&["--json", "defrag", "--prune"]).expect(0).json();
    assert_eq!(again["status"], "nothing-to-do");
}

// proves: LOOP-25
#[test]
fn targets_that_go_back_and_forth_are_told_and_broken_lines_are_counted() {
    let repo = empty();
    repo.write("learnings/2026-03-01-a.md", "# A\n\nText.\n");
    let mut history = String::from("oops\n{\"cycle\":\"x\"}\n");
    for (cycle, result) in ["improved", "regressed", "improved", "fail"].iter().enumerate() {
        let _ = writeln!(
            history,
            "{{\"cycle\":{cycle},\"target\":\"2026-03-01-a\",\"result\":\"{result}\"}}"
        );
        let _ =
            writeln!(history, "{{\"cycle\":{cycle},\"target\":\"calm\",\"result\":\"improved\"}}");
    }
    repo.write("evolve/cycle-history.jsonl", &history);
    let report = repo.run(&["--json", "defrag", "--oscillation-sweep"]).expect(0).json();
    let found = report["oscillations"].as_array().unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["target"], "2026-03-01-a");
    assert_eq!(found[0]["turns"], 3);
    assert_eq!(found[0]["entry"], "learnings/2026-03-01-a.md");
    assert_eq!(report["cycles_unread"], 2);
}
