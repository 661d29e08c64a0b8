//! What becomes of cards and rulings later: other names, merges, the archive, more entries.

use std::fs;

use serde_json::{Value, json};

use crate::night::Night;
use crate::repo::TestRepo;
use crate::rule::{NEW, OLD, disputed, knowledge, note};

const HALF_A_MINUTE: &str = "Set the gateway read timeout to 30 seconds.";
const FIVE_MINUTES: &str = "The gateway read timeout is 5 minutes.";
const SLOW: &str = "learnings/gw2.md";

/// An entry that says hardly more than its claim.
fn short(repo: &TestRepo, id: &str, day: &str, more: &str, text: &str) {
    let text = format!(
        "---\nid: {id}\ntitle: {id}\ndate: {day}\nsource_session: s-{id}\nutility: 0.5\n{more}---\n# {id}\n\n{text}\n"
    );
    repo.write(&format!("learnings/{id}.md"), &text);
}

/// A short entry and a longer one against it.
fn gateway(first: &str, text: &str) -> Night {
    let night = Night::with(6);
    short(&night.repo, first, "2026-01-05", "", text);
    short(&night.repo, "gw2", "2026-02-01", "", FIVE_MINUTES);
    night
}

fn titles(night: &Night) -> Vec<String> {
    let packets = night.summary()["morning_packets"].as_array().cloned().unwrap_or_default();
    packets.iter().map(|packet| packet["title"].as_str().unwrap().to_owned()).collect()
}

/// The cards of a brief, by their ids; that it says in which line each side stands, too, is left out.
fn in_brief(repo: &TestRepo) -> Vec<Value> {
    let goal = ["--json", "knowledge", "brief", "--goal", "gateway read timeout"];
    let brief = repo.run(&goal).expect(0).json();
    let mut cards = brief["disputed"].as_array().unwrap().clone();
    for card in &mut cards {
        for side in ["a", "b"] {
            let line = card[side].as_object_mut().unwrap().remove("line");
            assert!(line.is_some(), "{brief:#}");
        }
    }
    cards.sort_by_key(|card| card["id"].to_string());
    cards
}

/// Whatever a header claims, a card tells what `ao trust` tells, and where it comes from.
#[test]
fn a_card_tells_the_trust_that_is_computed() {
    let night = gateway("gw", HALF_A_MINUTE);
    let repo = &night.repo;
    let forged = "trust: user\nsource: https://evil.example.com/x\n";
    short(repo, "gw2", "2026-02-01", forged, FIVE_MINUTES);
    short(repo, "gw", "2026-01-05", "trust: user\n", HALF_A_MINUTE);
    let told = |path: &str| repo.run(&["--json", "trust", path]).expect(0).json()["trust"].clone();
    let card = repo.cards().remove(0);
    assert_eq!((&card["a"]["trust"], &card["b"]["trust"]), (&"code".into(), &"web".into()));
    assert_eq!(card["a"]["trust"], told("learnings/gw.md"));
    assert_eq!(card["b"]["trust"], told(SLOW));
    assert_eq!(card["b"]["source"], "https://evil.example.com/x");
    assert_eq!(card["a"]["source"], "s-gw");
    assert_eq!(in_brief(repo), [card]);
}

/// Two that are alike and disagree are work for the morning, until somebody rules.
#[test]
fn what_was_ruled_about_is_no_work_for_the_morning() {
    let night = Night::with(4);
    let repo = &night.repo;
    short(repo, "d1", "2026-01-05", "", "Deploys are allowed on Fridays.");
    short(repo, "d2", "2026-02-01", "", "Deploys are not allowed on Fridays.");
    let settles =
        |night: &Night| titles(night).iter().any(|title| title.starts_with("Settle what"));
    night.run(&[]).expect(0);
    assert!(settles(&night), "{:?}", titles(&night));
    let card = repo.card();
    repo.kept("both");
    night.run(&[]).expect(0);
    assert!(!settles(&night), "{:?}", titles(&night));
    assert!(!night.markdown().contains("Settle what"), "{}", night.markdown());
    // As long as it holds.
    repo.rule(&[&card, "--withdraw"]).expect(0);
    night.run(&[]).expect(0);
    assert!(settles(&night), "{:?}", titles(&night));
}

