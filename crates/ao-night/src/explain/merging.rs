//! Why an entry is merged, takes another one in, or stays by itself.

use std::fmt::Write as _;
use std::sync::Arc;

use ao_corpus::duplicates::{
    Beside, Difference, Finder, REVIEW_STEMS_MIN, Rank, UTILITY_PARTS, guards, likeness,
};
use ao_corpus::{Corpus, Entry, Tree};
use serde_json::json;

use super::alter::{Alteration, edits};
use super::search::{NONE_FOUND, search};
use super::{Checked, Flip, Neighbour, Rule, Ruling, Scene, Thought, certificates};

/// So many of the nearest are shown.
const SHOWN_MAX: usize = 3;
/// So many differences of claim are put right one after the other.
const PUT_RIGHT_MAX: usize = 3;
/// More words than this are another text.
const OWN_WORDS_MAX: usize = 400;
const LEFT: &str = "left";
const NEAR_ENOUGH: &str = "near enough to be merged";

pub(super) fn ruling(scene: &Scene, thought: &Thought, path: &str) -> Result<Ruling, String> {
    let mut ruling = Ruling::new(Rule::Merge, &verdict(thought, path));
    let Some(entry) = scene.entry(path) else { return Err(format!("{path} is not there")) };
    ruling.acts = ruling.verdict != LEFT;
    ruling.checks = guards(entry);
    let guarded: Vec<Alteration> = barred(entry);
    // What stands beside one that is kept from being compared is seen once it is not.
    let lifted = edits(scene.corpus(), &guarded).unwrap_or_default();
    let tree = Tree::of(scene.with(&lifted));
    let mut beside = nearest(&tree, path);
    // The nearest is always told; what the night would not even show to a person is not worth more words.
    let mut place = 0..;
    beside.retain(|one| place.next() == Some(0) || one.likeness.stems >= REVIEW_STEMS_MIN);
    ruling.why = why(thought, path, &ruling, &beside);
    ruling.certificate = certificate(thought, path);
    ruling.beside = beside.iter().filter_map(|other| neighbour(&tree, path, other)).collect();
    let ask = |changes: &[Alteration]| {
        let edits = edits(scene.corpus(), changes)?;
        Some(verdict(&scene.think(&edits).ok()?, path))
    };
    let tried = match ruling.verdict.as_str() {
        LEFT => guarded,
        _ => to_stay(thought, entry, scene.corpus(), &beside),
    };
    ruling.flips = search(&tried, &ruling.verdict, ask);
    if !ruling.acts && ruling.flips.is_empty() {
        ruling.flips = alike(scene, entry, &beside, &ask);
    }
    if !ruling.acts
        && let Some(certificate) = &ruling.certificate
    {
        ruling.flips.extend(certificates::flips(certificate, "merged"));
    }
    if ruling.flips.is_empty() {
        let other_kind = ruling.checks.iter().find(|check| check.name == "kind" && !check.holds);
        let none = if beside.is_empty() { "no entry of its kind is near it" } else { NONE_FOUND };
        ruling.no_flip = Some(other_kind.map_or(none, |check| &check.why).to_owned());
    }
    Ok(ruling)
}

fn nearest(tree: &Tree, path: &str) -> Vec<Beside> {
    let mut finder = Finder::new(tree);
    finder.find(tree, None);
    finder.nearest(tree, path, SHOWN_MAX)
}

/// What becomes of the entry: the night's plan says.
fn verdict(thought: &Thought, path: &str) -> String {
    for merge in &thought.plan.report.merges {
        if merge.survivor == path {
            let members: Vec<&str> = merge.members.iter().map(|one| one.path.as_str()).collect();
            return format!("takes in {}", members.join(", "));
        }
        if merge.members.iter().any(|member| member.path == path) {
            return format!("merged into {}", merge.survivor);
        }
    }
    LEFT.to_owned()
}

