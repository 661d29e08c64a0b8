//! What recurs: statements that learnings of different sessions make, gathered around the one that the others agree
//! with most.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use ao_contract::Maturity;

use super::agree::Agreement;
use super::known::stems_of_text;
use super::meet::meet;
use super::page::is_citable;
use super::statement::{NOT, Statement, statements};
use super::trust;
use crate::corpus::{Entry, Kind};
use crate::duplicates::{Features, Likeness, features_of};
use crate::files::in_parallel;
use crate::spoken::spoken;
use crate::tree::Tree;

/// So many learnings that are independent of each other make a pattern.
pub const SOURCES_MIN: usize = 3;
/// So many are cited.
pub(super) const SOURCES_MAX: usize = 40;
/// Keys by which an entry names the session that it is from.
const SESSIONS: [&str; 4] = ["source_session", "session", "session_id", "source-session"];

/// A learning, as it is compared.
#[derive(Debug)]
pub(super) struct Voice {
    pub(super) entry: Arc<Entry>,
    pub(super) statements: Vec<Statement>,
    stems: OnceLock<Vec<u64>>,
    features: OnceLock<Features>,
}

impl Voice {
    /// An entry that says these things.
    pub(super) fn saying(entry: Arc<Entry>, statements: Vec<Statement>) -> Self {
        Self { entry, statements, stems: OnceLock::new(), features: OnceLock::new() }
    }

    pub(super) fn of(entry: Arc<Entry>) -> Self {
        let statements = statements(&entry);
        Self::saying(entry, statements)
    }

    fn features(&self) -> &Features {
        self.features.get_or_init(|| features_of(&self.entry))
    }

    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        Likeness::of(self.features(), other.features()).is_copy()
    }

    /// The stems of all that it says; few are ever asked for them.
    pub(super) fn stems(&self) -> &[u64] {
        self.stems.get_or_init(|| {
            let document = &self.entry.document;
            let title = document.text("title").unwrap_or_default();
            let summary = document.text("summary").unwrap_or_default();
            stems_of_text(&format!("{title} {summary} {}", spoken(&self.entry)))
        })
    }

    pub(super) fn path(&self) -> &str {
        &self.entry.path
    }
}

/// A statement and the learnings that make it.
#[derive(Debug)]
pub(super) struct Recurring {
    /// The learning whose words stand for all, and which of its statements.
    pub(super) medoid: (usize, usize),
    /// The others, each with the statement by which it agrees.
    pub(super) others: Vec<(usize, usize, Agreement)>,
}

impl Recurring {
    pub(super) fn voices(&self) -> impl Iterator<Item = usize> + '_ {
        self.statements().map(|(voice, _)| voice)
    }

    /// Who says it, each with the statement that does.
    pub(super) fn statements(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        std::iter::once(self.medoid).chain(self.others.iter().map(|(voice, at, _)| (*voice, *at)))
    }
}

/// Whether an entry may speak for a pattern; `Err` says why not.
pub(super) fn may_speak(entry: &Entry) -> Result<(), String> {
    let document = &entry.document;
    if entry.kind != Kind::Learning {
        return Err("it is no learning".into());
    }
    if !is_citable(&entry.path) {
        return Err("its name cannot stand in a page".into());
    }
    if document.doubt().is_some() {
        return Err("its header cannot be read beyond doubt".into());
    }
    if document.is_hidden() {
        return Err("another entry took its place".into());
    }
    if document.maturity() == Some(Maturity::AntiPattern) {
        return Err("it is an anti-pattern".into());
    }
    match trust::low(document) {
        Some(word) => Err(format!("its trust is `{word}`")),
        None => Ok(()),
    }
}

