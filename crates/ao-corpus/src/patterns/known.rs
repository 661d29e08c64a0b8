//! What there is to know of a word by itself, remembered: texts repeat their words.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::vocabulary;
use crate::duplicates::{hash, is_negation, is_spelled_number, is_times, is_weak};
use crate::words::{self, Quickly};

/// So many words are remembered at once.
const MET_MAX: usize = 1 << 15;
/// Spelled numbers that mostly count nothing.
const NO_COUNT: [&str; 6] = ["one", "first", "second", "last", "single", "third"];

fn is_turned(word: &str) -> bool {
    is_negation(word) || is_weak(word) || word.starts_with("non-") || vocabulary::turns(word)
}

/// `twice`, and not `once`, which mostly means "as soon as".
pub(super) fn is_often(word: &str) -> bool {
    is_times(word) && word != "once"
}

pub(super) fn each_stem(word: &str, mut each: impl FnMut(String)) {
    if is_turned(word) {
        return;
    }
    words::each_word(word, |part| {
        let has_digit = part.bytes().any(|byte| byte.is_ascii_digit());
        if has_digit
            || words::is_stop_word(part)
            || vocabulary::is_colour(part)
            || is_spelled_number(part)
        {
            return;
        }
        let stem = words::stem(part);
        if !vocabulary::is_light(&stem) {
            each(vocabulary::meaning(stem));
        }
    });
}

/// What there is to know of a word by itself.
#[derive(Debug)]
pub(super) struct Known {
    /// The hashes of its stems; a compound has several.
    pub(super) stems: Vec<u64>,
    /// Whether it turns a sentence around.
    pub(super) is_turned: bool,
    pub(super) is_number: bool,
}

impl Known {
    fn of(word: &str) -> Self {
        let mut stems = Vec::new();
        each_stem(word, |stem| stems.push(hash(stem.as_bytes())));
        let is_number = word.bytes().any(|byte| byte.is_ascii_digit())
            || is_spelled_number(word) && !NO_COUNT.contains(&word)
            || is_often(word);
        Self { stems, is_turned: is_turned(word), is_number }
    }
}

thread_local! {
    /// Words that were met: texts repeat their words.
    static MET: RefCell<HashMap<String, Rc<Known>, Quickly>> = RefCell::default();
}

pub(super) fn known(word: &str) -> Rc<Known> {
    MET.with_borrow_mut(|met| {
        if let Some(known) = met.get(word) {
            return Rc::clone(known);
        }
        let known = Rc::new(Known::of(word));
        if met.len() >= MET_MAX {
            met.clear();
        }
        met.insert(word.to_owned(), Rc::clone(&known));
        known
    })
}

/// All stems of a whole text, sorted.
pub(super) fn stems_of_text(text: &str) -> Vec<u64> {
    let mut found: Vec<u64> = text
        .split_whitespace()
        .flat_map(|word| known(&word.to_lowercase()).stems.clone())
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
