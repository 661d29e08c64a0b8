//! What became of a learning that a pattern cites.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use super::page::Cited;
use super::recur::{Voice, agreement, may_speak};
use super::statement::Statement;
use crate::corpus::{Entry, Kind};
use crate::index::facts_of;
use crate::lineage::{Found, Lineage};
use crate::spoken::spoken;
use crate::tree::Tree;

/// What a source is to its pattern now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fate {
    /// It says it still, perhaps in other words or under another name.
    Says(Cited),
    /// It does not, and why.
    Withdrawn(String),
    /// It cannot be told now; what was known of it stays.
    Unclear,
}

/// The corpus in which sources are looked up.
pub(super) struct Lookup<'a> {
    pub(super) tree: &'a Tree,
    /// Where files are, if the tree is today's: one that cannot be read is not gone.
    pub(super) agents: Option<&'a Path>,
    /// Entries that this plan archives, and why.
    pub(super) archived: &'a [(String, String)],
    lineage: OnceCell<Lineage>,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        agents: Option<&'a Path>,
        archived: &'a [(String, String)],
    ) -> Self {
        Self { tree, agents, archived, lineage: OnceCell::new() }
    }

    /// Made when first asked for: most nights need none.
    pub(super) fn lineage(&self) -> &Lineage {
        self.lineage.get_or_init(|| {
            let facts = self.tree.paths().into_iter().filter_map(|path| {
                let entry = self.tree.entry(&path)?;
                Some((path, facts_of(&entry)))
            });
            Lineage::of_facts(facts.collect())
        })
    }

    /// What became of a source that said it in these words; without them it has to say it anew.
    pub(super) fn fate(&self, path: &str, words: Option<&str>, page: &Voice) -> Fate {
        if let Some(entry) = self.tree.entry(path) {
            return of_entry(&entry, words, page);
        }
        if let Some((_, why)) = self.archived.iter().find(|(gone, _)| gone == path) {
            return Fate::Withdrawn(format!("archived: {}", plain(why)));
        }
        // What is there and cannot be read says nothing now; what this plan takes away is gone.
        let is_there = |agents: &Path| agents.join(path).symlink_metadata().is_ok();
        if self.tree.change(path).is_none() && self.agents.is_some_and(is_there) {
            return Fate::Unclear;
        }
        let Found::Entry { path: now, .. } = self.lineage().find(path) else {
            return Fate::Withdrawn("it is gone".into());
        };
        let entry = self.tree.entry(&now).filter(|entry| entry.kind == Kind::Learning);
        match entry.map(|entry| of_entry(&entry, words, page)) {
            Some(Fate::Says(cited)) => Fate::Says(cited),
            Some(Fate::Unclear) => Fate::Unclear,
            _ => Fate::Withdrawn(format!("replaced by {}, which does not say it", plain(&now))),
        }
    }
}

fn of_entry(entry: &Arc<Entry>, words: Option<&str>, page: &Voice) -> Fate {
    let document = &entry.document;
    if let Some(by) = document.text("superseded_by") {
        return Fate::Withdrawn(format!("superseded by {}", plain(&by)));
    }
    if document.is_true("superseded") {
        return Fate::Withdrawn("superseded".into());
    }
    // One that was promoted is hidden, and says it where it was promoted to.
    if document.has("promoted_to") || document.doubt().is_some() {
        return Fate::Unclear;
    }
    if let Err(why) = may_speak(entry) {
        return Fate::Withdrawn(why);
    }
    let cited = |words: &str| Cited { path: entry.path.clone(), words: words.to_owned() };
    if let Some(words) = words.filter(|words| has_words(entry, words)) {
        return Fate::Says(cited(words));
    }
    // Only who says it in other words by now is read anew.
    match saying(&Voice::of(Arc::clone(entry)), page) {
        Some(statement) => Fate::Says(cited(&statement.text)),
        None => Fate::Withdrawn("it says something else by now".into()),
    }
}

/// A name as it stands in a line of ours.
fn plain(name: &str) -> String {
    let line = name.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("<!--", "").replace("-->", "")
}

/// The statement of a voice that agrees with the claim of a page.
fn saying<'v>(voice: &'v Voice, page: &Voice) -> Option<&'v Statement> {
    let places = 0..voice.statements.len();
    let agrees =
        |at: &usize| !page.statements.is_empty() && agreement((voice, *at), (page, 0)).holds();
    places.into_iter().find(agrees).map(|at| &voice.statements[at])
}

/// Whether an entry still has a sentence, however its lines are broken.
fn has_words(entry: &Entry, words: &str) -> bool {
    let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let document = &entry.document;
    let head = [document.text("title"), document.text("summary")];
    let is_head = head.iter().flatten().any(|text| on_one_line(text).contains(words));
    is_head || on_one_line(&spoken(entry)).contains(words)
}
