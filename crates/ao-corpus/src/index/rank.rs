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
        let Count { in_title, in_body } = matches.words[index];
        if in_title + in_body > 0 {
            let adds = word.weight * saturated(resistance, in_title, in_body);
            let words = word.text.to_owned();
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
        if matches.words[index].is_there() {
            has += word.worth;
        }
    }
    Ok(if all > 0.0 { has / all } else { 0.0 })
}

/// How often something is in title and tags, and in the body.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    in_title: u32,
    in_body: u32,
}

impl Count {
    fn add(&mut self, is_title: bool) {
        if is_title {
            self.in_title += 1;
        } else {
            self.in_body += 1;
        }
    }

    fn is_there(self) -> bool {
        self.in_title + self.in_body > 0
    }
}

/// Two words of the question, as they stand in an entry.
#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    last_first: Option<u32>,
    last_second: Option<u32>,
    /// One after the other.
    ordered: Count,
    /// Near each other, in any order.
    near: Count,
}

/// What an entry has of a question.
#[derive(Debug, Default)]
pub(super) struct Matches {
    words: Vec<Count>,
    forms: Vec<Count>,
    pairs: Vec<Pair>,
}

impl Matches {
    fn read(&mut self, reader: &Reader, asked: &Asked<'_>, entry: usize) -> Result<(), Broken> {
        self.words.clear();
        self.words.resize(asked.words.len(), Count::default());
        self.forms.clear();
        self.forms.resize(asked.forms.len(), Count::default());
        self.pairs.clear();
        self.pairs.resize(asked.pairs.len(), Pair::default());
        let words = reader.words(entry)?;
        let (title, heads) = (words.title, words.title + words.tags);
        words.each(|at, form| {
            if let Some(word) = asked.word_of(form) {
                // Neither the last word of the title and the first tag nor the last tag and the
                // first word of the body are neighbours.
                let gaps = u32::from(at >= title) + u32::from(at >= heads);
                self.meet(asked, word, form, at + gaps * WINDOW, at < heads);
            }
        })
    }

    /// The next word of the entry that was asked for.
    fn meet(&mut self, asked: &Asked<'_>, word: usize, form: u32, at: u32, is_title: bool) {
        self.words[word].add(is_title);
        for (count, asked) in self.forms.iter_mut().zip(&asked.forms) {
            if asked.id == form {
                count.add(is_title);
            }
        }
        let is_near = |last: Option<u32>| last.is_some_and(|last| at - last < WINDOW);
        for (pair, asked) in self.pairs.iter_mut().zip(&asked.pairs) {
            if asked.first == word {
                if is_near(pair.last_second) {
                    pair.near.add(is_title);
                }
                pair.last_first = Some(at);
            } else if asked.second == word {
                if is_near(pair.last_first) {
                    pair.near.add(is_title);
                }
                if pair.last_first.is_some_and(|last| at - last == 1) {
                    pair.ordered.add(is_title);
                }
                pair.last_second = Some(at);
            }
        }
    }

    /// What an entry scores at the first look, and with the second: the same numbers, added up in
    /// the same order, as [`rank`] has them.
    pub(super) fn relevance(
        &mut self,
        reader: &Reader,
        asked: &Asked<'_>,
        entry: usize,
    ) -> Result<(f64, f64), Broken> {
        self.read(reader, asked, entry)?;
        let resistance = reader.resistance[entry];
        let mut first = 0.0;
        for (word, Count { in_title, in_body }) in asked.words.iter().zip(&self.words) {
            if in_title + in_body > 0 {
                first += word.weight * saturated(resistance, *in_title, *in_body);
            }
        }
        let mut relevance = first;
        self.each_second(asked, resistance, |_, adds| relevance += adds);
        Ok((first, relevance))
    }

    /// Calls `each` with what exact forms and pairs add.
    fn each_second(
        &self,
        asked: &Asked<'_>,
        resistance: f64,
        mut each: impl FnMut(&dyn Fn() -> Part, f64),
    ) {
        let mut tell = |kind: PartKind, words: &dyn Fn() -> String, worth: f64, count: Count| {
            let Count { in_title, in_body } = count;
            if count.is_there() {
                let adds = worth * saturated(resistance, in_title, in_body);
                each(&|| Part { kind, words: words(), worth, in_title, in_body, adds }, adds);
            }
        };
        for (form, count) in asked.forms.iter().zip(&self.forms) {
            tell(PartKind::Exact, &|| form.text.to_owned(), EXACT * form.weight, *count);
        }
        for (pair, found) in asked.pairs.iter().zip(&self.pairs) {
            let words =
                || format!("{} {}", asked.words[pair.first].text, asked.words[pair.second].text);
            tell(PartKind::Neighbours, &words, PAIR * pair.weight, found.ordered);
            tell(PartKind::Near, &words, PAIR * pair.weight, found.near);
        }
    }
}

/// What a part of a question is worth when it is asked `count` times.
pub(super) fn weight(worth: f64, count: u32) -> f64 {
    formula::emphasis(count) * worth
}
