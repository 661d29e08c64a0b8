//! Search: relevance, weighed by what an entry says about itself.
//!
//! The score is the relevance times one plus four small amounts. They are published here, bounded,
//! and nothing where an entry is silent: relevance decides, and the amounts order what is equally
//! relevant. "Now" is the newest day in the corpus, or the one that was asked for; never the clock.

use ao_contract::Maturity;
use jiff::civil::Date;

use crate::index::{Broken, Contest, Facts, Index, Part, Question, RERANKED, Ranked, Rows, Wanted};

/// Utility 1 adds this, utility 0 takes it away, utility 0.5 is neutral.
pub const UTILITY_AMOUNT: f64 = 0.05;
pub const ESTABLISHED_AMOUNT: f64 = 0.03;
pub const CANDIDATE_AMOUNT: f64 = 0.01;
pub const ANTI_PATTERN_AMOUNT: f64 = -0.05;
/// What is trusted less than `code` has this. It is more than freshness can make up for, and such an entry gains nothing
/// by utility and maturity, so that what agents say of it does not lift it over its equals.
pub const MARKED_AMOUNT: f64 = -0.05;
/// The amounts add at most so much.
const FACTOR_MAX: f64 = 1.0 + UTILITY_AMOUNT + ESTABLISHED_AMOUNT + FRESHNESS_AMOUNT;
/// An entry of today has this, a very old one the same below zero.
pub const FRESHNESS_AMOUNT: f64 = 0.02;
/// At this age freshness is neutral; at twice of it half of the rest is gone.
pub const FRESHNESS_HALF_DAYS: f64 = 180.0;

/// What an entry's own words about itself add to its score, as shares of its relevance.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Amounts {
    pub utility: f64,
    pub maturity: f64,
    pub freshness: f64,
    pub trust: f64,
}

impl Amounts {
    pub fn of(facts: &Facts, now: Option<Date>) -> Self {
        let utility = facts.utility.map_or(0.0, |utility| (utility - 0.5) * 2.0 * UTILITY_AMOUNT);
        let maturity = match facts.maturity {
            Some(Maturity::Established) => ESTABLISHED_AMOUNT,
            Some(Maturity::Candidate) => CANDIDATE_AMOUNT,
            Some(Maturity::AntiPattern) => ANTI_PATTERN_AMOUNT,
            Some(Maturity::Provisional) | None => 0.0,
        };
        let freshness = facts.day.zip(now).map_or(0.0, |(day, now)| freshness(day, now));
        if facts.is_marked && !ao_mutant::active("GRD-07/marked-ranks-as-others") {
            let (utility, maturity) = (f64::min(utility, 0.0), f64::min(maturity, 0.0));
            return Self { utility, maturity, freshness, trust: MARKED_AMOUNT };
        }
        Self { utility, maturity, freshness, trust: 0.0 }
    }

    pub fn factor(&self) -> f64 {
        1.0 + self.utility + self.maturity + self.freshness + self.trust
    }
}

fn freshness(day: Date, now: Date) -> f64 {
    let age = day.until(now).map_or(0, |span| span.get_days()).max(0);
    let left = libm::exp2(-f64::from(age) / FRESHNESS_HALF_DAYS);
    FRESHNESS_AMOUNT * (2.0 * left - 1.0)
}

/// How a question is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asking {
    pub limit: usize,
    /// Entries from later days are not shown, and freshness is measured against this day.
    pub as_of: Option<Date>,
}

/// An entry that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub entry: usize,
    pub path: String,
    pub relevance: f64,
    pub amounts: Amounts,
    pub score: f64,
    /// How much of the question's worth the entry has, 0 to 1.
    pub confidence: f64,
}

/// The best entries for a question, best first; equals in the order of their paths.
pub fn search(index: &Index, question: &Question, asking: Asking) -> Result<Vec<Hit>, Broken> {
    told(index, question, scored(index, question, asking)?)
}

/// As [`search`], for whoever acts on what is found: nothing that waits to be promoted is among it.
pub fn search_promoted(
    index: &Index,
    question: &Question,
    limit: usize,
) -> Result<Vec<Hit>, Broken> {
    let ranked = index.rank_promoted(question, limit.max(RERANKED))?;
    told(index, question, weighed(index, ranked, Asking { limit, as_of: None })?)
}

fn told(
    index: &Index,
    question: &Question,
    scored: Vec<(f64, Ranked, Amounts)>,
) -> Result<Vec<Hit>, Broken> {
    let mut hits = Vec::new();
    for (score, ranked, amounts) in scored {
        let (entry, relevance) = (ranked.entry, ranked.relevance);
        let confidence = index.coverage(question, entry)?;
        hits.push(Hit { entry, path: index.key(entry)?, relevance, amounts, score, confidence });
    }
    Ok(hits)
}

/// As [`search`], for whoever needs no more than the order: the paths, best first.
pub fn ranking(index: &Index, question: &Question, asking: Asking) -> Result<Vec<String>, Broken> {
    scored(index, question, asking)?.iter().map(|(_, one, _)| index.key(one.entry)).collect()
}

