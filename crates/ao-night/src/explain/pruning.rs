//! Why an entry goes to the archive, or stays.

use std::collections::BTreeSet;

use ao_corpus::defrag::Parts;
use ao_corpus::prune::{Against, Candidate, Survey, referrers, unreferred};
use ao_corpus::{Check, Entry, Kind, Tree, latest_day};
use jiff::Span;
use jiff::civil::Date;
use serde_json::json;

use super::alter::{Alteration, edits};
use super::search::{NONE_FOUND, search};
use super::{Checked, Flip, Rule, Ruling, Scene, Thought};
use crate::iteration::PARTS;

const LEFT: &str = "left";
const ARCHIVED: &str = "archived";
/// So many of those that refer to it are named.
const NAMED_MAX: usize = 3;
const REFERENCES: &str = "references to it";

pub(super) fn ruling(scene: &Scene, thought: &Thought, path: &str) -> Result<Ruling, String> {
    let mut ruling = Ruling::new(Rule::Prune, verdict(thought, path));
    let Some(entry) = scene.entry(path) else { return Err(format!("{path} is not there")) };
    let tree = before_pruning(scene)?;
    if tree.entry(path).is_none() {
        ruling.why = "it is gone before it is asked: another rule took it away".into();
        ruling.no_flip = Some("it was not asked".into());
        return Ok(ruling);
    }
    let against = Against { day: scene.today(), latest: latest_day(scene.today()) };
    let weighed = Survey::of(&tree, against).weigh(&tree, path);
    ruling.checks = weighed.checks;
    let mut named = BTreeSet::new();
    if let Some(candidate) = &weighed.candidate {
        named = who_refers(scene, &tree, candidate)?;
        ruling.checks.push(unreferred_check(candidate, &named));
    }
    let report = &thought.plan.report;
    let made = report.prunes.iter().find(|prune| prune.path == path);
    let kept = report.kept.iter().find(|kept| kept.path == path && made.is_none());
    ruling.acts = made.is_some();
    ruling.certificate = made.map(|prune| prune.certificate.clone());
    let refusal = || ruling.checks.iter().find(|check| !check.holds).map(|check| check.why.clone());
    ruling.why = made
        .map(|prune| prune.reason.clone())
        .or_else(refusal)
        .or_else(|| kept.map(|kept| kept.why.clone()))
        .unwrap_or_default();
    let ask = |changes: &[Alteration]| {
        let edits = edits(scene.corpus(), changes)?;
        Some(verdict(&scene.think(&edits).ok()?, path).to_owned())
    };
    let tried = tried(scene, entry, ruling.acts);
    ruling.flips = search(&tried, &ruling.verdict, ask);
    if let Some(candidate) = weighed.candidate {
        let others = ruling.checks.iter().filter(|check| check.name != REFERENCES);
        let against: Vec<&Check> = others.filter(|check| !check.holds).collect();
        ruling.flips.extend(by_reference(&candidate, &named, &against));
    } else if entry.kind != Kind::Finding {
        let why = "it sets no term: it goes only if `superseded_by` names what replaced it";
        ruling.no_flip = Some(why.into());
    }
    if ruling.flips.is_empty() && ruling.no_flip.is_none() {
        ruling.no_flip = Some(NONE_FOUND.to_owned());
    }
    Ok(ruling)
}

fn verdict(thought: &Thought, path: &str) -> &'static str {
    let is_gone = thought.plan.report.prunes.iter().any(|prune| prune.path == path);
    if is_gone { ARCHIVED } else { LEFT }
}

/// The corpus as the rule finds it: what is merged is merged.
fn before_pruning(scene: &Scene) -> Result<Tree, String> {
    Ok(scene
        .think_of(&[], Parts { prune: false, sweep: false, patterns: false, ..PARTS })?
        .plan
        .tree)
}

fn who_refers(
    scene: &Scene,
    tree: &Tree,
    candidate: &Candidate,
) -> Result<BTreeSet<String>, String> {
    let asked = std::slice::from_ref(candidate);
    // The queue is read as it lies there, like any other file.
    let found = referrers(scene.place(), tree, None, asked);
    let found = found.map_err(|error| error.to_string())??;
    Ok(found.into_iter().next().unwrap_or_default())
}

