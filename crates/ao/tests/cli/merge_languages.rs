//! What the rules cannot read is merged only if it is the same word for word, and is put to a person if it is alike.
//! The pairs are by another hand (`tests/strangers/languages.jsonl`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Deserialize;

use crate::duplicates::{empty, merged};
use crate::generate::{Dice, body};
use crate::repo::TestRepo;

#[derive(Deserialize)]
struct Notes {
    id: String,
    lang: String,
    kind: String,
    a: String,
    b: String,
}

fn pairs() -> Vec<Notes> {
    let text = include_str!("../strangers/languages.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Each note in two sizes: by itself, and beside so much that is the same in both that the pair is alike beyond doubt.
/// What is added is in the note's own words, turned round, so that it is in the note's language.
fn sides(notes: &Notes) -> [(String, String); 2] {
    let mut more = String::new();
    for (at, sentence) in notes.a.split_inclusive(['.', '。', '।', '\n']).enumerate() {
        let _ = write!(more, "\n\n{}: {}", at + 1, sentence.trim());
    }
    let long = |text: &str| format!("{text}{more}\n");
    [(notes.a.clone(), notes.b.clone()), (long(&notes.a), long(&notes.b))]
}

fn put(repo: &TestRepo, name: &str, text: &str) {
    let head = format!("---\nid: {name}\ndate: 2026-03-01\n---\n\n");
    repo.write(&format!("learnings/{name}.md"), &format!("{head}{text}\n"));
}

/// Pairs that may lie in one repository: no two of one language, of which several share a note.
fn apart() -> Vec<Vec<Notes>> {
    let mut groups: Vec<Vec<Notes>> = Vec::new();
    for notes in pairs() {
        let free =
            groups.iter_mut().find(|group| group.iter().all(|other| other.lang != notes.lang));
        match free {
            Some(group) => group.push(notes),
            None => groups.push(vec![notes]),
        }
    }
    groups
}

fn id_of(path: &str) -> &str {
    let name = path.trim_start_matches("learnings/");
    name.split_once('-').map_or(name, |(id, _)| id)
}

// proves: LOOP-25
#[test]
fn only_word_for_word_copies_are_merged_in_languages_that_nobody_reads() {
    for size in 0..2 {
        let mut counts: BTreeMap<(String, bool), [usize; 3]> = BTreeMap::new();
        let mut wrong = Vec::new();
        for group in apart() {
            let repo = empty();
            for notes in &group {
                let (a, b) = sides(notes)[size].clone();
                put(&repo, &format!("{}-a", notes.id), &a);
                put(&repo, &format!("{}-b", notes.id), &b);
            }
            let report = repo.run(&["--json", "defrag", "--dedup"]).expect(0).json();
            let mut gone: BTreeSet<String> =
                merged(&report).keys().map(|path| id_of(path).to_owned()).collect();
            // A note of few words has too few questions for a certificate; it was to be merged all the same.
            let refused = report["kept"].as_array().unwrap().iter();
            let refused = refused.filter(|kept| kept["certificate"].is_object());
            gone.extend(refused.map(|kept| id_of(kept["path"].as_str().unwrap()).to_owned()));
            let review = report["review"].as_array().unwrap().iter();
            let seen: BTreeSet<&str> =
                review.map(|both| id_of(both["one"].as_str().unwrap())).collect();
            for notes in &group {
                let is_english = notes.lang == "en";
                let is_merged = gone.contains(&notes.id);
                let count = counts.entry((notes.kind.clone(), is_english)).or_default();
                let facts = [true, is_merged, seen.contains(notes.id.as_str())];
                count.iter_mut().zip(facts).for_each(|(count, is_so)| *count += usize::from(is_so));
                let is_right = match notes.kind.as_str() {
                    "opposite" | "different_number" => !is_merged,
                    "copy" => is_merged,
                    _ => is_english || !is_merged,
                };
                if !is_right {
                    let Notes { id, lang, kind, a, b } = notes;
                    wrong.push(format!("{id} {lang} {kind}: {a} | {b}"));
                }
            }
        }
        println!("size {size}: (kind, English): [pairs, merged, put to a person] {counts:#?}");
        assert!(wrong.is_empty(), "size {size}: {wrong:#?}");
        // In the long form all are alike, and a person sees those that are no copies.
        for kind in ["opposite", "different_number", "near"] {
            let [all, _, seen] = counts[&(kind.to_owned(), false)];
            assert!(size == 0 || seen * 10 >= all * 8, "{kind}: {seen} of {all}");
        }
    }
}

/// English prose with names, code and a borrowed word is English; one sentence of another language is enough that the
/// whole is not.
#[test]
fn a_text_is_read_as_english_if_all_of_it_is() {
    let base = body(&mut Dice::new(5), 7);
    let with = |more: &str| {
        base.replacen("\n\n## Why It Matters", &format!(" {more}\n\n## Why It Matters"), 1)
    };
    for (one, other, is_merged) in [
        (
            "Zürich runs it, as José's naïve café note says.",
            "Zürich often runs it, as José's naïve café note says.",
            true,
        ),
        ("Then run `docker rm nicht`.", "Then often run `docker rm nicht`.", true),
        ("It waits for the Δt of 5 µs.", "It usually waits for the Δt of 5 µs.", true),
        ("Dann den Cache leeren.", "Dann den Cache oft leeren.", false),
        ("Then it holds. 不允许保存。", "Then it often holds. 不允许保存。", false),
        ("Then it holds.", "Then it holds. Sonra silinir.", false),
        ("Then it holds.", "Then it holds. Zatem usuwa wszystko.", false),
    ] {
        let repo = empty();
        put(&repo, "one", &with(one));
        put(&repo, "other", &with(other));
        let report = repo.run(&["--json", "defrag", "--dedup"]).expect(0).json();
        let both =
            [&report["merges"], &report["review"]].map(|list| list.as_array().unwrap().len());
        assert_eq!(both, if is_merged { [1, 0] } else { [0, 1] }, "{one} / {other} {report:#}");
    }
}
