//! Names, and where they lead: an entry that was merged, superseded or promoted is still found by
//! the name it had.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::index::{Broken, Facts, Index, Sight};

/// No chain of successors is followed further.
const STEPS_MAX: usize = 64;

/// How a name leads to an entry; what stands first wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Path,
    FileName,
    Stem,
    Id,
    /// It was merged into the entry.
    Merged,
}

/// Which entries a name means.
#[derive(Debug)]
pub struct Lineage {
    /// Every name of every entry, by its hash: the names themselves are in the entries.
    names: Vec<(u64, Way, u32)>,
    entries: Vec<(String, Facts)>,
}

/// Where a name leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// To this entry, over these others in order: each was replaced by the next.
    Entry {
        path: String,
        over: Vec<String>,
    },
    /// To an entry that was replaced by something that is not there.
    Orphan {
        path: String,
        over: Vec<String>,
        missing: String,
    },
    /// To several entries.
    Several(Vec<String>),
    Nothing,
}

impl Lineage {
    pub fn of(index: &Index) -> Result<Self, Broken> {
        let mut entries = Vec::with_capacity(index.len());
        for entry in 0..index.len() {
            entries.push((index.key(entry)?, index.facts(entry)?));
        }
        Ok(Self::of_facts(entries))
    }

    /// Entries by path, with what they say about themselves.
    pub fn of_facts(entries: Vec<(String, Facts)>) -> Self {
        let mut names = Vec::with_capacity(4 * entries.len());
        for (entry, one) in entries.iter().enumerate() {
            let entry = u32::try_from(entry).unwrap_or(u32::MAX);
            each_name(one, |way, name| names.push((hash(name), way, entry)));
        }
        names.sort_unstable();
        Self { names, entries }
    }

    /// The entries that have exactly this name.
    fn named(&self, name: &str) -> impl Iterator<Item = (Way, usize)> {
        let hash = hash(name);
        let from = self.names.partition_point(|(other, _, _)| *other < hash);
        let same = self.names[from..].iter().take_while(move |(other, _, _)| *other == hash);
        let mut found = Vec::new();
        for (_, way, entry) in same {
            let entry = *entry as usize;
            let mut has_it = false;
            each_name(&self.entries[entry], |other, text| has_it |= other == *way && text == name);
            if has_it {
                found.push((*way, entry));
            }
        }
        found.into_iter()
    }

    /// Follows a path, a file's name with or without its ending, or an id.
    pub fn find(&self, name: &str) -> Found {
        let mut over = Vec::new();
        let mut seen = BTreeSet::new();
        let mut candidates = self.candidates(name);
        for _ in 0..STEPS_MAX {
            let entry = match candidates[..] {
                [] => break,
                [entry] => entry,
                _ => {
                    let path = |entry: &usize| self.entries[*entry].0.clone();
                    return Found::Several(candidates.iter().map(path).collect());
                }
            };
            let (path, facts) = &self.entries[entry];
            if facts.sight != Sight::Hidden || facts.successors.is_empty() || !seen.insert(entry) {
                return Found::Entry { path: path.clone(), over };
            }
            let next = facts.successors.iter().map(|next| self.candidates(next));
            candidates = next.into_iter().find(|found| !found.is_empty()).unwrap_or_default();
            if candidates.is_empty() {
                let missing = facts.successors[0].clone();
                return Found::Orphan { path: path.clone(), over, missing };
            }
            over.push(path.clone());
        }
        Found::Nothing
    }

    /// All entries that a name means in the strongest way that it means any; hidden ones only if
    /// there are no others.
    fn candidates(&self, name: &str) -> Vec<usize> {
        let name = bare(name);
        let with_ending = format!("{name}.md");
        let mut found: Vec<(Way, usize)> =
            self.named(name).chain(self.named(&with_ending)).collect();
        found.sort_unstable();
        found.dedup_by_key(|(_, entry)| *entry);
        let Some((strongest, _)) = found.iter().min() else { return self.merged(name) };
        let strongest = *strongest;
        let mut entries: Vec<usize> = found
            .into_iter()
            .filter(|(way, _)| *way == strongest)
            .map(|(_, entry)| entry)
            .collect();
        let is_shown = |entry: &usize| self.entries[*entry].1.sight == Sight::Shown;
        if entries.iter().any(is_shown) {
            entries.retain(is_shown);
        }
        entries
    }
}

