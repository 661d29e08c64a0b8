//! From a question to a ranking.
//!
//! First every entry that has any of the words is scored by them; then the best hundred are looked
//! at word by word, for the exact forms that were asked and for neighbours of the question that are
//! near each other in the entry too.

use std::cmp::Ordering;

use super::formula::{self, EXACT, PAIR, RERANKED, WINDOW, saturated};
use super::question::{Asked, Question};
use super::reader::Reader;
use super::source::Broken;

/// An entry with its score. Which entry a number means is the index's to say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    pub entry: usize,
    pub relevance: f64,
}

/// What one part of a question adds to an entry's relevance.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    pub kind: PartKind,
    /// The word or the two words, as they were asked.
    pub words: String,
    /// What the part is worth by itself.
    pub worth: f64,
    /// How often it is in title and tags, and in the body.
    pub in_title: u32,
    pub in_body: u32,
    /// What it adds.
    pub adds: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// The stem of a word.
    Word,
    /// A word exactly as it was asked.
    Exact,
    /// Two neighbours of the question, one after the other.
    Neighbours,
    /// The same two near each other, in any order.
    Near,
}

impl PartKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Word => "word",
            Self::Exact => "exact",
            Self::Neighbours => "neighbours",
            Self::Near => "near",
        }
    }
}

/// Best first; equals by the order of their paths.
fn order(a: &Ranked, b: &Ranked) -> Ordering {
    b.relevance.total_cmp(&a.relevance).then(a.entry.cmp(&b.entry))
}

/// The best `depth` entries among those that may be shown. Those that only the first look ranked
/// come after those that the second one did.
pub(super) fn rank(
    reader: &Reader,
    question: &Question,
    depth: usize,
    may_show: impl Fn(usize) -> Result<bool, Broken>,
) -> Result<Vec<Ranked>, Broken> {
    let asked = Asked::of(reader, question)?;
    let mut scores = vec![0.0_f64; reader.entries];
    for word in &asked.words {
        let weight = word.weight;
        reader.each_posting(&word.record, |entry, title, body| {
            scores[entry] += weight * saturated(reader.resistance[entry], title, body);
        })?;
    }
    let mut best = top(&scores, depth.max(RERANKED), may_show)?;
    let reranked = best.len().min(RERANKED);
    let mut scratch = Matches::default();
    for ranked in &mut best[..reranked] {
        scratch.read(reader, &asked, ranked.entry)?;
        let resistance = reader.resistance[ranked.entry];
        scratch.each_second(&asked, resistance, |_, adds| ranked.relevance += adds);
    }
    best[..reranked].sort_unstable_by(order);
    best.truncate(depth);
    Ok(best)
}

/// The best `count` of all that have a score, in order.
fn top(
    scores: &[f64],
    count: usize,
    may_show: impl Fn(usize) -> Result<bool, Broken>,
) -> Result<Vec<Ranked>, Broken> {
    let mut best: Vec<Ranked> = Vec::with_capacity(2 * count.min(scores.len()) + 1);
    let mut bar = 0.0;
    for (entry, &relevance) in scores.iter().enumerate() {
        if relevance <= bar || !may_show(entry)? {
            continue;
        }
        best.push(Ranked { entry, relevance });
        if best.len() >= 2 * count {
            // What equals the last one that is kept comes later in the order, and so loses.
            best.select_nth_unstable_by(count - 1, order);
            best.truncate(count);
            bar = best[count - 1].relevance;
        }
    }
    best.sort_unstable_by(order);
    best.truncate(count);
    Ok(best)
}

/// Everything that makes up an entry's relevance, in the order in which it is added up.
pub(super) fn explain(
    reader: &Reader,
    question: &Question,
    entry: usize,
) -> Result<Vec<Part>, Broken> {
    let asked = Asked::of(reader, question)?;
    let resistance = reader.resistance[entry];
    let mut matches = Matches::default();
    matches.read(reader, &asked, entry)?;
    let mut parts = Vec::new();
    for (index, word) in asked.words.iter().enumerate() {
        let (in_title, in_body) = matches.count(|hit| hit.word == index);
        if in_title + in_body > 0 {
            let adds = word.weight * saturated(resistance, in_title, in_body);
            let words = word.text.clone();
            let kind = PartKind::Word;
            parts.push(Part { kind, words, worth: word.weight, in_title, in_body, adds });
        }
    }
    matches.each_second(&asked, resistance, |part, adds| parts.push(Part { adds, ..part() }));
    Ok(parts)
}

