//! What stands around statements, each read once: a claim that many entries repeat is put against many others.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::find::{Said, with_statement};
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

    /// Statements by where they hold, in their order: of those that hold nowhere together, one tells for all.
    pub(super) fn groups(&self, form: &[usize]) -> Vec<Vec<usize>> {
        if let [at] = form {
            return vec![vec![*at]];
        }
        let mut places = BTreeMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for at in form {
            let Some(around) = self.get(*at) else { continue };
            let place = *places.entry(around.context.holds()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.push(*at),
                None => groups.push(vec![*at]),
            }
        }
        groups
    }

    /// Whether two statements may hold at one place, with all of their groups.
    pub(super) fn hold_together(&self, one: usize, other: usize) -> bool {
        let (Some(first), Some(second)) = (self.get(one), self.get(other)) else { return false };
        first.context.holds_with(&second.context, &first.keys)
    }

    /// Whether what stands around two statements that hold at one place lets them be about one thing.
    pub(super) fn may_meet(&self, one: usize, other: usize) -> bool {
        if self.said[one].entry == self.said[other].entry {
            return false;
        }
        let (Some(first), Some(second)) = (self.get(one), self.get(other)) else { return false };
        (first.is_told || first.context.has_title_like(&second.context))
            && !first.kin.is_of_one_lineage(&second.kin)
    }

    fn get(&self, at: usize) -> Option<&Around> {
        self.around[at].get_or_init(|| self.look(&self.said[at]).map(Box::new)).as_deref()
    }

    fn look(&self, said: &Said) -> Option<Around> {
        let entry = &self.corpus.entries[said.entry];
        with_statement(self.corpus, said, |statement| {
            let (keys, is_told) = (statement.keys(), statement.says_its_subject());
            let context = Context::of(entry, said.heading.as_deref());
            Some(Around { context, kin: Kin::of(entry), keys, is_told })
        })
    }
}
