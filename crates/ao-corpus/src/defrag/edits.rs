//! From the corpus as it is to be to edits, each with its reason and its sources.

use std::collections::{BTreeMap, BTreeSet};

use ao_contract::Certificate;
use ao_tree::{Action, Edit, Seen};

use super::dedup::stem;
use super::rewriting::{QUEUE, Queue};
use crate::certificate::as_source;
use crate::duplicates::Member;
use crate::tree::Tree;

/// Why each file changes, and which of them change together.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    why: BTreeMap<String, Vec<String>>,
    sources: BTreeMap<String, Vec<String>>,
    /// Files that change together or not at all: each leads to another one of its group.
    together: BTreeMap<String, String>,
    /// The files that groups are called by.
    leads: BTreeSet<String>,
    /// What edits that come with the plan were made against.
    seen: BTreeMap<String, Seen>,
}

impl Reasons {
    /// An edit that comes with the plan.
    pub(super) fn prior(&mut self, edit: &Edit) {
        self.because(&edit.path, edit.reason.clone());
        if let Some(seen) = &edit.seen {
            self.seen.entry(edit.path.clone()).or_insert_with(|| seen.clone());
        }
        self.sources.entry(edit.path.clone()).or_default().extend(edit.sources.iter().cloned());
    }

    /// Edits of one group stay together, also where the plan adds to them.
    pub(super) fn join_groups(&mut self, edits: &[Edit]) {
        let mut first: BTreeMap<&str, &str> = BTreeMap::new();
        for edit in edits {
            let Some(group) = &edit.group else { continue };
            let lead = *first.entry(group).or_insert(&edit.path);
            self.join(lead, &edit.path);
        }
    }

    pub(super) fn merge<'a>(
        &mut self,
        survivor: &str,
        members: impl Iterator<Item = (&'a Member, &'a Certificate)>,
    ) {
        let mut names = Vec::new();
        for (member, certificate) in members {
            let how = if member.is_exact { "word for word" } else { "in other words" };
            let why = format!(
                "a copy of {survivor}, {how} (stems {:.2}, pairs {:.2}); merged there",
                member.stems, member.pairs
            );
            self.because(&member.path, why);
            let sources = self.sources.entry(member.path.clone()).or_default();
            sources.extend([survivor.to_owned(), as_source(certificate)]);
            names.push(member.path.clone());
            self.join(survivor, &member.path);
        }
        let list: Vec<&str> = names.iter().map(|path| stem(path)).collect();
        self.because(survivor, format!("takes in {}", list.join(", ")));
        self.sources.entry(survivor.to_owned()).or_default().extend(names);
    }

    pub(super) fn referrer(&mut self, file: &str, targets: &BTreeSet<String>) {
        let list: Vec<&str> = targets.iter().map(|path| stem(path)).collect();
        self.because(file, format!("what referred to {} leads to its survivor", list.join(", ")));
        self.sources.entry(file.to_owned()).or_default().extend(targets.iter().cloned());
    }

    pub(super) fn prune(&mut self, path: &str, reason: &str, certificate: &Certificate) {
        self.because(path, format!("archived: {reason}"));
        let sources = self.sources.entry(path.to_owned()).or_default();
        sources.extend(certificate.successor.clone());
        sources.push(as_source(certificate));
    }

    /// A successor takes over the name of an entry that is archived.
    pub(super) fn named(&mut self, successor: &str, path: &str) {
        self.because(successor, format!("is known by the name of {} too", stem(path)));
        self.sources.entry(successor.to_owned()).or_default().push(path.to_owned());
        self.join(successor, path);
    }

    /// The page of a pattern, which is made together with some other files.
    pub(super) fn compiled(&mut self, page: &str, why: &str, sources: &[String], with: &[&String]) {
        self.because(page, why.to_owned());
        self.sources.entry(page.to_owned()).or_default().extend(sources.iter().cloned());
        for other in with {
            self.join(other, page);
        }
    }

    fn because(&mut self, path: &str, why: String) {
        self.why.entry(path.to_owned()).or_default().push(why);
    }

    fn join(&mut self, one: &str, other: &str) {
        let (one, other) = (self.group(one), self.group(other));
        if one != other {
            self.together.insert(other, one);
        }
    }

    /// The file that a group is called by.
    fn group(&self, path: &str) -> String {
        let mut at = path;
        while let Some(next) = self.together.get(at) {
            at = next;
        }
        at.to_owned()
    }
}

pub(super) fn edits(
    tree: &Tree,
    queue: &Queue,
    aside: &[&Edit],
    mut reasons: Reasons,
) -> Vec<Edit> {
    reasons.leads = reasons.together.values().map(|path| reasons.group(path)).collect();
    let mut edits = Vec::new();
    for (path, entry) in tree.changes() {
        let before = tree.original(path);
        let seen = reasons.seen.remove(path).unwrap_or_else(|| tree.seen(path));
        let action = match (entry, &before) {
            (Some(entry), Some(before)) if entry.document.bytes() == before.document.bytes() => {
                continue;
            }
            (Some(entry), _) => Action::Write(entry.document.bytes().to_vec()),
            (None, Some(_)) => Action::Delete,
            (None, None) => continue,
        };
        edits.push(reasons.edit(path, action, Some(seen)));
    }
    if let (Some(before), Some(after)) = (&queue.before, &queue.after)
        && before != after
    {
        let seen = Some(Seen::bytes(before.as_bytes()));
        edits.push(reasons.edit(QUEUE, Action::Write(after.clone().into_bytes()), seen));
    }
    for edit in aside {
        edits.push(reasons.edit(&edit.path, edit.action.clone(), edit.seen.clone()));
    }
    edits
}

impl Reasons {
    fn edit(&mut self, path: &str, action: Action, seen: Option<Seen>) -> Edit {
        let group = self.group(path);
        let has_others = group != path || self.leads.contains(path);
        Edit {
            path: path.to_owned(),
            action,
            mode: None,
            reason: self.why.remove(path).unwrap_or_default().join("; "),
            sources: self.sources.remove(path).unwrap_or_default(),
            group: has_others.then(|| format!("with {group}")),
            seen,
        }
    }
}