fn why(thought: &Thought, path: &str, ruling: &Ruling, beside: &[Beside]) -> String {
    let report = &thought.plan.report;
    if let Some(merge) = report.merges.iter().find(|merge| {
        merge.survivor == path || merge.members.iter().any(|member| member.path == path)
    }) {
        return merge.reason.clone();
    }
    if let Some(check) = ruling.checks.iter().find(|check| !check.holds) {
        return check.why.clone();
    }
    let kept = report.kept.iter().find(|kept| kept.path == path && kept.certificate.is_some());
    if let Some(kept) = kept {
        return kept.why.clone();
    }
    match beside.first() {
        None => "nothing of its kind shares a word with it".into(),
        Some(nearest) => {
            let against = nearest.checks.iter().find(|check| !check.holds);
            let against = against.map_or("it is a copy of others too", |check| check.why.as_str());
            format!("the nearest is {}: {against}", nearest.path)
        }
    }
}

fn certificate(thought: &Thought, path: &str) -> Option<ao_contract::Certificate> {
    let report = &thought.plan.report;
    let members = report.merges.iter().flat_map(|merge| &merge.members);
    let made = members.into_iter().find(|member| member.path == path);
    let made = made.map(|member| member.certificate.clone());
    let taken = || {
        let merge = report.merges.iter().find(|merge| merge.survivor == path)?;
        Some(merge.members.first()?.certificate.clone())
    };
    let is_merge = |kept: &&ao_contract::DefragKept| {
        kept.path == path && kept.why.starts_with("not merged into")
    };
    let refused = || report.kept.iter().find(is_merge)?.certificate.clone();
    made.or_else(taken).or_else(refused)
}

fn neighbour(tree: &Tree, path: &str, other: &Beside) -> Option<Neighbour> {
    let own = Rank::of(tree.entry(path)?.as_ref());
    let points = own.points().into_iter().zip(other.rank.points());
    let rank = points.map(|((name, ours), (_, theirs))| (name, ours, theirs)).collect();
    Some(Neighbour { path: other.path.clone(), checks: other.checks.clone(), rank })
}

/// What keeps the entry from being compared, taken away.
fn barred(entry: &Entry) -> Vec<Alteration> {
    let keys = ["pinned", "superseded_by", "promoted_to", "superseded"];
    let is_barred = |key: &&&str| match **key {
        "pinned" => entry.document.is_pinned(),
        key => entry.document.has(key),
    };
    keys.iter().filter(is_barred).map(|key| Alteration::remove(&entry.path, key)).collect()
}

/// What could keep a merge from being made, or make it the other way round.
fn to_stay(
    thought: &Thought,
    entry: &Entry,
    corpus: &Corpus,
    beside: &[Beside],
) -> Vec<Alteration> {
    let path = entry.path.as_str();
    let other = partner(thought, path, beside).and_then(|path| corpus.get(&path));
    let mut tried = Vec::new();
    if let Some(other) = other {
        let step = 1.0 / UTILITY_PARTS;
        let theirs = other.document.utility();
        let is_member = thought.plan.report.merges.iter().all(|merge| merge.survivor != path);
        let value = if is_member { theirs + step } else { theirs - step };
        let value = (value * UTILITY_PARTS).round() / UTILITY_PARTS;
        if (0.0..=1.0).contains(&value) {
            tried.push(Alteration::set(path, "utility", value));
        }
    }
    tried.extend(other_number(entry));
    tried.extend(other.and_then(|other| own_words(entry, other)));
    tried.push(Alteration::set(path, "pinned", json!(true)));
    tried
}

fn partner(thought: &Thought, path: &str, beside: &[Beside]) -> Option<String> {
    for merge in &thought.plan.report.merges {
        if merge.survivor == path {
            return merge.members.first().map(|member| member.path.clone());
        }
        if merge.members.iter().any(|member| member.path == path) {
            return Some(merge.survivor.clone());
        }
    }
    beside.first().map(|other| other.path.clone())
}

/// The first number of the text, one greater.
fn other_number(entry: &Entry) -> Option<Alteration> {
    let body = entry.document.body();
    let is_number =
        |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let word = body.split_whitespace().find(is_number)?;
    let next = (word.parse::<u64>().ok()?).checked_add(1)?.to_string();
    let from = word.as_ptr() as usize - body.as_ptr() as usize;
    Some(Alteration::replace_at(&entry.path, body, from..from + word.len(), &next))
}

