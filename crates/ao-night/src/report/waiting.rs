//! What waits for a person: texts that are trusted too little, or have signs of poison.
//!
//! What such a text says is shown short and with everything made visible; it is no word of the report.

use ao_contract::{Poisoned, Sign, Trust};
use serde::Deserialize;
use serde_json::Value;

use super::block::{Block, Item, Line, code, first, more, text, words};
use super::facts::Facts;

/// More are counted; `ao trust` lists all that is here.
const LINES_MAX: usize = 400;
const SIGNS_MAX: usize = 4;

/// What is told of a pending learning, as far as it is needed here.
#[derive(Debug, Deserialize)]
struct Waiting {
    path: String,
    #[serde(default)]
    trust: Option<Trust>,
    #[serde(default)]
    trust_why: Vec<String>,
    #[serde(default)]
    signs: Vec<Sign>,
    #[serde(default)]
    waits_for_person: bool,
}

pub(super) fn section(facts: &Facts<'_>) -> Vec<Block> {
    let here: Vec<Item> = listed::<Waiting>(facts.at("/close_loop/pending"))
        .filter(|one| one.waits_for_person)
        .map(|one| item(&one.path, one.trust, &one.trust_why, &one.signs))
        .collect();
    let elsewhere: Vec<Item> = poisoned(facts)
        .iter()
        .map(|one| item(&one.path, Some(one.trust), &[], &one.signs))
        .collect();
    let mut blocks = Vec::new();
    if !here.is_empty() {
        blocks.push(Block::Paragraph(vec![
            words("Not promoted without a person's word. Read each; then "),
            code("ao trust PATH --vouch --why TEXT"),
            words(", or delete it:"),
        ]));
        blocks.extend(bounded(&here, "that wait"));
    }
    if !elsewhere.is_empty() {
        let told = "Not taken from other repositories, because of what it says:";
        blocks.push(Block::Paragraph(vec![words(told)]));
        blocks.extend(bounded(&elsewhere, "that were not taken"));
    }
    if blocks.is_empty() {
        return blocks;
    }
    [vec![Block::Heading("Waiting for a person")], blocks].concat()
}

fn listed<T: for<'de> Deserialize<'de>>(list: Option<&Value>) -> impl Iterator<Item = T> {
    let all = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    all.iter().filter_map(|one| T::deserialize(one).ok())
}

/// Each once: an iteration after another finds the same ones again.
fn poisoned(facts: &Facts<'_>) -> Vec<Poisoned> {
    let mut all: Vec<Poisoned> = Vec::new();
    for iteration in facts.iterations() {
        for one in listed::<Poisoned>(iteration.ingest.get("poisoned")) {
            if !all.iter().any(|known| known.path == one.path) {
                all.push(one);
            }
        }
    }
    all
}

fn item(path: &str, trust: Option<Trust>, why: &[String], signs: &[Sign]) -> Item {
    let mut line = vec![code(path)];
    if let Some(trust) = trust {
        line.push(words(&format!(": trust {trust}")));
    }
    let mut inner: Vec<Line> = Vec::new();
    for sign in signs.iter().take(SIGNS_MAX) {
        inner.push(vec![
            words("sign of poison: "),
            text(&sign.kind),
            words(" at "),
            text(&sign.place),
            words(": "),
            code(&sign.seen),
        ]);
    }
    if signs.is_empty() {
        inner.extend(why.iter().map(|why| vec![text(why)]));
    }
    Item { line, inner }
}

fn bounded(items: &[Item], what: &str) -> Vec<Block> {
    let (kept, left) = first(items, LINES_MAX);
    let rest = more(left, what).map(Block::Paragraph);
    [Some(Block::List(kept.to_vec())), rest].into_iter().flatten().collect()
}
