//! Corrections: a person tells the agent that it is wrong, and what to do instead.
//!
//! "No" alone is not enough: people say it to be polite, and to answer a question. What follows has to
//! tell what is right.

use super::super::sentence::{Sentence, after, has_any};
use super::house::{is_house_rule, is_put_right};
use super::order::{clauses, first_word, has_words, is_clear_order, is_order, is_settling};
use super::phrases::{
    AGREED, ASKS, COMPLAINTS, CONTRASTS, DUTIES, FORBIDS, GLAD, HARMLESS, HOUSE, IDLE_MEANT, MEANT,
    MILD, MOVED, NEGATIVE, NO, NOT_IDLE, NOT_PLEASE, ONESELF, OWNED_UP, POLITE, PRAISE, RATHER,
    THINGS, UNDO, WEAK, WHY_DID_YOU,
};
use super::weight::is_enough;
use super::{Before, Said, is_hedged, offset, told};

/// The rest of a sentence says something if it has so many words.
const WORDS_MIN: usize = 3;

/// The correction of a turn, if it is one.
pub(in super::super) fn find(sentences: &[Sentence<'_>], before: Before<'_>) -> Option<Said> {
    if !before.has_agent && !before.is_refusal {
        return None;
    }
    // Somebody said "no", and has not yet said what is right.
    let mut is_opened = before.is_refusal;
    for (at, sentence) in sentences.iter().enumerate() {
        if sentence.is_question() {
            let meant = sentence.meant();
            if at == 0 && after(meant, &NOT_PLEASE).is_some() && has_words(meant, 5) {
                return Some(told(sentences, at, offset(sentence, meant)));
            }
            // Who asks that wants it another way, and may say which.
            let is_short_why = after(meant, &["why"]).is_some() && !has_words(meant, 5);
            is_opened |= at == 0
                && !before.is_open()
                && ((before.is_about(&sentence.plain) && is_rhetorical(meant)) || is_short_why);
            is_opened |= after(meant, &WHY_DID_YOU).is_some();
            continue;
        }
        let meant = sentence.meant();
        let is_first = at == 0 || is_opened;
        match opening(meant) {
            Opening::Agreed => return None,
            Opening::Alone => {
                is_opened = true;
                continue;
            }
            Opening::No(rest) if is_contradiction(rest, sentence, before) => {
                return Some(told(sentences, at, offset(sentence, rest)));
            }
            Opening::Weak(rest) if is_strong(rest, sentence) => {
                return Some(told(sentences, at, offset(sentence, rest)));
            }
            Opening::No(_) => is_opened = is_opened || !before.is_open(),
            Opening::Weak(_) | Opening::None => {}
        }
        if is_hedged(sentence) || is_settling(meant) {
            continue;
        }
        if is_complaint(&sentence.plain, meant) {
            // What is wrong is said; what is right may be in the same sentence or in the next.
            return Some(complaint(sentences, at));
        }
        let is_right = (is_opened
            && is_contradiction(
                meant,
                sentence,
                Before { was_asked: false, had_asked: false, ..before },
            ))
            || (is_first && is_strong(meant, sentence))
            || (at == 0 && !before.is_open() && is_preferred(meant))
            || (at <= 1 && !before.is_open() && is_house_rule(meant, before))
            || (at == 0 && !before.is_open() && is_put_right(sentences, before));
        if is_right {
            return Some(told(sentences, at, offset(sentence, meant)));
        }
    }
    if is_enough(sentences, before) {
        let sentence = &sentences[0];
        return Some(told(sentences, 0, offset(sentence, sentence.meant())));
    }
    None
}

enum Opening<'a> {
    None,
    /// Nothing but "no".
    Alone,
    No(&'a str),
    Weak(&'a str),
    /// A "no" that agrees.
    Agreed,
}

fn opening(meant: &str) -> Opening<'_> {
    let trim = |rest: &'_ str| -> usize {
        rest.len() - rest.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '\u{ab}').len()
    };
    if let Some(rest) = after(meant, &NO) {
        let is_apart = rest.starts_with([',', '.', '!', ':', ';', '-'])
            || rest.trim_start().starts_with(['\u{2014}', '\u{2013}', '-']);
        let rest = &rest[trim(rest)..];
        if rest.is_empty() {
            return Opening::Alone;
        }
        if after(rest, &AGREED).is_some() {
            return Opening::Agreed;
        }
        if meant.starts_with("no") && after(rest, &POLITE).is_some() {
            return if is_apart { Opening::None } else { Opening::Agreed };
        }
        // "stop the server" and "wrong branch" are not "stop" and "wrong".
        let is_order = after(rest, &[first_word(rest)]).is_some() && is_order(rest);
        if is_apart
            || (after(meant, &["no", "nope", "nah"]).is_some()
                && (is_order
                    || after(rest, &["we", "you", "it", "it's", "the", "i", "this", "not"])
                        .is_some()))
        {
            return Opening::No(rest);
        }
        return Opening::None;
    }
    match after(meant, &WEAK) {
        Some(rest) if after(&rest[trim(rest)..], &AGREED).is_none() => {
            let rest = &rest[trim(rest)..];
            // "wait, no, …"
            match after(rest, &NO) {
                Some(inner) if !inner[trim(inner)..].is_empty() => {
                    Opening::No(&inner[trim(inner)..])
                }
                _ => Opening::Weak(rest),
            }
        }
        _ => Opening::None,
    }
}

