//! Finding secrets in files: the vault's own values, and what the public rules and ours know.
//!
//! The rules are a second line: they know how keys of many services look, and miss what looks like
//! nothing. What was found is told by its place and its rule, never by what it says.

mod expression;
mod files;
mod reach;
mod report;
mod rules;

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::name::Name;
use crate::redact::{BadValues, Redactor};
use crate::secret::Secret;
use expression::Expression;
pub use files::{FILE_BYTES_MAX, Found, Unread, walk};
pub(crate) use report::taken_out;
pub use report::{has_key, value_without_keys, without_keys};
use rules::{Allow, Rule, RuleAuthor, Rules, Seen};

/// The rule of the vault's own values.
const OWN_RULE: &str = "vault-value";
/// What a rule of names and shapes says is not told where another rule says it too.
const GENERIC: &str = "generic-api-key";
/// On a line with this word nothing is found by a rule, as with the rules' own program.
const ALLOW: &[u8] = b"gitleaks:allow";
/// A file with a zero among its first bytes is no text.
const TEXT_BYTES: usize = 8000;

/// A secret, by its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub path: String,
    /// Both from 1; absent where the file itself is one.
    pub place: Option<(usize, usize)>,
    pub rule: String,
    pub about: String,
    pub(crate) range: Range<usize>,
}

/// Looks for secrets.
#[derive(Debug)]
pub struct Scanner {
    rules: Rules,
    keywords: AhoCorasick,
    /// Which rules have a keyword.
    of_keyword: Vec<Vec<usize>>,
    values: Redactor,
    names: Vec<Name>,
}