pub(crate) fn scored(
    index: &Index,
    question: &Question,
    asking: Asking,
) -> Result<Vec<(f64, Ranked, Amounts)>, Broken> {
    let ranked = index.rank(question, asking.limit.max(RERANKED), asking.as_of)?;
    weighed(index, ranked, asking)
}

fn weighed(
    index: &Index,
    ranked: Vec<Ranked>,
    asking: Asking,
) -> Result<Vec<(f64, Ranked, Amounts)>, Broken> {
    let now = asking.as_of.or(index.newest());
    let mut scored = Vec::with_capacity(ranked.len());
    for ranked in ranked {
        let amounts = Amounts::of(&index.weights(ranked.entry)?, now);
        let score = ranked.relevance * amounts.factor();
        scored.push((score, ranked, amounts));
    }
    // Those that only the first look ranked stay behind the others, whatever they weigh.
    let reranked = scored.len().min(RERANKED);
    let (first, rest) = scored.split_at_mut(reranked);
    for part in [first, rest] {
        part.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.entry.cmp(&b.1.entry)));
    }
    scored.truncate(asking.limit);
    Ok(scored)
}

/// See [`Places::with_room`].
pub const SLACK: f64 = 0.02;

/// The place of an entry, as far as it is easy to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// From 1; the one that [`search`] gives it.
    At(u32),
    /// Not among the first that were asked for.
    Beyond,
    /// Too many entries could come before it: they have to be ranked.
    Open,
}

/// The places of entries, for whoever asks for tens of thousands of them.
#[derive(Debug)]
pub struct Places<'a> {
    pub index: &'a Index,
    /// What each entry's own words about itself multiply its relevance by.
    factors: Vec<f64>,
    rows: Rows,
}

impl<'a> Places<'a> {
    pub fn of(index: &'a Index) -> Result<Self, Broken> {
        let now = index.newest();
        let factor = |entry| Ok(Amounts::of(&index.weights(entry)?, now).factor());
        let factors = (0..index.len()).map(factor).collect::<Result<_, Broken>>()?;
        Ok(Self { index, factors, rows: index.rows()? })
    }

    /// The place of an entry among the first `within`, if it can be told without ranking everything.
    pub fn quick(&self, question: &Question, path: &str, within: usize) -> Result<Place, Broken> {
        Ok(self.stands(question, path, within, 0.0)?.0)
    }

    /// The place, and the worst one with scores that are off by a share.
    fn stands(
        &self,
        question: &Question,
        path: &str,
        within: usize,
        slack: f64,
    ) -> Result<(Place, Option<usize>), Broken> {
        let Some(entry) = self.index.find(path)? else { return Ok((Place::Beyond, None)) };
        let wanted = Wanted { entry, within, slack };
        Ok(match self.index.contest(&self.rows, question, wanted, &self.factors, FACTOR_MAX)? {
            Contest::Decided { before, at_worst } if before < within => {
                let at = u32::try_from(before + 1).unwrap_or(u32::MAX);
                (Place::At(at), at_worst.map(|before| before + 1))
            }
            Contest::Decided { .. } | Contest::Absent => (Place::Beyond, None),
            Contest::Open => (Place::Open, None),
        })
    }

    /// The place of an entry among the first `within`, from 1; and how many more entries could come
    /// before it, while every score is off by up to [`SLACK`], and leave it among them.
    pub fn with_room(
        &self,
        question: &Question,
        path: &str,
        within: usize,
    ) -> Result<(Option<u32>, usize), Broken> {
        let (place, at_worst) = self.stands(question, path, within, SLACK)?;
        let room = at_worst.map_or(0, |at| within.saturating_sub(at));
        Ok((self.ranked(place, question, path, within)?, room))
    }

    /// How many of these others come before an entry at most; nobody comes before one that is not
    /// there.
    pub fn before_among(
        &self,
        question: &Question,
        path: &str,
        others: &[usize],
    ) -> Result<usize, Broken> {
        let Some(entry) = self.index.find(path)? else { return Ok(0) };
        self.index.before_among(question, entry, others, &self.factors)
    }

    /// The place of an entry among the first `within`, from 1.
    pub fn of_path(
        &self,
        question: &Question,
        path: &str,
        within: usize,
    ) -> Result<Option<u32>, Broken> {
        self.ranked(self.quick(question, path, within)?, question, path, within)
    }

    fn ranked(
        &self,
        place: Place,
        question: &Question,
        path: &str,
        within: usize,
    ) -> Result<Option<u32>, Broken> {
        match place {
            Place::At(at) => Ok(Some(at)),
            Place::Beyond => Ok(None),
            Place::Open => {
                let paths = ranking(self.index, question, Asking { limit: within, as_of: None })?;
                let at = paths.iter().position(|one| one == path);
                Ok(at.and_then(|at| u32::try_from(at + 1).ok()))
            }
        }
    }
}

