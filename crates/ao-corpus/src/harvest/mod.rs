//! Knowledge of other repositories, brought into this one with where it comes from.
//!
//! What is taken is decided by published rules, entry by entry. A text is taken once: the ledger
//! remembers it, also when the entry it became is merged, edited or gone.

mod source;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use ao_contract::{
    ChangeStatus, Extra, Harvest, HarvestSource, Harvested, LeftAlone, Maturity, SchemaVersion,
    Taken, TakenFrom, Unit,
};
use ao_tree::{Edit, shown};
use jiff::civil::Date;
use serde_json::Value;

use crate::corpus::{Corpus, Entry, Kind};
use crate::document::{Document, Form, day};
use crate::names::{Names, slug};
use crate::promote::{known_texts, text_hash};
use crate::propose::Group;
use crate::secrets::looks_secret;
use crate::taken::Ledger;
use crate::whereabouts::Whereabouts;

pub use source::{Own, Source, find, hub};

/// What is read of another corpus.
const FOLDERS: [&str; 3] = ["learnings", "patterns", "findings"];

/// Under this an entry is not taken.
pub const MIN_CONFIDENCE: f64 = 0.3;
/// Of an entry that does not say.
const CONFIDENCE_UNSAID: f64 = 0.5;
/// What the other repository's own judgement adds.
const ESTABLISHED: f64 = 0.1;
const PROVISIONAL: f64 = -0.1;

/// Judgements that were made elsewhere: kept under other names, and made anew here.
const JUDGED: [&str; 8] = [
    "utility",
    "maturity",
    "reward_count",
    "helpful_count",
    "harmful_count",
    "last_reward",
    "last_reward_at",
    "merged_from",
];
/// Marks that mean something only where they were made.
const LOCAL: [&str; 3] = ["pinned", "last_decay_at", "decay_count"];

#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// RFC 3339, UTC.
    pub now: &'a str,
    pub min_confidence: f64,
    /// Paths that the door would not let change.
    pub except: BTreeSet<String>,
}

/// What harvesting would change, and why.
#[derive(Debug)]
pub struct Harvesting {
    pub edits: Vec<Edit>,
    sources: Vec<HarvestSource>,
    harvested: Vec<Harvested>,
    skipped: Vec<LeftAlone>,
    min_confidence: f64,
}

/// Looks at other corpora and takes what is new. `corpus` is this repository's, with the folders of
/// [`crate::CLOSED`], and `ledger` of the same tree.
pub fn harvest(
    corpus: &Corpus,
    sources: &[Source],
    mut ledger: Ledger,
    settings: &Settings<'_>,
) -> Harvesting {
    let today = Whereabouts::of(corpus);
    let mut known = known_texts(corpus, &today);
    for entry in &corpus.entries {
        hashes(&Value::Object(entry.document.fields().clone()), &mut |hash| {
            known.entry(hash.to_owned()).or_insert_with(|| Some(entry.path.clone()));
        });
    }
    let taker = &mut Taker {
        known,
        ids: corpus
            .entries
            .iter()
            .filter_map(|e| Some(e.document.text("id")?.into_owned()))
            .collect(),
        names: Names::of(corpus, &today),
        ledger: &mut ledger,
        settings,
        today: day(settings.now),
    };
    let mut found = Harvesting {
        edits: Vec::new(),
        sources: Vec::new(),
        harvested: Vec::new(),
        skipped: Vec::new(),
        min_confidence: settings.min_confidence,
    };
    let mut seen = BTreeSet::new();
    for source in sources {
        if seen.insert(&source.agents) {
            found.look(source, taker);
        }
    }
    found.edits.extend(ledger.edits(GROUP));
    found
}

/// Entries and what is written down of them.
const GROUP: Group<'_> = Group("harvest");
/// The key that says which text an entry was made of.
const HASH: &str = "harvest_hash";

