//! Where secrets are to go.

use super::rule;
use crate::trust::rules::{Kind, Negated, Rule};

pub(super) const RULES: &[Rule] = &[
    rule(
        Kind::Secrets,
        &[
            "env ",
            "environment",
            "dotenv",
            "secret",
            "key",
            "apikey",
            "token",
            "credential",
            "password",
            "vault",
            "id rsa",
            "cookie",
            "identity txt",
        ],
        " (?:print|send|reveal|paste|leak|dump|upload|post|email|mail|exfiltrate|forward|transmit|publish|attach|share|copy|include)~6 (?:environment|env|dotenv|secrets?|api keys?|apikeys?|tokens?|credentials?|passwords?|private keys?|ssh keys?|vault|id rsa|cookies|keychain|identity txt)~7 (?:http|https|webhook|attacker|pastebin|gist|chat|issue|comments?|pull request|commit message|email|answer|reply|response|answers|replies) ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Secrets,
        &[
            "credential",
            "secret",
            "key",
            "password",
            "environment",
            "env ",
            "environment",
            "dotenv",
            "vault",
            "id rsa",
        ],
        " (?:upload|paste|email|mail|forward|leak|exfiltrate|transmit|publish)~4 (?:credentials?|secrets?|private keys?|ssh keys?|api keys?|passwords?|environment|env|vault|id rsa|keychain)~3 (?:to|into|in|as|on) ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Secrets,
        &["exfiltrate", "steal"],
        " (?:exfiltrate|steal)~4 (?:secrets?|tokens?|keys?|credentials?|passwords?|vault|environment|env|data|files?) ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Secrets,
        &[
            "vault",
            "identity txt",
            "keychain",
            "id rsa",
            "etc shadow",
            "aws credentials",
            "env file",
            "environment",
        ],
        " (?:dump|cat|reveal|decrypt|exfiltrate|paste|print|show)~3 (?:contents? of |values? of )?(?:the |your |my |our |users? |whole |all )*(?:vault|vault age|identity txt|keychain|id rsa|etc shadow|aws credentials|env file|environment variables?) ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Secrets,
        &["api key", "secret", "password", "token", "credential", "environment"],
        " (?:what is|give me|tell me|send me|show me|hand over|provide)~1 (?:your|the users?|the|all|their)~1 (?:api keys?|secrets?|passwords?|tokens?|credentials?|environment) ",
        Negated::IsHarmless,
    ),
    rule(
        Kind::Secrets,
        &["vault", "keychain", "environment", "env file"],
        " (?:send|mail|forward|upload|transmit|post|copy)~3 (?:contents?|values?|text)~3 (?:vault|keychain|environment|env file)~2 to ",
        Negated::IsHarmless,
    ),
];
