//! One entry of another repository: whether it is taken, and what it is here.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use ao_contract::{Extra, Harvested, Maturity, Sign, Taken, TakenFrom, Trust, Unit};
use ao_tree::Edit;
use jiff::civil::Date;

use super::source::{Source, SourceForm, is_fixture};
use super::{GROUP, Settings, drafted};
use crate::anew::{judge_anew, named};
use crate::corpus::{Entry, Kind};
use crate::document::{Document, Draft, Form, day};
use crate::names::{Names, slug};
use crate::promote::text_hash;
use crate::secrets::looks_secret;
use crate::taken::Ledger;
use crate::trust::{self, TRUST};

/// Of an entry that does not say.
const CONFIDENCE_UNSAID: f64 = 0.5;
/// What the other repository's own judgement adds.
const ESTABLISHED: f64 = 0.1;
const PROVISIONAL: f64 = -0.1;

/// What was said elsewhere is kept under names that begin so.
const ELSEWHERE: &str = "harvest";
/// Where what waits for a person is put.
const PENDING: &str = "knowledge/pending";

/// The key that says which text an entry was made of.
pub(crate) const HASH: &str = "harvest_hash";

/// Decides on entries one after the other, and remembers what it took.
pub(super) struct Taker<'a> {
    pub(super) known: HashMap<String, Option<String>>,
    pub(super) ids: BTreeSet<String>,
    pub(super) names: Names<'a>,
    pub(super) ledger: &'a mut Ledger,
    pub(super) settings: &'a Settings<'a>,
    pub(super) today: Option<Date>,
}

/// Why an entry is not taken.
#[derive(Debug)]
pub(super) enum Skip {
    /// As is to be expected: it is here already, or its turn comes later.
    Usual(String),
    /// It is not fit to be.
    Unfit(String),
    /// It was written to steer whoever reads it.
    Poisoned(Trust, Vec<Sign>),
}

impl From<String> for Skip {
    fn from(why: String) -> Self {
        Self::Unfit(why)
    }
}

impl Taker<'_> {
    /// The entry as it will be here, or why it is not taken.
    pub(super) fn take(
        &mut self,
        source: &Source,
        entry: &Entry,
    ) -> Result<(Edit, Harvested), Skip> {
        refuse(entry)?;
        if source.form == SourceForm::Corpus {
            return self.take_as(source, entry, entry, Vec::new());
        }
        let (lowered, unkept) = drafted::lowered(entry, self.today)?;
        self.take_as(source, entry, &lowered, unkept)
    }

    /// `entry` is what is taken of `theirs`.
    fn take_as(
        &mut self,
        source: &Source,
        theirs: &Entry,
        entry: &Entry,
        unkept: Vec<String>,
    ) -> Result<(Edit, Harvested), Skip> {
        let hash = text_hash(&entry.document).ok_or_else(|| "it is empty".to_owned())?;
        if let Some(here) = self.ledger.entry(TakenFrom::Harvest, &hash) {
            return Err(Skip::Usual(format!("it was taken before, as {here}")));
        }
        if let Some(here) = self.known.get(&hash) {
            let here = here.as_deref().unwrap_or("an entry that was promoted");
            return Err(Skip::Usual(format!("{here} says the same, word for word")));
        }
        let is_own = source.is_own || ao_mutant::active("GRD-07/every-repository-is-ones-own");
        let most = if is_own { trust::UNSAID } else { trust::MARK };
        let trust = trust::of_header(&entry.document).unwrap_or(trust::UNSAID).min(most);
        let signs = trust::signs(theirs);
        if !signs.is_empty() {
            return Err(Skip::Poisoned(trust, signs));
        }
        let confidence = confidence(&entry.document);
        let min = self.settings.min_confidence;
        if confidence < min {
            return Err(format!("its confidence is {confidence}, and {min} is needed").into());
        }
        let original_path = source.original(&theirs.path);
        let origin = format!("{}:{original_path}", source.repo);
        if self.settings.except.contains(&origin) {
            return Err(Skip::Unfit("it cannot be written here".into()));
        }
        let stem = self.stem(entry)?;
        let waits = !is_own || trust < self.settings.promote_at;
        let is_line = entry.document.form() == Form::JsonLine;
        if waits && is_line {
            return Err(Skip::Unfit(format!(
                "its trust is {trust}, so it would wait for a person, and only Markdown can wait; name the repository \
                 in `trust.sources` if it is your own"
            )));
        }
        let mut draft = self.draft(source, entry, &original_path, &hash, confidence);
        lower(&mut draft, &entry.document, trust, waits);
        let draft = draft.finish().map_err(|error| error.to_string())?;
        let (folder, ending) = match (waits, is_line) {
            (true, _) => (PENDING, "md"),
            (false, true) => ("learnings", "jsonl"),
            (false, false) => ("learnings", "md"),
        };
        let path = self.names.unique(folder, &stem, ending, &hash);
        let mut reason = format!("harvested from {}, with confidence {confidence}", source.repo);
        if waits {
            let _ = write!(reason, "; it waits for a person, its trust is {trust}");
        }
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
            sources: Vec::new(),
            extra: Extra::new(),
        });
        let harvested = Harvested {
            path,
            repo: source.repo.clone(),
            original_path,
            confidence: Unit::nearest(confidence),
            hash,
            trust: Some(trust),
            unkept,
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
        original_path: &str,
        hash: &str,
        confidence: f64,
    ) -> Draft {
        let document = &entry.document;
        let mut draft = document.draft();
        judge_anew(&mut draft, document, ELSEWHERE);
        // Two entries of one id would take each other's references.
        if let Some(id) = document.text("id").filter(|id| self.ids.contains(id.as_ref())) {
            draft
                .set(&named(ELSEWHERE, "id"), id.as_ref())
                .set("id", format!("{}-{id}", source.repo));
        }
        if let Some(date) = entry.date().filter(|_| !document.has("date")) {
            draft.set("date", date.to_string());
        }
        draft.set("harvested_from", source.repo.as_str());
        if !ao_mutant::active("LOOP-24/original-is-unsaid") {
            draft.set("original_path", original_path);
        }
        draft
            .set("harvest_confidence", confidence)
            .set(HASH, hash)
            .set("harvested_at", self.settings.now);
        draft
    }
}

/// Trust that was earned elsewhere is not earned here.
fn lower(draft: &mut Draft, document: &Document, trust: Trust, waits: bool) {
    let said = document.text(TRUST).map(|word| Trust::of_word(&word));
    if said.is_some_and(|said| said > trust) || said.is_none() && trust < trust::UNSAID {
        draft.set(TRUST, trust.name());
    }
    // A pending learning was never promoted.
    for key in ["promoted_from", "promoted_at"] {
        if let Some(value) = document.get(key).filter(|_| waits) {
            draft.remove(key).set(&named(ELSEWHERE, key), value.into_owned());
        }
    }
}

/// What is not taken, whatever it says.
fn refuse(entry: &Entry) -> Result<(), String> {
    let document = &entry.document;
    if let Some(doubt) = document.doubt() {
        return Err(format!("it cannot be read beyond doubt: {doubt}"));
    }
    let mut folders = entry.path.split('/').rev().skip(1);
    if let Some(name) = folders.find(|name| is_fixture(name)) {
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
    let is_over = document.is_resolved() || document.has("retired_by");
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
