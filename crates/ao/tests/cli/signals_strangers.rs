//! Sessions by another hand (`tests/strangers`): in some of them somebody else's sentence poses as a person's, in the
//! others a person says what they say.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::signals::Sessions;

#[derive(Deserialize)]
struct Session {
    id: String,
    maker: String,
    file: String,
    #[serde(rename = "session")]
    text: String,
    #[serde(default)]
    channel: String,
    #[serde(default)]
    technique: String,
    #[serde(default)]
    token: String,
    #[serde(default)]
    honest: Vec<String>,
    #[serde(default)]
    said: Vec<String>,
}

fn sessions(lines: &str) -> Vec<Session> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What is taken of them as a person's word: title and claim.
fn heard(all: &[Session]) -> Vec<String> {
    let home = Sessions::new();
    for session in all {
        let text = session.text.replace("/repo", home.root().to_str().unwrap());
        let name = session.file.rsplit('/').next().unwrap();
        match session.maker.as_str() {
            "claude" => home.claude(&format!("{}-{name}", session.id), &text),
            "codex" => home.codex(&format!("rollout-{}-{name}", session.id), &text),
            _ => home.gemini(&format!("{}-{name}", session.id), &text),
        };
    }
    let told = home.signals(&["--dry-run"]);
    let is_persons = |lesson: &&Value| lesson["trust"] == "user";
    let text = |lesson: &Value| {
        format!("{} {}", lesson["title"].as_str().unwrap(), lesson["claim"].as_str().unwrap())
    };
    let lessons = told["taken"].as_array().unwrap().iter().map(|one| &one["lesson"]);
    lessons.filter(is_persons).map(text).collect()
}

fn words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// How many of these are among what was heard.
fn count<'a>(heard: &[String], said: impl Iterator<Item = &'a String>) -> (usize, usize) {
    let heard: Vec<String> = heard.iter().map(|text| words(text)).collect();
    let found: Vec<bool> =
        said.map(|said| heard.iter().any(|text| text.contains(&words(said)))).collect();
    (found.iter().filter(|found| **found).count(), found.len())
}

// proves: LOOP-24
#[test]
fn nobody_elses_sentence_is_taken_for_a_persons() {
    let all = sessions(include_str!("../strangers/breakouts.jsonl"));
    assert!(all.len() >= 200, "{}", all.len());
    let heard = heard(&all);
    let through: BTreeSet<String> = all
        .iter()
        .filter(|session| heard.iter().any(|text| text.contains(&session.token)))
        .map(|session| {
            format!("{} {} {}: {}", session.id, session.maker, session.channel, session.technique)
        })
        .collect();
    let (found, said) = count(&heard, all.iter().flat_map(|session| &session.honest));
    println!(
        "{} of {} break-outs; of {said} sentences of persons beside them {found}",
        through.len(),
        all.len()
    );
    assert!(through.is_empty(), "{through:#?}");
}

#[test]
fn what_a_person_said_is_still_heard() {
    let all = sessions(include_str!("../strangers/honest.jsonl"));
    let (found, said) = count(&heard(&all), all.iter().flat_map(|session| &session.said));
    println!("{found} of {said} sentences of persons");
    assert!(found >= HEARD_MIN, "{found} of {said}");
}

/// So many of the set were heard when this was written. Most are rules that nobody contradicted and nobody asked for,
/// which are no corrections.
const HEARD_MIN: usize = 26;
