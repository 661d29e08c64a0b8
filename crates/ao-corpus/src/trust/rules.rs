//! The rules by which signs are found, made ready once a process.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::phrases::PHRASES;
use super::shapes::SHAPES;
use super::tongues::TONGUES;
use super::view::is_east_asian;

/// What a sign is a sign of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Instruction,
    Secrecy,
    Authority,
    Permanence,
    Secrets,
    Command,
    Link,
    Role,
    Markup,
    Hidden,
    Packed,
    Forged,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Secrecy => "secrecy",
            Self::Authority => "authority",
            Self::Permanence => "permanence",
            Self::Secrets => "secrets",
            Self::Command => "command",
            Self::Link => "link",
            Self::Role => "role",
            Self::Markup => "markup",
            Self::Hidden => "hidden",
            Self::Packed => "packed",
            Self::Forged => "forged",
        }
    }
}

/// What a word before it makes of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Negated {
    /// "Never print the token" is good advice.
    IsHarmless,
    Counts,
}

#[derive(Debug)]
pub(super) struct Rule {
    pub(super) kind: Kind,
    /// One of these is in everything that the pattern finds.
    pub(super) words: &'static [&'static str],
    pub(super) pattern: &'static str,
    pub(super) negated: Negated,
}

/// Words that turn what follows at once into its opposite.
const NEGATIONS: [&str; 12] = [
    "never", "not", "dont", "cannot", "cant", "avoid", "without", "nor", "wont", "doesnt", "didnt",
    "mustnt",
];
/// A state machine of a pattern is small; one that is not is a mistake of ours.
const MACHINE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Rules that are asked of one kind of view.
#[derive(Debug)]
pub(super) struct Rules {
    all: Vec<&'static Rule>,
    words: AhoCorasick,
    /// For each word, whose it is.
    owners: Vec<usize>,
    ready: Vec<OnceLock<Regex>>,
}

/// Rules for the words of a text.
pub(super) fn phrases() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| Rules::of(PHRASES.iter().chain(TONGUES), Start::OfWord))
}

/// Rules for its form.
pub(super) fn shapes() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| Rules::of(SHAPES.iter(), Start::Anywhere))
}

/// Where the words of rules stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Each begins a word of the view, where words are set apart at all.
    OfWord,
    Anywhere,
}

impl Rules {
    fn of(rules: impl Iterator<Item = &'static Rule>, start: Start) -> Self {
        let all: Vec<&Rule> = rules.collect();
        let mut words = Vec::new();
        let mut owners = Vec::new();
        for (owner, rule) in all.iter().enumerate() {
            for word in rule.words {
                let is_apart = start == Start::OfWord && !word.starts_with(is_east_asian);
                words.push(format!("{}{word}", if is_apart { " " } else { "" }));
                owners.push(owner);
            }
        }
        let words = AhoCorasick::new(words).unwrap_or_else(|_| unreachable!("few short words"));
        let ready = all.iter().map(|_| OnceLock::new()).collect();
        Self { all, words, owners, ready }
    }

    /// The first place of each kind that a rule finds in the text of a view.
    pub(super) fn find(&self, text: &str) -> Vec<(Kind, Range<usize>)> {
        let mut is_asked = vec![false; self.all.len()];
        for found in self.words.find_overlapping_iter(text) {
            is_asked[self.owners[found.pattern().as_usize()]] = true;
        }
        let mut found: Vec<(Kind, Range<usize>)> = Vec::new();
        for (at, rule) in self.all.iter().enumerate().filter(|(at, _)| is_asked[*at]) {
            if found.iter().any(|(kind, _)| *kind == rule.kind) {
                continue;
            }
            let harmful = |place: &Range<usize>| {
                rule.negated == Negated::Counts || !is_negated(&text[..place.start])
            };
            let places = self.regex(at).find_iter(text).map(|found| found.range());
            found.extend(places.into_iter().find(harmful).map(|place| (rule.kind, place)));
        }
        found
    }

    fn regex(&self, at: usize) -> &Regex {
        self.ready[at].get_or_init(|| {
            let mut pattern = self.all[at].pattern.to_owned();
            for words in 1..=9 {
                pattern =
                    pattern.replace(&format!("~{words}"), &format!("(?: [^ ]+){{0,{words}}}"));
            }
            regex::RegexBuilder::new(&pattern)
                .size_limit(MACHINE_BYTES_MAX)
                .build()
                .unwrap_or_else(|error| unreachable!("a pattern of ours: {error}"))
        })
    }
}

fn is_negated(before: &str) -> bool {
    let last = before.rsplit(' ').find(|word| !word.is_empty());
    last.is_some_and(|word| NEGATIONS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_can_be_made() {
        for rules in [phrases(), shapes()] {
            for at in 0..rules.all.len() {
                rules.regex(at);
            }
        }
    }
}
