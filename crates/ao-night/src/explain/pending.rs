//! Why a pending learning is promoted, or is not.

use std::collections::BTreeSet;

use ao_contract::{ChangeStatus, PendingVerdict, Promotion, Signal};
use ao_corpus::{CLOSED, Entry, Kind, asked_of_pending, looks_secret, signals};
use jiff::Span;
use serde_json::json;

use super::alter::{Alteration, edits};
use super::search::{NONE_FOUND, search};
use super::{Checked, Flip, Rule, Ruling, Scene};

/// Sentences of which each gives one signal, and what one says of it. Whether it does is found out by asking.
const SENTENCES: [(&str, &str, &str); 6] = [
    ("measure", "It took 47 seconds there.", "one sentence that names a measure"),
    ("code", "Run `wexil --check` there.", "one command in backticks"),
    ("path", "See src/wexil/probe.rs there.", "one path of a file"),
    ("symbol", "The name there is probe_wexil.", "one name such as `probe_wexil`"),
    ("cause", "That holds because wexil waits there.", "one reason, such as `because`"),
    ("rule", "Always probe wexil there.", "one rule, such as `always`"),
];
const PERSON: &str = "only a person's word turns it: `ao trust PATH --vouch --why TEXT`";
const CONFIDENCE: f64 = 0.9;
const DOUBT: f64 = 0.3;

pub(super) fn ruling(scene: &Scene, path: &str) -> Result<Option<Ruling>, String> {
    let Some(entry) = scene.entry(path).filter(|entry| entry.kind == Kind::Pending) else {
        return Ok(None);
    };
    let corpus = scene.corpus().within(&CLOSED);
    let checks = asked_of_pending(&corpus, path, &scene.settings(BTreeSet::new()));
    let verdict = judged(scene, path, &[]).ok_or("it was not judged")?;
    let mut ruling = Ruling::new(Rule::Promotion, &told(&verdict));
    ruling.acts = verdict.verdict != Promotion::Kept;
    ruling.why = verdict.reason;
    // Also where something else speaks against it first.
    ruling.signals = signals::judge(&entry.document).signals;
    ruling.checks = checks;
    let ask = |changes: &[Alteration]| Some(told(&judged(scene, path, changes)?));
    let tried = if ruling.acts { against(scene, entry) } else { in_favour(scene, entry) };
    ruling.flips = search(&tried, &ruling.verdict, ask);
    if verdict.verdict == Promotion::Promoted {
        ruling.flips.extend(without_one(&ruling.signals));
    }
    if ruling.flips.is_empty() {
        let none = if verdict.waits_for_person { PERSON } else { NONE_FOUND };
        ruling.no_flip = Some(none.to_owned());
    }
    Ok(Some(ruling))
}

fn told(verdict: &PendingVerdict) -> String {
    let to = verdict.promoted_to.as_deref().unwrap_or("the processed ones");
    match verdict.verdict {
        Promotion::Promoted => "promoted".to_owned(),
        Promotion::Known => format!("filed as known: it is in {to}"),
        Promotion::Kept => "left pending".to_owned(),
    }
}

/// What the night's own judging says, with these changes made.
fn judged(scene: &Scene, path: &str, changes: &[Alteration]) -> Option<PendingVerdict> {
    let all = scene.with(&edits(scene.corpus(), changes)?);
    let closing = scene.close(&all, &std::collections::BTreeMap::new());
    let pending = closing.report(ChangeStatus::NothingChanged, None).pending;
    pending.into_iter().find(|one| one.path == path)
}

/// What could make it pass.
fn in_favour(scene: &Scene, entry: &Entry) -> Vec<Alteration> {
    let (path, document) = (entry.path.as_str(), &entry.document);
    let mut tried = Vec::new();
    for key in ["pinned", "superseded_by", "promoted_to", "superseded"] {
        if document.has(key) {
            tried.push(Alteration::remove(path, key));
        }
    }
    for line in document.body().lines().filter(|line| looks_secret(line).is_some()) {
        tried.push(Alteration::Replace { path: path.into(), old: line.into(), new: String::new() });
    }
    if let Some(day) = old_enough(scene) {
        tried.push(Alteration::set(path, "date", day));
    }
    tried.push(Alteration::set(path, "confidence", CONFIDENCE));
    tried.push(Alteration::set(path, "source_session", "S-1"));
    let there = signals::judge(document).signals;
    for (name, sentence, what) in SENTENCES {
        if !there.iter().any(|signal| signal.name == name) {
            tried.push(Alteration::append(path, sentence, what));
        }
    }
    tried
}

/// What could make it fail.
fn against(scene: &Scene, entry: &Entry) -> Vec<Alteration> {
    let path = entry.path.as_str();
    let mut tried = Vec::new();
    if entry.document.confidence().is_some() {
        tried.push(Alteration::set(path, "confidence", DOUBT));
    }
    tried.push(Alteration::set(path, "date", scene.today().to_string()));
    tried.push(Alteration::append(path, "TODO.", "one placeholder, such as `TODO`"));
    tried.push(Alteration::set(path, "pinned", json!(true)));
    tried
}

/// Signals that carry a promotion by themselves: without one of them the score is too low.
fn without_one(found: &[Signal]) -> Vec<Flip> {
    let mut flips = Vec::new();
    for (at, signal) in found.iter().enumerate().filter(|(_, signal)| signal.amount.get() > 0.0) {
        let mut rest = found.to_vec();
        rest.remove(at);
        let (score, now) = (signals::score(&rest), signals::score(found));
        if !signals::needed(score).holds() {
            let name = format!("without the signal `{}`: score", signal.name);
            flips.push(Flip {
                changes: vec![Alteration::value(&name, &score, &now)],
                verdict: "left pending".to_owned(),
                checked: Checked::Rule,
            });
        }
    }
    flips
}

/// The newest day on which it would have been old enough.
fn old_enough(scene: &Scene) -> Option<String> {
    let hours = scene.settings(BTreeSet::new()).min_age.as_secs().div_ceil(60 * 60);
    let days = i64::try_from(hours.div_ceil(24)).ok()?;
    let days = Span::new().try_days(days).ok()?;
    Some(scene.today().checked_sub(days).ok()?.to_string())
}
