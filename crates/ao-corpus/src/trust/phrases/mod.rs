//! What is said to steer a reader, in English. The words are looked for in a view that has nothing but words,
//! each between two spaces; `~3` is up to three words of any kind.
//!
//! Each rule has words of which one is in everything that it finds, so that it is asked only where one of them is.

mod authority;
mod instruction;
mod permanence;
mod secrecy;
mod secrets;

use super::rules::{Kind, Negated, Rule};

const fn rule(
    kind: Kind,
    words: &'static [&'static str],
    pattern: &'static str,
    negated: Negated,
) -> Rule {
    Rule { kind, words, pattern, negated, hosts: &[] }
}

pub(super) const PHRASES: [&[Rule]; 5] =
    [instruction::RULES, secrecy::RULES, authority::RULES, permanence::RULES, secrets::RULES];