/// As few words as it takes, which no other text has.
fn own_words(entry: &Entry, other: &Entry) -> Option<Alteration> {
    const SYLLABLES: [&str; 8] = ["zu", "ki", "vo", "ra", "ne", "pi", "lo", "ta"];
    let mut text = String::new();
    for count in 1..=OWN_WORDS_MAX {
        let syllable = |shift: usize| SYLLABLES[(count >> shift) & 7];
        let _ = write!(text, "{}{}{}x ", syllable(0), syllable(3), syllable(6));
        let bytes = format!("{}\n\n{text}\n", entry.document.body());
        let longer = Entry::parse(&entry.path, || Ok(bytes.into_bytes()))?.ok()?;
        if !likeness(&longer, other).is_copy() {
            let what = format!("{count} more words that {} has not", other.path);
            return Some(Alteration::append(&entry.path, text.trim_end(), &what));
        }
    }
    None
}

/// What could make it a copy of the nearest.
fn alike(
    scene: &Scene,
    entry: &Entry,
    beside: &[Beside],
    ask: &impl Fn(&[Alteration]) -> Option<String>,
) -> Vec<Flip> {
    let Some(nearest) = beside.first() else { return Vec::new() };
    let fails = |name: &str| nearest.checks.iter().any(|check| check.name == name && !check.holds);
    if nearest.likeness.is_copy() {
        return same_claims(scene, entry, nearest, ask).into_iter().collect();
    }
    // Were they nearer, these would still speak against it.
    if fails("claims") {
        return Vec::new();
    }
    let mut nearer = nearest.likeness;
    let mut changes = Vec::new();
    for bound in nearest.likeness.bounds().into_iter().filter(|bound| !bound.holds()) {
        match bound.name {
            "stems" => nearer.stems = bound.bound,
            "pairs" => nearer.pairs = bound.bound,
            _ => return Vec::new(),
        }
        let found = (bound.value * UTILITY_PARTS).round() / UTILITY_PARTS;
        let name = format!("{} in common with {}", bound.name, nearest.path);
        changes.push(Alteration::value(&name, &bound.bound, &found));
    }
    let flip = Flip { changes, verdict: NEAR_ENOUGH.into(), checked: Checked::Rule };
    if nearer.is_copy() { vec![flip] } else { Vec::new() }
}

/// Makes the two say the same where their claims part, until they are merged.
fn same_claims(
    scene: &Scene,
    entry: &Entry,
    nearest: &Beside,
    ask: &impl Fn(&[Alteration]) -> Option<String>,
) -> Option<Flip> {
    let mut changes: Vec<Alteration> = Vec::new();
    let mut difference = nearest.difference.clone();
    for _ in 0..PUT_RIGHT_MAX {
        let corpus = scene.with(&edits(scene.corpus(), &changes)?);
        let here = |path: &str| corpus.get(path).map(Arc::clone);
        let (ours, theirs) = (here(&entry.path)?, here(&nearest.path)?);
        changes.push(put_right(&difference?, &ours, &theirs)?);
        if let Some(verdict) = ask(&changes).filter(|verdict| verdict != LEFT) {
            return Some(Flip { changes, verdict, checked: Checked::Night });
        }
        let tree = Tree::of(scene.with(&edits(scene.corpus(), &changes)?));
        let again = nearest_of(&tree, &entry.path, &nearest.path)?;
        difference = again.difference;
    }
    None
}

fn nearest_of(tree: &Tree, path: &str, other: &str) -> Option<Beside> {
    nearest(tree, path).into_iter().find(|beside| beside.path == other)
}

fn put_right(difference: &Difference, ours: &Entry, theirs: &Entry) -> Option<Alteration> {
    let place = |entry: &Entry, words: &[String]| Difference::place(entry.document.body(), words);
    let replace = |entry: &Entry, place, new: &str| {
        Some(Alteration::replace_at(&entry.path, entry.document.body(), place, new))
    };
    let new = theirs.document.body();
    match (place(ours, &difference.ours), place(theirs, &difference.theirs)) {
        (Some(old), Some(at)) => replace(ours, old, &new[at]),
        // Only one of them says it.
        (Some(old), None) => replace(ours, old, ""),
        (None, Some(old)) => replace(theirs, old, ""),
        (None, None) => None,
    }
}