/// Who stays because of whom is the rule's to say.
fn stays(candidate: &Candidate, named: &BTreeSet<String>) -> Option<String> {
    let (_, kept) = unreferred(vec![candidate.clone()], std::slice::from_ref(named));
    kept.into_iter().next().map(|(_, why)| why)
}

fn unreferred_check(candidate: &Candidate, named: &BTreeSet<String>) -> Check {
    let why = stays(candidate, named);
    let some: Vec<&str> = named.iter().take(NAMED_MAX).map(String::as_str).collect();
    let found = match named.len() {
        0 => "none".to_owned(),
        count if count > NAMED_MAX => format!("{count}: {}, …", some.join(", ")),
        count => format!("{count}: {}", some.join(", ")),
    };
    #[expect(clippy::cast_precision_loss, reason = "files")]
    let margin = Some(0.0 - named.len() as f64);
    let holds = why.is_none();
    let why = why.unwrap_or_default();
    Check { name: REFERENCES, found, needed: "none".into(), margin, holds, why }
}

/// One reference more, or those that there are fewer; with the pin, where that is all that is `against` it.
fn by_reference(
    candidate: &Candidate,
    named: &BTreeSet<String>,
    against: &[&Check],
) -> Option<Flip> {
    let is_pin = |check: &&&Check| check.name == "pinned";
    let pin = match against {
        [] => None,
        [one] if is_pin(&one) && !named.is_empty() => {
            Some(Alteration::remove(&candidate.path, "pinned"))
        }
        _ => return None,
    };
    let one = BTreeSet::from(["another file".to_owned()]);
    let (others, verdict) =
        if named.is_empty() { (one, LEFT) } else { (BTreeSet::new(), ARCHIVED) };
    let turns = stays(candidate, &others).is_some() != stays(candidate, named).is_some();
    // More than two are no small change.
    if !turns || named.len() + usize::from(pin.is_some()) > 2 {
        return None;
    }
    let name = |file: &String| format!("references to it in {file}");
    let without = |file: &String| Alteration::value(&name(file), &"none", &"some");
    let mut changes: Vec<Alteration> = named.iter().map(without).collect();
    if named.is_empty() {
        changes.push(Alteration::value(REFERENCES, &1, &0));
    }
    changes.extend(pin);
    Some(Flip { changes, verdict: verdict.to_owned(), checked: Checked::Rule })
}

fn tried(scene: &Scene, entry: &Entry, acts: bool) -> Vec<Alteration> {
    let (path, document) = (entry.path.as_str(), &entry.document);
    let mut tried = Vec::new();
    let begins = document.day("last_cited").or_else(|| entry.date());
    let now = scene.today();
    let ttl = document.number("ttl_days").unwrap_or(0.0);
    let age = begins.map(|from| days(from, now));
    if entry.kind == Kind::Finding && !document.has("superseded_by") {
        // The smallest term that is not over, or the largest that is.
        let term = age.map(|age| if acts { age } else { age - 1 }).filter(|term| *term > 0);
        tried.extend(term.map(|term| Alteration::set(path, "ttl_days", term)));
        #[expect(clippy::cast_possible_truncation, reason = "terms are bounded far below")]
        let ttl = ttl as i64;
        let cited =
            Span::new().try_days(ttl).and_then(|ttl| now.checked_sub(ttl)).ok().filter(|_| acts);
        tried.extend(cited.map(|day| Alteration::set(path, "last_cited", day.to_string())));
    }
    if acts {
        tried.push(Alteration::set(path, "pinned", json!(true)));
        if document.has("superseded_by") {
            tried.push(Alteration::remove(path, "superseded_by"));
        }
    } else if document.is_pinned() {
        tried.insert(0, Alteration::remove(path, "pinned"));
    }
    tried
}

fn days(from: Date, to: Date) -> i64 {
    i64::from(from.until(to).map_or(0, |span| span.get_days()))
}
