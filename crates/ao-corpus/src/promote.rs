//! Pending learnings: promoted, recognised as known, or kept with the reason.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use ao_contract::{Extra, PendingVerdict, Promotion, Trust, Unit};
use ao_tree::Edit;
use jiff::civil::Date;

use crate::anew;
use crate::check::Check;
use crate::corpus::{Corpus, Entry, Kind};
use crate::document::{Document, Draft};
use crate::names::{Names, slug};
use crate::pending::{self, Wanting};
use crate::propose::Group;
use crate::signals::{PROMOTE_AT, labelled};
use crate::trust::{self, Judged};
use crate::whereabouts::Whereabouts;

const PENDING: &str = "knowledge/pending/";
const PROCESSED: &str = "knowledge/processed";
/// What a pending learning says of itself is kept under names that begin so.
const ELSEWHERE: &str = "pending";

/// What the promoting is told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'a> {
    /// RFC 3339.
    pub(crate) now: &'a str,
    /// The day that ages are counted from.
    pub(crate) day: Date,
    /// The day of a learning that says none: the corpus's newest, so that it makes no other one old.
    pub(crate) undated: Option<Date>,
    /// How old a pending learning must be.
    pub(crate) min_age: Duration,
    /// Files that cannot be changed now.
    pub(crate) except: &'a BTreeSet<String>,
    pub(crate) trust: &'a trust::Told,
    /// Of this one everything is asked, also what comes after a refusal.
    pub(crate) watched: Option<&'a str>,
}

#[derive(Debug, Default)]
pub(crate) struct Promoted {
    pub(crate) edits: Vec<Edit>,
    pub(crate) verdicts: Vec<PendingVerdict>,
    /// All that was asked of the one that is watched.
    pub(crate) watched: Vec<Check>,
}

/// The text of an entry, whatever its header says and however its lines end.
pub(crate) fn text_hash(document: &Document) -> Option<String> {
    let lines: Vec<&str> = document.body().lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| blake3::hash(text.as_bytes()).to_hex().to_string())
}

/// Every text that the corpus has, or had before it was promoted, with the path of the entry.
pub(crate) fn known_texts(
    corpus: &Corpus,
    today: &Whereabouts<'_>,
) -> HashMap<String, Option<String>> {
    let mut known = HashMap::new();
    for entry in &corpus.entries {
        let path = match entry.kind {
            Kind::Learning | Kind::Finding | Kind::Pattern => Some(entry.path.clone()),
            Kind::Processed => today
                .resolve(&entry.path)
                .filter(|now| now.kind != Kind::Processed)
                .map(|now| now.path.clone()),
            _ => continue,
        };
        if let Some(hash) = text_hash(&entry.document) {
            let there = known.entry(hash).or_insert_with(|| path.clone());
            if there.is_none() {
                *there = path;
            }
        }
    }
    known
}

pub(crate) fn promote(corpus: &Corpus, today: &Whereabouts<'_>, told: Told<'_>) -> Promoted {
    if !corpus.entries.iter().any(|entry| entry.kind == Kind::Pending) {
        // Every text of the corpus would be hashed for nobody.
        return Promoted::default();
    }
    let mut known = known_texts(corpus, today);
    let mut names = Names::of(corpus, today);
    let mut ids = taken_ids(corpus);
    let mut promoted = Promoted::default();
    for entry in corpus.entries.iter().filter(|entry| entry.kind == Kind::Pending) {
        let mut verdict = PendingVerdict {
            path: entry.path.clone(),
            verdict: Promotion::Kept,
            reason: String::new(),
            score: None,
            signals: Vec::new(),
            promoted_to: None,
            trust: None,
            trust_why: Vec::new(),
            signs: Vec::new(),
            waits_for_person: false,
            extra: Extra::new(),
        };
        let wanting = Wanting::new(entry, &known, told);
        if told.watched == Some(entry.path.as_str()) {
            promoted.watched = pending::ASKED.iter().map(|ask| ask(&wanting)).collect();
        }
        let looked = look(&wanting, &mut verdict);
        let trusted = &wanting.trusted().clone();
        let filed = match looked {
            Look::Kept(why) => Err(why),
            Look::Known(to) => file_as_known(entry, to, &mut names, &mut verdict),
            Look::Ready(hash) => {
                let taken = (&mut names, &mut ids);
                file_as_learning((entry, trusted), &hash, told, taken, &mut verdict)
                    .inspect(|_| drop(known.insert(hash.clone(), verdict.promoted_to.clone())))
            }
        };
        match filed {
            Ok(edits) => promoted.edits.extend(edits),
            Err(why) => {
                verdict.verdict = Promotion::Kept;
                verdict.reason = why;
                verdict.promoted_to = None;
                tell_waiting(trusted, told.trust.promote_at, &mut verdict);
            }
        }
        promoted.verdicts.push(verdict);
    }
    promoted
}

/// What leads to an entry that is no longer pending. A learning that came under one of these names as well would
/// take its references, and neither would be found by it.
fn taken_ids(corpus: &Corpus) -> BTreeSet<String> {
    let mut ids = BTreeSet::new();
    for entry in corpus.entries.iter().filter(|entry| entry.kind != Kind::Pending) {
        let document = &entry.document;
        ids.insert(entry.stem().to_owned());
        let said = document.text("id").into_iter().chain(document.texts("merged_from"));
        ids.extend(said.map(std::borrow::Cow::into_owned));
    }
    ids
}

/// Whatever else speaks against it: that it waits for a person is told.
fn tell_waiting(judged: &Judged, promote_at: Trust, verdict: &mut PendingVerdict) {
    verdict.trust = Some(judged.trust);
    if judged.waits(promote_at) {
        verdict.trust_why.clone_from(&judged.why);
        verdict.signs.clone_from(&judged.signs);
        verdict.waits_for_person = true;
    }
}