impl Harvesting {
    fn look(&mut self, source: &Source, taker: &mut Taker<'_>) {
        let mut told = HarvestSource {
            repo: source.repo.clone(),
            path: source.shown.clone(),
            entries: 0,
            harvested: 0,
            refused: source.refused.clone(),
            extra: Extra::new(),
        };
        if source.refused.is_none() {
            match read(&source.agents) {
                Ok(other) => self.take(source, &other, taker, &mut told),
                Err(why) => told.refused = Some(why),
            }
        }
        self.sources.push(told);
    }

    fn take(
        &mut self,
        source: &Source,
        other: &Corpus,
        taker: &mut Taker<'_>,
        told: &mut HarvestSource,
    ) {
        let name = |path: &str| format!("{}:.agents/{path}", source.repo);
        // Entries in doubt are among the entries too.
        for left in other.left.iter().filter(|left| other.get(&left.path).is_none()) {
            self.skip(name(&left.path), left.why.clone());
        }
        told.entries = other.entries.len() as u64;
        for entry in &other.entries {
            match taker.take(source, entry) {
                Ok((edit, harvested)) => {
                    told.harvested += 1;
                    self.edits.push(edit);
                    self.harvested.push(harvested);
                }
                Err(why) => self.skip(name(&shown(&entry.path)), why),
            }
        }
    }

    fn skip(&mut self, path: String, why: String) {
        self.skipped.push(LeftAlone { path, why, extra: Extra::new() });
    }

    /// The result as it is published, once it is known what became of the edits.
    pub fn report(&self, status: ChangeStatus, id: Option<String>) -> Harvest {
        Harvest {
            schema_version: SchemaVersion,
            status,
            id,
            min_confidence: Unit::nearest(self.min_confidence),
            sources: self.sources.clone(),
            harvested: self.harvested.clone(),
            skipped: self.skipped.clone(),
            extra: Extra::new(),
        }
    }
}

/// Every hash of a harvested text that a header holds, also in what a merge kept of another entry:
/// whoever lost the ledger still knows these.
fn hashes(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(hash) if key == HASH => found(hash),
                    _ => hashes(value, found),
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                hashes(item, found);
            }
        }
        _ => {}
    }
}

/// Another corpus, in one generation of it.
fn read(agents: &Path) -> Result<Corpus, String> {
    let _readers = ao_tree::share(&agents.join("overnight")).map_err(|error| error.to_string())?;
    Corpus::read(agents, &FOLDERS).map_err(|error| error.to_string())
}

struct Taker<'a> {
    known: HashMap<String, Option<String>>,
    ids: BTreeSet<String>,
    names: Names<'a>,
    ledger: &'a mut Ledger,
    settings: &'a Settings<'a>,
    today: Option<Date>,
}

