//! Entries that contradict each other: found, put to the reader, ruled about.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::generate::{Dice, body, header};
use crate::night::{Night, ran};
use crate::repo::{Ran, TestRepo, contents, wait_until};

pub(crate) const OLD: &str = "learnings/2026-02-01-gateway.md";
pub(crate) const NEW: &str = "learnings/2026-03-05-gateway.md";

/// Two entries of which one says half a minute, and one five.
pub(crate) fn note(id: &str, more: &str, claim: &str) -> String {
    format!(
        "---\nid: {id}\nsource_session: s-{id}\nutility: 0.7\n{more}---\n# Learning: gateway timeouts, {id}\n\n\
         ## What We Learned\n\n{claim} The vendor answers slowly on Mondays, as seen in `{id}-trace`.\n"
    )
}

pub(crate) fn disputed() -> Night {
    let night = Night::with(6);
    let old = "Set the read timeout of the payment gateway to 30 seconds.";
    let new = "The read timeout of the payment gateway is 5 minutes.";
    night.repo.write(OLD, &note("gw-old", "date: 2026-02-01\ntrust: tool\n", old));
    night.repo.write(NEW, &note("gw-new", "date: 2026-03-05\n", new));
    night
}

/// Every file that is no cache, with what it says.
pub(crate) fn knowledge(repo: &TestRepo) -> BTreeMap<String, String> {
    let mut files = contents(&repo.tree());
    files.retain(|path, _| !path.starts_with("ao/"));
    files
}

impl TestRepo {
    pub(crate) fn rule(&self, arguments: &[&str]) -> Ran {
        self.run(&[&["--json", "rule"], arguments].concat())
    }

    pub(crate) fn cards(&self) -> Vec<Value> {
        self.rule(&[]).expect(0).json()["cards"].as_array().unwrap().clone()
    }

