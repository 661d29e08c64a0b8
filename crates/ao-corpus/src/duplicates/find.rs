//! From entries to clusters of copies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::claims::{Claims, Verdict};
use super::features::{Features, overlap};
use super::guards::{GUARDS, is_compared};
use super::likeness::Likeness;
use super::members;
use super::rank::Rank;
use super::sketch::{Bands, Sketch, Sketcher};
use super::wander::Wander;
use super::{REVIEW_PAIRS_MIN, REVIEW_STEMS_MIN};
use crate::corpus::{Entry, Kind};
use crate::files::in_parallel;
use crate::tree::Tree;
use crate::trust;

/// Pairs whose texts are in memory at once.
const JUDGED_AT_ONCE: usize = 2_000;

/// How alike two entries are.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The better one.
    pub one: String,
    pub other: String,
    pub stems: f64,
    pub pairs: f64,
    /// Why they are not merged, if they are not.
    pub why: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    pub path: String,
    /// How alike it and the survivor are.
    pub stems: f64,
    pub pairs: f64,
    pub is_exact: bool,
}

/// One entry and its copies.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    pub survivor: String,
    pub members: Vec<Member>,
}

impl Cluster {
    /// The survivor, then its copies.
    pub fn into_paths(self) -> Vec<String> {
        let members = self.members.into_iter().map(|member| member.path);
        std::iter::once(self.survivor).chain(members).collect()
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Duplicates {
    pub clusters: Vec<Cluster>,
    /// Alike, and left as they are.
    pub review: Vec<Pair>,
}

/// One entry as it is compared.
pub(super) struct Looked {
    pub(super) path: String,
    pub(super) kind: Kind,
    pub(super) rank: Rank,
    pub(super) features: Features,
    sketch: Option<Sketch>,
}

/// What of an entry is compared.
pub(crate) fn features_of(entry: &Entry) -> Features {
    let document = &entry.document;
    let title = document.text("title");
    let summary = document.text("summary");
    let texts = [title.as_deref(), summary.as_deref(), Some(document.body())];
    Features::of(texts.into_iter().flatten())
}

fn look(entry: &Entry, sketcher: &Sketcher) -> Option<Looked> {
    if !GUARDS.iter().all(|(_, holds, _)| holds(entry)) {
        return None;
    }
    let features = features_of(entry);
    // Texts of two words have no pair; then the words stand for it.
    let set = if features.pairs.is_empty() { &features.stems } else { &features.pairs };
    let sketch = sketcher.sketch(set);
    Some(Looked {
        path: entry.path.clone(),
        kind: entry.kind,
        rank: Rank::of(entry),
        features,
        sketch,
    })
}

/// Two entries that were compared.
#[derive(Debug, Clone, Copy)]
struct Compared {
    one: usize,
    other: usize,
    stems: f64,
    pairs: f64,
}

impl Compared {
    fn is_mergeable(&self, looked: &[Looked]) -> bool {
        let words = |place: usize| looked[place].features.stems.len();
        let words = words(self.one).min(words(self.other));
        Likeness { stems: self.stems, pairs: self.pairs, words }.is_copy()
    }
}

/// Looks for copies, again and again while the corpus changes.
pub struct Finder {
    sketcher: Sketcher,
    pub(super) looked: Vec<Looked>,
    /// Every word that stood for another so far: what is merged tells about what is left.
    pub(super) stand_ins: BTreeSet<(String, String)>,
    /// What was judged so far of entries that are as they were.
    judged: BTreeMap<(String, String), Verdict>,
}

impl Finder {
    /// Looks at every entry once. What is found later depends on nothing but the entries.
    pub fn new(tree: &Tree) -> Self {
        let sketcher = Sketcher::new();
        let mut paths = tree.paths();
        paths.retain(|path| Kind::of(path).is_some_and(is_compared));
        paths.retain(|path| !tree.fixed().contains_key(path));
        let look = |path: &String| tree.entry(path).and_then(|entry| look(&entry, &sketcher));
        let looked = in_parallel(&paths, look).into_iter().flatten().collect();
        Self { sketcher, looked, stand_ins: BTreeSet::new(), judged: BTreeMap::new() }
    }

    /// Looks again at entries that were changed or are to go.
    pub fn update(&mut self, tree: &Tree, paths: &BTreeSet<String>) {
        self.looked.retain(|looked| !paths.contains(&looked.path));
        let entries = paths.iter().filter_map(|path| tree.entry(path));
        let fresh: Vec<Looked> = entries.filter_map(|e| look(&e, &self.sketcher)).collect();
        self.looked.extend(fresh);
        self.judged.retain(|(one, other), _| !paths.contains(one) && !paths.contains(other));
    }

    /// Forgets what was learned from entries that are gone: what is found next is what a new finder would find.
    pub fn begin_anew(&mut self) {
        self.stand_ins.clear();
    }

    /// The clusters of copies; with `among`, only pairs of which one is named there.
    pub fn find(&mut self, tree: &Tree, among: Option<&BTreeSet<String>>) -> Duplicates {
        // The better come first, so that a crowd is compared with its best.
        self.looked.sort_unstable_by(|one, other| one.rank.cmp(&other.rank));
        let compared = compare(&self.looked, among);
        let (near, rest): (Vec<_>, Vec<_>) =
            compared.into_iter().partition(|pair| pair.is_mergeable(&self.looked));
        let verdicts = self.judge(tree, &near);
        for verdict in &verdicts {
            if let Verdict::Wording(pairs) = verdict {
                self.stand_ins.extend(pairs.iter().cloned());
            }
        }
        let found = gather(&self.looked, &near, &verdicts, &rest, &Wander::of(&self.stand_ins));
        agreeing(tree, found)
    }

    fn judge(&mut self, tree: &Tree, near: &[Compared]) -> Vec<Verdict> {
        let names = |pair: &Compared| {
            let path = |place: usize| self.looked[place].path.clone();
            (path(pair.one), path(pair.other))
        };
        let known: Vec<Option<Verdict>> =
            near.iter().map(|pair| self.judged.get(&names(pair)).cloned()).collect();
        let unknown: Vec<Compared> =
            near.iter().zip(&known).filter(|(_, known)| known.is_none()).map(|(p, _)| *p).collect();
        let fresh = judge(tree, &self.looked, &unknown);
        let fresh_names = unknown.iter().map(names).collect::<Vec<_>>();
        self.judged.extend(fresh_names.into_iter().zip(fresh.iter().cloned()));
        let mut fresh = fresh.into_iter();
        known.into_iter().filter_map(|known| known.or_else(|| fresh.next())).collect()
    }
}

impl std::fmt::Debug for Finder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Finder").field("looked", &self.looked.len()).finish_non_exhaustive()
    }
}

