//! Questions that a text answers, made of what is special about it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use ao_contract::ProbeKind;

use crate::corpus::Entry;
use crate::duplicates::is_colour;
use crate::index::{Broken, Index};
use crate::pieces::{Shape, pieces};
use crate::words::{self, Quickly};

/// Fewer would prove little.
pub const PROBES_MIN: usize = 8;
/// Questions that are made, of which those are kept that find the entry best.
pub const CANDIDATES_MAX: usize = 24;
/// Words of a question.
const WORDS_MAX: usize = 12;
/// Words of a question that is a whole sentence.
const SENTENCE_WORDS_MAX: usize = 14;
const WORDS_MIN: usize = 4;
/// Questions made of the rarest words of the whole text.
const GROUPS_MAX: usize = 12;
const GROUP_STEP: usize = 2;
/// Words on each side of a number.
const AROUND: usize = 4;
/// A word that one in so many entries has is common, in all but small corpora.
const COMMON_SHARE: u32 = 2;
const COMMON_MIN: u32 = 50;
/// From one window of words to the next, where a text has little else to ask about.
const STRIDE: usize = 3;

/// One word of a text that may be asked for.
#[derive(Debug, Clone)]
struct Term {
    word: Rc<str>,
    rarity: u32,
    is_number: bool,
}

/// Makes questions of an entry. None has a word of a title of `titled`, the entry itself included.
pub(super) fn probes(
    entry: &Entry,
    titled: &[&Entry],
    index: &Index,
) -> Result<Vec<(ProbeKind, String)>, Broken> {
    let mut maker = Maker::new(entry, titled, index);
    let body = entry.document.body();
    let all = maker.terms(body)?;
    maker.groups(&all);
    let mut heading: Option<Vec<Term>> = None;
    for piece in pieces(body) {
        let text = &body[piece.span.clone()];
        let terms = maker.terms(text)?;
        match piece.shape {
            Shape::Heading => heading = Some(terms),
            Shape::Code => maker.put(ProbeKind::Code, &terms[..terms.len().min(WORDS_MAX)]),
            Shape::Sentence | Shape::Item | Shape::Row => {
                maker.put(ProbeKind::Rare, &rarest(&terms, SENTENCE_WORDS_MAX));
                maker.numbers(&terms);
                maker.symbols(text, &terms)?;
                if let Some(mut words) = heading.take() {
                    words.extend(rarest(&terms, WORDS_MAX));
                    maker.put(ProbeKind::Heading, &words);
                }
                maker.windows.push(terms);
            }
        }
    }
    Ok(maker.choose())
}

/// A question, and how much it asks for at once: the more, the fewer entries it means.
#[derive(Debug, Clone)]
struct Made {
    query: String,
    worth: f64,
}

struct Maker<'a> {
    index: &'a Index,
    title: BTreeSet<String>,
    /// Words that were met, and what they are if they may be asked for.
    met: HashMap<String, Option<Term>, Quickly>,
    /// Words that more entries have ask for nothing.
    common: u32,
    made: BTreeMap<ProbeKind, Vec<Made>>,
    windows: Vec<Vec<Term>>,
}

impl<'a> Maker<'a> {
    fn new(entry: &Entry, titled: &[&Entry], index: &'a Index) -> Self {
        let mut title: BTreeSet<String> = words::stems(&entry.title()).into_iter().collect();
        for other in titled {
            title.extend(words::stems(&other.title()));
        }
        let shown = u32::try_from(index.shown()).unwrap_or(u32::MAX);
        let common = (shown / COMMON_SHARE).max(COMMON_MIN);
        let (met, made) = (HashMap::default(), BTreeMap::new());
        Self { index, title, met, common, made, windows: Vec::new() }
    }

    /// The words of a text that may be asked for, each once.
    fn terms(&mut self, text: &str) -> Result<Vec<Term>, Broken> {
        let mut terms: Vec<Term> = Vec::new();
        let mut broken = None;
        words::each_word(text, |word| {
            let term = match self.met.get(word) {
                Some(term) => term.clone(),
                None => match self.term(word) {
                    Ok(term) => self.met.entry(word.to_owned()).or_insert(term).clone(),
                    Err(error) => {
                        broken = Some(error);
                        None
                    }
                },
            };
            if let Some(term) = term
                && !terms.iter().any(|known| Rc::ptr_eq(&known.word, &term.word))
            {
                terms.push(term);
            }
        });
        broken.map_or(Ok(terms), Err)
    }