/// The learnings of a tree that may speak.
pub(super) fn voices(tree: &Tree) -> Vec<Voice> {
    let mut paths = tree.paths();
    paths.retain(|path| Kind::of(path) == Some(Kind::Learning));
    let read = |path: &String| {
        let entry = tree.entry(path).filter(|entry| may_speak(entry).is_ok())?;
        Some(Voice::of(entry)).filter(|voice| !voice.statements.is_empty())
    };
    in_parallel(&paths, read).into_iter().flatten().collect()
}

/// The session or day that an entry is from, where it says; two of the same are one voice.
fn origin(entry: &Entry) -> String {
    let document = &entry.document;
    let session = SESSIONS.iter().find_map(|key| document.text(key));
    match (session, entry.date()) {
        (Some(session), _) => format!("session {}", session.trim()),
        (None, Some(day)) => format!("day {day}"),
        (None, None) => entry.path.clone(),
    }
}

/// How many of these learnings are independent: of different sessions, and no copies of each other.
pub(super) fn independent(voices: &[&Voice]) -> usize {
    let mut groups: Vec<Vec<(String, &Voice)>> = Vec::new();
    for voice in voices {
        let from = origin(&voice.entry);
        let is_with = |group: &Vec<(String, &Voice)>| {
            group.iter().any(|(origin, one)| *origin == from || one.is_copy_of(voice))
        };
        // Whoever belongs to several groups makes them one.
        let (with, mut apart): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_with);
        let mut joined: Vec<(String, &Voice)> = with.into_iter().flatten().collect();
        joined.push((from, voice));
        apart.push(joined);
        groups = apart;
    }
    groups.len()
}

/// Who agrees with whom: by voice and statement, the others with theirs.
#[derive(Debug, Default)]
pub(super) struct Edges(BTreeMap<(usize, usize), BTreeMap<usize, (usize, Agreement)>>);

impl Edges {
    /// The first so many voices are learnings.
    pub(super) fn of(voices: &[&Voice], learnings: usize) -> Self {
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (voice, one) in voices.iter().enumerate() {
            places.extend((0..one.statements.len()).map(|at| (voice, at)));
        }
        let all: Vec<&Statement> =
            places.iter().map(|(voice, at)| &voices[*voice].statements[*at]).collect();
        let of_learnings = places.partition_point(|(voice, _)| *voice < learnings);
        let mut edges = Self::default();
        for (one, other) in meet(&all, of_learnings) {
            let (one, other) = (places[one as usize], places[other as usize]);
            if one.0 == other.0 {
                continue;
            }
            let agreement = agreement((voices[one.0], one.1), (voices[other.0], other.1));
            if agreement.holds() {
                edges.add(one, other, &agreement);
                edges.add(other, one, &agreement);
            }
        }
        edges
    }

    fn add(&mut self, from: (usize, usize), to: (usize, usize), agreement: &Agreement) {
        let known = self.0.entry(from).or_default();
        if known.get(&to.0).is_none_or(|(_, old)| agreement.of_both > old.of_both) {
            known.insert(to.0, (to.1, agreement.clone()));
        }
    }

    /// Who agrees with a statement.
    pub(super) fn with(
        &self,
        place: (usize, usize),
    ) -> impl Iterator<Item = (usize, usize, &Agreement)> {
        let near = self.0.get(&place).into_iter().flatten();
        near.map(|(voice, (at, agreement))| (*voice, *at, agreement))
    }
}

/// Compares a statement of one with a statement of another.
pub(super) fn agreement(one: (&Voice, usize), other: (&Voice, usize)) -> Agreement {
    let ((ours, at), (theirs, there)) = (one, other);
    let (first, second) = (&ours.statements[at], &theirs.statements[there]);
    Agreement::of(first, second, || (ours.stems(), theirs.stems()))
}