    /// The id of the only card.
    pub(crate) fn card(&self) -> String {
        let cards = self.cards();
        assert_eq!(cards.len(), 1, "{cards:#?}");
        cards[0]["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn kept(&self, keep: &str) -> Value {
        let card = self.card();
        self.rule(&[&card, "--keep", keep, "--why", "measured in May"]).expect(0).json()
    }

    pub(crate) fn found(&self, words: &str) -> String {
        self.run(&["--json", "search", words]).expect(0).stdout
    }
}

// proves: LOOP-25
#[test]
fn what_was_planted_is_found_and_little_else() {
    const ENTRIES: usize = 600;
    const PLANTED: usize = 30;
    let repo = TestRepo { dir: tempfile::tempdir().unwrap() };
    let mut dice = Dice::new(41);
    for number in 0..ENTRIES {
        let text =
            header(&mut dice, &format!("l-{number}"), "2026-03-01") + &body(&mut dice, number);
        repo.write(&format!("learnings/2026-03-01-{number}.md"), &text);
    }
    let mut planted = BTreeSet::new();
    for number in 0..PLANTED {
        let thing = format!("the {} of ward {number}", dice.pick(&["pump", "scanner", "pager"]));
        let claims = match number % 5 {
            0 => [format!("Set {thing} to 20 minutes."), format!("Set {thing} to 45 minutes.")],
            1 => {
                [format!("Always drain {thing} at noon."), format!("Never drain {thing} at noon.")]
            }
            2 => [format!("Resetting {thing} is safe."), format!("Resetting {thing} is unsafe.")],
            3 => [format!("Use Kafka for {thing}."), format!("Use RabbitMQ for {thing}.")],
            _ => [
                format!("Check {thing} before the rounds."),
                format!("Check {thing} after the rounds."),
            ],
        };
        let paths = ["one", "two"].map(|side| format!("learnings/2026-03-02-{side}-{number}.md"));
        for (path, claim) in paths.iter().zip(&claims) {
            let text = format!(
                "# Learning: ward {number}\n\n{claim}\n\n{}",
                body(&mut dice, 9_000 + number)
            );
            repo.write(path, &text);
        }
        planted.insert(paths);
    }
    let cards = repo.cards();
    let path = |card: &Value, side: &str| card[side]["path"].as_str().unwrap().to_owned();
    let found: BTreeSet<[String; 2]> = cards
        .iter()
        .map(|card| {
            let mut paths = [path(card, "a"), path(card, "b")];
            paths.sort();
            paths
        })
        .collect();
    let hits = planted.intersection(&found).count();
    assert!(hits * 10 >= PLANTED * 8, "{hits} of {PLANTED}");
    let wrong: Vec<_> = found.difference(&planted).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

// proves: LOOP-25
#[test]
fn a_night_puts_cards_to_the_reader_and_changes_nothing_for_them() {
    let night = disputed();
    let dry =
        ran(night.repo.command(&["--json", "--dry-run", "overnight", "start"]).spawn().unwrap());
    assert_eq!(dry.expect(0).json()["summary"]["contradictions"]["open"], 1);
    let before = knowledge(&night.repo);
    night.run(&[]).expect(0);
    let after = knowledge(&night.repo);
    assert_eq!((&before[OLD], &before[NEW]), (&after[OLD], &after[NEW]));
    let told = night.summary()["contradictions"].clone();
    assert_eq!((&told["open"], &told["ruled"]), (&1.into(), &0.into()), "{told:#}");
    let card = &told["cards"][0];
    assert_eq!(card["kind"], "value");
    assert_eq!(card["differs"], "30 seconds / 5 minutes");
    assert_eq!((&card["a"]["path"], &card["b"]["path"]), (&OLD.into(), &NEW.into()));
    assert_eq!(card["a"]["quote"], "Set the read timeout of the payment gateway to 30 seconds.");
    assert_eq!((&card["a"]["date"], &card["a"]["trust"]), (&"2026-02-01".into(), &"tool".into()));
    assert_eq!(card["a"]["source"], "s-gw-old");
    assert!(card["b"].get("trust").is_none(), "{card:#}");
    assert_eq!(night.repo.card(), card["id"]);
    let markdown = night.markdown();
    for said in [
        "### Put to you: contradictions",
        "**30 seconds / 5 minutes**",
        card["id"].as_str().unwrap(),
    ] {
        assert!(markdown.contains(said), "{said}\n{markdown}");
    }
    // Another night over the same corpus tells the same, whether it reads it again or not.
    for more in [&[][..], &["--full"]] {
        night.run(more).expect(0);
        assert_eq!(night.summary()["contradictions"], told, "{more:?}");
        assert_eq!(knowledge(&night.repo), after, "{more:?}");
    }
}

#[test]
fn a_replay_tells_the_same_cards_and_rulings() {
    let night = disputed();
    let other = "Never restart the audit collector by hand.";
    night.repo.write("learnings/2026-03-06-hand.md", &note("hand", "date: 2026-03-06\n", other));
    let claim = other.replace("Never", "Always");
    night.repo.write("learnings/2026-03-07-hand.md", &note("hands", "date: 2026-03-07\n", &claim));
    let ids: Vec<String> =
        night.repo.cards().iter().map(|card| card["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    night.repo.rule(&[&ids[0], "--keep", "both", "--why", "two shifts"]).expect(0);
    night.run(&[]).expect(0);
    let summary = night.summary();
    assert_eq!(summary["contradictions"]["cards"][0]["id"], ids[1].as_str());
    assert_eq!(summary["contradictions"]["ruled"], 1);
    let run = summary["run_id"].as_str().unwrap();
    // What is decided later is no part of that night.
    night.repo.rule(&[&ids[1], "--keep", "A", "--why", "later"]).expect(0);
    let told = night.repo.run(&["--json", "overnight", "replay", run]).expect(0).json();
    assert_eq!(told["identical"], true, "{told:#}");
}

/// Two texts that share all but one word of one claim.
#[test]
fn a_near_copy_that_disagrees_is_a_card_and_no_merge() {
    let night = Night::with(4);
    let rest = "Rotate the signing key of the mail relay every 30 days. Its owner is told a week ahead, the old key \
                stays valid for readers, and the rotation is written down beside the deploy log of that day.";
    for (name, text) in [("one", rest.to_owned()), ("two", rest.replace("30 days", "90 days"))] {
        let path = format!("learnings/2026-03-02-{name}.md");
        night.repo.write(
            &path,
            &format!("---\nsource_session: s\n---\n# Key rotation of the mail relay\n\n{text}\n"),
        );
    }
    night.run(&[]).expect(0);
    assert!(night.repo.exists("learnings/2026-03-02-one.md"));
    assert!(night.repo.exists("learnings/2026-03-02-two.md"));
    let told = &night.summary()["contradictions"];
    assert_eq!(
        (&told["open"], &told["cards"][0]["differs"]),
        (&1.into(), &"30 days / 90 days".into()),
        "{told:#}"
    );
    // Word for word the same, they are one.
    let night = Night::with(4);
    for name in ["one", "two"] {
        night.repo.write(
            &format!("learnings/2026-03-02-{name}.md"),
            &format!("# Key rotation\n\n{rest}\n"),
        );
    }
    night.run(&[]).expect(0);
    assert_eq!(night.summary()["contradictions"]["open"], 0);
}

#[test]
fn a_ruling_is_respected_and_the_loser_is_no_longer_found() {
    let night = disputed();
    let repo = &night.repo;
    let before = knowledge(repo);
    assert!(repo.found("payment gateway timeout").contains(OLD));
    // Only told.
    let card = repo.card();
    repo.run(&["--dry-run", "rule", &card, "--keep", "b", "--why", "x"]).expect(0);
    assert_eq!(knowledge(repo), before);
    let told = repo.kept("B");
    assert_eq!(told["superseded"], OLD, "{told:#}");
    assert_eq!(told["commit"]["status"], "committed");
    assert!(repo.read(OLD).contains(&format!("superseded_by: {NEW}")), "{}", repo.read(OLD));
    assert!(repo.read(OLD).contains("to 30 seconds."), "its text stays");
    assert_eq!(repo.read(NEW), before[NEW]);
    let file = format!("knowledge/rulings/{card}.json");
    let ruling: Value = serde_json::from_str(&repo.read(&file)).unwrap();
    assert_eq!((&ruling["keep"], &ruling["why"]), (&"b".into(), &"measured in May".into()));
    let path = repo.agents().join(&file);
    repo.run(&["schema", "ruling", "--check", path.to_str().unwrap()]).expect(0);
    let found = repo.found("payment gateway timeout");
    assert!(found.contains(NEW) && !found.contains(OLD), "{found}");
    assert!(repo.cards().is_empty());
    let all = repo.rule(&["--all"]).expect(0).json();
    assert_eq!(all["rulings"][0]["card"], card.as_str());
    assert!(repo.run(&["rule", &card]).expect(0).stdout.contains("B holds, since measured in May"));
    // Undo takes the ruling and the mark back.
    let commit = told["commit"]["id"].as_str().unwrap();
    repo.run(&["tree", "undo", commit]).expect(0);
    assert_eq!(knowledge(repo), before);
    assert_eq!(repo.card(), card);
}

#[test]
fn what_was_ruled_to_hold_both_ways_is_not_put_again() {
    let night = disputed();
    let repo = &night.repo;
    let (before, card) = (knowledge(repo), repo.card());
    let told = repo.kept("both");
    assert!(told["superseded"].is_null(), "{told:#}");
    assert_eq!((&repo.read(OLD), &repo.read(NEW)), (&before[OLD], &before[NEW]));
    night.run(&[]).expect(0);
    let told = &night.summary()["contradictions"];
    assert_eq!((&told["open"], &told["ruled"]), (&0.into(), &1.into()), "{told:#}");
    assert!(!night.markdown().contains("Put to you"));
    // An edit beside the claim changes nothing, nor does its layout.
    let text = repo
        .read(OLD)
        .replace("on Mondays", "on most Mondays")
        .replace("Set the read", "Set  the\nread");
    repo.write(OLD, &text);
    assert!(repo.cards().is_empty());
    // Another claim is another card, and says so.
    repo.write(OLD, &repo.read(OLD).replace("30 seconds", "45 seconds"));
    let cards = repo.cards();
    assert_eq!(cards.len(), 1, "{cards:#?}");
    assert_ne!(cards[0]["id"], card.as_str());
    assert_eq!(cards[0]["earlier_ruling"], card.as_str());
    assert_eq!(cards[0]["differs"], "45 seconds / 5 minutes");
    night.run(&[]).expect(0);
    assert!(night.markdown().contains("was about another wording"), "{}", night.markdown());
    // With its old words it is what was ruled about.
    repo.write(OLD, &before[OLD]);
    assert!(repo.cards().is_empty());
    repo.rule(&[&card, "--withdraw"]).expect(0);
    assert!(!repo.exists(&format!("knowledge/rulings/{card}.json")));
    assert_eq!(repo.card(), card);
}

#[test]
fn an_id_stays_while_the_claims_stand() {
    let night = disputed();
    let repo = &night.repo;
    let card = repo.card();
    repo.write(
        NEW,
        &repo.read(NEW).replace("utility: 0.7", "utility: 0.9").replace("Mondays", "Fridays"),
    );
    repo.write(OLD, &(repo.read(OLD) + "\n## More\n\nOne more remark about the vendor.\n"));
    assert_eq!(repo.card(), card);
    // By its own id an entry is the same under another name.
    fs::rename(repo.agents().join(OLD), repo.agents().join("learnings/2026-02-01-moved.md"))
        .unwrap();
    assert_eq!(repo.card(), card);
}

#[test]
fn a_withdrawn_ruling_takes_its_mark_along() {
    let night = disputed();
    let repo = &night.repo;
    let (before, card) = (knowledge(repo), repo.card());
    repo.kept("A");
    assert!(repo.read(NEW).contains("superseded_by: "));
    repo.rule(&[&card, "--withdraw"]).expect(0);
    assert_eq!(knowledge(repo), before);
    let failed = repo.rule(&[&card, "--withdraw"]).expect(2);
    assert!(failed.stderr.contains("nobody ruled about"), "{failed}");
}

#[test]
fn a_pinned_entry_is_left_as_it_is() {
    let night = disputed();
    let repo = &night.repo;
    repo.write(NEW, &repo.read(NEW).replace("utility: 0.7", "utility: 0.7\npinned: true"));
    let before = repo.read(NEW);
    let told = repo.kept("A");
    assert_eq!(told["left"], format!("{NEW} is pinned"), "{told:#}");
    assert!(told["superseded"].is_null());
    assert_eq!(repo.read(NEW), before);
    assert!(repo.cards().is_empty());
}

/// Whichever of the two files somebody saves while the ruling is made, nothing is ruled.
#[test]
fn an_edit_meanwhile_holds_the_ruling_back() {
    for (edited, keep) in [(OLD, "B"), (NEW, "B"), (OLD, "both")] {
        let night = disputed();
        let repo = &night.repo;
        let card = repo.card();
        let go = night.aside.path().join("go");
        let arguments = ["--json", "rule", &card, "--keep", keep, "--why", "x"];
        let child = repo.command(&arguments).env("AO_RULE_GO", &go).spawn().unwrap();
        wait_until("the cards are read", || go.with_extension("read").exists());
        let theirs =
            repo.read(edited).replace("30 seconds", "31 seconds").replace("5 minutes", "6 minutes");
        repo.write(edited, &theirs);
        let before = knowledge(repo);
        fs::write(&go, "").unwrap();
        let done = ran(child).expect(1);
        assert!(
            done.stderr.contains("nothing was ruled") && done.stderr.contains(edited),
            "{done}"
        );
        assert_eq!(knowledge(repo), before, "{edited} {keep}");
        assert_eq!(repo.cards().len(), 1);
    }
}

#[test]
fn what_cannot_be_ruled_is_said_with_what_to_do() {
    let night = disputed();
    let repo = &night.repo;
    let card = repo.card();
    let before = knowledge(repo);
    let cases: [(&[&str], &str); 7] = [
        (&["c-nothing"], "ao rule"),
        (&["c-"], "ao rule"),
        (&[&card, "--keep", "A"], "--why"),
        (&[&card, "--keep", "A", "--why", "  "], "--why"),
        (&[&card, "--keep", "C", "--why", "x"], "A, B or both"),
        (&["--keep", "A", "--why", "x"], "CARD"),
        (&[&card, "--why", "x"], "--keep"),
    ];
    for (arguments, said) in cases {
        let failed = repo.run(&[&["rule"], arguments].concat()).expect(2);
        assert!(failed.stderr.contains(said), "{arguments:?}: {failed}");
    }
    // The beginning of one id is enough, that of several is not.
    assert!(repo.run(&["rule", &card[..5]]).expect(0).stdout.contains(&card));
    for number in 0..40 {
        let text = format!("Keep archive {number} of the mail relay for 5 days.");
        for (side, text) in [("a", text.clone()), ("b", text.replace("5 days", "9 days"))] {
            let id = format!("{side}-{number}");
            repo.write(
                &format!("learnings/2026-03-0{}-{id}.md", 1 + number % 9),
                &note(&id, "", &text),
            );
        }
    }
    let ids: Vec<String> =
        repo.cards().iter().map(|card| card["id"].as_str().unwrap()[..3].to_owned()).collect();
    let twice = ids.iter().find(|id| ids.iter().filter(|other| other == id).count() > 1).unwrap();
    let failed = repo.run(&["rule", twice]).expect(2);
    assert!(failed.stderr.contains("give more of the id"), "{failed}");
    assert_eq!((&before[OLD], &before[NEW]), (&repo.read(OLD), &repo.read(NEW)));
}

/// Rulings that are no rulings are named, and hold nobody up.
#[test]
fn odd_files_among_the_rulings_are_left_alone() {
    let night = disputed();
    let repo = &night.repo;
    let card = repo.card();
    repo.write("knowledge/rulings/broken.json", "{");
    repo.write("knowledge/rulings/large.json", &" ".repeat(70_000));
    repo.write("knowledge/rulings/deep.json", &"[".repeat(60_000));
    repo.write("knowledge/rulings/other.json", "{\"schema_version\": 9}\u{1b}[0m");
    fs::write(night.aside.path().join("outside"), "{}").unwrap();
    let link = repo.agents().join("knowledge/rulings/link.json");
    symlink(night.aside.path().join("outside"), link).unwrap();
    let told = repo.rule(&[]).expect(0).json();
    assert_eq!(told["open"], 1, "{told:#}");
    assert_eq!(told["left"].as_array().unwrap().len(), 5, "{told:#}");
    assert!(!repo.run(&["rule", "--all"]).expect(0).stdout.contains('\u{1b}'));
    repo.rule(&[&card, "--keep", "both", "--why", "x"]).expect(0);
    assert!(repo.cards().is_empty());
    night.run(&[]).expect(0);
}
