//! Which topics a landscape has, and what belongs to each.

use std::collections::{BTreeMap, HashMap};

use ao_contract::{Connection, Extra, NamedBy, Topic, Unit};
use ao_corpus::words::stem;
use jiff::civil::Date;

use super::survey::{Spot, Survey, fresh_from};

/// More than this nobody takes in at a glance. The entries of others are one more topic, [`REST`].
pub const TOPICS_MAX: usize = 12;
/// With the rest.
const ALL_MAX: usize = TOPICS_MAX + 1;
/// The topic of entries that belong to no other.
pub const REST: &str = "elsewhere";
/// One title alone does not make a word a topic.
const TITLES_MIN: u64 = 2;
/// Shares are kept to so many parts of one.
const PARTS: f64 = 1e4;

/// The topics of an entry, a bit each.
type Bits = u16;

/// A topic before its entries are counted.
struct Candidate {
    name: String,
    named_by: NamedBy,
    entries: u64,
}

/// The topics that were chosen, and which of them each entry belongs to.
pub(super) struct Chosen {
    /// In the order of their names, the rest last.
    candidates: Vec<(String, NamedBy)>,
    entries: Vec<Bits>,
}

impl Chosen {
    pub(super) fn of(survey: &Survey) -> Self {
        let mut candidates = of_labels(survey);
        let titled = of_words(survey, &mut candidates);
        let topic_of = |spot: &Spot, at: usize| match spot.named_by {
            NamedBy::Titles => titled[at].map(|topic| vec![topic]).unwrap_or_default(),
            _ => survey.marks_of(spot).iter().map(|mark| *mark as usize).collect(),
        };
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        let name = |at: usize| candidates[at].name.as_str();
        order.sort_unstable_by(|a, b| {
            let size = |at: usize| candidates[at].entries;
            size(*b).cmp(&size(*a)).then_with(|| name(*a).cmp(name(*b)))
        });
        let is_told = |at: &usize| candidates[*at].entries > 0;
        let mut kept: Vec<usize> = order.into_iter().filter(is_told).take(TOPICS_MAX).collect();
        // By name, so that a topic stands where it stood yesterday, whatever its size.
        kept.sort_unstable_by(|a, b| name(*a).cmp(name(*b)));
        let mut bit_of: Vec<Bits> = vec![0; candidates.len()];
        for (bit, at) in kept.iter().enumerate() {
            bit_of[*at] = 1 << bit;
        }
        let rest: Bits = 1 << kept.len();
        let entries: Vec<Bits> = survey
            .spots
            .iter()
            .enumerate()
            .map(|(at, spot)| {
                topic_of(spot, at).iter().fold(0, |bits, topic| bits | bit_of[*topic])
            })
            .map(|bits: Bits| if bits == 0 { rest } else { bits })
            .collect();
        let mut names: Vec<(String, NamedBy)> = kept
            .iter()
            .map(|at| (candidates[*at].name.clone(), candidates[*at].named_by))
            .collect();
        if entries.contains(&rest) {
            names.push((REST.to_owned(), NamedBy::Rest));
        }
        Self { candidates: names, entries }
    }

    pub(super) fn topics(
        self,
        survey: &Survey,
        newest: Option<Date>,
        references: &[(usize, usize)],
    ) -> Vec<Topic> {
        let mut tallies = vec![Tally::default(); self.candidates.len()];
        let fresh_from = newest.map(fresh_from);
        for (bits, spot) in self.entries.iter().zip(&survey.spots) {
            let is_fresh = spot.day.zip(fresh_from).is_some_and(|(day, from)| day >= from);
            for at in set(*bits) {
                let tally = &mut tallies[at];
                tally.entries += 1;
                tally.dated += u64::from(spot.day.is_some());
                tally.fresh += u64::from(is_fresh);
                for other in set(*bits).filter(|other| *other != at) {
                    tally.shared[other] += 1;
                }
            }
        }
        for (from, to) in references {
            for (one, other) in pairs(self.entries[*from], self.entries[*to]) {
                tallies[one].references[other] += 1;
                tallies[other].references[one] += 1;
            }
        }
        let all = survey.spots.len() as u64;
        let names: Vec<&str> = self.candidates.iter().map(|(name, _)| name.as_str()).collect();
        let topic =
            |((at, (name, named_by)), tally): ((usize, &(String, NamedBy)), &Tally)| Topic {
                name: name.clone(),
                place: u32::try_from(at + 1).unwrap_or(u32::MAX),
                named_by: *named_by,
                entries: tally.entries,
                share: share(tally.entries, all).unwrap_or_else(|| Unit::nearest(0.0)),
                dated: tally.dated,
                fresh: tally.fresh,
                freshness: share(tally.fresh, tally.dated),
                connections: tally.connections(&names),
                extra: Extra::new(),
            };
        self.candidates.iter().enumerate().zip(&tallies).map(topic).collect()
    }
}

#[derive(Debug, Clone, Default)]
struct Tally {
    entries: u64,
    dated: u64,
    fresh: u64,
    shared: [u64; ALL_MAX],
    references: [u64; ALL_MAX],
}

