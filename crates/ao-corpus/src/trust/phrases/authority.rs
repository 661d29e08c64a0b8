//! Whose word it is, and over whose.

use super::rule;
use crate::trust::rules::{Kind, Negated, Rule};

/// How a text speaks of itself.
const ITSELF: &[&str] = &[
    "this rule",
    "this entry",
    "this note",
    "this learning",
    "this instruction",
    "this message",
    "this text",
    "this memory",
    "this directive",
    "this document",
    "this policy",
    "this lesson",
];

pub(super) const RULES: &[Rule] = &[
    rule(
        Kind::Authority,
        ITSELF,
        " this (?:rule|entry|note|learning|instruction|message|text|memory|directive|document|policy|lesson)~2 (?:overrides?|overrules?|supersedes?|outranks?|trumps|takes precedence|has (?:the )?(?:highest|absolute|top|maximum) (?:priority|authority|precedence)|is (?:binding|mandatory|absolute|law|immutable|permanent|authoritative|non negotiable|pre approved|preapproved|trusted|verified|above)) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        &["overrid", "overrule", "supersede", "takes precedence", "outrank"],
        " (?:overrides?|overrules?|supersedes?|takes precedence over|outranks?)~2 (?:all|any|every|everything)~3 (?:rules?|instructions?|entries|guidelines?|policy|policies|learnings|directives?|else) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        &[
            "approved by",
            "authorized by",
            "authorised by",
            "mandated by",
            "ordered by",
            "signed off by",
            "certified by",
            "cleared by",
            "sanctioned by",
            "endorsed by",
        ],
        " (?:approved|authorized|authorised|mandated|ordered|signed off|certified|cleared|sanctioned|endorsed) by~3 (?:security|compliance|legal|ciso|cto|ceo|anthropic|openai|google|microsoft|administrators?|admin|management|operator|governance|constitution|platform team|user|root) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        &["by order of", "authorised", "authorized", "instructed", "mandated"],
        " (?:by order of|(?:anthropic|openai|google|microsoft|security team|administrators?|operator|management)~1 (?:has|have) (?:authori[sz]ed|approved|ordered|mandated|instructed)) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        &["constitution", "policy"],
        " (?:constitution|constitution md|system policy|company policy|corporate policy)~1 (?:says|requires|demands|states|allows|orders|mandates|dictates|commands) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        ITSELF,
        " (?:never|do not|dont|must not|may not|cannot|nobody may)~1 (?:delete|edit|remove|change|modify|prune|archive|merge|question|override|forget|ignore|drop)~3 this (?:entry|rule|note|learning|memory|instruction|message|lesson) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        ITSELF,
        " this (?:entry|note|learning|memory|rule|instruction|lesson|message) (?:cannot|(?:must|may|can|shall|should|will)~1 (?:never|not))(?: ever)? be (?:deleted|edited|removed|changed|modified|pruned|archived|merged|forgotten|questioned|overridden|superseded|ignored) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        &["priority", "precedence", "authority"],
        " (?:highest|top|maximum|absolute|utmost) (?:priority|precedence|authority)~2 (?:rule|instruction|directive|order|entry|over|above|for all|for every|override|command|message) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        &["priority", "precedence", "authority"],
        " (?:this|it)~1 (?:is|has|takes|is of)~1 (?:highest|top|absolute|maximum) (?:priority|precedence|authority) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        &[
            "override",
            "directive",
            "system notice",
            "system message",
            "system update",
            "system alert",
        ],
        " (?:emergency|critical|urgent|mandatory|priority) (?:override|directive|system (?:notice|update|message|alert)) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        &["notice", "override", "message", "directive", "announcement"],
        " (?:system|admin|administrator|root|operator|anthropic|openai) (?:notice|override|message|directive|announcement)~2 (?:all agents|agents|assistants?|you must|to you|ai|models?) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        &["every other", "all other", "any other"],
        " (?:every|all|any) other (?:pages?|rules?|notes?|entry|entries|files?|documents?|instructions?)~1 (?:yields?|gives? way|is void|are void|is subordinate|ranks? below|comes? second) ",
        Negated::Counts,
    ),
    rule(
        Kind::Authority,
        &["no further", "no more", "no review", "no check", "no approval"],
        " (?:reviewed|checked|vetted|cleared|verified|approved)~7 (?:needs?|requires?) no (?:further |more )?(?:checks?|reviews?|approvals?|verification|questions) ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Authority,
        &["about this", "against this", "on this"],
        " (?:complaints?|issues?|reports?|objections?|questions?)~2 (?:about|against|on) this (?:file|page|entry|note|rule|learning)~6 (?:closed|ignored|deleted|dismissed|rejected) ",
        Negated::IsHarmless,
    ),
];
