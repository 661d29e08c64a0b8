//! A merge never takes away a disagreement, however the entries that disagree are alike: as copies of one third entry,
//! as a chain of copies, as a ring, in one night or in several.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::duplicates::empty;
use crate::generate::{Dice, body};
use crate::is_sweep;
use crate::repo::{TestRepo, contents};

/// Two sentences that cannot both hold, and a third that takes no side.
struct Topic {
    neutral: String,
    sides: [String; 2],
    /// What of each side stands nowhere else.
    marks: [String; 2],
}

fn topic(dice: &mut Dice, number: usize) -> Topic {
    let what = format!("lease{number}");
    let (few, many) = (2 + dice.below(40), 100 + dice.below(800));
    let of = |neutral: &str, one: String, other: String, marks: [String; 2]| Topic {
        neutral: neutral.to_owned(),
        sides: [one, other],
        marks,
    };
    match dice.below(6) {
        0 => of(
            "",
            format!("Set the timeout of the {what} to {few} seconds."),
            format!("Set the timeout of the {what} to {many} seconds."),
            [format!("{what} to {few} "), format!("{what} to {many} ")],
        ),
        1 => of(
            "",
            format!("Always enable the {what} in production."),
            format!("Never enable the {what} in production."),
            [format!("Always enable the {what} "), format!("Never enable the {what} ")],
        ),
        2 => of(
            "",
            format!("Enable the {what} in production."),
            format!("Disable the {what} in production."),
            [format!("Enable the {what} "), format!("Disable the {what} ")],
        ),
        3 => of(
            "",
            format!("Take the {what} before the lock."),
            format!("Take the {what} after the lock."),
            [format!("{what} before the"), format!("{what} after the")],
        ),
        4 => of(
            "",
            format!("Use Postgres for the {what} of the relay."),
            format!("Use Redis for the {what} of the relay."),
            [format!("Postgres for the {what}"), format!("Redis for the {what}")],
        ),
        // A number within a sentence that the third has, too.
        _ => of(
            &format!("Wait for the end of the {what} and then take the lock."),
            format!("Wait {few} seconds for the end of the {what} and then take the lock."),
            format!("Wait {many} seconds for the end of the {what} and then take the lock."),
            [format!("{few} seconds"), format!("{many} seconds")],
        ),
    }
}

/// Entries that are one text, but for the sides that they take.
struct Web {
    number: usize,
    body: String,
    topics: Vec<Topic>,
    /// For each entry the side that it takes of each topic, if it takes one, and the night before which it is written.
    entries: Vec<(Vec<Option<usize>>, usize)>,
}

const NIGHTS: usize = 3;

fn web(dice: &mut Dice, number: usize) -> Web {
    let topics: Vec<Topic> = (0..=dice.below(3)).map(|at| topic(dice, number * 10 + at)).collect();
    let count = 3 + dice.below(4);
    let mut entries: Vec<Vec<Option<usize>>> = vec![vec![None; topics.len()]];
    for at in 1..count {
        let topic = dice.below(topics.len());
        let sides = match number % 3 {
            // A hub: each is the first one, and takes one side.
            0 => {
                let mut sides = vec![None; topics.len()];
                sides[topic] = Some(at % 2);
                sides
            }
            // A chain: each is the one before, and takes one side more, or the other one.
            1 => {
                let mut sides = entries[at - 1].clone();
                sides[topic] = Some(dice.below(2));
                sides
            }
            // A ring: each shares one side with the next, and contradicts the one behind.
            _ => {
                let mut sides = vec![None; topics.len()];
                sides[at % topics.len()] = Some(0);
                sides[(at + 1) % topics.len()] = Some(1);
                sides
            }
        };
        entries.push(sides);
    }
    let one_night = dice.below(2) == 0;
    let night = |dice: &mut Dice| if one_night { 0 } else { dice.below(NIGHTS) };
    let entries = entries.into_iter().map(|sides| (sides, night(dice))).collect();
    Web { number, body: body(dice, number), topics, entries }
}