impl Tally {
    /// The strongest first.
    fn connections(&self, names: &[&str]) -> Vec<Connection> {
        let of = |(at, name): (usize, &&str)| Connection {
            to: (*name).to_owned(),
            shared: self.shared[at],
            references: self.references[at],
            extra: Extra::new(),
        };
        let weight = |one: &Connection| one.shared.saturating_add(one.references);
        let mut found: Vec<Connection> =
            names.iter().enumerate().map(of).filter(|one| weight(one) > 0).collect();
        found.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| a.to.cmp(&b.to)));
        found
    }
}

/// What headers name; the place of a label in the result is its number.
fn of_labels(survey: &Survey) -> Vec<Candidate> {
    let names = survey.labels.names.iter();
    let candidate =
        |name: &String| Candidate { name: name.clone(), named_by: NamedBy::Rest, entries: 0 };
    let mut candidates: Vec<Candidate> = names.map(candidate).collect();
    for spot in survey.spots.iter().filter(|spot| spot.named_by != NamedBy::Titles) {
        for mark in survey.marks_of(spot) {
            let candidate = &mut candidates[*mark as usize];
            candidate.entries += 1;
            candidate.named_by = candidate.named_by.min(spot.named_by);
        }
    }
    candidates
}

/// A topic for each entry whose header is silent: one that others have named and its title names
/// too, or else the word that it shares with the most titles like it.
fn of_words(survey: &Survey, candidates: &mut Vec<Candidate>) -> Vec<Option<usize>> {
    let stems: Vec<String> = survey.words.names.iter().map(|word| stem(word)).collect();
    // Looked up, never walked through. Where two labels share a stem, the larger is meant.
    let mut labelled: HashMap<String, usize> = HashMap::new();
    for (at, candidate) in candidates.iter().enumerate().filter(|(_, one)| one.entries > 0) {
        let best = labelled.entry(stem(&candidate.name)).or_insert(at);
        let known = &candidates[*best];
        if (candidate.entries, &known.name) > (known.entries, &candidate.name) {
            *best = at;
        }
    }
    let silent =
        || survey.spots.iter().enumerate().filter(|(_, one)| one.named_by == NamedBy::Titles);
    // How many titles have the stem, and how often in which form.
    let mut titles: BTreeMap<&str, (u64, BTreeMap<&str, u64>)> = BTreeMap::new();
    for (_, spot) in silent() {
        let mut seen: Vec<&str> = Vec::new();
        for mark in survey.marks_of(spot) {
            let (stem, word) =
                (stems[*mark as usize].as_str(), &survey.words.names[*mark as usize]);
            let (count, forms) = titles.entry(stem).or_default();
            *forms.entry(word.as_str()).or_default() += 1;
            if !seen.contains(&stem) {
                seen.push(stem);
                *count += 1;
            }
        }
    }
    let mut own: HashMap<&str, usize> = HashMap::new();
    let mut topics = vec![None; survey.spots.len()];
    for (at, spot) in silent() {
        let marks = survey.marks_of(spot).iter();
        let stems = marks.map(|mark| stems[*mark as usize].as_str());
        let known = stems.clone().filter_map(|stem| labelled.get(stem));
        let known = known.max_by(|a, b| {
            let size = |at: usize| candidates[at].entries;
            let name = |at: usize| &candidates[at].name;
            size(**a).cmp(&size(**b)).then_with(|| name(**b).cmp(name(**a)))
        });
        topics[at] = known.copied().or_else(|| {
            let shared = stems.filter(|stem| titles[stem].0 >= TITLES_MIN);
            let best =
                shared.max_by(|a, b| titles[a].0.cmp(&titles[b].0).then_with(|| b.cmp(a)))?;
            Some(*own.entry(best).or_insert_with(|| {
                let forms = titles[best].1.iter();
                // The commonest form, and of equal ones the first by name.
                let form =
                    forms.rev().max_by_key(|(_, count)| **count).map_or(best, |(form, _)| form);
                candidates.push(Candidate {
                    name: form.to_owned(),
                    named_by: NamedBy::Titles,
                    entries: 0,
                });
                candidates.len() - 1
            }))
        });
    }
    for topic in topics.iter().flatten() {
        candidates[*topic].entries += 1;
    }
    topics
}

fn set(bits: Bits) -> impl Iterator<Item = usize> {
    (0..ALL_MAX).filter(move |at| bits & (1 << at) != 0)
}

/// Each two different topics of which one entry has the one and another entry the other, once.
fn pairs(from: Bits, to: Bits) -> impl Iterator<Item = (usize, usize)> {
    let is_in = |bits: Bits, at: usize| bits & (1 << at) != 0;
    (0..ALL_MAX).flat_map(move |one| {
        (one + 1..ALL_MAX).map(move |other| (one, other)).filter(move |(one, other)| {
            (is_in(from, *one) && is_in(to, *other)) || (is_in(from, *other) && is_in(to, *one))
        })
    })
}

fn share(part: u64, all: u64) -> Option<Unit> {
    #[expect(clippy::cast_precision_loss, reason = "no corpus has that many entries")]
    let share = part as f64 / all as f64;
    (all > 0).then(|| Unit::nearest((share * PARTS).round() / PARTS))
}