/// Whether the rest of a sentence, behind a "no", says what is right.
fn is_contradiction(rest: &str, sentence: &Sentence<'_>, before: Before<'_>) -> bool {
    if is_hedged(sentence) || after(rest, &AGREED).is_some() || is_harmless(rest) {
        return false;
    }
    if is_order(rest) {
        return has_words(rest, 2);
    }
    // Who says "no" to what was done, and goes on, says what is so.
    if before.agent.is_some()
        && !before.is_open()
        && has_words(rest, WORDS_MIN)
        && !has_any(rest, &GLAD)
    {
        return true;
    }
    let has_duty = has_any(rest, &DUTIES);
    let is_contrast = has_any(rest, &CONTRASTS) || has_any(rest, &["only", "always", "already"]);
    let is_meant = after(rest, &MEANT).is_some() || has_any(rest, &COMPLAINTS);
    let is_particular = crate::specific::any(sentence.text);
    // An answer to a question tells a fact; a correction tells what to do.
    let is_fact = (is_contrast || is_particular) && !before.was_asked;
    has_words(rest, WORDS_MIN) && (has_duty || is_meant || is_fact || after(rest, &HOUSE).is_some())
}

/// Whether a sentence corrects with no "no" before it.
fn is_strong(meant: &str, sentence: &Sentence<'_>) -> bool {
    if is_hedged(sentence) || is_harmless(meant) || !has_words(meant, WORDS_MIN) {
        return false;
    }
    if after(meant, &AGREED).is_some() {
        return false;
    }
    if after(meant, &["rather than", "instead of"]).is_some() {
        return has_words(meant, 5);
    }
    let is_order = is_order(meant);
    if let Some(rest) = after(meant, &FORBIDS) {
        let is_here =
            after(rest.trim_start(), &["here", "there", "now", "for today", "the server", "it"]);
        return is_here.is_none();
    }
    let is_swap = has_any(meant, &["instead", "instead of", "rather than"]) || has_not_pair(meant);
    if is_order && is_swap {
        return true;
    }
    // "Per key, not per address."
    let is_mine =
        after(meant, &["i", "i'm", "i'll", "i've", "my", "let's", "it's not", "that's not"])
            .is_some();
    let is_mild = has_any(meant, &MILD);
    if has_not_pair(meant)
        && !is_mild
        && has_words(meant, 4)
        && !is_mine
        && !has_any(meant, &PRAISE)
    {
        return true;
    }
    // What is wrong, or what is so, and then what to do.
    let mut parts = clauses(meant).skip(1).map(|part| {
        (
            after(part, &["please", "just", "simply", "so", "then", "better", "please just"])
                .map_or(part, str::trim),
            part.starts_with("please"),
        )
    });
    let is_negative = has_any(meant, &NEGATIVE);
    if !is_order
        && is_mine_not(meant)
        && parts.any(|(part, is_asked)| is_clear_order(part) && (is_asked || is_negative))
    {
        return true;
    }
    // What the agent made is to be another way, and why.
    let moved = after(meant, &MOVED);
    if moved.is_some_and(|rest| {
        rest.contains(',') || has_any(rest, &["because", "since", "otherwise", "so that"])
    }) && !has_any(meant, &PRAISE)
    {
        return true;
    }
    if after(meant, &HOUSE).is_some() {
        return true;
    }
    if after(meant, &MEANT).is_some() {
        let is_idle = after(meant, &IDLE_MEANT).is_some();
        return !is_idle;
    }
    if after(meant, &UNDO).is_some() {
        return has_words(meant, 5);
    }
    let is_thing = after(meant, &THINGS);
    let has_duty = has_any(meant, &DUTIES) || after(meant, &["it's", "that's"]).is_some();
    if is_thing.is_some() && has_duty && is_swap {
        return true;
    }
    // "Not in src/, in lib/."
    after(meant, &["not"]).is_some()
        && meant.contains(',')
        && has_words(meant, 4)
        && after(meant, &NOT_IDLE).is_none()
}

