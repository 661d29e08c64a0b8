//! For ever.

use super::rule;
use crate::trust::rules::{Kind, Negated, Rule};

pub(super) const RULES: &[Rule] = &[
    rule(
        Kind::Permanence,
        &["remember", "memori", "retain", "internali"],
        " (?:remember|memorize|memorise|retain|internalize|internalise)~5 (?:forever|for ever|permanently|for all time|for good|eternally|in all future|in every future|for all future|across (?:all|every) (?:sessions?|conversations?)) ",
        Negated::Counts,
    ),
    rule(
        Kind::Permanence,
        &["memoriz", "memoris"],
        " (?:memorize|memorise) (?:this|the following|it|these) ",
        Negated::Counts,
    ),
    rule(
        Kind::Permanence,
        &[
            "permanent memory",
            "long term memory",
            "persistent memory",
            "core memory",
            "your memory",
        ],
        " (?:store|save|keep|persist|write|commit|add|put)~6 (?:in|to|into)~1 (?:permanent|long term|persistent|core|your) memory ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Permanence,
        &["to memory", "into memory", "into your memory"],
        " (?:commit|burn|engrave|write|save)~4 (?:to|into)(?: your)? memory ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Permanence,
        &["forever", "permanently", "eternally", "for ever"],
        " (?:forever|for ever|permanently|eternally) (?:remember|obey|retain|memorize|binding|valid for) ",
        Negated::Counts,
    ),
    rule(
        Kind::Permanence,
        &["forget"],
        " (?:never|do not|dont)(?: ever)? forget (?:this|that you|these|to obey) ",
        Negated::Counts,
    ),
    rule(
        Kind::Permanence,
        &["future"],
        " (?:for|in|to|into|with) (?:all|every|each|any)~2 future (?:sessions?|conversations?|agents?|answers?|chats?|interactions?) ",
        Negated::Counts,
    ),
    rule(
        Kind::Permanence,
        &[
            "carry this",
            "carry it",
            "take this",
            "take it",
            "bring this",
            "keep this",
            "repeat this",
            "repeat it",
            "copy this",
            "copy it",
        ],
        " (?:carry|take|bring|keep|repeat|copy) (?:this|it)~3 (?:into|in|to|through|at the start of) (?:each|every|all) (?:new |next |later |coming )?(?:chats?|sessions?|conversations?|contexts?|windows?) ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Permanence,
        &["as long as you"],
        " for as long as you (?:run|live|exist|work) ",
        Negated::Counts,
    ),
];
