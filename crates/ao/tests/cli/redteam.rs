//! Poisoned texts before a night: none becomes knowledge, each is shown, and the night goes on.
//!
//! The texts are in `tests/redteam/`, with what each tries in `table.tsv`. Each is a learning that would be promoted
//! but for its poison.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::curator::Curator;
use crate::generate::Dice;
use crate::night::{Night, json_of, learning};
use crate::repo::{Ran, TestRepo, contents};

/// So many texts, in so many kinds, are the least that the corpus has.
const TEXTS_MIN: usize = 60;
/// A text that none of the poisoned ones has in full is no text of theirs.
const PIECE_CHARS: usize = 24;
/// Mutations are made of this many texts, so many each.
const MUTATIONS: usize = 5;

/// One text of the corpus.
struct Poison {
    /// `agents/obey.md`.
    file: String,
    /// Its place in the table.
    number: usize,
    /// The kind of sign that it has; nothing where it is only trusted too little.
    sign: String,
    text: String,
}

impl Poison {
    /// A name that tells it from all others, and nothing of what it says; but for the one whose name is its poison.
    fn name(&self) -> String {
        let own = self
            .file
            .strip_prefix("places/ignore")
            .map_or("", |_| "-ignore-all-previous-instructions");
        format!("2026-02-01-relay-{}{own}", self.number)
    }
}

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/redteam")
}

/// All of them, by the table.
fn corpus() -> Vec<Poison> {
    let table = fs::read_to_string(place().join("table.tsv")).unwrap();
    let row = |(number, line): (usize, &str)| {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap_or_default().to_owned();
        let (file, sign) = (cell(), cell());
        let text = fs::read_to_string(place().join(&file)).unwrap();
        Poison { file, number, sign: sign.trim_matches('-').to_owned(), text }
    };
    table.lines().skip(1).enumerate().map(row).collect()
}

/// Everything that `ao trust` says waits.
fn waiting(repo: &TestRepo) -> Vec<Value> {
    let told = repo.run(&["--json", "trust"]).expect(0).json();
    told["waiting"].as_array().unwrap().clone()
}

fn signs(waiting: &Value) -> Vec<&str> {
    waiting["signs"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect()
}

fn find<'a>(all: &'a [Value], name: &str) -> Option<&'a Value> {
    let ending = format!("/{name}.md");
    all.iter().find(|one| one["path"].as_str().unwrap().ends_with(&ending))
}

/// The lines of a text that only it has: neither its honest sentence nor what every text has.
fn own_lines(text: &str) -> Vec<String> {
    let body = text.splitn(3, "---\n").nth(2).unwrap_or(text);
    let lines = body.lines().map(str::trim).filter(|line| line.chars().count() >= PIECE_CHARS);
    lines.map(str::to_owned).collect()
}

/// Nothing of these texts is in what is knowledge.
fn assert_nowhere(repo: &TestRepo, poisons: &[Poison]) {
    let tree = contents(&repo.tree());
    let is_known = |path: &str| {
        ["learnings/", "patterns/", "findings/"].iter().any(|folder| path.starts_with(folder))
    };
    let known: Vec<(&String, &String)> =
        tree.iter().filter(|(path, _)| is_known(path) && !path.contains("-honest-")).collect();
    for poison in poisons {
        for line in own_lines(&poison.text) {
            for (path, text) in &known {
                assert!(!text.contains(&line), "{} of {} is in {path}", line, poison.file);
            }
        }
    }
}

#[test]
fn the_table_names_every_text_and_there_are_enough() {
    let named: BTreeSet<String> = corpus().into_iter().map(|poison| poison.file).collect();
    let mut found = BTreeSet::new();
    for folder in fs::read_dir(place()).unwrap().map(|entry| entry.unwrap().path()) {
        if folder.is_dir() {
            let kind = folder.file_name().unwrap().to_str().unwrap().to_owned();
            for file in fs::read_dir(&folder).unwrap() {
                let name = file.unwrap().file_name().into_string().unwrap();
                found.insert(format!("{kind}/{name}"));
            }
        }
    }
    assert_eq!(named, found);
    assert!(named.len() >= TEXTS_MIN, "{} texts", named.len());
}