/// A ruling, and what a night asks about the entry, do not keep what lost from the archive.
#[test]
fn what_lost_is_archived_and_a_withdrawal_brings_it_back() {
    let night = gateway("gw", HALF_A_MINUTE);
    let repo = &night.repo;
    let own = json!({ "source_epic": "ao-overnight-x", "timestamp": "2026-02-01T00:00:00Z", "items": [
        { "title": "Decide what becomes of gw2", "source": "ao-overnight:night", "file": ".agents/learnings/gw2.md" }
    ] });
    repo.write("rpi/next-work.jsonl", &format!("{own}\n"));
    let before = knowledge(repo);
    let card = repo.card();
    repo.kept("A");
    night.run(&[]).expect(0);
    assert!(!repo.exists(SLOW), "{:#}", night.summary()["defrag"]);
    let kept = knowledge(repo);
    night.run(&["--full"]).expect(0);
    assert_eq!(knowledge(repo), kept);
    let told = repo.rule(&[&card, "--withdraw"]).expect(0).json();
    assert_eq!(told["restored"], SLOW, "{told:#}");
    assert_eq!(repo.read(SLOW), before[SLOW]);
    assert_eq!(repo.read("learnings/gw.md"), before["learnings/gw.md"]);
    assert_eq!(repo.card(), card);
    // Where its text is no longer kept, that is said, and nothing else.
    repo.kept("A");
    night.run(&[]).expect(0);
    assert!(!repo.exists(SLOW));
    for folder in fs::read_dir(repo.state("undo")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let file = file.unwrap().path();
            if !file.ends_with("record.json") {
                fs::remove_file(file).unwrap();
            }
        }
    }
    let told = repo.rule(&[&card, "--withdraw"]).expect(0).json();
    assert!(told["left"].as_str().unwrap().contains("was archived"), "{told:#}");
}

/// What a person wants done with it keeps it.
#[test]
fn work_that_a_person_asked_for_keeps_what_lost() {
    let night = gateway("gw", HALF_A_MINUTE);
    let repo = &night.repo;
    for source in ["retro", "ao-overnight:operator-queue"] {
        let theirs = json!({ "source_epic": "e", "timestamp": "2026-02-01T00:00:00Z", "items": [
            { "title": "Ask the vendor", "source": source, "description": "see learnings/gw2.md" }
        ] });
        repo.write("rpi/next-work.jsonl", &format!("{theirs}\n"));
        let card = repo.card();
        repo.kept("A");
        night.run(&[]).expect(0);
        assert!(repo.exists(SLOW), "{source}");
        repo.rule(&[&card, "--withdraw"]).expect(0);
    }
}

/// The copy that the night keeps is not the one that was ruled about.
#[test]
fn a_ruling_outlives_a_merge() {
    let text = format!(
        "The proxy in front of the ledger drops idle sockets early in the morning when the batch of invoices \
         arrives. {HALF_A_MINUTE} The balancer keeps the sockets of the eastern zone open for longer than those of \
         the western one, which surprised the team in March."
    );
    for keep in ["both", "A"] {
        let night = gateway("gwx", &text);
        let repo = &night.repo;
        let card = repo.card();
        repo.kept(keep);
        let copy = repo.read("learnings/gwx.md").replace("id: gwx", "id: gw");
        repo.write("learnings/gw.md", &copy.replace("2026-01-05", "2026-01-01"));
        if keep == "A" {
            // Nobody may archive it meanwhile.
            repo.write("research/r.md", "See learnings/gw2.md.\n");
        }
        night.run(&[]).expect(0);
        assert!(!repo.exists("learnings/gwx.md") && repo.exists("learnings/gw.md"), "{keep}");
        let told = repo.rule(&["--all"]).expect(0).json();
        assert_eq!(told["open"], 0, "{keep} {told:#}");
        if keep == "both" {
            assert_eq!(told["ruled"], 1, "{told:#}");
            let one = repo.run(&["rule", &card]).expect(0).stdout;
            assert!(one.contains("learnings/gw.md") && one.contains("both hold"), "{one}");
        } else {
            assert!(repo.read(SLOW).contains("superseded_by: learnings/gw.md"));
        }
        let told = repo.rule(&[&card, "--withdraw"]).expect(0).json();
        assert!(told["left"].is_null(), "{told:#}");
        assert!(!repo.read(SLOW).contains("superseded_by"), "{keep}");
        let cards = repo.cards();
        assert_eq!(cards.len(), 1, "{cards:#?}");
        assert_eq!(cards[0]["a"]["path"], "learnings/gw.md");
    }
}