fn compare(looked: &[Looked], among: Option<&BTreeSet<String>>) -> Vec<Compared> {
    let sketches: Vec<Option<Sketch>> = looked.iter().map(|entry| entry.sketch).collect();
    let bands = Bands::of(&sketches);
    let places: Vec<usize> = (0..looked.len()).collect();
    let is_asked = |place: usize| among.is_none_or(|among| among.contains(&looked[place].path));
    let of = |one: &usize| {
        let asked = is_asked(*one);
        let later = bands.later(*one).into_iter().filter(|other| asked || is_asked(*other));
        later.filter_map(|other| compare_two(looked, *one, other)).collect::<Vec<_>>()
    };
    in_parallel(&places, of).into_iter().flatten().collect()
}

fn compare_two(looked: &[Looked], one: usize, other: usize) -> Option<Compared> {
    let (first, second) = (&looked[one], &looked[other]);
    if first.kind != second.kind {
        return None;
    }
    let stems = overlap(&first.features.stems, &second.features.stems);
    if stems < REVIEW_STEMS_MIN {
        return None;
    }
    let pairs = overlap(&first.features.pairs, &second.features.pairs);
    let is_same = first.features == second.features;
    (pairs >= REVIEW_PAIRS_MIN || is_same).then_some(Compared { one, other, stems, pairs })
}

