//! Rules of the house that are told to somebody who has just broken one, and what is put right.

use super::super::sentence::{Sentence, after, has_any};
use super::Before;
use super::order::{
    begins_something, clauses, goes_on, has_words, is_order, is_settling, is_thanks,
};
use super::phrases::{
    BELONGS, CONTRASTS, EXPECTED, GLAD, KEPT, LIMITS, NEXT, NO_THINGS, OTHERWISE_MINE, POLITE,
    PRAISE, REPORTED, RULE_DUTIES, RULE_REASONS, TOLD_OF,
};

/// More is a text, and no remark.
const SENTENCES_MAX: usize = 5;

/// A rule that is told to somebody who has just broken it: a duty with its reason, a place where things
/// belong, something that is not to be.
pub(super) fn is_house_rule(meant: &str, before: Before<'_>) -> bool {
    let is_mine = after(meant, &OTHERWISE_MINE);
    if is_mine.is_some()
        || !has_words(meant, 4)
        || has_any(meant, &PRAISE)
        || has_any(meant, &EXPECTED)
    {
        return false;
    }
    let has_reason = has_any(meant, &RULE_REASONS);
    let has_duty = has_any(meant, &RULE_DUTIES);
    if has_duty && (has_reason || before.is_about(meant)) {
        return true;
    }
    if has_any(meant, &["stays", "stay", "remains"])
        && meant.contains(',')
        && before.is_about(meant)
    {
        return true;
    }
    if after(meant, &["only"]).is_some()
        && has_any(meant, &["can", "may", "should", "must", "are allowed to", "is allowed to"])
    {
        return true;
    }
    if after(meant, &["you need to", "you have to", "you must"]).is_some() {
        return true;
    }
    let belongs = has_any(meant, &BELONGS);
    let is_told = after(meant, &TOLD_OF).is_some();
    if belongs && !is_told {
        return true;
    }
    if has_any(
        meant,
        &["here", "in this repo", "in this project", "in this codebase", "around here"],
    ) {
        let is_kept = has_any(meant, &KEPT);
        return is_kept;
    }
    forbids_a_thing(meant, before)
}

/// What is wrong in one sentence and what to do in the next, or an order with its reason: about what the
/// agent has just done, and not about the next thing.
pub(super) fn is_put_right(sentences: &[Sentence<'_>], before: Before<'_>) -> bool {
    let [first, rest @ ..] = sentences else { return false };
    let meant = first.meant();
    let is_glad = |sentence: &Sentence<'_>| {
        has_any(&sentence.plain, &PRAISE) || has_any(&sentence.plain, &GLAD)
    };
    let is_next = after(meant, &NEXT).is_some();
    let is_yes =
        after(&first.plain, &["yes", "yeah", "yep", "yup", "sure", "agreed", "exactly", "right"])
            .is_some();
    let is_next = is_next || after(&first.plain, &["now", "next", "then", "also", "and"]).is_some();
    if is_next || is_yes || is_glad(first) || sentences.len() > SENTENCES_MAX || is_settling(meant)
    {
        return false;
    }
    if is_order(meant) {
        let is_of_it = before.is_about(&first.plain) || has_any(meant, &["it", "them", "that"]);
        let reason = clauses(meant).skip(1).any(|part| has_words(part, 3) && !is_order(part));
        let has_reason = reason || has_any(meant, &["because", "since", "otherwise", "so that"]);
        return is_of_it && has_reason && !begins_something(meant);
    }
    // "That's a hole! Bind it." What "that" is, is what the agent did.
    let is_pointing = after(meant, &["that", "that's", "this", "it", "it's"]).is_some();
    let is_about = is_pointing || before.is_about(&first.text.to_lowercase());
    let is_statement = has_words(meant, 3) && !is_thanks(meant);
    // "The client retries already, configure it there."
    let is_clause_order = clauses(meant).skip(1).any(|part| {
        let part = after(part, &["please", "just", "simply", "so", "then", "better"])
            .map_or(part, str::trim);
        is_order(part) && has_words(part, 3) && !goes_on(part) && !begins_something(part)
    });
    // "One is enough, they are dear." "The name stays, we can't break it."
    let is_limit = has_any(meant, &LIMITS);
    let has_more = clauses(meant).skip(1).any(|part| has_words(part, 2));
    if is_statement && is_about && (is_clause_order || (is_limit && has_more)) {
        return true;
    }
    let is_next_order = rest.first().is_some_and(|next| {
        !next.is_question() && !is_glad(next) && is_order(next.meant()) && !goes_on(next.meant())
    });
    is_statement
        && is_next_order
        && (is_about
            || has_any(meant, &CONTRASTS)
            || has_any(meant, &["nothing", "wrong", "no-go", "too", "without"]))
}

/// "No sleeps in tests."
pub(super) fn forbids_a_thing(meant: &str, before: Before<'_>) -> bool {
    let Some(rest) = after(meant, &["no"]) else { return false };
    let rest = rest.trim_start();
    let is_thing = rest.starts_with(|c: char| c.is_alphabetic())
        && after(rest, &POLITE).is_none()
        && (after(rest, &REPORTED).is_none() || before.is_about(rest))
        && after(rest, &NO_THINGS).is_none();
    is_thing
        && (rest.contains(',')
            || has_any(rest, &["in", "here", "please", "outside", "without", "for", "on"]))
}
