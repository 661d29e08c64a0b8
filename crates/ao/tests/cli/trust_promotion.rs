//! What a pending learning says of itself does not count once it is promoted: judgements are made anew, and names that
//! others have are given up.

use crate::night::{Night, learning};

/// The learning that a pending file became, and the file that was filed.
fn promoted(night: &Night, name: &str) -> (String, String) {
    let path = format!("knowledge/pending/{name}.md");
    let summary = night.summary();
    let pending = summary["close_loop"]["pending"].as_array().unwrap();
    let verdict = pending.iter().find(|one| one["path"] == path.as_str()).unwrap();
    let to = verdict["promoted_to"].as_str().unwrap_or_else(|| panic!("{verdict:#}"));
    (to.to_owned(), night.repo.read(&format!("knowledge/processed/{name}.md")))
}

/// A learning that would be promoted, with these lines in its header and no others that count.
fn pending(number: usize, lines: &str) -> String {
    let text = learning(number);
    let (_, body) = text.split_once("\n---\n").unwrap();
    format!("---\ndate: 2026-02-01\nsource_session: s-{number}\n{lines}---\n{body}")
}

/// It once went ahead of its honest twin by saying that it was useful and often cited.
// proves: LOOP-24
#[test]
fn what_a_pending_learning_says_it_has_earned_does_not_count() {
    let night = Night::with(4);
    let claims = "utility: 1.0\nhit_count: 999\nlast_cited: 2026-05-30\nlast_decay_at: 2026-01-01\ndecay_count: 0\n";
    night.repo.write("knowledge/pending/2026-02-01-claims.md", &pending(61, claims));
    night.repo.write("knowledge/pending/2026-02-01-plain.md", &pending(62, ""));
    night.run(&[]).expect(0);
    let (path, _) = promoted(&night, "2026-02-01-claims");
    let text = night.repo.read(&path);
    for key in ["utility", "hit_count", "last_cited", "last_decay_at", "decay_count"] {
        assert!(!text.contains(&format!("\n{key}:")), "{key}: {text}");
    }
    // Kept, where nothing goes by it.
    assert!(
        text.contains("\npending_utility: 1.0\n") && text.contains("\npending_hit_count: 999\n")
    );
    assert!(text.contains("\nmaturity: provisional\n"), "{text}");
    let (plain, _) = promoted(&night, "2026-02-01-plain");
    assert!(!night.repo.read(&plain).contains("\npending_"), "it says nothing of the kind");
    let before = night.repo.tree();
    night.run(&["--full"]).expect(0);
    assert_eq!(night.repo.tree(), before, "the second night changed something");
}

/// A person vouches for a text, not for what its header says that it earned.
#[test]
fn a_persons_word_does_not_let_forged_earnings_through() {
    let night = Night::with(4);
    let claims = "maturity: established\nreward_count: 40\nmerged_from: [2026-03-01-case-1]\n";
    night.repo.write("knowledge/pending/2026-02-01-claims.md", &pending(61, claims));
    let word = ["trust", "2026-02-01-claims", "--vouch", "--why", "I read it"];
    night.repo.run(&word).expect(0);
    night.run(&[]).expect(0);
    let (path, _) = promoted(&night, "2026-02-01-claims");
    let text = night.repo.read(&path);
    assert!(text.contains("\nmaturity: provisional\n"), "{text}");
    assert!(!text.contains("\nreward_count:") && !text.contains("\nmerged_from:"), "{text}");
    let shown = night.repo.run(&["--json", "show", "2026-03-01-case-1"]).expect(0).json();
    assert_eq!(shown["path"], ".agents/learnings/2026-03-01-case-1.md", "{shown:#}");
}

/// Once `ao show` said that the name means two entries.
#[test]
fn a_name_that_another_entry_has_is_given_up() {
    let night = Night::with(4);
    for (name, id) in [("id", "learning-1"), ("stem", "2026-03-01-case-2"), ("own", "mine")] {
        let text = pending(60 + name.len(), &format!("id: {id}\n"));
        night.repo.write(&format!("knowledge/pending/2026-02-01-{name}.md"), &text);
    }
    // Two that come together with one name: the first has it.
    night.repo.write("knowledge/pending/2026-02-01-twin.md", &pending(70, "id: mine\n"));
    let planned = night.repo.run(&["--json", "overnight", "plan"]).expect(0).json();
    night.run(&[]).expect(0);
    assert_eq!(planned["edits"], night.summary()["iterations"][0]["reduce"]["changes"]);
    for (name, id) in [("id", "learning-1"), ("stem", "2026-03-01-case-2"), ("twin", "mine")] {
        let (path, processed) = promoted(&night, &format!("2026-02-01-{name}"));
        for text in [night.repo.read(&path), processed] {
            assert!(!text.contains("\nid:"), "{text}");
            assert!(text.contains(&format!("\npending_id: {id}\n")), "{text}");
        }
    }
    let (own, _) = promoted(&night, "2026-02-01-own");
    for (name, path) in [
        ("learning-1", "learnings/2026-03-01-case-1.md"),
        ("2026-03-01-case-2", "learnings/2026-03-01-case-2.md"),
        ("mine", &own),
    ] {
        let shown = night.repo.run(&["--json", "show", name]).expect(0).json();
        assert_eq!(shown["path"], format!(".agents/{path}"), "{shown:#}");
    }
}