enum Look {
    Kept(String),
    Known(Option<String>),
    Ready(String),
}

/// Asks until something does not hold.
fn look(wanting: &Wanting<'_>, verdict: &mut PendingVerdict) -> Look {
    let refusal = pending::ASKED.iter().map(|ask| ask(wanting)).find(|check| !check.holds);
    if let Some(judged) = wanting.judged.get() {
        verdict.score = Some(Unit::nearest(judged.score));
        verdict.signals.clone_from(&judged.signals);
    }
    match (refusal, wanting.hash()) {
        (Some(check), _) if check.name == pending::NEW => {
            Look::Known(wanting.known().cloned().flatten())
        }
        (Some(check), _) => Look::Kept(check.why),
        (None, hash) => Look::Ready(hash.unwrap_or_default().to_owned()),
    }
}

/// The same words are here already: the file goes to the others that were promoted.
fn file_as_known(
    entry: &Entry,
    to: Option<String>,
    names: &mut Names<'_>,
    verdict: &mut PendingVerdict,
) -> Result<Vec<Edit>, String> {
    let says = match &to {
        Some(to) => format!("{to} says the same, word for word"),
        None => "it was processed before".to_owned(),
    };
    let mut draft = entry.document.draft();
    if let Some(to) = &to {
        draft.set("promoted_to", to.as_str());
    }
    let processed = draft.finish().map_err(|error| error.to_string())?;
    verdict.verdict = Promotion::Known;
    verdict.reason.clone_from(&says);
    verdict.promoted_to = to;
    Ok(file(entry, &processed, &says, names))
}

fn file_as_learning(
    (entry, judged): (&Entry, &Judged),
    hash: &str,
    told: Told<'_>,
    (names, ids): (&mut Names<'_>, &mut BTreeSet<String>),
    verdict: &mut PendingVerdict,
) -> Result<Vec<Edit>, String> {
    let document = &entry.document;
    let now = crate::document::day(told.now);
    let date = entry.date().or(told.undated).or(now).ok_or("no day is known for its name")?;
    let stem = format!("{date}-{}", slug(&entry.title(), "learning"));
    let mut draft = document.draft();
    anew::judge_anew(&mut draft, document, ELSEWHERE);
    let id = document.text("id");
    let is_taken = id.as_deref().is_some_and(|id| ids.contains(id));
    let give_up_id = |draft: &mut Draft| {
        if let Some(id) = id.as_deref().filter(|_| is_taken) {
            draft.remove("id").set(&anew::named(ELSEWHERE, "id"), id);
        }
    };
    give_up_id(&mut draft);
    let mut fill = |key: &str, value: Option<String>| {
        if let (false, Some(value)) = (document.has(key), value) {
            draft.set(key, value);
        }
    };
    fill("type", Some("learning".into()));
    fill("date", Some(date.to_string()));
    let sure = labelled(document.body(), "confidence").map(|word| word.to_lowercase());
    fill("confidence", sure.filter(|word| is_level(word)));
    fill("source_session", labelled(document.body(), "session"));
    // What stands here and says nothing is worth the same in its new place.
    if judged.trust != trust::UNSAID || document.has(trust::TRUST) {
        draft.set(trust::TRUST, judged.trust.name());
    }
    draft.set("promoted_from", entry.path.as_str()).set("promoted_at", told.now);
    let learning = draft.finish().map_err(|error| error.to_string())?;
    let path = names.unique("learnings", &stem, "md", hash);
    let mut processed = document.draft();
    processed.set("promoted_to", path.as_str());
    // It leads to the learning, and must not lead there by another's name.
    give_up_id(&mut processed);
    let processed = processed.finish().map_err(|error| error.to_string())?;
    let score = verdict.score.as_ref().map_or(0.0, Unit::get);
    verdict.verdict = Promotion::Promoted;
    verdict.trust = Some(judged.trust);
    verdict.promoted_to = Some(path.clone());
    let reason;
    (verdict.reason, reason) = if judged.is_vouched {
        ("a person vouched for it".to_owned(), "promoted: a person vouched for it".to_owned())
    } else {
        let why = format!("it scored {score}, and {PROMOTE_AT} is needed");
        let mark = if judged.trust < trust::UNSAID {
            format!(" as `{}`", judged.trust)
        } else {
            String::new()
        };
        (why, format!("promoted{mark}: it scored {score}"))
    };
    ids.extend(id.map(std::borrow::Cow::into_owned));
    let add = Group(&entry.path).add(&path, learning.bytes(), &reason, &[&entry.path]);
    let mut edits = vec![add];
    edits.extend(file(entry, &processed, &format!("promoted to {path}"), names));
    Ok(edits)
}

fn is_level(word: &str) -> bool {
    matches!(word, "high" | "medium" | "low")
}

/// From the pending ones to those that were seen to.
fn file(entry: &Entry, processed: &Document, why: &str, names: &mut Names<'_>) -> Vec<Edit> {
    let rest = entry.path.strip_prefix(PENDING).unwrap_or(entry.name());
    let (folder, name) = match rest.rsplit_once('/') {
        Some((folder, name)) => (format!("{PROCESSED}/{folder}"), name),
        None => (PROCESSED.to_owned(), rest),
    };
    let stem = name.strip_suffix(".md").unwrap_or(name);
    let hash = blake3::hash(processed.bytes()).to_hex();
    let path = names.unique_file(&folder, stem, "md", &hash);
    let group = Group(&entry.path);
    vec![
        group.add(&path, processed.bytes(), why, &[&entry.path]),
        group.delete(&entry.path, entry.document.bytes(), why, &[&path]),
    ]
}