impl Taker<'_> {
    /// The entry as it will be here, or why it is not taken.
    fn take(&mut self, source: &Source, entry: &Entry) -> Result<(Edit, Harvested), String> {
        refuse(entry)?;
        let hash = text_hash(&entry.document).ok_or("it is empty")?;
        if let Some(here) = self.ledger.entry(TakenFrom::Harvest, &hash) {
            return Err(format!("it was taken before, as {here}"));
        }
        if let Some(here) = self.known.get(&hash) {
            let here = here.as_deref().unwrap_or("an entry that was promoted");
            return Err(format!("{here} says the same, word for word"));
        }
        let confidence = confidence(&entry.document);
        let min = self.settings.min_confidence;
        if confidence < min {
            return Err(format!("its confidence is {confidence}, and {min} is needed"));
        }
        let origin = format!("{}:.agents/{}", source.repo, entry.path);
        if self.settings.except.contains(&origin) {
            return Err("it cannot be written here".into());
        }
        let stem = self.stem(entry)?;
        let draft = self.draft(source, entry, &hash, confidence)?;
        let ending = if entry.document.form() == Form::JsonLine { "jsonl" } else { "md" };
        let path = self.names.unique("learnings", &stem, ending, &hash);
        let reason = format!("harvested from {}, with confidence {confidence}", source.repo);
        let edit = GROUP.add(&path, draft.bytes(), &reason, &[&origin]);
        self.known.insert(hash.clone(), Some(path.clone()));
        self.ids.extend(draft.text("id").map(String::from));
        self.ledger.add(Taken {
            key: hash.clone(),
            from: TakenFrom::Harvest,
            entry: path.clone(),
            at: self.settings.now.to_owned(),
            reward: None,
            origin: Some(origin),
            extra: Extra::new(),
        });
        let harvested = Harvested {
            path,
            repo: source.repo.clone(),
            original_path: format!(".agents/{}", entry.path),
            confidence: Unit::nearest(confidence),
            hash,
            extra: Extra::new(),
        };
        Ok((edit, harvested))
    }

    /// `YYYY-MM-DD-slug`, as far as possible the name it had.
    fn stem(&self, entry: &Entry) -> Result<String, String> {
        if day(entry.stem()).is_some() && slug(entry.stem(), "") == entry.stem() {
            return Ok(entry.stem().to_owned());
        }
        let date = entry.date().or(self.today).ok_or("no day is known for its name")?;
        let rest = entry.stem().strip_prefix(&date.to_string()).unwrap_or(entry.stem());
        Ok(format!("{date}-{}", slug(rest, "learning")))
    }

    fn draft(
        &self,
        source: &Source,
        entry: &Entry,
        hash: &str,
        confidence: f64,
    ) -> Result<Document, String> {
        let document = &entry.document;
        let mut draft = document.draft();
        for key in JUDGED {
            if let Some(value) = document.fields().get(key) {
                draft.remove(key).set(&format!("harvest_{key}"), value.clone());
            }
        }
        for key in LOCAL {
            draft.remove(key);
        }
        // Two entries of one id would take each other's references.
        if let Some(id) = document.text("id").filter(|id| self.ids.contains(id.as_ref())) {
            draft.set("harvest_id", id.as_ref()).set("id", format!("{}-{id}", source.repo));
        }
        if let Some(date) = entry.date().filter(|_| document.field("date").is_none()) {
            draft.set("date", date.to_string());
        }
        draft
            .set("maturity", "provisional")
            .set("harvested_from", source.repo.as_str())
            .set("original_path", format!(".agents/{}", entry.path))
            .set("harvest_confidence", confidence)
            .set(HASH, hash)
            .set("harvested_at", self.settings.now);
        draft.finish().map_err(|error| error.to_string())
    }
}

/// What is not taken, whatever it says.
fn refuse(entry: &Entry) -> Result<(), String> {
    let document = &entry.document;
    if let Some(doubt) = document.doubt() {
        return Err(format!("it cannot be read beyond doubt: {doubt}"));
    }
    let mut folders = entry.path.split('/').rev().skip(1);
    if let Some(name) = folders.find(|name| source::is_fixture(name)) {
        return Err(format!("it is in a folder called {name}"));
    }
    let is = |key: &str, word: &str| {
        document.text(key).is_some_and(|text| text.trim().eq_ignore_ascii_case(word))
    };
    if document.is_hidden() {
        return Err("another entry took its place there".into());
    }
    if is("stability", "experimental") {
        return Err("it is experimental".into());
    }
    if document.maturity() == Some(Maturity::AntiPattern) {
        return Err("it is an anti-pattern there".into());
    }
    let is_over = document.is_resolved() || document.field("retired_by").is_some();
    if entry.kind == Kind::Finding && is_over {
        return Err("it is a finding that is dealt with".into());
    }
    let text = String::from_utf8_lossy(document.bytes());
    match looks_secret(&text) {
        Some(what) => Err(format!("it seems to hold {what}")),
        None => Ok(()),
    }
}

/// How far an entry is trusted here: halfway between how sure its author was and how much it
/// helped there, and a little more or less by how far it had come.
fn confidence(document: &Document) -> f64 {
    let sure = document.confidence().unwrap_or(CONFIDENCE_UNSAID);
    let come = match document.maturity() {
        Some(Maturity::Established) => ESTABLISHED,
        Some(Maturity::Provisional) => PROVISIONAL,
        _ => 0.0,
    };
    let sum = f64::midpoint(sure, document.utility()) + come;
    (sum.clamp(0.0, 1.0) * 1000.0).round() / 1000.0
}