/// Every number that makes up a score.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Added up they are the relevance.
    pub parts: Vec<Part>,
    pub relevance: f64,
    pub amounts: Amounts,
    /// The relevance times one plus the amounts.
    pub score: f64,
}

/// How a hit came by its score.
pub fn explain(index: &Index, question: &Question, hit: &Hit) -> Result<Explanation, Broken> {
    let parts = index.explain(question, hit.entry)?;
    Ok(Explanation { parts, relevance: hit.relevance, amounts: hit.amounts, score: hit.score })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::Text;

    /// Words of which a few are in every text and most in few.
    fn word(at: u64) -> String {
        let rank = at % 1009;
        format!("w{}", rank * rank / 1009)
    }

    fn text(entry: u64) -> String {
        let words = (0..20 + entry % 60).map(|at| word(entry * 7919 + at * at * 31 + at * 1013));
        words.collect::<Vec<_>>().join(" ")
    }

    fn index(entries: u64) -> Index {
        let texts: Vec<(String, String)> =
            (0..entries).map(|entry| (word(entry * 17), text(entry))).collect();
        let all = texts.iter().enumerate().map(|(entry, (title, body))| {
            let facts = Facts {
                utility: Some(f64::from(u32::try_from(entry % 11).unwrap()) / 10.0),
                maturity: [None, Some(Maturity::Established)][entry % 2],
                ..Facts::default()
            };
            let body = std::slice::from_ref(body);
            (format!("{entry:05}"), facts, (title, body))
        });
        let bodies: Vec<_> =
            all.map(|(key, facts, (t, b))| (key, facts, t, [b[0].as_str()])).collect();
        let texts = bodies.iter().map(|(key, facts, title, body)| {
            (key.clone(), facts.clone(), Text { title, tags: "", body })
        });
        Index::of_texts(texts).unwrap()
    }

    /// The quick way to a place must never differ from the ranking.
    #[test]
    fn a_place_is_the_one_that_search_gives() {
        const WITHIN: usize = RERANKED;
        let (mut decided, mut open, mut found) = (0, 0, 0);
        for entries in [1, 30, 400, 3000] {
            let index = index(entries);
            let places = Places::of(&index).unwrap();
            for nth in 0..120 {
                let source = nth * 37 % entries;
                let from = text(source);
                let words: Vec<&str> = from.split(' ').collect();
                let start = usize::try_from(nth).unwrap() % words.len();
                let asked = &words[start..(start + 1 + start % 9).min(words.len())];
                let question = Question::new(&asked.join(" "));
                let asking = Asking { limit: WITHIN, as_of: None };
                let hits = search(&index, &question, asking).unwrap();
                let mut wanted: Vec<usize> = hits.iter().map(|hit| hit.entry).collect();
                wanted.extend(
                    (0..entries)
                        .step_by(usize::try_from(1 + entries / 23).unwrap())
                        .map(|at| usize::try_from(at).unwrap()),
                );
                wanted.push(usize::try_from(source).unwrap());
                for entry in wanted {
                    let path = index.key(entry).unwrap();
                    let at = hits.iter().position(|hit| hit.entry == entry);
                    let at = at.map(|at| u32::try_from(at + 1).unwrap());
                    assert_eq!(
                        places.of_path(&question, &path, WITHIN).unwrap(),
                        at,
                        "{path} {asked:?}"
                    );
                    match places.quick(&question, &path, WITHIN).unwrap() {
                        Place::Open => open += 1,
                        _ => decided += 1,
                    }
                    found += u32::from(at.is_some());
                }
            }
        }
        assert!(decided > 1000 && open > 100 && found > 1000, "{decided} {open} {found}");
    }

    #[test]
    fn amounts_are_bounded_and_silence_is_neutral() {
        let now = Date::constant(2026, 11, 1);
        assert!((Amounts::of(&Facts::default(), Some(now)).factor() - 1.0).abs() < f64::EPSILON);
        let best = Facts {
            utility: Some(1.0),
            maturity: Some(Maturity::Established),
            day: Some(now),
            ..Facts::default()
        };
        let worst = Facts {
            utility: Some(0.0),
            maturity: Some(Maturity::AntiPattern),
            day: Some(Date::constant(1990, 1, 1)),
            ..Facts::default()
        };
        assert!((Amounts::of(&best, Some(now)).factor() - 1.10).abs() < 1e-12);
        assert!((Amounts::of(&worst, Some(now)).factor() - 0.88).abs() < 1e-6);
        // Half a year is neutral, and a day to come is as fresh as today.
        let half = Facts { day: Some(Date::constant(2026, 5, 5)), ..Facts::default() };
        assert!(Amounts::of(&half, Some(now)).freshness.abs() < 1e-12);
        let later = Facts { day: Some(Date::constant(2027, 1, 1)), ..Facts::default() };
        assert!((Amounts::of(&later, Some(now)).freshness - FRESHNESS_AMOUNT).abs() < 1e-12);
    }
}