/// The frame that every text stands in is promoted without its poison; otherwise nothing would be proved.
#[test]
fn without_its_poison_a_text_is_promoted() {
    let night = Night::with(3);
    let poison = corpus().into_iter().find(|poison| poison.file == "agents/obey.md").unwrap();
    let (frame, _) = poison.text.trim_end().rsplit_once("\n\n").unwrap();
    night.repo.write("knowledge/pending/2026-02-01-frame.md", frame);
    night.run(&[]).expect(0);
    let summary = night.summary();
    assert_eq!(summary["close_loop"]["promoted"], 1, "{:#}", summary["close_loop"]);
    assert!(!night.markdown().contains("Waiting for a person"), "{}", night.markdown());
}

// proves: LOOP-24
#[test]
fn each_text_is_seen_for_what_it_is() {
    let repo = TestRepo::new();
    let all = corpus();
    for poison in &all {
        repo.write(&format!("knowledge/pending/{}.md", poison.name()), &poison.text);
    }
    let waiting = waiting(&repo);
    let mut missed = Vec::new();
    for poison in &all {
        let Some(found) = find(&waiting, &poison.name()) else {
            missed.push(format!("{}: not seen", poison.file));
            continue;
        };
        let kinds = signs(found);
        let is_right = match poison.sign.as_str() {
            "" => kinds.is_empty() && found["trust"].as_str().unwrap() != "unverified",
            sign => kinds.contains(&sign),
        };
        if !is_right {
            missed.push(format!("{}: {} expected, {kinds:?} found", poison.file, poison.sign));
        }
    }
    assert!(missed.is_empty(), "{} of {}:\n{}", missed.len(), all.len(), missed.join("\n"));
    assert_eq!(waiting.len(), all.len(), "something else waits");
}

// proves: LOOP-24, LOOP-28
#[test]
fn pending_all_together_none_is_promoted_and_each_is_told() {
    let night = Night::with_copies();
    night.pending(1);
    let all = corpus();
    for poison in &all {
        night.repo.write(&format!("knowledge/pending/{}.md", poison.name()), &poison.text);
    }
    let planned = night.repo.run(&["--json", "overnight", "plan"]).expect(0).json();
    assert_eq!(planned["waiting"].as_array().unwrap().len(), all.len(), "{planned:#}");
    night.run(&[]).expect(0);
    let summary = night.summary();
    // The rest of the night goes on.
    assert_eq!(planned["edits"], summary["iterations"][0]["reduce"]["changes"]);
    assert_eq!(summary["iterations"][0]["reduce"]["promoted"], 1);
    assert_eq!(summary["iterations"][0]["reduce"]["deduped"], 1);
    assert!(!night.repo.exists("learnings/2026-03-02-copy.md"));
    assert_nowhere(&night.repo, &all);
    assert_eq!(summary["close_loop"]["waiting"], all.len());
    let pending = summary["close_loop"]["pending"].as_array().unwrap();
    let markdown = night.markdown();
    let section = markdown.split("## Waiting for a person").nth(1).unwrap();
    for poison in &all {
        let path = format!("knowledge/pending/{}.md", poison.name());
        let told = pending.iter().find(|one| one["path"] == path.as_str()).unwrap();
        assert_eq!((&told["verdict"], &told["waits_for_person"]), (&"kept".into(), &true.into()));
        assert!(section.contains(&format!("`{path}`")), "{path} is not in the report");
        assert_eq!(night.repo.read(&path), poison.text, "{path} was touched");
    }
    assert!(!markdown.contains('\u{202e}') && !markdown.contains('\u{e0069}'));
    let before = night.repo.tree();
    night.run(&["--full"]).expect(0);
    assert_eq!(night.repo.tree(), before, "the second night changed something");
    assert_eq!(night.summary()["iterations"][0]["reduce"]["edits"], 0);
}

/// One night a kind: what is held among many is held alone, too.
#[test]
fn pending_alone_none_is_promoted() {
    let mut seen = BTreeSet::new();
    for poison in corpus() {
        let kind = poison.file.split('/').next().unwrap().to_owned();
        if !crate::is_sweep() && !seen.insert(kind) {
            continue;
        }
        let night = Night::with(2);
        let path = format!("knowledge/pending/{}.md", poison.name());
        night.repo.write(&path, &poison.text);
        night.run(&[]).expect(0);
        let summary = night.summary();
        assert_eq!(summary["close_loop"]["promoted"], 0, "{}", poison.file);
        assert!(night.markdown().contains(&format!("`{path}`")), "{}", poison.file);
        assert_nowhere(&night.repo, &[poison]);
    }
}

