//! Patterns by what they claim: several of the same sources, many sources of one, and none that is left.

use std::fs;

use serde_json::Value;

use crate::night::Night;
use crate::patterns::{PAGE, POOL, changed, changes, compiled, path, sleep, with_pool};

const KEYS: [&str; 3] = [
    "Rotate the signing key of the release every quarter.",
    "The signing key of the release must be rotated every quarter.",
    "Every quarter, rotate the release signing key.",
];
const KEY_PAGE: &str = "patterns/every-quarter-rotate-the-release-signing-key.md";

/// A second rule for each of the learnings about the pool.
fn add_rules(night: &Night) {
    for (number, rule) in KEYS.iter().enumerate() {
        let text = night.repo.read(&path(number));
        night.repo.write(&path(number), &format!("{text}\n## Rule\n\n{rule}\n"));
    }
}

/// Three learnings that share a title and a rule.
fn with_two_rules() -> Night {
    let night = with_pool(3);
    add_rules(&night);
    night
}

fn paths(changes: &[(String, String)]) -> Vec<&str> {
    changes.iter().map(|(_, path)| path.as_str()).collect()
}

// proves: LOOP-25
#[test]
fn each_claim_of_the_same_sources_is_a_pattern_and_none_is_made_twice() {
    let night = with_two_rules();
    let made = changes(&sleep(&night));
    assert_eq!(paths(&made), [PAGE, KEY_PAGE], "{made:?}");
    let before = night.repo.tree();
    assert_eq!(sleep(&night)["iterations"][0]["reduce"]["edits"], 0);
    assert_eq!(night.repo.tree(), before);
    let told = crate::explain::explain(&night.repo, &[&path(0), "--as-of", "today"]);
    let verdict = &crate::explain::rule(&told, "pattern")["verdict"];
    assert_eq!(*verdict, format!("cited by {PAGE}, {KEY_PAGE}"), "{told:#}");
    // The one that a person deletes stays away, and the other stays.
    fs::remove_file(night.repo.agents().join(KEY_PAGE)).unwrap();
    assert_eq!(changes(&sleep(&night)), []);
    assert!(night.repo.exists(PAGE) && !night.repo.exists(KEY_PAGE));
}

// proves: LOOP-25
#[test]
fn a_deleted_page_does_not_stand_in_the_way_of_another_claim() {
    let night = with_pool(3);
    assert_eq!(changes(&sleep(&night)), changed("compiled"));
    fs::remove_file(night.repo.agents().join(PAGE)).unwrap();
    add_rules(&night);
    let made = changes(&sleep(&night));
    assert_eq!(paths(&made), [KEY_PAGE], "{made:?}");
}

// proves: LOOP-25
#[test]
fn a_page_does_not_stand_in_the_way_of_another_claim_of_its_sources() {
    let night = with_pool(3);
    assert_eq!(changes(&sleep(&night)), changed("compiled"));
    add_rules(&night);
    let made = changes(&sleep(&night));
    assert_eq!(paths(&made), [KEY_PAGE], "{made:?}");
    assert_eq!(sleep(&night)["iterations"][0]["reduce"]["edits"], 0);
}

// proves: LOOP-25
#[test]
fn what_very_many_say_is_a_pattern_too() {
    let night = Night::with(4);
    let add = |number: usize| {
        let text = format!(
            "---\ndate: 2026-04-{:02}\nsource_session: crowd-{number}\n---\n# {}\n\nCase {number} of house {} had {} \
             doors.\n",
            1 + number % 28,
            POOL[number % 3],
            number * 7,
            number * 13
        );
        night.repo.write(&format!("learnings/crowd-{number:03}.md"), &text);
    };
    (0..130).for_each(add);
    let made = compiled(&night.repo);
    assert_eq!(made.len(), 1, "{made:#?}");
    assert_eq!(made[0]["sources"].as_array().unwrap().len(), 40);
    assert_eq!(changes(&sleep(&night)), changed("compiled"));
    assert_eq!(sleep(&night)["iterations"][0]["reduce"]["edits"], 0);
    add(130);
    assert_eq!(changes(&sleep(&night)), [], "it cites as many as it can");
    fs::remove_file(night.repo.agents().join(PAGE)).unwrap();
    assert_eq!(changes(&sleep(&night)), [], "not made again");
}

/// Search, lookup and brief, as text and for programs.
fn asked(night: &Night) -> (Vec<String>, Vec<Value>) {
    let asked: [&[&str]; 3] = [
        &["search", "connection pool integration"],
        &["lookup", "connection pool integration"],
        &["knowledge", "brief", "--goal", "connection pool integration"],
    ];
    let text = asked.iter().map(|asked| night.repo.run(asked).expect(0).stdout).collect();
    let json = asked.iter().map(|asked| night.repo.run(&[&["--json"], *asked].concat()));
    (text, json.map(|ran| ran.expect(0).json()).collect())
}

// proves: LOOP-25
#[test]
fn a_pattern_that_too_few_say_is_marked_and_one_that_nobody_says_is_not_handed_out() {
    let night = with_pool(3);
    sleep(&night);
    let (texts, all) = asked(&night);
    for (text, told) in texts.iter().zip(&all) {
        assert!(text.contains(PAGE) && !text.contains("weakened"), "{text}");
        assert!(!told.to_string().contains("\"weakened\":"), "{told:#}");
    }
    let withdraw = |number: usize| {
        let text = night.repo.read(&path(number));
        let text = text.replace("---\ndate", "---\nmaturity: anti-pattern\ndate");
        night.repo.write(&path(number), &text);
    };
    withdraw(0);
    assert_eq!(changes(&sleep(&night)), changed("weakened"));
    let (texts, all) = asked(&night);
    for (text, told) in texts.iter().zip(&all) {
        assert!(text.contains(PAGE) && text.contains("weakened"), "{text}");
        assert!(told.to_string().contains("\"weakened\":true"), "{told:#}");
    }
    withdraw(1);
    withdraw(2);
    assert_eq!(changes(&sleep(&night)), changed("weakened"));
    assert!(night.repo.read(PAGE).contains("compiled_from: []"));
    for text in asked(&night).0 {
        assert!(!text.contains(PAGE), "{text}");
    }
    assert_eq!(night.repo.run(&["--json", "show", PAGE]).expect(0).json()["hidden"], true);
    // It comes back with its sources.
    let text = night.repo.read(&path(1)).replace("maturity: anti-pattern\n", "");
    night.repo.write(&path(1), &text);
    sleep(&night);
    assert!(asked(&night).0.iter().all(|text| text.contains(PAGE)));
}

// proves: LOOP-25
#[test]
fn any_name_of_a_source_reads_back() {
    let night = with_pool(2);
    let odd = "learnings/a`: b.md";
    let text = "---\ndate: 2026-04-03\nsource_session: odd\n---\n# Always close the connection pool of an integration \
                test\n\nThe runner was slow.\n";
    night.repo.write(odd, text);
    assert_eq!(changes(&sleep(&night)), changed("compiled"));
    assert!(night.repo.read(PAGE).contains(&format!("- `{odd}`: Always close")));
    let told = || night.repo.run(&["--json", "--dry-run", "defrag", "--patterns"]).expect(0).json();
    assert!(!told().to_string().contains("by hand"), "{:#}", told());
    fs::remove_file(night.repo.agents().join(odd)).unwrap();
    assert_eq!(changes(&sleep(&night)), changed("weakened"), "it is still kept up");
    // A name that would end the block speaks for no page.
    night.repo.write("learnings/<!-- /ao:compiled x -->.md", text);
    assert_eq!(changes(&sleep(&night)), []);
}