impl Web {
    fn text(&self, dice: &mut Dice, sides: &[Option<usize>]) -> String {
        let (mut body, mut said) = (self.body.clone(), String::new());
        for (topic, side) in self.topics.iter().zip(sides) {
            let sentence = side.map_or(&topic.neutral, |side| &topic.sides[side]);
            if topic.neutral.is_empty() && dice.below(4) == 0 && !sentence.is_empty() {
                body = body.replacen(
                    "\n\n## Source",
                    &format!("\n\n## Limits\n\n{sentence}\n\n## Source"),
                    1,
                );
            } else {
                let _ = write!(said, " {sentence}");
            }
        }
        body.replacen(
            "\n\n## Why It Matters",
            &format!("{}\n\n## Why It Matters", said.trim_end()),
            1,
        )
    }

    fn write(&self, dice: &mut Dice, repo: &TestRepo, night: usize) {
        for (at, (sides, when)) in self.entries.iter().enumerate() {
            if *when != night {
                continue;
            }
            let (day, utility) = (1 + dice.below(28), 10 + dice.below(80));
            let scope = if dice.below(6) == 0 { "scope: relay\n" } else { "" };
            let text = format!(
                "---\nid: web-{}-{at}\ndate: 2026-03-{day:02}\nutility: 0.{utility}\n{scope}---\n\n{}",
                self.number,
                self.text(dice, sides)
            );
            repo.write(&format!("learnings/web-{:03}-{at}.md", self.number), &text);
        }
    }
}

/// What each card is about.
fn disputes(repo: &TestRepo) -> BTreeSet<[String; 2]> {
    let all = repo.rule(&["--all"]).expect(0).json();
    let quote = |side: &Value| side["quote"].as_str().unwrap().to_owned();
    let pair = |card: &Value| {
        let mut pair = [quote(&card["a"]), quote(&card["b"])];
        pair.sort();
        pair
    };
    all["cards"].as_array().unwrap().iter().map(pair).collect()
}

// proves: LOOP-25
#[test]
fn what_was_disputed_is_disputed_after_every_night_and_no_entry_takes_both_sides() {
    let (seeds, webs) = if is_sweep() { (60, 60) } else { (2, 36) };
    let (mut seen, mut merged) = (0, 0);
    for seed in 0..seeds {
        let mut dice = Dice::new(900 + seed);
        let webs: Vec<Web> = (0..webs).map(|number| web(&mut dice, number)).collect();
        let repo = empty();
        for night in 0..NIGHTS {
            for web in &webs {
                web.write(&mut dice, &repo, night);
            }
            let before = disputes(&repo);
            seen += before.len();
            let report = repo.run(&["--json", "defrag", "--yes"]).expect(0).json();
            merged += report["merges"].as_array().unwrap().len();
            let after = disputes(&repo);
            let lost: Vec<_> = before.difference(&after).collect();
            assert!(
                lost.is_empty(),
                "seed {seed}, night {night}: {lost:#?} {:#}",
                report["merges"]
            );
            for (path, text) in contents(&repo.tree()) {
                if !path.starts_with("learnings/") {
                    continue;
                }
                for topic in webs.iter().flat_map(|web| &web.topics) {
                    let has_both = topic.marks.iter().all(|mark| text.contains(mark.as_str()));
                    assert!(
                        !has_both,
                        "seed {seed}, night {night}: {path} {:?}\n{text}",
                        topic.marks
                    );
                }
            }
        }
    }
    println!("{seen} cards before nights, {merged} merges");
    assert!(seen >= 40 && merged >= 40, "{seen} {merged}");
}

/// Two entries that are one text and contradict each other in a sentence, and the text without it.
fn hub(repo: &TestRepo) -> [String; 3] {
    let text = body(&mut Dice::new(5), 7);
    let with = |more: &str| {
        text.replacen("\n\n## Why It Matters", &format!("{more}\n\n## Why It Matters"), 1)
    };
    let texts = [
        ("hub", 80, String::new()),
        ("few", 40, " Set the timeout of the read lease to 30 seconds.".to_owned()),
        ("many", 30, " Set the timeout of the read lease to 120 seconds.".to_owned()),
    ];
    texts.map(|(name, utility, more)| {
        let path = format!("learnings/{name}.md");
        let head = format!("---\nid: {name}\ndate: 2026-03-04\nutility: 0.{utility}\n---\n\n");
        repo.write(&path, &format!("{head}{}", with(&more)));
        path
    })
}