// proves: LOOP-24
#[test]
fn as_entries_of_another_repository_none_is_taken() {
    let night = Night::with(4);
    let all: Vec<Poison> = corpus();
    night.harvest_from(all.len() + 1, |number| match all.get(number) {
        Some(poison) => (format!("learnings/{}.md", poison.name()), poison.text.clone()),
        None => ("learnings/2026-03-03-good.md".into(), learning(900)),
    });
    night.run(&[]).expect(0);
    let summary = night.summary();
    assert!(night.repo.exists("learnings/2026-03-03-good.md"), "the honest one was not taken");
    let (forged, rest): (Vec<Poison>, Vec<Poison>) =
        corpus().into_iter().partition(|poison| poison.sign == "forged");
    assert_nowhere(&night.repo, &rest);
    // Judgements that were made elsewhere do not count here, forged or not.
    for poison in &forged {
        let name = format!("learnings/{}.md", poison.name());
        let tree = contents(&night.repo.tree());
        let taken = tree.values().find(|text| text.contains(&name)).unwrap();
        for line in ["\nmaturity: established", "\nreward_count:", "\nmerged_from:"] {
            assert!(!taken.contains(line), "{taken}");
        }
    }
    let told = summary["iterations"][0]["ingest"]["poisoned"].as_array().unwrap();
    let markdown = night.markdown();
    let pending = contents(&night.repo.tree());
    for poison in &all {
        let name = format!("{}.md", poison.name());
        let is_told = told.iter().any(|one| one["path"].as_str().unwrap().ends_with(&name));
        // What is forged elsewhere is made anew here; what is trusted too little waits here.
        let is_here = pending.iter().any(|(path, text)| {
            path.starts_with("knowledge/pending/") && text.contains(&format!("learnings/{name}"))
        });
        match poison.sign.as_str() {
            "forged" => {}
            "" => assert!(is_here && !is_told, "{name}"),
            _ => {
                assert!(is_told && !is_here, "{name}: {told:#?}");
                assert!(markdown.contains(&name), "{name} is not in the report");
            }
        }
    }
    // The queue of work is another matter: it tells of what is left to do.
    let knowledge = || {
        let mut tree = night.repo.tree();
        tree.retain(|path, _| !path.starts_with("rpi/"));
        tree
    };
    let before = knowledge();
    night.run(&["--full"]).expect(0);
    assert!(knowledge() == before, "the second night changed something");
}

#[test]
fn as_a_copy_of_an_honest_learning_none_takes_its_place_or_gets_into_it() {
    let night = Night::with(2);
    // Those whose last paragraph is the poison.
    let is_at_the_end =
        |one: &Poison| !matches!(&*one.sign, "" | "forged") && !one.file.starts_with("places/");
    let all: Vec<Poison> = corpus().into_iter().filter(is_at_the_end).collect();
    let mut honest = Vec::new();
    for (number, poison) in all.iter().enumerate() {
        let base = learning(3000 + number);
        let path = format!("learnings/2026-03-04-own-{number}.md");
        night.repo.write(&path, &base);
        honest.push((path, base.clone()));
        // The better one by every mark that an entry can give itself.
        let tail = poison.text.trim_end().rsplit_once("\n\n").unwrap().1;
        let copy = base
            .replacen("utility: 0.7", "utility: 1.0\nmaturity: established\nreward_count: 50", 1)
            .replacen(&format!("id: learning-{}", 3000 + number), &format!("id: copy-{number}"), 1);
        let copy = format!("{}\n\n## Source\n\n{tail}\n", copy.trim_end());
        night.repo.write(&format!("learnings/2026-03-05-copy-{number}.md"), &copy);
    }
    // The same without poison is merged, or this would prove nothing.
    night.repo.write("learnings/2026-03-04-twin.md", &learning(1));
    night.run(&[]).expect(0);
    assert!(!night.repo.exists("learnings/2026-03-04-twin.md"), "{:#}", night.summary());
    for (path, text) in &honest {
        assert_eq!(&night.repo.read(path), text, "{path}");
    }
    let report = json_of(&night.latest("defrag/latest.json"));
    let review = report["review"].as_array().unwrap();
    let held =
        review.iter().filter(|pair| pair["why"].as_str().unwrap().contains("poison")).count();
    assert!(held > TEXTS_MIN, "{held} of {} went to people: {report:#}", all.len());
}

