//! What speaks for a turn being a correction where no phrase of its own gives it away.
//!
//! A person who corrects speaks of what the agent has just done, and says what is not so, what must be,
//! what is enough, or what to do; a person who goes on to the next thing speaks of that. Nothing of it is
//! sure, so it is added up.

use super::super::sentence::{Sentence, after, has_any, words};
use super::order::{begins_something, clauses, goes_on, is_order, is_settling, is_thanks};
use super::phrases::EXPECTED;
use super::{Before, is_hedged};

/// So much is enough.
const ENOUGH: i32 = 5;
/// Longer turns tell of something else.
const SENTENCES_MAX: usize = 4;

#[rustfmt::skip]
const DUTY: [&str; 12] = [
    "must", "mustn't", "has to", "have to", "needs to", "needs", "should", "shouldn't", "supposed to", "can't",
    "cannot", "not allowed",
];
#[rustfmt::skip]
const NOT: [&str; 14] = [
    "not", "no", "never", "nothing", "none", "without", "isn't", "aren't", "doesn't", "don't", "won't", "wasn't",
    "nobody", "neither",
];
#[rustfmt::skip]
const LIMIT: [&str; 17] = [
    "enough", "too", "max", "at most", "only", "at least", "instead", "rather", "back", "stays", "keeps",
    "always", "already", "broken", "at most", "all our", "max",
];
#[rustfmt::skip]
const GLAD: [&str; 38] = [
    "great", "nice", "thanks", "thank you", "thx", "perfect", "awesome", "good", "cool", "fine", "pass", "passes",
    "passed", "works", "work now", "green", "not bad", "makes sense", "better", "agree", "lovely", "wonderful",
    "excellent", "love", "done", "ok for now", "okay for now", "that's all", "interesting", "wow", "true", "fast now",
    "all right", "alright", "no problem", "no worries", "good point", "fair",
];
#[rustfmt::skip]
const NEXT: [&str; 20] = [
    "now", "next", "then", "also", "and", "another", "let's", "can", "could", "would", "here", "what", "how", "when",
    "if", "while", "until", "once", "meanwhile", "later",
];
#[rustfmt::skip]
const YES: [&str; 8] = [
    "yes", "yeah", "yep", "yup", "sure", "agreed", "exactly", "right",
];

/// Whether enough speaks for it.
pub(super) fn is_enough(sentences: &[Sentence<'_>], before: Before<'_>) -> bool {
    let Some(first) = sentences.first() else { return false };
    let meant = first.meant();
    let is_out = sentences.len() > SENTENCES_MAX
        || before.is_open()
        || first.is_question()
        || is_hedged(first)
        || words(meant).count() < 4
        || is_thanks(meant)
        || after(meant, &NEXT).is_some()
        || after(&first.plain, &NEXT).is_some()
        || has_any(meant, &["also", "as well"])
        || has_any(meant, &EXPECTED)
        || is_settling(meant)
        || after(&first.plain, &YES).is_some()
        || sentences.iter().any(|sentence| has_any(&sentence.plain, &GLAD));
    if is_out {
        return false;
    }
    let any = |phrases: &[&str]| sentences.iter().any(|sentence| has_any(&sentence.plain, phrases));
    let is_about = sentences.iter().any(|one| before.is_about(&one.text.to_lowercase()));
    let has_order = orders(sentences);
    let weights = [
        (is_about, 2),
        (before.is_on(&first.text.to_lowercase()), 1),
        (any(&NOT), 2),
        (any(&DUTY), 2),
        (has_order, 2),
        (is_order(meant) && !begins_something(meant) && !goes_on(meant), 2),
        (any(&LIMIT), 2),
        (after(meant, &["we", "our"]).is_some() || any(&["here", "our", "we", "us"]), 1),
        (clauses(meant).count() > 1 || sentences.len() > 1, 1),
        (after(meant, &["i want", "i need"]).is_some(), 2),
        (after(meant, &["i", "i'm", "i'll", "i've", "my"]).is_some(), -2),
        (goes_on(meant) || begins_something(meant), -3),
    ];
    weights.iter().filter(|(holds, _)| *holds).map(|(_, weight)| weight).sum::<i32>() >= ENOUGH
}

/// Whether it says what to do, behind what is so.
fn orders(sentences: &[Sentence<'_>]) -> bool {
    let is_fit = |part: &str| {
        let part = after(part, &["please", "just", "simply", "so", "then"]).map_or(part, str::trim);
        is_order(part) && !goes_on(part) && !begins_something(part)
    };
    let later =
        sentences.iter().skip(1).filter(|one| !one.is_question()).any(|one| is_fit(one.meant()));
    later || sentences.first().is_some_and(|first| clauses(first.meant()).skip(1).any(is_fit))
}
