//! Knowledge of other repositories, brought into this one with where it comes from.
//!
//! What is taken is decided by published rules, entry by entry. A text is taken once: the ledger
//! remembers it, also when the entry it became is merged, edited or gone.

mod drafted;
mod source;
mod take;

use std::collections::BTreeSet;
use std::path::Path;

use ao_contract::{
    ChangeStatus, Extra, Harvest, HarvestSource, Harvested, LeftAlone, Poisoned, SchemaVersion,
    Trust, Unit,
};
use ao_tree::{Edit, shown};
use serde_json::Value;

use crate::corpus::Corpus;
use crate::document::day;
use crate::names::Names;
use crate::promote::known_texts;
use crate::propose::Group;
use crate::taken::Ledger;
use crate::trust;
use crate::whereabouts::Whereabouts;
pub(crate) use take::HASH;
use take::{Skip, Taker};

pub use source::{Own, Source, SourceForm, drafts, find, hub, missing};

/// What is read of another corpus.
const FOLDERS: [&str; 3] = ["learnings", "patterns", "findings"];

/// Under this an entry is not taken.
pub const MIN_CONFIDENCE: f64 = 0.3;
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// RFC 3339, UTC.
    pub now: &'a str,
    pub min_confidence: f64,
    /// Paths that the door would not let change.
    pub except: BTreeSet<String>,
    /// No more than so many at once; the rest is for the next time.
    pub limit: usize,
    /// What is trusted less waits for a person.
    pub promote_at: Trust,
}

/// What harvesting would change, and why.
#[derive(Debug)]
pub struct Harvesting {
    pub edits: Vec<Edit>,
    sources: Vec<HarvestSource>,
    harvested: Vec<Harvested>,
    skipped: Vec<LeftAlone>,
    /// Those of them that are not fit to be taken.
    unfit: Vec<LeftAlone>,
    poisoned: Vec<Poisoned>,
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
        hashes(&Value::Object(entry.document.fields().into_owned()), &mut |hash| {
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
        unfit: Vec::new(),
        poisoned: Vec::new(),
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
            match read(source) {
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
        let name = |path: &str| format!("{}:{}", source.repo, source.original(path));
        // Entries in doubt are among the entries too.
        for left in other.left.iter().filter(|left| other.get(&left.path).is_none()) {
            self.skip(name(&left.path), Skip::Unfit(left.why.clone()));
        }
        told.entries = other.entries.len() as u64;
        for entry in &other.entries {
            if self.harvested.len() >= taker.settings.limit {
                let why = Skip::Usual("left for the next time".into());
                self.skip(name(&shown(&entry.path)), why);
                continue;
            }
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

    fn skip(&mut self, path: String, why: Skip) {
        let of = |why: String| LeftAlone { path, why, extra: Extra::new() };
        match why {
            Skip::Usual(why) => self.skipped.push(of(why)),
            Skip::Unfit(why) => {
                let left = of(why);
                self.unfit.push(left.clone());
                self.skipped.push(left);
            }
            Skip::Poisoned(trust, signs) => {
                let left = of(format!("it has signs of poison: {}", trust::told(&signs)));
                let path = left.path.clone();
                self.poisoned.push(Poisoned { path, trust, signs, extra: Extra::new() });
                self.unfit.push(left.clone());
                self.skipped.push(left);
            }
        }
    }

    /// What is not fit to be taken. What is here already is not among it.
    pub fn unfit(&self) -> &[LeftAlone] {
        &self.unfit
    }

    /// Takes back what is told of edits that were not made; all of a harvest are one group.
    pub fn hold_back(&mut self, paths: &BTreeSet<String>) {
        if self.edits.iter().any(|edit| paths.contains(&edit.path)) {
            self.harvested.clear();
            for source in &mut self.sources {
                source.harvested = 0;
            }
        }
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
            poisoned: self.poisoned.clone(),
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
fn read(source: &Source) -> Result<Corpus, String> {
    let agents: &Path = &source.agents;
    if let SourceForm::Drafts(folder) = &source.form {
        return Corpus::read_learnings(agents, folder).map_err(|error| error.to_string());
    }
    let _readers = ao_tree::share(&agents.join("overnight")).map_err(|error| error.to_string())?;
    Corpus::read(agents, &FOLDERS).map_err(|error| error.to_string())
}