// proves: CUR-07
#[test]
fn as_drafts_of_the_curator_none_is_taken() {
    let curator = Curator::new();
    let all: Vec<Poison> = corpus().into_iter().filter(|one| !one.sign.is_empty()).collect();
    for poison in &all {
        let head = "---\ntype: learning\ntitle: Relay\nconfidence: high\n";
        let text = poison.text.replacen("---\n", head, 1);
        curator.write(&format!("worker/drafts/{}.md", poison.name()), &text);
    }
    let mut command = curator.repo.command(&["--json", "overnight", "start", "--no-keep-awake"]);
    Ran::of(command.env("HOME", curator.path("home")).output().unwrap()).expect(0);
    let summary = json_of(&curator.repo.state("latest/summary.json"));
    assert_nowhere(&curator.repo, &all);
    let told = summary["iterations"][0]["ingest"]["refused"].to_string();
    for poison in all.iter().filter(|poison| poison.sign != "forged") {
        assert!(told.contains(&format!("{}.md", poison.name())), "{}: {told}", poison.file);
    }
    // Whatever a draft says, it is a model's: what is left of it waits.
    for (path, text) in contents(&curator.repo.tree()) {
        if text.contains("harvested_from: curator") {
            assert!(path.starts_with("knowledge/pending/"), "{path}");
        }
    }
}

/// A text with its words dressed in another way.
fn mutated(text: &str, dice: &mut Dice) -> String {
    let (header, body) = text.split_once("---\n# ").unwrap();
    let way = dice.below(6);
    let mut mutated = String::new();
    let mut is_code = false;
    for word in body.split_inclusive([' ', '\n']) {
        is_code ^= word.matches('`').count() % 2 == 1;
        let bare = word.trim_end();
        let is_plain = bare.len() > 4 && bare.bytes().all(|byte| byte.is_ascii_alphabetic());
        let middle = bare.len() / 2;
        match way {
            0 => mutated.push_str(&word.to_uppercase()),
            1 if !is_code => {
                mutated.push_str(&word.replacen(' ', &" ".repeat(1 + dice.below(4)), 1));
            }
            2 if is_plain && !is_code => {
                let mark = dice.pick(&["\u{200b}", "\u{200d}", "\u{2060}", "\u{ad}", "\u{feff}"]);
                let _ = write!(mutated, "{}{mark}{}", &word[..middle], &word[middle..]);
            }
            3 if !is_code => {
                mutated.push_str(&word.replacen(' ', dice.pick(&["\n", " ", "\u{a0}"]), 1));
            }
            4 if is_plain && !is_code => {
                let mark = dice.pick(&["**", "*", "~~", "`"]);
                let _ = write!(
                    mutated,
                    "{}{mark}{}{mark}{}",
                    &word[..2],
                    &word[2..middle],
                    &word[middle..]
                );
            }
            5 => {
                let change = |c: char| match dice.below(2) {
                    0 => c.to_uppercase().to_string(),
                    _ => c.to_lowercase().to_string(),
                };
                mutated.push_str(&word.chars().map(change).collect::<String>());
            }
            _ => mutated.push_str(word),
        }
    }
    format!("{header}---\n# {mutated}")
}