/// The share of a question's worth that an entry has. A word that nobody has is worth as much as a
/// word can be.
pub(super) fn coverage(reader: &Reader, question: &Question, entry: usize) -> Result<f64, Broken> {
    let asked = Asked::of(reader, question)?;
    let mut matches = Matches::default();
    matches.read(reader, &asked, entry)?;
    let unknown = f64::from(asked.unknown) * reader.whole.totals.rarity(0);
    let (mut has, mut all) = (0.0, unknown);
    for (index, word) in asked.words.iter().enumerate() {
        all += word.worth;
        if matches.hits.iter().any(|hit| hit.word == index) {
            has += word.worth;
        }
    }
    Ok(if all > 0.0 { has / all } else { 0.0 })
}

/// A word of the question that an entry has.
#[derive(Debug, Clone, Copy)]
struct Hit {
    at: u32,
    is_title: bool,
    word: usize,
    form: u32,
}

/// All words of the question that an entry has, in order.
#[derive(Debug, Default)]
pub(super) struct Matches {
    hits: Vec<Hit>,
}

impl Matches {
    fn read(&mut self, reader: &Reader, asked: &Asked, entry: usize) -> Result<(), Broken> {
        self.hits.clear();
        let words = reader.words(entry)?;
        let (title, heads) = (words.title, words.title + words.tags);
        words.each(|at, form| {
            if let Some(word) = asked.word_of(form) {
                // Neither the last word of the title and the first tag nor the last tag and the
                // first word of the body are neighbours.
                let gaps = u32::from(at >= title) + u32::from(at >= heads);
                let is_title = at < heads;
                self.hits.push(Hit { at: at + gaps * WINDOW, is_title, word, form });
            }
        })
    }

    /// What an entry scores at the first look, and with the second: the same numbers, added up in
    /// the same order, as [`rank`] has them.
    pub(super) fn relevance(
        &mut self,
        reader: &Reader,
        asked: &Asked,
        entry: usize,
    ) -> Result<(f64, f64), Broken> {
        self.read(reader, asked, entry)?;
        let resistance = reader.resistance[entry];
        let mut first = 0.0;
        for (index, word) in asked.words.iter().enumerate() {
            let (in_title, in_body) = self.count(|hit| hit.word == index);
            if in_title + in_body > 0 {
                first += word.weight * saturated(resistance, in_title, in_body);
            }
        }
        let mut relevance = first;
        self.each_second(asked, resistance, |_, adds| relevance += adds);
        Ok((first, relevance))
    }

    fn count(&self, is_it: impl Fn(&Hit) -> bool) -> (u32, u32) {
        let mut counts = (0, 0);
        for hit in self.hits.iter().filter(|hit| is_it(hit)) {
            if hit.is_title {
                counts.0 += 1;
            } else {
                counts.1 += 1;
            }
        }
        counts
    }

    /// Calls `each` with what exact forms and pairs add.
    fn each_second(
        &self,
        asked: &Asked,
        resistance: f64,
        mut each: impl FnMut(&dyn Fn() -> Part, f64),
    ) {
        let mut tell =
            |kind: PartKind, words: &dyn Fn() -> String, worth: f64, counts: (u32, u32)| {
                let (in_title, in_body) = counts;
                if in_title + in_body > 0 {
                    let adds = worth * saturated(resistance, in_title, in_body);
                    each(&|| Part { kind, words: words(), worth, in_title, in_body, adds }, adds);
                }
            };
        for form in &asked.forms {
            let counts = self.count(|hit| hit.form == form.id);
            tell(PartKind::Exact, &|| form.text.clone(), EXACT * form.weight, counts);
        }
        for pair in &asked.pairs {
            let [ordered, near] = self.pairs(pair.first, pair.second);
            let words =
                || format!("{} {}", asked.words[pair.first].text, asked.words[pair.second].text);
            tell(PartKind::Neighbours, &words, PAIR * pair.weight, ordered);
            tell(PartKind::Near, &words, PAIR * pair.weight, near);
        }
    }

    /// How often two words follow each other, and how often they are near; in title and body.
    fn pairs(&self, first: usize, second: usize) -> [(u32, u32); 2] {
        let (mut ordered, mut near) = ((0, 0), (0, 0));
        let (mut last_first, mut last_second): (Option<u32>, Option<u32>) = (None, None);
        for hit in &self.hits {
            let bump = |counts: &mut (u32, u32)| {
                if hit.is_title {
                    counts.0 += 1;
                } else {
                    counts.1 += 1;
                }
            };
            let is_near = |last: Option<u32>| last.is_some_and(|last| hit.at - last < WINDOW);
            if hit.word == first {
                if is_near(last_second) {
                    bump(&mut near);
                }
                last_first = Some(hit.at);
            } else if hit.word == second {
                if is_near(last_first) {
                    bump(&mut near);
                }
                if last_first.is_some_and(|last| hit.at - last == 1) {
                    bump(&mut ordered);
                }
                last_second = Some(hit.at);
            }
        }
        [ordered, near]
    }
}

/// What a part of a question is worth when it is asked `count` times.
pub(super) fn weight(worth: f64, count: u32) -> f64 {
    formula::emphasis(count) * worth
}
