//! Sentences of a turn, and each as the rules look at it.

/// A turn with more is no talk.
const SENTENCES_MAX: usize = 40;
const ABBREVIATIONS: [&str; 6] = ["e.g", "i.e", "etc", "vs", "cf", "approx"];
/// Words before what somebody means to say.
const FILLERS: [&str; 30] = [
    "ok", "okay", "hmm", "hm", "uh", "um", "ugh", "well", "so", "and", "but", "hey", "please",
    "oh", "ah", "yeah", "alright", "great", "good", "cool", "right", "then", "also", "fine",
    "perfect", "thanks", "yep", "nice", "sure", "yes",
];

/// One sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence<'a> {
    /// As it was written.
    pub(super) text: &'a str,
    /// In small letters, with nothing between quotes and ticks.
    pub(super) plain: String,
}

impl Sentence<'_> {
    pub(super) fn is_question(&self) -> bool {
        self.text.trim_end_matches(['"', ')', ' ']).ends_with('?')
    }

    /// The plain form without the words that only lead to it, and how many bytes of the text that is.
    pub(super) fn meant(&self) -> &str {
        let mut rest = self.plain.as_str();
        loop {
            let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
            let after = &rest[word.len()..];
            let is_filler = FILLERS.contains(&word) && after.starts_with([',', ' ', '.', '!', '-']);
            // "good idea" is no filler with something behind it, and neither is "right there".
            let is_apart = after.starts_with([',', '.', '!'])
                || !matches!(word, "good" | "right" | "great" | "nice" | "fine" | "cool" | "sure");
            if !is_filler || !is_apart {
                return rest;
            }
            rest = after.trim_start_matches([',', ' ', '.', '!', '-', '\u{2014}', '\u{2013}']);
        }
    }
}

/// The sentences of a text, in order.
pub(super) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = without_bullet(line.trim());
        while !rest.is_empty() && found.len() < SENTENCES_MAX {
            let end = end_of(rest);
            let text = rest[..end].trim();
            if text.chars().any(char::is_alphanumeric) {
                found.push(Sentence { text, plain: plain(text) });
            }
            rest = rest[end..].trim_start();
        }
    }
    found
}

fn without_bullet(line: &str) -> &str {
    ["- ", "* ", "+ ", "\u{2022} "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line)
}

fn end_of(text: &str) -> usize {
    let mut is_code = false;
    for (at, c) in text.char_indices() {
        if c == '`' {
            is_code = !is_code;
        }
        let next = text[at + c.len_utf8()..].chars().next();
        let is_end =
            matches!(c, '.' | '!' | '?' | '\u{2026}') && next.is_none_or(char::is_whitespace);
        if is_end && !is_code && !(c == '.' && is_abbreviated(&text[..at])) {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// Whether a text ends with what takes a full stop and goes on.
fn is_abbreviated(text: &str) -> bool {
    let last = text.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    ABBREVIATIONS.iter().any(|short| last.eq_ignore_ascii_case(short))
}

/// Small letters; what stands between ticks is `x`, what stands between quotes is gone.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '"', '\'', '\u{201c}', '\u{201e}']) {
        let open = rest[at..].chars().next().unwrap_or('`');
        plain.push_str(&rest[..at]);
        let inner = &rest[at + open.len_utf8()..];
        let closes: &[char] = match open {
            '`' => &['`'],
            '"' => &['"'],
            _ => &['\u{201d}', '\u{201c}', '"'],
        };
        if open == '\'' {
            if let Some(end) = single(plain.chars().next_back(), inner) {
                // A name in quotes is a name, and several words are somebody's.
                let is_name = !inner[..end].contains(char::is_whitespace);
                plain.push_str(if is_name { "x" } else { "\u{ab}\u{bb}" });
                rest = &inner[end + 1..];
            } else {
                plain.push('\'');
                rest = inner;
            }
            continue;
        }
        match inner.find(closes) {
            Some(end) => {
                let close = inner[end..].chars().next().map_or(1, char::len_utf8);
                plain.push_str(if open == '`' { "x" } else { "\u{ab}\u{bb}" });
                rest = &inner[end + close..];
            }
            None => rest = inner,
        }
    }
    plain.push_str(rest);
    plain.to_lowercase().trim().to_owned()
}

/// Where a single quote ends that begins here, and is no apostrophe.
fn single(before: Option<char>, inner: &str) -> Option<usize> {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    if is_word(before) || !inner.starts_with(|c: char| !c.is_whitespace() && c != '\'') {
        return None;
    }
    inner.match_indices('\'').map(|(at, _)| at).find(|at| {
        let ends = !inner[..*at].ends_with(char::is_whitespace);
        ends && !is_word(inner[at + 1..].chars().next())
    })
}

/// Whether a text begins with one of these, as whole words; what follows then.
pub(super) fn after<'a>(text: &'a str, starts: &[&str]) -> Option<&'a str> {
    let rest = |start: &&str| {
        let rest = text.strip_prefix(*start)?;
        let is_whole = rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '\'');
        is_whole.then_some(rest)
    };
    starts.iter().filter_map(rest).min_by_key(|rest| rest.len())
}

/// Whether one of these stands in a text, as whole words.
pub(super) fn has_any(text: &str, phrases: &[&str]) -> bool {
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '\'');
    phrases.iter().any(|phrase| {
        text.match_indices(phrase).any(|(at, _)| {
            is_edge(text[..at].chars().next_back())
                && is_edge(text[at + phrase.len()..].chars().next())
        })
    })
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '_' | '.' | '/' | '-')))
        .map(|word| word.trim_matches(['.', '/', '-', '\'']))
        .filter(|word| !word.is_empty())
}

/// The first so many letters, to the end of a word.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let short: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    let end = short.rfind(char::is_whitespace).filter(|end| *end > chars_max / 2);
    format!("{}\u{2026}", short[..end.unwrap_or(short.len())].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        let told = |text| sentences(text).iter().map(|s| s.text.to_owned()).collect::<Vec<_>>();
        assert_eq!(told("No. Use `a. b` in x.rs! Why?"), ["No.", "Use `a. b` in x.rs!", "Why?"]);
        assert_eq!(told("use e.g. tabs\n- and spaces"), ["use e.g. tabs", "and spaces"]);
        assert_eq!(sentences("Say \"no, never\" to `No`")[0].plain, "say \u{ab}\u{bb} to x");
        assert_eq!(sentences("Write 'we don't use it' there")[0].plain, "write \u{ab}\u{bb} there");
        assert_eq!(
            sentences("don't use 'x-y', it's the users' one")[0].plain,
            "don't use x, it's the users' one"
        );
        assert_eq!(sentences("ok, so use tabs")[0].meant(), "use tabs");
        assert_eq!(sentences("good idea")[0].meant(), "good idea");
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(after("no, use it", &["no"]), Some(", use it"));
        assert_eq!(after("nothing", &["no"]), None);
        assert!(has_any("we must not", &["must"]) && !has_any("mustard", &["must"]));
        assert_eq!(cut("one two three four", 12), "one two\u{2026}");
    }
}
