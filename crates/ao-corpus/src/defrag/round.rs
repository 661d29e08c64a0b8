//! One round of merges, tried together until none of them loses anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ao_contract::{Certificate, CertificateVerdict, DefragKept};

use super::dedup::Done;
use super::disagreements::{Disagreements, Merged};
use super::drift::{Drift, Worths};
use super::rewriting::{self, Queue};
use super::{DefragError, kept};
use crate::certificate;
use crate::corpus::Entry;
use crate::duplicates::{Cluster, Member};
use crate::files::in_parallel;
use crate::index::{Broken, Index};
use crate::merge::merge_all;
use crate::references::Names;
use crate::search::Places;
use crate::tree::Tree;

/// How often those that lost nothing are asked again, because others of the round were not merged.
const TRIALS_MAX: usize = 4;

/// A merge that is to be made.
#[derive(Debug, Clone)]
pub(super) struct Merge {
    pub(super) member: Member,
    pub(super) certificate: Certificate,
    /// How many more entries could come before the survivor, wherever it was asked for.
    pub(super) room: usize,
}

/// What is not merged, by its path.
pub(super) type Refused = BTreeMap<String, DefragKept>;

/// One round: clusters are tried, and those that would lose something are left out.
pub(super) struct Round<'a> {
    pub(super) base: &'a Tree,
    pub(super) queue: &'a Queue,
    pub(super) done: &'a Done,
    pub(super) disputed: &'a Disagreements,
}

/// What comes of a round.
pub(super) enum Came {
    Merged(Box<Kept>),
    /// Nothing is merged; the index is of the base.
    Nothing(Box<Index>),
}

/// What is left of a round.
pub(super) struct Kept {
    pub(super) merges: BTreeMap<String, Vec<Merge>>,
    pub(super) after: Tree,
    pub(super) index: Index,
    pub(super) queue: Queue,
    pub(super) referrers: BTreeMap<String, BTreeSet<String>>,
}

/// What an earlier trial of a round found out.
#[derive(Debug, Default)]
struct Known {
    /// By its survivor, what was merged and what it gave.
    merged: BTreeMap<String, (Vec<String>, Arc<Entry>)>,
    /// Who referred to anything that goes, and the survivors.
    referrers: Option<BTreeSet<String>>,
}

