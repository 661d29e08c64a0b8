//! `ao overnight bisect`: faults that are planted in some of 64 nights.

use serde_json::{Value, json};

use crate::repo::{Ran, TestRepo, delete, write};
use crate::travel::three_nights;

const NIGHTS: usize = 64;
const WANT: &str = "# Wallaby marsupial\n\nwallaby marsupial\n";

/// What the faulty night does to the wanted entry.
fn fault(kind: &str) -> Value {
    match kind {
        "removes" => json!([delete("learnings/want.md")]),
        "merges" => {
            let text = "---\nmerged_from: [learnings/want.md]\n---\n# Other\n\nwallaby marsupial\n";
            json!([delete("learnings/want.md"), write("learnings/rival.md", text)])
        }
        "outranks" => {
            let text = "---\nutility: 0.9\nmaturity: established\n---\n# Wallaby marsupial\n\nwallaby marsupial\n";
            json!([write("learnings/better.md", text)])
        }
        "rewords" => {
            json!([write("learnings/want.md", "# Hopping\n\nA wallaby among many other words.\n")])
        }
        "brings back" => json!([write("learnings/want.md", WANT)]),
        "adds" => json!([write("learnings/late.md", "# Late numbat\n\nnumbat\n")]),
        "removes late" => json!([delete("learnings/late.md")]),
        _ => panic!("{kind}"),
    }
}

/// 64 nights, some of which have a fault.
fn nights(faults: &[(usize, &str)]) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("learnings/want.md", WANT);
    repo.write("learnings/rival.md", "# Other\n\nwallaby\n");
    repo.settle();
    for number in 1..=NIGHTS {
        let edits = match faults.iter().find(|(at, _)| *at == number) {
            Some((_, kind)) => fault(kind),
            None => {
                json!([write(&format!("learnings/w{}.md", number % 5), &format!("# w {number}\n"))])
            }
        };
        repo.night(number, &edits);
    }
    repo
}

fn bisect(repo: &TestRepo, query: &str, more: &[&str]) -> Ran {
    let mut arguments = vec!["--json", "overnight", "bisect", "--query", query];
    arguments.extend(more);
    repo.run(&arguments)
}

const QUERY: &str = "wallaby marsupial";

/// The night is the one of the fault, whether the entry is named or not, after six looks between the
/// ends; gives what was found.
fn is_found(at: usize, kind: &str, after: &Value) -> (TestRepo, Value) {
    let repo = nights(&[(at, kind)]);
    let mut found = Value::Null;
    for more in [&[][..], &["--want", "want"]] {
        let ran = bisect(&repo, QUERY, more).expect(0);
        let told = ran.json();
        assert_eq!(told["found"]["commit"], format!("n{at:02}-iter-1"), "{kind}: {ran}");
        assert_eq!(
            (&told["commits"], &told["looks"], &told["looks_with_ends"]),
            (&json!(64), &json!(6), &json!(8)),
            "{ran}"
        );
        assert_eq!(told["looked_at"].as_array().unwrap().len(), 6);
        found = told["found"].clone();
        assert_eq!((&found["rank_before"], &found["rank_after"]), (&json!(1), after), "{ran}");
        assert_eq!(found["moved_again_later"], false, "{ran}");
        assert_eq!(told["want"], "learnings/want.md");
    }
    // Another entry did not get worse by it.
    if kind != "outranks" {
        let ran = bisect(&repo, "wallaby", &["--want", "rival"]);
        assert_eq!(ran.expect(0).json()["found"], Value::Null, "{kind}");
    }
    assert!(!repo.exists("ao/index/as-of-n32-iter-1.idx"), "a look leaves nothing");
    assert!(!repo.exists("ao/index/as-of-n32-iter-1.known"), "a look leaves nothing");
    (repo, found)
}

#[test]
fn the_night_that_removed_an_answer_is_found_in_six_looks() {
    let (repo, found) = is_found(1, "removes", &Value::Null);
    assert_eq!(
        (&found["change"]["path"], &found["change"]["op"]),
        (&json!("learnings/want.md"), &json!("delete"))
    );
    assert_eq!(found["instead"], Value::Null);
    let text = repo.run(&["overnight", "bisect", "--query", QUERY]).expect(0).stdout;
    assert!(text.contains("64 commits: 6 looks between the ends, 8 with them."), "{text}");
    assert!(text.contains("answer 1 before the first commit, gone after this one"), "{text}");
}

#[test]
fn the_night_that_merged_an_answer_away_is_found_with_what_stands_for_it() {
    let (_, found) = is_found(37, "merges", &Value::Null);
    assert_eq!(found["change"]["path"], "learnings/want.md");
    assert_eq!(found["instead"], json!({ "path": "learnings/rival.md", "rank": 1 }));
}

#[test]
fn the_night_that_reworded_an_answer_is_found() {
    let (_, found) = is_found(64, "rewords", &json!(2));
    assert_eq!(found["change"]["path"], "learnings/want.md");
    assert_eq!(found["outranked_by"], json!(["learnings/rival.md"]));
}

#[test]
fn the_night_that_put_another_answer_before_it_is_found_with_that_one() {
    let (repo, found) = is_found(22, "outranks", &json!(2));
    assert_eq!(found["change"], Value::Null, "it was not touched itself");
    assert_eq!(found["outranked_by"], json!(["learnings/better.md"]));
    assert_eq!(found["other_changes"][0]["path"], "learnings/better.md");
    // Of what stands before another one, only that is new.
    let rival = bisect(&repo, QUERY, &["--want", "rival"]).expect(0).json()["found"].clone();
    assert_eq!((&rival["rank_before"], &rival["rank_after"]), (&json!(2), &json!(3)));
    assert_eq!(rival["outranked_by"], json!(["learnings/better.md"]));
    let text = repo.run(&["overnight", "bisect", "--query", QUERY]).expect(0).stdout;
    assert!(text.contains("learnings/better.md stands before it since then"), "{text}");
}

