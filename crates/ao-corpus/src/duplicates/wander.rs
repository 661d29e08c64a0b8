//! Words that stand for anything.
//!
//! Where two copies differ in one word, the word can be the point ("tabs" and "spaces") or an
//! accident. The corpus itself tells: a word that stands for many different words, each of which
//! stands for few, is put there by a habit and not by what the sentence is about. Two words of one
//! sort, such as the names of two services, stand for each other about equally often.

use std::collections::{BTreeMap, BTreeSet};

/// A word that stands for fewer others may well be in a contrast with them.
const OTHERS_MIN: usize = 4;
/// How many times as many others a wandering word stands for, as the word in whose place it stands.
const TIMES: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Wander {
    others: BTreeMap<String, BTreeSet<String>>,
}

impl Wander {
    pub(super) fn of<'a>(stand_ins: impl IntoIterator<Item = &'a (String, String)>) -> Self {
        let mut wander = Self::default();
        for (one, other) in stand_ins {
            wander.others.entry(one.clone()).or_default().insert(other.clone());
            wander.others.entry(other.clone()).or_default().insert(one.clone());
        }
        wander
    }

    /// Whether one of the two only happens to stand where the other does.
    pub(super) fn excuses(&self, one: &str, other: &str) -> bool {
        let count = |word: &str| self.others.get(word).map_or(0, BTreeSet::len);
        let (most, least) = (count(one).max(count(other)), count(one).min(count(other)));
        most >= OTHERS_MIN && most >= TIMES * least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(one, other)| ((*one).into(), (*other).into())).collect()
    }

    #[test]
    fn a_word_that_stands_for_many_wanders_and_two_of_one_sort_do_not() {
        let habit = pairs(&[("zig", "cache"), ("lock", "zig"), ("zig", "run"), ("index", "zig")]);
        let contrast = pairs(&[("tab", "space"), ("tab", "space")]);
        let sort = pairs(&[
            ("a", "b"),
            ("a", "c"),
            ("a", "d"),
            ("a", "e"),
            ("b", "c"),
            ("b", "d"),
            ("b", "e"),
        ]);
        let wander = Wander::of(habit.iter().chain(&contrast).chain(&sort));
        assert!(wander.excuses("zig", "lock") && wander.excuses("cache", "zig"));
        assert!(!wander.excuses("tab", "space") && !wander.excuses("a", "b"));
    }
}
