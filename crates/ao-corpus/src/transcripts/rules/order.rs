//! Orders: sentences, and parts of them, that tell the agent to do something.

use super::super::sentence::{after, has_any, words};
use super::phrases::{NO_VERBS, OBJECTS, ORDERS, SETTLING, THANKS};

pub(super) fn first_word(text: &str) -> &str {
    words(text).next().unwrap_or("")
}

pub(super) fn is_order(text: &str) -> bool {
    let first = first_word(text);
    ORDERS.split_whitespace().any(|verb| verb == first) || looks_like_an_order(text)
}

/// A verb that no list has: it stands first, as it is in a dictionary, and something follows that it is
/// done to.
pub(super) fn looks_like_an_order(text: &str) -> bool {
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

pub(super) fn has_words(text: &str, min: usize) -> bool {
    words(text).count() >= min
}

/// An order that is one wherever it stands.
pub(super) fn is_clear_order(part: &str) -> bool {
    const CLEAR: &str = "use put take call pass move keep remove delete drop add wrap read write set \
        return store run make open go replace rename switch split pin";
    let first = first_word(part);
    CLEAR.split_whitespace().any(|verb| verb == first) && has_words(part, 2)
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
    after(meant, &THANKS).is_some()
}

/// What begins so is a decision, whatever it forbids.
pub(super) fn is_settling(meant: &str) -> bool {
    after(meant, &SETTLING).is_some()
}
