//! `ao knowledge brief`.

use crate::repo::TestRepo;

/// What bears on the goal is quoted with its entry, within the tokens; what nobody wrote about is
/// named.
#[test]
fn a_brief_quotes_what_bears_on_the_goal_and_names_what_is_missing() {
    let repo = TestRepo::new();
    repo.write(
        "learnings/2026-04-01-clock.md",
        "---\nid: L-1\n---\n# Learning: A mock clock ends flaky tests\n\n## How To Apply\n\nHand the \
         clock in; the scheduler tests were flaky because they slept.\n",
    );
    let told = repo
        .run(&[
            "--json",
            "knowledge",
            "brief",
            "--goal",
            "flaky scheduler zeppelin",
            "--tokens",
            "200",
        ])
        .expect(0)
        .json();
    assert_eq!(told["sources"][0]["path"], "learnings/2026-04-01-clock.md", "{told:#}");
    assert_eq!(told["missing"].as_array().unwrap().len(), 1, "{told:#}");
    assert!(told["tokens"].as_u64().unwrap() <= 200, "{told:#}");
    let markdown = told["markdown"].as_str().unwrap();
    assert!(markdown.contains("Hand the clock in") && markdown.contains("2026-04-01-clock.md"));
    // Nobody cited it: a brief is for people.
    assert!(!repo.exists("ao/citations.jsonl"));
    repo.run(&["knowledge", "brief", "--goal", "the of and"]).expect(1);
    repo.run(&["knowledge", "brief", "--goal", "clock", "--tokens", "5"]).expect(2);
}
