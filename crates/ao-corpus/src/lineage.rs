//! Which entry a name means today.
//!
//! Logs, notes and other repositories name entries as they were called when they were read. An
//! entry that was merged, promoted or replaced since is found under its old names too.

use std::collections::HashMap;
use std::sync::Arc;

use crate::corpus::{Corpus, Entry, Kind};

/// Longer chains of successors are circles or mistakes.
const CHAIN_MAX: usize = 32;

#[derive(Debug)]
pub struct Lineage<'a> {
    corpus: &'a Corpus,
    /// Names that entries have.
    present: HashMap<&'a str, usize>,
    /// Names that entries had.
    past: HashMap<String, usize>,
}

impl<'a> Lineage<'a> {
    pub fn of(corpus: &'a Corpus) -> Self {
        let mut lineage = Self { corpus, present: HashMap::new(), past: HashMap::new() };
        // Where two entries have one name, the one that is most clearly knowledge has it.
        let mut order: Vec<usize> = (0..corpus.entries.len()).collect();
        order.sort_by_key(|at| rank(corpus.entries[*at].kind));
        for at in order {
            let entry: &'a Entry = &corpus.entries[at];
            lineage.present.entry(&entry.path).or_insert(at);
            lineage.present.entry(entry.name()).or_insert(at);
            lineage.present.entry(entry.stem()).or_insert(at);
            for key in ["id", "merged_from", "promoted_from"] {
                for name in entry.document.texts(key) {
                    lineage.past.entry(bare(&name).to_owned()).or_insert(at);
                    lineage.past.entry(stem(&name).to_owned()).or_insert(at);
                }
            }
        }
        lineage
    }

    /// The entry that a name means: the one that has it, or that took its place.
    pub fn resolve(&self, name: &str) -> Option<&'a Arc<Entry>> {
        let mut at = self.find(name)?;
        for _ in 0..CHAIN_MAX {
            let entry = &self.corpus.entries[at];
            if !entry.document.is_hidden() {
                return Some(entry);
            }
            let next = ["superseded_by", "promoted_to"]
                .iter()
                .filter_map(|key| entry.document.text(key))
                .find_map(|name| self.find(&name));
            match next {
                Some(next) if next != at => at = next,
                _ => return Some(entry),
            }
        }
        None
    }

    /// Whether an entry has or had this name; what is pending, or was, may share it with what it
    /// is promoted to.
    pub fn knows(&self, name: &str) -> bool {
        let kind = self.find(name).map(|at| self.corpus.entries[at].kind);
        kind.is_some_and(|kind| !matches!(kind, Kind::Pending | Kind::Processed))
    }

    fn find(&self, name: &str) -> Option<usize> {
        let name = bare(name);
        let present = |name: &str| self.present.get(name).copied();
        let past = |name: &str| self.past.get(name).copied();
        let stem = stem(name);
        let exact = present(name).or_else(|| past(name)).or_else(|| past(stem));
        let Some((folder, _)) = name.split_once('/') else {
            return exact.or_else(|| present(stem));
        };
        // A path that leads nowhere: the file may have moved, but not to another kind.
        let filed = || present(&name.replacen("/pending/", "/processed/", 1));
        let moved = || present(stem).filter(|at| self.folder(*at) == folder);
        exact.or_else(filed).or_else(moved)
    }

    fn folder(&self, at: usize) -> &str {
        self.corpus.entries[at].path.split_once('/').map_or("", |(folder, _)| folder)
    }
}

/// A name without what only says where the corpus is.
fn bare(name: &str) -> &str {
    let name = name.trim().trim_start_matches("[[").trim_end_matches("]]");
    let name = name.strip_prefix("./").unwrap_or(name);
    name.strip_prefix(".agents/").unwrap_or(name)
}

fn stem(name: &str) -> &str {
    let name = bare(name);
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
        let lineage = Lineage::of(&corpus);
        let path = |name: &str| lineage.resolve(name).map(|entry| entry.path.as_str());
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
        assert_eq!(path("x"), None, "a circle leads nowhere");
        assert_eq!(path("zzz"), None);
    }
}