    fn term(&self, word: &str) -> Result<Option<Term>, Broken> {
        let is_number = word.bytes().any(|byte| byte.is_ascii_digit());
        // Nobody asks for words that only colour a sentence.
        if is_colour(word) && !is_number {
            return Ok(None);
        }
        let stem = words::stem(word);
        if self.title.contains(&stem) {
            return Ok(None);
        }
        let rarity = self.index.entries_with(&stem)?;
        let is_common = rarity > self.common;
        Ok((!is_common).then(|| Term { word: word.into(), rarity, is_number }))
    }

    fn put(&mut self, kind: ProbeKind, terms: &[Term]) {
        if terms.len() >= WORDS_MIN {
            let made = self.made(terms);
            self.made.entry(kind).or_default().push(made);
        }
    }

    fn made(&self, terms: &[Term]) -> Made {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let all = self.index.shown().max(1) as f64;
        let worth = |term: &Term| libm::log(all / f64::from(term.rarity.max(1)));
        Made { query: joined(terms), worth: terms.iter().map(worth).sum() }
    }

    /// The rarest words of the whole text, a few at a time.
    fn groups(&mut self, all: &[Term]) {
        let mut places: Vec<usize> = (0..all.len()).collect();
        places.sort_by_key(|at| (all[*at].rarity, *at));
        // Each rare word is asked for beside others, so that no single one decides.
        for from in (0..places.len()).step_by(GROUP_STEP).take(GROUPS_MAX) {
            let mut group = places[from..(from + WORDS_MAX).min(places.len())].to_vec();
            group.sort_unstable();
            let group: Vec<Term> = group.into_iter().map(|at| all[at].clone()).collect();
            self.put(ProbeKind::Rare, &group);
        }
    }

    fn numbers(&mut self, terms: &[Term]) {
        for at in (0..terms.len()).filter(|at| terms[*at].is_number) {
            let around = at.saturating_sub(AROUND)..(at + AROUND + 1).min(terms.len());
            self.put(ProbeKind::Number, &terms[around]);
        }
    }

    /// Code within a sentence, and names that are no words, with what is rarest around them.
    fn symbols(&mut self, text: &str, terms: &[Term]) -> Result<(), Broken> {
        for (at, code) in text.split('`').enumerate() {
            if at % 2 == 1 {
                let mut words = self.terms(code)?;
                words.truncate(WORDS_MAX);
                words.extend(fill(&words, terms));
                self.put(ProbeKind::Code, &words);
            }
        }
        let is_symbol = |word: &&str| {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            bare.contains(['_', '/', ':']) || bare.chars().skip(1).any(char::is_uppercase)
        };
        for word in text.split_whitespace().filter(is_symbol) {
            let mut words = self.terms(word)?;
            words.truncate(WORDS_MAX);
            words.extend(fill(&words, terms));
            self.put(ProbeKind::Symbol, &words);
        }
        Ok(())
    }

    /// One of each kind, then those that ask for most; each once.
    fn choose(mut self) -> Vec<(ProbeKind, String)> {
        let by_worth = |a: &Made, b: &Made| b.worth.total_cmp(&a.worth);
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        for (kind, mut made) in std::mem::take(&mut self.made) {
            made.sort_by(by_worth);
            let mut made = made.into_iter().map(|made| (kind, made));
            first.extend(made.next());
            rest.extend(made);
        }
        rest.sort_by(|(_, a), (_, b)| by_worth(a, b));
        for terms in &self.windows {
            let windows = terms.windows(WORDS_MIN + 1).step_by(STRIDE);
            rest.extend(windows.map(|window| (ProbeKind::Rare, self.made(window))));
        }
        let mut seen = BTreeSet::new();
        let all = first.into_iter().chain(rest).map(|(kind, made)| (kind, made.query));
        all.filter(|(_, query)| seen.insert(query.clone())).take(CANDIDATES_MAX).collect()
    }
}

fn joined(terms: &[Term]) -> String {
    terms.iter().map(|term| &*term.word).collect::<Vec<_>>().join(" ")
}

/// What is rarest around a few words.
fn fill(words: &[Term], terms: &[Term]) -> Vec<Term> {
    let is_new = |term: &&Term| !words.iter().any(|word| word.word == term.word);
    let others: Vec<Term> = terms.iter().filter(is_new).cloned().collect();
    rarest(&others, WORDS_MIN.saturating_sub(words.len()).max(1))
}

/// The rarest terms, in the order in which they stand.
fn rarest(terms: &[Term], count: usize) -> Vec<Term> {
    let mut places: Vec<usize> = (0..terms.len()).collect();
    places.sort_by_key(|at| (terms[*at].rarity, *at));
    places.truncate(count);
    places.sort_unstable();
    places.into_iter().map(|at| terms[at].clone()).collect()
}
