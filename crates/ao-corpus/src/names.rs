//! Names for new files: short, plain, and nobody else's.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;

use crate::corpus::Corpus;
use crate::whereabouts::Whereabouts;
use crate::words::each_word;

const SLUG_BYTES_MAX: usize = 60;
/// After so many tries a name gets the hash of its text instead of a number.
const TRIES_MAX: usize = 1000;

/// The words of a title as a name; `or` where it has none that can be spelled.
pub(crate) fn slug(title: &str, or: &str) -> String {
    let mut slug = String::new();
    each_word(title, |word| {
        let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if is_plain && slug.len() + word.len() < SLUG_BYTES_MAX {
            if !slug.is_empty() {
                slug.push('-');
            }
            slug.push_str(word);
        }
    });
    if slug.is_empty() { or.to_owned() } else { slug }
}

/// The names that are taken, also by entries that are gone: an old reference must not lead to a
/// new entry.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    today: &'a Whereabouts<'a>,
    taken: HashSet<String>,
}

impl<'a> Names<'a> {
    pub(crate) fn of(corpus: &Corpus, today: &'a Whereabouts<'a>) -> Self {
        let entries = corpus.entries.iter().map(|entry| fold(&entry.path));
        // What could not be read is there all the same.
        let left = corpus.left.iter().map(|left| fold(&left.path));
        Self { today, taken: entries.chain(left).collect() }
    }

    /// `folder/stem.ending`, with a number where any entry has or had that name.
    pub(crate) fn unique(&mut self, folder: &str, stem: &str, ending: &str, hash: &str) -> String {
        let today = self.today;
        self.first_free(folder, stem, ending, hash, |path| !today.knows(path))
    }

    /// `folder/stem.ending`, with a number where a file is there. For what nobody looks up.
    pub(crate) fn unique_file(
        &mut self,
        folder: &str,
        stem: &str,
        ending: &str,
        hash: &str,
    ) -> String {
        self.first_free(folder, stem, ending, hash, |_| true)
    }

    fn first_free(
        &mut self,
        folder: &str,
        stem: &str,
        ending: &str,
        hash: &str,
        is_fit: impl Fn(&str) -> bool,
    ) -> String {
        let path_of = |stem: &str| format!("{folder}/{stem}.{ending}");
        let numbered = (1..TRIES_MAX).map(|number| match number {
            1 => stem.to_owned(),
            _ => format!("{stem}-{number}"),
        });
        let hashed = std::iter::once(format!("{stem}-{}", &hash[..hash.len().min(16)]));
        let is_free = |path: &String| !self.taken.contains(&fold(path)) && is_fit(path);
        let mut paths = numbered.chain(hashed).map(|stem| path_of(&stem));
        let path = paths.find(is_free).unwrap_or_else(|| path_of(hash));
        self.taken.insert(fold(&path));
        path
    }
}

/// Names that some file systems cannot tell apart fold to one.
fn fold(path: &str) -> String {
    if path.is_ascii() {
        return path.to_ascii_lowercase();
    }
    path.nfc().flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_their_own() {
        assert_eq!(slug("Take the Lock — before `reading`!", "x"), "take-the-lock-before-reading");
        assert_eq!(slug("数据", "x"), "x");
        assert!(slug(&"long ".repeat(40), "x").len() <= SLUG_BYTES_MAX);
        let corpus = Corpus::default();
        let today = Whereabouts::of(&corpus);
        let mut names = Names::of(&corpus, &today);
        assert_eq!(names.unique("learnings", "A", "md", "ff"), "learnings/A.md");
        assert_eq!(names.unique("learnings", "a", "md", "ff"), "learnings/a-2.md");
    }
}