impl Lineage {
    /// Merges record file names without their endings; a path leads there too.
    fn merged(&self, name: &str) -> Vec<usize> {
        let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let found = self.named(stem).chain(self.named(name));
        let mut entries: Vec<usize> =
            found.filter(|(way, _)| *way == Way::Merged).map(|(_, entry)| entry).collect();
        entries.sort_unstable();
        entries.dedup();
        entries
    }
}

/// Calls `each` with all names of an entry.
fn each_name((path, facts): &(String, Facts), mut each: impl FnMut(Way, &str)) {
    let file_name = path.rsplit_once('/').map_or(path.as_str(), |(_, name)| name);
    each(Way::Path, path);
    each(Way::FileName, file_name);
    if let Some((stem, _)) = file_name.rsplit_once('.') {
        each(Way::Stem, stem);
    }
    if let Some(id) = &facts.id {
        each(Way::Id, id);
    }
    for name in &facts.merged_from {
        each(Way::Merged, bare(name));
    }
}

/// Two names with one hash are told apart by the names.
fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// A name as it stands beneath `.agents/`, whatever stands before that.
fn bare(name: &str) -> &str {
    let name = name.trim();
    let name = name.rsplit_once(".agents/").map_or(name, |(_, rest)| rest);
    name.strip_prefix("./").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, facts: Facts) -> (String, Facts) {
        (path.to_owned(), facts)
    }

    fn replaced(by: &str) -> Facts {
        Facts { sight: Sight::Hidden, successors: vec![by.to_owned()], ..Facts::default() }
    }

    fn to(path: &str, over: &[&str]) -> Found {
        let over = over.iter().map(|path| (*path).to_owned()).collect();
        Found::Entry { path: path.to_owned(), over }
    }

    #[test]
    fn old_names_lead_to_what_replaced_them() {
        let survivor = Facts {
            id: Some("L1".into()),
            merged_from: vec!["learnings/gone.md".into(), "L9".into()],
            ..Facts::default()
        };
        let lineage = Lineage::of_facts(vec![
            entry("learnings/a.md", replaced("b")),
            entry("learnings/b.md", replaced(".agents/learnings/c.md")),
            entry("learnings/c.md", survivor),
            entry("learnings/lost.md", replaced("nowhere")),
            entry("learnings/one.md", replaced("two")),
            entry("learnings/two.md", replaced("one")),
            entry("patterns/same.md", Facts::default()),
            entry("research/same.md", Facts::default()),
        ]);
        let c = to("learnings/c.md", &["learnings/a.md", "learnings/b.md"]);
        for name in
            ["a", "a.md", "learnings/a.md", ".agents/learnings/a.md", "/x/.agents/learnings/a.md"]
        {
            assert_eq!(lineage.find(name), c, "{name}");
        }
        for name in ["c", "L1", "learnings/gone.md", "L9"] {
            assert_eq!(lineage.find(name), to("learnings/c.md", &[]), "{name}");
        }
        assert!(
            matches!(lineage.find("lost"), Found::Orphan { missing, .. } if missing == "nowhere")
        );
        // A circle ends.
        assert!(matches!(lineage.find("one"), Found::Entry { .. }));
        assert!(matches!(lineage.find("same"), Found::Several(paths) if paths.len() == 2));
        assert_eq!(lineage.find("patterns/same.md"), to("patterns/same.md", &[]));
        assert_eq!(lineage.find("nobody"), Found::Nothing);
        assert_eq!(lineage.find(""), Found::Nothing);
    }
}
