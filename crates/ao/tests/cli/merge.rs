//! Two copies become one, and nothing that either says is lost.

use std::collections::BTreeSet;

use serde_json::json;

use crate::duplicates::{empty, merged};
use crate::generate::{self, Dice};
use crate::repo::TestRepo;

/// Other entries, so that questions have something to choose among.
fn background(repo: &TestRepo) {
    for number in 0..20 {
        let mut dice = Dice::new(5_000 + number);
        let body = generate::body(&mut dice, usize::try_from(number).unwrap());
        repo.write(
            &format!("learnings/2026-02-02-else-{number}.md"),
            &format!("---\ntype: x\n---\n\n{body}"),
        );
    }
}

fn defrag(repo: &TestRepo) -> serde_json::Value {
    repo.run(&["--json", "defrag", "--dedup", "--yes"]).expect(0).json()
}

// proves: LOOP-08, LOOP-25
#[test]
fn the_survivor_stays_as_it_is_and_takes_over_what_only_the_other_has() {
    let repo = empty();
    background(&repo);
    let body = generate::body(&mut Dice::new(1), 1);
    let survivor = format!(
        "\u{feff}---\r\n# about it\r\nid: L-1\r\nmaturity: established   # by hand\r\nutility: 0.8\r\n\
         reward_count: 3\r\ntags:\r\n  - 'ci'\r\ndate: 2026-03-01\r\nodd key: [1,  2]\r\n---\r\n{}",
        body.replace('\n', "\r\n")
    );
    let changed =
        body.replacen("\n\n## Why", " A new fact about the gearbox stands here.\n\n## Why", 1);
    let other = format!(
        "---\nid: L-2\nmaturity: provisional\nutility: 0.2\nreward_count: 5\nharmful_count: 1\ntags: [ci, net]\n\
         date: 2026-03-05\nx_own:\n  team: t-1  # kept\nmerged_from: [L-0]\n---\n{changed}\n## Further\n\n- one more item for the gearbox\n"
    );
    repo.write("learnings/2026-03-01-a.md", &survivor);
    repo.write("learnings/2026-03-05-b.md", &other);
    let report = defrag(&repo);
    assert_eq!(merged(&report).len(), 1, "{report:#}");
    let text = repo.read("learnings/2026-03-01-a.md");
    let head = "\u{feff}---\r\n# about it\r\nid: L-1\r\nmaturity: established   # by hand\r\nutility: 0.44\r\n\
        reward_count: 8\r\ntags:\r\n  - ci\r\n  - net\r\ndate: 2026-03-01\r\nodd key: [1,  2]\r\nharmful_count: 1\r\n\
        x_own:\r\n  team: t-1  # kept\r\nmerged_from: [2026-03-05-b, L-2, L-0]\r\n\
        merged_fields: {L-2: {maturity: provisional}}\r\n---\r\n";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains(" A new fact about the gearbox stands here.\r\n\r\n## Why"), "{text}");
    assert!(text.ends_with("\r\n## Further\r\n\r\n- one more item for the gearbox\r\n"), "{text}");
    assert!(!text.replace("\r\n", "").contains(['\r', '\n']), "one kind of line end: {text:?}");
    // A sentence that both have stands once.
    for sentence in body.lines().filter(|line| line.len() > 40) {
        assert_eq!(text.matches(sentence).count(), 1, "{sentence}");
    }
    // The old names lead there.
    for name in ["2026-03-05-b", "L-2", "L-0", ".agents/learnings/2026-03-05-b.md"] {
        let shown = repo.run(&["--json", "show", name]).expect(0).json();
        assert!(shown["path"].as_str().unwrap().ends_with("2026-03-01-a.md"), "{name}: {shown}");
    }
}

fn words(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect()
}

// proves: LOOP-25
#[test]
fn no_word_no_number_and_no_reward_is_lost_and_the_merge_stays_short() {
    for seed in 0..25 {
        let mut dice = Dice::new(seed);
        let repo = empty();
        background(&repo);
        let body = generate::body(&mut dice, 1);
        let one = generate::header(&mut dice, "L-1", "2026-03-01") + &body;
        let other =
            generate::header(&mut dice, "L-2", "2026-04-01") + &generate::near(&mut dice, &body);
        repo.write("learnings/2026-03-01-one.md", &one);
        repo.write("learnings/2026-04-01-other.md", &other);
        let report = defrag(&repo);
        let gone = merged(&report);
        assert_eq!(gone.len(), 1, "seed {seed}: {:#} {:#}", report["kept"], report["review"]);
        let text = repo.read(gone.values().next().unwrap());
        let left: Vec<String> = words(&one)
            .union(&words(&other))
            .filter(|word| !words(&text).contains(*word))
            .cloned()
            .collect();
        // The utilities and counts became one.
        let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        let lost: Vec<&String> = left.iter().filter(|word| !is_number(word)).collect();
        assert!(lost.is_empty(), "seed {seed}: {lost:?}\n{one}\n{other}\n{text}");
        let numbers = |text: &str| -> BTreeSet<String> {
            words(text.split_once("\n---\n").unwrap().1).into_iter().filter(is_number).collect()
        };
        for number in numbers(&one).union(&numbers(&other)) {
            assert!(numbers(&text).contains(number), "seed {seed}: {number}\n{text}");
        }
        let count = |text: &str, key: &str| -> u64 {
            let line = text.lines().find(|line| line.starts_with(key)).unwrap();
            line.split_once(": ").unwrap().1.parse().unwrap()
        };
        for key in ["reward_count", "helpful_count"] {
            assert_eq!(
                count(&text, key),
                count(&one, key) + count(&other, key),
                "seed {seed}: {key}"
            );
        }
        let size = |text: &str| text.split_once("\n---\n").unwrap().1.len();
        let longer = size(&one).max(size(&other));
        assert!(
            size(&text) * 100 <= longer * 120,
            "seed {seed}: {} of {longer}\n{text}",
            size(&text)
        );
    }
}

