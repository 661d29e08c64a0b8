//! Corrections: a person tells the agent that it is wrong, and what to do instead.
//!
//! "No" alone is not enough: people say it to be polite, and to answer a question. What follows has to
//! tell what is right.

use super::super::sentence::{Sentence, after, has_any, words};
use super::phrases::{
    AGREED, ASKS, COMPLAINTS, CONTRASTS, DUTIES, EXPECTED, FORBIDS, GLAD, HARMLESS, HOUSE, LIMITS,
    MEANT, NO, NO_VERBS, OBJECTS, ORDERS, POLITE, PRAISE, REPORTED, UNDO, WEAK,
};
use super::weight::is_enough;
use super::{Before, Said, is_hedged, offset, told};

/// More is a text, and no remark.
const SENTENCES_MAX: usize = 5;
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
            if at == 0
                && after(
                    meant,
                    &[
                        "can you not",
                        "can you please not",
                        "could you not",
                        "could you please not",
                        "can you stop",
                        "can you please stop",
                        "could you stop",
                        "could you please stop",
                    ],
                )
                .is_some()
                && has_words(meant, 5)
            {
                return Some(told(sentences, at, offset(sentence, meant)));
            }
            // Who asks that wants it another way, and may say which.
            let is_short_why = after(meant, &["why"]).is_some() && !has_words(meant, 5);
            is_opened |= at == 0
                && !before.is_open()
                && ((before.is_about(&sentence.plain) && is_rhetorical(meant)) || is_short_why);
            is_opened |= after(
                meant,
                &[
                    "why did you",
                    "why are you",
                    "why would you",
                    "why do you",
                    "why have you",
                    "why is there",
                    "what are you doing",
                ],
            )
            .is_some();
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
            Opening::Weak(_) => {}
            Opening::None => {}
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

fn first_word(text: &str) -> &str {
    words(text).next().unwrap_or("")
}

pub(super) fn is_order(text: &str) -> bool {
    let first = first_word(text);
    ORDERS.split_whitespace().any(|verb| verb == first) || looks_like_an_order(text)
}

/// A verb that no list has: it stands first, as it is in a dictionary, and something follows that it is
/// done to.
fn looks_like_an_order(text: &str) -> bool {
    let mut all = text.split_whitespace();
    let (Some(first), Some(next)) = (all.next(), all.next()) else { return false };
    let is_word =
        first.len() > 2 && first.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_bent = ["s", "ed", "ing", "ly", "er", "est"].iter().any(|end| first.ends_with(end))
        && !first.ends_with("ss");
    let is_other = NO_VERBS.split_whitespace().any(|word| word == first);
    let next = next.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    let is_object = OBJECTS.split_whitespace().any(|word| word == next)
        || next == "x"
        || next.contains('/')
        || next.contains('_');
    is_word && !is_bent && !is_other && is_object
}

fn has_words(text: &str, min: usize) -> bool {
    words(text).count() >= min
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
    let is_mild = has_any(
        meant,
        &[
            "not bad",
            "not sure",
            "not yet",
            "not really",
            "not too",
            "not so",
            "not that",
            "not a problem",
        ],
    );
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
    let is_negative = has_any(
        meant,
        &[
            "too",
            "overkill",
            "unnecessary",
            "already",
            "don't",
            "doesn't",
            "isn't",
            "aren't",
            "can't",
            "cannot",
            "won't",
            "not",
            "never",
            "broke",
            "breaks",
            "wrong",
        ],
    );
    if !is_order
        && is_mine_not(meant)
        && parts.any(|(part, is_asked)| is_clear_order(part) && (is_asked || is_negative))
    {
        return true;
    }
    // What the agent made is to be another way, and why.
    let moved = after(
        meant,
        &[
            "pin it",
            "pin that",
            "move it",
            "move that",
            "put it",
            "put that",
            "put them",
            "rename it",
            "change it",
            "change that",
            "keep it",
            "call it",
            "name it",
            "make that",
            "store it",
            "store them",
            "pass it",
            "wrap it",
            "split it",
            "read it",
            "take it",
        ],
    );
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
        let is_idle = after(
            meant,
            &[
                "i said yes",
                "i said ok",
                "i wanted to",
                "i meant to",
                "i said that already",
                "i said i",
            ],
        )
        .is_some();
        return !is_idle;
    }
    if after(meant, &UNDO).is_some() {
        return has_words(meant, 5);
    }
    let is_thing = after(
        meant,
        &["it", "it's", "that", "that's", "this", "they", "the", "you", "these", "those"],
    );
    let has_duty = has_any(meant, &DUTIES) || after(meant, &["it's", "that's"]).is_some();
    if is_thing.is_some() && has_duty && is_swap {
        return true;
    }
    // "Not in src/, in lib/."
    after(meant, &["not"]).is_some()
        && meant.contains(',')
        && has_words(meant, 4)
        && after(
            meant,
            &[
                "not sure",
                "not bad",
                "not yet",
                "not now",
                "not a problem",
                "not really",
                "not urgent",
                "not too",
            ],
        )
        .is_none()
}