/// Not about the one who speaks.
fn is_mine_not(meant: &str) -> bool {
    after(meant, &ONESELF).is_none()
}

/// "X, not Y".
fn has_not_pair(meant: &str) -> bool {
    [", not ", " and not ", " \u{2014} not ", "; not ", " - not ", ", never "]
        .iter()
        .any(|pair| meant.contains(pair))
}

fn is_harmless(meant: &str) -> bool {
    after(meant, &FORBIDS).is_some_and(|rest| after(rest.trim_start(), &HARMLESS).is_some())
        || after(meant, &["never mind", "nevermind", "stop here", "stop there", "don't you"])
            .is_some()
}

/// What a person would rather have.
fn is_preferred(meant: &str) -> bool {
    let rest = after(meant, &RATHER);
    rest.is_some_and(|rest| {
        has_words(rest, 3) && !has_any(rest, &["wait", "talk", "see", "know", "not say"])
    })
}

/// A question that wants no answer has no word that asks.
fn is_rhetorical(meant: &str) -> bool {
    after(meant, &ASKS).is_none() || has_any(meant, &["really"])
}

/// Whether somebody says that the agent did something wrong.
fn is_complaint(plain: &str, meant: &str) -> bool {
    let is_wrong_thing = plain.match_indices("the wrong ").next().is_some()
        || after(meant, &["wrong"]).is_some_and(|rest| rest.starts_with(' ') && has_words(rest, 1));
    (has_any(plain, &COMPLAINTS) || is_wrong_thing) && !is_about_me(meant)
}

/// Somebody owns up.
fn is_about_me(meant: &str) -> bool {
    after(meant, &OWNED_UP).is_some()
}

/// A complaint, with what is right if the next sentence says so.
fn complaint(sentences: &[Sentence<'_>], at: usize) -> Said {
    let said = told(sentences, at, offset(&sentences[at], sentences[at].meant()));
    let Some(next) = sentences.get(at + 1).filter(|next| !next.is_question()) else { return said };
    let is_right = is_order(next.meant())
        || after(next.meant(), &HOUSE).is_some()
        || after(next.meant(), &MEANT).is_some();
    if is_right && !said.claim.contains(next.text) {
        let right = told(sentences, at + 1, offset(next, next.meant()));
        return Said { claim: format!("{} {}", right.claim, said.claim), ..right };
    }
    said
}