impl Round<'_> {
    /// What stays and why, and what came of it. The index is of the base.
    pub(super) fn run(
        &self,
        clusters: Vec<Cluster>,
        index: Index,
    ) -> Result<(Refused, Came), DefragError> {
        let mut refused = BTreeMap::new();
        let mut merges = self.asked_before(&index, clusters, &mut refused)?;
        let mut indexed = (index, self.base.clone());
        let mut known = Known::default();
        for trial in 0..TRIALS_MAX {
            let made = self.agreed(&mut merges, &mut refused, &mut known);
            let (after, queue, referrers) = made;
            if merges.is_empty() {
                break;
            }
            let (index, of) = indexed;
            let changed = after.differing(&of);
            let worths = match trial {
                0 => None,
                _ => Some(Worths::of(&index, [&of, &after], &changed)?),
            };
            let index = index.into_after(&after, &changed)?;
            let drift = worths.map(|worths| worths.drift(&index)).transpose()?.flatten();
            let lost = self.ask_after(&mut merges, &Places::of(&index)?, drift.as_ref())?;
            if lost.is_empty() {
                let kept = Kept { merges, after, index, queue, referrers };
                return Ok((refused, Came::Merged(Box::new(kept))));
            }
            // After the last trial a cluster that lost one of its members is left out whole.
            let is_last = trial + 2 >= TRIALS_MAX;
            for (survivor, all) in &mut merges {
                let has_lost = all.iter().any(|merge| lost.contains(&merge.member.path));
                let goes = |merge: &Merge| lost.contains(&merge.member.path) || is_last && has_lost;
                for merge in all.iter().filter(|merge| goes(merge)) {
                    let path = merge.member.path.clone();
                    let why = format!("not merged into {survivor}: {}", merge.certificate.why);
                    let certificate = Some(merge.certificate.clone());
                    refused.insert(path.clone(), DefragKept { path, why, certificate });
                }
                all.retain(|merge| !goes(merge));
            }
            merges.retain(|_, all| !all.is_empty());
            indexed = (index, after);
        }
        let (index, of) = indexed;
        let changed = of.differing(self.base);
        let index =
            if changed.is_empty() { index } else { index.into_after(self.base, &changed)? };
        Ok((refused, Came::Nothing(Box::new(index))))
    }

    fn asked_before(
        &self,
        index: &Index,
        clusters: Vec<Cluster>,
        refused: &mut Refused,
    ) -> Result<BTreeMap<String, Vec<Merge>>, DefragError> {
        let pairs: Vec<(String, Member, u32)> = clusters
            .into_iter()
            .flat_map(|cluster| {
                let Cluster { survivor, members } = cluster;
                let copies = u32::try_from(members.len() + 1).unwrap_or(u32::MAX);
                members.into_iter().map(move |member| (survivor.clone(), member, copies))
            })
            .collect();
        let places = Places::of(index)?;
        let ask = |(survivor, member, copies): &(String, Member, u32)| {
            let entries = (self.base.entry(survivor), self.base.entry(&member.path));
            let (Some(survivor), Some(entry)) = entries else { return Ok(None) };
            certificate::ask_before(&places, &entry, Some(&survivor), *copies).map(Some)
        };
        let asked = in_parallel(&pairs, ask);
        let mut merges: BTreeMap<String, Vec<Merge>> = BTreeMap::new();
        for ((survivor, member, _), asked) in pairs.into_iter().zip(asked) {
            if let Some(certificate) = asked.map_err(DefragError::Index)? {
                merges.entry(survivor).or_default().push(Merge { member, certificate, room: 0 });
            } else {
                let why = "it can no longer be read".to_owned();
                refused.insert(member.path.clone(), kept(&member.path, why));
            }
        }
        Ok(merges)
    }

    /// As [`Round::after`], with the merges that take no disagreement away.
    fn agreed(
        &self,
        merges: &mut BTreeMap<String, Vec<Merge>>,
        refused: &mut Refused,
        known: &mut Known,
    ) -> (Tree, Queue, BTreeMap<String, BTreeSet<String>>) {
        // Each turn leaves out at least one merge.
        loop {
            let (after, queue, referrers) = self.after(merges, refused, known);
            let gone: BTreeMap<&str, &str> = self.done.losers().collect();
            let tried = Merged { base: self.base, after: &after, merges, referrers: &referrers };
            let lost = self.disputed.lost(&gone, &tried);
            if lost.is_empty() {
                return (after, queue, referrers);
            }
            for (survivor, all) in &mut *merges {
                all.retain(|merge| {
                    let path = &merge.member.path;
                    let Some(why) = lost.get(path) else { return true };
                    let why = format!("not merged into {survivor}: {why}");
                    refused.insert(path.clone(), kept(path, why));
                    false
                });
            }
            merges.retain(|_, all| !all.is_empty());
        }
    }

    /// The corpus with these merges made; one that cannot be written down is left out.
    fn after(
        &self,
        merges: &mut BTreeMap<String, Vec<Merge>>,
        refused: &mut Refused,
        known: &mut Known,
    ) -> (Tree, Queue, BTreeMap<String, BTreeSet<String>>) {
        let mut tree = self.base.clone();
        merges.retain(|survivor, all| match self.merged(survivor, all, known) {
            Ok(entry) => {
                tree.write(entry);
                for merge in all {
                    tree.delete(&merge.member.path);
                }
                true
            }
            Err(why) => {
                for merge in all {
                    let path = &merge.member.path;
                    let why = format!("not merged into {survivor}: {why}");
                    refused.insert(path.clone(), kept(path, why));
                }
                false
            }
        });
        let mut queue = self.queue.clone();
        let moves: Vec<(Names, Names)> = merges
            .iter()
            .flat_map(|(survivor, all)| {
                all.iter().filter_map(|merge| {
                    let old = self.base.entry(&merge.member.path)?;
                    let new = self.base.entry(survivor)?;
                    Some((Names::of(&old), Names::of(&new)))
                })
            })
            .collect();
        let referrers = rewriting::rewrite(&mut tree, &mut queue, moves, known.referrers.as_ref());
        // A later trial has fewer moves: nobody else refers to them, but whoever is then not merged
        // was not looked at.
        let members = merges.values().flatten().map(|merge| &merge.member.path);
        let all = || referrers.keys().chain(merges.keys()).chain(members).cloned().collect();
        known.referrers.get_or_insert_with(all);
        (tree, queue, referrers)
    }

    fn merged(
        &self,
        survivor: &str,
        all: &[Merge],
        known: &mut Known,
    ) -> Result<Arc<Entry>, String> {
        let members: Vec<String> = all.iter().map(|merge| merge.member.path.clone()).collect();
        if let Some((of, entry)) = known.merged.get(survivor)
            && *of == members
        {
            return Ok(Arc::clone(entry));
        }
        let gone = || "it can no longer be read".to_owned();
        let entry = self.base.entry(survivor).ok_or_else(gone)?;
        let others: Option<Vec<Arc<Entry>>> =
            all.iter().map(|merge| self.base.entry(&merge.member.path)).collect();
        let merged = merge_all(&entry, &others.ok_or_else(gone)?);
        let merged = Arc::new(merged.map_err(|error| error.to_string())?);
        known.merged.insert(survivor.to_owned(), (members, Arc::clone(&merged)));
        Ok(merged)
    }

    /// Asks for every successor, also of what went in earlier rounds; names those that lost. After a
    /// slight drift, who passed before may not have to be asked.
    fn ask_after(
        &self,
        merges: &mut BTreeMap<String, Vec<Merge>>,
        places: &Places<'_>,
        drift: Option<&Drift>,
    ) -> Result<BTreeSet<String>, DefragError> {
        let mut all: Vec<(&String, &mut Merge)> = merges
            .iter_mut()
            .flat_map(|(survivor, all)| all.iter_mut().map(move |merge| (survivor, merge)))
            .collect();
        let ask = |(survivor, merge): &(&String, &mut Merge)| -> Result<_, Broken> {
            if let Some(drift) = drift
                && self.is_spared(drift, places, survivor, merge)?
            {
                return Ok(None);
            }
            let mut certificate = merge.certificate.clone();
            let mut room = certificate::ask_after(places, &mut certificate, survivor)?;
            let mut is_kept = certificate.verdict == CertificateVerdict::Passed;
            for former in self.former(merge) {
                let mut earlier = former.clone();
                room = room.min(certificate::ask_after(places, &mut earlier, survivor)?);
                is_kept &= earlier.verdict == CertificateVerdict::Passed;
            }
            Ok(Some((certificate, room, is_kept)))
        };
        let answers = in_parallel(&all, ask);
        let mut lost = BTreeSet::new();
        for ((_, merge), answer) in all.iter_mut().zip(answers) {
            let Some((certificate, room, is_kept)) = answer? else { continue };
            (merge.certificate, merge.room) = (certificate, room);
            if !is_kept {
                lost.insert(merge.member.path.clone());
            }
        }
        Ok(lost)
    }

    fn is_spared(
        &self,
        drift: &Drift,
        places: &Places<'_>,
        survivor: &str,
        merge: &Merge,
    ) -> Result<bool, Broken> {
        for one in std::iter::once(&merge.certificate).chain(self.former(merge)) {
            if !drift.spares(places, one, survivor, merge.room)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What was proved of entries that went into this one in earlier rounds.
    fn former(&self, merge: &Merge) -> impl Iterator<Item = &Certificate> {
        let merges = self.done.merges.get(&merge.member.path).into_iter().flatten();
        merges.map(|one| &one.certificate)
    }
}
