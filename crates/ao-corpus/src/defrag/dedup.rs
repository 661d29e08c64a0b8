//! Copies become one, round by round, until another run would find nothing more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ao_contract::{Defrag, DefragMember, DefragMerge, DefragPair, Unit};

use super::DefragError;
use super::edits::Reasons;
use super::rewriting::Queue;
use super::round::{Kept, Merge, Refused, Round};
use crate::duplicates::{Cluster, Finder, Member, Pair};
use crate::index::{Broken, Index};
use crate::tree::Tree;

/// A merged entry can be a copy of another one. What is left after so many rounds is for the next
/// run.
const ROUNDS_MAX: usize = 6;

#[derive(Debug, Default)]
pub(super) struct Done {
    /// By the path of the survivor.
    pub(super) merges: BTreeMap<String, Vec<Merge>>,
    review: BTreeMap<(String, String), Pair>,
    refused: Refused,
    /// Files with rewritten references, and to which entries that go.
    referrers: BTreeMap<String, BTreeSet<String>>,
    /// Clusters of copies before anything is merged, and those that are left.
    pub(super) copies: Copies,
    /// Of the tree that this leads to, if one was made.
    pub(super) index: Option<Index>,
}

/// Clusters of copies, by their paths.
#[derive(Debug, Clone, Default)]
pub struct Copies {
    pub before: Vec<Vec<String>>,
    pub after: Vec<Vec<String>>,
}

pub(super) fn dedup(
    agents: Option<&Path>,
    tree: &mut Tree,
    queue: &mut Queue,
    tell: &dyn Fn(&str),
) -> Result<Done, DefragError> {
    tell("Looking for copies.");
    let mut finder = Finder::new(tree);
    let mut done = Done::default();
    let mut among: Option<BTreeSet<String>> = None;
    let mut before: Option<Index> = None;
    for _ in 0..ROUNDS_MAX {
        let mut found = finder.find(tree, among.as_ref());
        done.copies.after = found.clusters.iter().cloned().map(Cluster::into_paths).collect();
        if among.is_none() {
            done.copies.before.clone_from(&done.copies.after);
        }
        // What was refused is not tried twice: it would be asked the same.
        found.clusters.retain_mut(|cluster| {
            cluster.members.retain(|member| !done.is_refused(&cluster.survivor, &member.path));
            !cluster.members.is_empty()
        });
        for pair in found.review {
            done.review.insert((pair.one.clone(), pair.other.clone()), pair);
        }
        if found.clusters.is_empty() {
            break;
        }
        let count: usize = found.clusters.iter().map(|cluster| cluster.members.len()).sum();
        tell(&format!("Asking what {count} copies are found by, before and after."));
        let index = match before.take() {
            Some(index) => index,
            None => index_of(agents, tree)?,
        };
        let round = Round { base: tree, queue, done: &done };
        let (refused, kept) = round.run(found.clusters, index)?;
        let Some(kept) = kept else {
            done.refused.extend(refused);
            break;
        };
        let Kept { merges, after, index, queue: new_queue, referrers } = kept;
        let mut changed: BTreeSet<String> = refused.keys().cloned().collect();
        for (survivor, merges) in merges {
            changed.insert(survivor.clone());
            changed.extend(merges.iter().map(|merge| merge.member.path.clone()));
            done.take(&survivor, merges);
        }
        done.refused.extend(refused);
        done.referrers.extend(referrers);
        *tree = after;
        *queue = new_queue;
        finder.update(tree, &changed);
        among = Some(changed);
        before = Some(index);
    }
    done.index = before;
    Ok(done)
}

/// `agents` is where the index of the tree may be kept.
fn index_of(agents: Option<&Path>, tree: &Tree) -> Result<Index, Broken> {
    match (agents, tree.in_memory()) {
        (Some(agents), Some(entries)) => Index::of_known(agents, &entries),
        _ => Index::of_tree(tree),
    }
}

impl Done {
    fn is_refused(&self, survivor: &str, member: &str) -> bool {
        let certificate = self.refused.get(member).and_then(|kept| kept.certificate.as_ref());
        certificate.is_some_and(|one| one.successor.as_deref() == Some(survivor))
    }

    /// Records merges; what an entry that goes had taken in is now its survivor's.
    fn take(&mut self, survivor: &str, merges: Vec<Merge>) {
        for merge in merges {
            let inherited = self.merges.remove(&merge.member.path).unwrap_or_default();
            let all = self.merges.entry(survivor.to_owned()).or_default();
            all.extend(inherited);
            all.push(merge);
        }
    }

    /// Everything that went, with the survivor that stands for it now.
    fn losers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.merges.iter().flat_map(|(survivor, merges)| {
            merges.iter().map(move |merge| (merge.member.path.as_str(), survivor.as_str()))
        })
    }

    pub(super) fn tell(self, tree: &Tree, report: &mut Defrag, reasons: &mut Reasons) {
        let is_there = |path: &str| tree.entry(path).is_some();
        let mut referrers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let survivors: BTreeMap<&str, &str> = self.losers().collect();
        for (file, targets) in &self.referrers {
            for target in targets {
                if let Some(survivor) = survivors.get(target.as_str()) {
                    referrers.entry((*survivor).to_owned()).or_default().push(file.clone());
                }
            }
            reasons.referrer(file, targets);
        }
        for (survivor, merges) in self.merges {
            let mut files = referrers.remove(&survivor).unwrap_or_default();
            files.dedup();
            reasons
                .merge(&survivor, merges.iter().map(|merge| (&merge.member, &merge.certificate)));
            let reason = reason(&survivor, &merges);
            let members: Vec<DefragMember> = merges.into_iter().map(member_of).collect();
            let id = members.first().map_or("", |member| stem(&member.path)).to_owned();
            report.merges.push(DefragMerge { id, survivor, members, reason, referrers: files });
        }
        let gone = |path: &str| !is_there(path);
        for pair in self.review.into_values().filter(|pair| !gone(&pair.one) && !gone(&pair.other))
        {
            let Pair { one, other, stems, pairs, why } = pair;
            let (stems, pairs) = (unit(stems), unit(pairs));
            report.review.push(DefragPair {
                one,
                other,
                stems,
                pairs,
                why: why.unwrap_or_default(),
            });
        }
        report.kept.extend(self.refused.into_values().filter(|kept| is_there(&kept.path)));
    }
}

fn reason(survivor: &str, merges: &[Merge]) -> String {
    let exact = merges.iter().filter(|merge| merge.member.is_exact).count();
    let others = merges.len() - exact;
    let kinds = match (exact, others) {
        (0, _) => format!("{others} in other words"),
        (_, 0) => format!("{exact} word for word"),
        _ => format!("{exact} word for word, {others} in other words"),
    };
    format!("copies of {survivor}, the better one: {kinds}")
}

fn member_of(merge: Merge) -> DefragMember {
    let Member { path, stems, pairs, is_exact } = merge.member;
    let (stems, pairs) = (unit(stems), unit(pairs));
    DefragMember { path, stems, pairs, is_exact, certificate: merge.certificate }
}

fn unit(value: f64) -> Unit {
    let rounded = (value * 10_000.0).round() / 10_000.0;
    Unit::new(rounded)
        .or_else(|| Unit::new(0.0))
        .unwrap_or_else(|| unreachable!("0 is from 0 to 1"))
}

pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