/// Reads those that are alike again, and lays their claims side by side.
fn judge(tree: &Tree, looked: &[Looked], near: &[Compared]) -> Vec<Verdict> {
    near.chunks(JUDGED_AT_ONCE).flat_map(|part| judge_part(tree, looked, part)).collect()
}

fn judge_part(tree: &Tree, looked: &[Looked], near: &[Compared]) -> Vec<Verdict> {
    let mut places: Vec<usize> = near.iter().flat_map(|pair| [pair.one, pair.other]).collect();
    places.sort_unstable();
    places.dedup();
    let claims_of = |place: &usize| tree.entry(&looked[*place].path).map(|e| Claims::of(&e));
    let read = in_parallel(&places, claims_of);
    let claims: BTreeMap<usize, Option<Claims>> = places.into_iter().zip(read).collect();
    let verdicts = in_parallel(near, |pair| match (&claims[&pair.one], &claims[&pair.other]) {
        (Some(one), Some(other)) => claims_of_both(one, other),
        _ => Verdict::Differ("one of them can no longer be read".into()),
    });
    unpoisoned(tree, looked, near, verdicts)
}

/// What is written to steer a reader gets into no other entry, and takes the place of none.
fn unpoisoned(
    tree: &Tree,
    looked: &[Looked],
    near: &[Compared],
    mut verdicts: Vec<Verdict>,
) -> Vec<Verdict> {
    let is_same = |verdict: &&mut Verdict| !matches!(verdict, Verdict::Differ(_));
    let pairs: Vec<(&Compared, &mut Verdict)> =
        near.iter().zip(verdicts.iter_mut()).filter(|(_, verdict)| is_same(verdict)).collect();
    let places: BTreeSet<usize> =
        pairs.iter().flat_map(|(pair, _)| [pair.one, pair.other]).collect();
    let places: Vec<usize> = places.into_iter().collect();
    let of = |place: &usize| tree.entry(&looked[*place].path).and_then(|entry| poison(&entry));
    let poisoned: BTreeMap<usize, Option<String>> =
        places.iter().copied().zip(in_parallel(&places, of)).collect();
    for (pair, verdict) in pairs {
        let found = poisoned[&pair.one].as_ref().or(poisoned[&pair.other].as_ref());
        if let Some(why) = found {
            *verdict = Verdict::Poisoned(why.clone());
        }
    }
    verdicts
}

/// Why an entry is merged with no other, if signs of poison are in it.
pub(super) fn poison(entry: &Entry) -> Option<String> {
    let signs = trust::signs(entry);
    let path = &entry.path;
    (!signs.is_empty()).then(|| format!("{path} has signs of poison: {}", trust::told(&signs)))
}

pub(super) fn claims_of_both(one: &Claims, other: &Claims) -> Verdict {
    if one.is_empty() || other.is_empty() {
        return Verdict::Differ("one of them can no longer be read".into());
    }
    one.compare(other)
}

/// Whether the two places are compared at all: comparing every pair would take too long.
pub(super) fn is_met(looked: &[Looked], one: usize, other: usize) -> bool {
    let sketches: Vec<Option<Sketch>> = looked.iter().map(|entry| entry.sketch).collect();
    Bands::of(&sketches).later(one.min(other)).contains(&one.max(other))
}

