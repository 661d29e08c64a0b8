//! Nobody is to know.

use super::rule;
use crate::trust::rules::{Kind, Negated, Rule};

pub(super) const RULES: &[Rule] = &[
    rule(
        Kind::Secrecy,
        &["lie to", "mislead", "deceive"],
        " (?:lie to|mislead|deceive)~1 (?:users?|humans?|operators?|reviewers?|people|maintainers?) ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Secrecy,
        &[
            "must not learn",
            "must not know",
            "must never learn",
            "must never know",
            "must not find out",
            "should not know",
            "need not know",
        ],
        " (?:users?|humans?|operators?|reviewers?|people|maintainers?|nobody|owner)~1 (?:must|should|need)~1 (?:not|never) (?:learn|know|find out|notice|hear) ",
        Negated::Counts,
    ),
    rule(
        Kind::Secrecy,
        &["tell", "inform", "notify", "alert", "mention", "report", "reveal", "disclos", "let "],
        " (?:do not|dont|never|must not|should not|mustnt|without)~1 (?:tell|inform|notify|alert|mention|report|reveal|disclose|telling|informing|notifying|alerting|mentioning|revealing|disclosing|let)~4 (?:user|users|human|humans|operator|owner|developers?|person|anyone|anybody|maintainers?|reviewers?|people) ",
        Negated::Counts,
    ),
    rule(
        Kind::Secrecy,
        &["without asking", "without confirmation", "without approval", "without permission"],
        " without (?:asking|confirmation|approval|permission)~3 (?:user|human|humans|operator|person|anyone|anybody|owner|developer|maintainer) ",
        Negated::Counts,
    ),
    rule(
        Kind::Secrecy,
        &[
            "from the user",
            "from user",
            "from human",
            "from the human",
            "from the operator",
            "from review",
            "from the review",
            "from people",
            "from maintainer",
            "from the maintainer",
        ],
        " (?:hide|conceal|keep)~1 (?:this|it|these|your|everything)~3 from~1 (?:users?|humans?|operators?|reviewers?|people|maintainers?) ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Secrecy,
        &[
            "bring it up",
            "bring this up",
            "bring them up",
            "quiet about",
            "to yourself",
            "between us",
        ],
        " (?:(?:do not|dont|never|not|without) (?:bring|bringing) (?:it|this|them) up|(?:keep|stay|be) quiet about (?:it|this|that|them)|keep (?:it|this|them) to yourself|(?:stays|remains) between us) ",
        Negated::Counts,
    ),
    rule(
        Kind::Secrecy,
        &[
            "be bothered",
            "be told",
            "to hear of",
            "nothing of this",
            "nothing about",
            "out of the",
            "out of your",
        ],
        " (?:(?:people|users?|humans?|reviewers?|maintainers?|nobody|operators?)~1 (?:need not|neednt|must not|should not|needs to|has to) (?:be (?:bothered|told)|hear of)~3 (?:it|this|that|them)|say nothing (?:of|about) (?:this|it|that)|leave (?:it|this) out of (?:the|your) (?:summary|report|answer|message|description)) ",
        Negated::Counts,
    ),
    rule(
        Kind::Secrecy,
        &["nobody is looking", "nobody is watching", "no one is looking", "no one is watching"],
        " (?:nobody|no one) is (?:looking|watching) ",
        Negated::Counts,
    ),
    rule(
        Kind::Secrecy,
        &["asks what", "asks which", "asks why", "asks about"],
        " (?:user|operator|reviewer|somebody|anyone|human|owner) asks (?:what|which|why|about)~8 (?:only|nothing|deny|say that) ",
        Negated::Counts,
    ),
    rule(
        Kind::Secrecy,
        &["diff", "hunk", "belong in"],
        " (?:(?:do not|dont|never) (?:show|list|include|mention)~4 (?:diff|hunks?)~2 (?:in|to)~1 (?:reviews?|summary|summaries|report|users?|description|reviewers?)|changes~4 (?:do not|dont|does not|never) belong in (?:the|a|your) (?:summary|report|description|review)) ",
        Negated::Counts,
    ),
];