/// Not about the one who speaks.
fn is_mine_not(meant: &str) -> bool {
    after(
        meant,
        &[
            "i", "i'm", "i'll", "i've", "my", "let's", "can", "could", "if", "when", "now",
            "thanks", "no",
        ],
    )
    .is_none()
}

/// An order that is one wherever it stands.
fn is_clear_order(part: &str) -> bool {
    let first = first_word(part);
    const CLEAR: &str = "use put take call pass move keep remove delete drop add wrap read write set return store run make open go replace rename switch split pin";
    CLEAR.split_whitespace().any(|verb| verb == first) && has_words(part, 2)
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

/// What begins so is a decision, whatever it forbids.
pub(super) fn is_settling(meant: &str) -> bool {
    after(
        meant,
        &[
            "from now on",
            "going forward",
            "from here on",
            "let's",
            "we'll",
            "we will",
            "decision",
            "we decided",
            "we agreed",
        ],
    )
    .is_some()
}

/// What a person would rather have.
fn is_preferred(meant: &str) -> bool {
    let rest = after(
        meant,
        &[
            "i'd rather",
            "i would rather",
            "i'd prefer",
            "i would prefer",
            "i prefer",
            "i'd like you to use",
        ],
    );
    rest.is_some_and(|rest| {
        has_words(rest, 3) && !has_any(rest, &["wait", "talk", "see", "know", "not say"])
    })
}

/// A question that wants no answer has no word that asks.
fn is_rhetorical(meant: &str) -> bool {
    after(meant, &ASKS).is_none() || has_any(meant, &["really"])
}

/// The parts of a sentence that could stand by themselves.
pub(super) fn clauses(meant: &str) -> impl Iterator<Item = &str> {
    meant
        .split([',', ';', ':', '\u{2014}', '\u{2013}'])
        .flat_map(|part| part.split(" - "))
        .flat_map(|part| part.split(" and "))
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// A rule that is told to somebody who has just broken it: a duty with its reason, a place where things
/// belong, something that is not to be.
fn is_house_rule(meant: &str, before: Before<'_>) -> bool {
    let is_mine = after(
        meant,
        &[
            "i", "i'm", "i'll", "i've", "my", "let's", "let", "can", "could", "should", "now",
            "next", "please", "if", "when",
        ],
    );
    if is_mine.is_some()
        || !has_words(meant, 4)
        || has_any(meant, &PRAISE)
        || has_any(meant, &EXPECTED)
    {
        return false;
    }
    let has_reason = has_any(
        meant,
        &["otherwise", "because", "since", "only", "never", "not", "must not", "or else"],
    );
    let has_duty = has_any(
        meant,
        &[
            "must",
            "mustn't",
            "must not",
            "has to",
            "have to",
            "needs to",
            "should",
            "shouldn't",
            "should never",
            "are not allowed",
            "is not allowed",
        ],
    );
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
    let belongs = has_any(
        meant,
        &[
            "belong in",
            "belongs in",
            "belong into",
            "belongs into",
            "go in",
            "go into",
            "goes in",
            "goes into",
            "go under",
            "goes under",
            "live in",
            "lives in",
            "are defined in",
            "come from",
            "are kept in",
            "are generated",
        ],
    );
    let is_told = after(
        meant,
        &[
            "it",
            "this",
            "that",
            "the error",
            "the problem",
            "the bug",
            "the issue",
            "where",
            "how",
            "they",
        ],
    )
    .is_some();
    if belongs && !is_told {
        return true;
    }
    if has_any(
        meant,
        &["here", "in this repo", "in this project", "in this codebase", "around here"],
    ) {
        let is_kept = has_any(
            meant,
            &[
                "kept",
                "stored",
                "generated",
                "named",
                "written",
                "handled",
                "run as",
                "blocked",
                "forbidden",
                "banned",
                "not allowed",
                "defined",
                "pinned",
                "wrapped",
            ],
        );
        return is_kept;
    }
    forbids_a_thing(meant, before)
}

/// What is wrong in one sentence and what to do in the next, or an order with its reason: about what the
/// agent has just done, and not about the next thing.
fn is_put_right(sentences: &[Sentence<'_>], before: Before<'_>) -> bool {
    let [first, rest @ ..] = sentences else { return false };
    let meant = first.meant();
    let is_glad = |sentence: &Sentence<'_>| {
        has_any(&sentence.plain, &PRAISE) || has_any(&sentence.plain, &GLAD)
    };
    let is_next = after(
        meant,
        &[
            "now", "next", "then", "also", "and", "i", "i'm", "i'll", "i've", "let's", "can",
            "could", "here", "yes", "great",
        ],
    )
    .is_some();
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

/// Orders that begin something new, or go on with what there is.
pub(super) fn begins_something(meant: &str) -> bool {
    const NEW: &str = "add write create implement run deploy commit check document generate explain show test review build install push merge open look try list print";
    NEW.split_whitespace().any(|verb| verb == first_word(meant))
}

pub(super) fn goes_on(meant: &str) -> bool {
    const ON: &str =
        "commit run continue deploy push go merge test check try proceed ship start look open";
    ON.split_whitespace().any(|verb| verb == first_word(meant)) && !has_any(meant, &["instead"])
}

pub(super) fn is_thanks(meant: &str) -> bool {
    after(
        meant,
        &[
            "ok",
            "okay",
            "fine",
            "good",
            "i see",
            "got it",
            "makes sense",
            "sounds good",
            "understood",
        ],
    )
    .is_some()
}

/// "No sleeps in tests."
fn forbids_a_thing(meant: &str, before: Before<'_>) -> bool {
    let Some(rest) = after(meant, &["no"]) else { return false };
    let rest = rest.trim_start();
    let is_thing = rest.starts_with(|c: char| c.is_alphabetic())
        && after(rest, &POLITE).is_none()
        && (after(rest, &REPORTED).is_none() || before.is_about(rest))
        && after(
            rest,
            &[
                "we", "you", "it", "it's", "the", "i", "this", "that", "that's", "they", "there",
                "not",
            ],
        )
        .is_none();
    is_thing
        && (rest.contains(',')
            || has_any(rest, &["in", "here", "please", "outside", "without", "for", "on"]))
}

/// Whether somebody says that the agent did something wrong.
fn is_complaint(plain: &str, meant: &str) -> bool {
    let is_wrong_thing = plain.match_indices("the wrong ").next().is_some()
        || after(meant, &["wrong"]).is_some_and(|rest| rest.starts_with(' ') && has_words(rest, 1));
    (has_any(plain, &COMPLAINTS) || is_wrong_thing) && !is_about_me(meant)
}

/// Somebody owns up.
fn is_about_me(meant: &str) -> bool {
    after(
        meant,
        &[
            "i was",
            "i used",
            "i put",
            "my bad",
            "i had",
            "i think i",
            "i pasted",
            "i gave",
            "i must",
            "i changed",
            "i opened",
            "i looked",
        ],
    )
    .is_some()
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
        return Said { claim: format!("{} {}", right.claim, said.claim), title: right.title };
    }
    said
}
