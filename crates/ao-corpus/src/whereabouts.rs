//! Where an entry that somebody named is today.
//!
//! Logs, notes and other repositories name entries as they were called when they were read. Lineage
//! knows what became of a name; beyond it, a file may have moved within its folder, or from the
//! pending learnings to those that were promoted.

use std::sync::Arc;

use crate::corpus::{Corpus, Entry, Kind};
use crate::index::facts_of;
use crate::lineage::{Found, Lineage};

#[derive(Debug)]
pub struct Whereabouts<'a> {
    corpus: &'a Corpus,
    lineage: Lineage,
}

impl<'a> Whereabouts<'a> {
    pub fn of(corpus: &'a Corpus) -> Self {
        let facts = |entry: &Arc<Entry>| {
            let mut facts = facts_of(entry);
            let promoted_from = entry.document.texts("promoted_from");
            facts.merged_from.extend(promoted_from.iter().map(ToString::to_string));
            (entry.path.clone(), facts)
        };
        let lineage = Lineage::of_facts(corpus.entries.iter().map(facts).collect());
        Self { corpus, lineage }
    }

    /// The entry that a name means: the one that has it, or that took its place.
    pub fn resolve(&self, name: &str) -> Option<&'a Arc<Entry>> {
        let name = bare(name);
        let stem = stem(name);
        let filed = || self.follow(&name.replacen("/pending/", "/processed/", 1));
        let moved = || {
            // Under its own name it is in the same folder; under another it took its place.
            let folder = |path: &str| path.split_once('/').map(|(folder, _)| folder.to_owned());
            let is_it =
                |entry: &&Arc<Entry>| entry.stem() != stem || folder(&entry.path) == folder(name);
            self.follow(stem).filter(is_it)
        };
        self.follow(name).or_else(filed).or_else(moved)
    }

    /// Whether an entry has or had this name; what is pending, or was, may share it with what it
    /// is promoted to.
    pub fn knows(&self, name: &str) -> bool {
        let is_knowledge =
            |entry: &Arc<Entry>| !matches!(entry.kind, Kind::Pending | Kind::Processed);
        self.resolve(name).is_some_and(is_knowledge)
    }

    fn follow(&self, name: &str) -> Option<&'a Arc<Entry>> {
        match self.lineage.find(name) {
            Found::Entry { path, .. } | Found::Orphan { path, .. } => self.corpus.get(&path),
            // The one that is most clearly knowledge has the name.
            Found::Several(paths) => {
                let entries = paths.iter().filter_map(|path| self.corpus.get(path));
                entries.min_by_key(|entry| rank(entry.kind))
            }
            Found::Nothing => None,
        }
    }
}

/// A name without what only says where the corpus is.
fn bare(name: &str) -> &str {
    let name = name.trim().trim_start_matches("[[").trim_end_matches("]]");
    let name = name.strip_prefix("./").unwrap_or(name);
    name.strip_prefix(".agents/").unwrap_or(name)
}

fn stem(name: &str) -> &str {
    let file = name.rsplit_once('/').map_or(name, |(_, file)| file);
    file.strip_suffix(".md").or_else(|| file.strip_suffix(".jsonl")).unwrap_or(file)
}

fn rank(kind: Kind) -> usize {
    const ORDER: [Kind; 8] = [
        Kind::Learning,
        Kind::Pattern,
        Kind::Finding,
        Kind::Knowledge,
        Kind::Research,
        Kind::Wiki,
        Kind::Pending,
        Kind::Processed,
    ];
    ORDER.iter().position(|other| *other == kind).unwrap_or(ORDER.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(files: &[(&str, &str)]) -> Corpus {
        let mut corpus = Corpus::default();
        for (path, text) in files {
            let entry = Entry::parse(path, || Ok(text.as_bytes().to_vec())).unwrap().unwrap();
            corpus.entries.push(Arc::new(entry));
        }
        corpus.entries.sort_by(|a, b| a.path.cmp(&b.path));
        corpus
    }

    #[test]
    fn old_names_lead_to_the_entry_of_today() {
        let corpus = corpus(&[
            ("learnings/a.md", "---\nid: L1\nmerged_from: [b, c.md, L7]\n---\n"),
            ("learnings/old.md", "---\nsuperseded_by: b\n---\n"),
            ("learnings/x.md", "---\nsuperseded_by: y\n---\n"),
            ("learnings/y.md", "---\nsuperseded_by: x.md\n---\n"),
            ("learnings/gone.md", "---\nsuperseded_by: nobody\n---\n"),
            ("knowledge/processed/p.md", "---\npromoted_to: learnings/a.md\n---\n"),
            ("patterns/p.md", "# another\n"),
            ("learnings/sub/moved.md", "# moved\n"),
        ]);
        let today = Whereabouts::of(&corpus);
        let path = |name: &str| today.resolve(name).map(|entry| entry.path.as_str());
        for name in ["a", "a.md", "learnings/a.md", ".agents/learnings/a.md", "L1", "[[a]]"] {
            assert_eq!(path(name), Some("learnings/a.md"), "{name}");
        }
        for name in ["b", "b.md", "c", ".agents/learnings/c.md", "L7", "old"] {
            assert_eq!(path(name), Some("learnings/a.md"), "{name}");
        }
        assert_eq!(path("knowledge/pending/p.md"), Some("learnings/a.md"));
        assert_eq!(path("p"), Some("patterns/p.md"));
        assert_eq!(path("learnings/moved.md"), Some("learnings/sub/moved.md"));
        assert_eq!(path("findings/moved.md"), None);
        assert_eq!(path("gone"), Some("learnings/gone.md"));
        assert!(path("x").is_some(), "a circle ends");
        assert_eq!(path("zzz"), None);
    }
}