#[derive(Debug, thiserror::Error)]
pub enum BadScanner {
    #[error("the rules cannot be read: {0}")]
    Rules(#[from] toml::de::Error),
    #[error("the keywords of the rules cannot be searched: {0}")]
    Keywords(#[from] aho_corasick::BuildError),
    #[error(transparent)]
    Values(#[from] BadValues),
}

impl Scanner {
    /// Knows the public rules, and these values by their names.
    pub fn new(values: &[(Name, Secret)]) -> Result<Self, BadScanner> {
        let rules = Rules::read()?;
        let mut of_keyword: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (nth, rule) in rules.rules.iter().enumerate() {
            for keyword in &rule.keywords {
                of_keyword.entry(keyword).or_default().push(nth);
            }
        }
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(of_keyword.keys())?;
        let of_keyword = of_keyword.into_values().collect();
        let names = values.iter().map(|(name, _)| name.clone()).collect();
        let values = Redactor::new(values.iter().map(|(_, value)| value.expose()))?;
        Ok(Self { rules, keywords, of_keyword, values, names })
    }

    pub fn rules(&self) -> usize {
        self.rules.rules.len()
    }

    /// The rules and exceptions that were needed so far and cannot be read, and why.
    pub fn unusable(&self) -> Vec<String> {
        let named = |(of, it): (&str, &Expression)| it.failed().map(|why| format!("{of}: {why}"));
        self.expressions().filter_map(named).collect()
    }

    fn expressions(&self) -> impl Iterator<Item = (&str, &Expression)> {
        let general =
            self.rules.allows.iter().flat_map(Allow::expressions).map(|it| ("allowlist", it));
        let of_rules = self.rules.rules.iter().flat_map(move |rule| {
            let own = rule.regex.iter().chain(&rule.path);
            let all = own.chain(rule.allows.iter().flat_map(Allow::expressions));
            all.map(|it| (rule.id.as_str(), it))
        });
        general.chain(of_rules)
    }

    /// What is in a file and in its name, in the order of the places.
    pub fn scan(&self, path: &str, bytes: &[u8]) -> Vec<Finding> {
        let mut found = Vec::new();
        // A name is committed as its content is.
        for (value, _) in self.values.places(path.as_bytes()) {
            let about = format!("a value of the vault, vault://{}, in the name", self.names[value]);
            let rule = OWN_RULE.to_owned();
            found.push(Finding { path: path.into(), place: None, rule, about, range: 0..0 });
        }
        for (value, at) in self.values.places(bytes) {
            let about = format!("a value of the vault, vault://{}", self.names[value]);
            found.push(finding(path, bytes, OWN_RULE, about, at..at));
        }
        if !self.rules.allows.iter().any(|allow| allow.is_of_path(path)) {
            self.by_rules(path, bytes, &mut found);
        }
        found.sort_by_key(|finding| (finding.range.start, finding.rule.clone()));
        found.dedup();
        found
    }

    fn by_rules(&self, path: &str, bytes: &[u8], found: &mut Vec<Finding>) {
        let is_text = memchr::memchr(0, &bytes[..bytes.len().min(TEXT_BYTES)]).is_none();
        let hits = if is_text { self.hits(bytes) } else { BTreeMap::new() };
        let mut ours = Vec::new();
        for (nth, rule) in self.rules.rules.iter().enumerate() {
            if rule.path.as_ref().is_some_and(|wanted| !wanted.is_match(path.as_bytes())) {
                continue;
            }
            if rule.regex.is_none() {
                let about = rule.about.clone();
                let rule = rule.id.clone();
                found.push(Finding { path: path.into(), place: None, rule, about, range: 0..0 });
                continue;
            }
            let within = match hits.get(&nth) {
                Some(places) => around(places, rule.reach, bytes.len()),
                None if rule.keywords.is_empty() && is_text => everywhere(bytes.len()),
                None => continue,
            };
            let seen = rule.found(bytes, &within).into_iter();
            let told = seen.filter(|seen| !self.is_allowed(rule, path, seen));
            let about = || rule.about.clone();
            let all = told.map(|seen| finding(path, bytes, &rule.id, about(), seen.secret));
            let places = if rule.author == RuleAuthor::Ours { &mut ours } else { &mut *found };
            places.extend(all);
        }
        // Said once, by the rule that others know by its name; unless ours sees more of it.
        ours.retain(|own| {
            !found.iter().any(|other| {
                other.rule != GENERIC
                    && other.range.start <= own.range.start
                    && own.range.end <= other.range.end
            })
        });
        found.append(&mut ours);
        let is_said = |one: &Finding| {
            one.rule == GENERIC
                && found.iter().any(|other| {
                    other.rule != GENERIC
                        && other.range.start < one.range.end
                        && one.range.start < other.range.end
                })
        };
        let kept: Vec<bool> = found.iter().map(|one| !is_said(one)).collect();
        let mut kept = kept.into_iter();
        found.retain(|_| kept.next().unwrap_or(true));
    }

    fn is_allowed(&self, rule: &Rule, path: &str, seen: &Seen<'_>) -> bool {
        memchr::memmem::find(seen.line(), ALLOW).is_some()
            || rule.allows.iter().chain(&self.rules.allows).any(|allow| allow.allows(path, seen))
    }

    /// Where the keywords of each rule stand.
    fn hits(&self, bytes: &[u8]) -> BTreeMap<usize, Vec<Range<usize>>> {
        let mut hits: BTreeMap<usize, Vec<Range<usize>>> = BTreeMap::new();
        for found in self.keywords.find_overlapping_iter(bytes) {
            for rule in &self.of_keyword[found.pattern().as_usize()] {
                hits.entry(*rule).or_default().push(found.range());
            }
        }
        hits
    }
}

fn everywhere(length: usize) -> Vec<Range<usize>> {
    std::iter::once(0..length).collect()
}

/// Where a rule is tried: around these places as far as it reaches, or everywhere.
fn around(places: &[Range<usize>], reach: Option<usize>, length: usize) -> Vec<Range<usize>> {
    let Some(reach) = reach else { return everywhere(length) };
    let mut within: Vec<Range<usize>> = Vec::new();
    for place in places {
        let start = place.end.saturating_sub(reach);
        // One more: the end of a range is no end of a text.
        let end = (place.start + reach + 1).min(length);
        match within.last_mut() {
            Some(last) if start <= last.end => {
                last.start = last.start.min(start);
                last.end = last.end.max(end);
            }
            _ => within.push(start..end),
        }
    }
    within
}

fn finding(path: &str, bytes: &[u8], rule: &str, about: String, range: Range<usize>) -> Finding {
    let before = &bytes[..range.start];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1) + 1;
    Finding { path: path.into(), place: Some((line, column)), rule: rule.into(), about, range }
}

#[cfg(test)]
mod strangers;
#[cfg(test)]
mod tests;