#[test]
fn lineage_survives_many_merges() {
    let repo = empty();
    background(&repo);
    let body = generate::body(&mut Dice::new(1), 1);
    repo.write(
        "learnings/2026-01-01-first.md",
        &format!("---\nmaturity: established\n---\n{body}"),
    );
    for round in 0..4 {
        repo.write(
            &format!("learnings/2026-02-0{}-copy.md", round + 1),
            &format!("---\nid: C-{round}\n---\n{body}"),
        );
        assert_eq!(merged(&defrag(&repo)).len(), 1);
    }
    let text = repo.read("learnings/2026-01-01-first.md");
    for round in 0..4 {
        assert!(text.contains(&format!("C-{round}")), "{text}");
        let shown =
            repo.run(&["--json", "show", &format!("2026-02-0{}-copy", round + 1)]).expect(0).json();
        assert!(shown["path"].as_str().unwrap().ends_with("2026-01-01-first.md"));
    }
    assert_eq!(text.matches("merged_from:").count(), 1);
    assert!(!text.contains("## Variants"), "{text}");
}

// pitfall 17
#[test]
fn references_in_the_held_parts_are_rewritten_to_the_letter_and_others_still_lead_there() {
    let repo = empty();
    background(&repo);
    let body = generate::body(&mut Dice::new(1), 1);
    repo.write(
        "learnings/2026-01-01-keep.md",
        &format!("---\nid: K-1\nmaturity: established\n---\n{body}"),
    );
    repo.write("learnings/2026-02-01-gone.md", &format!("---\nid: G-1\n---\n{body}"));
    repo.write(
        "patterns/p.md",
        "# Pattern\r\n\r\nSee [[2026-02-01-gone]], learnings/2026-02-01-gone.md, G-1; not 2026-02-01-gone-2.\r\n",
    );
    repo.write(
        "learnings/2026-03-01-old.md",
        "---\nsuperseded_by: 2026-02-01-gone\nother: x # y\n---\n# Old\n",
    );
    let queue = "{\"source_epic\":\"e\",\"odd\": 1.50,\"items\":[{\"source_path\":\".agents/learnings/2026-02-01-gone.md\",\"zz\":null}]}\n\
        not json 2026-02-01-gone\n{\"items\":[],\"note\":\"a\\\"b 2026-02-01-gone\"}";
    repo.write("rpi/next-work.jsonl", queue);
    repo.write("research/r.md", "Builds on 2026-02-01-gone.md.\n");
    repo.write(
        "ao/citations.jsonl",
        "{\"artifact_path\":\".agents/learnings/2026-02-01-gone.md\"}\n",
    );
    let report = defrag(&repo);
    assert_eq!(merged(&report).len(), 1);
    let to = |text: &str| text.replace("2026-02-01-gone", "2026-01-01-keep");
    assert_eq!(
        repo.read("patterns/p.md"),
        "# Pattern\r\n\r\nSee [[2026-01-01-keep]], learnings/2026-01-01-keep.md, K-1; not 2026-02-01-gone-2.\r\n"
    );
    assert_eq!(
        repo.read("learnings/2026-03-01-old.md"),
        "---\nsuperseded_by: 2026-01-01-keep\nother: x # y\n---\n# Old\n"
    );
    let lines: Vec<&str> = queue.split('\n').collect();
    let expected = [to(lines[0]), lines[1].to_owned(), to(lines[2])].join("\n");
    assert_eq!(repo.read("rpi/next-work.jsonl"), expected);
    assert_eq!(repo.read("research/r.md"), "Builds on 2026-02-01-gone.md.\n");
    assert!(repo.read("ao/citations.jsonl").contains("gone"));
    let referrers = &report["merges"][0]["referrers"];
    assert_eq!(
        *referrers,
        json!(["learnings/2026-03-01-old.md", "patterns/p.md", "rpi/next-work.jsonl"])
    );
    let shown = repo.run(&["--json", "show", "2026-02-01-gone.md"]).expect(0).json();
    assert!(shown["path"].as_str().unwrap().ends_with("2026-01-01-keep.md"));
}
