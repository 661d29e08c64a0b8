//! What is disputed stays disputed, whatever is merged.
//!
//! A merge can take a disagreement away in many ways: both sides go into one entry, the sentence of one is kept as
//! another wording, where it claims nothing, or the merged header sets a narrower scope. So nothing is concluded
//! from how merges are made: every dispute of the corpus as it is must be found again in the one as it would be,
//! between the entries that its sides stand in then.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::round::Merge;
use crate::contradictions::{Dispute, disputes_among};
use crate::corpus::Entry;
use crate::files::in_parallel;
use crate::tree::Tree;

/// Pairs of entries that contradict each other, before anything is merged.
#[derive(Debug)]
pub(super) struct Disagreements {
    pairs: BTreeSet<[String; 2]>,
}

/// Merges that are tried together.
pub(super) struct Merged<'a> {
    pub(super) base: &'a Tree,
    pub(super) after: &'a Tree,
    pub(super) merges: &'a BTreeMap<String, Vec<Merge>>,
    /// Files with rewritten references, and to which entries that go.
    pub(super) referrers: &'a BTreeMap<String, BTreeSet<String>>,
}

impl Disagreements {
    pub(super) fn of(tree: &Tree) -> Self {
        let entries = in_parallel(&tree.paths(), |path| tree.entry(path));
        let disputes = disputes_among(entries.into_iter().flatten().collect());
        Self { pairs: disputes.into_iter().map(|dispute| dispute.sides.map(|s| s.path)).collect() }
    }

    /// The members whose merge would take away a dispute, and why they stay. `gone` leads from entries that went in
    /// earlier rounds to those that stand for them.
    pub(super) fn lost(
        &self,
        gone: &BTreeMap<&str, &str>,
        merged: &Merged<'_>,
    ) -> BTreeMap<String, String> {
        let changed: BTreeSet<String> = merged.after.differing(merged.base).into_iter().collect();
        let touched: BTreeSet<[&str; 2]> = self
            .pairs
            .iter()
            .map(|pair| {
                pair.each_ref().map(|path| *gone.get(path.as_str()).unwrap_or(&path.as_str()))
            })
            .filter(|pair| pair.iter().any(|path| changed.contains(*path)))
            .collect();
        let touched: Vec<[&str; 2]> = touched.into_iter().collect();
        let into = merged.into();
        let stands = in_parallel(&touched, |pair| merged.stands(pair, &into));
        let mut lost = BTreeMap::new();
        for ([one, other], _) in touched.iter().zip(stands).filter(|(_, stands)| !stands) {
            let why = format!("nobody would see any more what {one} and {other} disagree about");
            lost.extend(merged.culprits(&[one, other]).into_iter().map(|path| (path, why.clone())));
        }
        lost
    }
}

impl Merged<'_> {
    /// Whither each of the members goes.
    fn into(&self) -> BTreeMap<&str, &str> {
        let mut into = BTreeMap::new();
        for (survivor, all) in self.merges {
            into.extend(all.iter().map(|merge| (merge.member.path.as_str(), survivor.as_str())));
        }
        into
    }

    /// Whether two entries disagree about all that they disagreed about.
    fn stands(&self, pair: &[&str; 2], into: &BTreeMap<&str, &str>) -> bool {
        if ao_mutant::active("LOOP-25/merges-settle-disputes") {
            return true;
        }
        let disputes = |tree: &Tree, paths: [&str; 2]| -> Vec<Dispute> {
            let entries: Option<Vec<Arc<Entry>>> =
                paths.iter().map(|path| tree.entry(path)).collect();
            entries.map_or_else(Vec::new, disputes_among)
        };
        let before = disputes(self.base, *pair);
        let [one, other] = pair.map(|path| *into.get(path).unwrap_or(&path));
        let after = if one == other { Vec::new() } else { disputes(self.after, [one, other]) };
        before.iter().all(|dispute| after.iter().any(|other| other.is_about_what(dispute)))
    }

    /// Whose merge took a dispute away: a side that is merged itself, or else what is merged into a side, or what a
    /// side referred to.
    fn culprits(&self, sides: &[&str; 2]) -> BTreeSet<String> {
        let all = || self.merges.values().flatten().map(|merge| merge.member.path.clone());
        let members: BTreeSet<String> =
            all().filter(|path| sides.contains(&path.as_str())).collect();
        if !members.is_empty() {
            return members;
        }
        let merged = sides.iter().filter_map(|side| self.merges.get(*side)).flatten();
        let referred = sides.iter().filter_map(|side| self.referrers.get(*side)).flatten();
        let near: BTreeSet<String> =
            merged.map(|merge| merge.member.path.clone()).chain(referred.cloned()).collect();
        let found: BTreeSet<String> = all().filter(|path| near.contains(path)).collect();
        if found.is_empty() { all().collect() } else { found }
    }
}
