//! What an entry says it is about: in its header, or else with the words of its title.

use std::borrow::Cow;
use std::collections::HashMap;

use ao_contract::NamedBy;
use ao_corpus::words::{each_word, is_stop_word};
use ao_corpus::{Document, Entry, looks_secret};

use super::topics::REST;

/// Longer ones are sentences.
const LABEL_CHARS_MAX: usize = 32;
/// More tags than this say nothing.
const LABELS_AN_ENTRY: usize = 16;
const WORDS_A_TITLE: usize = 12;
const WORD_CHARS_MIN: usize = 3;

/// The fields of a header that name topics; the first of them that says something counts.
const FIELDS: [(NamedBy, &[&str]); 3] = [
    (NamedBy::Tags, &["tags", "scope_tags"]),
    (NamedBy::Category, &["category"]),
    (NamedBy::Scope, &["scope"]),
];

/// Words that titles of notes have whatever they are about.
const PLAIN: [&str; 12] = [
    "finding",
    "findings",
    "learned",
    "learning",
    "learnings",
    "lesson",
    "lessons",
    "note",
    "notes",
    "pattern",
    "patterns",
    "untitled",
];

/// Words with numbers in the place of their letters.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Looked up, never walked through: its order makes no difference.
    known: HashMap<String, Option<u32>>,
    pub(super) names: Vec<String>,
}

impl Words {
    /// The number of a text whose name `name_of` gives; `None` if it has none.
    fn number(&mut self, text: &str, name_of: fn(&str) -> Option<String>) -> Option<u32> {
        if let Some(number) = self.known.get(text) {
            return *number;
        }
        let number = name_of(text).and_then(|name| {
            if let Some(known) = self.known.get(&name) {
                return *known;
            }
            let fresh = u32::try_from(self.names.len()).ok()?;
            self.known.insert(name.clone(), Some(fresh));
            self.names.push(name);
            Some(fresh)
        });
        self.known.insert(text.to_owned(), number);
        number
    }
}

/// The topics that the header names, as numbers, and which field named them.
pub(super) fn of_header(document: &Document, labels: &mut Words) -> (NamedBy, Vec<u32>) {
    for (named_by, keys) in FIELDS {
        let mut found = Vec::new();
        for text in keys.iter().flat_map(|key| document.texts(key)) {
            // `tags: ci, testing` is a list to whoever wrote it.
            for part in parts(&text).take(LABELS_AN_ENTRY) {
                if let Some(number) = labels.number(part, name_of_label)
                    && !found.contains(&number)
                    && found.len() < LABELS_AN_ENTRY
                {
                    found.push(number);
                }
            }
        }
        if !found.is_empty() {
            return (named_by, found);
        }
    }
    (NamedBy::Titles, Vec::new())
}

/// The words of the title, as numbers.
pub(super) fn of_title(entry: &Entry, words: &mut Words) -> Vec<u32> {
    let title = entry.document.title().unwrap_or_else(|| Cow::Owned(entry.title()));
    let mut found = Vec::new();
    each_word(&title, |word| {
        if let Some(number) = words.number(word, name_of_word)
            && !found.contains(&number)
            && found.len() < WORDS_A_TITLE
        {
            found.push(number);
        }
    });
    found
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';']).map(str::trim).filter(|part| !part.is_empty())
}

/// Lower case, one dash for whatever is neither a letter nor a sign that names have.
fn name_of_label(text: &str) -> Option<String> {
    let mut name = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() || "._/+:".contains(c) || (c == '#' && !name.is_empty()) {
            name.push(c);
        } else if !name.ends_with('-') {
            name.push('-');
        }
    }
    let name = name.trim_matches('-');
    let is_name = !name.is_empty()
        && name.chars().count() <= LABEL_CHARS_MAX
        && name != REST
        && looks_secret(text).is_none();
    is_name.then(|| name.to_owned())
}

fn name_of_word(word: &str) -> Option<String> {
    let length = word.chars().count();
    let is_name = (WORD_CHARS_MIN..=LABEL_CHARS_MAX).contains(&length)
        && !is_stop_word(word)
        && !word.bytes().all(|byte| byte.is_ascii_digit())
        && !PLAIN.contains(&word)
        && word != REST;
    is_name.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_topic_has_one_spelling() {
        for text in ["Code Review", "code-review", " code  review ", "#code\u{202e}review"] {
            assert_eq!(name_of_label(text).as_deref(), Some("code-review"), "{text}");
        }
        assert_eq!(name_of_label("C#").as_deref(), Some("c#"));
        assert_eq!(name_of_label("数据库").as_deref(), Some("数据库"));
        for text in ["", "--", "\u{1b}", REST, "Elsewhere", &"long ".repeat(9)] {
            assert_eq!(name_of_label(text), None, "{text}");
        }
    }
}