/// Two nights made it worse: one of them is named, and that there is another.
#[test]
fn where_it_became_worse_twice_the_other_one_is_found_from_the_first_on() {
    let repo = nights(&[(20, "outranks"), (50, "removes")]);
    let ran = bisect(&repo, QUERY, &[]).expect(0);
    let found = &ran.json()["found"];
    assert_eq!(
        (&found["commit"], &found["rank_after"]),
        (&json!("n20-iter-1"), &json!(2)),
        "{ran}"
    );
    assert_eq!(found["moved_again_later"], true);
    let text = repo.run(&["overnight", "bisect", "--query", QUERY]).expect(0).stdout;
    assert!(text.contains("It is gone today") && text.contains("--from n20-iter-1"), "{text}");
    let more = ["--want", "want", "--from", "n20-iter-1"];
    let ran = bisect(&repo, QUERY, &more).expect(0);
    let told = ran.json();
    assert_eq!(told["found"]["commit"], "n50-iter-1", "{ran}");
    assert_eq!(
        (&told["found"]["rank_before"], &told["oldest"]["after"]),
        (&json!(2), &json!("n20-iter-1"))
    );
    assert!(told["looks"].as_u64().unwrap() <= 6, "{ran}");
}

/// It came back in between: what is named is one of the two nights that took it away, never another.
#[test]
fn where_it_went_up_and_down_a_night_that_made_it_worse_is_named() {
    let repo = nights(&[(10, "removes"), (20, "brings back"), (45, "removes")]);
    let ran = bisect(&repo, QUERY, &[]).expect(0);
    let found = &ran.json()["found"];
    let commit = found["commit"].as_str().unwrap();
    assert!(["n10-iter-1", "n45-iter-1"].contains(&commit), "{ran}");
    assert_eq!((&found["rank_before"], &found["rank_after"]), (&json!(1), &Value::Null), "{ran}");
}

/// What was never better is not blamed on anybody, and it is said how far that was asked.
#[test]
fn where_it_was_never_better_that_is_said() {
    let repo = nights(&[(30, "adds")]);
    let ran = bisect(&repo, QUERY, &["--want", "rival"]).expect(0);
    let told = ran.json();
    assert_eq!(
        (&told["found"], &told["looks"], &told["looks_with_ends"]),
        (&Value::Null, &json!(0), &json!(2)),
        "{ran}"
    );
    assert_eq!((&told["oldest"]["rank"], &told["newest"]["rank"]), (&json!(2), &json!(2)));
    let text =
        repo.run(&["overnight", "bisect", "--query", QUERY, "--want", "rival"]).expect(0).stdout;
    assert!(text.contains("is no worse than it was: answer 2 then, answer 2 now"), "{text}");
    assert!(text.contains("was not asked"), "{text}");
    // Found at neither end: there is nothing to compare.
    let refused = bisect(&repo, "numbat", &["--want", "want"]).expect(2);
    assert!(refused.stderr.contains("neither of the oldest state nor today"), "{refused}");
}

/// The oldest state does not have it; the search begins with the night that added it.
#[test]
fn an_entry_that_a_night_added_is_looked_at_from_then_on() {
    let repo = nights(&[(10, "adds"), (40, "removes late")]);
    for want in ["late", "learnings/late.md", ".agents/learnings/late.md"] {
        let ran = bisect(&repo, "numbat", &["--want", want]).expect(0);
        let told = ran.json();
        assert_eq!(
            (&told["added_by"], &told["commits"]),
            (&json!("n10-iter-1"), &json!(54)),
            "{ran}"
        );
        assert_eq!(told["found"]["commit"], "n40-iter-1", "{ran}");
        assert!(told["looks"].as_u64().unwrap() <= 6, "{ran}");
    }
    // Without it being named, nothing is known of it.
    let refused = bisect(&repo, "numbat", &[]).expect(2);
    assert!(refused.stderr.contains("--want"), "{refused}");
    let refused = bisect(&repo, "numbat", &["--want", "nobody"]).expect(2);
    assert!(refused.stderr.contains("no commit added one"), "{refused}");
}

#[test]
fn what_cannot_be_bisected_is_said() {
    let repo = three_nights();
    let bisect = |more: &[&str]| {
        let mut arguments = vec!["overnight", "bisect", "--query"];
        arguments.extend(more);
        repo.run(&arguments)
    };
    let text = bisect(&["zebra"]).expect(0).stdout;
    assert!(text.contains("n02-iter-1") && text.contains("answer 1"), "{text}");
    assert!(text.contains("because of learnings/first.md"), "{text}");
    bisect(&["zebra", "--from", "n02-iter-1"]).expect(2);
    bisect(&["zebra", "--want", "nobody"]).expect(2);
    bisect(&["zebra", "--want", "other"]).expect(2);
    bisect(&["zebra", "--from", "n03-iter-1"]).expect(1);
    bisect(&["the"]).expect(2);
    // From when it was there: it went with the third.
    let text = bisect(&["lemur", "--from", "n01-iter-1"]).expect(0).stdout;
    assert!(text.contains("n03-iter-1") && text.contains("gone after this one"), "{text}");
    // In a repository where nothing was ever committed.
    let refused = TestRepo::new().run(&["overnight", "bisect", "--query", "zebra"]).expect(1);
    assert!(refused.stderr.contains("there is no commit"), "{refused}");
}