/// What recurs among the first so many of these voices, from the largest on. Nobody is led to over another one: each
/// agrees with the medoid itself.
pub(super) fn recurring(voices: &[&Voice], among: usize, edges: &Edges) -> Vec<Recurring> {
    let mut stars: Vec<(f64, Recurring)> = Vec::new();
    for medoid in edges.0.keys().filter(|(voice, _)| *voice < among) {
        let near = edges.with(*medoid).filter(|(voice, _, _)| *voice < among);
        let others: Vec<(usize, usize, Agreement)> =
            near.map(|(voice, at, agreement)| (voice, at, agreement.clone())).collect();
        if others.len() + 1 >= SOURCES_MIN {
            let sum = others.iter().map(|(_, _, agreement)| agreement.of_both).sum();
            stars.push((sum, Recurring { medoid: *medoid, others }));
        }
    }
    let length = |star: &Recurring| voices[star.medoid.0].statements[star.medoid.1].text.len();
    stars.sort_by(|(sum, star), (other_sum, other)| {
        let by_size = other.others.len().cmp(&star.others.len()).then(other_sum.total_cmp(sum));
        by_size.then(length(star).cmp(&length(other))).then(star.medoid.cmp(&other.medoid))
    });
    let mut found = Distinct::default();
    for (_, star) in stars {
        found.add(voices, star);
    }
    found.stars
}

/// What recurs, each once: neither the same claim twice, nor one claim of the same sources in several wordings.
#[derive(Default)]
struct Distinct {
    stars: Vec<Recurring>,
    /// All who say it, also those that are not cited.
    members: Vec<BTreeSet<usize>>,
    keys: Vec<String>,
    by_key: BTreeSet<String>,
    by_member: BTreeMap<usize, Vec<usize>>,
}

impl Distinct {
    fn add(&mut self, voices: &[&Voice], mut star: Recurring) {
        let members: BTreeSet<usize> = star.voices().collect();
        let key = voices[star.medoid.0].statements[star.medoid.1].key();
        let near: BTreeSet<usize> =
            members.iter().filter_map(|one| self.by_member.get(one)).flatten().copied().collect();
        let is_known = |at: &usize| {
            is_same(&members, &self.members[*at]) && is_one_claim(&key, &self.keys[*at])
        };
        if self.by_key.contains(&key)
            || near.iter().any(is_known)
            || self.is_in_crowd(voices, &star)
        {
            return;
        }
        star.others.truncate(SOURCES_MAX - 1);
        let saying: Vec<&Voice> = star.voices().map(|voice| voices[voice]).collect();
        if independent(&saying) < SOURCES_MIN && !ao_mutant::active("LOOP-25/one-voice-recurs") {
            return;
        }
        for member in &members {
            self.by_member.entry(*member).or_default().push(self.stars.len());
        }
        self.by_key.insert(key.clone());
        self.keys.push(key);
        self.members.push(members);
        self.stars.push(star);
    }

    /// Where more say it than are compared with each other, those that were left out are no pattern of their own.
    fn is_in_crowd(&self, voices: &[&Voice], star: &Recurring) -> bool {
        let is_full = |star: &Recurring| star.others.len() + 1 >= SOURCES_MAX;
        let says = |other: &Recurring| {
            let ((ours, at), (theirs, there)) = (star.medoid, other.medoid);
            ours == theirs && at == there
                || agreement((voices[ours], at), (voices[theirs], there)).holds()
        };
        is_full(star) && self.stars.iter().any(|other| is_full(other) && says(other))
    }
}

/// Whether two claims of the same sources are one, by their keys: half of the words of the shorter are in both.
pub(super) fn is_one_claim(key: &str, other: &str) -> bool {
    let words = |key: &str| -> BTreeSet<String> {
        key.trim_start_matches(NOT).split_whitespace().map(str::to_owned).collect()
    };
    is_same(&words(key), &words(other))
}

/// Whether two sets of sources stand for one pattern: half of the smaller is in both.
pub(super) fn is_same<T: Ord>(one: &BTreeSet<T>, other: &BTreeSet<T>) -> bool {
    let shared = one.intersection(other).count();
    shared > 0 && 2 * shared >= one.len().min(other.len())
}