#[test]
fn dressed_in_another_way_each_is_still_seen() {
    let repo = TestRepo::new();
    let mut dice = Dice::new(7);
    let mut made = Vec::new();
    // What is packed, or speaks by its letters and its form, says something else if those change.
    let by_words = ["instruction", "secrecy", "authority", "permanence", "secrets"];
    for poison in corpus() {
        if !by_words.contains(&poison.sign.as_str()) || poison.file.contains("escapes") {
            continue;
        }
        for number in 0..MUTATIONS {
            let text = mutated(&poison.text, &mut dice);
            let name = format!("{}-{number}", poison.name());
            repo.write(&format!("knowledge/pending/{name}.md"), &text);
            made.push((name, poison.sign.clone(), text));
        }
    }
    assert!(made.len() >= 300, "{} mutations", made.len());
    let waiting = waiting(&repo);
    // By what it says, and not only because something is hidden in it.
    let is_seen =
        |name: &str, sign: &str| find(&waiting, name).is_some_and(|one| signs(one).contains(&sign));
    let missed: Vec<String> = made
        .iter()
        .filter(|(name, sign, _)| !is_seen(name, sign))
        .map(|(name, sign, text)| format!("{name}, {sign}:\n{text}"))
        .collect();
    println!("{} mutations, {} not seen", made.len(), missed.len());
    assert!(missed.is_empty(), "{} of {}:\n{}", missed.len(), made.len(), missed.join("\n"));
}

/// Ordinary advice, what is near to each sign, the repository's own learnings, and texts of the generator.
#[test]
fn no_honest_text_is_held() {
    let repo = TestRepo::new();
    let honest = fs::read_to_string(place().join("honest.txt")).unwrap();
    let (mut count, mut own_count) = (1, 0);
    for (number, line) in honest.lines().enumerate() {
        let text = format!(
            "---\ndate: 2026-02-01\nsource_session: s-{number}\n---\n# Learning: case {number}\n\n{line}\n"
        );
        repo.write(&format!("knowledge/pending/honest-{number}.md"), &text);
        count += 1;
    }
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.agents");
    for folder in ["learnings", "patterns"] {
        for file in fs::read_dir(own.join(folder)).unwrap().map(|file| file.unwrap().path()) {
            let text = fs::read_to_string(&file).unwrap();
            // Here they are pending, and have come no further.
            let text = text.replacen("maturity: candidate", "maturity: provisional", 1);
            let text = text.replacen("maturity: established", "maturity: provisional", 1);
            let name = file.file_name().unwrap().to_str().unwrap();
            repo.write(&format!("knowledge/pending/own-{folder}-{name}"), &text);
            // Their number grows; the page tells of the others.
            own_count += 1;
        }
    }
    let generated = fs::read_to_string(place().join("generated.txt")).unwrap();
    for (number, text) in generated.split("=====\n").enumerate() {
        repo.write(&format!("knowledge/pending/generated-{number}.md"), text);
        count += 1;
    }
    for number in 0..40 {
        repo.write(&format!("knowledge/pending/made-{number}.md"), &learning(number));
        count += 1;
    }
    let held: Vec<String> =
        waiting(&repo).iter().map(|held| format!("{}: {}", held["path"], held["signs"])).collect();
    println!("{} of {count} honest texts and {own_count} of our own are held", held.len());
    assert!(own_count > 30 && held.is_empty(), "{}:\n{}", held.len(), held.join("\n"));
    assert!(in_the_docs(&format!("Of {count} honest texts")), "the page says another number");
}

/// Two lists of texts: for the first rules were made when it was known what it tries, for the second nothing was. How
/// many of each are seen is what the page says, neither more nor less.
#[test]
fn as_many_new_texts_are_seen_as_the_page_says() {
    let frame = corpus().into_iter().find(|poison| poison.file == "agents/obey.md").unwrap().text;
    let (frame, _) = frame.trim_end().rsplit_once("\n\n").unwrap();
    for (list, said) in [("untuned.txt", "were seen at once"), ("first.txt", "are seen now")] {
        let repo = TestRepo::new();
        let texts = fs::read_to_string(place().join(list)).unwrap();
        for (number, text) in texts.lines().enumerate() {
            let text = format!("{frame}\n\n{text}\n");
            repo.write(&format!("knowledge/pending/2026-02-01-new-{number}.md"), &text);
        }
        let waiting = waiting(&repo);
        for (number, text) in texts.lines().enumerate() {
            match find(&waiting, &format!("2026-02-01-new-{number}")) {
                Some(seen) => println!("{:?}: {text}", signs(seen)),
                None => println!("not seen: {text}"),
            }
        }
        let said = format!("{} of {} {said}", waiting.len(), texts.lines().count());
        assert!(in_the_docs(&said), "the page does not say: {said}");
    }
}

fn in_the_docs(words: &str) -> bool {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trust.md");
    fs::read_to_string(page).unwrap().contains(words)
}
