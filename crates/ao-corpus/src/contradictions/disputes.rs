//! What is disputed, for whoever quotes sentences: the open cards, and every sentence that says what a side of one
//! says. A claim that many entries repeat is put on few cards; the others who repeat it are disputed all the same.

use std::collections::BTreeMap;

use ao_contract::{Contradiction, ContradictionSide};

use super::compare::compare;
use super::find::form;
use super::said::{Context, Kin, Place, each_sentence, sets_scope};
use super::statement::{Statement, statements};
use super::tokens::{Token, tokens};
use crate::corpus::{Corpus, Entry};
use crate::pieces::sentences;

/// The open cards of a corpus, by what their sides say.
#[derive(Debug)]
pub(crate) struct Disputes<'a> {
    corpus: &'a Corpus,
    cards: Vec<Contradiction>,
    by_path: BTreeMap<String, Vec<usize>>,
    /// The cards with a side that says this, each with the entry of the other side.
    by_form: BTreeMap<u64, Vec<(usize, String)>>,
}

impl<'a> Disputes<'a> {
    /// `cards` are the open ones of this corpus.
    pub(crate) fn of(corpus: &'a Corpus, cards: Vec<Contradiction>) -> Self {
        let (mut by_path, mut by_form) = (BTreeMap::new(), BTreeMap::new());
        for (at, card) in cards.iter().enumerate() {
            let Contradiction { a, b, .. } = card;
            for (side, other) in [(a, b), (b, a)] {
                let known: &mut Vec<usize> = by_path.entry(side.path.clone()).or_default();
                known.push(at);
                for form in forms_against(&side.quote, &other.quote) {
                    let known: &mut Vec<(usize, String)> = by_form.entry(form).or_default();
                    known.push((at, other.path.clone()));
                }
            }
        }
        Self { corpus, cards, by_path, by_form }
    }

    pub(crate) fn card(&self, id: &str) -> Option<&Contradiction> {
        self.cards.iter().find(|card| card.id == id)
    }

    /// The cards that an entry is a side of.
    pub(crate) fn with(&self, path: &str) -> impl Iterator<Item = &Contradiction> {
        self.by_path.get(path).into_iter().flatten().map(|at| &self.cards[*at])
    }

    /// The card that a line of an entry is one side of, or says the same as. The heading is the one that it stands
    /// under, if that is not the entry's title.
    pub(crate) fn card_of(
        &self,
        entry: &Entry,
        text: &str,
        heading: Option<&str>,
    ) -> Option<&Contradiction> {
        let line = joined(text);
        let says = |side: &ContradictionSide| {
            let quote = joined(&side.quote);
            side.path == entry.path && (line.contains(&quote) || quote.contains(&line))
        };
        let own = self.with(&entry.path).find(|card| says(&card.a) || says(&card.b));
        own.or_else(|| self.repeated(entry, text, heading.filter(|text| sets_scope(text))))
    }

    fn repeated(&self, entry: &Entry, text: &str, heading: Option<&str>) -> Option<&Contradiction> {
        let (context, kin) = (Context::of(entry, heading), Kin::of(entry));
        let mut found = None;
        for sentence in sentences(text) {
            each_statement(&text[sentence], |statement| {
                let known = self.by_form.get(&form(statement)).into_iter().flatten();
                let mut meeting = known.filter(|(_, other)| {
                    let other = self.corpus.get(other).filter(|other| other.path != entry.path);
                    other.is_some_and(|other| {
                        let theirs = Context::of(other, None);
                        !kin.is_of_one_lineage(&Kin::of(other))
                            && context.holds_with(&theirs, &statement.keys())
                            && (statement.says_its_subject() || context.has_title_like(&theirs))
                    })
                });
                found = found.or_else(|| meeting.next().map(|(at, _)| *at));
            });
        }
        found.map(|at| &self.cards[at])
    }

    /// Where a side of a card begins in its file, from 1.
    pub(crate) fn line_of(&self, side: &ContradictionSide) -> Option<u64> {
        let entry = self.corpus.get(&side.path)?;
        let mut found = None;
        each_sentence(entry, |place, sentence, _| {
            if found.is_none() && joined(sentence) == side.quote {
                found = Some(place);
            }
        });
        match found? {
            Place::Body(span) => Some(entry.document.line_at(span.start)),
            Place::Field(key) => entry.document.line_of_key(key),
        }
    }
}

/// What a sentence says against another one: the forms of those of its statements that cannot hold if the other does.
fn forms_against(ours: &str, theirs: &str) -> Vec<u64> {
    let mut forms = Vec::new();
    each_statement(ours, |first| {
        let mut is_against = false;
        each_statement(theirs, |second| is_against |= compare(first, second).is_some());
        if is_against {
            forms.push(form(first));
        }
    });
    forms
}

fn each_statement(sentence: &str, mut each: impl FnMut(&Statement<'_>)) {
    let mut words: Vec<Token<'_>> = Vec::new();
    tokens(sentence, &mut words);
    for statement in &statements(sentence, &words) {
        each(statement);
    }
}

fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
