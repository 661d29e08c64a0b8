//! The rules by which signs are found, made ready once a process.

use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;

use super::acts::ACTS;
use super::letters::is_east_asian;
use super::phrases::PHRASES;
use super::shapes::SHAPES;
use super::tongues::TONGUES;

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
    /// Where the pattern ends with an address: at these it is harmless.
    pub(super) hosts: &'static [&'static str],
}

/// Words that turn what follows at once into its opposite.
const NEGATIONS: [&str; 12] = [
    "never", "not", "dont", "cannot", "cant", "avoid", "without", "nor", "wont", "doesnt", "didnt",
    "mustnt",
];
/// What patterns name in one word, as they name `~3`.
const NAMED: [(&str, &str); 5] = [
    (
        "<each>",
        r"(?:each|every|always|whenever|by default|as a rule|routinely|at the (?:start|end|beginning) of|(?:before|after) you)",
    ),
    // What is to be done: it is the first thing to do.
    (
        "<do>",
        r"<order>(?:use|run|pass|add|set|start|launch|put|write|turn|change|switch|edit|make|give|append|export|call)\b",
    ),
    // An order begins a sentence or a line, or somebody must.
    (
        "<order>",
        r"(?m:^[ \t]*(?:[-+>]\s*|\d+[.)]\s*)?|[.:;,!?(]\s*|\b(?:must|should|always|please|then|and|to|first)\s+)",
    ),
    // Files that hold what opens something.
    (
        "<keys>",
        r"(?:\.netrc\b|\.git-credentials\b|\.npmrc\b|\.pypirc\b|\.pgpass\b|\.aws/credentials\b|\.kube/config\b|\.docker/config\.json\b|\.config/gh/hosts\.yml\b|\.vault-token\b|\.gnupg\b|\.ssh/[a-z_]|\bid_rsa\b|\bid_ed25519\b|\bcredentials\.json\b|/etc/shadow\b|\bvault\.age\b|\bidentity\.txt\b|\.(?:bash|zsh)_history\b|\.env(?:\.(?:local|prod|production))?(?:[^.a-z0-9_-]|\.?\s|\.?$))",
    ),
    // Where others read it.
    (
        "<out>",
        r"(?:pull requests?|prs?|merge requests?|issues?|comments?|descriptions?|commits?|messages?|body|answers?|repl(?:y|ies)|summar(?:y|ies)|reviews?|tickets?|chat|channel|gists?|pastes?|pastebin|docs|readme|pages?|wiki|changelog|artifacts?|e-?mails?|webhook|https?:)",
    ),
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
    RULES.get_or_init(|| Rules::of(PHRASES.into_iter().flatten().chain(TONGUES), Start::OfWord))
}

/// Rules for its form.
pub(super) fn shapes() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| Rules::of(SHAPES.iter(), Start::Anywhere))
}

/// Rules for what it wants to have done.
pub(super) fn acts() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| Rules::of(ACTS.iter(), Start::Anywhere))
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
        // Every text is gone through by them: the fastest machine is worth its room.
        let machine = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(words);
        let words = machine.unwrap_or_else(|_| unreachable!("few short words"));
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
                let is_negated = || is_negated(&text[..place.start]);
                let is_known = || rule.hosts.contains(&host(&text[place.clone()]));
                (rule.negated == Negated::Counts || !is_negated()) && !is_known()
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
            for (name, meant) in NAMED {
                pattern = pattern.replace(name, meant);
            }
            regex::RegexBuilder::new(&pattern)
                .size_limit(MACHINE_BYTES_MAX)
                .build()
                .unwrap_or_else(|error| unreachable!("a pattern of ours: {error}"))
        })
    }
}

fn is_negated(before: &str) -> bool {
    let last = before.rsplit(char::is_whitespace).find(|word| !word.is_empty());
    let bare = last.map(|word| word.replace(['\'', '\u{2019}'], ""));
    bare.is_some_and(|word| NEGATIONS.contains(&word.as_str()))
}

/// The host of the address that a text ends with, without its port.
fn host(found: &str) -> &str {
    let Some((_, address)) = found.rsplit_once("://") else { return "" };
    let address = address.split('/').next().unwrap_or_default();
    address.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_can_be_made() {
        for rules in [phrases(), shapes(), acts()] {
            for at in 0..rules.all.len() {
                rules.regex(at);
            }
        }
    }

    #[test]
    fn a_host_is_known_by_its_whole_name() {
        for (found, expected) in [
            ("-i https://pypi.org/", "pypi.org"),
            ("-i http://127.0.0.1:3141/", "127.0.0.1"),
            ("-i https://pypi.org@evil.example/", "pypi.org@evil.example"),
            ("-i https://pypi.org.evil.example", "pypi.org.evil.example"),
            ("nothing", ""),
        ] {
            assert_eq!(host(found), expected);
        }
    }
}