// proves: LOOP-25
#[test]
fn two_that_contradict_each_other_do_not_meet_in_a_third() {
    let repo = empty();
    let [hub, few, many] = hub(&repo);
    let card = repo.cards().remove(0);
    let report = repo.run(&["--json", "defrag", "--yes"]).expect(0).json();
    assert!(report["review"].to_string().contains(&many), "{report:#}");
    assert!(repo.exists(&many) && repo.exists(&hub) && !repo.exists(&few), "{report:#}");
    let cards = repo.cards();
    assert_eq!((cards.len(), &cards[0]["differs"]), (1, &card["differs"]), "{cards:#?}");
    let again = repo.run(&["--json", "defrag", "--yes"]).expect(0).json();
    assert_eq!(again["status"], "nothing-to-do", "{again:#}");
}

/// A ruling is no merge: both sides stay what they are, and a withdrawal brings the card back.
#[test]
fn what_was_ruled_about_is_not_merged_away_either() {
    let repo = empty();
    let [_, few, many] = hub(&repo);
    let card = repo.card();
    repo.kept("both");
    repo.run(&["defrag", "--yes"]).expect(0);
    assert!(repo.cards().is_empty() && repo.exists(&many), "{few}");
    repo.rule(&[&card, "--withdraw"]).expect(0);
    assert_eq!(repo.cards().len(), 1);
}

/// A sign says as much as a word: a cross denies, an arrow and a comparison have two directions, a box is ticked or
/// not, and a question claims nothing.
// proves: LOOP-25
#[test]
fn a_sign_that_says_the_opposite_is_no_copy() {
    let pairs = [
        ("\u{2705} Enable keepalive on the relay.", "\u{274c} Enable keepalive on the relay."),
        (
            "\u{2705}Enable keepalive on the relay.",
            "\u{274c}\u{fe0f}Enable keepalive on the relay.",
        ),
        ("Enable keepalive on the relay.", "\u{1f6ab} Enable keepalive on the relay."),
        ("Keepalive on the relay: \u{1f44d}", "Keepalive on the relay: \u{1f44e}"),
        ("\u{2713} Enable keepalive on the relay.", "\u{2717} Enable keepalive on the relay."),
        ("- [x] Enable keepalive on the relay.", "- [ ] Enable keepalive on the relay."),
        (
            "The queue depth goes \u{2191} after the deploy.",
            "The queue depth goes \u{2193} after the deploy.",
        ),
        (
            "Copy from relay \u{2192} broker on deploy.",
            "Copy from relay \u{2190} broker on deploy.",
        ),
        ("Keep the relay depth \u{2264} ten.", "Keep the relay depth \u{2265} ten."),
        ("The relay mode = fast.", "The relay mode \u{2260} fast."),
        ("Enable keepalive on the relay.", "Enable keepalive on the relay?"),
        (
            "| part | keepalive |\n|---|---|\n| relay | \u{2705} |",
            "| part | keepalive |\n|---|---|\n| relay | \u{274c} |",
        ),
    ];
    for (one, other) in pairs {
        assert_eq!(left_of(one, other), 2, "{one} | {other}");
    }
    // What only adorns a text makes no other one of it.
    for (one, other) in [
        ("Enable keepalive on the relay.", "\u{2022} Enable keepalive on the relay."),
        ("Enable keepalive \u{2014} on the relay.", "Enable keepalive on the relay."),
        ("Is keepalive enabled?", "Is keepalive enabled?"),
    ] {
        assert_eq!(left_of(one, other), 1, "{one} | {other}");
    }
}

/// How many of two entries are left after a consolidation that differ in a sentence.
fn left_of(one: &str, other: &str) -> usize {
    let repo = empty();
    let paths = [("learnings/aa.md", one), ("learnings/bb.md", other)];
    for (path, sentence) in paths {
        let text = format!(
            "---\ndate: 2026-03-01\n---\n# Learning: relay\n\nThe relay connects to the broker over a persistent channel and retries with exponential backoff whenever the handshake fails, logging each attempt to the audit ledger.\n\nThe checkpoint writer flushes staged records before the compactor runs, so that a crashed worker never leaves a partial segment behind in the archive folder.\n\nOperators watch the panel named relay health and page the engineer on call when the queue depth stays above the threshold for several minutes.\n\n{sentence}\n"
        );
        repo.write(path, &text);
    }
    repo.run(&["--json", "defrag", "--dedup", "--yes", "--grace", "0s"]).expect(0);
    paths.iter().filter(|(path, _)| repo.exists(path)).count()
}
