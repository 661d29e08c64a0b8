//! What stands around statements, each read once: a claim that many entries repeat is put against many others.

use std::cell::OnceCell;

use super::find::{Said, with_statement};
use super::lexicon::GENERIC;
use super::said::{Context, Kin};
use crate::corpus::Corpus;

/// What stands around one statement.
struct Around {
    context: Context,
    kin: Kin,
    keys: Vec<u32>,
    /// The statement says by itself what it is about.
    is_told: bool,
}

pub(super) struct Surroundings<'a> {
    corpus: &'a Corpus,
    said: &'a [Said],
    /// By the place of the statement, as far as they were asked for.
    around: Vec<OnceCell<Option<Box<Around>>>>,
}

impl<'a> Surroundings<'a> {
    pub(super) fn of(corpus: &'a Corpus, said: &'a [Said]) -> Self {
        Self { corpus, said, around: said.iter().map(|_| OnceCell::new()).collect() }
    }

    /// Whether what stands around two statements lets them be about one thing.
    pub(super) fn may_meet(&self, one: usize, other: usize) -> bool {
        if self.said[one].entry == self.said[other].entry {
            return false;
        }
        let (Some(first), Some(second)) = (self.get(one), self.get(other)) else { return false };
        first.context.may_meet(&second.context, &first.keys, first.is_told)
            && !first.kin.is_of_one_lineage(&second.kin)
    }

    fn get(&self, at: usize) -> Option<&Around> {
        self.around[at].get_or_init(|| self.look(&self.said[at]).map(Box::new)).as_deref()
    }

    fn look(&self, said: &Said) -> Option<Around> {
        let entry = &self.corpus.entries[said.entry];
        with_statement(self.corpus, said, |statement| {
            let keys = statement.keys();
            // By itself it must say what it is about.
            let is_specific =
                statement.content.iter().any(|c| !c.token.sense.is(GENERIC) && c.label.is_none());
            let is_told = keys.len() > 1 && is_specific && !statement.is_about_it;
            let context = Context::of(entry, said.heading.as_deref());
            Some(Around { context, kin: Kin::of(entry), keys, is_told })
        })
    }
}