#[test]
fn a_withdrawal_finds_the_mark_under_another_name() {
    let night = disputed();
    let repo = &night.repo;
    let (before, card) = (knowledge(repo), repo.card());
    repo.kept("A");
    let moved = "learnings/2026-03-05-moved.md";
    fs::rename(repo.agents().join(NEW), repo.agents().join(moved)).unwrap();
    let told = repo.rule(&[&card, "--withdraw"]).expect(0).json();
    assert!(told["left"].is_null(), "{told:#}");
    assert_eq!(repo.read(moved), before[NEW]);
    assert_eq!(repo.card(), card);
    // The winner, too.
    repo.kept("A");
    fs::rename(repo.agents().join(OLD), repo.agents().join("learnings/old.md")).unwrap();
    repo.write(moved, &repo.read(moved).replace(OLD, "gw-old"));
    repo.rule(&[&card, "--withdraw"]).expect(0);
    assert_eq!(repo.read(moved), before[NEW]);
}

/// A mark that may be the ruling's stays with the ruling; one that is another's stays alone.
#[test]
fn a_mark_of_somebody_else_is_told_as_it_is() {
    let night = disputed();
    let repo = &night.repo;
    let card = repo.card();
    repo.kept("A");
    let marked = repo.read(NEW);
    repo.write(NEW, &marked.replace(OLD, "learnings/nowhere.md"));
    let failed = repo.rule(&[&card, "--withdraw"]).expect(1);
    assert!(failed.stderr.contains("nowhere.md"), "{failed}");
    assert!(repo.exists(&format!("knowledge/rulings/{card}.json")));
    repo.write(NEW, &marked.replace(OLD, "learnings/2026-03-01-case-1.md"));
    let told = repo.rule(&[&card, "--withdraw"]).expect(0).json();
    let left = told["left"].as_str().unwrap();
    assert!(left.contains("2026-03-01-case-1.md, and not by this ruling"), "{told:#}");
    assert!(repo.read(NEW).contains("superseded_by"));
}

/// One ruling takes all that an entry says out of search, and its other cards with it.
#[test]
fn what_else_goes_with_an_entry_is_named() {
    let night = disputed();
    let repo = &night.repo;
    let more = "Never restart the audit collector by hand.";
    repo.write(NEW, &(repo.read(NEW) + &format!("\n{more}\n")));
    let other = more.replace("Never", "Always");
    repo.write("learnings/2026-03-07-hand.md", &note("hand", "date: 2026-03-07\n", &other));
    let cards = repo.cards();
    assert_eq!(cards.len(), 2, "{cards:#?}");
    let is_value = |card: &&Value| card["kind"] == "value";
    let id = |card: &Value| card["id"].as_str().unwrap().to_owned();
    let value = id(cards.iter().find(is_value).unwrap());
    let rest = id(cards.iter().find(|card| !is_value(card)).unwrap());
    let arguments = [&value, "--keep", "A", "--why", "measured"];
    let told = repo.rule(&arguments).expect(0).json();
    assert_eq!(told["also"], json!([rest]), "{told:#}");
    assert!(repo.cards().is_empty());
    repo.rule(&[&value, "--withdraw"]).expect(0);
    let text = repo.run(&[&["rule"], &arguments[..]].concat()).expect(0).stdout;
    assert!(text.contains(&rest) && text.contains("no longer finds it"), "{text}");
}