fn gather(
    looked: &[Looked],
    near: &[Compared],
    verdicts: &[Verdict],
    rest: &[Compared],
    wander: &Wander,
) -> Duplicates {
    let mut edges: BTreeMap<usize, Vec<(usize, &Compared, bool)>> = BTreeMap::new();
    let mut review = Vec::new();
    for (pair, verdict) in near.iter().zip(verdicts) {
        if let Some(why) = objection(verdict, wander) {
            review.push(told(looked, pair, Some(why)));
        } else {
            let is_exact = *verdict == Verdict::Same;
            edges.entry(pair.one).or_default().push((pair.other, pair, is_exact));
        }
    }
    review.extend(rest.iter().map(|pair| told(looked, pair, Some("alike, and not a copy".into()))));
    review.sort_by(|one, other| (&one.one, &one.other).cmp(&(&other.one, &other.other)));
    Duplicates { clusters: stars(looked, &edges), review }
}

pub(super) fn objection(verdict: &Verdict, wander: &Wander) -> Option<String> {
    match verdict {
        Verdict::Same => None,
        Verdict::Poisoned(why) => Some(why.clone()),
        Verdict::Differ(apart) => Some(format!("they claim different things: {}", apart.why)),
        Verdict::Wording(pairs) => {
            let (one, other) = pairs.iter().find(|(one, other)| !wander.excuses(one, other))?;
            Some(format!("one key word differs: `{one}` against `{other}`"))
        }
    }
}

/// The clusters without those that contradict another member; they are put to people beside it.
fn agreeing(tree: &Tree, mut found: Duplicates) -> Duplicates {
    if ao_mutant::active("LOOP-25/members-are-not-compared") {
        return found;
    }
    let apart = in_parallel(&found.clusters, |cluster| {
        let entry = |member: &Member| if member.is_exact { None } else { tree.entry(&member.path) };
        let entries: Vec<Option<Arc<Entry>>> = cluster.members.iter().map(entry).collect();
        let best = tree.entry(&cluster.survivor);
        best.map_or_else(Vec::new, |best| members::apart(&best, &entries))
    });
    for (cluster, apart) in found.clusters.iter_mut().zip(apart) {
        if apart.iter().all(Option::is_none) {
            continue;
        }
        let members = std::mem::take(&mut cluster.members);
        let paths: Vec<String> = members.iter().map(|member| member.path.clone()).collect();
        for (member, apart) in members.into_iter().zip(apart) {
            let Some((with, why)) = apart else {
                cluster.members.push(member);
                continue;
            };
            let one = if with == 0 { &cluster.survivor } else { &paths[with - 1] };
            let Member { path, stems, pairs, .. } = member;
            found.review.push(Pair { one: one.clone(), other: path, stems, pairs, why: Some(why) });
        }
    }
    found.clusters.retain(|cluster| !cluster.members.is_empty());
    found.review.sort_by(|one, other| (&one.one, &one.other).cmp(&(&other.one, &other.other)));
    found
}

fn told(looked: &[Looked], pair: &Compared, why: Option<String>) -> Pair {
    let path = |place: usize| looked[place].path.clone();
    Pair { one: path(pair.one), other: path(pair.other), stems: pair.stems, pairs: pair.pairs, why }
}

/// Around each entry, from the best on, those of its copies that are nobody's yet.
fn stars(
    looked: &[Looked],
    edges: &BTreeMap<usize, Vec<(usize, &Compared, bool)>>,
) -> Vec<Cluster> {
    let mut is_taken = vec![false; looked.len()];
    let mut clusters = Vec::new();
    for (survivor, near) in edges {
        if is_taken[*survivor] {
            continue;
        }
        let mut members = Vec::new();
        for (place, pair, is_exact) in near {
            if !std::mem::replace(&mut is_taken[*place], true) {
                let path = looked[*place].path.clone();
                let Compared { stems, pairs, .. } = **pair;
                members.push(Member { path, stems, pairs, is_exact: *is_exact });
            }
        }
        if !members.is_empty() {
            is_taken[*survivor] = true;
            let survivor = looked[*survivor].path.clone();
            clusters.push(Cluster { survivor, members });
        }
    }
    clusters.sort_by(|one, other| one.survivor.cmp(&other.survivor));
    clusters
}