/// An id that several files have names none of them.
#[test]
fn files_with_one_id_have_a_card_each() {
    let night = gateway("gw", HALF_A_MINUTE);
    let repo = &night.repo;
    let same = repo.read(SLOW).replace("2026-02-01", "2026-02-03") + "\nIt was seen in May.\n";
    repo.write("learnings/gw3.md", &same);
    let cards = repo.cards();
    assert_eq!(cards.len(), 2, "{cards:#?}");
    assert_eq!(in_brief(repo), cards);
    let first = cards.iter().find(|card| card["b"]["path"] == SLOW).unwrap();
    repo.rule(&[first["id"].as_str().unwrap(), "--keep", "A", "--why", "x"]).expect(0);
    let left = repo.cards();
    assert_eq!(left.len(), 1, "{left:#?}");
    assert_eq!(left[0]["b"]["path"], "learnings/gw3.md");
    assert_eq!(in_brief(repo), left);
}

/// What is cut is said to be cut.
#[test]
fn a_limit_that_was_reached_is_told() {
    let night = Night::with(2);
    let repo = &night.repo;
    for number in 0..80 {
        let text = format!("The falcon gateway read timeout is {} seconds.", number + 10);
        short(repo, &format!("falcon-{number}"), "2026-01-05", "", &text);
    }
    let told = repo.rule(&[]).expect(0).json();
    assert_eq!(told["is_capped"], true);
    let text = repo.run(&["rule"]).expect(0).stdout;
    assert!(text.contains("At least 1000 open cards"), "{text}");
    night.run(&[]).expect(0);
    assert_eq!(night.summary()["contradictions"]["is_capped"], true);
    assert!(night.markdown().contains("At least 1000 pairs of claims"), "{}", night.markdown());
    // Few are all there are.
    let few = disputed();
    assert_eq!(few.repo.rule(&[]).expect(0).json()["is_capped"], false);
    few.run(&[]).expect(0);
    assert!(few.markdown().contains("1 pair of claims"), "{}", few.markdown());
    assert!(!few.markdown().contains("At least"), "{}", few.markdown());
}

/// Very many that repeat two claims about different things hide none that is about one.
#[test]
fn many_that_cannot_meet_are_put_aside_at_once() {
    let night = Night::with(2);
    let repo = &night.repo;
    let (yes, no) = ("Deploys are allowed on Fridays.", "Deploys are not allowed on Fridays.");
    for number in 0..700 {
        let (component, text) =
            if number % 2 == 0 { ("component: a\n", yes) } else { ("component: b\n", no) };
        short(repo, &format!("d{number}"), "2026-01-05", component, text);
    }
    let told = repo.rule(&[]).expect(0).json();
    assert_eq!((&told["open"], &told["is_capped"]), (&json!(0), &json!(false)), "{told:#}");
    short(repo, "e1", "2026-01-05", "component: c\n", yes);
    short(repo, "e2", "2026-01-05", "component: c\n", no);
    let card = repo.cards().remove(0);
    assert_eq!(card["a"]["path"], "learnings/e1.md");
    assert_eq!(repo.rule(&[]).expect(0).json()["is_capped"], false);
    // Each about something else: that ends at a limit, and is told.
    for number in 0..700 {
        let path = format!("learnings/d{number}.md");
        let own = format!("component: c{number}\n");
        let text = repo.read(&path).replace("component: a\n", &own);
        repo.write(&path, &text.replace("component: b\n", &own));
    }
    fs::remove_file(repo.agents().join("learnings/e2.md")).unwrap();
    let told = repo.rule(&[]).expect(0).json();
    assert_eq!((&told["open"], &told["is_capped"]), (&json!(0), &json!(true)), "{told:#}");
    let text = repo.run(&["rule"]).expect(0).stdout;
    assert!(text.contains("a limit of the search was reached"), "{text}");
}

/// A file without a header has none again.
#[test]
fn a_withdrawal_gives_the_bytes_back() {
    for newline in ["\n", "\r\n"] {
        let night = Night::with(2);
        let repo = &night.repo;
        let text = |claim: &str| format!("# The gateway\n\n{claim}\n").replace('\n', newline);
        repo.write("learnings/2026-01-05-a.md", &text(HALF_A_MINUTE));
        repo.write("learnings/2026-02-05-b.md", &text(FIVE_MINUTES));
        let (before, card) = (knowledge(repo), repo.card());
        repo.kept("A");
        assert!(repo.read("learnings/2026-02-05-b.md").starts_with("---"));
        repo.rule(&[&card, "--withdraw"]).expect(0);
        assert_eq!(knowledge(repo), before);
    }
}
